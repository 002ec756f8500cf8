"""What a program of Kane's equations is verified against: the same quantities by other ways.

Efforts are M qdd + C qd + dV/dq of the whole mechanism, prescribed joints included, M column by column from Newton
and Euler; forces enter by the derivatives of the points they act at; rates of speeds are derivatives of A along the
motion; A is inverted by elimination at the point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from emdeg.algebra import Dual, FieldScalar, PrimeField, derivative
from emdeg.dynamics import Scalar, Vec3, add, dot, in_base, lift_positions, matmul, mul, scale, sub, total, written
from emdeg.dynamics.formulations import efforts_by_newton_euler, energy
from emdeg.dynamics.kane import Setup, System, host, joint_actions, loop_system, speed_matrix, speed_values, system
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.kane.build import drives_of, turning_variables
from emdeg.programs.kane.closed import CLOSED_FORMULATION, closed_reference
from emdeg.programs.kane.inputs import INPUTS, Function, KaneInputs
from emdeg.programs.proof import Certificate, verify
from emdeg.programs.simplification import prune
from emdeg.programs.trace import Tracer
from emdeg.robot import BASE, Frame, Robot, Vector

FORMULATION = "M qdd + C qd + dV/dq, M from Newton-Euler, A eliminated and differentiated"


def verify_kane(
    program: Program, robot: Robot, setup: Setup, function: Function, *, seed: int = 0, artefact: bytes | None = None
) -> Certificate:
    """A certificate that `program` computes this function of the setup; raises `Refuted` where it does not."""

    def direct(field: PrimeField) -> dict[str, Any]:
        drawn = _drawn(robot, setup, field)
        return _wanted(program, _outputs(robot, setup, function, field, *drawn, field.sqrt))

    return verify(
        program,
        _traced_reference(program, robot, setup, function),
        formulations=(program.name, FORMULATION if robot.is_tree else CLOSED_FORMULATION),
        seed=seed,
        direct=direct,
        artefact=artefact,
    )


def _wanted(program: Program, found: dict[str, Any]) -> dict[str, Any]:
    """Those outputs that the program has, too: a constant det A is none."""
    return {group.name: found[group.name] for group in program.outputs if group.name in found}


def _drawn(robot: Robot, setup: Setup, field: PrimeField) -> tuple[list[Any], KaneInputs]:
    """Positions and inputs as `residues.evaluate_residues` draws them for a program's inputs."""
    n, m = len(setup.free(robot)), setup.given_motions
    turns = turning_variables(robot, setup)
    position = [field.joint_sincos(k) if turns[k] else field.displacement(k) for k in range(n)]
    position += [field.joint_sincos(f"p {k}") if turns[n + k] else field.random(f"p {k}") for k in range(m)]

    def some(name: str, size: int) -> list[Any]:
        return [field.random(f"{name} {k}") for k in range(size)]

    return position, KaneInputs(
        some("u", n),
        some("ud", n),
        some("tau", len(drives_of(robot, setup))),
        [field.rate(k) for k in range(n)],
        [field.acceleration(k) for k in range(n)],
        some("pd", m),
        some("pdd", m),
        some("loads", 3 * len(setup.input_loads)),
        [field.displacement(k) for k in range(n)] + some("p", m),
    )


def _traced_reference(program: Program, robot: Robot, setup: Setup, function: Function) -> Program:
    """The reference as a program."""
    tracer = Tracer(sorted(robot.symbols))
    n, m = len(setup.free(robot)), setup.given_motions
    q = tracer.inputs("q", n, Dependence.CONFIGURATION)
    p = tracer.inputs("p", m, Dependence.CONFIGURATION)
    sizes = dict.fromkeys(INPUTS[function], n) | {"pd": m, "pdd": m}
    sizes["loads"] = 3 * len(setup.input_loads)
    if "tau" in sizes:
        sizes["tau"] = len(drives_of(robot, setup))
    groups = {name: tracer.inputs(name, size, Dependence.RATES) for name, size in sizes.items()}
    turns = turning_variables(robot, setup)
    position = [tracer.sincos_of(x) if turn else x for x, turn in zip((*q, *p), turns)]
    results = _outputs(robot, setup, function, tracer, position, KaneInputs(**groups, variables=(*q, *p)), tracer.sqrt)
    return prune(tracer.program("reference", _wanted(program, results)))


