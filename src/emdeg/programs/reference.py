"""The same functions by other formulations: what a program is verified against.

Nothing here is regrouped or simplified, and no output comes from the algorithm that the program was traced from:
torques from the mass matrix, Christoffel symbols and the gradient of the potential; the mass matrix from Newton
and Euler, column by column; accelerations from articulated bodies; Jacobians from derivatives of the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from emdeg.algebra.dual import Dual, derivative
from emdeg.algebra.prime_field import PrimeField
from emdeg.errors import Refuted
from emdeg.mechanics.formulations import (
    articulated_body,
    composite_body,
    coriolis,
    differentiation,
    energy,
    kinematics,
)
from emdeg.mechanics.formulations.newton_euler import newton_euler
from emdeg.mechanics.mechanism import Frames, Mechanism, frames, mechanism
from emdeg.mechanics.spatial import BodyInertia
from emdeg.mechanics.vectors import Scalar, Vec3, total
from emdeg.programs.build import base_places, further_inputs, known_functions
from emdeg.programs.degree import degree_bound
from emdeg.programs.functions import FUNCTIONS, Outputs, State, of_base_parameters, unit_rates
from emdeg.programs.inward_pose import jacobian_of_pose, pose_from_tool
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.trace import Tracer
from emdeg.programs.verify import Certificate, verify
from emdeg.robot.model import Robot


def verify_program(
    program: Program,
    robot: Robot,
    function: str | Sequence[str],
    *,
    base: bool = False,
    seed: int = 0,
    points: int | None = None,
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that `program` computes these functions of `robot`; raises `Refuted` where it does not.

    `base`: the regressor has the base parameters' columns only. `points` defaults to as many as are needed.
    """
    names = known_functions(function, robot)
    _check_inputs(program, robot, names)
    if robot.loops is not None:
        return _verify_loops(program, robot, names, seed, points, artefact)
    places = base_places(robot) if base else None

    def independent(field: PrimeField) -> Outputs:
        found = _outputs(
            robot,
            names,
            field,
            lambda k: field.joint_sincos(k),
            field.displacement,
            field.rate,
            field.acceleration,
            lambda k: field.random(f"tau {k}"),
        )
        return of_base_parameters(found, places)

    formulations = ("traced program", ", ".join(REFERENCES[name][0] for name in names))
    return verify(
        program,
        independent,
        formulations=formulations,
        seed=seed,
        points=points,
        degree=_degree(robot, names),
        artefact=artefact,
    )


def _check_inputs(program: Program, robot: Robot, names: Sequence[str]) -> None:
    """Refuted unless the program takes the arrays that these functions take, in their order: it decides the call."""
    n = robot.freedoms
    wanted = {group for name in names for group in further_inputs(name, robot)}
    expected = [("q", n), *((group, n) for group in ("qd", "qdd", "tau") if group in wanted)]
    symbols = tuple(sorted(robot.symbols))
    if symbols:
        expected.append(("parameters", len(symbols)))
    found = [(group.name, group.size) for group in program.inputs]
    if found != expected:
        raise Refuted(f"{program.name}: its inputs are {found}; the function's are {expected}")
    if symbols and program.inputs[-1].labels != symbols:
        raise Refuted(f"{program.name}: its parameters are not {', '.join(symbols)}")


def _verify_loops(
    program: Program, robot: Robot, names: Sequence[str], seed: int, points: int | None, artefact: bytes | None
) -> Certificate:
    from emdeg.programs.loop_reference import LOOP_REFERENCES, reference_degree, reference_outputs, reference_roots

    return verify(
        program,
        lambda field: reference_outputs(robot, names, field),
        formulations=("traced program", ", ".join(LOOP_REFERENCES[name][0] for name in names)),
        seed=seed,
        points=points,
        degree=reference_degree(robot, names),
        roots=reference_roots(robot),
        artefact=artefact,
    )


