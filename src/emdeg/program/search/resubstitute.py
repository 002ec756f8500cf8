"""Resubstitution: say a value anew in terms of other values that are there already.

A value t whose own operations (the cone that only t needs) number m may be replaced by any expression of at most m
operations on values that do not depend on t. Expressions of one and two operations are found by looking up
fingerprints: t = b c, t = b + c; t = a + b c, t = (a + b) c, t = a b c, t = a + b + c; and with a new constant k,
t = k a, t = k a + b, t = k (a b), t = k (a + b). Moves that win are made; moves that neither win nor lose are made at
random, so that the program drifts among its equals until another win appears.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.program.ir import Kind, Program
from emdeg.program.search.fingerprint import Points, fingerprints, rational
from emdeg.program.search.net import Net, Signed

Build = Callable[[Net], Signed]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An expression equal to the target: what it costs beyond what is there, and how to build it."""

    cost: int
    operands: tuple[int, ...]
    build: Build


class Tables:
    """Fingerprint -> values, sums and products of the living nodes."""

    def __init__(self, net: Net, limit: int) -> None:
        self.net, self.p, self.limit = net, net.p, limit
        self.ids: list[int] = []
        self.rows = np.zeros((0, net.points.count), dtype=np.uint64)
        self.values: dict[int, int] = {}
        self.ratios: dict[int, int] = {}
        self.products: dict[int, tuple[int, int]] = {}
        self.sums: dict[int, tuple[int, int, int]] = {}
        for index in net.order:
            self.insert(index)

    def insert(self, index: int) -> None:
        """Add a node and its sums and products with all others."""
        net, p = self.net, np.uint64(self.p)
        own = net.nodes[index].print
        if not own.any():
            return
        self.values[key(own, self.p)[0]] = index
        ratio = self.ratio(own)
        if ratio is not None:
            self.ratios[ratio] = index
        self.ids.append(index)
        self.rows = np.vstack([self.rows, own[None, :]])
        if len(self.ids) > self.limit:
            return
        for other, k in zip(self.ids, keys(self.rows * own % p, self.p)):
            self.products[k] = (other, index)
        others = self.ids[:-1]
        for other, k in zip(others, keys((self.rows[:-1] + own) % p, self.p)):
            self.sums[k] = (other, index, 1)
        for other, k in zip(others, keys((self.rows[:-1] + (p - own)) % p, self.p)):
            self.sums[k] = (other, index, -1)

    def ratio(self, residues) -> int | None:
        first = int(residues[0])
        if not first:
            return None
        inverse = pow(first, -1, self.p)
        return int(residues[1]) * inverse % self.p << 31 | int(residues[2]) * inverse % self.p

    def living(self) -> tuple[list[int], np.ndarray]:
        """The living nodes and their residues; the dead are forgotten."""
        nodes = self.net.nodes
        alive = [k for k, index in enumerate(self.ids) if index in nodes]
        if len(alive) < len(self.ids):
            self.ids = [self.ids[k] for k in alive]
            self.rows = self.rows[alive]
        return self.ids, self.rows


def key(residues, p: int) -> tuple[int, int]:
    """(key, sign): the same key for a value and its negative."""
    a, b = int(residues[0]), int(residues[1])
    if a > p // 2:
        return (p - a) << 31 | ((p - b) % p), -1
    return a << 31 | b, 1


