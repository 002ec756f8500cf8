"""Dead points of a mechanism: where, along each coordinate from where it stands, a loop locks or goes slack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.loops import joint_positions, reachable, singularity_figures, weak_loops
from emdeg.robot import Robot

GRID = 161
"""Places looked at along a coordinate."""
NEAR = 1e-3
"""How small a measure (0 .. 1) is a dead point where its determinant does not change its sign: it only touches zero."""
HALVINGS = 30

WORDS = {
    "reach": "end of reach: a loop is stretched",
    "first": "first kind: the dependent joints lock",
    "second": "second kind: it moves though the motors stand",
}


@dataclass(frozen=True, slots=True)
class DeadPoint:
    """Along the `coordinate`-th coordinate at `at` [rad, m]; `pose` is every joint's position there or just before."""

    coordinate: int
    at: float
    kind: str
    loop: str
    pose: tuple[float, ...]


def dead_points(robot: Robot, q: Sequence[float], ranges: Sequence[Sequence[float]]) -> list[DeadPoint]:
    """All that are found along each coordinate's range, the others where they are."""
    here = np.array(q, dtype=float)
    found: list[DeadPoint] = []
    for k, (low, high) in enumerate(ranges):

        def at(value: Array | float, k: int = k) -> Array:
            states = np.repeat(here[None], np.size(value), axis=0)
            states[:, k] = value
            return states

        for value, kind in _along(robot, at, np.linspace(low, high, GRID)):
            state = at(value)[0]
            # Where the equations have lost their rank no loop is the weakest by a number; just beside it one is.
            loops = weak_loops(robot, state)
            pose = tuple(map(float, joint_positions(robot, state)))
            found.append(DeadPoint(k, float(value), kind, loops["second" if kind == "second" else "first"], pose))
    return found


def _along(robot: Robot, at: Callable[[Array | float], Array], grid: Array) -> Iterator[tuple[float, str]]:
    there = reachable(robot, at(grid))
    for i in np.flatnonzero(there[:-1] != there[1:]):
        inside, outside = (grid[i], grid[i + 1]) if there[i] else (grid[i + 1], grid[i])
        yield _halved(inside, outside, lambda v: bool(reachable(robot, at(v))[0])), "reach"
    for run in np.split(np.flatnonzero(there), np.flatnonzero(np.diff(np.flatnonzero(there)) > 1) + 1):
        if len(run) < 2:
            continue
        figures = singularity_figures(robot, at(grid[run]))
        for which, kind in enumerate(("first", "second")):
            size, sign = figures[which], np.sign(figures[2 + which])
            for i in np.flatnonzero(sign[:-1] * sign[1:] < 0):
                own = sign[i]
                yield (
                    _halved(
                        float(grid[run[i]]),
                        float(grid[run[i + 1]]),
                        lambda v, own=own, which=which: np.sign(singularity_figures(robot, at(v))[2 + which][0]) == own,
                    ),
                    kind,
                )
            for i in range(1, len(run) - 1):
                touches = size[i] < NEAR and size[i - 1] >= size[i] < size[i + 1]
                if touches and sign[i - 1] == sign[i + 1]:
                    yield float(grid[run[i]]), kind


def _halved(inside: float, outside: float, holds: Callable[[float], bool]) -> float:
    """The last place between two at which something still holds."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return float(inside)
