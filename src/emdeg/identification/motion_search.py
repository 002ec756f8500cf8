"""The information of a periodic motion, with its gradient, and the limits that it has to keep.

Rows are those of base parameters, viscous and Coulomb friction and offsets under sensors' noise. Limits of the
coordinates are kept by a penalty on the way; those of efforts, and of the motors and other joints of closed loops, at
the end: the motion is drawn in until nothing is passed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.dynamics.formulations import friction_laws
from emdeg.dynamics.parameters import COLUMNS, BaseParameters, bodies_of
from emdeg.errors import ClosureError, RobotError
from emdeg.identification.regressors import (
    moves_by_motors,
    own_regressor,
    prior_values,
    regressor_slopes,
)
from emdeg.loops import singularity_figures
from emdeg.programs import program
from emdeg.robot import ACCELERATION, SPEED, Joint, Robot, Workspace
from emdeg.runtime import compile
from emdeg.simulation import Fourier, drive_limits, fourier

PERIOD = 10.0
"""[s] about: a longer motion repeats itself."""
HARMONICS = 6
POINTS = 12
"""States a harmonic at which the information is summed up."""
MARGIN = 0.95
"""Of every limit that the motion uses."""


@dataclass(frozen=True)
class OtherLimits:
    """What a motion of closed loops' coordinates has to keep beside their own limits: those of all other joints.

    Positions of every other joint; speeds and accelerations of the motors where these are no coordinates. The loops
    stay on the branch on which the robot starts, on one side of every singularity.
    """

    robot: Robot
    ranges: Mapping[str, Sequence[float]]
    """Of joints that are no coordinates, narrower than their own limits [rad, m]."""
    speed: Array
    """(n) of the motors [rad/s, m/s]."""
    acceleration: Array

    @cached_property
    def sides(self) -> Array:
        return self._sides(kind_of(self.robot).home(self.robot)[None])[0]

    def _sides(self, q: Array) -> Array:
        return np.sign(np.stack(singularity_figures(self.robot, q)[2:], axis=-1))

    def poses_kept(self, q: Array) -> bool:
        """Whether the loops close at all poses q (m, n), on the robot's branch, and no other joint is at its end."""
        if self.robot.is_tree:
            return True
        try:
            joints = kind_of(self.robot).joint_positions(self.robot, q)
            if not np.all(self._sides(q) == self.sides):
                return False
        except ClosureError:
            return False
        return all(_inside(joint, at, self.ranges) for joint, at in zip(self.robot.joints, joints.T))

    def kept(self, q: Array, speed: Array, acceleration: Array) -> bool:
        """Whether all is kept along a motion q (m, n) in which the motors have these speeds and accelerations."""
        if not moves_by_motors(self.robot):
            both = (speed, MARGIN * self.speed), (acceleration, MARGIN * self.acceleration)
            if not all(bool(np.all(np.abs(values) <= most)) for values, most in both):
                return False
        return self.poses_kept(q)


def other_limits(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]],
    speed: float | Sequence[float] | None,
    acceleration: float | Sequence[float] | None,
) -> OtherLimits:
    """The limits of a robot's other joints; speeds and accelerations as `workspace` has them."""
    own = [SPEED if joint.limits.velocity is None else float(joint.limits.velocity) for joint in robot.driven]
    n = len(robot.driven)
    return OtherLimits(
        robot,
        ranges,
        np.broadcast_to(np.asarray(own if speed is None else speed, dtype=np.float64), (n,)),
        np.broadcast_to(np.asarray(ACCELERATION if acceleration is None else acceleration, dtype=np.float64), (n,)),
    )


def _inside(joint: Joint, at: Array, ranges: Mapping[str, Sequence[float]]) -> bool:
    """Whether a joint keeps its limits, and its range where it has one, with the margin of every limit."""
    ends = [(joint.limits.lower, joint.limits.upper), *((ranges[joint.name],) if joint.name in ranges else ())]
    low = max([float(one) for one, _ in ends if one is not None], default=-math.inf)
    high = min([float(one) for _, one in ends if one is not None], default=math.inf)
    if math.isfinite(low) and math.isfinite(high):
        middle = 0.5 * (low + high)
        if joint.kind == "revolute":  # the turn that is nearest
            at = middle + (at - middle + math.pi) % (2 * math.pi) - math.pi
        low, high = middle + MARGIN * (low - middle), middle + MARGIN * (high - middle)
    return bool(np.all((at >= low) & (at <= high)))


def _compiled(robot: Robot, *names: str) -> tuple[Callable[..., Any], ...]:
    return tuple(compile(program(robot, name, effort=0)) for name in names)


