"""Programs as text: one folder a target, every artefact with its proof beside it."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.approximate import make_approximate_artefact
    from emdeg.codegen.artefact import Artefact, Request, make_artefact
    from emdeg.codegen.infix import Language, Summand, identifier, listings
    from emdeg.codegen.targets import TARGETS, Target
    from emdeg.codegen.verbs import CERTIFICATE, generate, may_replace, namesakes, verify, write, write_files

on_demand(globals())
