"""A model cut into its smallest summands: number * product of sines, cosines, displacements and rates.

The cut is made in the rates of links that turn about parallel axes (see `efforts`), where a model has the fewest
summands, and knows what each contributes to the joints' entries. Dropping a piece leaves its mean behind where the
entry has a constant to take it (Bejczy's merging of near-equal moments: a s^2 + b c^2 is about (a + b) / 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from emdeg.algebra import TrigAlgebra, TrigPoly
from emdeg.equations import entry_name, indices
from emdeg.reduce.efforts import Forms, Product, Rates, inner_neighbours, on_links, tables
from emdeg.reduce.short_model import Expansion, FullModel, ShortModel


@dataclass(frozen=True)
class Piece:
    """One summand: `function` times the constant's value, in the joints' `entries` with these factors."""

    constant: str
    function: TrigPoly
    value: Fraction
    entries: tuple[tuple[str, Fraction], ...]

    @property
    def formula(self) -> TrigPoly:
        return self.function * self.value

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The joints whose efforts it contributes to."""
        found: set[int] = set()
        for name, _ in self.entries:
            letter, of = indices(name)
            found.update(of if letter == "M" else of[:1])
        return tuple(sorted(found))

    @property
    def is_drive(self) -> bool:
        """Whether it is a constant on M's diagonal, without which M is not positive."""
        names = [indices(name) for name, _ in self.entries]
        return self.function.is_number and any(letter == "M" and of[0] == of[1] for letter, of in names)


def pieces(full: FullModel) -> list[Piece]:
    """All pieces of a model, by link rows."""
    groups, algebra = full.lumped.groups, full.lumped.algebra
    before = inner_neighbours(groups)
    forms = Forms(algebra, groups)
    found = []
    for constant, rows in tables(full.lumped.expansions).items():
        for (row, rates), f in on_links(rows, before).items():
            if len(rates) == 1 and rates[0] < row:
                continue  # M is symmetric: its upper triangle says all
            entries = _joint_entries(row, rates, before)
            for product, c in forms(f).items():
                function = _printed(algebra, product) * c
                found.append(Piece(constant, function, full.values[constant], entries))
    return found


def _chain(joint: int, before: Mapping[int, int]) -> list[int]:
    found = [joint]
    while found[-1] in before:
        found.append(before[found[-1]])
    return found


def _joint_entries(row: int, rates: Rates, before: Mapping[int, int]) -> tuple[tuple[str, Fraction], ...]:
    """What a link row's coefficient adds to the joints' entries: w_j is the sum of the rates along its chain."""
    found: dict[str, Fraction] = {}
    for i in _chain(row, before):
        if not rates:
            found[entry_name("g", i)] = Fraction(1)
        elif len(rates) == 1:
            for j in _chain(rates[0], before):
                name = entry_name("M", min(i, j), max(i, j))
                # A coefficient off the diagonal stands in two rows, and both add to a joint's diagonal entry.
                twice = 2 if row != rates[0] and i == j else 1
                both = row != rates[0] and {i, j} <= set(_chain(row, before)) & set(_chain(rates[0], before))
                found[name] = Fraction(twice) if not both or i == j else Fraction(2)
        else:
            for j in _chain(rates[0], before):
                for k in _chain(rates[1], before):
                    name = entry_name("c", i, j) if j == k else entry_name("b", i, min(j, k), max(j, k))
                    found[name] = found.get(name, Fraction(0)) + 1
    return tuple(found.items())


def model_of(full: FullModel, kept: list[Piece], means: Mapping[str, Fraction]) -> ShortModel:
    """The short model of some pieces."""
    parts: dict[str, dict[str, TrigPoly]] = {entry: {} for entry in full.lumped.expansions}
    for piece in kept:
        for entry, factor in piece.entries:
            mine = parts[entry]
            added = piece.function * factor
            mine[piece.constant] = mine[piece.constant] + added if piece.constant in mine else added
    expansions: dict[str, Expansion] = {
        entry: tuple((c, f) for c, f in mine.items() if f) for entry, mine in parts.items()
    }
    return ShortModel(full, expansions, full.values, {e: m for e, m in means.items() if m})


def mean(function: TrigPoly) -> Fraction:
    """The mean over whole turns of every angle; 0 where a displacement is left in it."""
    still = function.to_fourier().get((0,) * len(function.algebra.revolute))
    return still[0].number if still is not None and still[0].is_number else Fraction(0)


def summands(full: FullModel, entry: str) -> list[tuple[str, TrigPoly]]:
    """(constant, product) for each summand of one entry as printed."""
    forms = Forms(full.lumped.algebra, full.lumped.groups)
    return [
        (constant, _printed(full.lumped.algebra, product) * c)
        for constant, function in full.lumped.expansions[entry]
        for product, c in forms(function).items()
    ]


def _printed(algebra: TrigAlgebra, product: Product) -> TrigPoly:
    found = algebra.one
    for atom in product:
        if atom.kind == "q":
            found = found * algebra.displacement(atom.angle[0][0])
        else:
            s, c = algebra.sum_sincos(dict(atom.angle))
            found = found * (s if atom.kind == "S" else c)
    return found
