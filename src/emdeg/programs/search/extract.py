"""Extraction: what sums of products have in common is computed once, wherever it stands (fast extract).

A sum is {product of letters: coefficient}. Two kinds of common parts are sought: a product of two letters that occurs
in several terms, and a sum of two terms of which pairs of terms, in one sum or in several, are multiples:
k a b + l a c d = k a (b + (l/k) c d). The part that saves most operations becomes a letter of its own, and so on until
none saves any. Chance decides among nearly equal ones, so that repeated runs find different ways; and from one that was
found, some parts are put back and others taken out instead, again and again, which leads much further than new starts.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Key = tuple[int, ...]
"""A product of letters, sorted; a square has its letter twice."""
Terms = dict[Key, Fraction]
PUT_BACK = 8
"""Up to so many parts are put back before others are taken out."""
UPHILL = 0.1
"""How often one operation more is accepted, so that the search can leave a place where every step costs something."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two terms of sum `at` as lead * common * (quotient); `first` and `second` are their keys."""

    at: int
    first: Key
    second: Key
    common: Key
    lead: Fraction


Quotient = tuple[Key, Key, Fraction]
"""b + r c, as (b, c, r)."""
_State = tuple[dict[int, Terms], dict[int, int], dict[int, tuple[int, int]]]
"""Sums, quotients and products."""