def _outputs(
    robot: Robot,
    setup: Setup,
    function: Function,
    algebra: Any,
    position: Sequence[Any],
    given: KaneInputs,
    sqrt: Callable[[Any], Any],
) -> dict[str, Any]:
    n = len(setup.free(robot))
    if not robot.is_tree:
        return _closed_outputs(robot, setup, function, algebra, position, given, sqrt)
    sys = system(robot, setup, algebra, position[:n], position[n:])
    mech, zero, one = sys.mech, sys.mech.zero, sys.mech.one
    still = [zero] * n
    if function == "speeds":
        qd, qdd = sys.all_joints(given.qd, given.pd), sys.all_joints(given.qdd, given.pdd)
        return {"u": speed_values(sys, qd), "ud": _speed_rates(sys, algebra, qd, qdd)}
    A = speed_matrix(sys)
    det = {"det": [_eliminated(A, [still], one)[1]]}
    B = speed_values(sys, sys.all_joints(still, given.pd))
    qd = sys.all_joints(_solution(A, [u - b for u, b in zip(given.u, B)], one), given.pd)
    rates = {"qd": [qd[k] for k in sys.free]}
    if function == "rates":
        return rates | det
    bias = _speed_rates(sys, algebra, qd, sys.all_joints(still, given.pdd))
    M = _mass_matrix(sys)
    other = _other_efforts(sys, algebra, qd, given, sqrt)
    if function == "torques":
        qdd = sys.all_joints(_solution(A, [a - b for a, b in zip(given.ud, bias)], one), given.pdd)
        tau = [total([M[i][j] * qdd[j] for j in range(mech.n)]) + other[i] for i in range(mech.n)]
        return {"tau": [tau[k] for k in sys.free], "held": [tau[k] for k in sys.given if k >= sys.offset]} | det
    pdd = sys.all_joints(still, given.pdd)
    right = [given.tau[i] - other[k] - total([M[k][j] * pdd[j] for j in range(mech.n)]) for i, k in enumerate(sys.free)]
    inner = [[M[i][j] for j in sys.free] for i in sys.free]
    qdd = _solution(inner, right, one)
    ud = [b + total([A[r][k] * qdd[k] for k in range(n)]) for r, b in enumerate(bias)]
    if function == "accelerations":
        return rates | {"ud": ud} | det
    units = [[one if i == r else zero for i in range(n)] for r in range(n)]
    W = [_solution(A, unit, one) for unit in units]  # W[r]: the rates of a unit speed r
    X = [
        [total([W[r][i] * inner[i][j] * W[s][j] for i in range(n) for j in range(n)]) for s in range(n)]
        for r in range(n)
    ]
    return {"X": X, "rhs": [total([X[r][s] * ud[s] for s in range(n)]) for r in range(n)]}


def _closed_outputs(
    robot: Robot,
    setup: Setup,
    function: Function,
    algebra: Any,
    position: Sequence[Any],
    given: KaneInputs,
    sqrt: Callable[[Any], Any],
) -> dict[str, Any]:
    n = len(setup.free(robot))
    sys = loop_system(robot, setup, algebra, position[:n], position[n:], lambda value, _: sqrt(value))
    variables = sys.variables(given.variables[:n], given.variables[n:])

    def forces(tree: System, qd: Sequence[Scalar]) -> list[Scalar]:
        one = tree.mech.one
        seeds = lift_positions(tree.mech, tree.position, [{k: one} for k in range(tree.mech.nv)])
        pushed = _generalized_forces(tree, _at(tree, algebra, seeds), qd, given.loads, sqrt)
        return [a + f for a, f in zip(joint_actions(tree, variables, qd, sqrt), pushed)]

    return closed_reference(sys, function, given, sqrt, forces)


