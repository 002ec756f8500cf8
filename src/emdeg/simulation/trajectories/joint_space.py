"""Trajectories in joint space: a point, rest to rest, through points, periodic.

A trajectory is called with times [s] of any shape and gives (q, qd, qdd), each (..., n), in rad, m and seconds. It
lasts from 0 to `duration`; outside, it stands still at its ends (a periodic one goes on).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.errors import ScenarioError

JointMotion = tuple[Array, Array, Array]
"""(q, qd, qdd)."""


@runtime_checkable
class Trajectory(Protocol):
    """What the rest of the package needs of a trajectory."""

    @property
    def duration(self) -> float: ...

    @property
    def n(self) -> int: ...

    def __call__(self, t: ArrayLike) -> JointMotion: ...


@dataclass(frozen=True)
class Still(Shown):
    """One configuration for all time."""

    q: Array
    duration: float = 0.0

    @property
    def n(self) -> int:
        return len(self.q)

    def __call__(self, t: ArrayLike) -> JointMotion:
        shape = (*np.shape(t), self.n)
        return np.broadcast_to(self.q, shape).copy(), np.zeros(shape), np.zeros(shape)


Profile = Callable[[Array], JointMotion]
"""x in [0, 1] -> (s, ds/dx, d2s/dx2), s from 0 to 1."""


def cycloidal_profile(x: Array) -> JointMotion:
    """Kane and Levinson, eq. 127: no jump of acceleration."""
    w = 2 * np.pi
    return x - np.sin(w * x) / w, 1 - np.cos(w * x), w * np.sin(w * x)


def quintic_profile(x: Array) -> JointMotion:
    """The polynomial of fifth degree with speed and acceleration zero at both ends."""
    return x**3 * (10 - 15 * x + 6 * x * x), 30 * x * x * (1 - x) ** 2, 60 * x * (1 - x) * (1 - 2 * x)


def trapezoidal_profile(ramp: float) -> Profile:
    """Constant acceleration over the share `ramp` of the time, constant speed, and the same braking."""
    if not 0 < ramp <= 0.5:
        raise ScenarioError(f"a trapezoidal profile's ramp must lie in (0, 0.5]; got {ramp}")
    top = 1 / (1 - ramp)

    def profile(x: Array) -> JointMotion:
        up, down = x < ramp, x > 1 - ramp
        left = 1 - x
        s = np.where(up, x * x / (2 * ramp), np.where(down, 1 / top - left * left / (2 * ramp), x - ramp / 2))
        speed = np.where(up, x / ramp, np.where(down, left / ramp, 1.0))
        braking = np.where(up, 1.0, np.where(down, -1.0, 0.0)) / ramp
        return top * s, top * speed, top * braking

    return profile


@dataclass(frozen=True)
class PointToPoint(Shown):
    """From rest at `start` to rest at `goal`, all joints in step: q = start + (goal - start) s(t / duration)."""

    start: Array
    goal: Array
    duration: float
    profile: Profile

    def __post_init__(self) -> None:
        if len(self.start) != len(self.goal):
            raise ScenarioError(f"start has {len(self.start)} joints and goal {len(self.goal)}")
        positive(self.duration)

    @property
    def n(self) -> int:
        return len(self.start)

    def __call__(self, t: ArrayLike) -> JointMotion:
        T = self.duration
        time = np.asarray(t, dtype=np.float64)
        inside = (time >= 0) & (time <= T)
        s, ds, dds = self.profile(np.clip(time / T, 0, 1))
        way = np.asarray(self.goal) - np.asarray(self.start)
        return (
            self.start + s[..., None] * way,
            np.where(inside, ds / T, 0.0)[..., None] * way,
            np.where(inside, dds / T**2, 0.0)[..., None] * way,
        )


def cycloidal(start: ArrayLike, goal: ArrayLike, duration: float) -> PointToPoint:
    """Kane and Levinson, eq. 127."""
    return PointToPoint(_vector(start), _vector(goal), duration, cycloidal_profile)


def quintic(start: ArrayLike, goal: ArrayLike, duration: float) -> PointToPoint:
    """A fifth-degree polynomial, at rest without acceleration at both ends."""
    return PointToPoint(_vector(start), _vector(goal), duration, quintic_profile)


def trapezoidal(
    start: ArrayLike,
    goal: ArrayLike,
    duration: float | None = None,
    *,
    ramp: float = 0.25,
    max_speed: ArrayLike | None = None,
    max_acceleration: ArrayLike | None = None,
) -> PointToPoint:
    """Trapezoidal speed: in a given time, or as fast as speed and acceleration limits (one a joint) allow."""
    a, b = _vector(start), _vector(goal)
    limits = (max_speed, max_acceleration)
    if any(v is None for v in limits) if duration is None else any(v is not None for v in limits):
        raise ScenarioError("a trapezoidal trajectory needs a duration or both max_speed and max_acceleration, no more")
    if duration is None:
        way = np.abs(b - a)
        moving = way > 0
        if not moving.any():
            raise ScenarioError("start and goal are the same: there is no way to go")
        speeds, rates = (np.broadcast_to(_vector(v), way.shape) for v in (max_speed, max_acceleration))
        if (speeds <= 0).any() or (rates <= 0).any():
            raise ScenarioError("max_speed and max_acceleration must be positive")
        v, r = float(np.min(speeds[moving] / way[moving])), float(np.min(rates[moving] / way[moving]))
        if v * v >= r:  # the top speed is never reached
            duration, ramp = 2 / math.sqrt(r), 0.5
        else:
            duration = 1 / v + v / r
            ramp = v / r / duration
    return PointToPoint(a, b, duration, trapezoidal_profile(ramp))


@dataclass(frozen=True)
class Spline(Shown):
    """Through points at times: piecewise polynomials, continuous with `degree` - 1 derivatives."""

    spline: BSpline
    duration: float
    n: int
    knots: Array

    def __call__(self, t: ArrayLike) -> JointMotion:
        time = np.asarray(t, dtype=np.float64)
        inside = ((time >= 0) & (time <= self.duration))[..., None]
        at = np.clip(time, 0, self.duration)
        q, qd, qdd = (self.spline(at, order) for order in (0, 1, 2))
        return q, np.where(inside, qd, 0.0), np.where(inside, qdd, 0.0)


def through(times: ArrayLike, points: ArrayLike, *, degree: int = 5, rest: bool = True) -> Spline:
    """A spline through `points` (k, n) at `times` (k), cubic or quintic.

    With `rest` it starts and ends at rest (a quintic one also without acceleration); otherwise its ends are free.
    """
    at = np.asarray(times, dtype=np.float64)
    q = np.asarray(points, dtype=np.float64)
    if q.ndim != 2 or at.ndim != 1 or len(at) != len(q):
        raise ScenarioError(f"{at.size} times for points of shape {q.shape}: one time a point is needed")
    if not (np.isfinite(at).all() and np.isfinite(q).all()):
        raise ScenarioError("times and points must be finite numbers")
    if len(at) < 2 or (np.diff(at) <= 0).any():
        raise ScenarioError("times must increase from point to point, and there must be two at least")
    if degree not in (3, 5):
        raise ScenarioError(f"a spline is cubic (3) or quintic (5); got degree {degree}")
    at = at - at[0]
    still = [(order, np.zeros(q.shape[1])) for order in range(1, (degree + 1) // 2)]
    if not rest and len(at) <= degree:
        raise ScenarioError(f"a spline of degree {degree} with free ends needs more than {degree} points")
    spline = make_interp_spline(at, q, k=degree, bc_type=(still, still) if rest else None)
    return Spline(spline, float(at[-1]), q.shape[1], at)


@dataclass(frozen=True)
class Fourier(Shown):
    """Periodic: q = offset + sum_l a_l / (w l) sin(w l t) - b_l / (w l) cos(w l t), w = 2 pi / period.

    The form of Swevers et al. for excitation: a and b (harmonics, n) are amplitudes of the speed [rad/s, m/s].
    `duration` is what is run of it, one period unless stated.
    """

    offset: Array
    a: Array
    b: Array
    period: float
    duration: float

    def __post_init__(self) -> None:
        if self.a.shape != self.b.shape or self.a.ndim != 2 or self.a.shape[1] != len(self.offset):
            raise ScenarioError(
                f"Fourier coefficients a {self.a.shape} and b {self.b.shape} must be (harmonics, {len(self.offset)})"
            )
        positive(self.period)
        positive(self.duration)

    @property
    def n(self) -> int:
        return len(self.offset)

    def __call__(self, t: ArrayLike) -> JointMotion:
        w = 2 * np.pi / self.period * np.arange(1, len(self.a) + 1)
        phase = np.asarray(t, dtype=np.float64)[..., None] * w
        s, c = np.sin(phase), np.cos(phase)
        q = self.offset + (s / w) @ self.a - (c / w) @ self.b
        return q, c @ self.a + s @ self.b, -(s * w) @ self.a + (c * w) @ self.b


def fourier(offset: ArrayLike, a: ArrayLike, b: ArrayLike, period: float, duration: float | None = None) -> Fourier:
    """A periodic trajectory from its speed's Fourier coefficients."""
    sines, cosines = (np.atleast_2d(np.asarray(v, dtype=np.float64)) for v in (a, b))
    return Fourier(_vector(offset), sines, cosines, period, period if duration is None else duration)


def _vector(values: ArrayLike | None) -> Array:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ScenarioError(f"one finite number a joint is needed; got {values!r}")
    return array


SHORTEST, LONGEST = 1e-9, 1e9
"""Durations [s]: beyond these doubles have no room for rates and accelerations; a billion seconds are thirty years."""


def positive(seconds: float) -> None:
    if not seconds > 0:
        raise ScenarioError(f"a duration must be positive; got {seconds} s")
    if not SHORTEST <= seconds <= LONGEST:
        raise ScenarioError(f"a duration must lie between {SHORTEST:g} and {LONGEST:g} s; got {seconds:g} s")
