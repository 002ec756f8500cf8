"""Between a control law and the joints: converters, effort limits; when a law is asked and when its answer acts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.errors import ScenarioError, TooLarge
from emdeg.robot import Robot
from emdeg.simulation.controllers.laws import Law
from emdeg.simulation.trajectories.limits import drive_limits

SAME = 1e-9
"""Instants closer than this share of a period are one."""
MOST_SAMPLES = 10**7


@dataclass(frozen=True, slots=True)
class Conditioning(Shown):
    """How a law's efforts reach the joints. Tuples have one entry a joint; None is 'ideal'.

    `max_effort` [N m, N] cuts off; `effort_step` and `position_step` [rad, m] are one count of the output and
    of the measuring converter (values are rounded to whole counts; 0: not rounded); `period` [s] is the sampling
    period, efforts being held in between; a sample taken at t acts from t + `delay` [s] on, and before the first
    one acts there is no effort.
    """

    max_effort: tuple[float, ...] | None = None
    effort_step: tuple[float, ...] | None = None
    position_step: tuple[float, ...] | None = None
    period: float | None = None
    delay: float = 0.0

    def __post_init__(self) -> None:
        if self.period is not None and not 0 < self.period < np.inf:
            raise ScenarioError(f"the sampling period must be positive; got {self.period} s")
        if not 0 <= self.delay < np.inf:
            raise ScenarioError(f"the delay must not be negative; got {self.delay} s")
        if self.delay and self.period is None:
            raise ScenarioError("a delay needs a sampling period: a continuous law has no samples to delay")
        for name in ("max_effort", "effort_step", "position_step"):
            values = getattr(self, name)
            if values is not None and any(not value >= 0 for value in values):
                raise ScenarioError(f"{name} must not be negative; got {values}")

    def need(self, n: int, motors: int) -> None:
        """All tuples must have one entry a joint: those of efforts one a motor."""
        for name, many in (("max_effort", motors), ("effort_step", motors), ("position_step", n)):
            values = getattr(self, name)
            if values is not None and len(values) != many:
                raise ScenarioError(f"{name} has {len(values)} entries; the robot has {many} joints")

    def measured(self, q: Array) -> Array:
        """Positions as the converter reports them."""
        return q if self.position_step is None else rounded(q, self.position_step)

    def applied(self, tau: Array) -> Array:
        """Efforts as the converter and the drives let them through."""
        if self.effort_step is not None:
            tau = rounded(tau, self.effort_step)
        if self.max_effort is not None:
            limit = np.asarray(self.max_effort)
            tau = np.clip(tau, -limit, limit)
        return tau


def rounded(values: Array, steps: tuple[float, ...]) -> Array:
    """To whole multiples of `steps`; an entry with step 0 stays as it is."""
    count = np.asarray(steps, dtype=np.float64)
    safe = np.where(count > 0, count, 1.0)
    return np.where(count > 0, np.rint(values / safe) * safe, values)


def converter_steps(robot: Robot, bits: int | None = None) -> tuple[float, ...]:
    """One count of each drive's output converter: twice its largest effort over 2^bits (the drive's own, or these)."""
    steps = []
    for joint, limit in zip(robot.driven, drive_limits(robot)):
        count = bits or joint.drive.resolution_bits
        if count is None or not np.isfinite(limit):
            missing = "resolution_bits" if count is None else "max_torque"
            raise ScenarioError(f"its drive has no {missing}, so a converter's count is not known", body=joint.name)
        steps.append(2 * limit / 2**count)
    return tuple(steps)


def instants(duration: float, conditioning: Conditioning) -> Array:
    """The times [s] at which something changes: samples, their effect, and both ends."""
    period, delay = conditioning.period, conditioning.delay
    if period is None:
        return np.array([0.0, duration])
    if not duration <= MOST_SAMPLES * period:
        raise TooLarge(f"the law would be sampled {duration / period:.3g} times; the budget is {MOST_SAMPLES:g}")
    samples = period * np.arange(int(np.ceil(duration / period - SAME)))
    times = np.unique(np.concatenate([samples, samples + delay, [duration]]))
    times = times[times <= duration * (1 + 1e-12)]
    keep = np.concatenate([[True], np.diff(times) > SAME * period])
    return times[keep]


class Held:
    """A sampled law with its converters and its delay; asked at every instant, it holds in between."""

    def __init__(self, law: Law, conditioning: Conditioning, n: int) -> None:
        assert conditioning.period is not None
        self._law, self._conditioning = law, conditioning
        self._period, self._samples = conditioning.period, 0
        self._pending: deque[tuple[float, Array]] = deque()
        self.tau = np.zeros(n)

    def update(self, t: float, q: Array, qd: Array) -> Array:
        """The efforts from t on."""
        slack = SAME * self._period
        if t >= self._samples * self._period - slack:
            tau = self._law(t, self._conditioning.measured(q), qd)
            self._pending.append((t + self._conditioning.delay, self._conditioning.applied(tau)))
            self._samples += 1
        while self._pending and self._pending[0][0] <= t + slack:
            self.tau = self._pending.popleft()[1]
        return self.tau
