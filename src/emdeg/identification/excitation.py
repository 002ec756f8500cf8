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
from emdeg.errors import RobotError
from emdeg.identification.identifying import base_regressor, by_motors, prior_values
from emdeg.identification.recording import MOTION
from emdeg.mechanics.formulations import friction_laws
from emdeg.mechanics.parameters import BaseParameters, base_parameters
from emdeg.programs import program
from emdeg.robot import Robot, Workspace, geometry, quoted, workspace
from emdeg.runtime import compile
from emdeg.simulation import Fourier, drive_limits, fourier
from emdeg.writing import Shown, csv_columns

PERIOD = 10.0
"""[s] about: a longer motion repeats itself."""
HARMONICS = 6
POINTS = 12
"""States a harmonic at which the information is summed up."""
STARTS = 4
"""Random motions that are climbed from."""
STEPS = 200
"""Of each climb."""
MARGIN = 0.95
"""Of every limit that the motion uses."""
SLIDE = 0.25
"""[m] either way of a slide that nothing bounds."""
ALIKE = 0.98
"""Correlations beyond which two parameters are hardly told apart."""
REACH_TRIES = 64

Told = Callable[[str], object]


@dataclass(frozen=True)
class PredictedParameter(Shown):
    """What will be known of a parameter: its standard deviation, and the value that the file has."""

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
    robot = by_motors(robot)
    notes: list[str] = []
    progress("regressor")
    base = base_parameters(robot)
    where = _where(robot, ranges, speed, acceleration, base, notes)
    problem = _Problem(robot, base, where, seconds, noise)
    rng = np.random.default_rng(seed)
    best: Array | None = None
    stopped = False
    for start in range(STARTS):
        stopped = bool(progress(f"climb {start + 1} of {STARTS}")) and best is not None
        if stopped:
            break
        x = problem.within(problem.climbed(problem.start(rng), STEPS))
        if best is None or problem.information(x)[0] > problem.information(best)[0]:
            best = x
    assert best is not None
    return replace(_outcome(problem, best, seconds, rate, tuple(notes)), interrupted=stopped)


def _where(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]] | None,
    speed: float | Sequence[float] | None,
    acceleration: float | Sequence[float] | None,
    base: BaseParameters,
    notes: list[str],
) -> Workspace:
    """The box in which the motion may lie; of closed loops one that closes everywhere."""
    given: dict[str, Sequence[float]] = dict(ranges or {})
    for joint in robot.coordinates:
        bounded = joint.limits.lower is not None and joint.limits.upper is not None
        if joint.kind == "prismatic" and not bounded and joint.name not in given:
            given[joint.name] = (-SLIDE, SLIDE)
            notes.append(
                f"{joint.name} slides without limits: {SLIDE:g} m either way are used (--range {joint.name}=A:B)"
            )
    if robot.loops is not None:
        middle = np.array([float(robot.loops.start[k]) for k in robot.loops.coordinates])
        reach = _reach(robot, middle)
        named = [joint.name for joint in robot.coordinates]
        given = {name: (at - reach, at + reach) for name, at in zip(named, middle)} | given
        notes.append(f"its loops close {reach:.3g} rad or m about where they are closed first: the motion stays there")
    return workspace(robot, given, speed=speed, acceleration=acceleration)


def _reach(robot: Robot, middle: Array) -> float:
    """How far every coordinate may go from where the loops are closed first, at random poses all of which close."""
    evaluate = base_regressor(robot)
    directions = np.random.default_rng(0).uniform(-1, 1, size=(REACH_TRIES, len(middle)))
    directions /= np.abs(directions).max(axis=1, keepdims=True)
    still = np.zeros_like(directions)
    reach = 0.0
    size = np.inf
    for step in np.linspace(0.05, 1.0, 20):
        Y = evaluate(middle + step * directions, still, still + 1.0)
        size = min(size, 50 * float(np.nanmax(np.abs(Y))) if step < 0.06 else size)
        if not np.isfinite(Y).all() or np.abs(Y).max() > size:
            break
        reach = float(step)
    if not reach:
        raise RobotError("its loops do not close about where they are closed first", body=robot.name)
    return 0.7 * reach


