"""The functions of chains and trees: each by the formulations that compute it, and by another that proves it.

References are not regrouped or simplified, and no output of theirs comes from an algorithm that a program is traced
from: torques from the mass matrix, Christoffel symbols and the gradient of the potential; the mass matrix from Newton
and Euler, column by column; accelerations from articulated bodies; Jacobians from derivatives of the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from emdeg.algebra import Dual, Floats, derivative
from emdeg.algebra.linear import (
    Rows,
    adjugate_of,
    determinant_of,
    invert_symmetric,
    product,
    solve_symmetric,
    solve_system,
)
from emdeg.dynamics.formulations import (
    articulated_body,
    composite_body,
    coriolis_composite,
    derivatives_composite,
    differentiation,
    energy,
    kinematics,
    square_jacobian,
)
from emdeg.dynamics.formulations.coefficients import Coefficients, packed
from emdeg.dynamics.formulations.extended_body_rates import extended_body_coefficients
from emdeg.dynamics.formulations.friction import friction_term_by_term, joint_friction
from emdeg.dynamics.formulations.lagrange_uicker import lagrange_coefficients
from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
from emdeg.dynamics.formulations.reference_kinematics import jacobian_of_pose, reference_forward_kinematics
from emdeg.dynamics.formulations.rnea_link_frame import rnea_link_frame
from emdeg.dynamics.mechanism import Frames, Mechanism, in_base, in_motion, path
from emdeg.dynamics.parameters.regressor import COLUMNS
from emdeg.dynamics.parameters.regressor import regressor as regressor_by_bodies
from emdeg.dynamics.spatial import BodyInertia, Mat3, Scalar, Transform, Vec3, add, dot, mul, scale, total, zeros
from emdeg.dynamics.state import Balance, Outputs, State, TreeState
from emdeg.dynamics.variants.rotors import mass_matrix_with_rotors
from emdeg.robot import BASE

Matrix = list[list[Scalar]]


def inverse_dynamics(s: TreeState) -> Outputs:
    tau = s.efforts(s.qd, s.qdd)
    return {"tau": tau if s.load is None else [t - f for t, f in zip(tau, s.load)]}


def friction(s: TreeState) -> Outputs:
    return {"tau": joint_friction(s.tree, s.qd)}


def friction_by_terms(s: TreeState) -> Outputs:
    return {"tau": friction_term_by_term(s.tree, s.qd)}


def bias(s: TreeState) -> Outputs:
    return {"h": s.efforts(s.qd, s.rest)}


def gravity(s: TreeState) -> Outputs:
    return {"g": s.efforts(s.rest, s.rest)}


def mass_matrix(s: TreeState) -> Outputs:
    return {"M": s.mass_matrix()}


def mass_matrix_by_lagrange(s: TreeState) -> Outputs:
    return {"M": [list(row) for row in lagrange_coefficients(s.tree, s.frame).M]}


def coriolis_by_bodies(s: TreeState) -> Outputs:
    return {"C": energy.coriolis_matrix(s.tree, s.frame, s.qd)}


def coriolis_by_composites(s: TreeState) -> Outputs:
    return {"C": coriolis_composite.coriolis_matrix(s.tree, s.frame, s.qd)}


def coriolis_by_lagrange(s: TreeState) -> Outputs:
    beta, n = lagrange_coefficients(s.tree, s.frame).beta, s.n
    C = zeros(s.tree.zero, n, n)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i][j] = C[i][j] + beta[i][j][k] * s.qd[k]
    return {"C": C}


def elements_at_unit_rates(s: TreeState) -> Outputs:
    """C_ij(q, e_k) = beta_ijk: the Christoffel symbols are the Coriolis matrix at unit rates."""
    beta = [energy.coriolis_matrix(s.tree, s.frame, s.unit(k)) for k in range(s.n)]
    return {**packed(s.mass_matrix(), beta), **gravity(s)}


def elements_by(
    coefficients: Callable[[Mechanism, Frames], Coefficients], chains_only: bool = False
) -> Callable[[TreeState], Outputs | None]:
    """The elements as a formulation of all coefficients has them."""

    def run(s: TreeState) -> Outputs | None:
        if chains_only and any(parent != i - 1 for i, parent in enumerate(s.tree.parent)):
            return None
        model, n = coefficients(s.tree, s.frame), s.n
        beta = model.beta
        return {
            "M": [model.M[i][j] for i in range(n) for j in range(i, n)],
            "b": [beta[i][j][k] + beta[i][k][j] for i in range(n) for j in range(n) for k in range(j + 1, n)],
            "c": [beta[i][j][j] for i in range(n) for j in range(n)],
            "g": list(model.g),
        }

    return run


elements_by_lagrange = elements_by(lagrange_coefficients)
elements_by_extended_bodies = elements_by(extended_body_coefficients, chains_only=True)


def solved(s: TreeState, M: Matrix, right: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """For each right-hand side x with M x = it, M symmetric and positive definite."""
    if isinstance(s.tree.algebra, Floats):
        return [list(x) for x in zip(*solve_system(M, list(zip(*right)), s.tree.algebra))]
    return [solve_symmetric(cast(Rows, M), b, s.tree.one) for b in right]


def forward_dynamics(s: TreeState) -> Outputs:
    h = s.efforts(s.qd, s.rest)
    return {"qdd": solved(s, s.mass_matrix(), [[t - b for t, b in zip(applied_torques(s), h)]])[0]}


def applied_torques(s: TreeState) -> Sequence[Scalar]:
    """The motors' torques and what acts from outside."""
    return s.tau if s.load is None else [t + f for t, f in zip(s.tau, s.load)]


