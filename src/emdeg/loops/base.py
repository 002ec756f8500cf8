"""Which combinations of inertial parameters the efforts of a mechanism with closed loops cannot tell from nothing.

A closing joint does not know on which of its two bodies a mass at its centre sits, nor, if it turns, a thin rod along
its axis, nor, if it slides, any tensor of inertia; a rod does not know whether a mass at its end is its own or its
neighbour's. That, and what the opened tree does not know, is exact for numbers and symbols. A special geometry may
leave more undecided (a parallelogram's coupler never turns): this shows as a rank in doubles at closed states, and its
coefficients are taken for the simple fractions they are near to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from emdeg.algebra import Array, Floats, PrimeField, Quotient, TrigAlgebra
from emdeg.algebra.linear import Matrix, Row, product, transposed
from emdeg.dynamics.arrays import stacked
from emdeg.dynamics.mechanism import Position
from emdeg.dynamics.parameters.regressor import (
    CHECKS,
    COLUMNS,
    DRIVE,
    FALSE_COMBINATION,
    LEAST,
    WIDTH,
    body_of,
    parameters_of,
)
from emdeg.dynamics.parameters.regressor import null_combinations as of_tree
from emdeg.dynamics.spatial import Scalar, Transform
from emdeg.errors import ClosureError
from emdeg.loops import parameters, reduction
from emdeg.loops.analytic_closure import Plan, root_count, solve
from emdeg.loops.closing import closing_of, positions
from emdeg.loops.kind import numeric_loop_state
from emdeg.loops.linkage import Anchor, Linkage, linkage_of, loops_of
from emdeg.loops.newton import positions_of
from emdeg.loops.rational import DRAWS, field_coordinates
from emdeg.loops.singularities import scaled_jacobian
from emdeg.robot import BASE, Robot, substitute

_AT = {name: c for c, name in enumerate(COLUMNS)}
PASSED = {
    "spherical": ({"M": 1},),
    "universal": ({"M": 1},),
    "revolute": LEAST["revolute"],
    "prismatic": LEAST["prismatic"],
    "fixed": tuple({name: 1} for name in COLUMNS[:DRIVE]),
}
"""What each kind of closing joint cannot assign to one of its two bodies, in its own frame."""
NOTHING, GAP = 1e-8, 1e3
"""Singular values, every column scaled to one, below this share of the largest and after such a gap are rounding."""
NOISE = 1e-12
"""A column that is smaller than this share of the largest has no effect but rounding."""
WIDEST = 1.0
"""How far from the start [rad, m] closed states are looked for; most of them are nearer."""
PIVOT = 1e-7
"""An entry of a null vector of length one below this is zero with rounding."""
SIMPLE = 10**6
"""The largest denominator of a coefficient that is taken for a fraction."""
MOST_ROOTS = 6
"""Square roots up to which closed states are looked for modulo a prime: half of the points fail at each."""


def null_combinations(shape: Robot, constants: TrigAlgebra, drives: bool = True) -> list[Row]:
    """Parameter vectors without effect on the opened tree, and those without effect because a loop is closed."""
    return [*of_tree(shape.open_tree, constants, drives), *closing_combinations(shape, constants, drives)]


def closing_combinations(shape: Robot, constants: TrigAlgebra, drives: bool = True) -> list[Row]:
    """Parameter vectors without effect because a loop is closed; body n + k is the rod k."""
    link = linkage_of(shape, constants)
    one = Quotient(constants.one)
    found: list[Row] = []
    for k, bar in enumerate(link.bars, start=link.n):
        active = {_AT[name] for name in ("ZZ", "MX", "M")}
        idle = [c for c in range(WIDTH) if c not in active and (drives or c != DRIVE)]
        found += [{WIDTH * k + c: one} for c in idle]
        l = Quotient(bar.length)  # type: ignore[arg-type]  # a formula, as the algebra's scalars are
        at_second = {_AT["M"]: one, _AT["MX"]: l, _AT["ZZ"]: l * l}
        for own, end in (({_AT["M"]: one}, bar.first), (at_second, bar.second)):
            found.append({WIDTH * k + c: value for c, value in own.items()} | _less(_carried({"M": 1}, end, constants)))
    for meeting in link.meetings:
        for unit in PASSED[meeting.kind]:
            row = _carried(unit, meeting.first, constants)
            for c, value in _less(_carried(unit, meeting.second, constants)).items():
                row[c] = row[c] + value if c in row else value
            found.append({c: value for c, value in row.items() if value})
    return [row for row in found if row]


def _carried(unit: dict[str, int], anchor: Anchor, constants: TrigAlgebra) -> Row:
    """Parameters stated in an anchor's frame as those of its link; on the base they have no effect."""
    if anchor.link == BASE:
        return {}
    zero = constants.zero
    body = body_of([zero + unit.get(name, 0) for name in COLUMNS[:DRIVE]])
    moved = parameters_of(body.to_parent(Transform(anchor.R, anchor.p)))
    return {WIDTH * anchor.link + c: Quotient(value) for c, value in enumerate(moved) if value}


