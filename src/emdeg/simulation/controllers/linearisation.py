"""Linear models of the motion about a point or along a trajectory, from exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics import real_array
from emdeg.dynamics.functions import (
    drive_jacobian,
    forward_dynamics_derivatives,
    inverse_dynamics,
)
from emdeg.errors import ScenarioError
from emdeg.programs import Kind, Program, constants
from emdeg.robot import Robot, RobotLike, as_robot
from emdeg.simulation.controllers.conditioning import Conditioning
from emdeg.simulation.controllers.laws import Law, NoEffort, ProgramLaw
from emdeg.simulation.plant.passive import Passive, with_idle_motors


@dataclass(frozen=True, repr=False)
class StateSpace(Shown):
    """x-dot = A x + B u, y = C x + D u, of small deviations; x = (dq, dqd), u = dtau. Arrays (..., rows, columns)."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]

    def poles(self) -> NDArray[np.complex128]:
        """The eigenvalues of A [1/s], fastest first."""
        found = np.linalg.eigvals(self.A)
        order = np.argsort(-np.abs(found), axis=-1)
        return np.take_along_axis(found, order, axis=-1).astype(np.complex128)

    def to_scipy(self) -> Any:
        """scipy.signal.StateSpace; of one point only."""
        from scipy.signal import StateSpace as ScipyStateSpace

        self._need_one()
        return ScipyStateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """python-control's StateSpace; needs the package `control`, which emdeg does not install."""
        self._need_one()
        try:
            import control  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ScenarioError("python-control is not installed: pip install control") from None
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=list(self.states),
            inputs=list(self.inputs),
            outputs=list(self.states),
        )

    def _need_one(self) -> None:
        if self.A.ndim != 2:
            raise ScenarioError(f"{self.A.shape[:-2]} linear models are not one; linearise about a point")


def linearise(
    robot: RobotLike,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    qdd: ArrayLike | None = None,
) -> StateSpace:
    """The linear model about the states q, qd (..., n) and the efforts tau there (those that hold it, by default).

    Give qdd instead of tau along a trajectory. With ID the inverse dynamics at qdd: A = (0, 1; -M^-1 dID/dq,
    -M^-1 dID/dqd), B = (0; M^-1), exact to rounding. With closed loops u are the driven joints' efforts.

    >>> import emdeg
    >>> emdeg.linearise("planar2r", [0.0, 0.5]).A.shape
    (4, 4)
    """
    robot = as_robot(robot)
    at = real_array("q", q)
    rate = np.zeros_like(at) if qd is None else real_array("qd", qd)
    if tau is not None and qdd is not None:
        raise ScenarioError("give the efforts or the accelerations, not both")
    n = robot.freedoms
    if tau is None:
        tau = inverse_dynamics(robot, at, rate, np.zeros_like(at) if qdd is None else qdd)
    efforts = real_array("tau", tau)
    _, by_q, by_qd, by_tau = forward_dynamics_derivatives(robot, at, rate, efforts)
    batch = by_q.shape[:-2]
    A, B = np.zeros((*batch, 2 * n, 2 * n)), np.zeros((*batch, 2 * n, len(robot.driven)))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = by_q, by_qd, by_tau
    names = [joint.name for joint in robot.coordinates]
    states = tuple(names + [f"{name}'" for name in names])
    C = np.broadcast_to(np.eye(2 * n), A.shape).copy()
    return StateSpace(A, B, C, np.zeros_like(B), states, tuple(f"tau_{j.name}" for j in robot.driven))


def closed_loop(
    robot: Robot,
    law: Law,
    q: ArrayLike,
    qd: ArrayLike,
    t: float = 0.0,
    *,
    conditioning: Conditioning = Conditioning(),
    passive: Passive = Passive(),
) -> StateSpace:
    """The linear model about one state with a law closed round it; its input is an additional effort.

    Derivatives of laws that are programs are exact; those of Python functions and of friction are central
    differences. Converters and sampling are left out: the law is taken as continuous.
    """
    at, rate = real_array("q", q), real_array("qd", qd)
    applied, rubbing = conditioning.applied(law(t, at, rate)), with_idle_motors(robot, passive)
    idle = len(passive.also)

    def rubbed(a: Array, b: Array) -> Array:
        driven = None if rubbing.driven == robot.coordinates else drive_jacobian(rubbing, a) @ b
        return passive.efforts(a, b, driven)

    open_loop = linearise(rubbing, at, rate, np.append(applied, np.zeros(idle)) + rubbed(at, rate))
    K = law_jacobian(law, t, at, rate)
    if conditioning.max_effort is not None:  # a joint at its limit does not answer
        K[np.abs(applied) >= np.asarray(conditioning.max_effort)] = 0
    K = np.pad(K, ((0, idle), (0, 0)))
    if not passive.is_none:
        K = K + _differences(rubbed, at, rate)
    B, D, inputs = (part[..., : len(applied)] for part in (open_loop.B, open_loop.D, np.array(open_loop.inputs)))
    return StateSpace(open_loop.A + open_loop.B @ K, B, open_loop.C, D, open_loop.states, tuple(inputs.tolist()))