class _Problem:
    """The information of a motion x = (offsets, a, b) and how far it passes the limits, with gradients."""

    def __init__(
        self, robot: Robot, base: BaseParameters, where: Workspace, seconds: float, noise: Sequence[float] | None
    ) -> None:
        self.robot, self.base, self.where = robot, base, where
        self.n = robot.freedoms
        self.period = seconds / max(1, round(seconds / PERIOD))
        self.regressor = base_regressor(robot)
        shape = geometry(robot) if robot.is_tree else robot
        self.adjoint = compile(program(shape, "regressor_vjp", effort=0))
        self.places = [column.place for column in base.kept]
        self.width = self.adjoint.program.inputs[-1].size // self.n
        self.prior = prior_values(robot, base)
        low, high = np.array(where.ranges).T
        shrink = 0.5 * (1 - MARGIN) * (high - low)
        self.low, self.high = low + shrink, high - shrink
        self.top = MARGIN * np.array(where.speed), MARGIN * np.array(where.acceleration)
        self.effort = MARGIN * np.array(drive_limits(robot))
        self._basis()
        self.noise = self._noise(noise)

    def _basis(self) -> None:
        """Positions and rates are linear in the coefficients; they begin and end at rest, without acceleration."""
        count = POINTS * HARMONICS
        t = np.arange(count) * self.period / count
        l = np.arange(1, HARMONICS + 1)
        w = 2 * math.pi / self.period * l
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        whole = (np.hstack([s / w, -c / w]), np.hstack([c, s]), np.hstack([-s * w, c * w]))
        rest = np.zeros((2, 2 * HARMONICS))
        rest[0, :HARMONICS], rest[1, HARMONICS:] = 1.0, w
        self.free = np.linalg.svd(rest)[2][2:].T
        self.waves = tuple(one @ self.free for one in whole)
        self.size = self.n * (1 + self.free.shape[1])

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        """q, qd, qdd (m, n) at the points of a period."""
        offset, k = x[: self.n], x[self.n :].reshape(-1, self.n)
        q, qd, qdd = (wave @ k for wave in self.waves)
        return offset + q, qd, qdd

    def start(self, rng: np.random.Generator) -> Array:
        """A random motion about a random place, not far beyond the limits."""
        middle = 0.5 * (self.low + self.high)
        offset = middle + 0.25 * (self.high - self.low) * rng.uniform(-1, 1, self.n) * (self.robot.loops is None)
        x = np.concatenate([offset, rng.normal(size=self.size - self.n)])
        q, qd, qdd = self.motion(x)
        room = np.minimum(self.high - offset, offset - self.low)
        share = [
            np.abs(q - offset).max(axis=0) / room,
            *(np.abs(v).max(axis=0) / m for v, m in zip((qd, qdd), self.top)),
        ]
        x[self.n :] /= np.tile(np.maximum.reduce(share), self.free.shape[1])
        return x

    def _noise(self, given: Sequence[float] | None) -> Array:
        if given is not None:
            each = np.broadcast_to(np.asarray(given, dtype=np.float64), (self.n,))
            if not (np.isfinite(each).all() and (each > 0).all()):
                raise RobotError("the efforts' noise must be positive", body=self.robot.name)
            return np.array(each)
        known = np.array(drive_limits(self.robot))
        x = self.start(np.random.default_rng(1))
        asked = np.sqrt(np.mean((self.regressor(*self.motion(x)) @ self.prior) ** 2, axis=0))
        asked = np.where(asked > 0, asked, 10.0)
        return 0.01 * np.where(np.isfinite(known), known, asked)

    def rows(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(m, n, P) base parameters, then viscous, Coulomb and offset of every joint, over the noise."""
        Y = self.regressor(q, qd, qdd)
        m, n, p = Y.shape
        X = np.zeros((m, n, p + 3 * n))
        X[..., :p] = Y
        for j in range(n):
            X[:, j, p + j], X[:, j, p + n + j], X[:, j, p + 2 * n + j] = (
                qd[:, j],
                np.tanh(qd[:, j] / self.creep[j]),
                1.0,
            )
        return X / self.noise[:, None]

    @property
    def creep(self) -> Array:
        """Speeds [rad/s, m/s] about which a direction turns, smoothly so that there is a slope to climb."""
        return 0.02 * self.top[0]

    def information(self, x: Array) -> tuple[float, Array]:
        """(log det, the information matrix of one period) of a motion."""
        X = self.rows(*self.motion(x))
        if not np.isfinite(X).all():
            return -math.inf, np.eye(X.shape[2])
        flat = X.reshape(-1, X.shape[2])
        A = flat.T @ flat
        scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
        sign, value = np.linalg.slogdet(A / np.outer(scale, scale) + 1e-12 * np.eye(len(A)))
        return (float(value + 2 * np.sum(np.log(scale))) if sign > 0 else -math.inf), A

    def climbed(self, x: Array, steps: int) -> Array:
        """The motion at the top of a climb; its limits are passed by little."""
        from scipy.optimize import minimize

        unit = np.maximum(np.abs(x), 1e-2)
        found = x
        for weight in (10.0, 1000.0):
            done = minimize(
                lambda y, w=weight: self._cost(y * unit, w, unit),
                found / unit,
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": steps // 2},
            )
            found = done.x * unit
        return found

    def _cost(self, x: Array, weight: float, unit: Array) -> tuple[float, Array]:
        q, qd, qdd = self.motion(x)
        X = self.rows(q, qd, qdd)
        if not np.isfinite(X).all():
            return 1e12, np.zeros_like(x)
        m, n, size = X.shape
        p = len(self.base)
        flat = X.reshape(m * n, size)
        A = flat.T @ flat
        scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
        S = A / np.outer(scale, scale) + 1e-9 * np.eye(size)
        _, value = np.linalg.slogdet(S)
        inverse = np.linalg.inv(S) / np.outer(scale, scale)
        G = 2 * (flat @ inverse).reshape(X.shape) / self.noise[:, None]  # d log det / d [Y, friction]
        whole = np.zeros((m, n, self.width))
        whole[..., self.places] = G[..., :p]
        back = [np.array(one) for one in self.adjoint(q, qd, qdd, whole.reshape(m, -1))]
        for j in range(n):
            bend = (1 - np.tanh(qd[:, j] / self.creep[j]) ** 2) / self.creep[j]
            back[1][:, j] += G[:, j, p + j] + G[:, j, p + n + j] * bend
        cost = -(value + 2 * np.sum(np.log(scale)))
        slopes = [-one for one in back]
        ranges = ((q, self.low, self.high), (qd, -self.top[0], self.top[0]), (qdd, -self.top[1], self.top[1]))
        for k, (values, low, high) in enumerate(ranges):
            width = 0.5 * (high - low)
            over = (np.maximum(values - high, 0) - np.maximum(low - values, 0)) / width
            cost += weight * float(np.sum(over**2))
            slopes[k] = slopes[k] + 2 * weight * over / width
        gradient = np.concatenate(
            [slopes[0].sum(axis=0), sum(w.T @ s for w, s in zip(self.waves, slopes)).reshape(-1)]  # type: ignore[union-attr]
        )
        return float(cost), gradient * unit

    def within(self, x: Array) -> Array:
        """The motion drawn in about its middle, joint by joint and then all together, until no limit is passed."""
        x = x.copy()
        x[: self.n] = np.clip(
            x[: self.n], self.low + 0.02 * (self.high - self.low), self.high - 0.02 * (self.high - self.low)
        )
        fine = self.trajectory(x, self.period)(np.linspace(0, self.period, 40 * HARMONICS))
        offset = x[: self.n]
        room = np.minimum(self.high - offset, offset - self.low)
        share = [np.abs(fine[0] - offset).max(axis=0) / np.maximum(room, 1e-9)]
        share += [np.abs(v).max(axis=0) / top for v, top in zip(fine[1:], self.top)]
        x[self.n :] /= np.tile(np.maximum(np.maximum.reduce(share), 1.0), self.free.shape[1])
        middle = np.concatenate([0.5 * (self.low + self.high), np.zeros(self.size - self.n)])
        for _ in range(40):
            if self.effort_share(x) <= 1.0:
                return x
            x[self.n :] *= 0.85
            # Where a pose alone is too heavy, the motion moves towards the middle of the joints' ranges.
            x[: self.n] += 0.1 * (middle - x)[: self.n]
        raise RobotError(
            "its drives cannot hold it within their effort limits by the file's masses", body=self.robot.name
        )

    def efforts(self, x: Array) -> Array:
        """(m, n) the efforts of the motion by the file's masses and friction [N m, N]."""
        q, qd, qdd = self.trajectory(x, self.period)(np.linspace(0, self.period, 40 * HARMONICS))
        rubbed = [law.effort(qd[:, k], np.sign, np.exp) for k, law in enumerate(friction_laws(self.robot.driven))]
        return self.regressor(q, qd, qdd) @ self.prior + np.stack(rubbed, axis=1)

    def effort_share(self, x: Array) -> float:
        tau = self.efforts(x)
        if not np.isfinite(tau).all():
            return math.inf
        return float(np.max(np.abs(tau).max(axis=0) / self.effort))

    def trajectory(self, x: Array, seconds: float) -> Fourier:
        k = self.free @ x[self.n :].reshape(-1, self.n)
        return fourier(x[: self.n], k[:HARMONICS], k[HARMONICS:], self.period, seconds)


def _outcome(problem: _Problem, x: Array, seconds: float, rate: float, notes: tuple[str, ...]) -> Excitation:
    log_det, A = problem.information(x)
    if not math.isfinite(log_det):
        raise RobotError("no motion within its limits was found", body=problem.robot.name)
    count = POINTS * HARMONICS
    A = A * (seconds * rate / count)  # as many samples as the log will hold
    scale = np.sqrt(np.diag(A))
    S = A / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(S)
    covariance = np.linalg.pinv(S, rcond=1e-12) / np.outer(scale, scale)
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
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
        _alike([*names, *rubs], covariance, values, vectors),
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
    """(the motion as CSV: t, q_NAME, qd_NAME, qdd_NAME at the log's rate; the same as a scenario's TOML text)."""
    t = np.arange(round(found.seconds * found.rate) + 1) / found.rate
    names = [joint.name for joint in found.robot.coordinates]
    header = ["t", *(f"{what}_{name}" for what in MOTION for name in names)]
    columns = [t, *(column for array in found.trajectory(t) for column in array.T)]
    motion = found.trajectory

    def row(values: Array) -> str:
        return "[" + ", ".join(f"{v:.15g}" for v in values) + "]"

    lines = [
        "# A motion that shows the robot's parameters; emdeg torques ROBOT --trajectory THIS shows its efforts.",
        "schema = 1",
        f"robot = {quoted(found.robot.name)}",
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
