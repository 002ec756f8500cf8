"""The search for approximate programs: operations left out of exact ones, what remains tuned to states."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.approximation.shortening.search import ProgramSearch, SearchTuning

on_demand(globals())
