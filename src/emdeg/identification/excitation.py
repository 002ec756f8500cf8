"""Motions that show a robot's parameters: a finite Fourier series that makes the information large, within limits.

The information matrix is that of base parameters, viscous and Coulomb friction and offsets under sensors' noise. The
logarithm of its determinant is climbed by gradients, which the regressor's adjoint program gives. Limits are kept by a
penalty on the way, and exactly at the end: the motion is drawn in about its middle until nothing is passed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown, csv_columns
from emdeg.dynamics import kind_of
from emdeg.dynamics.parameters import base_parameters
from emdeg.errors import RobotError
from emdeg.identification.motion_search import HARMONICS, POINTS, MotionSearch, OtherLimits, other_limits
from emdeg.identification.recording import MOTION
from emdeg.identification.regressors import described, motor_motion, moves_by_motors, own_regressor
from emdeg.robot import Robot, Workspace, quoted, workspace
from emdeg.simulation import Fourier

STARTS = 4
"""Random motions that are climbed from."""
MANY = 80
"""Base parameters beyond which half as many are: each climb takes as long as two."""
STEPS = 200
"""Of each climb."""
SLIDE = 0.25
"""[m] either way of a slide that nothing bounds."""
NOISE = 1e-12
"""Of the largest column: one that is smaller has no effect but rounding."""
ALIKE = 0.98
"""Correlations beyond which two parameters are hardly told apart."""
REACH_TRIES = 64
FIRST = 0.05
"""[rad, m] by which a reach is felt for."""
SINGULAR = 50.0
"""A regressor so many times larger than near the start is about to lose its bounds."""
ROOM = 0.7
"""Of a reach that is used."""

Told = Callable[[str], object]


@dataclass(frozen=True)
class PredictedParameter(Shown):
    """What will be known of a parameter: its standard deviation, infinite where it has no effect; the file's value."""

    name: str
    deviation: float
    value: float | None


@dataclass(frozen=True)
class Excitation(Shown):
    """A motion and what it will show: every parameter's standard deviation before anything moves."""

    robot: Robot
    trajectory: Fourier
    seconds: float
    rate: float
    noise: Array
    """(n) standard deviation of each effort [N m, N]."""
    parameters: tuple[PredictedParameter, ...]
    friction: tuple[PredictedParameter, ...]
    hardly_told: tuple[str, ...]
    """What the motion cannot tell apart, in words."""
    log_det: float
    condition: float
    """Of the information, its columns brought to one length."""
    efforts: Array
    """(n) the largest effort along the motion by the file's masses [N m, N]."""
    notes: tuple[str, ...]
    interrupted: bool = False
    """Whether somebody stopped the search: the motion keeps every limit, but more were to be climbed to."""


def excite(
    robot: Robot,
    seconds: float = 20.0,
    *,
    rate: float = 100.0,
    noise: Sequence[float] | None = None,
    ranges: Mapping[str, Sequence[float]] | None = None,
    speed: float | Sequence[float] | None = None,
    acceleration: float | Sequence[float] | None = None,
    seed: int = 0,
    progress: Told = lambda text: None,
) -> Excitation:
    """The periodic motion of so many seconds that shows most, within the limits of position, speed, effort.

    `rate` [1/s] of the log that will be written; `noise` (n) [N m, N] of its efforts, by default a hundredth of what
    the drives give, or of what the motion asks for. `ranges`, `speed`, `acceleration` as in `workspace`. `progress` is
    told what is done; once it answers yes the best motion so far is taken.
    """
    if not (seconds > 0 and rate > 0 and math.isfinite(seconds * rate)):
        raise RobotError(f"a motion of {seconds:g} s at {rate:g} samples a second is none", body=robot.name)
    robot = described(robot)
    notes: list[str] = []
    progress("regressor")
    base = base_parameters(robot)
    drives = set() if moves_by_motors(robot) else {joint.name for joint in robot.driven}
    own = {name: ends for name, ends in (ranges or {}).items() if name not in drives}
    others = other_limits(robot, {k: v for k, v in (ranges or {}).items() if k in drives}, speed, acceleration)
    where = _where(robot, own, speed, acceleration, others, notes)
    problem = MotionSearch(robot, base, where, others, seconds, noise)
    rng = np.random.default_rng(seed)
    best: Array | None = None
    stopped = False
    starts = STARTS if len(base) <= MANY else STARTS // 2
    for start in range(starts):
        stopped = bool(progress(f"climb {start + 1} of {starts}")) and best is not None
        if stopped:
            break
        x = problem.within(problem.climbed(problem.start(rng), STEPS))
        if best is None or problem.information(x)[0] > problem.information(best)[0]:
            best = x
    assert best is not None
    return replace(_outcome(problem, best, seconds, rate, tuple(notes)), interrupted=stopped)


