"""Where a program's divisors are not zero and its radicands not negative: shown by balls over limits, or undecided."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from flint import arb

from emdeg.programs.ir import Kind, OutputGroup, Program, Ref, Slot
from emdeg.programs.simplification import prune
from emdeg.programs.values import ball_values
from emdeg.robot import Robot

WORK = 60_000
"""Operations on balls, about, that are spent on one program."""
TURN = 3.1416
"""Half a turn [rad], and a little more: the range of a turning joint without limits."""

Box = Mapping[Slot, tuple[float, float]]
"""Inputs -> their least and largest numbers."""


def limits_box(robot: Robot) -> Box:
    """The coordinates' limits [rad, m], a whole turn where a turning one has none; no slide without limits."""
    found: dict[Slot, tuple[float, float]] = {}
    for k, joint in enumerate(robot.coordinates):
        reach = TURN if joint.kind == "revolute" else math.inf
        low = -reach if joint.limits.lower is None else float(joint.limits.lower)
        high = reach if joint.limits.upper is None else float(joint.limits.upper)
        if math.isfinite(low) and math.isfinite(high):
            found["q", k] = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return found


def nowhere_zero(program: Program, wanted: Sequence[int], box: Box) -> set[int]:
    """Which of these values are certainly not zero, whatever the inputs are in the box."""
    return _everywhere(program, wanted, box, lambda ball: not ball.contains(0))


def nowhere_negative(program: Program, wanted: Sequence[int], box: Box) -> set[int]:
    """Which of these values are certainly not negative, whatever the inputs are in the box."""
    return _everywhere(program, wanted, box, lambda ball: ball.lower() >= 0)


def _everywhere(program: Program, wanted: Sequence[int], box: Box, holds: Callable[[arb], bool]) -> set[int]:
    """Of which values it certainly holds over the box; inputs that are not in it may be anything.

    The box is halved until it holds of the balls of its parts, or the work is done: what is left then is not decided.
    """
    if not wanted:
        return set()
    watched = OutputGroup("watched", (len(wanted),), tuple(map(Ref, wanted)))
    short = prune(Program(program.name, program.inputs, program.ops, (watched,)))
    places = dict(zip(wanted, (ref.value for ref in short.outputs[0].entries)))
    read = {op.slot for op in short.ops if op.kind is Kind.INPUT}
    boxes: deque[tuple[Box, list[int]]] = deque([({k: v for k, v in box.items() if k in read}, list(wanted))])
    for _ in range(max(1, WORK // max(short.size, 1))):
        if not boxes:
            break
        part, asked = boxes.popleft()
        known = ball_values(short, {slot: arb(low).union(arb(high)) for slot, (low, high) in part.items()}, 64)
        balls = {index: known[places[index]] for index in asked}
        left = [index for index, ball in balls.items() if not ball.is_finite() or not holds(ball)]
        if left and not part:  # there is nothing to halve
            boxes.append((part, left))
            break
        if left:
            widest = max(part, key=lambda slot: part[slot][1] - part[slot][0])
            low, high = part[widest]
            middle = (low + high) / 2
            boxes += [({**part, widest: half}, left) for half in ((low, middle), (middle, high))]
    return set(wanted) - {index for _, left in boxes for index in left}
