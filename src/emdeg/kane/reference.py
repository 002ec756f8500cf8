"""What a program of Kane's equations is verified against: the same quantities by other ways.

M and the forces without accelerations are the registry's references for this kind of mechanism, prescribed joints
included; loads enter by the derivatives of the points that they act at; joints follow the coordinates by derivatives
of their positions; rates of speeds are derivatives of A along the motion; A is eliminated at the point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from emdeg.algebra import Dual, FieldScalar, PrimeField, derivative
from emdeg.algebra.linear import Matrix, congruent, solve_system, times, transposed
from emdeg.dynamics.functions.lookup import ways_of
from emdeg.dynamics.joints import Rates
from emdeg.dynamics.mechanism import in_base, written
from emdeg.dynamics.spatial import Mat3, Scalar, Vec3, add, dot, matmul, mul, scale, sub, transpose
from emdeg.dynamics.state import TIME
from emdeg.kane.equations import INPUTS, Function, KaneInputs
from emdeg.kane.forces import joint_actions
from emdeg.kane.inverse import Eliminated
from emdeg.kane.motion import speed_values
from emdeg.kane.program import system_in, traced_system
from emdeg.kane.setup import PointSpring, Setup
from emdeg.kane.system import Rows, System, host, point_of
from emdeg.programs.ir import Program
from emdeg.programs.proof import Certificate, verify
from emdeg.programs.simplification import prune
from emdeg.robot import BASE, Frame, Robot, Vector

FORMULATION = "M qdd + C qd + dV/dq, M from Newton-Euler, A eliminated and differentiated"
CLOSED_FORMULATION = (
    "virtual work, body by body, in the coordinates; joints by derivatives of the closure; A differentiated"
)


def verify_kane(
    program: Program, robot: Robot, setup: Setup, function: Function, *, seed: int = 0, artefact: bytes | None = None
) -> Certificate:
    """A certificate that `program` computes this function of the setup; raises `Refuted` where it does not."""
    tracer, sys, inputs = traced_system(robot, setup, INPUTS[function])

    def wanted(sys: System, inputs: KaneInputs, sqrt: Callable[[Any], Any]) -> dict[str, Any]:
        """Those outputs that the program has, too: a constant det A is none."""
        found = Reference(sys, inputs, sqrt).outputs(function)
        return {group.name: found[group.name] for group in program.outputs if group.name in found}

    def direct(field: PrimeField) -> dict[str, Any]:
        return wanted(*_random_system(robot, setup, INPUTS[function], field), field.sqrt)

    return verify(
        program,
        prune(tracer.program("reference", wanted(sys, inputs, tracer.sqrt))),
        formulations=(program.name, FORMULATION if sys.state.rates is None else CLOSED_FORMULATION),
        seed=seed,
        direct=direct,
        artefact=artefact,
    )


def _random_system(robot: Robot, setup: Setup, names: Sequence[str], field: PrimeField) -> tuple[System, KaneInputs]:
    """The system at a random point, as `residues.evaluate_residues` draws it for a program's inputs."""
    kinds: dict[str, Callable[[int], Any]] = {"q": field.displacement, "qd": field.rate, "qdd": field.acceleration}

    def array(name: str, size: int, *_: Any) -> list[Any]:
        return [kinds[name](k) if name in kinds else field.random(f"{name} {k}") for k in range(size)]

    def circle(name: str, k: int, _: Any) -> Any:
        return field.joint_sincos(k if name == "q" else f"{name} {k}")

    return system_in(robot, setup, field, names, array, circle)


