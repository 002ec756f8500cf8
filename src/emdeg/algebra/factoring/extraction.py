"""Extraction: random search for common parts of several expanded sums, each computed once (fast extract).

Parts are sums of two terms and products of two symbols. Nearly equal savings are ranked at random, so that
repeated runs find different results; `improve` puts some parts back and takes others out instead, again and again,
which finds much shorter results than new starts.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra.factoring.nesting import Key, Table, common, joined, pairs, symbols_of, without
from emdeg.algebra.factoring.parts import Found, Part, SharedParts, Use

PUT_BACK = 8
"""Up to so many parts are put back before others are taken out."""
UPHILL = 0.1
"""How often one operation more is accepted, so that the search can leave a place where every step costs something."""
IN_VAIN, FEW = 50, 4
"""Trials for each part, and for so many more, after which sums that have not become shorter will hardly do so."""

_State = tuple[dict[int, Table], dict[int, int], dict[int, tuple[int, int]]]
"""Sums, quotients and products."""


class Extraction(SharedParts):
    """The search on some sums; deterministic for a seed. `fixed` symbols stand for numbers and cost nothing alone."""

    def __init__(
        self, sums: Sequence[Mapping[Key, Fraction]], fixed: Collection[int], seed: int = 0, noise: float = 0.6
    ) -> None:
        super().__init__(sums, max([*symbols_of(map(dict, sums)), *fixed], default=0) + 1)
        self.fixed = frozenset(fixed)
        self._random = random.Random(seed)
        self._noise = noise

    def run(self, stopped: Callable[[], bool] = lambda: False) -> Extraction:
        """Parts taken out until none saves an operation, or until told to stop."""
        while not stopped() and self.step():
            self._inline()
        return self

    def improve(self, stopped: Callable[[], bool]) -> Extraction:
        """Parts chosen by chance put back and others taken out; the shortest way found.

        Until told to stop, or until so many trials have won nothing that no more is to be hoped for.
        """
        shortest, best = self.cost, self._state()
        current, here = shortest, best
        in_vain = 0
        while not stopped() and in_vain < IN_VAIN * (FEW + len(self.quotients) + len(self.products)):
            in_vain += 1
            for symbol in self._some_parts(self._random.randint(1, PUT_BACK)):
                if self._is_part(symbol):  # it may have gone with another one
                    self._put_back(symbol)
            self.run()
            if (cost := self.cost) > current + (self._random.random() < UPHILL):
                self._go_to(here)
                continue
            current, here = cost, self._state()
            if cost < shortest:
                shortest, best, in_vain = cost, here, 0
        self._go_to(best)
        return self

    @property
    def cost(self) -> int:
        sums = sum(len(terms) - 1 + sum(self._factors(k, c) for k, c in terms.items()) for terms in self.sums.values())
        return sums + len(self.products)

    def values(self, count: int, symbol: Callable[[int], Any], number: Callable[[int], Fraction]) -> list[Any]:
        """The first `count` sums, from the symbols' values and the fixed symbols' numbers."""
        known: dict[int, Any] = {}

        def value(of: int) -> Any:
            if of not in known:
                if of in self.quotients:
                    known[of] = total(self.sums[self.quotients[of]])
                elif of in self.products:
                    a, b = self.products[of]
                    known[of] = value(a) * value(b)
                else:
                    known[of] = number(of) if of in self.fixed else symbol(of)
            return known[of]

        def total(terms: Table) -> Any:
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
        moving = sum(symbol not in self.fixed for symbol in key)
        scaled = moving < len(key) or abs(c) != 1
        return moving - 1 + scaled if moving else 0

    def parts(self, table: Table) -> Iterator[Found]:
        """Any two terms are a multiple of a sum of two."""
        one = Fraction(1)
        items = list(table.items())
        for i, (first, c) in enumerate(items):
            for second, d in items[i + 1 :]:
                divisor = common(first, second)
                b, e = without(first, divisor), without(second, divisor)
                if e < b:
                    yield ((e, b), (one, c / d)), divisor, d, (second, first)
                else:
                    yield ((b, e), (one, d / c)), divisor, c, (first, second)

    def saving(self, part: Part, uses: Sequence[Use]) -> int:
        """The operations of each use as it stands, less the part's and those of a product with its symbol."""
        if len(uses) == 1 and not uses[0].divisor and abs(uses[0].lead) == 1:
            return 0
        gain = -1 - sum(map(self._factors, *part))
        for use in uses:
            terms = self.sums[use.at]
            gain += 1 + sum(self._factors(key, terms[key]) for key in use.keys)
            moving = sum(symbol not in self.fixed for symbol in use.divisor)
            gain -= moving + (moving < len(use.divisor) or abs(use.lead) != 1)
        return gain

    def pairs(self, key: Key, coefficient: Fraction) -> Iterator[tuple[int, int]]:
        """A number is worth sharing with a symbol only where no other number stays behind."""
        numbers = sum(symbol in self.fixed for symbol in key)
        for pair in pairs(key):
            inside = sum(symbol in self.fixed for symbol in pair)
            if inside == 0 or (inside == 1 and numbers == 1 and abs(coefficient) == 1):
                yield pair

    def chance(self) -> float:
        return self._noise * 2 * self._random.random()

    def _is_part(self, symbol: int) -> bool:
        return symbol in self.quotients or symbol in self.products

    def _some_parts(self, number: int) -> list[int]:
        """Parts from anywhere, or one and others that stand in the same sums as it: either half of the time."""
        parts = [*self.quotients, *self.products]
        if parts and self._random.random() < 0.5:
            first = self._random.choice(parts)
            symbols = [{symbol for key in terms for symbol in key} for terms in self.sums.values()]
            near = set().union(*(beside for beside in symbols if first in beside)) - {first}
            parts = sorted(filter(self._is_part, near))
            return [first, *self._random.sample(parts, min(number - 1, len(parts)))]
        return self._random.sample(parts, min(number, len(parts)))

    def _put_back(self, symbol: int) -> None:
        """A part's terms wherever its symbol stands."""
        for reader in [other for other, pair in self.products.items() if symbol in pair]:
            if reader in self.products:
                self._put_back(reader)
        if symbol in self.products:
            inner: Table = {self.products.pop(symbol): Fraction(1)}
        else:
            inner = self._drop_sum(self.quotients.pop(symbol))
        for at, terms in self.sums.items():
            while readers := [key for key in terms if symbol in key]:
                for key in readers:
                    c, rest = terms.pop(key), without(key, (symbol,))
                    for k, d in inner.items():
                        self.add(at, joined(rest, *k), c * d)

    def _drop_sum(self, place: int) -> Table:
        self.forget(place)
        return self.sums.pop(place)

    def _state(self) -> _State:
        return {at: dict(terms) for at, terms in self.sums.items()}, dict(self.quotients), dict(self.products)

    def _go_to(self, state: _State) -> None:
        sums, self.quotients, self.products = state[0], dict(state[1]), dict(state[2])
        for at in [at for at, terms in self.sums.items() if terms != sums.get(at)]:
            self.forget(at)
        self.sums = {at: dict(terms) for at, terms in sums.items()}

    def _inline(self) -> None:
        """Symbols that are read once dissolve into the sum that reads them: it can be taken apart in other ways."""
        while self._dissolve_quotient() or self._dissolve_product():
            pass

    def _dissolve_quotient(self) -> bool:
        readers = self._readers()
        for symbol, place in self.quotients.items():
            where = readers.get(symbol, [])
            if len(where) != 1 or where[0] is None or where[0][1] != (symbol,):
                continue
            at = where[0][0]
            c, inner = self.sums[at][symbol,], self.sums[place]
            if any(self._factors(key, c * d) > self._factors(key, d) for key, d in inner.items()):
                continue
            del self.sums[at][symbol,], self.quotients[symbol]
            self._drop_sum(place)
            for key, d in inner.items():
                self.add(at, key, c * d)
            return True
        return False

    def _dissolve_product(self) -> bool:
        readers = self._readers()
        for symbol, pair in self.products.items():
            where = readers.get(symbol, [])
            if len(where) == 1 and where[0] is not None:
                at, key = where[0]
                c = self.sums[at].pop(key)
                del self.products[symbol]
                self.add(at, joined(without(key, (symbol,)), *pair), c)
                return True
        return False

    def _readers(self) -> dict[int, list[tuple[int, Key] | None]]:
        """Symbol -> the terms that read it; None where a product does."""
        found: dict[int, list[tuple[int, Key] | None]] = defaultdict(list)
        for at, terms in self.sums.items():
            for key in terms:
                for symbol in key:
                    found[symbol].append((at, key))
        for pair in self.products.values():
            for symbol in pair:
                found[symbol].append(None)
        return found
