"""What closes the loops of a mechanism, for its line figure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from emdeg.algebra import Array, Floats
from emdeg.loops import linkage_of
from emdeg.robot import BASE, Robot
from emdeg.simulation.pictures.skeleton import Stroke


def closing_strokes(robot: Robot, seen: Callable[..., Array]) -> list[Stroke]:
    """The rods and closing joints, and the arms that carry their ends."""
    found = []
    for loop in linkage_of(robot, Floats()).loops:
        ends = [seen(end.link, end.p) for end in (loop.first, loop.second)]
        for anchor, end in zip((loop.first, loop.second), ends):
            if anchor.link != BASE:
                found.append(Stroke("link", np.stack([seen(anchor.link), end], axis=1)))
        found.append(Stroke("rod", np.stack(ends, axis=1)))
    return found
