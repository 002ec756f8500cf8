"""Factoring of sums of products: what they share taken out, as symbols of its own or as nested brackets."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.algebra.factoring.extraction import Extraction
    from emdeg.algebra.factoring.half_angles import Factored, in_half_angles
    from emdeg.algebra.factoring.nesting import (
        LONG,
        Key,
        Nester,
        Number,
        Table,
        common_to_all,
        content,
        divisors,
        joined,
        nested,
        pairs,
        shared,
        without,
    )
    from emdeg.algebra.factoring.parts import Found, Pair, Part, SharedParts, Use

on_demand(globals())
