"""The kinds of mechanism that move. This is the one place that asks whether a robot has closed loops.

A free base would be one more kind: its q holds a position and an orientation, its speeds a twist; the methods `size`
and `state` of its `MechanismKind` are where that difference would live.
"""

from __future__ import annotations

from emdeg.mechanics.loops.kind import ClosedLoops
from emdeg.mechanics.state import MechanismKind, Tree
from emdeg.robot import Robot

TREE, CLOSED_LOOPS = Tree(), ClosedLoops()
KINDS: tuple[MechanismKind, ...] = (TREE, CLOSED_LOOPS)


def kind_of(robot: Robot) -> MechanismKind:
    """Which kind of mechanism a robot is."""
    return TREE if robot.loops is None else CLOSED_LOOPS
