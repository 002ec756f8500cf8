"""Charts: bars, ranges, curves, paths over two scales and a matrix of numbers for pages; axes and lines for files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from emdeg.documents.document import Figure, Figures
from emdeg.documents.drawing import (
    BLUE,
    COLOURS,
    FAINT,
    GROUND,
    INK,
    ORANGE,
    SOFT,
    STYLES,
    Drawing,
    canvas,
    name_text,
    over,
    shortened,
    tip,
)

WIDTH = 470.0
LONGEST = 70
"""Characters of a name up to which a chart shows all of it."""
ON_COLOUR = "#16202b"
"""Text on a coloured cell, which keeps its colour on a dark page, too."""
_OWN, _OTHER = (BLUE, "#7fb8dc"), ("#8a95a0", "#c3cad1")


def readable(value: float, _: object = None) -> str:
    """Three significant digits, never with more than four zeros in front."""
    return "0" if value == 0 else f"{value:.3g}"


def _text(
    sheet: Any, x: float, y: float, text: str, size: float, anchor: str = "left", fill: str = INK, bold: bool = False
) -> None:
    weight = "bold" if bold else "normal"
    sheet.text(x, y, name_text(text), fontsize=size, ha=anchor, color=fill, fontweight=weight, zorder=3)


def _bar(sheet: Any, x: float, y: float, wide: float, tall: float, fill: str, title: str) -> None:
    """A rectangle that shows its title when pointed at."""
    from matplotlib.patches import Rectangle

    tip(sheet.add_patch(Rectangle((x, y), wide, tall, facecolor=fill, linewidth=0, zorder=2)), title)


def _dashes(dash: Sequence[float], width: float) -> Any:
    return (0, tuple(part / width for part in dash)) if dash else "solid"


def _ticks(axis: Any, about: int, log: bool = False) -> None:
    """Readable round numbers, about so many."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=99) if log else MaxNLocator(about + 1, steps=[1, 2, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(readable)


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar of several parts; `note` stands at its end."""

    label: str
    parts: tuple[float, ...]
    note: str = ""
    own: bool = True
    """Whether it is ours: then it is drawn in full colour."""


def bars(rows: Sequence[ChartBar], parts: Sequence[str], title: str) -> Drawing:
    """Horizontal bars, each label above its bar, so that a narrow screen can show them."""
    longest = max((sum(row.parts) for row in rows), default=0.0) or 1.0
    # What is written at a bar's end needs its place, too.
    room = min((longest / max(sum(row.parts), 1.0) * (WIDTH - 5 - 6.6 * len(row.note)) for row in rows), default=WIDTH)
    scale = min(room, WIDTH - 78) / longest
    drawing, sheet = canvas(WIDTH, 26.0 + 36 * len(rows), title)
    x = 0.0
    for k, name in enumerate(parts):
        _bar(sheet, x, 5, 11, 11, _OWN[k], name)
        _bar(sheet, x + 13, 5, 11, 11, _OTHER[k], name)
        _text(sheet, x + 29, 14, name, 10.5)
        x += 46 + 6.2 * len(name)
    for k, row in enumerate(rows):
        y, x, fill = 34 + 36 * k, 0.0, INK if row.own else SOFT
        _text(sheet, 0, y, shortened(row.label, 72), 11, fill=fill, bold=row.own)
        for part, colour, name in zip(row.parts, _OWN if row.own else _OTHER, parts):
            _bar(sheet, x, y + 5, scale * part, 13, colour, f"{row.label}: {part:g} {name}")
            x += scale * part
        _text(sheet, x + 5, y + 15.5, row.note, 11, fill=fill, bold=row.own)
    return drawing


@dataclass(frozen=True, slots=True)
class Span:
    """From `low` to `high` on a common scale; `limit`, if any, is marked on either side of zero."""

    label: str
    low: float
    high: float
    note: str = ""
    limit: float | None = None


def spans(rows: Sequence[Span], title: str, unit: str, log: bool = False) -> Drawing:
    """Ranges as bars between two values, each name above its bar, where there is room for all of it."""
    left, right, top, step = 22.0, WIDTH - 14, 4.0, 36.0
    drawing, axes = canvas(WIDTH, top + step * len(rows) + 38, title, (left, 14.0, top, 38.0))
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    if log:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        high = high if high > low else 10 * low
    else:
        low, high = min(low, 0.0), max(high, 0.0)
        high = high if high > low else 1.0
        axes.axvline(0, color=SOFT, linewidth=1)
    axes.set(xlim=(low, high), ylim=(step * len(rows), 0), xscale="log" if log else "linear")
    _ticks(axes.xaxis, 6, log)
    axes.set_yticks([])
    axes.grid(axis="x", color=FAINT, linewidth=1)
    axes.set_xlabel(unit, fontsize=10.5, color=SOFT)

    def at(value: float) -> float:
        """Pixels from the left."""
        share = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return left + (right - left) * share

    sheet = over(drawing)
    for k, row in enumerate(rows):
        y, begin = top + step * k + 20, at(row.low)
        width = max(at(row.high) - begin, 2.5)
        _text(sheet, left, y - 5, shortened(row.label, LONGEST), 11)
        _bar(sheet, begin, y, width, 9, BLUE, f"{row.label}: {readable(row.low)} to {readable(row.high)}")
        inside = begin + width + 6 + 5.6 * len(row.note) < right
        place = (begin + width + 5, y + 8.5) if inside else (right, y - 1)
        _text(sheet, *place, row.note, 9.5, "left" if inside else "right", SOFT)
        for value in () if row.limit is None else (-row.limit, row.limit):
            if low <= value <= high:
                sheet.plot([at(value)] * 2, [y - 4, y + 13], color=ORANGE, linewidth=2)
    return drawing


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over the chart's x."""

    label: str
    values: Any
    """Numbers; for several charts at once an array (numbers, charts)."""
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
    words = f"{title}: {', '.join(row.label for row in rows)} over {across}, {up}"
    drawing, axes = canvas(*size, words, (46.0, 8.0, 24.0, 34.0))
    values = [v for row in rows for v in row.values]
    low, high = min(*values, 0.0), max(*values, 0.0)
    if high - low < 1e-12:
        low, high = -1.0, 1.0
    margin = 0.06 * (high - low)
    axes.set(xlim=(x[0], x[-1]) if x[-1] > x[0] else None, ylim=(low - margin * (low < 0), high + margin * (high > 0)))
    _ticks(axes.xaxis, 4)
    _ticks(axes.yaxis, 4)
    axes.grid(axis="y", color=FAINT, linewidth=1)
    axes.axhline(0, color=SOFT, linewidth=1)
    for row in rows:
        style = _dashes(row.dash, row.width)
        axes.plot(x[: len(row.values)], row.values, color=row.colour, linewidth=row.width, linestyle=style)
    name = shortened(title, LONGEST)
    size = min(11.0, (axes.bbox.width * 72 / axes.figure.dpi - 45) / (0.62 * max(1, len(name))))
    axes.set_title(name_text(name), loc="left", fontsize=size, fontweight="bold", color=INK)
    axes.set_title(up, loc="right", fontsize=9.5, color=SOFT)
    axes.set_xlabel(across, fontsize=9.5, color=SOFT)
    return drawing