def _where(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]],
    speed: float | Sequence[float] | None,
    acceleration: float | Sequence[float] | None,
    others: OtherLimits,
    notes: list[str],
) -> Workspace:
    """The box in which the motion may lie; of closed loops one that closes everywhere."""
    given = dict(ranges)
    if robot.loops is not None:
        middle = kind_of(robot).home(robot)
        reach = _reach(robot, middle, others)
        names = [joint.name for joint in robot.coordinates]
        given = {name: (at - r, at + r) for name, at, r in zip(names, middle, reach)} | given
        units = ["rad" if joint.kind == "revolute" else "m" for joint in robot.coordinates]
        far = ", ".join(f"{r:.3g} {unit}" for r, unit in sorted(set(zip(reach.tolist(), units))))
        notes.append(f"its loops close {far} about where they are closed first: the motion stays there")
        if not moves_by_motors(robot):
            words = "from its motors' positions its loops close numerically only: the motion is that of "
            notes.append(f"{words}{', '.join(names)}, and the table holds what the motors do then")
    for joint in robot.coordinates:
        bounded = joint.limits.lower is not None and joint.limits.upper is not None
        if joint.kind == "prismatic" and not bounded and joint.name not in given:
            given[joint.name] = (-SLIDE, SLIDE)
            notes.append(
                f"{joint.name} slides without limits: {SLIDE:g} m either way are used (--range {joint.name}=A:B)"
            )
    return workspace(robot, given, speed=speed, acceleration=acceleration)


def _reach(robot: Robot, middle: Array, others: OtherLimits) -> Array:
    """(n) how far every coordinate may go from where the loops are closed first, at random poses all of which close."""
    evaluate = own_regressor(robot)
    directions = np.random.default_rng(0).uniform(-1, 1, size=(REACH_TRIES, len(middle)))
    directions /= np.abs(directions).max(axis=1, keepdims=True)
    still = np.zeros_like(directions)

    def largest(reach: Array) -> float:
        """Of the regressor; without bound where a pose is not kept."""
        poses = middle + reach * directions
        if not others.poses_kept(poses):
            return math.inf
        Y = evaluate(poses, still, still + 1.0)
        return float(np.abs(Y).max()) if np.isfinite(Y).all() else math.inf

    first = FIRST
    while not math.isfinite(size := SINGULAR * largest(np.full(len(middle), first))):
        first /= 2
        if first < 1e-3:
            raise RobotError("its loops do not close about where they are closed first", body=robot.name)
    reach = np.full(len(middle), first)
    turning = np.array([joint.kind == "revolute" for joint in robot.coordinates])
    # Together, then angles and ways by themselves: metres and radians are not of one size.
    for group in (np.full(len(middle), True), turning, ~turning):
        step = first if group.any() else 0.0
        while step > first / 8:
            further = np.where(group, reach + step, reach)
            if further[group].max() <= 1 and largest(further) < size:
                reach = further
            else:
                step /= 2
    return ROOM * reach


