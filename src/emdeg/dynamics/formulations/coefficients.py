"""The explicit model's coefficients, M, beta and g, and how to read them off the Newton-Euler equations.

Every formulation of this folder gives the same type, so that they can be compared entry by entry:

    tau_i = sum_j M_ij qdd_j + sum_jk beta_ijk qd_j qd_k + g_i

with beta the Christoffel symbols of M, beta_ijk = beta_ikj (Armstrong, Khatib and Burdick, eqs. 1 and 4-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
from emdeg.dynamics.mechanism import Frames, Mechanism
from emdeg.dynamics.spatial import Scalar, frozen, zeros

Row = tuple[Scalar, ...]
Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Coefficients:
    """M (n x n, drives included), Christoffel symbols beta (n x n x n) and g = +dV/dq (n) at a configuration."""

    M: Rows
    beta: tuple[Rows, ...]
    g: Row

    @property
    def n(self) -> int:
        return len(self.g)


def newton_euler_coefficients(mech: Mechanism, frame: Frames) -> Coefficients:
    """The coefficients from Newton-Euler runs with unit rates and accelerations; every entry is a run's own."""
    n, zero, one = mech.nv, mech.zero, mech.one
    half = mech.algebra.number(Fraction(1, 2))
    rest = [zero] * n

    def unit(*joints: int) -> list[Scalar]:
        return [one if k in joints else zero for k in range(n)]

    columns = [efforts_by_newton_euler(mech, frame, rest, unit(j), gravity=False) for j in range(n)]
    beta = zeros(zero, n, n, n)
    squares = [efforts_by_newton_euler(mech, frame, unit(j), rest, gravity=False) for j in range(n)]
    for j in range(n):
        for i in range(n):
            beta[i][j][j] = squares[j][i]
        for k in range(j + 1, n):
            both = efforts_by_newton_euler(mech, frame, unit(j, k), rest, gravity=False)
            for i in range(n):
                # (qd_j + qd_k)^2 = qd_j^2 + qd_k^2 + 2 qd_j qd_k
                beta[i][j][k] = beta[i][k][j] = half * (both[i] - squares[j][i] - squares[k][i])
    M = [[columns[j][i] for j in range(n)] for i in range(n)]
    return Coefficients(frozen(M), frozen(beta), tuple(efforts_by_newton_euler(mech, frame, rest, rest)))


def packed(M: Sequence[Sequence[Scalar]], beta: Sequence[Sequence[Sequence[Scalar]]]) -> dict[str, list[Scalar]]:
    """The elements' M, b and c from M and beta[k][i][j] = beta_ijk, symmetric in j and k."""
    n = len(M)
    return {
        "M": [M[i][j] for i in range(n) for j in range(i, n)],
        "b": [beta[k][i][j] * 2 for i in range(n) for j in range(n) for k in range(j + 1, n)],
        "c": [beta[j][i][j] for i in range(n) for j in range(n)],
    }
