"""The equations of motion of a mechanism with closed loops in independent coordinates u, over any scalar.

First route: the tree's own M, C and g, reduced by the map W of the rates, qd = W ud, that the closed loops leave.
With G = W^T g this is M(u) udd + C(u, ud) ud + G(u) = J^T tau, where J, the driven joints' rows of W, takes ud to the
driven joints' rates. `emdeg.loops.virtual_work` goes another way to the same.

Torques follow more cheaply from the loops' own forces: `multipliers` are those that the undriven joints need; what is
left is for the motors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emdeg.algebra.linear import Matrix, congruent, product, solve_system, summed, times, transposed
from emdeg.dynamics.formulations import composite_body, energy
from emdeg.dynamics.formulations.rnea_link_frame import rnea_link_frame
from emdeg.dynamics.mechanism import Frames, Position, frames
from emdeg.dynamics.spatial import Scalar, Vec3, add, dot, mul, scale, zeros
from emdeg.loops.linkage import (
    Bar,
    Columns,
    Linkage,
    anchor_point,
    constraints,
    in_motion,
    jacobian_matrix,
    point_columns,
    rate_of,
    world_frames,
)


@dataclass(frozen=True, slots=True)
class TreeRates:
    """Every joint's rates qd at the coordinates' ud; W and its rate, n x nu."""

    ud: Sequence[Scalar]
    qd: list[Scalar]
    W: Matrix
    Phi: Matrix
    """The constraints' Jacobian, m x n."""
    Phi_rate: Matrix
    W_rate: Matrix


@dataclass(frozen=True, slots=True)
class ReducedModel:
    """M udd + C ud + G = J^T tau, with M-dot - 2C skew; J and its rate are nd x nu."""

    M: Matrix
    C: Matrix
    G: list[Scalar]
    J: Matrix
    J_rate: Matrix


def constraint_jacobian(link: Linkage, position: Sequence[Position]) -> Matrix:
    return jacobian_matrix(link, constraints(link, world_frames(link, position)))


def velocity_map(link: Linkage, Phi: Matrix) -> Matrix:
    """W, n x nu, with qd = W ud: Phi W = 0, the coordinates' own rows the identity."""
    zero, one = link.tree.zero, link.tree.one
    A = [[row[k] for k in link.dependent] for row in Phi]
    B = [[-row[k] for k in link.coordinates] for row in Phi]
    return _interleaved(link, solve_system(A, B, link.algebra, link.pivots and link.pivots.dependent), zero, one)


def _interleaved(link: Linkage, inner: Matrix, zero: Scalar, diagonal: Scalar) -> Matrix:
    """The dependent joints' rows among the coordinates' own, which are `diagonal` times the identity."""
    nu = len(link.coordinates)
    W: Matrix = zeros(zero, link.n, nu)
    for k, row in zip(link.dependent, inner):
        W[k] = list(row)
    for place, k in enumerate(link.coordinates):
        W[k][place] = diagonal
    return W


def tree_rates(link: Linkage, position: Sequence[Position], ud: Sequence[Scalar]) -> TreeRates:
    zero = link.tree.zero
    Phi = constraint_jacobian(link, position)
    W = velocity_map(link, Phi)
    qd = times(W, ud, zero)
    moving = in_motion(link.tree, position, qd)
    Phi_rate = rate_of(constraint_jacobian(link, moving), zero)
    # Phi W = 0, so Phi_d Wd-dot = -(Phi-dot W).
    A = [[row[k] for k in link.dependent] for row in Phi]
    B = [[-x for x in row] for row in product(Phi_rate, W, zero)]
    W_rate = _interleaved(link, solve_system(A, B, link.algebra, link.pivots and link.pivots.dependent), zero, zero)
    return TreeRates(ud, qd, W, Phi, Phi_rate, W_rate)


def tree_mass_matrix(link: Linkage, position: Sequence[Position]) -> Matrix:
    """M of the tree with its rods, n x n."""
    M = [list(row) for row in composite_body.mass_matrix(link.tree, frames(link.tree, position))]
    world = world_frames(link, position)
    for bar in link.bars:
        a, b = end_columns(link, bar, world)
        for i, u in a.items():
            for j, v in b.items():
                share = bar.mutual * dot(u, v)
                M[i][j] = M[i][j] + share
                M[j][i] = M[j][i] + share
    return M


def tree_coriolis(link: Linkage, position: Sequence[Position], qd: Sequence[Scalar]) -> Matrix:
    """C of the tree with its rods from Christoffel symbols, n x n."""
    zero = link.tree.zero
    C = [list(row) for row in energy.coriolis_matrix(link.tree, frames(link.tree, position), qd)]
    moving = world_frames(link, in_motion(link.tree, position, qd))
    world = world_frames(link, position)
    for bar in link.bars:
        here = end_columns(link, bar, world)
        rates = [{k: rate_of(v, zero) for k, v in end.items()} for end in end_columns(link, bar, moving)]
        for columns, other in (here, rates[::-1]), (here[::-1], rates):
            for i, u in columns[0].items():
                for j, v in other[0].items():
                    C[i][j] = C[i][j] + bar.mutual * dot(u, v)  # type: ignore[arg-type]
    return C


