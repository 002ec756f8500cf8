"""Control laws: programs that run inside a compiled loop, or functions of Python.

A law says which efforts tau (..., n) [N m, N] it asks for at time t and state q, qd. Those that are programs
(`ProgramLaw`) have inputs q, qd and `reference` and can be compiled together with the robot; `reference_at` gives
the reference at given times. `Conditioning` describes what happens to the efforts afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.algebra.linear import product, solve_system, transposed
from emdeg.approximation import JOINT_SIGNIFICANCE, SIGNIFICANCE, significant
from emdeg.documents import Shown
from emdeg.equations import lumped_model
from emdeg.errors import ScenarioError
from emdeg.programs import Dependence, Program, Traced, Tracer, explicit_program, included, simplify, split_rates
from emdeg.robot import Robot, workspace
from emdeg.runtime import CompiledProgram
from emdeg.runtime import compile as compile_program
from emdeg.simulation.plant.programs import robot_program
from emdeg.simulation.trajectories.joint_space import Still, Trajectory


class Law(Protocol):
    """What a simulation needs of a control law."""

    @property
    def name(self) -> str: ...

    def __call__(self, t: ArrayLike, q: Array, qd: Array) -> Array: ...


@dataclass(frozen=True)
class NoEffort:
    """Joints without effort: the robot falls."""

    n: int
    name: str = "none"

    def __call__(self, t: ArrayLike, q: Array, qd: Array) -> Array:
        return np.zeros((*np.broadcast_shapes(q.shape, qd.shape)[:-1], self.n))


@dataclass(frozen=True)
class ProgramLaw(Shown):
    """A law as a program: q, qd, reference -> tau; the reference is what `trajectory` says, q, qd, qdd in a row."""

    program: Program
    trajectory: Trajectory
    name: str

    @property
    def constant(self) -> bool:
        """Whether the reference is the same for all time."""
        return isinstance(self.trajectory, Still)

    def reference_at(self, t: ArrayLike) -> Array:
        """(..., 3 n): the wanted positions, speeds and accelerations."""
        return np.concatenate(self.trajectory(t), axis=-1)

    @cached_property
    def compiled(self) -> CompiledProgram:
        return compile_program(self.program, threads=1)

    def __call__(self, t: ArrayLike, q: Array, qd: Array) -> Array:
        return self.compiled(q, qd, self.reference_at(t))


@dataclass(frozen=True)
class UserLaw(Shown):
    """A Python function (t, q, qd) -> tau; called with one state at a time."""

    function: Callable[[float, Array, Array], ArrayLike]
    n: int
    name: str = "user"

    def __call__(self, t: ArrayLike, q: Array, qd: Array) -> Array:
        if q.ndim == 1:
            return self._one(float(np.asarray(t)), q, qd)
        times = np.broadcast_to(t, q.shape[:-1])
        return np.stack([self._one(float(a), b, c) for a, b, c in zip(times, q, qd)])

    def _one(self, t: float, q: Array, qd: Array) -> Array:
        tau = np.asarray(self.function(t, q, qd), dtype=np.float64)
        if tau.shape != (self.n,):
            raise ScenarioError(f"the controller gave efforts of shape {tau.shape}; expected ({self.n},)")
        if not np.isfinite(tau).all():
            raise ScenarioError(f"the controller gave an effort that is not finite at t = {t:g} s")
        return tau


def pd(
    robot: Robot,
    kp: ArrayLike,
    kd: ArrayLike,
    target: ArrayLike | Trajectory,
    *,
    gravity: bool | Program = True,
    off: tuple[int, ...] = (),
) -> ProgramLaw:
    """tau = kp (q* - q) + kd (qd* - qd) + g(q): Kane and Levinson, eqs. 128-133, for any robot.

    kp [N m/rad, N/m] and kd [N m s/rad, N s/m] have one entry a joint. `gravity` may be a program q -> g of another
    model. Joints `off` get no effort. With closed loops kp, kd and the target are of the coordinates, and the motors
    (`off` among them) give what makes these forces there: J^T tau.
    """
    trajectory = as_trajectory(robot, target)
    gains = need_gains(robot, {"kp": kp, "kd": kd})
    model = robot_program(robot, "gravity") if gravity is True else gravity or None
    drives = None if robot.driven == robot.coordinates else robot_program(robot, "drive_jacobian")

    def law(tracer: Tracer, q: Any, qd: Any, wanted: Any) -> list[Traced]:
        n = robot.freedoms
        held = included(tracer, model, {"q": q})[0] if model is not None else [tracer.number(0)] * n
        P, D = gains
        force = [P[k] * (wanted[k] - q[k]) + D[k] * (wanted[n + k] - qd[k]) + held[k] for k in range(n)]
        if drives is not None:
            entries = included(tracer, drives, {"q": q})[0]
            J = [entries[n * i : n * (i + 1)] for i in range(len(robot.driven))]
            force = motor_efforts(robot, tracer, J, force)
        return [tracer.number(0) if k in off else f for k, f in enumerate(force)]

    return ProgramLaw(_law_program(robot, "pd", law), trajectory, "pd with gravity compensation" if model else "pd")


def motor_efforts(robot: Robot, tracer: Tracer, J: Any, force: list[Any]) -> list[Any]:
    """The motors' efforts with J^T tau = force; of more motors than freedoms the least sum of tau^2 / share."""
    right, stated = [[f] for f in force], robot.constraints.effort_weights
    if len(J) == len(force):
        return [cast(Traced, x[0]) for x in solve_system(transposed(J), right, tracer)]
    shares = [tracer.number(share) for share in stated or (Fraction(1),) * len(J)]
    weighted = [[share * x for x in row] for share, row in zip(shares, J)]
    inner = solve_system(product(transposed(J), weighted, tracer.number(0)), right, tracer)
    return [x[0] for x in product(weighted, inner, tracer.number(0))]


