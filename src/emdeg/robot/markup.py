"""XML from strangers, read into plain elements that remember their lines.

No document type, no entities, nothing external; depth and number of elements are bounded while reading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO
from xml.sax import ContentHandler, SAXParseException
from xml.sax.xmlreader import InputSource

import defusedxml
import defusedxml.sax

from emdeg.algebra import Angle, direction_angle, parse_number
from emdeg.documents import plain
from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET, Budget
from emdeg.robot.model import NOWHERE, Pose
from emdeg.robot.transform import Direction, ExactTransform, of_pose, to_pose, unit

LONGEST_NAME = 200


@dataclass(slots=True)
class Element:
    """One element: tag, attributes, children, the text directly inside it, and where it starts."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """The child called `tag`, or None; RobotError if there are several."""
        found = self.all(tag)
        if len(found) > 1:
            raise RobotError(f"<{self.tag}> has {len(found)} <{tag}> elements; one is allowed", line=found[1].line)
        return found[0] if found else None

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the document's order."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def need(self, attribute: str) -> str:
        """The attribute's value; RobotError if it is missing."""
        if attribute not in self.attributes:
            raise RobotError(f"<{self.tag}> has no {attribute!r} attribute", line=self.line)
        return self.attributes[attribute]

    def need_name(self) -> str:
        """The attribute `name`, neither empty nor endless, and without control characters."""
        name = self.need("name")
        if not name.isprintable():
            raise RobotError(f"<{self.tag}> has a control character in its name {plain(name)!r}", line=self.line)
        if not name.strip():
            raise RobotError(f"<{self.tag}> has an empty name", line=self.line)
        if len(name) > LONGEST_NAME:
            raise RobotError(
                f"<{self.tag}> has a name of {len(name)} characters; {LONGEST_NAME} are allowed",
                line=self.line,
            )
        return name


def parse_xml(text: str, budget: Budget = BUDGET) -> Element:
    """The document's root element; RobotError with the line where the text is not well-formed XML."""
    if len(text) > budget.bytes:
        raise TooLarge(f"the file has {len(text)} characters; the budget is {budget.bytes}")
    source = InputSource()
    source.setCharacterStream(StringIO(text))
    builder = _Builder(budget)
    parser = defusedxml.sax.make_parser()
    parser.forbid_dtd = True
    parser.setContentHandler(builder)
    try:
        parser.parse(source)
    except defusedxml.DTDForbidden:
        raise RobotError("it declares a document type (DTD), which is refused", line=builder.line) from None
    except defusedxml.DefusedXmlException:
        raise RobotError("it declares entities, which are refused", line=builder.line) from None
    except SAXParseException as problem:
        raise RobotError(f"not well-formed XML: {problem.getMessage()}", line=problem.getLineNumber()) from None
    except UnicodeError:
        raise RobotError("the text holds characters that are not Unicode") from None
    if builder.root is None:
        raise RobotError("the file is empty: no XML element in it")
    return builder.root


class _Builder(ContentHandler):
    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self.root: Element | None = None
        self._open: list[Element] = []
        self._budget = budget
        self._count = 0

    @property
    def line(self) -> int | None:
        return self._locator.getLineNumber() if self._locator is not None else None  # type: ignore[attr-defined]

    def startElement(self, name, attrs) -> None:
        self._count += 1
        if self._count > self._budget.elements:
            raise TooLarge(f"it has more than {self._budget.elements} elements, the budget", line=self.line)
        if len(self._open) >= self._budget.depth:
            raise TooLarge(f"its elements nest deeper than {self._budget.depth}, the budget", line=self.line)
        element = Element(clipped(name), dict(attrs.items()), self.line or 0)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def endElement(self, name) -> None:
        self._open.pop()

    def characters(self, content) -> None:
        if self._open and len(self._open[-1].text) < 10_000:
            self._open[-1].text += content


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