def keys(rows: np.ndarray, p: int) -> list[int]:
    a, b = rows[:, 0], rows[:, 1]
    flip = a > np.uint64(p // 2)
    a = np.where(flip, np.uint64(p) - a, a)
    b = np.where(flip, (np.uint64(p) - b) % np.uint64(p), b)
    return (a << np.uint64(31) | b).tolist()


class Search:
    """Resubstitution on one program; deterministic for a seed."""

    def __init__(self, program: Program, seed: int = 0, limit: int = 700) -> None:
        self.net = Net(program, seed)
        self.random = random.Random(seed)
        self.limit = limit
        self.tables = Tables(self.net, limit)
        self.best = self.net.cost
        self.best_state = self.net.snapshot()
        self.moves = 0
        self._since_build = 0

    def run(self, seconds: float, report: Callable[[int], None] | None = None, uphill: float = 0.0) -> Program:
        """The smallest program found within the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.sweep(end, uphill)
            if report is not None:
                report(self.best)
        self.net.restore(self.best_state)
        return self.net.to_program()

    def sweep(self, end: float, uphill: float = 0.0) -> None:
        """Try every operation once, in random order."""
        targets = [index for index in self.net.order if self.net.nodes[index].kind in (Kind.ADD, Kind.MUL)]
        self.random.shuffle(targets)
        for target in targets:
            if time.monotonic() > end:
                return
            if target in self.net.nodes:
                self.improve(target, uphill)

    def improve(self, target: int, uphill: float = 0.0) -> None:
        net = self.net
        cone = net.cone(target)
        spare = net.weight(cone)
        budget = spare + (1 if uphill and self.random.random() < uphill else 0)
        forbidden = net.beyond(target)
        found = [c for c in self.candidates(target, forbidden, budget) if not forbidden.intersection(c.operands)]
        if not found:
            return
        # Operands inside the cone keep their own operations alive.
        scored = []
        for candidate in found:
            kept = self._kept(candidate.operands, cone)
            delta = candidate.cost + kept - spare
            scored.append((delta, self.random.random(), candidate))
        scored.sort(key=lambda item: item[:2])
        delta, _, candidate = scored[0]
        if delta > budget - spare:
            return
        self._apply(target, candidate)

    def _kept(self, operands: tuple[int, ...], cone: set[int]) -> int:
        net = self.net
        found: set[int] = set()
        stack = [index for index in operands if index in cone]
        while stack:
            index = stack.pop()
            if index not in found:
                found.add(index)
                stack.extend(arg for arg, _ in net.nodes[index].args if arg in cone)
        return net.weight(found)

    def _apply(self, target: int, candidate: Candidate) -> None:
        net = self.net
        first_new = net._next
        new = candidate.build(net)
        net.redirect(target, new)
        net.refresh()
        for index in range(first_new, net._next):
            if index in net.nodes:
                self.tables.insert(index)
        self.moves += 1
        self._since_build += 1
        if net.cost < self.best:
            self.best = net.cost
            self.best_state = net.snapshot()
        if self._since_build > 400:
            self.tables = Tables(net, self.limit)
            self._since_build = 0

    def candidates(self, target: int, forbidden: set[int], budget: int) -> Iterator[Candidate]:
        net, tables, p = self.net, self.tables, np.uint64(self.net.p)
        node = net.nodes[target]
        own = node.print
        now = tuple(sorted(arg for arg, _ in node.args))
        k, sign = key(own, net.p)
        same = tables.values.get(k)
        if same is not None and same != target and same in net.nodes and self._agree(same, own):
            yield Candidate(0, (same,), _value(same, self._sign(same, own)))
        yield from self._pair(tables.products.get(k), own, now, node.kind)
        yield from self._sum(tables.sums.get(k), own, now, node.kind)
        ratio = tables.ratio(own)
        if ratio is not None:
            same = tables.ratios.get(ratio)
            if same is not None and same != target and same in net.nodes and not net.is_constant(same):
                yield from self._multiple(same, target)
        if budget < 2:
            return
        ids, rows = tables.living()
        yield from self._two(target, own, ids, rows, p)

    def _two(self, target: int, own, ids: list[int], rows, p) -> Iterator[Candidate]:
        net, tables = self.net, self.tables
        products, sums, ratios = tables.products, tables.sums, tables.ratios
        for s, less in ((1, (own + (p - rows)) % p), (-1, (own + rows) % p)):  # t = s a + rest
            for a, k, rest in zip(ids, keys(less, net.p), less):
                pair = products.get(k)
                if pair is not None and target not in pair and self._living(pair) and a != target:
                    yield self._plus_product(a, s, pair, rest)
                three = sums.get(k)
                if three is not None and target not in three[:2] and self._living(three[:2]) and a != target:
                    yield self._plus_sum(a, s, three, rest)
        over = self._inverse_rows(ids)
        quotients = own * over % p
        for c, k, rest in zip(ids, keys(quotients, net.p), quotients):
            if c == target:
                continue
            pair = products.get(k)
            if pair is not None and target not in pair and self._living(pair):
                yield self._times_product(c, pair, rest)
            three = sums.get(k)
            if three is not None and target not in three[:2] and self._living(three[:2]):
                yield self._times_sum(c, three, rest)

    _inverses: dict[int, np.ndarray] | None = None

    def _inverse_rows(self, ids: list[int]) -> np.ndarray:
        if self._inverses is None:
            self._inverses = {}
        known = self._inverses
        for index in ids:
            if index not in known:
                residues = self.net.nodes[index].print
                known[index] = np.array(
                    [pow(int(v), -1, self.net.p) if v else 0 for v in residues], dtype=np.uint64
                )
        if len(known) > 20 * len(ids):
            self._inverses = {index: known[index] for index in ids}
        return np.array([known[index] for index in ids])

    def _living(self, pair: tuple[int, ...]) -> bool:
        return all(index in self.net.nodes for index in pair)

    def _agree(self, index: int, residues) -> bool:
        return self._sign(index, residues) != 0

    def _sign(self, index: int, residues) -> int:
        own = self.net.nodes[index].print
        if np.array_equal(own, residues):
            return 1
        if np.array_equal((np.uint64(self.net.p) - own) % np.uint64(self.net.p), residues):
            return -1
        return 0

    def _pair(self, pair, own, now, kind) -> Iterator[Candidate]:
        if pair is None or not self._living(pair) or (kind is Kind.MUL and tuple(sorted(pair)) == now):
            return
        a, b = pair
        yield Candidate(1, pair, lambda net: _matched(net, net.mul((a, 1), (b, 1)), own))

    def _sum(self, three, own, now, kind) -> Iterator[Candidate]:
        if three is None or not self._living(three[:2]) or (kind is Kind.ADD and tuple(sorted(three[:2])) == now):
            return
        a, b, s = three
        yield Candidate(1, (a, b), lambda net: _matched(net, net.add((a, 1), (b, s)), own))

    def _plus_product(self, a: int, s: int, pair: tuple[int, int], rest) -> Candidate:
        b, c = pair
        return Candidate(
            2, (a, b, c), lambda net: net.add((a, s), _matched(net, net.mul((b, 1), (c, 1)), rest))
        )

    def _plus_sum(self, a: int, s: int, three: tuple[int, int, int], rest) -> Candidate:
        b, c, t = three
        return Candidate(
            2, (a, b, c), lambda net: net.add((a, s), _matched(net, net.add((b, 1), (c, t)), rest))
        )

    def _times_product(self, c: int, pair: tuple[int, int], rest) -> Candidate:
        a, b = pair
        return Candidate(
            2, (a, b, c), lambda net: net.mul((c, 1), _matched(net, net.mul((a, 1), (b, 1)), rest))
        )

    def _times_sum(self, c: int, three: tuple[int, int, int], rest) -> Candidate:
        a, b, t = three
        return Candidate(
            2, (a, b, c), lambda net: net.mul((c, 1), _matched(net, net.add((a, 1), (b, t)), rest))
        )

    def _multiple(self, index: int, target: int) -> Iterator[Candidate]:
        factor = self._factor(index, target)
        if factor is not None:
            yield Candidate(1, (index,), lambda net: net.mul(net.constant(factor), (index, 1)))

    def _factor(self, index: int, target: int) -> Fraction | None:
        """The rational k with target = k index, found modulo many primes."""
        program = self.net.to_program_with((index, target))
        residues = {}
        for p in _PRIMES:
            points = Points(17, p, 1)
            try:
                prints = fingerprints(program, points)
            except ZeroDivisionError:
                return None
            below, above = (prints[r.value] * np.uint64(1) for r in program.outputs[0].entries)
            if not int(below[0]):
                return None
            signs = [r.sign for r in program.outputs[0].entries]
            residues[p] = int(above[0]) * pow(int(below[0]), -1, p) * signs[0] * signs[1] % p
        return rational(residues)


def _value(index: int, sign: int) -> Build:
    return lambda net: (index, sign)


def _matched(net: Net, made: Signed, residues) -> Signed:
    """`made` with the sign that gives these residues."""
    return made if np.array_equal(net.value(made), residues) else (made[0], -made[1])


def _primes(count: int) -> list[int]:
    """The largest primes below 2^31 that are 7 modulo 8 (where 2 has a root)."""
    found: list[int] = []
    n = 2**31 - 1
    while len(found) < count:
        if n % 8 == 7 and all(pow(b, n - 1, n) == 1 for b in (2, 3, 5, 7, 11, 13)):
            found.append(n)
        n -= 2
    return found


_PRIMES = _primes(16)