def _speed_rates(sys: System, algebra: Any, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """ud: the derivative of u(q, qd) along q-dot, plus its linear part in qdd."""
    zero = sys.mech.zero
    moving = lift_positions(sys.mech, sys.position, [{0: v} for v in qd])
    along = speed_values(_at(sys, algebra, moving), qd)
    constant = speed_values(sys, [zero] * sys.mech.n)
    linear = speed_values(sys, qdd)
    return [derivative(a, 0, zero) + x - c for a, x, c in zip(along, linear, constant)]


def _at(sys: System, algebra: Any, position: Sequence[Any]) -> System:
    """The same system at other positions, given for every joint of the mechanism."""
    free, given = [position[k] for k in sys.free], [position[k] for k in sys.given]
    return system(sys.robot, sys.setup, algebra, free, given)


def _mass_matrix(sys: System) -> list[list[Scalar]]:
    mech = sys.mech
    rest = [mech.zero] * mech.n
    columns = []
    for j in range(mech.n):
        unit = [mech.one if k == j else mech.zero for k in range(mech.n)]
        columns.append(efforts_by_newton_euler(mech, sys.frame, rest, unit, gravity=False))
    return [[column[i] for column in columns] for i in range(mech.n)]


def _other_efforts(
    sys: System, algebra: Any, qd: Sequence[Scalar], given: KaneInputs, sqrt: Callable[[Any], Any]
) -> list[Scalar]:
    """C qd + dV/dq less the generalized forces of loads, springs, dampers and friction, per joint."""
    mech, n, zero = sys.mech, sys.mech.n, sys.mech.zero
    one = mech.one
    seeds = lift_positions(mech, sys.position, [{k: one} for k in range(n)])
    varied = _at(sys, algebra, seeds)
    V = energy.potential_energy(mech, varied.frame)
    C = energy.coriolis_matrix(mech, sys.frame, qd)
    of_free, of_given = given.variables[: len(sys.free)], given.variables[len(sys.free) :]
    acting = joint_actions(sys, sys.all_joints(of_free, of_given), qd, sqrt)
    force = _generalized_forces(sys, varied, qd, given.loads, sqrt)
    return [
        total([C[i][j] * qd[j] for j in range(n)]) + derivative(V, i, zero) - acting[i] - force[i] for i in range(n)
    ]


def _generalized_forces(
    sys: System, varied: System, qd: Sequence[Scalar], inputs: Sequence[Scalar], sqrt: Callable[[Any], Any]
) -> list[Scalar]:
    """By virtual work: a force times the derivative of its point, a torque times the axis of the turn."""
    n, zero = sys.mech.n, sys.mech.zero
    Q: list[Scalar] = [zero] * n
    waiting = list(inputs)
    for load in sys.setup.loads:
        value = waiting[:3] if load.value is None else list(sys.exact(load.value))
        if load.value is None:
            del waiting[:3]
        vector = mul(_axes(sys, load.frame), (value[0], value[1], value[2]))
        for k in range(n):
            if load.kind == "force":
                Q[k] = Q[k] + dot(vector, _slope(_place(varied, load.body, load.point), k, zero))
            else:
                R, turned = _axes(sys, load.body), _axes(varied, load.body)
                spin = matmul(_slopes(turned, k, zero), tuple(zip(*R)))  # type: ignore[arg-type]
                Q[k] = Q[k] + dot(vector, (spin[2][1], spin[0][2], spin[1][0]))
    for spring in sys.setup.point_springs:
        d = sub(_place(varied, spring.second, spring.second_point), _place(varied, spring.first, spring.first_point))
        at = (_plain(d[0]), _plain(d[1]), _plain(d[2]))
        slopes = [_slope(d, k, zero) for k in range(n)]
        stiffness = written(sys.mech.algebra, spring.stiffness)
        if spring.length:
            stiffness = stiffness - stiffness * written(sys.mech.algebra, spring.length) / sqrt(dot(at, at))
        pull = scale(stiffness, at)
        if spring.damping:
            rate = (zero, zero, zero)
            for k in range(n):
                rate = add(rate, scale(qd[k], slopes[k]))
            if spring.length:
                rate = scale(dot(rate, at) / cast(FieldScalar, dot(at, at)), at)
            pull = add(pull, scale(written(sys.mech.algebra, spring.damping), rate))
        for k in range(n):
            Q[k] = Q[k] - dot(pull, slopes[k])
    return Q


def _axes(sys: System, frame: Frame) -> Any:
    """The frame's axes in N."""
    link, R, _ = host(sys, frame)
    return matmul(sys.mech.base[0] if link == BASE else in_base(sys.mech, sys.frame).R[link], R)


def _place(sys: System, frame: Frame, point: Vector) -> Vec3:
    """A point of a frame in N [m]."""
    link, R, origin = host(sys, frame)
    world = in_base(sys.mech, sys.frame)
    R_link, p_link = sys.mech.base if link == BASE else (world.R[link], world.p[link])
    return add(p_link, mul(R_link, add(origin, mul(R, sys.exact(point)))))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Dual) else value


def _slope(vector: Vec3, k: int, zero: Scalar) -> Vec3:
    return derivative(vector[0], k, zero), derivative(vector[1], k, zero), derivative(vector[2], k, zero)


def _slopes(matrix: Any, k: int, zero: Scalar) -> Any:
    return tuple(_slope(row, k, zero) for row in matrix)


def _solution(A: Sequence[Sequence[Scalar]], right: Sequence[Scalar], one: Scalar) -> list[Scalar]:
    return _eliminated(A, [right], one)[0][0]


def _eliminated(
    A: Sequence[Sequence[Scalar]], rights: Sequence[Sequence[Scalar]], one: Scalar
) -> tuple[list[list[Scalar]], Scalar]:
    """(x with A x = right for each right, det A), by Gauss and Jordan with whatever pivot is not zero."""
    n, det = len(A), one
    rows = [[*row, *(right[i] for right in rights)] for i, row in enumerate(A)]
    for k in range(n):
        at = next((i for i in range(k, n) if rows[i][k]), None)
        if at is None:
            raise ZeroDivisionError("A is singular at this point")
        if at != k:
            rows[k], rows[at] = rows[at], rows[k]
            det = -det
        det = det * rows[k][k]
        rows[k] = [value / cast(FieldScalar, rows[k][k]) for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [value - rows[i][k] * pivot for value, pivot in zip(rows[i], rows[k])]
    return [[rows[i][n + c] for i in range(n)] for c in range(len(rights))], det
