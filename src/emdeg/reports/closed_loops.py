"""What a report says of a mechanism with closed loops where it says something else of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from emdeg.algebra import Floats
from emdeg.analysis import SampledMotion, point_to_point
from emdeg.approximation import TradeoffPoint
from emdeg.documents import ChartBar, Equation, Folded, Item, MatrixEquation, Note, Paragraph, Section, Verbatim, line
from emdeg.dynamics import kind_of
from emdeg.errors import RobotError, StateError
from emdeg.loops import Anchor, joint_positions, linkage_of, ready
from emdeg.loops.equations import LOOP_PARTS, LoopModel, default_parts, derive_loops
from emdeg.reports.equations_part import EquationsFound
from emdeg.reports.scene import number
from emdeg.reports.subject import FRAMES, SECONDS, Subject
from emdeg.reports.tradeoff import TUNING, SliderTuning
from emdeg.robot import Robot

LOOP_LONGEST = 120_000
"""Characters of a block that a page holds."""
SLIDING = 0.5
"""How far [m] about its sample motion a platform without limits is moved."""


def kind(robot: Robot) -> str:
    """What sort of mechanism it is."""
    return "closed loops on a tree"


def mobility_rows(robot: Robot) -> list[tuple[str, str]]:
    """Coordinates, driven joints and mobility."""
    rows = [("coordinates", ", ".join(joint.name for joint in robot.coordinates))]
    rows.append(("driven joints", ", ".join(joint.name for joint in robot.driven)))
    if not robot.symbols:
        rows.append(("mobility", str(kind_of(robot).mobility(robot))))
    return rows


def sample_motion(subject: Subject) -> SampledMotion:
    """A motion of all coordinates near the start, from rest to rest, along which the loops close."""
    start = ready(subject.robot).start[list(ready(subject.robot).link.coordinates)]
    kinds = np.array([joint.kind == "revolute" for joint in subject.robot.coordinates])
    reach = np.where(kinds, 0.4, 0.08)
    signs = np.where(np.arange(len(start)) % 2, -1.0, 1.0)
    for _ in range(12):
        tried = point_to_point(start - reach * signs / 2, start + reach * signs / 2, SECONDS, FRAMES)
        try:
            joint_positions(subject.robot, tried.q)
        except (StateError, RobotError):
            reach = reach / 2
            continue
        return tried
    raise RobotError("no motion near its start keeps the loops closed", body=subject.robot.name)


def where_it_moves(subject: Subject) -> str:
    """The part of the workspace that the sample motion passes, in words."""
    return "near the start that the file states"


def equations(subject: Subject, command: str, levels: bool = True, *, tuning: SliderTuning = TUNING) -> EquationsFound:
    """The section of the named blocks."""
    loops = derive_loops(subject.robot)
    return EquationsFound(_blocks(subject, loops, command), loops=loops)


def _blocks(subject: Subject, model: LoopModel, command: str) -> Section:
    items: list[Item] = [
        Paragraph(
            "With closed loops the reduced model multiplied out is long and tells nothing; its blocks are derived "
            "instead: closure equations, the map from the coordinates' speeds to the joints', the named Jacobians, and "
            "M, C and G in their letters."
        )
    ]
    items.append(Note("Lumped constants and the threshold slider are for chains and trees."))
    for part in default_parts(model):
        subject.progress(f"block {part}")
        section = LOOP_PARTS[part](model)
        length = sum(_length(item) for item in section.items)
        if length > LOOP_LONGEST:
            items.append(Note(f"{section.title}: {length} characters, are left out of the page. They are printed by"))
            items.append(Verbatim(f"emdeg derive {command} --only {part}"))
            continue
        items.append(Folded(section.title, section.items, open=part in ("model", "closure") and length < 6_000))
    return Section("equations", "The equations of motion", tuple(items))


def _length(item: Item) -> int:
    """Characters of its formulas as text."""
    if isinstance(item, MatrixEquation):
        return sum(len(line(entry)) for row in item.rows for entry in row)
    return len(line(item.value)) if isinstance(item, Equation) else 0


def rods(robot: Robot) -> list[dict[str, Any]]:
    """The rods' ends, and pairs of points that closing joints bring together, on their links."""
    link = linkage_of(robot, Floats())

    def end(anchor: Anchor) -> dict[str, Any]:
        return {"link": anchor.link, "p": [number(cast(float, v)) for v in anchor.p]}

    found = [{"a": end(bar.first), "b": end(bar.second), "rod": True} for bar in link.bars]
    return found + [{"a": end(m.first), "b": end(m.second), "rod": False} for m in link.meetings]


def reach(subject: Subject) -> Iterator[tuple[float, float]]:
    """The coordinates' ranges of a mechanism with loops: their limits, or about where the sample motion is."""
    for k, joint in enumerate(subject.robot.coordinates):
        low, high = joint.limits.lower, joint.limits.upper
        middle, half = float(subject.motion.q[:, k].mean()), np.pi if joint.kind == "revolute" else SLIDING
        yield (
            middle - half if low is None else float(low),
            middle + half if high is None else float(high),
        )


def sliders(subject: Subject) -> dict[str, Any]:
    """What the page's sliders move: the coordinates about the sample motion."""
    start = [number(v) for v in subject.tree_motion[0]]
    return {"ranges": [], "start": start, "free": False, "reach": [[number(v) for v in one] for one in reach(subject)]}


COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity")


def counted(subject: Subject) -> tuple[str, ...]:
    """The functions whose operations are counted."""
    return COUNTED


def short_programs(subject: Subject) -> tuple[TradeoffPoint, ...]:
    """No curve of short programs."""
    return ()


def recursions(subject: Subject) -> list[ChartBar]:
    """No recursion to compare with."""
    return []


def extremes_over_workspace(subject: Subject) -> list[Item]:
    """A note on why there are no extremes."""
    words = "With closed loops the workspace is no box of joint positions: certified extremes and couplings over it "
    return [Note(f"{words}are left out.")]
