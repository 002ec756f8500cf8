"""The functions of mechanisms with closed loops, in their independent coordinates: formulations, and what proves them.

References come from virtual work, body by body, and from dual numbers through the closure itself: they share nothing
with the formulations that programs are traced from but the closure and the constraints' Jacobian.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from emdeg.algebra import Dual, derivative
from emdeg.algebra.linear import Matrix, product, solve_system, summed, times, transposed
from emdeg.dynamics.formulations import energy, kinematics
from emdeg.dynamics.formulations.coefficients import packed
from emdeg.dynamics.formulations.differentiation import matrix_of_symbols, symbols_of
from emdeg.dynamics.formulations.friction import friction_term_by_term, joint_friction
from emdeg.dynamics.formulations.reference_kinematics import jacobian_of_pose, reference_forward_kinematics
from emdeg.dynamics.joints import Position
from emdeg.dynamics.mechanism import frames, lift_positions
from emdeg.dynamics.spatial import Scalar, Vec3, add, cross, scale, total
from emdeg.dynamics.state import Balance, Outputs
from emdeg.loops import parameters as rigid_bodies
from emdeg.loops import reduction, rod_legs
from emdeg.loops.linkage import Columns, anchor_point, world_frames
from emdeg.loops.state import LoopState
from emdeg.loops.virtual_work import (
    equations_by_virtual_work,
    momentum_of_bodies,
    potential_of_bodies,
    unit_equations,
)


def inverse_dynamics(s: LoopState) -> Outputs:
    """The loops' forces that the undriven joints need, then what is left for the motors.

    Motors that are more than the freedoms leave those forces open: they share the generalized force instead.
    """
    move, efforts = _moving(s)
    if s.link.redundant:
        return {"tau": reduction.motor_efforts(s.link, move.W, efforts)}
    force = reduction.multipliers(s.link, move.Phi, efforts)
    return {"tau": [efforts[k] - total([row[k] * f for row, f in zip(move.Phi, force)]) for k in s.link.driven]}


def _moving(s: LoopState) -> tuple[reduction.TreeRates, list[Scalar]]:
    """(rates, the efforts that every joint of the opened tree would need for the motion, less what acts outside)."""
    move = s.motion(s.qd)
    efforts = reduction.tree_efforts(s.link, s.position, move.qd, reduction.accelerations(s.link, move, s.qd, s.qdd))
    return move, efforts if s.load is None else [effort - load for effort, load in zip(efforts, s.load)]


def inverse_dynamics_derivatives(s: LoopState) -> Outputs:
    """The same over dual numbers, every joint following the coordinates as W says."""
    tau = inverse_dynamics(_varying(s))["tau"]
    return {"dtau_dq": _slopes(s, tau, 0), "dtau_dqd": _slopes(s, tau, 1)}


def forward_dynamics_derivatives(s: LoopState) -> Outputs:
    """From r = J^T tau - (M qdd + C qd + g) = 0: M dqdd/dx = dr/dx at the acceleration found, and dr/dtau = J^T."""
    qdd = forward_dynamics(s)["qdd"]
    r = _unbalanced(_varying(replace(s, qdd=qdd)))
    right = [[*a, *b, *c] for a, b, c in zip(_slopes(s, r, 0), _slopes(s, r, 1), transposed(s.driven))]
    solved, n = solve_system(s.mass_matrix(), right, s.link.algebra), s.n
    return {
        "qdd": qdd,
        "dqdd_dq": [row[:n] for row in solved],
        "dqdd_dqd": [row[n : 2 * n] for row in solved],
        "dqdd_dtau": [row[2 * n :] for row in solved],
    }


def _unbalanced(s: LoopState) -> list[Scalar]:
    """J^T tau - (M qdd + C qd + g)."""
    move, efforts = _moving(s)
    left = [-e for e in efforts]
    for k, t in zip(s.link.driven, s.tau):
        left[k] = left[k] + t
    return times(transposed(move.W), left, s.tree.zero)


def balance_of_efforts(s: LoopState, found: Outputs) -> Balance:
    """J^T tau - (M qdd + C qd + g) at the accelerations found."""
    M = s.mass_matrix()
    units = [s.unit(k) for k in range(s.n)]
    return Balance(
        _unbalanced(replace(s, qdd=found["qdd"])),
        lambda b: _solved(s, M, b),
        lambda: solve_system(M, units, s.link.algebra),
    )


def _varying(s: LoopState) -> LoopState:
    """The state over dual numbers: coordinate k varies in direction k, its speed in direction n + k."""
    return _over(s, lift_positions(s.tree, s.position, [dict(enumerate(row)) for row in s.W]))


def _over(s: LoopState, position: Sequence[Position]) -> LoopState:
    qd = [Dual(v, {s.n + k: s.tree.one}) for k, v in enumerate(s.qd)]
    return LoopState(s.link, s.coordinates, position, s.plan, s.root, qd, s.qdd, s.tau, s.p, s.load)


def _slopes(s: LoopState, values: Sequence[Scalar], of: int) -> Matrix:
    """The derivatives of values over dual numbers by the coordinates (0), by the speeds (1), by the efforts (2)."""
    sizes = (s.n, s.n, len(s.link.driven))
    return [[derivative(x, of * s.n + k, s.tree.zero) for k in range(sizes[of])] for x in values]


def regressor(s: LoopState) -> Outputs:
    """The opened tree's own regressor and the rods', handed to the motors column by column."""
    move = s.motion(s.qd)
    Y = rigid_bodies.regressor(s.link, s.position, move.qd, reduction.accelerations(s.link, move, s.qd, s.qdd))
    J = [move.W[k] for k in s.link.driven]
    return {"Y": reduction.allocated(s.link, J, product(transposed(move.W), Y, s.tree.zero))}


def inverse_dynamics_by_legs(s: LoopState) -> Outputs | None:
    legs = None if s.link.redundant else rod_legs.legs_of(s.link, s.plan)
    if legs is None:
        return None
    q = [s.coordinates[k] for k in s.link.coordinates]  # slides, each its own position
    return {"tau": rod_legs.inverse_dynamics(s.link, legs, q, s.qd, s.qdd, s.root)}


def _coasting(s: LoopState) -> tuple[reduction.TreeRates, list[Scalar]]:
    """(rates, every joint's efforts C qd + g) while the coordinates do not accelerate."""
    move = s.motion(s.qd)
    drift = times(move.W_rate, s.qd, s.tree.zero)
    return move, reduction.tree_efforts(s.link, s.position, move.qd, drift)


def bias(s: LoopState) -> Outputs:
    move, efforts = _coasting(s)
    return {"h": times(transposed(move.W), efforts, s.tree.zero)}


def forward_dynamics(s: LoopState) -> Outputs:
    """M^-1 (J^T tau - C qd - g + external force), Asadi and Heydari (43)."""
    move, efforts = _coasting(s)
    left = [-e for e in efforts]
    for k, t in zip(s.link.driven, s.tau):
        left[k] = left[k] + t
    if s.load is not None:
        left = [f + load for f, load in zip(left, s.load)]
    right = times(transposed(move.W), left, s.tree.zero)
    return {"qdd": _solved(s, reduction.mass_matrix(s.link, s.position, move.W), right)}


def _solved(s: LoopState, M: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    return [x[0] for x in solve_system(M, [[f] for f in right], s.link.algebra)]


def gravity(s: LoopState) -> Outputs:
    return {"g": times(transposed(s.W), reduction.tree_gravity(s.link, s.position), s.tree.zero)}


def mass_matrix(s: LoopState) -> Outputs:
    return {"M": s.mass_matrix()}


def coriolis_matrix(s: LoopState) -> Outputs:
    return {"C": reduction.model(s.link, s.position, s.motion(s.qd)).C}


def elements(s: LoopState) -> Outputs:
    """C_ij(q, e_k) = beta_ijk: the Christoffel symbols are the Coriolis matrix at unit rates."""
    beta = [reduction.model(s.link, s.position, s.motion(s.unit(k))).C for k in range(s.n)]
    return {**packed(s.mass_matrix(), beta), **gravity(s)}


def jacobian(s: LoopState) -> Outputs:
    return {"J": product(kinematics.jacobian(s.tree, s.frame), s.W, s.tree.zero)}


def jacobian_rate(s: LoopState) -> Outputs:
    move, zero = s.motion(s.qd), s.tree.zero
    J, Jd = kinematics.jacobian(s.tree, s.frame), kinematics.jacobian_rate(s.tree, s.frame, move.qd)
    return {"Jd": summed(product(Jd, move.W, zero), product(J, move.W_rate, zero))}


def drive_jacobian(s: LoopState) -> Outputs:
    return {"J_drive": s.driven}


def drive_rates(s: LoopState) -> Outputs:
    return {"v": times(s.driven, s.qd, s.tree.zero)}


def friction(s: LoopState) -> Outputs:
    """Every joint's friction, the undriven ones' too: the loops hand it to the motors."""
    return {"tau": reduction.motor_efforts(s.link, s.W, _joint_friction(s))}


def generalized_friction(s: LoopState) -> Outputs:
    """The same along the coordinates, W^T f."""
    return {"f": times(transposed(s.W), _joint_friction(s), s.tree.zero)}


def _joint_friction(s: LoopState) -> list[Scalar]:
    return joint_friction(s.tree, times(s.W, s.qd, s.tree.zero))


def momenta(s: LoopState) -> Outputs:
    return {"p": times(s.mass_matrix(), s.qd, s.tree.zero)}


def kinetic_energy(s: LoopState) -> Outputs:
    p = times(s.mass_matrix(), s.qd, s.tree.zero)
    return {"T": s.link.algebra.number(Fraction(1, 2)) * total([a * b for a, b in zip(p, s.qd)])}


def potential_energy(s: LoopState) -> Outputs:
    return {"V": reduction.potential_energy(s.link, s.position)}


def momentum(s: LoopState) -> Outputs:
    """The opened tree's, with the rods' end masses, and of the mutual ones m12 (v1 + v2), m12 (x1 x v2 + x2 x v1)."""
    qd, zero = times(s.W, s.qd, s.tree.zero), s.tree.zero
    linear, angular = energy.momentum(s.tree, s.frame, qd)
    world = world_frames(s.link, s.position)
    for bar in s.link.bars:
        x1, x2 = (anchor_point(end, world) for end in (bar.first, bar.second))
        v1, v2 = (_moved(columns, qd, zero) for columns in reduction.end_columns(s.link, bar, world))
        linear = add(linear, scale(bar.mutual, add(v1, v2)))
        angular = add(angular, scale(bar.mutual, add(cross(x1, v2), cross(x2, v1))))
    return {"P": [*linear, *angular]}


def _moved(columns: Columns, qd: Sequence[Scalar], zero: Scalar) -> Vec3:
    """A point's velocity from how each joint moves it."""
    v: Vec3 = (zero, zero, zero)
    for k, column in columns.items():
        v = add(v, scale(qd[k], column))
    return v


def velocities(s: LoopState) -> Outputs:
    return {"qd": _solved(s, s.mass_matrix(), s.p)}


def momentum_rates(s: LoopState) -> Outputs:
    """pd = J^T tau + C^T qd - G: with Christoffel's C, dT/dq = C^T qd."""
    model, zero = reduction.model(s.link, s.position, s.motion(s.qd)), s.tree.zero
    push, bent = times(transposed(model.J), s.tau, zero), times(transposed(model.C), s.qd, zero)
    return {"pd": [f + c - g for f, c, g in zip(push, bent, model.G)]}


# What proves them.


def _work(s: LoopState, qd: Sequence[Scalar]) -> reduction.ReducedModel:
    return equations_by_virtual_work(s.link, s.position, s.motion(qd))


def _coasting_force(s: LoopState, model: reduction.ReducedModel) -> list[Scalar]:
    """C qd + G."""
    return [total([c * v for c, v in zip(row, s.qd)]) + g for row, g in zip(model.C, model.G)]


def _push(s: LoopState, model: reduction.ReducedModel) -> list[Scalar]:
    """J^T tau."""
    return [total([row[i] * t for row, t in zip(model.J, s.tau)]) for i in range(s.n)]


def bias_by_work(s: LoopState) -> Outputs:
    return {"h": _coasting_force(s, _work(s, s.qd))}


def inverse_dynamics_by_work(s: LoopState) -> Outputs:
    model = _work(s, s.qd)
    h = _coasting_force(s, model)
    force = [total([m * a for m, a in zip(row, s.qdd)]) + b for row, b in zip(model.M, h)]
    return {"tau": [x[0] for x in reduction.allocated(s.link, model.J, [[f] for f in force])]}


def derivatives_of_work(s: LoopState) -> Outputs:
    """Virtual work over dual numbers, which come through the closure itself."""
    tau = inverse_dynamics_by_work(_over(s, s.seeded()))["tau"]
    return {"dtau_dq": _slopes(s, tau, 0), "dtau_dqd": _slopes(s, tau, 1)}


def derivatives_of_accelerations_by_work(s: LoopState) -> Outputs:
    """Virtual work's accelerations, its division by M included, over dual numbers through the closure."""
    tau = [Dual(v, {2 * s.n + k: s.tree.one}) for k, v in enumerate(s.tau)]
    qdd = forward_dynamics_by_work(replace(_over(s, s.seeded()), tau=tau))["qdd"]
    by = [_slopes(s, qdd, of) for of in range(3)]
    values = [x.value if isinstance(x, Dual) else x for x in qdd]
    return {"qdd": values, "dqdd_dq": by[0], "dqdd_dqd": by[1], "dqdd_dtau": by[2]}


def regressor_by_work(s: LoopState) -> Outputs:
    """Column by column: the virtual work of every body with one unit of one parameter."""
    move, link = s.motion(s.qd), s.link
    columns = []
    for model in unit_equations(link, s.position, move):
        h = _coasting_force(s, model)
        columns.append([total([m * a for m, a in zip(row, s.qdd)]) + b for row, b in zip(model.M, h)])
    J = [move.W[k] for k in link.driven]
    return {"Y": reduction.allocated(link, J, transposed(columns))}


def forward_dynamics_by_work(s: LoopState) -> Outputs:
    model = _work(s, s.qd)
    return {"qdd": _solved(s, model.M, [f - h for f, h in zip(_push(s, model), _coasting_force(s, model))])}


def gravity_by_work(s: LoopState) -> Outputs:
    return {"g": _work(s, s.rest).G}


def mass_matrix_by_work(s: LoopState) -> Outputs:
    return {"M": _work(s, s.rest).M}


def _varied_matrix(s: LoopState) -> Matrix:
    """M by virtual work over dual numbers, each coordinate varying."""
    position = s.seeded()
    return equations_by_virtual_work(s.link, position, reduction.tree_rates(s.link, position, s.rest)).M


def _christoffel(s: LoopState) -> list[Matrix]:
    return symbols_of(_varied_matrix(s), s.tree)


def coriolis_from_derivatives(s: LoopState) -> Outputs:
    return {"C": matrix_of_symbols(_christoffel(s), s.qd)}


def elements_from_derivatives(s: LoopState) -> Outputs:
    still = _work(s, s.rest)
    return {**packed(still.M, _christoffel(s)), "g": still.G}


def drive_jacobian_from_positions(s: LoopState) -> Outputs:
    return {"J_drive": _varied_joints(s, s.link.driven)}


def _varied_joints(s: LoopState, joints: Iterable[int]) -> Matrix:
    """How joints follow the coordinates: d(angle) = c ds - s dc."""
    zero, position, rows = s.tree.zero, s.seeded(), []
    for k in joints:
        at: Any = position[k]
        if s.tree.revolute[k]:
            sine, cosine = (part.value if isinstance(part, Dual) else part for part in at)
            row = [cosine * derivative(at[0], i, zero) - sine * derivative(at[1], i, zero) for i in range(s.n)]
        else:
            row = [derivative(at, i, zero) for i in range(s.n)]
        rows.append(row)
    return rows


def drive_rates_from_positions(s: LoopState) -> Outputs:
    return {"v": _rates(_varied_joints(s, s.link.driven), s.qd)}


def _rates(rows: Matrix, qd: Sequence[Scalar]) -> list[Scalar]:
    return [total([x * v for x, v in zip(row, qd)]) for row in rows]


def friction_from_positions(s: LoopState) -> Outputs:
    W = _varied_joints(s, range(s.link.n))
    force = [[f] for f in _friction_along(s, W)]
    return {"tau": [x[0] for x in reduction.allocated(s.link, [W[k] for k in s.link.driven], force)]}


def generalized_friction_from_positions(s: LoopState) -> Outputs:
    return {"f": _friction_along(s, _varied_joints(s, range(s.link.n)))}


def _friction_along(s: LoopState, W: Matrix) -> list[Scalar]:
    """Friction's power per coordinate's rate, term by term."""
    efforts = friction_term_by_term(s.tree, _rates(W, s.qd))
    return [total([row[i] * f for row, f in zip(W, efforts)]) for i in range(s.n)]


def jacobian_from_pose(s: LoopState) -> Outputs:
    mech = s.tree
    R, _ = reference_forward_kinematics(mech, s.frame, mech.tool_link, *mech.tool)
    varied = reference_forward_kinematics(mech, frames(mech, s.seeded()), mech.tool_link, *mech.tool)
    return {"J": jacobian_of_pose(R, varied, s.n, s.tree.zero)}


def jacobian_rate_from_jacobian(s: LoopState) -> Outputs:
    """d/dt of J(q) along qd: the coordinates' derivatives of the tool's Jacobian, through the closure."""
    zero, position = s.tree.zero, s.seeded()
    W = reduction.velocity_map(s.link, reduction.constraint_jacobian(s.link, position))
    J = product(kinematics.jacobian(s.tree, frames(s.tree, position)), W, zero)
    return {"Jd": [[total([derivative(x, k, zero) * v for k, v in enumerate(s.qd)]) for x in row] for row in J]}


def momenta_by_work(s: LoopState) -> dict[str, list[Scalar]]:
    return {"p": [total([m * v for m, v in zip(row, s.qd)]) for row in _work(s, s.rest).M]}


def momentum_of_points(s: LoopState) -> Outputs:
    linear, angular = momentum_of_bodies(s.link, world_frames(s.link, s.seeded()), s.qd)
    return {"P": [*linear, *angular]}


def kinetic_energy_by_work(s: LoopState) -> Outputs:
    p = momenta_by_work(s)["p"]
    return {"T": s.link.algebra.number(Fraction(1, 2)) * total([a * b for a, b in zip(p, s.qd)])}


def potential_energy_of_bodies(s: LoopState) -> Outputs:
    return {"V": potential_of_bodies(s.link, s.position)}


def velocities_by_work(s: LoopState) -> Outputs:
    return {"qd": _solved(s, _work(s, s.rest).M, s.p)}


def momentum_rates_from_energy(s: LoopState) -> Outputs:
    """J^T tau + dT/dq - G, T = qd.M qd / 2 over dual numbers through the closure."""
    M, zero, half = _varied_matrix(s), s.tree.zero, s.link.algebra.number(Fraction(1, 2))
    T = half * total([a * M[i][j] * b for i, a in enumerate(s.qd) for j, b in enumerate(s.qd)])
    still = _work(s, s.rest)
    return {"pd": [f + derivative(T, k, zero) - still.G[k] for k, f in enumerate(_push(s, still))]}
