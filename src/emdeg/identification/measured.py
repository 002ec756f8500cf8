"""Measured against modelled torque: error per joint, and friction identified from what the model leaves.

After the evaluation of Asadi and Heydari's Delta model: predicted torques along the travelled path, friction by the
Stribeck law subtracted from the measured ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics.formulations import FrictionLaw
from emdeg.dynamics.functions import drive_rates, inverse_dynamics
from emdeg.identification.recording import Recording
from emdeg.robot import Robot

Law = Literal["auto", "stribeck", "coulomb", "none"]


@dataclass(frozen=True)
class Estimate(Shown):
    """A fitted number and its 95% confidence interval."""

    value: float
    low: float
    high: float

    def holds(self, truth: float) -> bool:
        return self.low <= truth <= self.high


@dataclass(frozen=True)
class FrictionFit(Shown):
    """Friction of one joint, joint side: N m s/rad (N s/m), N m (N), rad/s (m/s)."""

    joint: str
    law: str
    viscous: Estimate | None
    coulomb: Estimate | None
    stribeck: Estimate | None
    """The dry friction at the limit of zero speed."""
    stribeck_velocity: Estimate | None
    offset: Estimate | None
    """A constant torque left over: a sensor's zero, an unmodelled weight."""
    noise: float
    """Standard deviation of what is left [N m, N]."""
    further: Mapping[str, Estimate] = field(default_factory=dict)
    """Terms that this law does not have, by name, each as its own column has it."""

    def torque(self, qd: Array) -> Array:
        """The friction torque at the speeds qd, the offset included."""
        parts = (self.viscous, self.coulomb, self.stribeck, self.stribeck_velocity, self.offset)
        viscous, coulomb, stribeck, velocity, offset = (0.0 if p is None else p.value for p in parts)
        law = FrictionLaw(viscous, coulomb)
        if self.stribeck is not None:
            law = FrictionLaw(viscous, coulomb, stribeck - coulomb, velocity)
        return law.effort(qd, np.sign, np.exp, np.tanh) + offset


@dataclass(frozen=True)
class JointDeviation(Shown):
    """Measured minus modelled torque of one joint [N m, N]."""

    joint: str
    rms: float
    worst: float
    rms_without_friction: float
    """After the identified friction was subtracted from the measured torque."""
    worst_without_friction: float
    relative: float
    """rms_without_friction over the measured torque's rms."""


@dataclass(frozen=True)
class Comparison(Shown):
    recording: Recording
    speeds: Array
    """(m, n) of the driven joints [rad/s, m/s]"""
    predicted: Array
    """(m, n) the model's torque along the recorded motion, without friction."""
    friction: tuple[FrictionFit, ...]
    errors: tuple[JointDeviation, ...]

    @property
    def frictionless(self) -> Array:
        """(m, n) the measured torque less the identified friction."""
        lost = [fit.torque(self.speeds[:, k]) for k, fit in enumerate(self.friction)]
        return self.recording.tau - np.stack(lost, axis=1)


def compare(robot: Robot, recording: Recording, law: Law = "auto", *, slowest: float = 0.0) -> Comparison:
    """The model's torque along a recording, and the friction that explains the rest best.

    "auto" keeps the Stribeck term only where it lowers Bayes' information criterion. Samples slower than `slowest`
    [rad/s, m/s] are left out of the fit: there the sign of the speed is noise, or the joint sticks.
    """
    predicted = inverse_dynamics(robot, recording.q, recording.qd, recording.qdd)
    rest = recording.tau - predicted
    speeds = motor_speeds(robot, recording)
    fits = tuple(
        fit_friction(joint.name, speeds[:, k], rest[:, k], law, slowest=slowest) for k, joint in enumerate(robot.driven)
    )
    errors = []
    for k, (joint, fit) in enumerate(zip(robot.driven, fits)):
        after = rest[:, k] - fit.torque(speeds[:, k])
        size = rms(recording.tau[:, k])
        errors.append(
            JointDeviation(
                joint.name,
                rms(rest[:, k]),
                float(np.abs(rest[:, k]).max()),
                rms(after),
                float(np.abs(after).max()),
                rms(after) / size if size else 0.0,
            )
        )
    return Comparison(recording, speeds, predicted, fits, tuple(errors))


def motor_speeds(robot: Robot, recording: Recording) -> Array:
    """(m, n) [rad/s, m/s]: the driven joints' speeds, which are not the coordinates' in a mechanism with loops."""
    if robot.driven == robot.coordinates:
        return recording.qd
    return drive_rates(robot, recording.q, recording.qd)


