"""Fixed-step methods as data."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Explicit:
    """A Runge-Kutta method whose stage i reads stage i - 1 alone, with weight a[i]; weights b, times c."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    order: int


@dataclass(frozen=True, slots=True)
class Gauss:
    """A Gauss collocation method: symplectic and time-reversible."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    order: int


@dataclass(frozen=True, slots=True)
class SemiImplicit:
    """Speeds first, then positions with the new speeds: first order, one evaluation a step."""

    c: tuple[float, ...] = (0.0,)
    order: int = 1


Method = Explicit | Gauss | SemiImplicit

_R = sqrt(3) / 6

METHODS: dict[str, Method] = {
    "euler": SemiImplicit(),
    "midpoint": Explicit((0.0, 0.5), (0.0, 1.0), (0.0, 0.5), 2),
    "rk4": Explicit((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 0.5, 0.5, 1.0), 4),
    "gauss2": Gauss(((0.5,),), (1.0,), (0.5,), 2),
    "gauss4": Gauss(((0.25, 0.25 - _R), (0.25 + _R, 0.25)), (0.5, 0.5), (0.5 - _R, 0.5 + _R), 4),
}
"""Name -> method. gauss2 (the implicit midpoint rule) and gauss4 run on positions and momenta: symplectic."""


def nodes(method: Method) -> tuple[float, ...]:
    """The times within a step at which a method asks for the reference, as shares of the step, ascending."""
    return tuple(sorted(set(method.c)))