def _outputs(
    robot: Robot,
    names: Sequence[str],
    algebra: Any,
    sincos: Callable[[int], Any],
    displacement: Callable[[int], Any],
    rate: Callable[[int], Any],
    acceleration: Callable[[int], Any],
    effort: Callable[[int], Any],
) -> Outputs:
    mech = mechanism(robot, algebra)
    joints = range(mech.n)
    state = State(
        mech,
        [sincos(k) if mech.revolute[k] else displacement(k) for k in joints],
        [rate(k) for k in joints],
        [acceleration(k) for k in joints],
        [effort(k) for k in joints],
    )
    results: dict[str, Any] = {}
    for name in names:
        results |= REFERENCES[name][1](state)
    return results


def _degree(robot: Robot, names: Sequence[str]) -> int:
    """A bound on the degree of the reference's outputs, read off its own trace."""
    tracer = Tracer(sorted(robot.symbols))
    q = tracer.inputs("q", robot.n, Dependence.CONFIGURATION)
    qd, qdd, tau = (tracer.inputs(name, robot.n, Dependence.RATES) for name in ("qd", "qdd", "tau"))
    results = _outputs(
        robot,
        names,
        tracer,
        lambda k: tracer.sincos_of(q[k]),
        q.__getitem__,
        qd.__getitem__,
        qdd.__getitem__,
        tau.__getitem__,
    )
    return degree_bound(tracer.program("reference", {f"{name}_out": value for name, value in results.items()}))


def _potential_gradient(state: State) -> list[Scalar]:
    mech = state.mech
    V = energy.potential_energy(mech, frames(mech, differentiation.seeded(mech, state.position)))
    return [derivative(V, k, mech.zero) for k in range(mech.n)]


