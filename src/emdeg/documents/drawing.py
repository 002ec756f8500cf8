"""Drawings as inert data: a few shapes on a canvas, written as SVG here and as PDF by `pdf`.

Coordinates are pixels at the design size, y downwards. Colours are Okabe and Ito's, which colour-blind eyes tell
apart; whatever a colour says is also said by position, dash or text.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from emdeg.documents.markup import escape

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
INK, SOFT, FAINT, GROUND = "#1c2733", "#5b6875", "#d9dfe5", "#f5f7f9"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A straight or broken line; closed and filled, a polygon."""

    points: tuple[Point, ...]
    stroke: str = INK
    width: float = 1.0
    dash: tuple[float, ...] = ()
    fill: str = "none"
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle; `title` is shown when pointed at."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str = INK


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; `anchor` is start, middle or end; `turn` in degrees, anticlockwise."""

    x: float
    y: float
    text: str
    size: float = 11.0
    anchor: str = "start"
    fill: str = INK
    bold: bool = False
    turn: float = 0.0


Shape = Line | Rectangle | Dot | Text


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order in which they are painted; `title` says in words what is to be seen."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str = ""


def shortened(text: str, most: int) -> str:
    """The text, or its beginning where it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def number(value: float) -> str:
    """Two decimals at most: enough for a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def percent(share: float, bound: bool = False) -> str:
    """A share with two significant digits; a `bound` is rounded upwards, so that it stays one.

    >>> percent(0.3), percent(0.001), percent(0.0124), percent(0.0124, bound=True), percent(1.234)
    ('30 %', '0.1 %', '1.2 %', '1.3 %', '120 %')
    """
    value = 100 * Decimal(repr(share))
    if not value:
        return "0 %"
    digits = Decimal(1).scaleb(value.adjusted() - 1)
    rounded = (value / digits).to_integral_value(ROUND_CEILING if bound else ROUND_HALF_EVEN) * digits
    return f"{rounded.normalize():f} %"


def svg(drawing: Drawing) -> str:
    """The drawing as an <svg> element that scales with its container; presentation attributes only, no styles."""
    size = f"{number(drawing.width)} {number(drawing.height)}"
    shapes = "".join(_shape(shape) for shape in drawing.shapes)
    return (
        f'<svg viewBox="0 0 {size}" role="img" aria-label="{escape(drawing.title)}" '
        f'xmlns="http://www.w3.org/2000/svg">{shapes}</svg>'
    )


def _shape(shape: Shape) -> str:
    if isinstance(shape, Line):
        return _line(shape)
    if isinstance(shape, Rectangle):
        title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
        place = " ".join(
            f'{key}="{number(value)}"'
            for key, value in (("x", shape.x), ("y", shape.y), ("width", shape.width), ("height", shape.height))
        )
        return f'<rect {place} fill="{shape.fill}">{title}</rect>'
    if isinstance(shape, Dot):
        return f'<circle cx="{number(shape.x)}" cy="{number(shape.y)}" r="{number(shape.radius)}" fill="{shape.fill}"/>'
    x, y = number(shape.x), number(shape.y)
    turn = f' transform="rotate({number(-shape.turn)} {x} {y})"' if shape.turn else ""
    bold = ' font-weight="600"' if shape.bold else ""
    anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
    return (
        f'<text x="{x}" y="{y}" font-size="{number(shape.size)}" fill="{shape.fill}"{anchor}{bold}{turn}>'
        f"{escape(shape.text)}</text>"
    )


def _line(line: Line) -> str:
    points = " ".join(f"{number(x)},{number(y)}" for x, y in line.points)
    dash = f' stroke-dasharray="{" ".join(number(d) for d in line.dash)}"' if line.dash else ""
    kind = "polygon" if line.closed else "polyline"
    return (
        f'<{kind} points="{points}" fill="{line.fill}" stroke="{line.stroke}" '
        f'stroke-width="{number(line.width)}" stroke-linejoin="round" stroke-linecap="round"{dash}/>'
    )
