"""Simulation: a robot, a control law, a beginning, and what follows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.dynamics import kind_of, real_array
from emdeg.dynamics.formulations import friction_laws, need_friction
from emdeg.errors import ScenarioError, SimulationError
from emdeg.robot import Robot, RobotLike, as_robot
from emdeg.simulation.controllers.conditioning import Conditioning
from emdeg.simulation.controllers.laws import Law, NoEffort, ProgramLaw, UserLaw
from emdeg.simulation.controllers.linearisation import closed_loop, sampled_poles
from emdeg.simulation.integrators.adaptive import SOLVERS, AdaptiveRun, Progress, Rigid
from emdeg.simulation.integrators.fixed_step import FixedRun, make_grid
from emdeg.simulation.integrators.methods import METHODS, OLD_NAMES, need_stable_step
from emdeg.simulation.motion import Event, Motion
from emdeg.simulation.plant.constants_of_motion import DriftWarning, StiffWarning, free_joints, invariants
from emdeg.simulation.plant.loops import is_analytic, met
from emdeg.simulation.plant.passive import Passive, elastic_stops
from emdeg.simulation.plant.programs import need_numbers
from emdeg.simulation.trajectories.joint_space import positive
from emdeg.simulation.trajectories.limits import drive_limits, hidden_excesses, need_start_within_limits

Stops = Literal["record", "halt", "bounce", "spring", "ignore"]

RTOL, ATOL = 1e-10, 1e-12
"""The adaptive integrators' default tolerances."""


