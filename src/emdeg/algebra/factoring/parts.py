"""Greedy factoring of several expanded sums: common parts become symbols, the part that saves most first.

Two kinds of parts are sought: a product of two symbols that stands in several terms, and a sum of terms of which
others, in one sum or in several, are multiples: k a b + l a c d = k a (b + (l/k) c d). The part that saves most becomes
a symbol, and so on until none saves anything. Which sums are looked for, what one saves and which symbols may be
multiplied beforehand is left to subclasses: `Extraction` and EMDEG's hierarchical form differ in these alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from emdeg.algebra.factoring.nesting import Key, Table, joined, without

Symbol = int
Pair = tuple[Symbol, Symbol]
Part = tuple[tuple[Key, ...], tuple[Fraction, ...]]
"""A sum of products up to a factor: its products, sorted, and their coefficients, the first of which is 1."""


class Use(NamedTuple):
    """Where a part stands: the terms `keys` of sum `at`, in the part's order, are lead * divisor * part."""

    at: int
    divisor: Key
    lead: Fraction
    keys: tuple[Key, ...]


Found = tuple[Part, Key, Fraction, tuple[Key, ...]]
"""A part, and divisor, lead and keys of its use."""


Move = tuple[Part | Pair, Callable[[], None]]
"""What becomes a symbol, and how."""


class SharedParts:
    """Sums whose common parts are symbols. `quotients`: symbol -> the sum it stands for; `products`: -> two symbols."""

    def __init__(self, sums: Iterable[Mapping[Key, Fraction]], fresh: Symbol) -> None:
        """`fresh` and what follows it are the symbols that parts get."""
        self.sums: dict[int, Table] = {i: dict(terms) for i, terms in enumerate(sums)}
        self.quotients: dict[Symbol, int] = {}
        self.products: dict[Symbol, Pair] = {}
        self._next = fresh
        self._parts: dict[int, list[tuple[Part, Use]]] = {}
        self._pairs: dict[int, list[tuple[Pair, Key]]] = {}

    def parts(self, table: Table) -> Iterable[Found]:
        """The parts of one sum that may become symbols."""
        return ()

    def saving(self, part: Part, uses: Sequence[Use]) -> int:
        """Operations saved by computing the part once for all its uses."""
        return 0

    def pairs(self, key: Key, coefficient: Fraction) -> Iterable[Pair]:
        """The products of two symbols in one term that may become symbols."""
        return ()

    def chance(self) -> float:
        """What is added to a saving when parts are compared."""
        return 0.0

    def precedes(self, one: Part | Pair, other: Part | Pair) -> bool:
        """Whether of two that save the same the one found later goes first."""
        return False

    def step(self) -> bool:
        """Makes the part that saves most a symbol; False if none saves anything."""
        best, chosen = 0.0, None
        for gain, move in self._moves():
            score = gain + self.chance()
            if score > best or (score == best and chosen is not None and self.precedes(move[0], chosen[0])):
                best, chosen = score, move
        if chosen is not None:
            chosen[1]()
        return chosen is not None

    def _moves(self) -> Iterator[tuple[int, Move]]:
        found: dict[Part, list[Use]] = defaultdict(list)
        for at in self.sums:
            for part, use in self._parts_of(at):
                found[part].append(use)
        for part, uses in found.items():
            apart = _disjoint(uses)
            gain = self.saving(part, apart)
            if gain > 0:
                yield gain, (part, lambda p=part, u=apart: self._take_part(p, u))
        holders: dict[Pair, list[tuple[int, Key]]] = defaultdict(list)
        for at in self.sums:
            for pair, key in self._pairs_of(at):
                holders[pair].append((at, key))
        for pair, where in holders.items():
            if len(where) > 1:
                yield len(where) - 1, (pair, lambda p=pair, w=where: self._take_product(p, w))

    def _parts_of(self, at: int) -> list[tuple[Part, Use]]:
        if at not in self._parts:
            found = self.parts(self.sums[at])
            self._parts[at] = [(part, Use(at, divisor, lead, keys)) for part, divisor, lead, keys in found]
        return self._parts[at]

    def _pairs_of(self, at: int) -> list[tuple[Pair, Key]]:
        if at not in self._pairs:
            self._pairs[at] = [(pair, key) for key, c in self.sums[at].items() for pair in self.pairs(key, c)]
        return self._pairs[at]

    def _take_part(self, part: Part, uses: Sequence[Use]) -> None:
        symbol, place = self._fresh(), max(self.sums) + 1
        self.sums[place] = dict(zip(*part))
        self.quotients[symbol] = place
        for use in uses:
            for key in use.keys:
                del self.sums[use.at][key]
            self.add(use.at, joined(use.divisor, symbol), use.lead)

    def _take_product(self, pair: Pair, where: Sequence[tuple[int, Key]]) -> None:
        symbol = self._fresh()
        self.products[symbol] = pair
        for at, key in where:
            c = self.sums[at].pop(key)
            self.add(at, joined(without(key, pair), symbol), c)

    def _fresh(self) -> Symbol:
        self._next += 1
        return self._next - 1

    def add(self, at: int, key: Key, c: Fraction) -> None:
        """Adds a term to a sum."""
        terms = self.sums[at]
        terms[key] = terms.get(key, Fraction(0)) + c
        if not terms[key]:
            del terms[key]
        self.forget(at)

    def forget(self, at: int) -> None:
        """What was found in a sum, because it has changed."""
        self._parts.pop(at, None)
        self._pairs.pop(at, None)


def _disjoint(uses: Sequence[Use]) -> Sequence[Use]:
    """Uses that have no term in common, the earlier ones first."""
    if len(uses) == 1:
        return uses
    taken: set[tuple[int, Key]] = set()
    chosen = []
    for use in uses:
        terms = {(use.at, key) for key in use.keys}
        if taken.isdisjoint(terms):
            taken |= terms
            chosen.append(use)
    return chosen
