"""The search for short programs: operations left out of exact ones, steered by states, what is left tuned to them."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.reduce.shortening.search import ProgramSearch, SearchTuning

on_demand(globals())
