"""How well an identified model explains a log that it has not seen, joint by joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.identification.estimation import NORMAL
from emdeg.identification.identifying import Identification, refuse
from emdeg.identification.recording import Log
from emdeg.identification.samples import LogSamples, prepare
from emdeg.identification.smoothing import signal_band
from emdeg.identification.suspicions import Doubt, seen_doubts

LAGS = 20
"""Of the test whether what is left is white."""


@dataclass(frozen=True)
class JointValidation(Shown):
    """What is left of one joint's efforts [N m, N]."""

    joint: str
    unit: str
    rms: float
    relative: float
    """rms over the measured effort's."""
    worst: float
    noise: float
    """The share of `rms` that is white: the sensor's."""
    model_error: float
    """The share of `rms` that is not."""
    white: float
    """The probability that white noise is as correlated as what is left is (Ljung and Box)."""
    correlation: tuple[float, ...]
    """Of what is left with itself, one sample later, two, ...; of white noise within +- `bound` in 95%."""
    bound: float
    parts: Mapping[str, float]
    """rms of what the model's parts give: inertia, velocity, gravity, friction."""

    @property
    def dominated_by(self) -> str:
        return "model error" if self.model_error > self.noise else "noise"


@dataclass(frozen=True)
class Validation(Shown):
    """Measured against predicted efforts along a log."""

    file: str
    joints: tuple[JointValidation, ...]
    samples: LogSamples = field(repr=False)
    predicted: Array = field(repr=False)
    parts: Mapping[str, Array] = field(repr=False)
    """(m, n) of inertia, velocity, gravity and friction."""
    doubts: tuple[Doubt, ...] = ()
    """What is not as it should be in the log."""

    @property
    def relative_error(self) -> list[float]:
        return [joint.relative for joint in self.joints]


def validated(found: Identification, log: Log, *, accept_doubts: bool = False) -> Validation:
    """The identified model along another log: every sample counts as it was measured, nothing is smoothed but q.

    A log whose columns cannot be meant is refused with RobotError, unless `accept_doubts`.
    """
    doubts = seen_doubts(log, found.robot)
    refuse([(log.file, doubt) for doubt in doubts], accept_doubts)
    samples = prepare(log, found.robot, found.logs[0].fastest, thinned=False)
    factors = np.array([found.constants[j.name].value if found.constants else 1.0 for j in found.robot.driven])
    if log.in_amperes:
        if not found.constants:
            raise RobotError("it holds currents, and the logs that were identified efforts", file=log.file)
        samples = samples.in_efforts(factors)
    predicted = found.predicted(samples)
    parts = _parts(found, samples, predicted)
    joints = []
    for j, joint in enumerate(found.robot.driven):
        good = samples.used[:, j]
        rest = (samples.tau[:, j] - predicted[:, j])[good]
        size = _rms(samples.tau[good, j])
        rms = _rms(rest)
        _, floor = signal_band(rest, samples.step)
        noise = min(floor, rms)
        joints.append(
            JointValidation(
                joint.name,
                "N m" if joint.kind == "revolute" else "N",
                rms,
                rms / size if size else 0.0,
                float(np.abs(rest).max()),
                noise,
                float(np.sqrt(max(0.0, rms * rms - noise * noise))),
                whiteness(rest),
                tuple(autocorrelation(rest).tolist()),
                NORMAL / float(np.sqrt(max(1, len(rest)))),
                {name: _rms(part[good, j]) for name, part in parts.items()},
            )
        )
    return Validation(log.file, tuple(joints), samples, predicted, parts, tuple(doubts))


def _parts(found: Identification, samples: LogSamples, predicted: Array) -> dict[str, Array]:
    """(m, n) what the bodies ask for because of accelerations, speeds and gravity, and what friction does."""
    bodies = replace(found.fit.model, friction=())
    zero = np.zeros_like(samples.qd)
    weight = bodies.predicted(found.values, samples.moving(zero, zero))
    still = bodies.predicted(found.values, samples.moving(zero, samples.qdd))
    whole = bodies.predicted(found.values, samples)
    parts = {"inertia": still - weight, "velocity": whole - still, "gravity": weight}
    return parts | {"friction": predicted - whole}


def whiteness(x: Array) -> float:
    """The probability that white noise has autocorrelations as large as these, over some lags (Ljung and Box)."""
    from scipy.stats import chi2

    n, r = len(x), autocorrelation(x)
    if not r.any():
        return 1.0
    return float(chi2.sf(n * (n + 2) * np.sum(r * r / (n - np.arange(1, LAGS + 1))), LAGS))


def autocorrelation(x: Array) -> Array:
    """(LAGS) with itself so many samples later; zero of what is too short."""
    x = x - x.mean() if len(x) else x
    size = float(x @ x)
    if size <= 0 or len(x) <= 2 * LAGS:
        return np.zeros(LAGS)
    return np.array([float(x[k:] @ x[:-k]) / size for k in range(1, LAGS + 1)])


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x * x))) if len(x) else 0.0
