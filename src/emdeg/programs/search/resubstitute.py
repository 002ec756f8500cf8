"""Resubstitution: random search that replaces a value by an equal, cheaper expression of the program's other values.

A value t whose own operations (the cone that only t needs) number m may be replaced by any expression of at most m
operations on values that do not depend on t. Rewrites that save operations are made; rewrites that neither save nor
cost any are made at random, so that the search reaches programs where another one saves some.

Expressions equal to a value are looked up by residues in tables and built on demand. Each is an `Equivalent`: what it
costs, which nodes it stands on, how to build it. The forms are
    x,  k x,  a b,  a + b                                       (at most one operation)
    a + b c,  a + b + c,  (a + b) c,  a b c,  k a + b           (two)
    a b + c d                                                   (three)
with signs anywhere and k a new constant.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import PrimeColumns, Residues
from emdeg.programs.ir import Kind, Program
from emdeg.programs.search.graph import Node, SearchGraph, Signed
from emdeg.programs.weights import OPERATIONS, SHORT, Effort, Weights, cost, target_seconds

TABLE_LIMIT = 2000
"""Sums and products are listed of so many values at most, others each time: the tables grow with the square."""
MOVES = 10
"""Moves after which the tables are made afresh, and one more for every 10 values; until then they know new values
by themselves, without their sums and products."""
SELDOM = 0.15
"""How often the dearer forms are tried."""
ROUNDING = 1e-6
"""Of costs, which are sums of weights."""
IN_VAIN = 1
"""Sweeps for each operation after which a program that has not become shorter will hardly do so."""


class Resubstitution:
    """The search on one program; deterministic for a seed."""

    def __init__(
        self,
        program: Program,
        seed: int = 0,
        weights: Weights = OPERATIONS,
        spend: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._spend = spend
        self.net = SearchGraph(program, seed, weights)
        self.random = random.Random(seed)
        self.tables = Tables(self.net, self.random)
        self.best = self.net.cost
        self._best_state = self.net.snapshot()
        self._since_rebuild = 0
        self._in_vain = 0
        self.moves = 0

    def run(self, until: Callable[[], bool], sweeps: int | None = None) -> Program:
        """The smallest program found after `sweeps` sweeps, or when `until` says stop."""
        done = 0
        while not until() and (sweeps is None or done < sweeps):
            self.sweep(until)
            done += 1
        return self.result()

    @property
    def settled(self) -> bool:
        """Whether so many sweeps have saved nothing that the search may end."""
        return self._in_vain > IN_VAIN * (SHORT + self.best)

    def result(self) -> Program:
        """The smallest program so far."""
        here = self.net.snapshot()
        self.net.restore(self._best_state)
        self._best_state = self.net.snapshot()
        program = self.net.to_program()
        self.net.restore(here)
        return program

    def rescued(self) -> Program:
        """The smallest program so far, whatever state an interrupt left the search in; it cannot go on."""
        self.net.restore(self._best_state)
        return self.net.to_program()

    def sweep(self, until: Callable[[], bool]) -> None:
        """Try every operation once, in random order."""
        self._in_vain += 1
        targets = [index for index in self.net.order if self.net.nodes[index].kind in (Kind.ADD, Kind.MUL)]
        self.random.shuffle(targets)
        for target in targets:
            if until():
                return
            if target in self.net.nodes:
                self.improve(target)

    def improve(self, target: int) -> None:
        """Replace the target by the best expression that does not cost more than it; by chance among equals."""
        net = self.net
        self._spend(target_seconds(len(net.nodes)))
        cone, beyond = net.cone(target), None
        spare = net.weight(cone)
        weights = net.weights
        best: tuple[float, ...] | None = None
        chosen: Equivalent | None = None
        for candidate in self._candidates(target, spare):
            new = candidate.adds * weights.add + candidate.muls * weights.mul
            if new > spare:
                continue
            beyond = beyond or net.beyond(target)
            if not beyond.isdisjoint(candidate.operands):
                continue
            # Operands inside the cone keep their own operations alive.
            cost = new + self._kept(candidate.operands, cone) - spare
            if cost <= 0:
                score = self._score(target, candidate, cost)
                if score is not None and (best is None or score < best):
                    best, chosen = score, candidate
        if chosen is not None:
            self._make(target, chosen)

    def _score(self, target: int, candidate: Equivalent, change: float) -> tuple[float, ...] | None:
        """The rank of a rewrite with this change of cost, the least is made; None: it is not made."""
        return change, self.random.random()

    def _candidates(self, target: int, spare: float) -> Iterator[Equivalent]:
        net, tables = self.net, self.tables
        yield from one_operation(target, net, tables)
        least = min(net.weights.add, net.weights.mul)
        if spare < 2 * least:
            return
        tables.compact()
        yield from two_operations(target, net, tables)
        if self.random.random() < SELDOM:
            yield from with_new_constant(target, net, tables)
        if spare >= 3 * least and tables.ids and self.random.random() < SELDOM:
            some = self.random.sample(range(len(tables.ids)), min(12, len(tables.ids)))
            yield from two_products(target, net, tables, some)

    def _kept(self, operands: tuple[int, ...], cone: set[int]) -> float:
        found: set[int] = set()
        stack = [index for index in operands if index in cone]
        while stack:
            index = stack.pop()
            if index not in found:
                found.add(index)
                stack.extend(arg for arg, _ in self.net.nodes[index].args if arg in cone)
        return self.net.weight(found)

    def _make(self, target: int, candidate: Equivalent) -> None:
        net = self.net
        first = net.size
        made = candidate.build(net)
        if not np.array_equal(net.value(made), net.nodes[target].print):  # by chance it has the same key
            net.forget(made[0])
            return
        net.redirect(target, made)
        for index in range(first, net.size):
            if index in net.nodes:
                self.tables.insert(index)
        self.moves += 1
        self._since_rebuild += 1
        if net.cost < self.best - ROUNDING:
            self.best = net.cost
            self._best_state = net.snapshot()
            self._in_vain = 0
        if self._since_rebuild > MOVES + len(net.nodes) // 10:
            self.tables = Tables(net, self.random)
            self._since_rebuild = 0


def resubstitute(program: Program, seconds: float, seed: int = 0, weights: Weights = OPERATIONS) -> Program:
    """The program after resubstitution for so many nominal seconds; never dearer than it was."""
    effort = Effort(seconds)
    smaller = Resubstitution(program, seed, weights, effort.spend).run(effort.until(1.0))
    return smaller if cost(smaller, weights) < cost(program, weights) else program


Build = Callable[[SearchGraph], Signed]


@dataclass(frozen=True, slots=True)
class Equivalent:
    """An expression equal to the target: its additions and multiplications, operands, and how to build it."""

    adds: int
    muls: int
    operands: tuple[int, ...]
    build: Build


def one_operation(target: int, net: SearchGraph, tables: Tables) -> Iterator[Equivalent]:
    """The target as another value, a multiple of one, a product or a sum."""
    node = net.nodes[target]
    own, now = node.print, tuple(sorted(arg for arg, _ in node.args))
    same = tables.values.get(tables.key(own))
    if same is not None and same != target and same in net.nodes:
        yield Equivalent(0, 0, (same,), lambda net: _as(net, (same, 1), own))
    for _, kind, sign, pair in tables.pairs(own[None, :], target):
        if node.kind is not kind or tuple(sorted(pair)) != now:
            adds, muls = (1, 0) if kind is Kind.ADD else (0, 1)
            yield Equivalent(adds, muls, pair, partial(_pair, pair=pair, kind=kind, sign=sign, residues=own))
    if own.all():
        multiple = tables.ratios.get(tables.ratio_keys(own[None, :])[0])
        known = multiple is None or multiple == target or multiple not in net.nodes
        if multiple is not None and not known and not _is_multiple(net, node, multiple):
            factor = net.points.ratio(own, net.nodes[multiple].print)
            if factor is not None:
                yield Equivalent(0, 1, (multiple,), lambda net: net.mul(net.constant(factor), (multiple, 1)))


def two_operations(target: int, net: SearchGraph, tables: Tables) -> Iterator[Equivalent]:
    """The target as a sum or product of a value with a product or a sum."""
    own, ids = net.nodes[target].print, tables.ids
    n, p, first = len(ids), tables.p, own[:COLUMNS]
    # t = a + rest, t = -a + rest, t = a * rest
    rests = [first + (p - tables.rows), first + tables.rows, first * tables.inverses]
    for place, kind, inner, pair in tables.pairs(np.concatenate(rests) % p, target):
        way, k = divmod(place, n)
        a = ids[k]
        if a == target or a not in net.nodes:
            continue
        if way == 2:
            rest = own * net.points.inverse(net.nodes[a].print) % net.moduli
            yield _times(a, pair, rest, kind, inner)
        else:
            sign = -1 if way else 1
            yield _plus(a, sign, pair, _less(net, own, (a, sign)), kind, inner)


def with_new_constant(target: int, net: SearchGraph, tables: Tables) -> Iterator[Equivalent]:
    """The target as k a + b."""
    own, p = net.nodes[target].print, tables.p
    for sign, rest in ((1, own[:COLUMNS] + (p - tables.rows)), (-1, own[:COLUMNS] + tables.rows)):
        for b, key in zip(tables.ids, tables.ratio_keys(rest % p)):
            a = tables.ratios.get(key)
            if a is not None and a in net.nodes and b in net.nodes and a != target and b != target and a != b:
                factor = net.points.ratio(_less(net, own, (b, sign)), net.nodes[a].print)
                if factor is not None:
                    yield _multiple_plus(a, factor, b, sign)


def two_products(target: int, net: SearchGraph, tables: Tables, some: Sequence[int]) -> Iterator[Equivalent]:
    """The target as a b + c d, for the products of the values numbered `some` in the tables with all others."""
    own, ids, p = net.nodes[target].print, tables.ids, tables.p
    n, first = len(ids), own[:COLUMNS]
    made = np.concatenate([tables.rows * tables.rows[i] for i in some]) % p
    for place, kind, _, (c, d) in tables.pairs(np.concatenate([first + (p - made), first + made]) % p, target):
        way, which = divmod(place, n * len(some))
        a, b = ids[some[which // n]], ids[which % n]
        apart = target not in (a, b) and {a, b} != {c, d}
        if kind is Kind.MUL and apart and a in net.nodes and b in net.nodes:
            sign = -1 if way else 1
            product = net.nodes[a].print * net.nodes[b].print % net.moduli
            rest = (own + (product if way else net.moduli - product)) % net.moduli
            yield _two_products((a, b), sign, (c, d), rest)


def _less(net: SearchGraph, own: Residues, taken: Signed) -> Residues:
    """The residues that are left where a value is taken away."""
    return (own + net.moduli - net.value(taken)) % net.moduli


def _is_multiple(net: SearchGraph, node: Node, other: int) -> bool:
    """Whether the node already is a constant times `other`."""
    args = [arg for arg, _ in node.args]
    return node.kind is Kind.MUL and other in args and any(net.is_constant(arg) for arg in args)


def _as(net: SearchGraph, made: Signed, residues: Residues) -> Signed:
    """`made` with the sign that gives these residues."""
    return made if np.array_equal(net.value(made), residues) else (made[0], -made[1])


def _pair(net: SearchGraph, pair: tuple[int, int], kind: Kind, sign: int, residues: Residues) -> Signed:
    a, b = pair
    return _as(net, net.mul((a, 1), (b, 1)) if kind is Kind.MUL else net.add((a, 1), (b, sign)), residues)


def _plus(a: int, sign: int, pair: tuple[int, int], rest: Residues, kind: Kind, inner: int) -> Equivalent:
    adds, muls = (2, 0) if kind is Kind.ADD else (1, 1)
    return Equivalent(adds, muls, (a, *pair), lambda net: net.add((a, sign), _pair(net, pair, kind, inner, rest)))


def _times(a: int, pair: tuple[int, int], rest: Residues, kind: Kind, inner: int) -> Equivalent:
    adds, muls = (1, 1) if kind is Kind.ADD else (0, 2)
    return Equivalent(adds, muls, (a, *pair), lambda net: net.mul((a, 1), _pair(net, pair, kind, inner, rest)))


def _multiple_plus(a: int, factor: Fraction, b: int, sign: int) -> Equivalent:
    return Equivalent(1, 1, (a, b), lambda net: net.add(net.mul(net.constant(factor), (a, 1)), (b, sign)))


def _two_products(first: tuple[int, int], sign: int, second: tuple[int, int], rest: Residues) -> Equivalent:
    def build(net: SearchGraph) -> Signed:
        index, own = net.mul((first[0], 1), (first[1], 1))
        return net.add((index, own * sign), _pair(net, second, Kind.MUL, 1, rest))

    return Equivalent(1, 2, (*first, *second), build)


Rows = NDArray[np.uint64]
COLUMNS = PrimeColumns.POINTS - 1
"""Of fingerprints those that values are looked up by; the others prove what was found."""
Pair = tuple[int, Kind, int, tuple[int, int]]
"""(place of what was looked for, product or sum, the second's sign in the sum, the two values)."""


class Tables:
    """What is known by its fingerprint: values, multiples of them, and the products and sums of any two.

    Keys are blind to the sign of the whole. Entries may outlive their nodes.
    """

    def __init__(self, net: SearchGraph, chance: random.Random) -> None:
        self.net, self.p = net, np.uint64(net.points.columns[0])
        self.ids: list[int] = []
        self.rows: Rows = np.zeros((0, COLUMNS), dtype=np.uint64)
        self.inverses = self.rows
        self.values: dict[int, int] = {}
        self.ratios: dict[int, int] = {}
        self._insert([index for index in net.order if net.nodes[index].print.all()])
        places = range(len(self.ids))
        if len(places) > TABLE_LIMIT:
            places = sorted(chance.sample(places, TABLE_LIMIT))
        self._listed = np.array([self.ids[k] for k in places])
        self._pair_keys, self._pairs = self._all_pairs(self.rows[list(places)])

    def _all_pairs(self, rows: Rows) -> tuple[Rows, NDArray[np.int64]]:
        """The keys in order, and of each kind * n^2 + first * n + second; kinds: product, sum, difference."""
        n, p = len(rows), self.p
        first, second = np.triu_indices(n)
        apart = first < second
        firsts, seconds = rows[first, :2], rows[second, :2]
        keys = [self._keys(firsts * seconds % p)]
        firsts, seconds = firsts[apart], seconds[apart]
        keys += [self._keys((firsts + seconds) % p), self._keys((firsts + (p - seconds)) % p)]
        codes = first * n + second
        found = np.concatenate([codes, n * n + codes[apart], 2 * n * n + codes[apart]])
        every = np.concatenate(keys)
        order = np.argsort(every)
        return every[order], found[order]

    def pairs(self, rows: Rows, target: int) -> Iterator[Pair]:
        """Living pairs whose product, sum or difference is one of these rows, up to sign; the target is in none."""
        if not len(self._pair_keys):
            return
        keys, n = self._keys(rows), len(self._listed)
        order = np.argsort(keys)  # neighbours are looked for in the same part of memory
        keys = keys[order]
        low = np.searchsorted(self._pair_keys, keys)
        there = np.flatnonzero(self._pair_keys[np.minimum(low, len(self._pair_keys) - 1)] == keys)
        low, high = low[there], np.searchsorted(self._pair_keys, keys[there], "right")
        many = high - low
        places = np.repeat(order[there], many)
        at = np.repeat(low - np.cumsum(many) + many, many) + np.arange(many.sum())
        kinds, codes = np.divmod(self._pairs[at], n * n)
        first, second = (self._listed[k] for k in np.divmod(codes, n))
        others = np.flatnonzero((first != target) & (second != target))
        nodes = self.net.nodes
        for place, kind, a, b in zip(*(part[others].tolist() for part in (places, kinds, first, second))):
            if a in nodes and b in nodes:
                yield place, Kind.ADD if kind else Kind.MUL, -1 if kind == 2 else 1, (a, b)

    def insert(self, index: int) -> None:
        """Add a node."""
        if self.net.nodes[index].print.all():  # not zero, nor zero at a point by accident
            self._insert([index])

    def _insert(self, new: Sequence[int]) -> None:
        rows = np.array([self.net.nodes[index].print[:COLUMNS] for index in new], dtype=np.uint64)
        rows = rows.reshape(len(new), COLUMNS)
        self.ids += new
        self.rows = np.concatenate([self.rows, rows])
        self.inverses = np.concatenate([self.inverses, self._inverse(rows)])
        for index, key, multiple in zip(new, self._keys(rows).tolist(), self.ratio_keys(rows)):
            self.values.setdefault(key, index)
            if not self.net.is_constant(index):
                self.ratios.setdefault(multiple, index)

    def compact(self) -> None:
        """Drop entries of nodes that were removed."""
        nodes = self.net.nodes
        alive = [k for k, index in enumerate(self.ids) if index in nodes]
        if len(alive) < len(self.ids):
            self.ids = [self.ids[k] for k in alive]
            self.rows, self.inverses = self.rows[alive], self.inverses[alive]

    def key(self, residues: Residues) -> int:
        return int(self._keys(residues[None, :])[0])

    def _keys(self, rows: Rows) -> Rows:
        """One key a row, the same for a value and its negative."""
        a, b = rows[:, 0], rows[:, 1]
        turned = a > self.p // np.uint64(2)
        a, b = np.where(turned, self.p - a, a), np.where(turned, (self.p - b) % self.p, b)
        return a << np.uint64(31) | b

    def ratio_keys(self, rows: Rows) -> list[int]:
        """One key a row, the same for all multiples of a value."""
        inverse = self._inverse(rows[:, 0])
        a, b = rows[:, 1] * inverse % self.p, rows[:, 2] * inverse % self.p
        return (a << np.uint64(31) | b).tolist()

    def _inverse(self, residues: Rows) -> Rows:
        """1 / residues, by Fermat; zero stays zero."""
        base, result, exponent = residues, np.ones_like(residues), int(self.p) - 2
        while exponent:
            if exponent & 1:
                result = result * base % self.p
            base = base * base % self.p
            exponent >>= 1
        return result
