"""The search for short programs: operations left out of exact ones, steered by states, what is left tuned to them."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.approximation.shortening.search import LEAST_SEARCH, Shortening

on_demand(globals())