def _less(row: Row) -> Row:
    return {c: -value for c, value in row.items()}


def further_combinations(
    shape: Robot, kept: Sequence[int], order: Sequence[Sequence[int]], constants: TrigAlgebra
) -> list[Row]:
    """More vectors without effect among the columns `kept`, where the geometry is special; none if it has symbols.

    `order`: groups of columns, those to be expressed by others first.
    """
    if shape.symbols:
        return []
    Y = np.concatenate([Y[:, list(kept)] for Y in _regressors(shape, 2 * len(kept), seed=1)])
    size = np.linalg.norm(Y, axis=0)
    Y = np.where(size > NOISE * size.max(), Y, 0.0)
    scale = np.where(size > NOISE * size.max(), size, 1.0)
    _, values, Vt = np.linalg.svd(Y / scale, full_matrices=True)
    falls = (values[1:] < NOTHING * values[0]) & (values[1:] * GAP < values[:-1])
    rank = 1 + int(np.argmax(falls)) if falls.any() else len(kept)
    found: list[Row] = []
    for row in _echelon(Vt[rank:], [kept.index(c) for group in order for c in group if c in kept]):
        solved = int(np.flatnonzero(row == 1.0)[0])
        coefficients = {kept[c]: _simple(x * scale[solved] / scale[c]) for c, x in enumerate(row) if x}
        found.append({c: Quotient(constants.number(x)) for c, x in coefficients.items() if x})
    return found


def _echelon(null: Array, order: Sequence[int]) -> Array:
    """The rows solved for as many columns as they can be, the first in `order` first: one there, zero in the others."""
    rows, solved = null.copy(), 0
    for c in order:
        if solved == len(rows):
            break
        pivot = solved + int(np.argmax(np.abs(rows[solved:, c])))
        if abs(rows[pivot, c]) < PIVOT:
            rows[solved:, c] = 0.0
            continue
        rows[[solved, pivot]] = rows[[pivot, solved]]
        rows[solved] /= rows[solved, c]
        others = np.arange(len(rows)) != solved
        rows[others] -= np.outer(rows[others, c], rows[solved])
        rows[others, c], rows[solved, c] = 0.0, 1.0
        solved += 1
    return np.where(np.abs(rows) < PIVOT, 0.0, rows)


def _simple(value: float) -> Fraction:
    """The simple fraction that a value is near to; the value itself where there is none."""
    near = Fraction(value).limit_denominator(SIMPLE)
    return near if abs(value - near) < 1e-9 * max(1.0, abs(value)) else Fraction(value)


