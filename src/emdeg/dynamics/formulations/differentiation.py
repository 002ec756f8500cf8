"""Derivatives of the mechanics by its joint variables, by dual numbers: exact to rounding, over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from emdeg.algebra import Dual, derivative
from emdeg.dynamics.mechanism import Frames, Mechanism, Position, frames, seed_duals
from emdeg.dynamics.spatial import Scalar, total


def inverse_dynamics_derivatives(
    mech: Mechanism,
    position: Sequence[Position],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    inverse_dynamics: Callable[[Mechanism, Frames, Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]],
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """(dtau/dq, dtau/dqd), each n x n, of any inverse dynamics."""
    n, zero, one = mech.nv, mech.zero, mech.one
    rates = [Dual(v, {n + k: one}) for k, v in enumerate(qd)]
    tau = inverse_dynamics(mech, frames(mech, seed_duals(mech, position)), rates, qdd)
    by_q = [[derivative(t, k, zero) for k in range(n)] for t in tau]
    by_qd = [[derivative(t, n + k, zero) for k in range(n)] for t in tau]
    return by_q, by_qd


def christoffel_symbols(
    mech: Mechanism, position: Sequence[Position], mass_matrix: Callable[[Mechanism, Frames], list[list[Scalar]]]
) -> list[list[list[Scalar]]]:
    """beta[k][i][j] = (d_k M_ij + d_j M_ik - d_i M_jk) / 2 from the derivatives of any mass matrix."""
    return symbols_of(mass_matrix(mech, frames(mech, seed_duals(mech, position))), mech)


def symbols_of(M: Sequence[Sequence[Scalar]], mech: Mechanism) -> list[list[list[Scalar]]]:
    """The same of a mass matrix over dual numbers, coordinate k varying in direction k."""
    n, zero, half = len(M), mech.zero, mech.algebra.number(Fraction(1, 2))
    D = [[[derivative(M[i][j], k, zero) for k in range(n)] for j in range(n)] for i in range(n)]
    return [[[half * (D[i][j][k] + D[i][k][j] - D[j][k][i]) for j in range(n)] for i in range(n)] for k in range(n)]


def matrix_of_symbols(beta: Sequence[Sequence[Sequence[Scalar]]], qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C_ij = sum_k beta_ijk qd_k."""
    n = len(qd)
    return [[total([beta[k][i][j] * qd[k] for k in range(n)]) for j in range(n)] for i in range(n)]
