"""Fixed-step methods as data, and whether a step is short enough: judged from the closed loop's linear model."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError


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
    "semi_implicit": SemiImplicit(),
    "midpoint": Explicit((0.0, 0.5), (0.0, 1.0), (0.0, 0.5), 2),
    "rk4": Explicit((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 0.5, 0.5, 1.0), 4),
    "gauss2": Gauss(((0.5,),), (1.0,), (0.5,), 2),
    "gauss4": Gauss(((0.25, 0.25 - _R), (0.25 + _R, 0.25)), (0.5, 0.5), (0.5 - _R, 0.5 + _R), 4),
}
"""Name -> method. gauss2 (the implicit midpoint rule) and gauss4 run on positions and momenta: symplectic."""

OLD_NAMES = {"euler": "semi_implicit"}
"""Spelling of before 0.2 -> name: it said Euler's method, which is explicit, and was the semi-implicit one."""

GROWTH = 1e-3
"""A mode that should not grow may be multiplied by 1 + this in a step; more is called unstable."""


def nodes(method: Method) -> tuple[float, ...]:
    """The times within a step at which a method asks for the reference, as shares of the step, ascending."""
    return tuple(sorted(set(method.c)))


def growth(method: str, A: Array, h: float) -> float:
    """The largest factor by which one step of `method` multiplies a mode of x-dot = A x, x = (q, qd)."""
    scheme = METHODS[method]
    if isinstance(scheme, SemiImplicit):
        n = len(A) // 2
        P = np.eye(2 * n) + h * A
        P[:n] = np.hstack([np.eye(n), np.zeros((n, n))]) + h * P[n:]
        return float(np.max(np.abs(np.linalg.eigvals(P))))
    z = h * np.linalg.eigvals(A)
    if isinstance(scheme, Explicit):
        stage = np.zeros_like(z)
        total = np.ones_like(z)
        for a, b in zip(scheme.a, scheme.b):
            stage = z * (1 + a * stage)
            total = total + b * stage
        return float(np.max(np.abs(total)))
    one = np.ones(len(scheme.b))
    a, b = np.asarray(scheme.a), np.asarray(scheme.b)
    return max(abs(1 + v * b @ np.linalg.solve(np.eye(len(b)) - v * a, one)) for v in z)


def need_stable_step(method: str, A: Array, h: float) -> None:
    """An error where the step multiplies what should decay, naming the fastest mode and a step that will do."""
    scheme = METHODS[method]
    poles = np.linalg.eigvals(A)
    fastest = float(np.max(np.abs(poles)))
    if isinstance(scheme, Gauss) and h * fastest > 1.5:
        raise ScenarioError(
            f"the step {h:g} s is too long for {method}: its equations are solved by iteration, which needs less than "
            f"{1.0 / fastest:.2g} s here (fastest mode {fastest:.4g} 1/s)"
        )
    physical = np.exp(h * max(0.0, float(np.max(poles.real))))
    if growth(method, A, h) <= physical * (1 + GROWTH):
        return
    shorter = h
    while growth(method, A, shorter) > np.exp(shorter * max(0.0, float(np.max(poles.real)))) * (1 + GROWTH):
        shorter /= 1.25
        if shorter < 1e-9:
            break
    raise ScenarioError(
        f"the step {h:g} s is unstable for {method}: the fastest mode at the start is {fastest:.4g} 1/s, "
        f"which needs a step of about {shorter:.2g} s"
    )
