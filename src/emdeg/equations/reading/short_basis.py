"""The choice of lumped constants: a basis of the space that a model's coefficients span, such that the model is short.

Every entry of a model is a sum of (product of parameters) * (function of the configuration). The coefficient vectors
of its trigonometric terms span a space; any basis K of it writes every entry as sum K_i psi_i, uniquely, and no
smaller set of constants can. Among the bases this module picks one with few terms in the psi and short formulas K:

1. reduced row echelon form with the parameters ordered by how simple their functions are, so that K_i holds the
   i-th pivot parameter and no other pivot, and psi_i is simply the function that multiplies this parameter;
2. exchanges K_i -> K_i + r K_j, psi_j -> psi_j - r psi_i, by best-first search for the shortest whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from math import gcd

from emdeg.algebra import ParameterKey, PlainPoly, ShortForms, Views, added, prime_of, residue_of, with_sine_squares
from emdeg.algebra.factoring import Number
from emdeg.algebra.linear import independent_rows, rational_echelon

Vector = dict[ParameterKey, Fraction]
Column = dict[str, Views]
"""{entry: the function that multiplies a constant there}."""

FORMULA_TERM = 1
"""What a term in a constant's formula weighs; see `short_forms.TERM`."""
LARGEST_SEARCH = 3000
"""Terms above which step 2 is left out."""
PATIENCE, DETOUR = 60, 6
"""Bases looked at without a gain before the search ends; weight by which it may get worse on the way."""
SIMPLE = 4
"""Largest numerator and denominator of r."""


@dataclass
class Basis:
    """Constants and what multiplies them: `formula[i]` in the parameters, `column[i]` by entry."""

    formula: list[Vector]
    column: list[Column]


def short_bases(columns: Mapping[ParameterKey, Column], writer: ShortForms) -> list[Basis]:
    """The shortest bases found, equally short, for the entries whose parameters' functions are `columns`."""
    sizes = {key: _size(column, writer) for key, column in columns.items()}
    order = sorted(columns, key=lambda key: (sizes[key], sum(e for _, e in key), _name(key)))
    formulas, pivots = _echelon(order, columns)
    basis = Basis(formulas, [dict(columns[order[p]]) for p in pivots])
    terms = sum(len(views[0]) for column in basis.column for views in column.values())
    if terms <= LARGEST_SEARCH:
        return _Search(basis, writer).run()
    return [basis]


def _name(key: ParameterKey) -> tuple[tuple[str, int], ...]:
    return tuple((str(letter), e) for letter, e in key)


def _size(column: Column, writer: ShortForms) -> tuple[int, int]:
    sizes = [writer.size(views) for views in column.values()]
    return sum(s for s, _ in sizes), sum(s for _, s in sizes)


def _echelon(order: list[ParameterKey], columns: Mapping[ParameterKey, Column]) -> tuple[list[Vector], list[int]]:
    """The rows of the reduced echelon form of all coefficient vectors, and the columns of their pivots."""
    rows: dict[tuple[str, tuple[int, ...]], dict[int, Number]] = {}
    for k, key in enumerate(order):
        for entry, views in columns[key].items():
            for exponents, c in views[0].items():
                rows.setdefault((entry, exponents), {})[k] = c
    distinct = sorted({_scaled(row) for row in rows.values()})
    chosen = _independent(distinct, len(order))
    reduced = rational_echelon([dict(distinct[r]) for r in chosen], len(order))
    return [{order[k]: c for k, c in row.items()} for row in reduced], [min(row) for row in reduced]


def _scaled(row: dict[int, Number]) -> tuple[tuple[int, Fraction], ...]:
    lead = Fraction(row[min(row)])
    return tuple(sorted((k, c / lead) for k, c in row.items()))


def _independent(rows: list[tuple[tuple[int, Fraction], ...]], width: int) -> list[int]:
    """Rows that span them all, found modulo a prime: there the rank can only be smaller, never larger.

    The caller's identity check (constants times functions equal the entry) would notice.
    """
    prime = prime_of(secrets.randbits(256))
    residues = [[0] * width for _ in rows]
    for row, into in zip(rows, residues):
        for k, c in row:
            into[k] = residue_of(c, prime)
    return independent_rows(residues, prime)


Weight = tuple[int, int]
"""(weight of the entries' terms and of the formulas, sines and cosines in the entries)."""


@dataclass(eq=False)
class _Function:
    """What multiplies a constant in an entry: one object through the whole search as long as it does not change."""

    views: Views
    angles: int

    @cached_property
    def tables(self) -> list[PlainPoly]:
        """In every angle system, once in squared cosines and once in squared sines.

        c^2 shares no term with 1, though 1 - c^2 is as short as it; written 1 - s^2 it does.
        """
        found = [*self.views]
        for poly in self.views:
            for k in range(self.angles):
                poly = with_sine_squares(poly, k)
            found.append(poly)
        return found


_Column = dict[str, _Function]


@dataclass(frozen=True)
class _State:
    formula: tuple[Vector, ...]
    column: tuple[_Column, ...]
    moves: dict[int, list[tuple[Weight, int, Fraction]]]
    """By j, the exchanges K_i + r K_j with what each gains: (gain, i, r)."""


