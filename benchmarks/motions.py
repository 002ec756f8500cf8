"""Point-to-point motions, with the limits that the makers of the arms state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array

SMOOTH = 1e-6
"""Weight of the squared accelerations in an objective: without it what no limit holds in the shortest time is open."""


@dataclass(frozen=True)
class Motion:
    """From where to where [rad]; limits of joints [rad], speeds [rad/s] and torques [N m]; seconds for least effort."""

    start: Array
    goal: Array
    lower: Array
    upper: Array
    fastest: Array
    strongest: Array
    seconds: float


def _motion(*rows: list[float], seconds: float) -> Motion:
    return Motion(*map(np.array, rows), seconds)


MOTIONS = {
    "ur5e": _motion(
        [0.0, -1.6, 1.4, -1.2, -1.5, 0.0],
        [1.5, -0.9, 0.6, -0.4, -0.8, 1.0],
        [-2 * np.pi] * 6,
        [2 * np.pi] * 6,
        [np.pi] * 6,
        [150.0, 150.0, 150.0, 28.0, 28.0, 28.0],
        seconds=1.5,
    ),
    "panda": _motion(
        [-0.8, -0.6, 0.3, -2.2, 0.0, 1.6, 0.8],
        [0.9, 0.5, -0.4, -1.1, 0.6, 2.4, -0.5],
        [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973],
        [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973],
        [2.175] * 4 + [2.61] * 3,
        [87.0] * 4 + [12.0] * 3,
        seconds=1.5,
    ),
    # Nobody's arm: small enough to try things out.
    "planar2r": _motion([0.2, 0.4], [1.2, -0.5], [-3.0] * 2, [3.0] * 2, [4.0] * 2, [60.0, 20.0], seconds=1.0),
}
