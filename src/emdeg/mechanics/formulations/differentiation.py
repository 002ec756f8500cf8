"""Derivatives of the mechanics by its joint variables, by dual numbers: exact to rounding, over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra.dual import Dual, derivative
from emdeg.mechanics.mechanism import Frames, Mechanism, Position, frames
from emdeg.mechanics.vectors import Scalar, total


def seeded(mech: Mechanism, position: Sequence[Position]) -> list[Position]:
    """The joint positions, joint k varying in direction k."""
    one = mech.one
    varied: list[Any] = []
    for k, at in enumerate(position):
        if mech.revolute[k]:
            s, c = at
            varied.append((Dual(s, {k: c}), Dual(c, {k: -s})))
        else:
            varied.append(Dual(at, {k: one}))
    return varied


def inverse_dynamics_derivatives(
    mech: Mechanism,
    position: Sequence[Position],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    inverse_dynamics: Callable[[Mechanism, Frames, Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]],
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """(dtau/dq, dtau/dqd), each n x n, of any inverse dynamics."""
    n, zero, one = mech.n, mech.zero, mech.one
    rates = [Dual(v, {n + k: one}) for k, v in enumerate(qd)]
    tau = inverse_dynamics(mech, frames(mech, seeded(mech, position)), rates, qdd)
    by_q = [[derivative(t, k, zero) for k in range(n)] for t in tau]
    by_qd = [[derivative(t, n + k, zero) for k in range(n)] for t in tau]
    return by_q, by_qd


def christoffel_matrix(
    mech: Mechanism,
    position: Sequence[Position],
    qd: Sequence[Scalar],
    mass_matrix: Callable[[Mechanism, Frames], list[list[Scalar]]],
) -> list[list[Scalar]]:
    """C from the derivatives of any mass matrix: C_ij = sum_k (d_k M_ij + d_j M_ik - d_i M_jk) qd_k / 2."""
    n, zero = mech.n, mech.zero
    half = mech.algebra.number(Fraction(1, 2))
    M = mass_matrix(mech, frames(mech, seeded(mech, position)))
    D = [[[derivative(M[i][j], k, zero) for k in range(n)] for j in range(n)] for i in range(n)]
    return [
        [half * total([(D[i][j][k] + D[i][k][j] - D[j][k][i]) * qd[k] for k in range(n)]) for j in range(n)]
        for i in range(n)
    ]
