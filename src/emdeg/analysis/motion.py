"""Motions that an analysis looks along: joint positions, speeds and accelerations over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.robot import Workspace


@dataclass(frozen=True)
class SampledMotion(Shown):
    """t (m) [s], q, qd, qdd (m, n) [rad or m, and per s, per s^2]."""

    t: Array
    q: Array
    qd: Array
    qdd: Array

    def faster(self, factor: float) -> SampledMotion:
        """The same path, run `factor` times as fast."""
        return SampledMotion(self.t / factor, self.q, self.qd * factor, self.qdd * factor**2)


def point_to_point(start: ArrayLike, end: ArrayLike, duration: float, points: int = 401) -> SampledMotion:
    """A straight line in joint space with zero speed and acceleration at both ends (fifth-order polynomial)."""
    q0, q1 = np.asarray(start, float), np.asarray(end, float)
    t = np.linspace(0.0, duration, points)
    s = (t / duration)[:, None]
    way = q1 - q0
    return SampledMotion(
        t,
        q0 + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
        way * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration,
        way * (60 * s - 180 * s**2 + 120 * s**3) / duration**2,
    )


def across(where: Workspace, duration: float = 2.0, points: int = 401) -> SampledMotion:
    """All joints at once over the middle half of their ranges; a quarter turn each where they turn without end."""
    low, high = np.array(where.ranges).T
    quarter = 0.25 * (high - low)
    start, end = low + quarter, high - quarter
    free = np.array(where.free)
    start, end = np.where(free, -0.25 * np.pi, start), np.where(free, 0.25 * np.pi, end)
    return point_to_point(start, end, duration, points)
