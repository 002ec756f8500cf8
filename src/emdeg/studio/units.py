"""Units of what a page shows: of entries by what they are, of a program's values by what it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from emdeg.documents import Label, indices_of
from emdeg.programs import LAWS, Kind, Program, Slot
from emdeg.robot import Joint, Robot

_SMALL = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Dimension(NamedTuple):
    """Powers of kg, m and s; angles have none.

    >>> [str(Dimension(*powers)) for powers in ((1, 2), (1, 2, -2), (0, 1, -1), (0, 0, -1), (0, -1, -1), ())]
    ['kg m²', 'N m', 'm/s', '1/s', '1/(m s)', '']
    """

    kg: Fraction | int = 0
    m: Fraction | int = 0
    s: Fraction | int = 0

    def times(self, other: Dimension, power: int = 1) -> Dimension:
        return Dimension(*(a + power * b for a, b in zip(self, other)))

    def root(self) -> Dimension:
        return Dimension(*(Fraction(a) / 2 for a in self))

    def __str__(self) -> str:
        if self in (NEWTON, NEWTON_METRE):
            return "N" if self == NEWTON else "N m"
        above = " ".join(_power(name, power) for name, power in zip(self._fields, self) if power > 0)
        below = " ".join(_power(name, -power) for name, power in zip(self._fields, self) if power < 0)
        return f"{above or 1}/{f'({below})' if ' ' in below else below}" if below else above


def _power(name: str, power: Fraction | int) -> str:
    if power == 1:
        return name
    return name + (str(power).translate(_SMALL) if Fraction(power).denominator == 1 else f"^({power})")


NEWTON, NEWTON_METRE = Dimension(1, 1, -2), Dimension(1, 2, -2)
NUMBER = Dimension()
LENGTH, MASS, INERTIA = Dimension(0, 1), Dimension(1), Dimension(1, 2)
OF_PATH = {"mass": MASS, "M": MASS, "MX": Dimension(1, 1), "MY": Dimension(1, 1), "MZ": Dimension(1, 1)}
"""What a parameter's path ends in -> its dimension; the rest are lengths or moments."""
_MOMENTS = frozenset(f"{start}{ij}" for start in ("I", "") for ij in ("xx", "xy", "xz", "yy", "yz", "zz"))


def of_parameter(robot: Robot, path: str) -> Dimension:
    """Of a number of the robot, by its path."""
    last = path.rpartition(".")[2]
    if path.startswith("gravity"):
        return Dimension(0, 1, -2)
    if path.endswith("drive.inertia"):
        joint = next(one for one in robot.joints if path == f"{one.name}.drive.inertia")
        return MASS if joint.kind == "prismatic" else INERTIA
    if last in _MOMENTS or last.lower() in _MOMENTS:
        return INERTIA
    return OF_PATH.get(last, LENGTH)


def position(joint: Joint) -> Dimension:
    """Of a joint's variable."""
    return LENGTH if joint.kind == "prismatic" else NUMBER


def effort(joint: Joint) -> Dimension:
    """Of what drives a joint."""
    return NEWTON_METRE.times(position(joint), -1)


def of_entry(name: Label, robot: Robot) -> str:
    """The unit of a value by its name in the equations: M, b, c, g, C, G or J with indices; "" where it has none."""
    rates = Dimension(0, 0, -name.dots)
    head, _, rest = name.subscript.strip("_").partition("_")
    if name.letter == "J" and head[:1].isalpha():  # a named Jacobian: of a point, or of a body's turning
        *_, column = indices_of(f"_{rest}")
        moved = NUMBER if head.startswith("w") else LENGTH
        return str(rates.times(moved).times(position(robot.coordinates[column - 1]), -1))
    try:
        places = indices_of(name.subscript)
    except ValueError:
        return ""
    along = [position(joint) for joint in robot.coordinates]
    match name.letter:
        case "M" | "b" | "c" | "C" | "g" | "G" if all(1 <= k <= len(along) for k in places) and places:
            found = INERTIA.times(Dimension(0, 0, {"C": -1, "g": -2, "G": -2}.get(name.letter, 0)))
            for k in (*places, places[-1]) if name.letter == "c" else places:
                found = found.times(along[k - 1], -1)
        case "J" if len(places) == 2:
            row, column = places
            own = position(robot.driven[row - 1]) if robot.hidden else LENGTH if row <= 3 else NUMBER
            found = own.times(along[column - 1], -1)
        case "W" if len(places) == 2:
            found = position(robot.joints[places[0] - 1]).times(along[places[1] - 1], -1)
        case _:
            return ""
    return str(found.times(rates))


def of_values(program: Program, of_input: Callable[[Slot], Dimension | None]) -> list[Dimension | None]:
    """The dimension of every value; None where summands have different ones."""
    found: list[Dimension | None] = []
    for op in program.ops:
        arguments = [found[arg] for arg in op.args]
        found.append(of_input(op.slot) if op.kind is Kind.INPUT else _of(op.kind, arguments))
    return found


def _of(kind: Kind, arguments: Sequence[Dimension | None]) -> Dimension | None:
    if kind in (Kind.NUMBER, Kind.ANGLE, Kind.SIN, Kind.COS, *LAWS):
        return NUMBER
    first, last = arguments[0], arguments[-1]
    if first is None or last is None:
        return None
    match kind:
        case Kind.MUL | Kind.DIV:
            return first.times(last, 1 if kind is Kind.MUL else -1)
        case Kind.SQRT:
            return first.root()
        case _:
            return first if first == last else None