def computed_torque(
    robot: Robot,
    kp: ArrayLike,
    kd: ArrayLike,
    target: ArrayLike | Trajectory,
    *,
    model: Program | Robot | None = None,
) -> ProgramLaw:
    """tau = ID(q, qd, qdd* + kp (q* - q) + kd (qd* - qd)), kp [1/s^2] and kd [1/s] one entry a joint.

    `model` is any program q, qd, qdd -> tau, an abbreviated one for instance, or the robot that the controller
    believes in; by default the robot's own inverse dynamics.
    """
    trajectory = as_trajectory(robot, target)
    P, D = need_gains(robot, {"kp": kp, "kd": kd})
    believed = _inverse_model(robot, model)

    def law(tracer: Tracer, q: Any, qd: Any, wanted: Any) -> list[Traced]:
        n = robot.freedoms
        a = [wanted[2 * n + k] + P[k] * (wanted[k] - q[k]) + D[k] * (wanted[n + k] - qd[k]) for k in range(n)]
        return included(tracer, believed, {"q": q, "qd": qd, "qdd": a})[0]

    return ProgramLaw(_law_program(robot, "computed_torque", law), trajectory, "computed torque")


@dataclass
class MultiRate(Shown):
    """Computed torque whose configuration part is renewed every `configuration_period` seconds only.

    Armstrong et al., section 3: what depends on q alone changes slowly and may be computed at a lower rate. It
    remembers its configuration part, so it serves one sampled run at a time: `reset` before another.
    """

    robot: Robot
    kp: Array
    kd: Array
    trajectory: Trajectory
    configuration_period: float
    model: Program | Robot | None = None
    name: str = "multi-rate computed torque"
    _due: float = field(default=-np.inf, repr=False)
    _x: Array = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        if not self.configuration_period > 0:
            raise ScenarioError(f"the configuration's period must be positive; got {self.configuration_period} s")
        self.kp, self.kd = need_gains(self.robot, {"kp": self.kp, "kd": self.kd})
        slow, fast = split_rates(_inverse_model(self.robot, self.model))
        self.slow, self.fast = slow, fast
        self._slow, self._fast = compile_program(slow, threads=1), compile_program(fast, threads=1)

    def reset(self) -> None:
        self._due = -np.inf

    def __call__(self, t: ArrayLike, q: Array, qd: Array) -> Array:
        now = float(np.asarray(t))
        if now >= self._due - 1e-9:
            self._x = self._slow(q)
            self._due = now + self.configuration_period
        wanted, rate, acceleration = self.trajectory(now)
        a = acceleration + self.kp * (wanted - q) + self.kd * (rate - qd)
        return self._fast(q=q, qd=qd, qdd=a, x=self._x)