class Extraction:
    """The search on some sums; deterministic for a seed. `fixed` letters stand for numbers and cost nothing alone."""

    def __init__(
        self, sums: Sequence[Mapping[Key, Fraction]], fixed: Collection[int], seed: int = 0, noise: float = 0.6
    ) -> None:
        self.sums: dict[int, Terms] = {i: dict(terms) for i, terms in enumerate(sums)}
        self.fixed = frozenset(fixed)
        self.quotients: dict[int, int] = {}
        """Letter -> the sum that it stands for."""
        self.products: dict[int, tuple[int, int]] = {}
        self._random = random.Random(seed)
        self._noise = noise
        letters = [letter for terms in sums for key in terms for letter in key]
        self._next = max([*letters, *fixed], default=0) + 1
        self._pairs: dict[int, list[tuple[Quotient, Pair]]] = {}

    def run(self) -> Extraction:
        """Parts taken out until none saves an operation."""
        while self._step():
            self._inline()
        return self

    def improve(self, stopped: Callable[[], bool]) -> Extraction:
        """Parts chosen by chance put back and others taken out, until told to stop; the shortest way found."""
        shortest, best = self.cost, self._state()
        current, here = shortest, best
        while not stopped():
            for letter in self._some_parts(self._random.randint(1, PUT_BACK)):
                if self._is_part(letter):  # it may have gone with another one
                    self._put_back(letter)
            self.run()
            if (cost := self.cost) > current + (self._random.random() < UPHILL):
                self._go_to(here)
                continue
            current, here = cost, self._state()
            if cost < shortest:
                shortest, best = cost, here
        self._go_to(best)
        return self

    @property
    def cost(self) -> int:
        sums = sum(len(terms) - 1 + sum(self._factors(k, c) for k, c in terms.items()) for terms in self.sums.values())
        return sums + len(self.products)

    def values(self, count: int, letter: Callable[[int], Any], number: Callable[[int], Fraction]) -> list[Any]:
        """The first `count` sums, from the letters' values and the fixed letters' numbers."""
        known: dict[int, Any] = {}

        def value(of: int) -> Any:
            if of not in known:
                if of in self.quotients:
                    known[of] = total(self.sums[self.quotients[of]])
                elif of in self.products:
                    a, b = self.products[of]
                    known[of] = value(a) * value(b)
                else:
                    known[of] = number(of) if of in self.fixed else letter(of)
            return known[of]

        def total(terms: Terms) -> Any:
            result: Any = Fraction(0)
            for key, c in terms.items():
                product: Any = None
                for of in key:
                    if of in self.fixed:
                        c = c * number(of)
                    else:
                        product = value(of) if product is None else product * value(of)
                result = result + (c if product is None else product * c)
            return result

        return [total(self.sums[i]) for i in range(count)]

    def _factors(self, key: Key, c: Fraction) -> int:
        """The multiplications of a term; its numbers are one."""
        moving = sum(letter not in self.fixed for letter in key)
        scaled = moving < len(key) or abs(c) != 1
        return moving - 1 + scaled if moving else 0

    def _step(self) -> bool:
        best, chosen = 0.0, None
        for gain, move in self._moves():
            score = gain + self._noise * 2 * self._random.random()
            if score > best:
                best, chosen = score, move
        if chosen is None:
            return False
        chosen()
        return True

    def _moves(self) -> Iterator[tuple[int, Callable[[], None]]]:
        by_quotient: dict[Quotient, list[Pair]] = defaultdict(list)
        for at in self.sums:
            for quotient, pair in self._pairs_of(at):
                by_quotient[quotient].append(pair)
        for quotient, pairs in by_quotient.items():
            if len(pairs) == 1 and not pairs[0].common and abs(pairs[0].lead) == 1:
                continue
            apart = _disjoint(pairs)
            gain = self._quotient_gain(quotient, apart)
            if gain > 0:
                yield gain, lambda q=quotient, p=apart: self._take_quotient(q, p)
        for pair, holders in self._shared_products().items():
            if len(holders) > 1:
                yield len(holders) - 1, lambda p=pair, h=holders: self._take_product(p, h)

    def _pairs_of(self, at: int) -> list[tuple[Quotient, Pair]]:
        if at not in self._pairs:
            found = []
            items = list(self.sums[at].items())
            for i, (first, c) in enumerate(items):
                for second, d in items[i + 1 :]:
                    common = _common(first, second)
                    b, e = _without(first, common), _without(second, common)
                    if e < b:
                        found.append(((e, b, c / d), Pair(at, first, second, common, d)))
                    else:
                        found.append(((b, e, d / c), Pair(at, first, second, common, c)))
            self._pairs[at] = found
        return self._pairs[at]

    def _quotient_gain(self, quotient: Quotient, pairs: Sequence[Pair]) -> int:
        b, c, ratio = quotient
        gain = -1 - self._factors(b, Fraction(1)) - self._factors(c, ratio)
        for pair in pairs:
            terms = self.sums[pair.at]
            gain += 1 + self._factors(pair.first, terms[pair.first]) + self._factors(pair.second, terms[pair.second])
            moving = sum(letter not in self.fixed for letter in pair.common)
            gain -= moving + (moving < len(pair.common) or abs(pair.lead) != 1)
        return gain

    def _shared_products(self) -> dict[tuple[int, int], list[tuple[int, Key]]]:
        holders: dict[tuple[int, int], list[tuple[int, Key]]] = defaultdict(list)
        for at, terms in self.sums.items():
            for key, c in terms.items():
                numbers = sum(letter in self.fixed for letter in key)
                for pair in {(key[i], key[j]) for i in range(len(key)) for j in range(i + 1, len(key))}:
                    inside = sum(letter in self.fixed for letter in pair)
                    # A number is worth sharing with a letter only where no other number stays behind.
                    if inside == 0 or (inside == 1 and numbers == 1 and abs(c) == 1):
                        holders[pair].append((at, key))
        return holders

    def _take_quotient(self, quotient: Quotient, pairs: Sequence[Pair]) -> None:
        b, c, ratio = quotient
        letter, place = self._fresh(), max(self.sums) + 1
        self.sums[place] = {b: Fraction(1), c: ratio}
        self.quotients[letter] = place
        for pair in pairs:
            terms = self.sums[pair.at]
            del terms[pair.first], terms[pair.second]
            self._add(pair.at, tuple(sorted((*pair.common, letter))), pair.lead)

    def _take_product(self, pair: tuple[int, int], holders: Sequence[tuple[int, Key]]) -> None:
        letter = self._fresh()
        self.products[letter] = pair
        for at, key in holders:
            c = self.sums[at].pop(key)
            self._add(at, tuple(sorted((*_without(key, pair), letter))), c)

    def _is_part(self, letter: int) -> bool:
        return letter in self.quotients or letter in self.products

    def _some_parts(self, number: int) -> list[int]:
        """Parts from anywhere, or one and others that stand in the same sums as it: either half of the time."""
        parts = [*self.quotients, *self.products]
        if parts and self._random.random() < 0.5:
            first = self._random.choice(parts)
            letters = [{letter for key in terms for letter in key} for terms in self.sums.values()]
            near = set().union(*(beside for beside in letters if first in beside)) - {first}
            parts = sorted(filter(self._is_part, near))
            return [first, *self._random.sample(parts, min(number - 1, len(parts)))]
        return self._random.sample(parts, min(number, len(parts)))

    def _put_back(self, letter: int) -> None:
        """A part's terms wherever its letter stands."""
        for reader in [other for other, pair in self.products.items() if letter in pair]:
            if reader in self.products:
                self._put_back(reader)
        if letter in self.products:
            inner: Terms = {self.products.pop(letter): Fraction(1)}
        else:
            inner = self._without_sum(self.quotients.pop(letter))
        for at, terms in self.sums.items():
            while readers := [key for key in terms if letter in key]:
                for key in readers:
                    c, rest = terms.pop(key), _without(key, (letter,))
                    for k, d in inner.items():
                        self._add(at, tuple(sorted((*rest, *k))), c * d)

    def _without_sum(self, place: int) -> Terms:
        self._pairs.pop(place, None)
        return self.sums.pop(place)

    def _state(self) -> _State:
        return {at: dict(terms) for at, terms in self.sums.items()}, dict(self.quotients), dict(self.products)

    def _go_to(self, state: _State) -> None:
        sums, self.quotients, self.products = state[0], dict(state[1]), dict(state[2])
        self._pairs = {at: pairs for at, pairs in self._pairs.items() if self.sums[at] == sums.get(at)}
        self.sums = {at: dict(terms) for at, terms in sums.items()}

    def _fresh(self) -> int:
        self._next += 1
        return self._next - 1

    def _add(self, at: int, key: Key, c: Fraction) -> None:
        terms = self.sums[at]
        terms[key] = terms.get(key, Fraction(0)) + c
        if not terms[key]:
            del terms[key]
        self._pairs.pop(at, None)

    def _inline(self) -> None:
        """Letters that are read once dissolve into the sum that reads them: it can be taken apart in other ways."""
        while self._dissolve_quotient() or self._dissolve_product():
            pass

    def _dissolve_quotient(self) -> bool:
        readers = self._readers()
        for letter, place in self.quotients.items():
            where = readers.get(letter, [])
            if len(where) != 1 or where[0] is None or where[0][1] != (letter,):
                continue
            at = where[0][0]
            c, inner = self.sums[at][letter,], self.sums[place]
            if any(self._factors(key, c * d) > self._factors(key, d) for key, d in inner.items()):
                continue
            del self.sums[at][letter,], self.quotients[letter]
            self._without_sum(place)
            for key, d in inner.items():
                self._add(at, key, c * d)
            return True
        return False

    def _dissolve_product(self) -> bool:
        readers = self._readers()
        for letter, pair in self.products.items():
            where = readers.get(letter, [])
            if len(where) == 1 and where[0] is not None:
                at, key = where[0]
                c = self.sums[at].pop(key)
                del self.products[letter]
                self._add(at, tuple(sorted((*_without(key, (letter,)), *pair))), c)
                return True
        return False

    def _readers(self) -> dict[int, list[tuple[int, Key] | None]]:
        """Letter -> the terms that read it; None where a product does."""
        found: dict[int, list[tuple[int, Key] | None]] = defaultdict(list)
        for at, terms in self.sums.items():
            for key in terms:
                for letter in key:
                    found[letter].append((at, key))
        for pair in self.products.values():
            for letter in pair:
                found[letter].append(None)
        return found


def _disjoint(pairs: Sequence[Pair]) -> list[Pair]:
    used: set[tuple[int, Key]] = set()
    chosen = []
    for pair in pairs:
        ends = {(pair.at, pair.first), (pair.at, pair.second)}
        if used.isdisjoint(ends):
            used |= ends
            chosen.append(pair)
    return chosen


def _common(a: Key, b: Key) -> Key:
    found = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            found.append(a[i])
            i, j = i + 1, j + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return tuple(found)


def _without(key: Key, taken: Key) -> Key:
    rest = list(key)
    for letter in taken:
        rest.remove(letter)
    return tuple(rest)
