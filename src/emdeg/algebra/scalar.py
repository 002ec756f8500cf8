"""The operations that the algorithms of dynamics require of scalars.

An algorithm in `emdeg.dynamics` is written once, with +, - and * (and / where the book divides). The algebra
it is handed decides what comes out: numbers, formulas, a program, or residues modulo a prime.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from emdeg.algebra.angle import Angle
from emdeg.errors import UnboundSymbol

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Scalar(Protocol):
    """A value of some algebra: +, - and * with its own kind and with int.

    What an operator returns is of the same kind, which only the caller knows: hence `Any`, and whoever handed in
    the scalars says at the border what came out (`tuple[TrigPoly, ...]`, `list[Array]`).
    """

    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...


class FieldScalar(Scalar, Protocol):
    """A scalar that also divides, as the algorithms that solve linear systems ask."""

    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...


class Algebra(Protocol[S_co]):
    """How one kind of scalar writes the constants of a robot."""

    def number(self, value: Fraction) -> S_co:
        """A rational constant."""
        ...

    def symbol(self, name: str) -> S_co:
        """A parameter that has a name and no number."""
        ...

    def sincos(self, angle: Angle) -> tuple[S_co, S_co]:
        """(sine, cosine) of a constant angle."""
        ...


class JointAlgebra(Algebra[Any], Protocol):
    """An algebra that also has symbols for the joints; joint 1's variable is q1."""

    def joint_sincos(self, joint: Any) -> tuple[Any, Any]:
        """(sine, cosine) of a revolute joint's angle."""
        ...

    def displacement(self, joint: Any) -> Any:
        """A prismatic joint's displacement."""
        ...

    def rate(self, joint: Any) -> Any: ...

    def acceleration(self, joint: Any) -> Any: ...


def angle_pieces(angle: Angle) -> tuple[Angle, ...]:
    """The canonical angles whose sines and cosines those of `angle` are made of: none, one or two.

    A symbol and a number in one angle are two pieces, joined by the addition formulas.
    """
    _, _, rest = Angle(angle.pi_times, angle.radians).canonical()
    symbolic = () if angle.symbol is None else (Angle(symbol=angle.symbol),)
    return symbolic if rest.is_zero else (*symbolic, rest)


def sincos_from_pieces(
    angle: Angle, number: Callable[[Fraction], S], pair: Callable[[Angle], tuple[S, S]]
) -> tuple[S, S]:
    """(sine, cosine) of a constant angle in any algebra, from the pairs of its canonical pieces.

    So angles that differ by quarter turns or in sign share one pair, whatever the algebra.
    """
    quarters, sign, rest = Angle(angle.pi_times, angle.radians).canonical()
    s: Any
    c: Any
    if rest.is_zero:
        s, c = number(Fraction(0)), number(Fraction(1))
    else:
        s, c = pair(rest)
        s = s if sign > 0 else -s
    s, c = ((s, c), (c, -s), (-s, -c), (-c, s))[quarters]
    if angle.symbol is None:
        return s, c
    sine, cosine = pair(Angle(symbol=angle.symbol))
    return add_angles((s, c), (sine, cosine))


def add_angles(a: tuple[S, S], b: tuple[S, S]) -> tuple[S, S]:
    """(sine, cosine) of the sum of two angles, each given as (sine, cosine)."""
    sa, ca = a
    sb, cb = b
    left: Any = sa
    right: Any = ca
    return left * cb + right * sb, right * cb - left * sb


def multiple_angle(pair: tuple[S, S], times: int, one: S, zero: S) -> tuple[S, S]:
    """(sine, cosine) of `times` an angle given as (sine, cosine); `times` may be negative."""
    s: Any = pair[0]
    step = pair if times >= 0 else (-s, pair[1])
    total = (zero, one)
    for _ in range(abs(times)):
        total = add_angles(total, step)
    return total


def sum_of_angles(parts: Iterable[tuple[tuple[S, S], int]], one: S, zero: S) -> tuple[S, S]:
    """(sine, cosine) of a sum of angles, each given as its (sine, cosine) and how many times it is added."""
    total = zero, one
    for pair, times in parts:
        total = add_angles(total, multiple_angle(pair, times, one, zero))
    return total


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

    def sqrt(self, value: Any) -> Any:
        """The root of a double, or of an array of them."""
        return math.sqrt(value) if isinstance(value, float) else np.sqrt(value)

    def sign(self, value: Any) -> Any:
        return np.sign(value)

    def exp(self, value: Any) -> Any:
        return np.exp(value)

    def tanh(self, value: Any) -> Any:
        return np.tanh(value)


@dataclass(frozen=True, slots=True)
class Dual:
    """value + sum_k d[k] epsilon_k with epsilon^2 = 0; directions not in `d` have derivative zero.

    Values and derivatives may be dual numbers of a lower `level` themselves, so that a rate of time (level 1) can be
    differentiated by coordinates (level 0): what is of a lower level is a constant here. NumPy must not spread over it,
    hence `__array_ufunc__ = None`.
    """

    value: Any
    d: dict[int, Any]
    level: int = 0

    __array_ufunc__ = None

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual) or other.level < self.level:
            return Dual(self.value + other, self.d, self.level)
        if other.level > self.level:
            return other + self
        d = dict(self.d)
        for k, x in other.d.items():
            d[k] = d[k] + x if k in d else x
        return Dual(self.value + other.value, d, self.level)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, {k: -x for k, x in self.d.items()}, self.level)

    def __sub__(self, other: Any) -> Dual:
        return self + (-other)

    def __rsub__(self, other: Any) -> Dual:
        return (-self) + other

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual) or other.level < self.level:
            return Dual(self.value * other, {k: x * other for k, x in self.d.items()}, self.level)
        if other.level > self.level:
            return other * self
        d = {k: x * other.value for k, x in self.d.items()}
        for k, x in other.d.items():
            d[k] = d[k] + self.value * x if k in d else self.value * x
        return Dual(self.value * other.value, d, self.level)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if not isinstance(other, Dual) or other.level < self.level:
            return Dual(self.value / other, {k: x / other for k, x in self.d.items()}, self.level)
        return other.inverse() * self

    def __rtruediv__(self, other: Any) -> Dual:
        return self.inverse() * other

    def inverse(self) -> Dual:
        """1 / self, in an algebra that divides."""
        inverse = 1 / self.value
        slope = -(inverse * inverse)
        return Dual(inverse, {k: x * slope for k, x in self.d.items()}, self.level)


def over_duals(function: Callable[[Any], Any], slope: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """A function of one number over dual numbers too; `slope` is its derivative, of its own value; None: it has none.

    exp has y -> y, tanh y -> 1 - y^2; a sign does not change but where it jumps.
    """

    def of(x: Any) -> Any:
        if not isinstance(x, Dual):
            return function(x)
        y = of(x.value)
        return y if slope is None else Dual(y, {k: d * slope(y) for k, d in x.d.items()}, x.level)

    return of


def derivative(value: Any, k: int, zero: Any, level: int = 0) -> Any:
    """The derivative of `value` in direction k of a level, `zero` if it has none."""
    return value.d.get(k, zero) if isinstance(value, Dual) and value.level == level else zero