@dataclass(frozen=True, slots=True)
class Trail:
    """Places (across, up), all above zero, joined in their order; what is told of each where it is pointed at."""

    label: str
    places: tuple[tuple[float, float], ...]
    told: tuple[str, ...]
    colour: str


def trails(rows: Sequence[Trail], title: str, across: str, up: str, line: tuple[float, str] | None = None) -> Drawing:
    """Places over two logarithmic scales, and an upright line at one value, with its name."""
    drawing, axes = canvas(WIDTH, 290.0, title, (52.0, 12.0, 40.0, 34.0))
    x_ends = _decades([x for row in rows for x, _ in row.places] + ([line[0]] if line else []))
    y_ends = _decades([y for row in rows for _, y in row.places])
    axes.set(xscale="log", yscale="log", xlim=x_ends, ylim=y_ends)
    axes.minorticks_off()
    for axis, ends in ((axes.xaxis, x_ends), (axes.yaxis, y_ends)):
        axis.set_ticks(marks := _round_numbers(*ends), [f"{mark:g}" for mark in marks])
    axes.grid(color=FAINT, linewidth=1)
    axes.set_xlabel(across, fontsize=10, color=SOFT)
    axes.set_title(up, loc="left", fontsize=10, color=SOFT)
    sheet = over(drawing)

    def pixels(x: float, y: float) -> tuple[float, float]:
        return tuple(sheet.transData.inverted().transform(axes.transData.transform((x, y))))

    if line is not None:
        axes.axvline(line[0], color=INK, linewidth=1.4, linestyle=_dashes((5.0, 3.0), 1.4))
        x, _ = pixels(line[0], y_ends[0])
        inside = x + 5 + 5.6 * len(line[1]) < WIDTH - 12
        _text(sheet, x + (4 if inside else -4), 50, line[1], 9.5, "left" if inside else "right")
    begin = 0.0
    for row in rows:
        _bar(sheet, begin, 5, 9, 9, row.colour, row.label)
        _text(sheet, begin + 14, 13.5, row.label, 10.5)
        begin += 32 + 6.2 * len(row.label)
        axes.plot(*zip(*row.places), color=row.colour, linewidth=1.6)
        for place, told in zip(row.places, row.told):
            x, y = pixels(*place)
            _bar(sheet, x - 3.5, y - 3.5, 7, 7, row.colour, told)
    return drawing


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


