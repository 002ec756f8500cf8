"""Factoring for the hierarchical form: recurring brackets V, and recurring products T of sines and cosines."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from emdeg.algebra import Atom
from emdeg.algebra.factoring import (
    Found,
    Key,
    Pair,
    Part,
    SharedParts,
    Table,
    Use,
    common_to_all,
    divisors,
    pairs,
    without,
)

Polynomial = dict[tuple[Atom, ...], Fraction]


class CodedLetters:
    """Atoms as numbers that sort like them: what does not turn, symbols yet to be named, sines and cosines."""

    FRESH, TURNING = 10**6, 2 * 10**6

    def __init__(self, tables: Iterable[Polynomial]) -> None:
        atoms = sorted({atom for table in tables for key in table for atom in key})
        still = [atom for atom in atoms if not atom.is_trigonometric]
        self._atom = dict(enumerate(still)) | dict(enumerate((a for a in atoms if a.is_trigonometric), self.TURNING))
        self._code = {atom: code for code, atom in self._atom.items()}
        self.constants = {code for code, atom in self._atom.items() if not atom.angle and atom.kind[0] == "K"}

    def named(self, letter: str, codes: Iterable[int]) -> list[str]:
        """Names for new symbols: V1, V2, ..."""
        names = {code: f"{letter}{k}" for k, code in enumerate(codes, 1)}
        self._atom |= {code: Atom(name) for code, name in names.items()}
        return list(names.values())

    def atom(self, code: int) -> Atom:
        return self._atom[code]

    def coded(self, table: Polynomial) -> Table:
        return {tuple(sorted(self._code[atom] for atom in key)): c for key, c in table.items()}

    def written(self, table: Table) -> Polynomial:
        return {tuple(sorted(map(self.atom, key))): c for key, c in table.items()}


class RecurringBrackets(SharedParts):
    """Recurring brackets: each sum's whole quotients by products of sines and cosines."""

    def __init__(self, letters: CodedLetters, sums: Iterable[Polynomial]) -> None:
        super().__init__([letters.coded(table) for table in sums], CodedLetters.FRESH)
        self._constants = letters.constants

    def parts(self, table: Table) -> Iterator[Found]:
        quotients: dict[Key, dict[Key, Key]] = {}
        for key in table:
            turning = tuple(letter for letter in key if letter >= CodedLetters.TURNING)
            for divisor in divisors(turning):
                quotients.setdefault(divisor, {})[without(key, divisor)] = key
        for divisor, quotient in quotients.items():
            if len(quotient) > 1 and not _turning_factor(quotient):
                inside = sorted(quotient)
                keys = tuple(quotient[key] for key in inside)
                lead = table[keys[0]]
                yield (tuple(inside), tuple(table[key] / lead for key in keys)), divisor, lead, keys

    def saving(self, part: Part, uses: Sequence[Use]) -> int:
        """By computing a bracket once instead of in each of its places; a constant's multiple is a constant."""
        more = len(part[0]) - 1
        inside = more
        for key, c in zip(*part):
            inside += max(0, len(key) - 1) + (abs(c) != 1 and self._constants.isdisjoint(key))
        spread = sum(len(use.divisor) * more for use in uses)
        return (len(uses) - 1) * inside + spread - (len(uses) == 1)

    def precedes(self, one: object, other: object) -> bool:
        return one < other  # type: ignore[operator]


def _turning_factor(quotient: Iterable[Key]) -> bool:
    """Whether a sine or cosine divides all of a quotient; then a larger divisor would do."""
    return bool(common_to_all(tuple(x for x in key if x >= CodedLetters.TURNING) for key in quotient))


class RecurringProducts(SharedParts):
    """Recurring products of two sines, cosines, or such products.

    Where each stands is kept from step to step: a large arm has tens of thousands of terms and hundreds of products.
    """

    def __init__(self, sums: Iterable[Table], fresh: int) -> None:
        super().__init__(sums, fresh)
        self._holders: dict[Pair, dict[tuple[int, Key], None]] = {}
        for at, table in self.sums.items():
            for key in table:
                self._hold(at, key)
        self._changed: set[Pair] = set()
        self._ranked = [(-len(where), pair) for pair, where in self._holders.items()]
        heapq.heapify(self._ranked)

    def pairs(self, key: Key, coefficient: Fraction = Fraction(1)) -> set[Pair]:
        return pairs(tuple(letter for letter in key if letter >= CodedLetters.FRESH))

    def step(self) -> bool:
        """Makes the product that stands in most terms a symbol, of several the first; False if none stands twice."""
        while self._ranked:
            places, pair = heapq.heappop(self._ranked)
            where = list(self._holders[pair])
            if len(where) != -places or len(where) < 2:  # it has changed, and stands elsewhere in the ranking
                continue
            self._changed = set()
            for at, key in where:
                for other in self.pairs(key):
                    self._holders[other].pop((at, key))
                    self._changed.add(other)
            self._take_product(pair, where)
            for other in self._changed:
                heapq.heappush(self._ranked, (-len(self._holders[other]), other))
            return True
        return False

    def add(self, at: int, key: Key, c: Fraction) -> None:
        super().add(at, key, c)
        self._changed |= self._hold(at, key)

    def _hold(self, at: int, key: Key) -> set[Pair]:
        found = self.pairs(key)
        for pair in found:
            self._holders.setdefault(pair, {})[at, key] = None
        return found