def _regressors(shape: Robot, rows: int, seed: int) -> Iterator[Array]:
    """The coordinates' efforts per unit of every parameter at random closed states, `rows` rows together."""
    found, rng = closing_of(shape), np.random.default_rng(seed)
    link = found.link
    n, missed, side = len(link.coordinates), 0, _side(link, positions_of(link, found.start))
    while rows > 0:
        # Wide and near states in one set: narrow ones alone hardly tell smooth functions apart.
        reach = WIDEST * 10.0 ** rng.uniform(-1 - missed / 100, 0)
        q, qd, qdd = (size * rng.uniform(-1, 1, n) for size in (reach, 2.0, 4.0))
        try:
            given = {"q": found.home + q, "qd": qd, "qdd": qdd}
            s = numeric_loop_state(found, positions(found, given["q"]), given)
            move = s.motion(s.qd)
            if _side(link, s.position) != side:
                raise ClosureError("", "beyond a singularity, where another special geometry may hold")
        except ClosureError:  # out of reach, or singular: nearer to the start
            missed += 1
            continue
        yield stacked(_generalized(s.link, s.position, move, s.qd, s.qdd), ())
        rows -= n


def _side(link: Linkage, position: Sequence[Position]) -> bool:
    """On which side of the singularities where ways to close the loops meet."""
    return bool(np.linalg.det(scaled_jacobian(link, position)[..., list(link.dependent)]) > 0)


def _generalized(
    link: Linkage, position: Sequence[Position], move: reduction.TreeRates, qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Matrix:
    """The coordinates' efforts per unit of every parameter."""
    Y = parameters.regressor(link, position, move.qd, reduction.accelerations(link, move, qd, qdd))
    return product(transposed(move.W), Y, link.tree.zero)


def check_null(shape: Robot, rows: Sequence[Row], special: bool = False) -> None:
    """Nothing; ArithmeticError if a combination said to have no effect has one at closed states.

    Modulo a prime, at a random geometry, where the loops close with few roots; elsewhere in doubles, and so those of a
    `special` geometry, too: modulo a prime a parallelogram is as likely to be found crossed.
    """
    found = closing_of(shape)
    plan = found.plan
    if plan is None or root_count(plan) > MOST_ROOTS or special:
        _check_in_doubles(shape, rows)
        return
    for checked, (field, Y) in enumerate(_residues(shape, plan, found.mobility.rows), start=1):
        for row in rows:
            units = {column: value.written(field) for column, value in row.items()}
            if any(sum((f[c] * u for c, u in units.items()), start=field.number(0)) for f in Y):
                raise ArithmeticError(FALSE_COMBINATION)
        if checked == CHECKS:
            return
    raise ArithmeticError("no closed state was found modulo the prime; please report this")


def _residues(shape: Robot, plan: Plan, rows: tuple[int, ...]) -> Iterator[tuple[PrimeField, Matrix]]:
    """(field, the coordinates' efforts per unit of every parameter) at random closed states of a random geometry."""
    for _ in range(DRAWS << MOST_ROOTS):
        field = PrimeField.fresh()
        link = linkage_of(shape, field, rows)
        qd, qdd = [field.rate(k) for k in link.coordinates], [field.acceleration(k) for k in link.coordinates]
        try:
            known = field_coordinates(link, field)
            position = solve(link, plan, known, lambda value, _, field=field: field.sqrt(value))
            yield field, _generalized(link, position, reduction.tree_rates(link, position, qd), qd, qdd)
        except ZeroDivisionError:
            continue


def _check_in_doubles(shape: Robot, rows: Sequence[Row]) -> None:
    values = dict(loops_of(shape).values)
    numbers = Floats({name: float(value) for name, value in values.items()})
    numbered = substitute(shape, {name: value for name, value in values.items() if name in shape.symbols})
    vectors = np.zeros((WIDTH * len(shape.bodies), len(rows)))
    for k, row in enumerate(rows):
        for column, value in row.items():
            vectors[column, k] = value.written(numbers)
    for Y in _regressors(numbered, 8 * len(numbered.coordinates), seed=2):
        if np.any(np.abs(Y @ vectors) > 1e-7 * (np.abs(Y) @ np.abs(vectors) + 1e-3)):
            raise ArithmeticError(FALSE_COMBINATION)
