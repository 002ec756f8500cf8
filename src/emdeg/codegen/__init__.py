"""Programs as text: one folder a target, every artefact with its proof beside it."""

from emdeg.codegen.artefact import Artefact, Request, Target
from emdeg.codegen.verbs import generate, verify

__all__ = ["Artefact", "Request", "Target", "generate", "verify"]
