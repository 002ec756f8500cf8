"""Numbers of a stranger's file made exact: decimals within bounds, angles and directions that a decimal means.

1.5708 is pi/2, (1, 4.9e-12, 0) is the x axis: `snap` is how far, in radians, a value may lie from what it is taken
for; 0 takes every decimal at its word.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from emdeg.algebra import Angle, direction_angle, parse_number
from emdeg.errors import RobotError
from emdeg.robot.model import NOWHERE, Pose
from emdeg.robot.transform import Direction, ExactTransform, of_pose, to_pose, unit

DEFAULT_SNAP = 1e-5
LARGEST_SNAP = 0.1
"""Half the step of pi/12 would leave no other angle; well below that a snap is a mistake."""

MANY_TURNS = 10**6


def check_snap(snap: float) -> float:
    if not 0 <= snap <= LARGEST_SNAP:
        raise RobotError(f"the snap angle is {snap}; it must lie between 0 and {LARGEST_SNAP} rad")
    return snap


def snapped_angle(value: Fraction, snap: float) -> Angle:
    """The multiple of pi/12 within `snap` of `value` radians, or `value` itself.

    >>> snapped_angle(Fraction("1.5708"), 1e-5), snapped_angle(Fraction("3.14"), 1e-5)
    (Angle('pi/2'), Angle('3.14'))
    """
    if not value or snap <= 0 or abs(value) > MANY_TURNS:
        return Angle(radians=value)
    twelfths = round(float(value) * 12 / math.pi)
    exact = Angle(Fraction(twelfths, 12))
    return exact if abs(float(value) - float(exact)) <= snap else Angle(radians=value)


def snapped_axis(axis: tuple[Fraction, ...], snap: float) -> tuple[Direction, bool]:
    """The unit vector along `axis`, and whether a component was moved to 0 or to another's size."""
    largest = max(abs(v) for v in axis)
    if largest == 0:
        raise RobotError("its axis is the zero vector, which has no direction")
    scaled = [v / largest for v in axis]
    if snap <= 0:
        return unit(tuple(scaled)), False  # type: ignore[arg-type]
    near = Fraction(snap)
    moved = False
    for i, v in enumerate(scaled):
        for other in (Fraction(0), Fraction(1)):
            if abs(abs(v) - other) <= near:
                moved |= abs(v) != other
                scaled[i] = other if v > 0 else -other
    return unit(tuple(scaled)), moved  # type: ignore[arg-type]


def snapped_transform(transform: ExactTransform, snap: float) -> ExactTransform:
    """`transform` with those of its roll, pitch and yaw made exact that lie within `snap` of k pi/12."""
    if snap <= 0:
        return transform
    R = transform.R
    near = Fraction(snap)
    if 1 - abs(R[2][0]) <= near * near / 2:
        # Pitch is a right angle: roll and yaw turn about one line and only their sum or difference is known.
        pitch = Angle(Fraction(1 if R[2][0] < 0 else -1, 2))
        rpy = (Angle(), pitch, _snapped(direction_angle(-R[0][1], R[1][1]), snap))
    else:
        roll, pitch, yaw = to_pose(transform).rpy
        rpy = (_snapped(roll, snap), _snapped(pitch, snap), _snapped(yaw, snap))
    if all(angle.radians for angle in rpy):
        return transform
    return ExactTransform(of_pose(Pose(NOWHERE, rpy)).R, transform.p)


def _snapped(angle: Angle, snap: float) -> Angle:
    return angle if angle.pi_times else snapped_angle(angle.radians, snap)


LARGEST = 10**50
"""No length, mass or inertia in SI units is beyond this; products of such numbers still fit a double."""

_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)\Z", re.IGNORECASE)


def exact_number(text: str, what: str) -> Fraction:
    """The decimal `text` as a rational; RobotError, naming `what`, if it is not a finite decimal number.

    >>> exact_number("4.318e-1", "a length")
    Fraction(2159, 5000)
    """
    text = text.strip()
    if _NOT_FINITE.match(text):
        raise RobotError(f"{what} is {text!r}; it must be a finite number")
    if "," in text:
        raise RobotError(f"{what} is {clipped(text)!r}; write decimals with a point, not with a comma")
    if "/" in text:
        raise RobotError(f"{what} is {clipped(text)!r}, which is not a decimal number")
    try:
        value = parse_number(text)
    except ValueError as problem:
        raise RobotError(f"{what}: {problem}") from None
    if abs(value) > LARGEST:
        raise RobotError(f"{what} is {clipped(text)!r}, beyond any length, mass or inertia")
    return value


def exact_numbers(text: str, count: int, what: str) -> tuple[Fraction, ...]:
    """`count` decimals separated by blanks."""
    parts = text.split(maxsplit=count)
    if len(parts) != count:
        if "," in text:
            raise RobotError(
                f"{what} is {clipped(text)!r}; separate {count} numbers by blanks and write decimals with a point"
            )
        raise RobotError(f"{what} is {clipped(text)!r}; it must be {count} numbers")
    return tuple(exact_number(part, what) for part in parts)


def clipped(text: str, length: int = 60) -> str:
    """`text`, shortened for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."
