"""Charts as drawings: horizontal bars, ranges, curves, a matrix of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from emdeg.documents import BLUE, FAINT, GROUND, INK, SOFT, Drawing, Line, Rectangle, Shape, Text, shortened


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, about so many.

    >>> ticks(0, 103), ticks(-0.3, 0.3, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [-0.2, 0.0, 0.2])
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    step = 10.0 ** math.floor(math.log10(span / about))
    step *= min((m for m in (1, 2, 5, 10) if span / (m * step) <= about + 1.5), default=10)
    first = math.ceil(low / step - 1e-9)
    return [float(f"{k * step:.12g}") + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


def readable(value: float) -> str:
    """Three significant digits, never with more than four zeros in front."""
    return "0" if value == 0 else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar of several parts; `note` stands at its end."""

    label: str
    parts: tuple[float, ...]
    note: str = ""
    own: bool = True
    """Whether it is ours: then it is drawn in full colour."""


WIDTH = 470.0
LONGEST = 70
"""Characters of a name up to which a chart shows all of it."""
ON_COLOUR = "#16202b"
"""Text on a coloured cell, which keeps its colour on a dark page, too."""
_OWN, _OTHER = ("#0072B2", "#7fb8dc"), ("#8a95a0", "#c3cad1")


def bars(rows: Sequence[ChartBar], parts: Sequence[str], title: str) -> Drawing:
    """Horizontal bars, each label above its bar, so that a narrow screen can show them."""
    longest = max((sum(row.parts) for row in rows), default=0.0) or 1.0
    # What is written at a bar's end needs its place, too.
    room = min((longest / max(sum(row.parts), 1.0) * (WIDTH - 5 - 6.6 * len(row.note)) for row in rows), default=WIDTH)
    room = min(room, WIDTH - 78)
    shapes: list[Shape] = []
    y = 14.0
    x = 0.0
    for k, name in enumerate(parts):
        shapes += [
            Rectangle(x, y - 9, 11, 11, _OWN[k]),
            Rectangle(x + 13, y - 9, 11, 11, _OTHER[k]),
            Text(x + 29, y, name, 10.5),
        ]
        x += 46 + 6.2 * len(name)
    y += 20
    for row in rows:
        shapes.append(Text(0, y, shortened(row.label, 72), 11, bold=row.own, fill=INK if row.own else SOFT))
        x = 0.0
        for k, part in enumerate(row.parts):
            wide = room * part / longest
            colour = (_OWN if row.own else _OTHER)[k]
            name = f"{row.label}: {part:g} {parts[k]}" if k < len(parts) else row.label
            shapes.append(Rectangle(x, y + 5, wide, 13, colour, name))
            x += wide
        shapes.append(Text(x + 5, y + 15.5, row.note, 11, bold=row.own, fill=INK if row.own else SOFT))
        y += 36
    return Drawing(WIDTH, y - 8, tuple(shapes), title)


@dataclass(frozen=True, slots=True)
class Span:
    """From `low` to `high` on a common scale; `limit`, if any, is marked on either side of zero."""

    label: str
    low: float
    high: float
    note: str = ""
    limit: float | None = None


def spans(rows: Sequence[Span], title: str, unit: str, log: bool = False) -> Drawing:
    """Ranges as bars between two values."""
    # A name stands above its bar, where there is room for all of it.
    left, right, top, step = 22.0, WIDTH - 14, 4.0, 36.0
    ends = [v for row in rows for v in (row.low, row.high)]
    low, high = min(ends), max(ends)
    if log:
        low, high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        marks = [float(10**k) for k in range(int(low), int(high) + 1)]
    else:
        low, high = min(low, 0.0), max(high, 0.0)
        if low == high:
            high = 1.0
        marks = ticks(low, high, 6)

    def at(value: float) -> float:
        v = math.log10(value) if log else value
        return left + (right - left) * (v - low) / ((high - low) or 1.0)

    bottom = top + step * len(rows)
    shapes: list[Shape] = []
    for mark in marks:
        shapes.append(Line(((at(mark), top), (at(mark), bottom)), FAINT))
        shapes.append(Text(at(mark), bottom + 14, readable(mark), 10, "middle", SOFT))
    if not log:
        shapes.append(Line(((at(0), top), (at(0), bottom)), SOFT))
    for k, row in enumerate(rows):
        y = top + step * k + 20
        a, b = at(row.low), at(row.high)
        shapes.append(Text(left, y - 5, shortened(row.label, LONGEST), 11))
        shapes.append(
            Rectangle(a, y, max(b - a, 2.5), 9, BLUE, f"{row.label}: {readable(row.low)} to {readable(row.high)}")
        )
        if row.note:
            inside = b + 6 + 5.6 * len(row.note) < right
            shapes.append(
                Text(
                    b + 5 if inside else right,
                    y + (8.5 if inside else -1),
                    row.note,
                    9.5,
                    "start" if inside else "end",
                    SOFT,
                )
            )
        for value in () if row.limit is None else (-row.limit, row.limit):
            if low <= value <= high:
                shapes.append(Line(((at(value), y - 4), (at(value), y + 13)), "#D55E00", 2))
    shapes.append(Text((left + right) / 2, bottom + 30, unit, 10.5, "middle", SOFT))
    return Drawing(WIDTH, bottom + 38, tuple(shapes), title)


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over the chart's x."""

    label: str
    values: tuple[float, ...]
    colour: str
    dash: tuple[float, ...] = ()
    width: float = 1.6


