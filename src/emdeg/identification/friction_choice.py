"""Which terms of friction a log can tell: those that every joint has, and those that earn their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.identification.linear_model import (
    BodyRows,
    FrictionColumn,
    LinearModel,
    NoiseModel,
    noise_by_size,
    noise_model,
    solve,
    stretches,
    triangle,
    white_residuals,
    white_rows,
)
from emdeg.identification.samples import LogSamples

FrictionChoice = Literal["auto", "stribeck", "coulomb", "none"]
"""Which terms may be found: every one that earns its place, Stribeck's peak whether or not, Coulomb's law, none."""
EXCERPT = 5_000
"""Samples by which terms are chosen."""
EARNED = 15.0
"""A term stays if it lowers the sum of squares of white rows by so many times their variance."""
SAME = 1e-6
"""Of a column's square, left behind the others: below it says nothing new."""


def choose_friction(
    bodies: BodyRows, base: int, logs: Sequence[LogSamples], prior: Array, friction: FrictionChoice
) -> tuple[tuple[FrictionColumn, ...], dict[int, float], Sequence[LogSamples]]:
    """(the columns of friction, the Stribeck velocity of each joint that has one, of its fastest speed, the samples).

    The samples come back with the loads that rub, as far as they are known by then.
    """
    if friction == "none":
        return (), {}, logs
    columns, levels, always = _candidates(logs, friction)
    if all(always):
        return tuple(columns), {}, logs
    some = [_excerpt(one, EXCERPT // len(logs)) for one in logs]
    model = LinearModel(bodies, base, tuple(columns))
    plain = [*range(base), *(base + c for c, has in enumerate(always) if has)]
    start = np.concatenate([prior, np.zeros(len(columns))])
    noise, chosen, theta = [noise_by_size(one) for one in some], plain, start
    for turn in range(3):
        usable = [
            [np.isfinite(w).astype(float) for _, w in white_residuals(one, one.tau, n)] for one, n in zip(some, noise)
        ]
        blocks = (block for one, n, w in zip(some, noise, usable) for block in white_rows(model, one, n, w))
        R, rows = triangle(blocks, model.size)
        least = 0.0 if friction == "stribeck" else EARNED
        joints = [None if level is None else column.joint for level, column in zip(levels, columns)]
        if turn:  # the first fit is for the noise and the loads
            chosen = _forward(R, rows, plain, [None] * base + joints, least)
        theta = np.zeros(model.size)
        theta[chosen] = solve(R, rows, start[chosen], chosen).theta
        some = [model.with_loads(theta, one) for one in some]
        noise = [noise_model(one, one.tau - model.predicted(theta, one)) for one in some]
    found = [c - base for c in chosen if c >= base]
    with_level = {columns[c].joint: level for c in found if (level := levels[c]) is not None}
    return tuple(columns[c] for c in found), with_level, [model.with_loads(theta, one) for one in logs]


TESTED = ("stribeck", "viscous_asymmetry", "offset")
"""Terms whose use is tested: the peak at rest, and rates and Coulomb friction that differ with the direction."""
TEST_ROWS = 20_000
"""Samples by which they are."""


@dataclass(frozen=True)
class TermTest(Shown):
    """Whether a term of a joint's friction explains more than chance would (F-test)."""

    joint: str
    term: str
    used: bool
    """Whether the fit has it: then it was taken out for the test, else put in."""
    F: float
    probability: float
    """That chance explains as much."""


def term_tests(
    model: LinearModel, theta: Array, logs: Sequence[LogSamples], noise: Sequence[NoiseModel], names: Sequence[str]
) -> tuple[TermTest, ...]:
    """Of every joint: what Stribeck's peak and asymmetry add to a fit, or would; `names` are the joints'."""
    from scipy.stats import f as fisher

    some = [model.with_loads(theta, _excerpt(one, TEST_ROWS // len(logs))) for one in logs]
    has = {(c.joint, c.name): k for k, c in enumerate(model.friction, model.base)}
    others = [c for c in _candidates(some, "auto")[0] if c.name in TESTED and (c.joint, c.name) not in has]
    wide = replace(model, friction=(*model.friction, *others))
    usable = [
        [np.isfinite(w).astype(float) for _, w in white_residuals(one, one.tau, n)] for one, n in zip(some, noise)
    ]
    blocks = (block for one, n, w in zip(some, noise, usable) for block in white_rows(wide, one, n, w))
    R, rows = triangle(blocks, wide.size)
    own = list(range(model.size))
    left, freedom = _left(R, own), max(1, rows - model.size)
    found = []
    for j, name in enumerate(names):
        for term in TESTED:
            numbers = 2 if term == "stribeck" else 1  # a height and a velocity
            if (at := has.get((j, term))) is not None:
                gain = _left(R, [k for k in own if k != at]) - left
            else:
                ways = [model.size + k for k, c in enumerate(others) if (c.joint, c.name) == (j, term)]
                if not ways:
                    continue  # the joint did not move
                gain = left - min(_left(R, [*own, k]) for k in ways)
            F = max(0.0, gain) / numbers / max(left / freedom, 1e-300)
            found.append(TermTest(name, term, at is not None, F, float(fisher.sf(F, numbers, freedom))))
    return tuple(found)


def _left(R: Array, chosen: Sequence[int]) -> float:
    """The sum of squares that some columns leave of the last."""
    y = R[:, -1]
    Q, triangle_ = np.linalg.qr(R[:, chosen])
    shown = np.abs(np.diag(triangle_)) > 1e-12 * max(float(np.abs(triangle_).max(initial=0.0)), 1e-300)
    rest = y - Q[:, shown] @ (Q[:, shown].T @ y)
    return float(rest @ rest)


def _candidates(
    logs: Sequence[LogSamples], friction: FrictionChoice
) -> tuple[list[FrictionColumn], list[float | None], list[bool]]:
    """(columns, the Stribeck level of each or None, whether every joint has it); at rest there are offsets alone."""
    columns: list[FrictionColumn] = []
    levels: list[float | None] = []
    always: list[bool] = []
    for j, terms in enumerate(logs[0].terms):
        still = all(one.still[j] for one in logs)
        for k, term in enumerate(terms):
            may = term.always or friction == "auto" or (friction == "stribeck" and term.level is not None)
            if may and not (still and term.name != "offset"):
                columns.append(FrictionColumn(j, term.name, np.eye(len(terms))[k]))
                levels.append(term.level)
                always.append(term.always)
    return columns, levels, always


def _forward(R: Array, rows: int, plain: Sequence[int], peak_of: Sequence[int | None], least: float) -> list[int]:
    """The plain columns, and of the others one after the other what explains most, while it earns its place.

    `peak_of` says which joint a column is Stribeck's peak of: each has one at most.
    """
    chosen = list(plain)
    size = R.shape[1] - 1
    left = set(range(size)) - set(chosen)
    while left:
        Q, _ = np.linalg.qr(R[:, chosen])
        rest = R - Q @ (Q.T @ R)
        y = rest[:, size]
        gain = least * float(y @ y) / max(1, rows - len(chosen))
        best = -1
        for c in left:
            own = float(rest[:, c] @ rest[:, c])
            if own > SAME * float(R[:, c] @ R[:, c]) and (one := float(rest[:, c] @ y) ** 2 / own) > gain:
                best, gain = c, one
        if best < 0:
            break
        chosen.append(best)
        left.discard(best)
        if (joint := peak_of[best]) is not None:
            left -= {c for c in left if peak_of[c] == joint}
    return chosen


def _excerpt(one: LogSamples, most: int) -> LogSamples:
    """About so many samples, in ten stretches spread over the log."""
    if len(one) <= most:
        return one
    long = max(1, most // 10)
    places = np.linspace(0, len(one) - long, 10).astype(int)
    rows, pieces = [], []
    for place in places:
        end = min([last for first, last in stretches(one) if first <= place < last] + [place + long])
        if end - place > 50:
            pieces.append(sum(map(len, rows)))
            rows.append(np.arange(place, end))
    if not rows:
        return one
    at = np.concatenate(rows)
    arrays = {name: getattr(one, name)[at] for name in ("t", "q", "qd", "qdd", "tau", "friction", "used")}
    return replace(one, **arrays, pieces=tuple(pieces))