def _efforts(state: State, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """M qdd + C qd + dV/dq."""
    mech, frame = state.mech, state.frame
    M = composite_body.mass_matrix(mech, frame)
    C = coriolis.coriolis_matrix(mech, frame, qd)
    g = _potential_gradient(state)
    return [total([M[i][j] * qdd[j] + C[i][j] * qd[j] for j in range(mech.n)]) + g[i] for i in range(mech.n)]


def _columns(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """M by Newton and Euler at unit accelerations."""
    rest = [mech.zero] * mech.n
    columns = [newton_euler(mech, frame, rest, unit_rates(mech, j), gravity=False) for j in range(mech.n)]
    return [[columns[j][i] for j in range(mech.n)] for i in range(mech.n)]


def _christoffel(state: State, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    return differentiation.christoffel_matrix(state.mech, state.position, qd, _columns)


def _elements(state: State) -> Outputs:
    mech, n = state.mech, state.mech.n
    M = _columns(mech, state.frame)
    beta = [_christoffel(state, unit_rates(mech, k)) for k in range(n)]
    return {
        "M": [M[i][j] for i in range(n) for j in range(i, n)],
        "b": [beta[k][i][j] + beta[j][i][k] for i in range(n) for j in range(n) for k in range(j + 1, n)],
        "c": [beta[j][i][j] for i in range(n) for j in range(n)],
        "g": _potential_gradient(state),
    }


def _forward_kinematics(state: State) -> Outputs:
    return {"T": kinematics.homogeneous(*pose_from_tool(state.mech, state.frame), state.mech.zero, state.mech.one)}


def _jacobian(state: State) -> Outputs:
    mech = state.mech
    R, _ = pose_from_tool(mech, state.frame)
    varied = pose_from_tool(mech, frames(mech, differentiation.seeded(mech, state.position)))
    return {"J": jacobian_of_pose(R, varied, mech.n, mech.zero)}


def _regressor(state: State) -> Outputs:
    """Column by column: the efforts of a robot all of whose parameters are zero but one."""
    mech, n = state.mech, state.mech.n
    zero, one = mech.zero, mech.one
    none: Vec3 = (zero, zero, zero)
    nothing = BodyInertia(zero, none, (none, none, none))
    bare = replace(mech, inertia=(nothing,) * n, drive=(zero,) * n, rotor=(None,) * n)
    columns = []
    for i in range(n):
        for k in range(10):
            v = [one if m == k else zero for m in range(10)]
            J = ((v[0], v[1], v[2]), (v[1], v[3], v[4]), (v[2], v[4], v[5]))
            unit = BodyInertia(v[9], (v[6], v[7], v[8]), J)
            only = replace(bare, inertia=(*bare.inertia[:i], unit, *bare.inertia[i + 1 :]))
            columns.append(_efforts(replace(state, mech=only), state.qd, state.qdd))
        columns.append([state.qdd[i] if m == i else zero for m in range(n)])
    return {"Y": [[column[row] for column in columns] for row in range(n)]}


def _derivatives(state: State) -> Outputs:
    """By differentiating M qdd + C qd, and g once more, with dual numbers."""
    mech, n, zero = state.mech, state.mech.n, state.mech.zero
    frame = frames(mech, differentiation.seeded(mech, state.position))
    rates = [Dual(v, {n + k: mech.one}) for k, v in enumerate(state.qd)]
    M = composite_body.mass_matrix(mech, frame)
    C = coriolis.coriolis_matrix(mech, frame, rates)
    g = newton_euler(mech, frame, state.rest, state.rest)
    tau = [total([M[i][j] * state.qdd[j] + C[i][j] * rates[j] for j in range(n)]) + g[i] for i in range(n)]
    return {
        "dtau_dq": [[derivative(t, k, zero) for k in range(n)] for t in tau],
        "dtau_dqd": [[derivative(t, n + k, zero) for k in range(n)] for t in tau],
    }


def _forward_dynamics_derivatives(state: State) -> Outputs:
    """Articulated bodies, their divisions included, over dual numbers: positions, rates and efforts vary."""
    mech, n, zero = state.mech, state.mech.n, state.mech.zero
    qd = [Dual(v, {n + k: mech.one}) for k, v in enumerate(state.qd)]
    tau = [Dual(v, {2 * n + k: mech.one}) for k, v in enumerate(state.tau)]
    frame = frames(mech, differentiation.seeded(mech, state.position))
    qdd = articulated_body.forward_dynamics(mech, frame, qd, tau)
    by = [[[derivative(a, m * n + k, zero) for k in range(n)] for a in qdd] for m in range(3)]
    return {"qdd": [a.value for a in qdd], "dqdd_dq": by[0], "dqdd_dqd": by[1], "dqdd_dtau": by[2]}


REFERENCES: dict[str, tuple[str, Callable[[State], Outputs]]] = {
    "inverse_dynamics": ("M qdd + C qd + dV/dq", lambda s: {"tau": _efforts(s, s.qd, s.qdd)}),
    "forward_dynamics": (
        "articulated bodies",
        lambda s: {"qdd": articulated_body.forward_dynamics(s.mech, s.frame, s.qd, s.tau)},
    ),
    "mass_matrix": ("Newton-Euler at unit accelerations", lambda s: {"M": _columns(s.mech, s.frame)}),
    "coriolis_matrix": ("derivatives of the mass matrix", lambda s: {"C": _christoffel(s, s.qd)}),
    "bias": ("C qd + dV/dq", lambda s: {"h": _efforts(s, s.qd, s.rest)}),
    "gravity": ("dV/dq", lambda s: {"g": _potential_gradient(s)}),
    "elements": ("derivatives of the mass matrix and of the potential", _elements),
    "forward_kinematics": ("product of poses from the tool inwards", _forward_kinematics),
    "jacobian": ("derivatives of the pose", _jacobian),
    "regressor": ("M qdd + C qd + dV/dq of unit parameters", _regressor),
    "inverse_dynamics_derivatives": ("derivatives of M qdd + C qd + g", _derivatives),
    "forward_dynamics_derivatives": ("derivatives of articulated bodies", _forward_dynamics_derivatives),
}
assert REFERENCES.keys() == FUNCTIONS.keys()