def without(y: Array, A: Array) -> Array:
    """What least squares on A leave of y."""
    x, *_ = np.linalg.lstsq(A, y, rcond=None)
    return y - A @ x


def fit_friction(joint: str, qd: Array, torque: Array, law: Law = "auto", *, slowest: float = 0.0) -> FrictionFit:
    """Viscous, Coulomb and Stribeck friction with 95% confidence intervals, by least squares.

    The intervals allow for residuals that are correlated in time: their variance is scaled by (1 + r) / (1 - r), r
    the correlation of neighbours.
    """
    moving = np.abs(qd) > max(slowest, 1e-9)
    v, y = qd[moving], torque[moving]
    if law == "none" or len(y) < 12:
        noise = float(np.std(torque)) if len(torque) else 0.0
        return FrictionFit(joint, "none", None, None, None, None, None, noise)
    plain = _coulomb(joint, v, y)
    if law == "coulomb":
        return plain
    rich = _stribeck(joint, v, y, plain)
    if rich is None:
        return plain
    if law == "auto":
        n = len(y)
        # Two more parameters must pay for themselves.
        if n * np.log(max(rich.noise, 1e-300)) + np.log(n) >= n * np.log(max(plain.noise, 1e-300)):
            return plain
    return rich


def _coulomb(joint: str, v: Array, y: Array) -> FrictionFit:
    A = _columns(v, FrictionLaw(viscous=1.0), FrictionLaw(coulomb=1.0))
    x, *_ = np.linalg.lstsq(A, y, rcond=None)
    estimates, noise = _intervals(np.asarray(x, dtype=np.float64), A, y - A @ x)
    return FrictionFit(joint, "viscous + Coulomb", estimates[0], estimates[1], None, None, estimates[2], noise)


def _columns(v: Array, *laws: FrictionLaw) -> Array:
    """The efforts of each law at the speeds v, then a constant one."""
    return np.stack([*(law.effort(v, np.sign, np.exp, np.tanh) for law in laws), np.ones_like(v)], axis=1)


def _stribeck(joint: str, v: Array, y: Array, plain: FrictionFit) -> FrictionFit | None:
    from scipy.optimize import least_squares

    fastest = float(np.abs(v).max())

    def model(x: Array) -> Array:
        viscous, coulomb, stribeck, velocity, offset = x
        return FrictionLaw(viscous, coulomb, stribeck - coulomb, velocity).effort(v, np.sign, np.exp, np.tanh) + offset

    best = None
    for fraction in (0.02, 0.06, 0.2):
        # With the Stribeck velocity fixed the law is linear: a good start for the fit of all five.
        velocity = fraction * fastest
        peak = FrictionLaw(peak=1.0, stribeck_velocity=velocity)
        A = _columns(v, FrictionLaw(viscous=1.0), FrictionLaw(coulomb=1.0), peak)
        a, *_ = np.linalg.lstsq(A, y, rcond=None)
        start = np.array([a[0], a[1], a[1] + a[2], velocity, a[3]])
        scale = np.maximum(np.abs(start), 1e-6)
        found = least_squares(
            lambda x: model(x) - y,
            start,
            x_scale=scale,
            bounds=([-np.inf, -np.inf, -np.inf, 1e-4 * fastest, -np.inf], [np.inf, np.inf, np.inf, fastest, np.inf]),
        )
        if best is None or found.cost < best.cost:
            best = found
    if best is None or np.linalg.matrix_rank(best.jac) < 5:
        return None
    estimates, noise = _intervals(best.x, best.jac, -best.fun)
    viscous, coulomb, stribeck, velocity, offset = estimates
    return FrictionFit(joint, "viscous + Stribeck", viscous, coulomb, stribeck, velocity, offset, noise)


def _intervals(x: Array, A: Array, residual: Array) -> tuple[list[Estimate], float]:
    from scipy.stats import t as student

    n, p = A.shape
    degrees = max(1, n - p)
    variance = float(residual @ residual) / degrees
    neighbours = float(residual[1:] @ residual[:-1]) / max(float(residual @ residual), 1e-300)
    neighbours = min(max(neighbours, 0.0), 0.99)
    covariance = np.linalg.pinv(A.T @ A) * variance * (1 + neighbours) / (1 - neighbours)
    reach = float(student.ppf(0.975, degrees)) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return [Estimate(float(v), float(v - r), float(v + r)) for v, r in zip(x, reach)], float(np.sqrt(variance))


def rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x * x)))
