"""Ways to say a value in terms of others: found in the tables, built on demand.

Each is an `Equivalent`: what it costs, which nodes it stands on, how to build it. The forms are
    x,  k x,  a b,  a + b                                       (at most one operation)
    a + b c,  a + b + c,  (a + b) c,  a b c,  k a + b           (two)
    a b + c d                                                   (three)
with signs anywhere and k a new constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.programs.ir import Kind
from emdeg.programs.search.fingerprint import Print, ratio
from emdeg.programs.search.graph import Node, SearchGraph, Signed

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