def forward_dynamics_derivatives(s: TreeState) -> Outputs:
    """From tau(q, qd, qdd(q, qd, tau)) = tau: dqdd/dx = -M^-1 dtau/dx at the acceleration found, and M^-1."""
    qdd = forward_dynamics(s)["qdd"]
    of_efforts = inverse_dynamics_derivatives(replace(s, qdd=qdd))
    return _responses(s, qdd, _inverse(s, s.mass_matrix()), of_efforts["dtau_dq"], of_efforts["dtau_dqd"])


def forward_dynamics_derivatives_by_composites(s: TreeState) -> Outputs:
    """The same; what the speeds take is (dtau/dqd) qd / 2, which is there, so that no recursion is needed for it."""
    by_qd = derivatives_composite.by_speeds(s.tree, s.frame, s.qd)
    half = s.tree.algebra.number(Fraction(1, 2))
    halves, g = [half * v for v in s.qd], composite_body.gravity(s.tree, s.frame)
    h = [total([x * v for x, v in zip(row, halves)]) + held for row, held in zip(by_qd, g)]
    inverse = _inverse(s, s.mass_matrix())
    free = [t - b for t, b in zip(applied_torques(s), h)]
    qdd = [total([x * f for x, f in zip(row, free)]) for row in inverse]
    return _responses(s, qdd, inverse, derivatives_composite.by_positions(s.tree, s.frame, s.qd, qdd), by_qd)


def _responses(s: TreeState, qdd: Sequence[Scalar], inverse: Matrix, by_q: Matrix, by_qd: Matrix) -> Outputs:
    """The accelerations with their derivatives, from the inverse of M and the derivatives of the efforts."""

    def response(slopes: Matrix) -> Matrix:
        return [[-x for x in row] for row in product(inverse, slopes, s.tree.zero)]

    return {"qdd": qdd, "dqdd_dq": response(by_q), "dqdd_dqd": response(by_qd), "dqdd_dtau": inverse}


def balance_of_efforts(s: TreeState, found: Outputs) -> Balance:
    """tau - (M qdd + C qd + g) at the accelerations found."""
    at, M = replace(s, qdd=found["qdd"]), s.mass_matrix()

    def slopes() -> Matrix:
        by = inverse_dynamics_derivatives_by_composites(at)
        rows = zip(by["dtau_dq"], by["dtau_dqd"])
        return [[*(-x for x in a), *(-x for x in b), *s.unit(i)] for i, (a, b) in enumerate(rows)]

    return Balance(
        [t - e for t, e in zip(applied_torques(s), s.efforts(s.qd, at.qdd))],
        lambda b: solved(s, M, [b])[0],
        lambda: _inverse(s, M),
        slopes,
    )


def balance_of_momenta(s: TreeState, found: Outputs) -> Balance:
    """p - M qd at the speeds found."""
    M = s.mass_matrix()
    momenta = s.efforts(s.rest, found["qd"], gravity=False)
    return Balance([p - m for p, m in zip(s.p, momenta)], lambda b: solved(s, M, [b])[0], lambda: _inverse(s, M))


def _inverse(s: TreeState, M: Matrix) -> Matrix:
    if isinstance(s.tree.algebra, Floats):
        return solve_system(M, [s.unit(k) for k in range(s.n)], s.tree.algebra)
    return invert_symmetric(cast(Rows, M), s.tree.one)