def simulate(
    robot: RobotLike,
    law: Law | Callable[[float, Array, Array], ArrayLike] | None = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    duration: float = 1.0,
    *,
    method: str | None = None,
    step: float | None = None,
    output_step: float | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    conditioning: Conditioning = Conditioning(),
    effort_limits: bool = True,
    friction: bool | Passive = False,
    stops: Stops = "record",
    stiffness: float = 1e5,
    damping: float = 1e2,
    restitution: float = 0.5,
    drift_tolerance: float = 1e-6,
    check_step: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Motion:
    """The motion of `robot` under `law` from q0, qd0 [rad, m, 1/s] over `duration` seconds.

    `law` is a control law, a Python function (t, q, qd) -> tau, or None for no effort.
    `method` is adaptive (DOP853, RK45, Radau; by default the first, or the last where the loop is stiff) or of fixed
    `step` [s], compiled with the robot (rk4, semi_implicit, midpoint; gauss2 and gauss4 are symplectic). With a fixed
    step q0 may be (trajectories, n): a batch, run side by side on `threads` cores. States
    are recorded every `output_step` [s] (a hundredth of the run; a fixed step: every step).

    A law's efforts stay within what the robot's file allows (`max_torque` of the drives, else `effort`) unless
    `conditioning` has limits of its own or `effort_limits` is False; where they are reached is an event. A loop too
    fast for an explicit method, or unstable as it is sampled, is a `StiffWarning` before the run.

    `stops` says what happens at the position limits of the robot's file: "record" notes that they are passed,
    "halt" ends the run, "bounce" throws the joint back with `restitution` (adaptive methods), "spring" is an elastic
    stop of `stiffness` and `damping`, "ignore" looks away. With `friction` the drives' friction acts.

    Energy and momentum are balanced along the run; a drift above `drift_tolerance`, relative to what moved, is a
    `DriftWarning`. Of closed loops q are the independent coordinates (the start's by default), tau the driven joints'
    efforts, and how far the loops stay open is part of the drift. Everything that cannot work is a `ScenarioError`
    (a start where the loops do not close: a `ClosureError`) before the run begins.

    >>> import emdeg
    >>> motion = emdeg.simulate("planar2r", q0=[0.0, 0.5], duration=0.1)
    >>> motion.q.shape, bool(motion.t[-1] == 0.1)
    ((101, 2), True)
    """
    robot = as_robot(robot)
    need_numbers(robot)
    q, qd = _initial(robot, q0, qd0)
    kind_of(robot).need_possible(robot, q)
    positive(duration)
    conditioning.need(robot.freedoms, len(robot.driven))
    control = _law(robot, law)
    if effort_limits and law is not None and conditioning.max_effort is None:
        limits = drive_limits(robot)
        if np.isfinite(limits).any():
            conditioning = replace(conditioning, max_effort=tuple(map(float, limits)))
    if not drift_tolerance >= 0:
        raise ScenarioError(f"drift_tolerance must not be negative; got {drift_tolerance}")
    if stops not in ("record", "halt", "bounce", "spring", "ignore"):
        raise ScenarioError(f"stops must be record, halt, bounce, spring or ignore; got {stops!r}")
    if stops != "ignore":
        need_start_within_limits(robot, q, qd)
    if hasattr(control, "reset"):
        control.reset()  # type: ignore[attr-defined]
    stiff = False
    if isinstance(control, ProgramLaw) and robot.is_tree:  # a function of the user's may remember its calls
        try:
            stiff = _stiff(robot, control, np.atleast_2d(q)[0], np.atleast_2d(qd)[0], duration, method, conditioning)
        except np.linalg.LinAlgError:
            rule = "about the start the loop's derivatives are beyond doubles: a gain or the period is too large"
            raise ScenarioError(rule, body=robot.name) from None
    method = ("Radau" if stiff else "DOP853") if method is None else OLD_NAMES.get(method, method)
    passive = passive_of(robot, friction, stops, stiffness, damping)
    settings = {"method": method, "duration": duration, "stops": stops, "law": control.name}
    if method in SOLVERS:
        if q.ndim != 1:
            raise ScenarioError(f"{method} runs one trajectory at a time; a batch needs a fixed step, rk4 for instance")
        if step is not None:
            raise ScenarioError(f"{method} chooses its steps itself; a fixed step needs {', '.join(METHODS)}")
        if not (rtol > 0 and atol > 0):
            raise ScenarioError(f"tolerances must be positive; got rtol {rtol}, atol {atol}")
        motion = _adaptive(
            robot,
            control,
            q,
            qd,
            duration,
            method,
            output_step,
            rtol,
            atol,
            conditioning,
            passive,
            Rigid(_rigid_limits(robot, stops), stops, restitution),
            progress,
            settings,
        )
    elif method in METHODS:
        if step is None:
            raise ScenarioError(f"{method} needs a step")
        if not is_analytic(robot):
            raise ScenarioError(
                f"its loops close numerically, so it cannot be compiled for {method}; use {', '.join(SOLVERS)}",
                body=robot.name,
            )
        if stops == "bounce":
            raise ScenarioError('stops = "bounce" needs an adaptive method; with a fixed step use "spring"')
        grid = make_grid(duration, step, output_step)
        if check_step:
            first_q, first_qd = (np.atleast_2d(v)[0] for v in (q, qd))
            # Between its samples a law's efforts are held: the step has the robot alone to follow.
            felt = control if conditioning.period is None else NoEffort(len(robot.driven))
            about = closed_loop(robot, felt, first_q, first_qd, conditioning=conditioning, passive=passive)
            need_stable_step(method, about.A, grid.step)
        run = FixedRun(robot, control, conditioning, passive, free_joints(robot), method, threads)
        states, tau = run(np.atleast_2d(q), np.atleast_2d(qd), grid, progress)
        motion = _fixed_motion(robot, grid, states, tau, q.ndim == 1, method, stops, settings)
    else:
        known = ", ".join([*SOLVERS, *METHODS])
        raise ScenarioError(f"there is no method {method!r}; there are {known}")
    _warn(motion, drift_tolerance)
    motion = _with_effort_limits(motion, conditioning)
    if robot.hidden and motion.q.ndim == 2:
        motion = _with_meetings(motion)
    return motion if stops == "ignore" or motion.q.ndim != 2 else _with_hidden_limits(motion)


EXPLICIT = ("DOP853", "RK45")
STIFF = 30_000.0
"""Of the fastest pole times the run: an explicit method then takes thousands of steps for its stability alone."""


def _stiff(
    robot: Robot, law: Law, q: Array, qd: Array, duration: float, method: str | None, conditioning: Conditioning
) -> bool:
    """Whether the loop about the start is too fast for an explicit method; a StiffWarning says so, with its poles.

    So it does where the loop is unstable as it is sampled.
    """
    free = replace(conditioning, max_effort=None)  # within its limits
    if conditioning.period is not None:
        sizes = np.abs(sampled_poles(robot, law, q, qd, conditioning.period, conditioning=free))
        if sizes.max() > 1 + 1e-6:
            words = (
                f"sampled every {conditioning.period:g} s the loop is unstable about the start, |z| = {_told(sizes)}"
            )
            warnings.warn(f"{robot.name}: {words}", StiffWarning, stacklevel=3)
        return False
    sizes = np.abs(np.linalg.eigvals(closed_loop(robot, law, q, qd, conditioning=free).A))
    stiff = bool(sizes.max() * duration > STIFF)
    if stiff and method in (None, *EXPLICIT):
        chosen = "integrated by Radau" if method is None else f"{method} takes small steps, Radau would not"
        words = f"the loop is stiff about the start, poles of |s| = {_told(sizes)} 1/s: {chosen}"
        warnings.warn(f"{robot.name}: {words}", StiffWarning, stacklevel=3)
    return stiff


def _told(sizes: Array) -> str:
    """The largest few."""
    return ", ".join(f"{size:.3g}" for size in np.sort(sizes)[::-1][:4])


def _with_effort_limits(motion: Motion, conditioning: Conditioning) -> Motion:
    """The run with an event for every drive that came to its limit, at the first time."""
    if conditioning.max_effort is None:
        return motion
    noted = []
    for k, limit in enumerate(conditioning.max_effort):
        reached = np.abs(motion.tau[..., k]) >= limit * (1 - 1e-9)
        times = np.flatnonzero(reached if reached.ndim == 1 else reached.any(axis=0))
        if limit > 0 and len(times):
            noted.append(Event(float(motion.t[times[0]]), motion.robot.driven[k].name, f"effort limit {limit:g}"))
    return replace(motion, events=tuple(sorted((*motion.events, *noted), key=lambda event: event.t)))


def _with_meetings(motion: Motion) -> Motion:
    """The run with an event wherever ways of closing met; SimulationError where it was thrown back there."""
    robot, dense = motion.robot, motion.dense
    n = robot.freedoms
    t, q = motion.t, motion.q
    at: Callable[[Array], Array] | None = None
    if dense is not None and is_analytic(robot):
        t = np.unique(np.concatenate([t, dense.breaks, (dense.breaks[1:] + dense.breaks[:-1]) / 2]))
        t = t[t <= motion.t[-1]]
        q = dense(t)[:, :n]

        def poses(times: Array) -> Array:
            return dense(times)[:, :n]

        at = poses

    noted = []
    for one in met(robot, t, q, at):
        place = ", ".join(f"{joint.name} = {value:.6g}" for joint, value in zip(robot.coordinates, one.q))
        if not one.passed:
            raise SimulationError(
                f"the run comes to a dead point at t = {one.t:.6g} s, {place}: there two ways of closing meet, and the "
                "mechanism goes on in the other, which these coordinates do not tell; choose coordinates that do",
                body=robot.name,
            )
        noted.append(Event(one.t, robot.coordinates[0].name, f"ways of closing meet at {place}"))
    return replace(motion, events=tuple(sorted((*motion.events, *noted), key=lambda event: event.t)))


def _with_hidden_limits(motion: Motion) -> Motion:
    """The run with an event for every limit that a closed loop's other joints have passed, at its worst."""
    found = hidden_excesses(motion.robot, motion.t, motion.q, motion.qd)
    noted = [Event(one.t, one.joint, f"{one.what} beyond its limit") for one in found]
    return replace(motion, events=tuple(sorted((*motion.events, *noted), key=lambda event: event.t)))


def _initial(robot: Robot, q0: ArrayLike | None, qd0: ArrayLike | None) -> tuple[Array, Array]:
    arrays = []
    home = {"q0": kind_of(robot).home(robot), "qd0": np.zeros(robot.freedoms)}
    for name, values in (("q0", q0), ("qd0", qd0)):
        array = home[name] if values is None else real_array(name, values)
        if array.ndim not in (1, 2) or array.shape[-1] != robot.freedoms:
            raise ScenarioError(f"{name} has shape {array.shape}; {robot.name} has {robot.freedoms} joints")
        if not np.isfinite(array).all():
            raise ScenarioError(f"{name} holds a number that is not finite")
        arrays.append(array)
    q, qd = np.broadcast_arrays(*arrays)
    return q.copy(), qd.copy()


def _law(robot: Robot, law: Law | Callable[..., ArrayLike] | None) -> Law:
    if law is None:
        return NoEffort(len(robot.driven))
    return law if hasattr(law, "name") else UserLaw(law, len(robot.driven))  # type: ignore[return-value, arg-type]


def passive_of(robot: Robot, friction: bool | Passive, stops: Stops, stiffness: float, damping: float) -> Passive:
    """What acts on the joints without being asked; ScenarioError where there is no such thing."""
    if isinstance(friction, Passive):
        passive = friction
    else:
        undriven = [joint for joint in robot.joints if joint not in robot.driven]
        rough = [joint for joint in undriven if friction and not joint.drive.friction.is_none]
        laws = friction_laws([*robot.driven, *rough]) if friction else None
        passive = Passive(laws, also=tuple(joint.name for joint in rough))
        if friction and passive.is_none:
            need_friction(robot)
    if stops == "spring":
        if not (stiffness > 0 and damping >= 0):
            raise ScenarioError(f"a stop needs stiffness > 0 and damping >= 0; got {stiffness}, {damping}")
        passive = replace(passive, stops=(*passive.stops, *elastic_stops(robot, stiffness, damping)))
    return passive


def _rigid_limits(robot: Robot, stops: Stops) -> tuple[tuple[int, float, int], ...]:
    if stops in ("ignore", "spring"):
        return ()
    found = []
    for k, joint in enumerate(robot.coordinates):
        if joint.limits.lower is not None:
            found.append((k, float(joint.limits.lower), -1))
        if joint.limits.upper is not None:
            found.append((k, float(joint.limits.upper), 1))
    return tuple(found)


def _adaptive(
    robot, law, q, qd, duration, method, output_step, rtol, atol, conditioning, passive, rigid, progress, settings
) -> Motion:
    joints = free_joints(robot)
    run = AdaptiveRun(robot, law, conditioning, passive, joints, rigid, method, rtol, atol, progress)
    count = 100 if output_step is None else max(1, round(duration / output_step))
    if output_step is not None and abs(count * output_step - duration) > 1e-9 * duration:
        raise ScenarioError(f"the duration {duration:g} s is no multiple of the output's step {output_step:g} s")
    grid = np.linspace(0, duration, count + 1)
    x = np.concatenate([q, qd, np.zeros(1 + len(joints))])
    result = run.run(x, duration, grid)
    n = robot.freedoms
    balance = invariants(robot, result.x[:, :n], result.x[:, n : 2 * n], result.x[:, 2 * n], result.x[:, 2 * n + 1 :])
    settings = settings | {"rtol": rtol, "atol": atol}
    return Motion(
        robot,
        result.t,
        result.x[:, :n],
        result.x[:, n : 2 * n],
        result.tau,
        balance,
        method,
        result.events,
        result.dense,
        result.steps,
        result.evaluations,
        (),
        settings,
        result.interrupted,
    )


def _fixed_motion(robot, grid, states, tau, single, method, stops, settings) -> Motion:
    n = robot.freedoms
    t, events = grid.times[: states.shape[1]], []
    limits = _rigid_limits(robot, stops)
    kept = ended = len(t)
    for k, limit, side in limits:
        passed = np.argwhere(side * (states[..., k] - limit) > 0)
        if len(passed):
            at = int(np.min(passed[:, 1]))
            events.append(Event(float(t[at]), robot.coordinates[k].name, f"{'upper' if side > 0 else 'lower'} limit"))
            kept = min(kept, at + 1) if stops == "halt" else kept
    t, states, tau = t[:kept], states[:, :kept], tau[:, :kept]
    if single:
        states, tau = states[0], tau[0]
    balance = invariants(robot, states[..., :n], states[..., n : 2 * n], states[..., 2 * n], states[..., 2 * n + 1 :])
    steps = grid.per_record * (kept - 1)
    settings = settings | {"step": grid.step}
    return Motion(
        robot,
        t,
        states[..., :n],
        states[..., n : 2 * n],
        tau,
        balance,
        method,
        tuple(sorted(events, key=lambda event: event.t)),
        None,
        steps,
        0,
        (),
        settings,
        kept == ended <= grid.records,
    )


def _warn(motion: Motion, tolerance: float) -> None:
    drift = motion.drift
    for name, unit in (("energy", "J"), ("momentum", "kg m^2/s")):
        relative = drift.get(f"{name}_relative")
        if relative is not None and not relative <= tolerance:
            warnings.warn(
                f"{motion.robot.name}: the {name} drifts by {drift[name]:.3g} {unit}, {relative:.3g} of what moved "
                f"(tolerance {tolerance:g}): the run by {motion.method} is too coarse",
                DriftWarning,
                stacklevel=3,
            )