def curves(
    x: Sequence[float],
    rows: Sequence[Curve],
    title: str,
    across: str,
    up: str,
    *,
    size: tuple[float, float] = (320.0, 190.0),
) -> Drawing:
    """Lines over a common x."""
    wide, tall = size
    left, right, top, bottom = 46.0, wide - 8, 24.0, tall - 34
    values = [v for row in rows for v in row.values]
    low, high = min(*values, 0.0), max(*values, 0.0)
    if high - low < 1e-12:
        low, high = -1.0, 1.0
    margin = 0.06 * (high - low)
    low, high = low - margin * (low < 0), high + margin * (high > 0)

    def place(a: float, b: float) -> tuple[float, float]:
        return (
            left + (right - left) * (a - x[0]) / ((x[-1] - x[0]) or 1.0),
            bottom - (bottom - top) * (b - low) / (high - low),
        )

    name = shortened(title, LONGEST)
    shapes: list[Shape] = [Text(left, 14, name, min(11.0, (wide - left - 45) / (0.62 * max(1, len(name)))), bold=True)]
    for mark in ticks(low, high, 4):
        y = place(x[0], mark)[1]
        shapes += [
            Line(((left, y), (right, y)), SOFT if mark == 0 else FAINT),
            Text(left - 5, y + 3.5, readable(mark), 9.5, "end", SOFT),
        ]
    for mark in ticks(x[0], x[-1], 4):
        shapes.append(Text(place(mark, low)[0], bottom + 14, readable(mark), 9.5, "middle", SOFT))
    for row in rows:
        points = tuple(place(a, b) for a, b in zip(x, row.values))
        shapes.append(Line(points, row.colour, row.width, row.dash))
    shapes.append(Text((left + right) / 2, tall - 6, across, 9.5, "middle", SOFT))
    shapes.append(Text(right, 14, up, 9.5, "end", SOFT))
    return Drawing(wide, tall, tuple(shapes), f"{title}: {', '.join(row.label for row in rows)} over {across}, {up}")


@dataclass(frozen=True, slots=True)
class Trail:
    """Places (across, up), all above zero, joined in their order; what is told of each where it is pointed at."""

    label: str
    places: tuple[tuple[float, float], ...]
    told: tuple[str, ...]
    colour: str