class _Search:
    """Best-first search over the bases that exchanges lead to, starting from a given one."""

    def __init__(self, basis: Basis, writer: ShortForms) -> None:
        self.writer = writer
        self._known_ratios: dict[tuple[_Function, _Function], set[Fraction]] = {}
        self._known_sizes: dict[tuple[_Function, _Function, Fraction], tuple[int, int]] = {}
        angles = len(writer.layout.angles)
        columns = tuple({e: _Function(views, angles) for e, views in column.items()} for column in basis.column)
        self.state = _State(tuple(basis.formula), columns, {})

    def run(self) -> list[Basis]:
        """The lightest bases seen when some PATIENCE states in a row brought none lighter."""
        best, best_weight, since = [], (1, 0), 0
        patience = max(3, min(PATIENCE, PATIENCE * 625 // len(self.state.formula) ** 2))
        heap: list[tuple[Weight, int, _State, tuple[int, int, Fraction] | None]] = [((0, 0), 0, self.state, None)]
        seen: set[frozenset[frozenset[tuple[ParameterKey, Fraction]]]] = set()
        pushed = 0
        while heap and since < patience:
            weight, _, parent, step = heappop(heap)
            if weight[0] > best_weight[0] + DETOUR:
                break
            state = parent if step is None else _applied(parent, *step)
            key = frozenset(frozenset(formula.items()) for formula in state.formula)
            if key in seen:
                continue
            seen.add(key)
            since += 1
            if weight < best_weight:
                best, best_weight, since = [state], weight, 0
            elif weight == best_weight:
                best.append(state)
            for j in range(len(state.formula)):
                if j not in state.moves:
                    state.moves[j] = self._gains(state, j)
                for gain, i, r in state.moves[j]:
                    pushed += 1
                    after = weight[0] + gain[0], weight[1] + gain[1]
                    heappush(heap, (after, pushed, state, (i, j, r)))
        return [
            Basis(list(state.formula), [{e: one.views for e, one in column.items()} for column in state.column])
            for state in best
        ]

    def _gains(self, state: _State, j: int) -> list[tuple[Weight, int, Fraction]]:
        """Exchanges that change psi_j, those that lengthen it much left out."""
        found = []
        for i, r, (terms, factors) in self._moves(state, j):
            growth = len(_sum(state.formula[i], state.formula[j], r)) - len(state.formula[i])
            if terms + FORMULA_TERM * growth <= DETOUR:
                found.append(((terms + FORMULA_TERM * growth, factors), i, r))
        return found

    def _moves(self, state: _State, j: int) -> Iterator[tuple[int, Fraction, Weight]]:
        """(i, r, change in terms and factors) of psi_j -> psi_j - r psi_i, for each i and r that could help."""
        column = state.column[j]
        for i, other in enumerate(state.column):
            if i == j or not (shared := column.keys() & other.keys()):
                continue
            ratios: set[Fraction] = set()
            for entry in shared:
                ratios |= self._ratios(column[entry], other[entry])
            for r in sorted(ratios):
                if (change := self._change(column, other, r)) is not None:
                    yield i, r, change

    def _ratios(self, mine: _Function, theirs: _Function) -> set[Fraction]:
        """Simple r for which a term of one drops out of mine - r * theirs; remembered, functions recur unchanged."""
        if (mine, theirs) not in self._known_ratios:
            self._known_ratios[mine, theirs] = found = set()
            for one, other in zip(mine.tables, theirs.tables):
                for m, c in one.items():
                    if (d := other.get(m)) is not None:
                        top, bottom = c.numerator * d.denominator, c.denominator * d.numerator
                        common = gcd(top, bottom)
                        if max(abs(top), abs(bottom)) <= SIMPLE * common:
                            found.add(Fraction(top, bottom))
        return self._known_ratios[mine, theirs]

    def _size_less(self, mine: _Function, theirs: _Function, r: Fraction) -> tuple[int, int]:
        """The size of mine - r * theirs."""
        key = mine, theirs, r
        if key not in self._known_sizes:
            after = _less(mine.views, theirs.views, r)
            self._known_sizes[key] = self.writer.size(after) if after[0] else (0, 0)
        return self._known_sizes[key]

    def _change(self, column: _Column, other: _Column, r: Fraction) -> Weight | None:
        """What psi_j - r psi_i adds to the weight; None if it is sure to be more than DETOUR."""
        size = self.writer.size
        terms = factors = 0
        shared = []
        for entry, function in other.items():
            if entry in column:
                shared.append((entry, *size(column[entry].views)))
            else:
                new = size(function.views)
                terms += new[0]
                factors += new[1]
        hope = sum(old for _, old, _ in shared)
        for entry, old, old_factors in shared:
            if terms - hope > DETOUR:
                return None
            new = self._size_less(column[entry], other[entry], r)
            hope -= old
            terms += new[0] - old
            factors += new[1] - old_factors
        return terms, factors


def _applied(state: _State, i: int, j: int, r: Fraction) -> _State:
    """K_i -> K_i + r K_j. What was known of exchanges with psi_j, K_i or K_j is dropped."""
    formula, column = list(state.formula), list(state.column)
    column[j] = _exchanged(column[j], column[i], r)
    formula[i] = _sum(formula[i], formula[j], r)
    touched = column[i].keys() | column[j].keys() | state.column[j].keys()
    kept = {k: moves for k, moves in state.moves.items() if k not in (i, j) and not column[k].keys() & touched}
    return _State(tuple(formula), tuple(column), kept)


def _exchanged(column: _Column, other: _Column, r: Fraction) -> _Column:
    changed = dict(column)
    for entry, function in other.items():
        after = _less(changed[entry].views if entry in changed else None, function.views, r)
        if after[0]:
            changed[entry] = _Function(after, function.angles)
        else:
            changed.pop(entry, None)
    return changed


def _less(mine: Views | None, other: Views, r: Fraction) -> Views:
    empty: PlainPoly = {}
    return tuple(added(mine[v] if mine else empty, poly, -r) for v, poly in enumerate(other))


def _sum(formula: Vector, other: Vector, r: Fraction) -> Vector:
    total = dict(formula)
    for key, c in other.items():
        value = total.get(key, 0) + r * c
        if value:
            total[key] = Fraction(value)
        else:
            del total[key]
    return total
