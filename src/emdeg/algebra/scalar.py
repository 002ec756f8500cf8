"""What the mechanics asks of the numbers it runs over.

An algorithm in `emdeg.mechanics` is written once, with +, - and * (and / where the book divides). The algebra
it is handed decides what comes out: numbers, formulas, a program, or residues modulo a prime.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from emdeg.algebra.angle import Angle

S = TypeVar("S")
Scalar = Any
"""A value of some algebra: supports +, - and * with its own kind and with int."""


class Algebra(Protocol[S]):
    """How one kind of scalar writes the constants of a robot."""

    def number(self, value: Fraction) -> S:
        """A rational constant."""
        ...

    def symbol(self, name: str) -> S:
        """A parameter that has a name and no number."""
        ...

    def sincos(self, angle: Angle) -> tuple[S, S]:
        """(sine, cosine) of a constant angle."""
        ...


class UnboundSymbol(ValueError):
    """A number was asked for and a symbol stands in its place."""


class Floats:
    """IEEE doubles; symbols take their values from `values`."""

    def __init__(self, values: Mapping[str, float] | None = None) -> None:
        self._values = dict(values or {})

    def number(self, value: Fraction) -> float:
        return float(value)

    def symbol(self, name: str) -> float:
        try:
            return self._values[name]
        except KeyError:
            raise UnboundSymbol(f"the symbol {name} has no value") from None

    def sincos(self, angle: Angle) -> tuple[float, float]:
        if angle.symbol is not None:
            rest = float(Angle(angle.pi_times, angle.radians))
            value = rest + self.symbol(angle.symbol)
            return math.sin(value), math.cos(value)
        s, c = angle.sincos()
        return float(s), float(c)