def sampled_poles(
    robot: Robot, law: Law, q: ArrayLike, qd: ArrayLike, period: float, *, conditioning: Conditioning = Conditioning()
) -> NDArray[np.complex128]:
    """The poles z of a law that is sampled every `period` [s] and held in between; stable where every |z| < 1."""
    from scipy.linalg import expm

    at, rate = real_array("q", q), real_array("qd", qd)
    open_loop = linearise(robot, at, rate, conditioning.applied(law(0.0, at, rate)))
    states, inputs = open_loop.B.shape
    held = np.zeros((states + inputs, states + inputs))
    held[:states] = np.hstack([open_loop.A, open_loop.B]) * period
    step = expm(held)
    loop = step[:states, :states] + step[:states, states:] @ law_jacobian(law, 0.0, at, rate)
    return np.linalg.eigvals(loop).astype(np.complex128)


def law_jacobian(law: Law, t: float, q: Array, qd: Array) -> Array:
    """(motors, 2 n): the derivatives of a law's efforts by q and qd."""
    if isinstance(law, NoEffort):
        return np.zeros((law.n, 2 * len(q)))
    if isinstance(law, ProgramLaw):
        return program_jacobian(law.program, {"q": q, "qd": qd, "reference": law.reference_at(t)}, ("q", "qd"))
    return _differences(lambda a, b: law(t, a, b), q, qd)


def program_jacobian(program: Program, inputs: dict[str, Array], by: tuple[str, ...]) -> Array:
    """(outputs, directions): a program's first output differentiated forwards by the input groups `by`."""
    offsets, size = {}, 0
    for name in by:
        offsets[name], size = size, size + len(inputs[name])
    known = constants(program)
    value: list[Any] = []
    slope: list[Array] = []
    still = np.zeros(size)
    for index, op in enumerate(program.ops):
        x = [value[arg] for arg in op.args]
        d = [slope[arg] for arg in op.args]
        match op.kind:
            case _ if index in known:
                v, s = float(known[index]), still
            case Kind.INPUT:
                group, place = op.slot
                v, s = inputs[group][place], still
                if group in offsets:
                    s = np.eye(1, size, offsets[group] + place)[0]
            case Kind.ANGLE:
                v, s = float(op.angle), still
            case Kind.ADD:
                v, s = x[0] + x[1], d[0] + d[1]
            case Kind.SUB:
                v, s = x[0] - x[1], d[0] - d[1]
            case Kind.MUL:
                v, s = x[0] * x[1], d[0] * x[1] + x[0] * d[1]
            case Kind.DIV:
                v = x[0] / x[1]
                s = (d[0] - v * d[1]) / x[1]
            case Kind.NEG:
                v, s = -x[0], -d[0]
            case Kind.SQRT:
                v = np.sqrt(x[0])
                s = d[0] / (2 * v)
            case Kind.SIN:
                v, s = np.sin(x[0]), np.cos(x[0]) * d[0]
            case Kind.SIGN:
                v, s = np.sign(x[0]), still
            case Kind.EXP:
                v = np.exp(x[0])
                s = v * d[0]
            case Kind.TANH:
                v = np.tanh(x[0])
                s = (1 - v * v) * d[0]
            case _:
                v, s = np.cos(x[0]), -np.sin(x[0]) * d[0]
        value.append(v)
        slope.append(s)
    return np.stack([ref.sign * slope[ref.value] if ref.sign else still for ref in program.outputs[0].entries])


def _differences(function: Any, q: Array, qd: Array, h: float = 1e-6) -> Array:
    x, n = np.concatenate([q, qd]), len(q)
    columns = []
    for k in range(2 * n):
        step = h * np.eye(1, 2 * n, k)[0]
        high, low = function(x[:n] + step[:n], x[n:] + step[n:]), function(x[:n] - step[:n], x[n:] - step[n:])
        columns.append((high - low) / (2 * h))
    return np.stack(columns, axis=1)