def tree_gravity(link: Linkage, position: Sequence[Position]) -> list[Scalar]:
    """g of the tree with its rods."""
    rest = [link.tree.zero] * link.n
    g = list(rnea_link_frame(link.tree, frames(link.tree, position), rest, rest))
    if not link.bars:
        return g
    world = world_frames(link, position)
    pull = mul(link.tree.base[0], link.tree.gravity)
    for bar in link.bars:
        for columns in end_columns(link, bar, world):
            for k, v in columns.items():
                g[k] = g[k] - bar.mutual * dot(v, pull)
    return g


def potential_energy(link: Linkage, position: Sequence[Position]) -> Scalar:
    """V [J] of gravity with the rods, zero for masses at the base frame's origin."""
    V = energy.potential_energy(link.tree, frames(link.tree, position))
    if not link.bars:
        return V
    world = world_frames(link, position)
    pull = mul(link.tree.base[0], link.tree.gravity)
    for bar in link.bars:
        for end in (bar.first, bar.second):
            V = V - bar.mutual * dot(pull, anchor_point(end, world))
    return V


def end_columns(link: Linkage, bar: Bar, world: Frames) -> tuple[Columns, Columns]:
    """How every joint moves a rod's first and second end."""
    first, second = (
        point_columns(link.tree, world, end.link, anchor_point(end, world)) for end in (bar.first, bar.second)
    )
    return first, second


def mass_matrix(link: Linkage, position: Sequence[Position], W: Matrix) -> Matrix:
    """M(u) = W^T M W."""
    return congruent(tree_mass_matrix(link, position), W, link.tree.zero)


def model(link: Linkage, position: Sequence[Position], move: TreeRates) -> ReducedModel:
    """The reduced model: C = W^T (M W-dot + C W) is the one from u's own Christoffel symbols."""
    zero = link.tree.zero
    M, C = tree_mass_matrix(link, position), tree_coriolis(link, position, move.qd)
    Wt = transposed(move.W)
    inner = summed(product(M, move.W_rate, zero), product(C, move.W, zero))
    return ReducedModel(
        M=congruent(M, move.W, zero),
        C=product(Wt, inner, zero),
        G=times(Wt, tree_gravity(link, position), zero),
        J=[move.W[k] for k in link.driven],
        J_rate=[move.W_rate[k] for k in link.driven],
    )


def accelerations(link: Linkage, move: TreeRates, ud: Sequence[Scalar], udd: Sequence[Scalar]) -> list[Scalar]:
    """Every joint's qdd = W udd + W-dot ud."""
    zero = link.tree.zero
    return [a + b for a, b in zip(times(move.W, udd, zero), times(move.W_rate, ud, zero))]


def tree_efforts(
    link: Linkage, position: Sequence[Position], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """The efforts that every joint of the opened tree would need, rods' inertia included."""
    zero = link.tree.zero
    tau = list(rnea_link_frame(link.tree, frames(link.tree, position), qd, qdd))
    if not link.bars:
        return tau
    world = world_frames(link, position)
    moving = world_frames(link, in_motion(link.tree, position, qd))
    pull = mul(link.tree.base[0], link.tree.gravity)
    for bar in link.bars:
        here = end_columns(link, bar, world)
        a = end_accelerations(here, end_columns(link, bar, moving), qd, qdd, pull, zero)
        for columns, other in zip(here, a[::-1]):
            for k, v in columns.items():
                tau[k] = tau[k] + bar.mutual * dot(v, other)
    return tau


def multipliers(link: Linkage, Phi: Matrix, tau: Sequence[Scalar]) -> list[Scalar]:
    """The forces of the loops that the undriven joints need: Phi_p^T lambda = tau_p."""
    A = [[row[k] for row in Phi] for k in link.passive]
    places = link.pivots and link.pivots.passive
    return [x[0] for x in solve_system(A, [[tau[k]] for k in link.passive], link.algebra, places)]


def motor_efforts(link: Linkage, W: Matrix, efforts: Sequence[Scalar]) -> list[Scalar]:
    """The motors' efforts that do what these efforts of all joints do along every motion: J^T tau = W^T efforts."""
    force = [[f] for f in times(transposed(W), efforts, link.tree.zero)]
    return [x[0] for x in allocated(link, [W[k] for k in link.driven], force)]


def allocated(link: Linkage, J: Matrix, force: Matrix) -> Matrix:
    """tau with J^T tau = force, column by column; of more motors than freedoms the least sum of tau^2 / share."""
    if not link.redundant:
        return solve_system(transposed(J), force, link.algebra)
    zero = link.tree.zero
    weighted = [[share * x for x in row] for share, row in zip(link.shares, J)]
    return product(weighted, solve_system(product(transposed(J), weighted, zero), force, link.algebra), zero)


def end_accelerations(
    here: Sequence[Columns],
    later: Sequence[Columns],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    pull: Vec3,
    zero: Scalar,
) -> list[Vec3]:
    """What both ends of a rod feel, their accelerations less gravity [m/s^2]; `later` are the columns in motion."""
    found: list[Vec3] = []
    for columns, moving in zip(here, later):
        felt: Vec3 = (-pull[0], -pull[1], -pull[2])
        for k, v in columns.items():
            x, y, z = rate_of(moving[k], zero)
            felt = add(felt, add(scale(qdd[k], v), scale(qd[k], (x, y, z))))
        found.append(felt)
    return found
