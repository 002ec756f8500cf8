"""A printed model against the exact one: the error of every entry, certified over the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from emdeg.analysis.loops import closed_workspace
from emdeg.papers.validation.file import PrintedModel
from emdeg.papers.validation.loops import judge_loops
from emdeg.papers.validation.trees import judge_tree
from emdeg.papers.validation.verdict import JudgedOver, Verdict, verdict_of
from emdeg.robot import Robot, Workspace, need_numbers, workspace

MARGIN = 0.05


def judge(
    printed: PrintedModel,
    robot: Robot,
    where: Workspace,
    *,
    gap: float = 1e-2,
    seconds: float = 2.0,
    margin: float = MARGIN,
    seed: int = 0,
) -> Verdict:
    """The printed entries against the exact ones of `robot` over `where`.

    Bounds hold whatever the time; `seconds` an entry say how near to the true extremes they come at best (`gap`). Of a
    mechanism with closed loops they are over the poses at which every loop closes and is at least `margin` from a dead
    point (the function `closure`: the sine squared of the angle at which its links meet).
    """
    need_numbers(robot)
    over = JudgedOver(where, gap, seconds, margin, seed)
    found = judge_tree(printed, robot, over) if robot.loops is None else judge_loops(printed, robot, over)
    return verdict_of(printed, robot, found, where)


def judged_workspace(robot: Robot, ranges: Mapping[str, Sequence[float]] | None = None) -> Workspace:
    """The workspace that a model is judged over: of a mechanism, as far as rays out of its start reach."""
    return workspace(robot, ranges) if robot.loops is None else closed_workspace(robot, ranges)