def abbreviated_model(
    robot: Robot, *, significance: float = SIGNIFICANCE, joint_significance: float = JOINT_SIGNIFICANCE
) -> Program:
    """Inverse dynamics q, qd, qdd -> tau of the robot's model as the significance rule shortens it, for a controller.

    `emdeg.approximation.abbreviation` gives the same model with its certified error.
    """
    short, _ = significant(
        lumped_model(robot), workspace(robot), significance=significance, joint_significance=joint_significance
    )
    return explicit_program(short)


def feed_forward(robot: Robot, trajectory: Trajectory, model: Program | None = None) -> UserLaw:
    """The efforts of the wanted motion, whatever the robot does: open loop."""
    inverse = compile_program(_inverse_model(robot, model), threads=1)
    return UserLaw(lambda t, q, qd: inverse(*trajectory(t)), len(robot.driven), "feed-forward")


def need_gains(robot: Robot, gains: dict[str, ArrayLike]) -> list[Array]:
    """Gains as arrays, one entry a joint (a single number serves all), finite and not negative."""
    checked = []
    for name, values in gains.items():
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ScenarioError(f"{name} must be numbers; got {values!r}") from None
        if array.ndim == 0:
            array = np.full(robot.freedoms, float(array))
        if array.shape != (robot.freedoms,):
            names = ", ".join(joint.name for joint in robot.coordinates)
            raise ScenarioError(f"{name} has {array.size} gains; {robot.name} has {robot.freedoms} joints: {names}")
        if not np.isfinite(array).all() or (array < 0).any():
            raise ScenarioError(f"{name} must be finite and not negative; got {array.tolist()}")
        checked.append(array)
    return checked


def as_trajectory(robot: Robot, target: ArrayLike | Trajectory) -> Trajectory:
    """A trajectory, or one that stands still at the given joint positions."""
    found = target if isinstance(target, Trajectory) else Still(np.asarray(target, dtype=np.float64))
    if found.n != robot.freedoms:
        raise ScenarioError(f"the target has {found.n} joints; {robot.name} has {robot.freedoms}")
    return found


def _inverse_model(robot: Robot, model: Program | Robot | None) -> Program:
    if model is None or isinstance(model, Robot):
        model = robot_program(model or robot, "inverse_dynamics")
    names, n, known = {group.name: group.size for group in model.inputs}, robot.freedoms, ("q", "qd", "qdd")
    if any(names.get(name, n) != n for name in known) or set(names) - set(known):
        raise ScenarioError(f"a model for control takes q, qd, qdd of {n} joints; {model.name} takes {names}")
    return model


def _law_program(robot: Robot, name: str, law: Callable[..., list[Traced]]) -> Program:
    tracer = Tracer()
    labels = tuple(joint.name for joint in robot.coordinates)
    q = tracer.inputs("q", robot.freedoms, Dependence.CONFIGURATION, labels)
    qd = tracer.inputs("qd", robot.freedoms, Dependence.RATES)
    reference = tracer.inputs("reference", 3 * robot.freedoms, Dependence.RATES)
    return simplify(tracer.program(name, {"tau": law(tracer, q, qd, reference)}))
