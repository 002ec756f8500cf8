"""Factoring: a b + a c becomes a (b + c), and what several sums or products share is computed once.

Greedy: in every round the moves that win most are made, then the network is looked at afresh. A program's sums and
products stand inside each other and are read in several places. As tables of products (`SharedParts`) they would have
to be multiplied out, or every value that is read twice be a letter and stay as it is; here a sum is left where it is
and its readers are counted, so that a program of thousands of operations takes seconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from emdeg.algebra.factoring import pairs, shared, without
from emdeg.programs.ir import Kind, Op, Program
from emdeg.programs.network import (
    Network,
    OtherNode,
    ProductNode,
    SumNode,
    Term,
    make_product,
    make_sum,
    to_network,
    to_program,
)


@dataclass(frozen=True, slots=True)
class TakeOut:
    """Write the terms `terms` of the sum `node` as `factor` times the sum of what is left of them."""

    gain: int
    node: int
    factor: int
    terms: tuple[Term, ...]

    @property
    def touches(self) -> tuple[int, ...]:
        return (self.node, *(term for term, _ in self.terms))


@dataclass(frozen=True, slots=True)
class ShareProduct:
    """Compute the product of two factors once for all the products `nodes`."""

    gain: int
    pair: tuple[int, int]
    nodes: tuple[int, ...]

    @property
    def touches(self) -> tuple[int, ...]:
        return self.nodes


@dataclass(frozen=True, slots=True)
class ShareSum:
    """Compute the sum of two signed terms once, up to its sign, for all the sums `nodes`."""

    gain: int
    pair: tuple[Term, Term]
    nodes: tuple[int, ...]

    @property
    def touches(self) -> tuple[int, ...]:
        return self.nodes


Move = TakeOut | ShareProduct | ShareSum
_ORDER = {TakeOut: 0, ShareSum: 1, ShareProduct: 2}


def factor(program: Program) -> Program:
    """The same function with no more operations: greedy factoring until nothing wins."""
    network = to_network(program)
    while True:
        before = network.cost()
        while _round(network):
            pass
        program = to_program(network)
        # Written out and read again, sums of one use fall into their neighbours and can be factored anew.
        network = to_network(program)
        if network.cost() >= before:
            return program


def _round(network: Network) -> bool:
    """Makes all moves of the largest gain that do not meet; False if there is none."""
    moves = sorted(find_moves(network), key=lambda move: (-move.gain, _ORDER[type(move)], move.touches))
    touched: set[int] = set()
    for move in moves:
        if move.gain < moves[0].gain or not touched.isdisjoint(move.touches):
            continue
        touched.update(move.touches)
        make_move(network, move)
    return bool(moves)


def find_moves(network: Network) -> Iterator[Move]:
    """Every move that saves operations, with what it saves."""
    counts = network.use_counts()
    busy = [number for number in sorted(counts) if number not in network.fixed]
    for number in busy:
        node = network.nodes[number]
        if isinstance(node, SumNode):
            yield from _takings(network, counts, number, node)
    yield from _shared_products(network, busy)
    yield from _shared_sums(network, busy)


def make_move(network: Network, move: Move) -> None:
    match move:
        case TakeOut():
            _take_out(network, move)
        case ShareProduct():
            shared = network.put(ProductNode(move.pair))
            for number in move.nodes:
                node = network.nodes[number]
                assert isinstance(node, ProductNode)
                factors = without(node.factors, move.pair)
                if number != shared:
                    network.replace(number, make_product(network, [*factors, shared]))
        case ShareSum():
            shared = network.put(SumNode(move.pair))
            for number in move.nodes:
                node = network.nodes[number]
                assert isinstance(node, SumNode)
                if number != shared:
                    sign = dict(node.terms)[move.pair[0][0]] * move.pair[0][1]
                    rest = [term for term in node.terms if term[0] not in dict(move.pair)]
                    network.replace(number, make_sum(network, [*rest, (shared, sign)]))


def _takings(network: Network, counts: Counter[int], number: int, node: SumNode) -> Iterator[TakeOut]:
    by_factor: dict[int, list[Term]] = defaultdict(list)
    for term, sign in node.terms:
        product = network.nodes[term]
        if term in network.fixed:
            continue
        if isinstance(product, ProductNode) and counts[term] == 1:
            for candidate in set(product.factors):
                by_factor[candidate].append((term, sign))
    plain = dict(node.terms)
    for candidate, terms in by_factor.items():
        left = [_left(network, term, candidate) for term, _ in terms]
        constant = sum(len(rest) == 1 and rest[0] in network.fixed for rest in left)
        chosen = list(terms)
        if candidate in plain and constant:
            # k a + a: the plain term joins the constants as 1.
            chosen.append((candidate, plain[candidate]))
            constant += 1
        if len(chosen) < 2:
            continue
        gain = len(terms) - 1 + max(0, constant - 1)
        inner = tuple(sorted((rest[0], sign) for rest, (_, sign) in zip(left, terms) if len(rest) == 1))
        if len(inner) == len(chosen):
            twin = network.known.get(SumNode(inner), network.known.get(SumNode(tuple((n, -s) for n, s in inner))))
            if twin is not None and counts[twin] and twin != number:
                gain += len(inner) - 1
        if gain > 0:
            yield TakeOut(gain, number, candidate, tuple(chosen))


def _take_out(network: Network, move: TakeOut) -> None:
    node = network.nodes[move.node]
    assert isinstance(node, SumNode)
    inner: list[Term] = []
    for term, sign in move.terms:
        left = _left(network, term, move.factor)
        if not left:
            one = network.put(OtherNode(Op(Kind.NUMBER, payload=Fraction(1))))
            network.fixed.add(one)
            left = (one,)
        inner.append((left[0] if len(left) == 1 else network.put(ProductNode(left)), sign))
    merged = make_sum(network, inner)
    flipped = SumNode(tuple((n, -s) for n, s in merged.terms))
    outer = 1
    if network.known.get(merged) is None and flipped in network.known:
        merged, outer = flipped, -1
    product = make_product(network, [move.factor, network.put(merged)])
    rest = [term for term in node.terms if term not in move.terms]
    if rest or outer < 0:
        network.replace(move.node, make_sum(network, [*rest, (network.put(product), outer)]))
    else:
        network.replace(move.node, product)


def _left(network: Network, term: int, taken: int) -> tuple[int, ...]:
    """The factors of a term without one of them; none if the term is that factor."""
    node = network.nodes[term]
    return without(node.factors, (taken,)) if isinstance(node, ProductNode) and term != taken else ()


def _shared_products(network: Network, busy: list[int]) -> Iterator[ShareProduct]:
    products = ((number, node.factors) for number in busy if isinstance(node := network.nodes[number], ProductNode))
    for pair, numbers in shared((number, sorted(pairs(factors))) for number, factors in products).items():
        yield ShareProduct(len(numbers) - 1, pair, tuple(numbers))


def _shared_sums(network: Network, busy: list[int]) -> Iterator[ShareSum]:
    """Up to their sign: the first term's is taken out."""
    sums = ((number, node.terms) for number in busy if isinstance(node := network.nodes[number], SumNode))
    signed = (
        (number, [((a, 1), (b, sa * sb)) for (a, sa), (b, sb) in combinations(terms, 2)]) for number, terms in sums
    )
    for pair, numbers in shared(signed).items():
        yield ShareSum(len(numbers) - 1, pair, tuple(numbers))
