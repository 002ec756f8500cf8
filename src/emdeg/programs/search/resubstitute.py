"""Resubstitution: say a value anew in terms of other values that are there already.

A value t whose own operations (the cone that only t needs) number m may be replaced by any expression of at most m
operations on values that do not depend on t. Moves that win are made; moves that neither win nor lose are made at
random, so that the program drifts among its equals until another win appears.

The ways to say a value in terms of others are found in tables and built on demand. Each is an `Equivalent`: what it
costs, which nodes it stands on, how to build it. The forms are
    x,  k x,  a b,  a + b                                       (at most one operation)
    a + b c,  a + b + c,  (a + b) c,  a b c,  k a + b           (two)
    a b + c d                                                   (three)
with signs anywhere and k a new constant.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.programs.ir import Kind, Program
from emdeg.programs.search.fingerprint import Print, ratio
from emdeg.programs.search.graph import Node, SearchGraph, Signed
from emdeg.programs.weights import OPERATIONS, SHORT, Effort, Weights, cost, target_seconds

TABLE_LIMIT = 700
"""Sums and products are listed for the first so many values: the tables grow with the square."""
REBUILD = 300
"""Moves after which the tables are made afresh, the dead entries gone."""
SELDOM = 0.15
"""How often the dearer forms are tried."""
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
        self.tables = Tables(self.net, TABLE_LIMIT)
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
        """Whether so many sweeps have won nothing that no more is to be hoped for."""
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
        cone, beyond = net.cone(target), net.beyond(target)
        spare = net.weight(cone)
        weights = net.weights
        best: tuple[float, float] | None = None
        chosen: Equivalent | None = None
        for candidate in self._candidates(target, spare):
            new = candidate.adds * weights.add + candidate.muls * weights.mul
            if new > spare or not beyond.isdisjoint(candidate.operands):
                continue
            # Operands inside the cone keep their own operations alive.
            cost = new + self._kept(candidate.operands, cone) - spare
            if cost <= 0:
                score = (cost, self.random.random())
                if best is None or score < best:
                    best, chosen = score, candidate
        if chosen is not None:
            self._make(target, chosen)

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
            some = np.array(self.random.sample(range(len(tables.ids)), min(12, len(tables.ids))))
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
        net.redirect(target, candidate.build(net))
        net.refresh()
        for index in range(first, net.size):
            if index in net.nodes:
                self.tables.insert(index)
        self.moves += 1
        self._since_rebuild += 1
        if net.cost < self.best:
            self.best = net.cost
            self._best_state = net.snapshot()
            self._in_vain = 0
        if self._since_rebuild > REBUILD:
            self.tables = Tables(net, TABLE_LIMIT)
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
    key = tables.key(own)
    same = tables.values.get(key)
    if same is not None and same != target and same in net.nodes:
        yield Equivalent(0, 0, (same,), lambda net: _as(net, (same, 1), own))
    pair = tables.products.get(key)
    if pair is not None and _living(net, pair) and not (node.kind is Kind.MUL and tuple(sorted(pair)) == now):
        yield Equivalent(0, 1, pair, lambda net: _as(net, net.mul((pair[0], 1), (pair[1], 1)), own))
    three = tables.sums.get(key)
    if three is not None and _living(net, three[:2]) and (node.kind is not Kind.ADD or tuple(sorted(three[:2])) != now):
        yield Equivalent(1, 0, three[:2], lambda net: _as(net, net.add((three[0], 1), (three[1], three[2])), own))
    if own.all():
        multiple = tables.ratios.get(tables.ratio_keys(own[None, :], net.points.inverse(own)[None, :])[0])
        known = multiple is None or multiple == target or multiple not in net.nodes
        if multiple is not None and not known and not _is_multiple(net, node, multiple):
            factor = ratio(own, net.nodes[multiple].print, net.points)
            if factor is not None:
                yield Equivalent(0, 1, (multiple,), lambda net: net.mul(net.constant(factor), (multiple, 1)))


def two_operations(target: int, net: SearchGraph, tables: Tables) -> Iterator[Equivalent]:
    """The target as a sum or product of a value with a product or a sum."""
    m, own = net.moduli, net.nodes[target].print
    products, sums, nodes = tables.products, tables.sums, net.nodes
    for sign, rest in ((1, (own + (m - tables.rows)) % m), (-1, (own + tables.rows) % m)):  # t = sign a + rest
        for k, (a, key) in enumerate(zip(tables.ids, tables.keys(rest))):
            if key in products and a != target:
                b, c = products[key]
                if b in nodes and c in nodes:
                    yield _plus(a, sign, (b, c), rest[k], Kind.MUL, 1)
            if key in sums and a != target:
                b, c, s = sums[key]
                if b in nodes and c in nodes:
                    yield _plus(a, sign, (b, c), rest[k], Kind.ADD, s)
    rest = own * tables.inverses % m  # t = a * rest
    for k, (a, key) in enumerate(zip(tables.ids, tables.keys(rest))):
        if key in products and a != target:
            b, c = products[key]
            if b in nodes and c in nodes:
                yield _times(a, (b, c), rest[k], Kind.MUL, 1)
        if key in sums and a != target:
            b, c, s = sums[key]
            if b in nodes and c in nodes:
                yield _times(a, (b, c), rest[k], Kind.ADD, s)


def with_new_constant(target: int, net: SearchGraph, tables: Tables) -> Iterator[Equivalent]:
    """The target as k a + b."""
    m, own = net.moduli, net.nodes[target].print
    for sign, rest in ((1, (own + (m - tables.rows)) % m), (-1, (own + tables.rows) % m)):
        for k, (b, key) in enumerate(zip(tables.ids, tables.ratio_keys(rest, tables.first_inverse(rest)))):
            a = tables.ratios.get(key)
            if a is not None and a in net.nodes and a != target and b != target and a != b:
                factor = ratio(rest[k], net.nodes[a].print, net.points)
                if factor is not None:
                    yield _multiple_plus(a, factor, b, sign)


def two_products(target: int, net: SearchGraph, tables: Tables, some: np.ndarray) -> Iterator[Equivalent]:
    """The target as a b + c d, for the products of the values numbered `some` in the tables with all others."""
    m, own = net.moduli, net.nodes[target].print
    products, nodes, ids = tables.products, net.nodes, tables.ids
    for i in some.tolist():
        a = ids[i]
        made = tables.rows * tables.rows[i] % m
        for sign, rest in ((1, (own + (m - made)) % m), (-1, (own + made) % m)):
            for k, key in enumerate(tables.keys(rest)):
                if key in products:
                    c, d = products[key]
                    b = ids[k]
                    if c in nodes and d in nodes and target not in (a, b, c, d) and {a, b} != {c, d}:
                        yield _two_products((a, b), sign, (c, d), rest[k])


def _living(net: SearchGraph, pair: tuple[int, ...]) -> bool:
    return all(index in net.nodes for index in pair)


def _is_multiple(net: SearchGraph, node: Node, other: int) -> bool:
    """Whether the node already is a constant times `other`."""
    args = [arg for arg, _ in node.args]
    return node.kind is Kind.MUL and other in args and any(net.is_constant(arg) for arg in args)


def _as(net: SearchGraph, made: Signed, residues: Print) -> Signed:
    """`made` with the sign that gives these residues."""
    return made if np.array_equal(net.value(made), residues) else (made[0], -made[1])


def _pair(net: SearchGraph, pair: tuple[int, int], kind: Kind, sign: int, residues: Print) -> Signed:
    a, b = pair
    return _as(net, net.mul((a, 1), (b, 1)) if kind is Kind.MUL else net.add((a, 1), (b, sign)), residues)


def _plus(a: int, sign: int, pair: tuple[int, int], rest: Print, kind: Kind, inner: int) -> Equivalent:
    adds, muls = (2, 0) if kind is Kind.ADD else (1, 1)
    return Equivalent(adds, muls, (a, *pair), lambda net: net.add((a, sign), _pair(net, pair, kind, inner, rest)))


def _times(a: int, pair: tuple[int, int], rest: Print, kind: Kind, inner: int) -> Equivalent:
    adds, muls = (1, 1) if kind is Kind.ADD else (0, 2)
    return Equivalent(adds, muls, (a, *pair), lambda net: net.mul((a, 1), _pair(net, pair, kind, inner, rest)))


def _multiple_plus(a: int, factor: Fraction, b: int, sign: int) -> Equivalent:
    return Equivalent(1, 1, (a, b), lambda net: net.add(net.mul(net.constant(factor), (a, 1)), (b, sign)))


def _two_products(first: tuple[int, int], sign: int, second: tuple[int, int], rest: Print) -> Equivalent:
    def build(net: SearchGraph) -> Signed:
        index, own = net.mul((first[0], 1), (first[1], 1))
        return net.add((index, own * sign), _pair(net, second, Kind.MUL, 1, rest))

    return Equivalent(1, 2, (*first, *second), build)


Rows = np.ndarray


class Tables:
    """Fingerprint -> a value, a product (a, b) or a sum (a, b, sign); keys are blind to the sign of the whole.

    Entries may outlive their nodes: whoever finds one must ask whether it still lives.
    """

    def __init__(self, net: SearchGraph, limit: int) -> None:
        self.net, self.p, self.limit = net, net.points.p, limit
        self.ids: list[int] = []
        self.rows: Rows = np.zeros((0, len(net.moduli)), dtype=np.uint64)
        self.inverses: Rows = np.zeros((0, len(net.moduli)), dtype=np.uint64)
        self.values: dict[int, int] = {}
        self.ratios: dict[int, int] = {}
        self.products: dict[int, tuple[int, int]] = {}
        self.sums: dict[int, tuple[int, int, int]] = {}
        for index in net.order:
            self.insert(index)

    def insert(self, index: int) -> None:
        """Add a node, and its sums and products with all that are there."""
        own = self.net.nodes[index].print
        if not own.all():  # zero, or zero at a point by accident
            return
        m = self.net.moduli
        self.values.setdefault(self.key(own), index)
        self.ids.append(index)
        self.rows = np.vstack([self.rows, own])
        self.inverses = np.vstack([self.inverses, self.net.points.inverse(own)])
        if not self.net.is_constant(index):
            self.ratios.setdefault(self.ratio_keys(own[None, :], self.inverses[-1:])[0], index)
        if len(self.ids) > self.limit:
            return
        others, rows = self.ids[:-1], self.rows[:-1]
        for other, key in zip(self.ids, self.keys(self.rows * own % m)):
            self.products[key] = (other, index)
        for other, key in zip(others, self.keys((rows + own) % m)):
            self.sums[key] = (other, index, 1)
        for other, key in zip(others, self.keys((rows + (m - own)) % m)):
            self.sums[key] = (other, index, -1)

    def compact(self) -> None:
        """Forget the dead."""
        nodes = self.net.nodes
        alive = [k for k, index in enumerate(self.ids) if index in nodes]
        if len(alive) < len(self.ids):
            self.ids = [self.ids[k] for k in alive]
            self.rows, self.inverses = self.rows[alive], self.inverses[alive]

    def keys(self, rows: Rows) -> list[int]:
        """One key a row, the same for a value and its negative."""
        a, b = rows[:, 0], rows[:, 1]
        p = np.uint64(self.p)
        turned = a > np.uint64(self.p // 2)
        a, b = np.where(turned, p - a, a), np.where(turned, (p - b) % p, b)
        return (a << np.uint64(31) | b).tolist()

    def key(self, residues: Print) -> int:
        return self.keys(residues[None, :])[0]

    def ratio_keys(self, rows: Rows, inverses: Rows) -> list[int]:
        """One key a row, the same for all multiples of a value."""
        p = np.uint64(self.p)
        a, b = rows[:, 1] * inverses[:, 0] % p, rows[:, 2] * inverses[:, 0] % p
        return (a << np.uint64(31) | b).tolist()

    def first_inverse(self, rows: Rows) -> Rows:
        """1 / first column, by Fermat, in a column of its own; zero stays zero."""
        p = np.uint64(self.p)
        base = rows[:, :1].copy()
        result = np.ones_like(base)
        exponent = self.p - 2
        while exponent:
            if exponent & 1:
                result = result * base % p
            base = base * base % p
            exponent >>= 1
        return result