def _outcome(problem: MotionSearch, x: Array, seconds: float, rate: float, notes: tuple[str, ...]) -> Excitation:
    log_det, A = problem.information(x)
    if not math.isfinite(log_det):
        raise RobotError("no motion within its limits was found", body=problem.robot.name)
    count = POINTS * HARMONICS
    A = A * (seconds * rate / count)  # as many samples as the log will hold
    scale = np.sqrt(np.diag(A))
    shown = scale > NOISE * float(scale.max())
    S = A[np.ix_(shown, shown)] / np.outer(scale[shown], scale[shown])
    values, vectors = np.linalg.eigh(S)
    covariance = np.linalg.pinv(S, rcond=1e-12) / np.outer(scale[shown], scale[shown])
    deviation = np.full(len(A), math.inf)
    deviation[shown] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    robot, base = problem.robot, problem.base
    names = [str(column) for column in base.kept]
    rubs = [f"{joint.name}.{what}" for what in ("viscous", "coulomb", "offset") for joint in robot.driven]
    prior = [None if robot.symbols else float(v) for v in problem.prior]
    p = len(names)
    return Excitation(
        robot,
        problem.trajectory(x, seconds),
        seconds,
        rate,
        problem.noise,
        tuple(PredictedParameter(name, float(d), v) for name, d, v in zip(names, deviation, prior)),
        tuple(PredictedParameter(name, float(d), None) for name, d in zip(rubs, deviation[p:])),
        (
            *(f"{name} has no effect in this motion" for name, told in zip([*names, *rubs], shown) if not told),
            *_alike([name for name, told in zip([*names, *rubs], shown) if told], covariance, values, vectors),
        ),
        float(log_det),
        float(np.sqrt(values[-1] / max(values[0], 1e-300))),
        np.abs(problem.efforts(x)).max(axis=0),
        notes,
    )


def _alike(names: list[str], covariance: Array, values: Array, vectors: Array) -> tuple[str, ...]:
    """What is not told apart: combinations without information, then pairs that are strongly correlated."""
    found = []
    for value, vector in zip(values, vectors.T):
        if value < 1e-10 * values[-1]:
            parts = [name for name, part in zip(names, vector) if abs(part) > 0.1]
            found.append(f"{', '.join(parts)} cannot be told apart by this motion")
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    alike = np.abs(covariance / np.outer(spread, spread))
    for i, j in zip(*np.nonzero(np.triu(alike, 1) > ALIKE)):
        found.append(f"{names[i]} and {names[j]} are hardly told apart: their errors correlate by {alike[i, j]:.3f}")
    return tuple(found)


def excitation_files(found: Excitation) -> tuple[str, str]:
    """(the motion as CSV: t, q_NAME, qd_NAME, qdd_NAME at the log's rate; the same as a scenario's TOML text).

    Of closed loops the columns are the motors', whatever coordinates the motion is one of.
    """
    t = np.arange(round(found.seconds * found.rate) + 1) / found.rate
    robot, motion = found.robot, found.trajectory
    names = [joint.name for joint in (robot.coordinates if robot.is_tree else robot.driven)]
    header = ["t", *(f"{what}_{name}" for what in MOTION for name in names)]
    columns = [t, *(column for array in motor_motion(robot, *motion(t)) for column in array.T)]

    def row(values: Array) -> str:
        return "[" + ", ".join(f"{v:.15g}" for v in values) + "]"

    chosen = "" if robot.is_tree else " --coordinates " + ",".join(joint.name for joint in robot.coordinates)
    lines = [
        "# A motion that shows the robot's parameters; what follows shows its efforts:",
        f"# emdeg torques ROBOT --trajectory THIS{chosen}",
        "schema = 1",
        f"robot = {quoted(robot.name)}",
        'mode = "torques"',
        "",
        "[trajectory]",
        'kind = "fourier"',
        f"period = {motion.period:.15g}",
        f"duration = {motion.duration:.15g}",
        f"offset = {row(motion.offset)}",
        *(f"{key} = [{', '.join(map(row, getattr(motion, key)))}]" for key in ("a", "b")),
    ]
    return csv_columns(header, columns), "\n".join(lines) + "\n"