def key_of(rows: Sequence[Curve]) -> Drawing:
    """The curves' names, once for several charts."""
    begin = 0.0
    drawing, sheet = canvas(max(WIDTH, sum(48 + 6.3 * len(row.label) for row in rows)), 18, "key")
    for row in rows:
        width = row.width + 0.4
        sheet.plot([begin, begin + 26], [9, 9], color=row.colour, linewidth=width, linestyle=_dashes(row.dash, width))
        _text(sheet, begin + 31, 13, row.label, 11)
        begin += 48 + 6.3 * len(row.label)
    return drawing


def joint_curves(
    stem: str, t: Sequence[float], joints: Sequence[tuple[str, str]], series: Sequence[Curve], caption: str = ""
) -> list[Figures]:
    """A chart for each joint (name, unit) at times `t` [s]; the values of `series` are (times, joints).

    Several curves have their key above the charts.
    """
    drawn = []
    for k, (name, unit) in enumerate(joints):
        rows = [replace(one, values=tuple(map(float, one.values[:, k]))) for one in series]
        drawn.append(Figure(f"{stem}{k + 1}", curves(t, rows, name, "time [s]", unit)))
    key = [Figures((Figure(f"{stem}_key", key_of(series)),))] if len(series) > 1 else []
    return [*key, Figures(tuple(drawn), caption)]


def matrix(values: Sequence[Sequence[float | None]], names: Sequence[str], title: str) -> Drawing:
    """A square of numbers, darker where they are larger; nothing is drawn for None."""
    n = len(names)
    longest = 3 + max(len(shortened(name, LONGEST)) for name in names)
    size = min(10.5, 0.45 * WIDTH / (0.6 * longest))
    left, top = 14 + 0.6 * size * longest, 22.0
    cell = min(52.0, (WIDTH - left) / n)
    most = max((v for row in values for v in row if v is not None), default=0.0) or 1.0
    drawing, sheet = canvas(left + cell * n + 4, top + 26 * n + 6, title)
    for k, name in enumerate(names):
        _text(sheet, left + cell * (k + 0.5), top - 7, str(k + 1), 10.5, "center", SOFT)
        _text(sheet, left - 7, top + 26 * (k + 0.5) + 4, f"{k + 1} {shortened(name, LONGEST)}", size, "right", SOFT)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            x, y = left + cell * j, top + 26 * i
            if value is None:
                _bar(sheet, x + 1, y + 1, cell - 2, 24, GROUND, "")
                continue
            depth = min(1.0, max(0.0, 1 + math.log10(max(value, 1e-9) / most) / 3))
            _bar(sheet, x + 1, y + 1, cell - 2, 24, _blend(depth), f"{names[i]}, {names[j]}: {readable(value)}")
            text = f"{value:.2g}" if value >= 0.001 else "0" if value == 0 else "<.001"
            fill = "#ffffff" if depth > 0.6 else ON_COLOUR
            _text(sheet, x + cell / 2, y + 17, text, 10 if cell > 34 else 8, "center", fill)
    return drawing


def _blend(depth: float) -> str:
    """White to blue."""
    ends = (240, 246, 250), (0, 84, 140)
    return "#" + "".join(f"{round(a + (b - a) * depth):02x}" for a, b in zip(*ends))


def line_style(k: int) -> dict[str, object]:
    """The k-th line's color and dash, for figures that are files."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)], "linewidth": 1.6}