class MotionSearch:
    """The information of a motion x = (offsets, a, b) and how far it passes the limits, with gradients."""

    def __init__(
        self,
        robot: Robot,
        base: BaseParameters,
        where: Workspace,
        others: OtherLimits,
        seconds: float,
        noise: Sequence[float] | None,
    ) -> None:
        self.robot, self.base, self.where, self.others = robot, base, where, others
        self.n = robot.freedoms
        self.period = seconds / max(1, round(seconds / PERIOD))
        self.regressor, self.adjoint = own_regressor(robot), regressor_slopes(robot)
        self.motors = (
            () if moves_by_motors(robot) else _compiled(robot, "drive_rates", "drive_rates_vjp", "drive_rates_jvp")
        )
        self.places = [column.place for column in base.kept]
        self.width = len(COLUMNS) * bodies_of(robot)
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
        speed = self.speeds(q, qd)
        m, n, p = Y.shape
        X = np.zeros((m, n, p + 3 * n))
        X[..., :p] = Y
        for j in range(n):
            X[:, j, p + j], X[:, j, p + n + j], X[:, j, p + 2 * n + j] = (
                speed[:, j],
                np.tanh(speed[:, j] / self.creep[j]),
                1.0,
            )
        return X / self.noise[:, None]

    def speeds(self, q: Array, qd: Array) -> Array:
        """(m, n) the motors' [rad/s, m/s]."""
        return self.motors[0](q, qd) if self.motors else qd

    @property
    def creep(self) -> Array:
        """Speeds [rad/s, m/s] about which a direction turns, smoothly so that there is a slope to climb."""
        return 0.02 * (MARGIN * self.others.speed if self.motors else self.top[0])

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
        bend = (1 - np.tanh(self.speeds(q, qd) / self.creep) ** 2) / self.creep
        rubs = np.stack([G[:, j, p + j] + G[:, j, p + n + j] * bend[:, j] for j in range(n)], axis=1)
        for one, more in zip(back, self.motors[1](q, qd, rubs) if self.motors else (0.0, rubs)):
            one += more
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
        fine = self.fine(x)
        offset = x[: self.n]
        room = np.minimum(self.high - offset, offset - self.low)
        share = [np.abs(fine[0] - offset).max(axis=0) / np.maximum(room, 1e-9)]
        share += [np.abs(v).max(axis=0) / top for v, top in zip(fine[1:], self.top)]
        x[self.n :] /= np.tile(np.maximum(np.maximum.reduce(share), 1.0), self.free.shape[1])
        middle = np.concatenate([0.5 * (self.low + self.high), np.zeros(self.size - self.n)])
        for _ in range(40):
            if self.effort_share(x) <= 1.0 and self.others_kept(x):
                return x
            x[self.n :] *= 0.85
            # Where a pose alone is too heavy, the motion moves towards the middle of the joints' ranges.
            x[: self.n] += 0.1 * (middle - x)[: self.n]
        rule = "its drives cannot hold it within their effort limits by the file's masses"
        if not self.others_kept(x):
            rule = "no motion about where its loops are closed first keeps the limits of all joints"
        raise RobotError(rule, body=self.robot.name)

    def fine(self, x: Array) -> tuple[Array, Array, Array]:
        """q, qd, qdd (m, n) along a period, so near to each other that no limit is passed in between."""
        return self.trajectory(x, self.period)(np.linspace(0, self.period, 40 * HARMONICS))

    def others_kept(self, x: Array) -> bool:
        """Whether closed loops' other joints keep their limits along a motion."""
        q, qd, qdd = self.fine(x)
        acceleration = self.motors[2](q, qd, qd, qdd) if self.motors else qdd
        return self.others.kept(q, self.speeds(q, qd), acceleration)

    def efforts(self, x: Array) -> Array:
        """(m, n) the efforts of the motion by the file's masses and friction [N m, N]."""
        q, qd, qdd = self.fine(x)
        speed = self.speeds(q, qd)
        rubbed = [law.effort(speed[:, k], np.sign, np.exp) for k, law in enumerate(friction_laws(self.robot.driven))]
        return self.regressor(q, qd, qdd) @ self.prior + np.stack(rubbed, axis=1)

    def effort_share(self, x: Array) -> float:
        tau = self.efforts(x)
        if not np.isfinite(tau).all():
            return math.inf
        return float(np.max(np.abs(tau).max(axis=0) / self.effort))

    def trajectory(self, x: Array, seconds: float) -> Fourier:
        k = self.free @ x[self.n :].reshape(-1, self.n)
        return fourier(x[: self.n], k[:HARMONICS], k[HARMONICS:], self.period, seconds)