def inverse_dynamics_derivatives(s: TreeState) -> Outputs:
    by_q, by_qd = differentiation.inverse_dynamics_derivatives(s.tree, s.position, s.qd, s.qdd, rnea_link_frame)
    return {"dtau_dq": by_q, "dtau_dqd": by_qd}


def inverse_dynamics_derivatives_by_composites(s: TreeState) -> Outputs:
    by_q, by_qd = derivatives_composite.inverse_dynamics_derivatives(s.tree, s.frame, s.qd, s.qdd)
    return {"dtau_dq": by_q, "dtau_dqd": by_qd}


def regressor(s: TreeState) -> Outputs:
    return {"Y": regressor_by_bodies(s.tree, s.frame, s.qd, s.qdd)}


def forward_kinematics(s: State) -> Outputs:
    return {"T": _homogeneous(s.tree, kinematics.tool_pose(s.tree, s.frame))}


def gradient_of_pose(s: TreeState, T: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
    """By every joint's position, T and its weights row by row."""
    return kinematics.gradient_of_pose(s.tree, s.frame, _pose(T), _pose(weights))


def _pose(T: Sequence[Scalar]) -> tuple[Mat3, Vec3]:
    """(R, p) of a homogeneous matrix row by row."""
    rows = [T[4 * i : 4 * i + 4] for i in range(3)]
    return cast(Mat3, tuple(tuple(row[:3]) for row in rows)), cast(Vec3, tuple(row[3] for row in rows))


def _homogeneous(mech: Mechanism, pose: tuple[Mat3, Vec3]) -> Matrix:
    return kinematics.homogeneous(*pose, mech.zero, mech.one)


def link_transforms(s: State) -> Outputs:
    world = in_base(s.tree, s.frame)
    return {"T_links": [_homogeneous(s.tree, pose) for pose in zip(world.R, world.p)]}


def jacobian(s: TreeState) -> Outputs:
    return {"J": kinematics.jacobian(s.tree, s.frame)}


def jacobian_rate(s: TreeState) -> Outputs:
    return {"Jd": kinematics.jacobian_rate(s.tree, s.frame, s.qd)}


def kinetic_energy(s: TreeState) -> Outputs:
    return {"T": energy.kinetic_energy(s.tree, s.frame, s.qd)}


def potential_energy(s: TreeState) -> Outputs:
    return {"V": energy.potential_energy(s.tree, s.frame)}


def momentum(s: TreeState) -> Outputs:
    linear, angular = energy.momentum(s.tree, s.frame, s.qd)
    return {"P": [*linear, *angular]}


def momenta(s: TreeState) -> Outputs:
    return {"p": s.efforts(s.rest, s.qd, gravity=False)}


def velocities(s: TreeState) -> Outputs:
    return {"qd": solved(s, s.mass_matrix(), [s.p])[0]}


def momentum_rates(s: TreeState) -> Outputs:
    """Hamilton's second equation, pd = tau + dT/dq - g.

    With Christoffel's C, M-dot = C + C^T, so dT/dq = C^T qd = M-dot qd - C qd: the first is the derivative of the
    momentum along the motion at constant qd, the second the bias without gravity.
    """
    mech = s.tree
    moving = in_motion(mech, s.position, s.qd)
    carried = replace(s, position=moving).efforts(s.rest, s.qd, gravity=False)
    h = s.efforts(s.qd, s.rest)
    return {"pd": [s.tau[i] + derivative(carried[i], 0, mech.zero) - h[i] for i in range(s.n)]}


# What proves them.


def potential_gradient(s: TreeState) -> list[Scalar]:
    varied = s.seed_duals()
    V = energy.potential_energy(varied.tree, varied.frame)
    return [derivative(V, k, s.tree.zero) for k in range(s.n)]


def efforts_from_matrices(s: TreeState, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """M qdd + C qd + dV/dq."""
    M = composite_body.mass_matrix(s.tree, s.frame)
    C = energy.coriolis_matrix(s.tree, s.frame, qd)
    g = potential_gradient(s)
    return [total([M[i][j] * qdd[j] + C[i][j] * qd[j] for j in range(s.n)]) + g[i] for i in range(s.n)]


def inverse_dynamics_from_matrices(s: TreeState) -> Outputs:
    return {"tau": efforts_from_matrices(s, s.qd, s.qdd)}


def bias_from_matrices(s: TreeState) -> Outputs:
    return {"h": efforts_from_matrices(s, s.qd, s.rest)}


def gravity_from_potential(s: TreeState) -> Outputs:
    return {"g": potential_gradient(s)}


def columns_of_newton_euler(mech: Mechanism, frame: Frames) -> Matrix:
    """M from the plain recursion at unit accelerations, column by column."""
    n, zero = mech.nv, mech.zero
    units = [[mech.one if k == j else zero for k in range(n)] for j in range(n)]
    columns = [efforts_by_newton_euler(mech, frame, [zero] * n, unit, gravity=False) for unit in units]
    return [list(row) for row in zip(*columns)]


def mass_matrix_by_columns(s: TreeState) -> Outputs:
    return {"M": columns_of_newton_euler(s.tree, s.frame)}


def _christoffel(s: TreeState) -> list[Matrix]:
    return differentiation.christoffel_symbols(s.tree, s.position, columns_of_newton_euler)


def elements_from_derivatives(s: TreeState) -> Outputs:
    return {**packed(columns_of_newton_euler(s.tree, s.frame), _christoffel(s)), "g": potential_gradient(s)}


def coriolis_from_derivatives(s: TreeState) -> Outputs:
    return {"C": differentiation.matrix_of_symbols(_christoffel(s), s.qd)}


def coriolis_with_rotors(s: TreeState) -> Outputs:
    beta = differentiation.christoffel_symbols(s.tree, s.position, mass_matrix_with_rotors)
    return {"C": differentiation.matrix_of_symbols(beta, s.qd)}


def accelerations_of_articulated_bodies(s: TreeState) -> Outputs:
    return {"qdd": articulated_body.forward_dynamics(s.tree, s.frame, s.qd, applied_torques(s))}


def pose_from_tool(s: State) -> Outputs:
    return {"T": _homogeneous(s.tree, reference_forward_kinematics(s.tree, s.frame, s.tree.tool_link, *s.tree.tool))}


def poses_from_links(s: State) -> Outputs:
    zero, one = s.tree.zero, s.tree.one
    unturned: Mat3 = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    here = (zero, zero, zero)
    poses = (reference_forward_kinematics(s.tree, s.frame, k, unturned, here) for k in range(s.tree.n))
    return {"T_links": [_homogeneous(s.tree, pose) for pose in poses]}


def jacobian_from_pose(s: TreeState) -> Outputs:
    mech = s.tree
    R, _ = reference_forward_kinematics(mech, s.frame, mech.tool_link, *mech.tool)
    varied = reference_forward_kinematics(mech, s.seed_duals().frame, mech.tool_link, *mech.tool)
    return {"J": jacobian_of_pose(R, varied, s.n, mech.zero)}


def determinant_seen_from(place: int) -> Callable[[TreeState], Outputs]:
    """det J in the frame of the link at that place of the chain."""
    return lambda s: {"det": square_jacobian.jacobian_determinant(s.tree, s.frame, _link(s, place))}


def inverse_seen_from(place: int) -> Callable[[TreeState], Outputs]:
    """J^-1 by way of the frame of the link at that place of the chain."""
    return lambda s: {"Jinv": square_jacobian.inverse_jacobian(s.tree, s.frame, _link(s, place))}


def _link(s: TreeState, place: int) -> int:
    return path(s.tree, s.tree.tool_link)[place]


def determinant_from_pose(s: TreeState) -> Outputs:
    return {"det": determinant_of(jacobian_from_pose(s)["J"], square_jacobian.dot_of(s.tree.zero))}


def inverse_from_pose(s: TreeState) -> Outputs:
    adjugate, det = adjugate_of(jacobian_from_pose(s)["J"], s.tree.one, square_jacobian.dot_of(s.tree.zero))
    return {"Jinv": [[entry / det for entry in row] for row in adjugate]}


def jacobian_rate_from_jacobian(s: TreeState) -> Outputs:
    """The Jacobian over dual numbers that vary with time."""
    mech = s.tree
    moving = in_motion(mech, s.position, s.qd)
    J = kinematics.jacobian(mech, replace(s, position=moving).frame)
    return {"Jd": [[derivative(x, 0, mech.zero) for x in row] for row in J]}


def regressor_by_columns(s: TreeState) -> Outputs:
    """Column by column: the efforts of a robot all of whose parameters are zero but one."""
    mech, n = s.tree, s.tree.n
    zero, one = mech.zero, mech.one
    nothing = BodyInertia.nothing(zero)
    bare = replace(mech, inertia=(nothing,) * n, drive=(zero,) * s.n, rotor=(None,) * n)
    columns = []
    for i in range(n):
        for k in range(len(COLUMNS) - 1):
            v = [one if m == k else zero for m in range(10)]
            J = ((v[0], v[1], v[2]), (v[1], v[3], v[4]), (v[2], v[4], v[5]))
            unit = BodyInertia(v[9], (v[6], v[7], v[8]), J)
            only = replace(bare, inertia=(*bare.inertia[:i], unit, *bare.inertia[i + 1 :]))
            columns.append(efforts_from_matrices(replace(s, tree=only), s.qd, s.qdd))
        columns.append([s.qdd[k] if k in mech.speeds[i] else zero for k in range(s.n)])
    return {"Y": [[column[row] for column in columns] for row in range(s.n)]}


def derivatives_of_matrices(s: TreeState) -> Outputs:
    """By differentiating M qdd + C qd, and g once more, with dual numbers."""
    mech, n, zero = s.tree, s.n, s.tree.zero
    varied = s.seed_duals()
    rates = [Dual(v, {n + k: mech.one}) for k, v in enumerate(s.qd)]
    M = composite_body.mass_matrix(mech, varied.frame)
    C = energy.coriolis_matrix(mech, varied.frame, rates)
    g = efforts_by_newton_euler(mech, varied.frame, s.rest, s.rest)
    tau = [total([M[i][j] * s.qdd[j] + C[i][j] * rates[j] for j in range(n)]) + g[i] for i in range(n)]
    return {
        "dtau_dq": [[derivative(t, k, zero) for k in range(n)] for t in tau],
        "dtau_dqd": [[derivative(t, n + k, zero) for k in range(n)] for t in tau],
    }


def derivatives_of_articulated_bodies(s: TreeState) -> Outputs:
    """Articulated bodies, their divisions included, over dual numbers: positions, rates and efforts vary."""
    mech, n, zero = s.tree, s.n, s.tree.zero
    qd = [Dual(v, {n + k: mech.one}) for k, v in enumerate(s.qd)]
    tau = [Dual(v, {2 * n + k: mech.one}) for k, v in enumerate(s.tau)]
    qdd = articulated_body.forward_dynamics(mech, s.seed_duals().frame, qd, tau)
    by = [[[derivative(a, m * n + k, zero) for k in range(n)] for a in qdd] for m in range(3)]
    return {"qdd": [cast(Dual, a).value for a in qdd], "dqdd_dq": by[0], "dqdd_dqd": by[1], "dqdd_dtau": by[2]}


def energy_from_matrix(s: TreeState) -> Outputs:
    p = momenta_from_matrix(s)["p"]
    return {"T": s.tree.algebra.number(Fraction(1, 2)) * total([a * b for a, b in zip(p, s.qd)])}


def momenta_from_matrix(s: TreeState) -> dict[str, list[Scalar]]:
    M = composite_body.mass_matrix(s.tree, s.frame)
    return {"p": [total([m * v for m, v in zip(row, s.qd)]) for row in M]}


def potential_of_composites(s: TreeState) -> Outputs:
    """From the first moments of everything that hangs on the base, as one body each."""
    mech, frame = s.tree, s.frame
    composite = composite_body.composite_inertias(mech, frame)
    R, p = mech.base
    g = mul(R, mech.gravity)
    V = mech.zero
    for i, parent in enumerate(mech.parent):
        if parent == BASE:
            body = composite[i].to_parent(frame.X[i])
            V = V - dot(g, add(scale(body.m, p), mul(R, body.mr)))
    return {"V": V}


def momentum_of_composites(s: TreeState) -> Outputs:
    """The momenta that each joint gives to everything beyond it as one body, transformed to the base and summed."""
    mech, frame = s.tree, s.frame
    composite = composite_body.composite_inertias(mech, frame)
    total_momentum = mech.still
    for j in range(mech.n):
        own = composite[j] @ mech.joint_motion(j, s.qd)
        for i in reversed(path(mech, j)):
            own = frame.X[i].T @ own
        total_momentum = total_momentum + Transform(*mech.base).T @ own
    return {"P": [*total_momentum.v, *total_momentum.w]}


def velocities_of_articulated_bodies(s: TreeState) -> Outputs:
    """Accelerations from rest, without gravity, under the momenta as efforts."""
    zero = s.tree.zero
    weightless = replace(s.tree, gravity=(zero, zero, zero))
    return {"qd": articulated_body.forward_dynamics(weightless, s.frame, s.rest, s.p)}


def momentum_rates_from_energies(s: TreeState) -> Outputs:
    """tau + dT/dq - dV/dq, the energies over dual numbers."""
    varied, zero = s.seed_duals(), s.tree.zero
    T = energy.kinetic_energy(varied.tree, varied.frame, s.qd)
    V = energy.potential_energy(varied.tree, varied.frame)
    return {"pd": [s.tau[k] + derivative(T, k, zero) - derivative(V, k, zero) for k in range(s.n)]}
