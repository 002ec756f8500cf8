"""The search for small programs: formulations tried and counted, then values said anew in terms of others."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.programs.search.hastening import hastened
    from emdeg.programs.search.optimise import tidied
    from emdeg.programs.search.resubstitute import Resubstitution

on_demand(globals())
