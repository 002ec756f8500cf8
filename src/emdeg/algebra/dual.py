"""Dual numbers: a value with its derivatives in several directions, over any scalar (forward differentiation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dual:
    """value + sum_k d[k] epsilon_k with epsilon^2 = 0; directions not in `d` have derivative zero.

    NumPy must not spread over it, hence `__array_ufunc__ = None`.
    """

    value: Any
    d: dict[int, Any]

    __array_ufunc__ = None

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.d)
        d = dict(self.d)
        for k, x in other.d.items():
            d[k] = d[k] + x if k in d else x
        return Dual(self.value + other.value, d)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, {k: -x for k, x in self.d.items()})

    def __sub__(self, other: Any) -> Dual:
        return self + (-other)

    def __rsub__(self, other: Any) -> Dual:
        return (-self) + other

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value * other, {k: x * other for k, x in self.d.items()})
        d = {k: x * other.value for k, x in self.d.items()}
        for k, x in other.d.items():
            d[k] = d[k] + self.value * x if k in d else self.value * x
        return Dual(self.value * other.value, d)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value / other, {k: x / other for k, x in self.d.items()})
        return self * other.inverse()

    def __rtruediv__(self, other: Any) -> Dual:
        return self.inverse() * other

    def inverse(self) -> Dual:
        """1 / self, in an algebra that divides."""
        inverse = 1 / self.value
        slope = -(inverse * inverse)
        return Dual(inverse, {k: x * slope for k, x in self.d.items()})


def derivative(value: Any, k: int, zero: Any) -> Any:
    """The derivative of `value` in direction k, `zero` if it has none."""
    return value.d.get(k, zero) if isinstance(value, Dual) else zero