class Reference:
    """The outputs of Kane's functions at a state, over any scalar that divides."""

    def __init__(self, sys: System, inputs: KaneInputs, sqrt: Callable[[Any], FieldScalar]) -> None:
        self.sys, self.given, self.sqrt = sys, inputs, sqrt
        self.mech, self.zero, self.one = sys.mech, sys.mech.zero, sys.mech.one
        self.n = len(sys.coordinates)
        self.still = [self.zero] * len(sys.free)
        self.at_rest = speed_values(sys, [self.zero] * self.mech.n)

    def outputs(self, function: Function) -> dict[str, Any]:
        sys, given, zero = self.sys, self.given, self.zero
        if function == "speeds":
            xd, xdd = sys.scattered(given.qd, given.pd), sys.scattered(given.qdd, given.pdd)
            ud = [a + b for a, b in zip(self.linear(xdd), self.drift(xd))]
            return {"u": self.speeds_of(sys, self.W, xd), "ud": ud}
        A = Eliminated(sys, self.W)
        B = self.speeds_of(sys, self.W, sys.scattered(self.still, given.pd))
        own = A.rates([u - b for u, b in zip(given.u, B)])
        rates = {"qd": own, "det": [A.det]}
        if function == "rates":
            return rates
        xd, known = sys.scattered(own, given.pd), sys.scattered(self.still, given.pdd)
        bias = [a + b for a, b in zip(self.drift(xd), self.linear(known))]
        M, drift = self.dynamics(xd)
        if function == "torques":
            xdd = sys.scattered(A.rates([a - b for a, b in zip(given.ud, bias)]), given.pdd)
            force = [a + b for a, b in zip(times(M, xdd, zero), drift)]
            tau = sys.allocated([force[place] for place in sys.free], self.W)
            left = [f - t for f, t in zip(force, self.pushed(tau))]
            return rates | {"tau": tau, "held": [left[place] for place in sys.given[: len(sys.setup.prescribed)]]}
        right = [t - d - m for t, d, m in zip(self.pushed(given.tau), drift, times(M, known, zero))]
        M = [[M[i][j] for j in sys.free] for i in sys.free]
        xdd = [x for (x,) in solve_system(M, [[right[place]] for place in sys.free], self.mech.algebra)]
        ud = [a + b for a, b in zip(times(A.A, xdd, zero), bias)]
        if function == "accelerations":
            return rates | {"ud": ud}
        X = congruent(M, A.columns(), zero)
        return {"X": X, "rhs": times(X, ud, zero)}

    def speeds_of(self, sys: System, W: Rows, xd: Sequence[Scalar]) -> list[Scalar]:
        return speed_values(sys, times(W, xd, self.zero))

    def linear(self, x: Sequence[Scalar]) -> list[Scalar]:
        """The part of the speeds that is linear in the coordinates' rates."""
        return [value - b for value, b in zip(self.speeds_of(self.sys, self.W, x), self.at_rest)]

    def drift(self, xd: Sequence[Scalar]) -> list[Scalar]:
        """d/dt of u along the motion, the coordinates' accelerations aside: A-dot xd + B-dot."""
        later = self._varied([{0: rate} for rate in xd], TIME)
        moving = self.speeds_of(later, later.W, xd)
        return [derivative(value, 0, self.zero, TIME) for value in moving]

    def _varied(self, rates: Sequence[Rates], level: int) -> System:
        return replace(self.sys, state=self.sys.state.varied({"q": rates}, level, closing=True))

    @cached_property
    def varied(self) -> System:
        """The system over dual numbers, each coordinate varying in its own direction."""
        return self._varied([{k: self.one} for k in range(self.n)], 0)

    def derivatives(self, value: Any) -> list[Scalar]:
        return [derivative(value, k, self.zero) for k in range(self.n)]

    @cached_property
    def W(self) -> Matrix:
        """Every joint's rate per coordinate's, by derivatives of its position; of a coordinate's own joint a unit."""
        rows: Matrix = []
        for k, (at, turns) in enumerate(zip(cast("Sequence[Any]", self.varied.position), self.mech.revolute)):
            if k in self.sys.coordinates:
                rows.append([self.one if k == own else self.zero for own in self.sys.coordinates])
            elif turns:
                s, c = map(_plain, at)
                rows.append([c * ds - s * dc for ds, dc in zip(self.derivatives(at[0]), self.derivatives(at[1]))])
            else:
                rows.append(self.derivatives(at))
        return rows

    def generalized(self, torques: Sequence[Scalar]) -> Sequence[Scalar]:
        """W^T tau."""
        return times(transposed(self.W), torques, self.zero)

    def pushed(self, tau: Sequence[Scalar]) -> Sequence[Scalar]:
        """What the actuators give the coordinates."""
        torques = [self.zero] * self.mech.n
        for k, t in zip(self.sys.actuated, tau):
            torques[k] = t
        return self.generalized(torques)

    def dynamics(self, xd: Sequence[Scalar]) -> tuple[Matrix, list[Scalar]]:
        """M, and C xd + dV/dx less the generalized forces of loads, springs, dampers and friction."""
        sys, given, n = self.sys, self.given, len(self.sys.free)
        M = ways_of("mass_matrix", sys.robot).reference[1](sys.state)
        h = ways_of("bias", sys.robot).reference[1](replace(cast(Any, sys.state), qd=xd))
        assert M is not None
        assert h is not None
        variables = sys.variables(given.variables[:n], given.variables[n:])
        acting = self.generalized(joint_actions(sys, variables, times(self.W, xd, self.zero), self.sqrt))
        return M["M"], [a - b - c for a, b, c in zip(h["h"], acting, self.loads(xd))]

    def loads(self, xd: Sequence[Scalar]) -> list[Scalar]:
        """By virtual work: a force times the derivative of its point, a torque times the axis of the turn."""
        sys = self.sys
        here, varied = _World(sys), _World(self.varied)
        Q: list[Scalar] = [self.zero] * self.n
        waiting = list(self.given.loads)
        for load in sys.setup.loads:
            value = waiting[:3] if load.value is None else list(sys.exact(load.value))
            if load.value is None:
                del waiting[:3]
            vector = mul(here.axes(load.frame), (value[0], value[1], value[2]))
            if load.kind == "force":
                moved = _by_coordinate(varied.place(load.body, load.point), self.derivatives)
            else:
                moved = self._axes_of_turn(here.axes(load.body), varied.axes(load.body))
            Q = [q + dot(vector, v) for q, v in zip(Q, moved)]
        for spring in sys.setup.point_springs:
            between = sub(
                varied.place(spring.second, spring.second_point), varied.place(spring.first, spring.first_point)
            )
            derivatives = _by_coordinate(between, self.derivatives)
            pull = self._pull(spring, cast(Vec3, tuple(map(_plain, between))), derivatives, xd)
            Q = [q - dot(pull, v) for q, v in zip(Q, derivatives)]
        return Q

    def _axes_of_turn(self, R: Mat3, varied: Mat3) -> list[Vec3]:
        rows = [_by_coordinate(row, self.derivatives) for row in varied]
        found: list[Vec3] = []
        for k in range(self.n):
            spin = matmul((rows[0][k], rows[1][k], rows[2][k]), transpose(R))
            found.append((spin[2][1], spin[0][2], spin[1][0]))
        return found

    def _pull(self, spring: PointSpring, d: Vec3, derivatives: Sequence[Vec3], xd: Sequence[Scalar]) -> Vec3:
        """The force on the spring's first point, in N, the way to its second one being d."""
        algebra = self.mech.algebra
        stiffness = written(algebra, spring.stiffness)
        if spring.length:
            stiffness = stiffness - stiffness * written(algebra, spring.length) / self.sqrt(dot(d, d))
        pull = scale(stiffness, d)
        if not spring.damping:
            return pull
        rate = self.mech.still.v
        for x, v in zip(xd, derivatives):
            rate = add(rate, scale(x, v))
        if spring.length:
            rate = scale(dot(rate, d) / cast(FieldScalar, dot(d, d)), d)
        return add(pull, scale(written(algebra, spring.damping), rate))


class _World:
    """Frames and points of a system in N."""

    def __init__(self, sys: System) -> None:
        self.sys, self.frames = sys, in_base(sys.mech, sys.frame)

    def axes(self, frame: Frame) -> Mat3:
        link, R, _ = host(self.sys, frame)
        return matmul(self.sys.mech.base[0] if link == BASE else self.frames.R[link], R)

    def place(self, frame: Frame, point: Vector) -> Vec3:
        """[m]"""
        link, arm = point_of(self.sys, frame, point)
        R, p = self.sys.mech.base if link == BASE else (self.frames.R[link], self.frames.p[link])
        return add(p, mul(R, arm))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Dual) else value


def _by_coordinate(vector: Vec3, derivatives: Callable[[Any], list[Scalar]]) -> list[Vec3]:
    """The vector's derivative by each coordinate."""
    x, y, z = map(derivatives, vector)
    return list(zip(x, y, z))