def trails(
    rows: Sequence[Trail],
    title: str,
    across: str,
    up: str,
    line: tuple[float, str] | None = None,
    *,
    size: tuple[float, float] = (WIDTH, 290.0),
) -> Drawing:
    """Places over two logarithmic scales, and an upright line at one value, with its name."""
    wide, tall = size
    left, right, top, bottom = 52.0, wide - 12, 40.0, tall - 34
    x_ends = _decades([x for row in rows for x, _ in row.places] + ([line[0]] if line else []))
    y_ends = _decades([y for row in rows for _, y in row.places])

    def at(ends: tuple[float, float], value: float) -> float:
        return math.log(value / ends[0]) / math.log(ends[1] / ends[0])

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * at(x_ends, x), bottom - (bottom - top) * at(y_ends, y)

    shapes: list[Shape] = []
    for mark in _round_numbers(*x_ends):
        x, _ = place(mark, y_ends[0])
        shapes += [Line(((x, top), (x, bottom)), FAINT), Text(x, bottom + 14, f"{mark:g}", 9.5, "middle", SOFT)]
    for mark in _round_numbers(*y_ends):
        _, y = place(x_ends[0], mark)
        shapes += [Line(((left, y), (right, y)), FAINT), Text(left - 5, y + 3.5, f"{mark:g}", 9.5, "end", SOFT)]
    if line is not None:
        x, _ = place(line[0], y_ends[0])
        shapes.append(Line(((x, top), (x, bottom)), INK, 1.4, (5.0, 3.0)))
        inside = x + 5 + 5.6 * len(line[1]) < right
        shapes.append(Text(x + (4 if inside else -4), top + 10, line[1], 9.5, "start" if inside else "end"))
    begin = 0.0
    for row in rows:
        shapes += [Rectangle(begin, 5, 9, 9, row.colour), Text(begin + 14, 13.5, row.label, 10.5)]
        begin += 32 + 6.2 * len(row.label)
        places = [place(x, y) for x, y in row.places]
        if len(places) > 1:
            shapes.append(Line(tuple(places), row.colour, 1.6))
        shapes += [Rectangle(x - 3.5, y - 3.5, 7, 7, row.colour, told) for (x, y), told in zip(places, row.told)]
    shapes += [Text((left + right) / 2, tall - 4, across, 10, "middle", SOFT), Text(left, 31, up, 10, fill=SOFT)]
    return Drawing(wide, tall, tuple(shapes), title)


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Ends of a logarithmic scale around values, a little apart from them and from each other."""
    low, high = min(values) / 1.25, max(values) * 1.25
    middle = math.sqrt(low * high)
    return min(low, middle / 2), max(high, 2 * middle)


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten from `low` to `high`; only powers of ten where these are many.

    >>> _round_numbers(30, 600), _round_numbers(0.002, 120)
    ([50.0, 100.0, 200.0, 500.0], [0.01, 0.1, 1.0, 10.0, 100.0])
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 3000 else (1,)
    return [v for k in decades for step in steps if low <= (v := float(f"{step}e{k}")) <= high]


def key_of(rows: Sequence[Curve], wide: float = WIDTH) -> Drawing:
    """The curves' names, once for several charts."""
    shapes: list[Shape] = []
    x = 0.0
    for row in rows:
        shapes.append(Line(((x, 9), (x + 26, 9)), row.colour, row.width + 0.4, row.dash))
        shapes.append(Text(x + 31, 13, row.label, 11))
        x += 48 + 6.3 * len(row.label)
    return Drawing(max(wide, x), 18, tuple(shapes), "key")


def matrix(values: Sequence[Sequence[float | None]], names: Sequence[str], title: str) -> Drawing:
    """A square of numbers, darker where they are larger; nothing is drawn for None."""
    n = len(names)
    longest = 3 + max(len(shortened(name, LONGEST)) for name in names)
    size = min(10.5, 0.45 * WIDTH / (0.6 * longest))
    left, top = 14 + 0.6 * size * longest, 22.0
    cell = min(52.0, (WIDTH - left) / n)
    most = max((v for row in values for v in row if v is not None), default=0.0) or 1.0
    shapes: list[Shape] = []
    for k, name in enumerate(names):
        shapes.append(Text(left + cell * (k + 0.5), top - 7, str(k + 1), 10.5, "middle", SOFT))
        row_name = f"{k + 1} {shortened(name, LONGEST)}"
        shapes.append(Text(left - 7, top + 26 * (k + 0.5) + 4, row_name, size, "end", SOFT))
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            x, y = left + cell * j, top + 26 * i
            if value is None:
                shapes.append(Rectangle(x + 1, y + 1, cell - 2, 24, GROUND))
                continue
            depth = min(1.0, max(0.0, 1 + math.log10(max(value, 1e-9) / most) / 3))
            shapes.append(
                Rectangle(x + 1, y + 1, cell - 2, 24, _blend(depth), f"{names[i]}, {names[j]}: {readable(value)}")
            )
            text = f"{value:.2g}" if value >= 0.001 else "0" if value == 0 else "<.001"
            shapes.append(
                Text(
                    x + cell / 2,
                    y + 17,
                    text,
                    10 if cell > 34 else 8,
                    "middle",
                    "#ffffff" if depth > 0.6 else ON_COLOUR,
                )
            )
    return Drawing(left + cell * n + 4, top + 26 * n + 6, tuple(shapes), title)


def _blend(depth: float) -> str:
    """White to blue."""
    ends = (240, 246, 250), (0, 84, 140)
    return "#" + "".join(f"{round(a + (b - a) * depth):02x}" for a, b in zip(*ends))
