"""Between a control law and the joints: measurement and output converters, effort limits, sampling, delay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError
from emdeg.robot.model import Robot
from emdeg.writing.notebook import Shown


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

    def need(self, n: int) -> None:
        """All tuples must have one entry a joint."""
        for name in ("max_effort", "effort_step", "position_step"):
            values = getattr(self, name)
            if values is not None and len(values) != n:
                raise ScenarioError(f"{name} has {len(values)} entries; the robot has {n} joints")

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


def drive_limits(robot: Robot) -> tuple[float, ...]:
    """Each drive's largest effort [N m, N]: its max_torque, or the joint's effort limit; infinite where unknown."""
    limits = []
    for joint in robot.driven:
        given = [value for value in (joint.drive.max_torque, joint.limits.effort) if value is not None]
        limits.append(min((float(value) for value in given), default=np.inf))
    return tuple(limits)


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
