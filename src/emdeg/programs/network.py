"""Greedy factoring of a program as a network of sums and products of any length: a b + a c becomes a (b + c).

A chain of additions whose partial sums are not read elsewhere is one sum, and likewise for products. Values keep
the program's sign convention: only a sum's terms and the outputs carry signs.

Factoring is greedy: in every round the moves that win most are made, then the network is looked at afresh. A program's
sums and products stand inside each other and are read in several places. As tables of products (`SharedParts`) they
would have to be multiplied out, or every value that is read twice be a symbol and stay as it is; here a sum is left
where it is and its readers are counted, so that a program of thousands of operations takes seconds.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from emdeg.algebra.factoring import pairs, shared, without
from emdeg.programs.ir import Dependence, Kind, Op, OutputGroup, Program, dependences, live, uses
from emdeg.programs.trace import Traced, Tracer

Term = tuple[int, int]
"""(node, sign)"""


@dataclass(frozen=True, slots=True)
class SumNode:
    """The signed sum of its terms, no node twice."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ProductNode:
    """The product of its factors, sorted; a square has its factor twice."""

    factors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OtherNode:
    """A leaf, or an operation that is neither a sum nor a product, on nodes."""

    op: Op


Node = SumNode | ProductNode | OtherNode


@dataclass
class Network:
    """Nodes by number. `fixed` holds those that depend on constants alone, which cost nothing."""

    program: Program
    nodes: dict[int, Node] = field(default_factory=dict)
    fixed: set[int] = field(default_factory=set)
    outputs: tuple[OutputGroup, ...] = ()
    next_number: int = 0
    known: dict[Node, int] = field(default_factory=dict)

    def put(self, node: Node, number: int | None = None) -> int:
        """The number of `node`, which is added where it is new."""
        if number is None:
            if node in self.known:
                return self.known[node]
            number = self.next_number
        self.next_number = max(self.next_number, number + 1)
        self.nodes[number] = node
        self.known.setdefault(node, number)
        if all(arg in self.fixed for arg in arguments(node)) and arguments(node):
            self.fixed.add(number)
        return number

    def number(self, value: int) -> int:
        """The node of a number."""
        node = self.put(OtherNode(Op(Kind.NUMBER, payload=Fraction(value))))
        self.fixed.add(node)
        return node

    def replace(self, number: int, node: Node) -> None:
        old = self.nodes[number]
        if self.known.get(old) == number:
            del self.known[old]
        self.nodes[number] = node
        self.known.setdefault(node, number)

    def use_counts(self) -> Counter[int]:
        """How often each node is read by nodes that outputs need, and by outputs."""
        counts: Counter[int] = Counter()
        pending = []
        for group in self.outputs:
            for ref in group.entries:
                if ref.sign:
                    counts[ref.value] += 1
                    pending.append(ref.value)
        seen = set(pending)
        pending = list(seen)
        while pending:
            for arg in arguments(self.nodes[pending.pop()]):
                counts[arg] += 1
                if arg not in seen:
                    seen.add(arg)
                    pending.append(arg)
        return counts

    def cost(self) -> int:
        """Additions and multiplications that the outputs need."""
        return sum(_cost(self.nodes[n]) for n in self.use_counts() if n not in self.fixed)


def arguments(node: Node) -> tuple[int, ...]:
    if isinstance(node, SumNode):
        return tuple(term for term, _ in node.terms)
    return node.factors if isinstance(node, ProductNode) else node.op.args


def make_sum(network: Network, terms: list[Term]) -> SumNode:
    """The sum with equal terms merged and its constants gathered into one."""
    weight: Counter[int] = Counter()
    for node, sign in terms:
        weight[node] += sign
    merged: list[Term] = []
    fixed: list[Term] = []
    for node, times in sorted(weight.items()):
        if abs(times) > 1:
            node = network.put(make_product(network, [network.number(abs(times)), node]))
        if times:
            (fixed if node in network.fixed else merged).append((node, 1 if times > 0 else -1))
    if len(fixed) > 1:
        # A constant's overall sign stays outside, so that -(k1 + k2) and k1 + k2 are one constant.
        sign = fixed[0][1]
        fixed = [(network.put(SumNode(tuple((n, s * sign) for n, s in fixed))), sign)]
    return SumNode(tuple(sorted(merged + fixed)))


def make_product(network: Network, factors: list[int]) -> ProductNode:
    """The product with its constants gathered into one."""
    fixed = sorted(factor for factor in factors if factor in network.fixed)
    others = [factor for factor in factors if factor not in network.fixed]
    if len(fixed) > 1:
        fixed = [network.put(ProductNode(tuple(fixed)))]
    return ProductNode(tuple(sorted(fixed + others)))


def to_network(program: Program) -> Network:
    """The network of what the outputs need."""
    network = Network(program, outputs=program.outputs, next_number=program.size)
    needed, classes, times = live(program), dependences(program), uses(program)
    rooted = set(program.roots())
    for index, op in enumerate(program.ops):
        if not needed[index]:
            continue
        if classes[index] is Dependence.CONSTANTS:
            network.put(OtherNode(op), index)
            network.fixed.add(index)
            continue
        inline = [
            None if times[arg] > 1 or arg in rooted or arg in network.fixed else network.nodes[arg] for arg in op.args
        ]
        if op.kind in (Kind.ADD, Kind.SUB):
            terms: list[Term] = []
            for position, (arg, node) in enumerate(zip(op.args, inline)):
                sign = -1 if op.kind is Kind.SUB and position else 1
                inner = node.terms if isinstance(node, SumNode) else ((arg, 1),)
                terms += [(term, s * sign) for term, s in inner]
            network.put(make_sum(network, terms), index)
        elif op.kind is Kind.MUL:
            factors: list[int] = []
            for arg, node in zip(op.args, inline):
                factors += node.factors if isinstance(node, ProductNode) else (arg,)
            network.put(make_product(network, factors), index)
        else:
            network.put(OtherNode(op), index)
    return network


def to_program(network: Network) -> Program:
    """The program of a network; long sums and products join their earliest values first."""
    tracer = Tracer.like(network.program)
    done: dict[int, Traced] = {}
    depth: dict[int, int] = {}

    def visit(root: int) -> None:
        stack = [root]
        while stack:
            number = stack[-1]
            if number in done:
                stack.pop()
                continue
            node = network.nodes[number]
            missing = [arg for arg in arguments(node) if arg not in done]
            if missing:
                stack += reversed(missing)
                continue
            stack.pop()
            if isinstance(node, OtherNode):
                done[number] = tracer.apply(node.op, [done[arg] for arg in node.op.args])
                depth[number] = 1 + max((depth[arg] for arg in node.op.args), default=-1)
            else:
                done[number], depth[number] = _join(tracer, node, done, depth)

    outputs = {}
    for group in network.outputs:
        for ref in group.entries:
            if ref.sign:
                visit(ref.value)
        entries = tuple(signed(done[ref.value], ref.sign).ref if ref.sign else ref for ref in group.entries)
        outputs[group.name] = OutputGroup(group.name, group.shape, entries)
    program = tracer.program(network.program.name, {})
    return Program(program.name, network.program.inputs, program.ops, tuple(outputs.values()))


def signed(value: Traced, sign: int) -> Traced:
    return -value if sign < 0 else value


def _join(
    tracer: Tracer, node: SumNode | ProductNode, done: dict[int, Traced], depth: dict[int, int]
) -> tuple[Traced, int]:
    """A sum's or product's value: the two shallowest operands first, so that it stays shallow."""
    if isinstance(node, SumNode):
        items = [(depth[n], i, signed(done[n], sign)) for i, (n, sign) in enumerate(node.terms)]
        combine, neutral = tracer.add, tracer.number(0)
    else:
        items = [(depth[n], i, done[n]) for i, n in enumerate(node.factors)]
        combine, neutral = tracer.mul, tracer.number(1)
    if not items:
        return neutral, 0
    heapq.heapify(items)
    fresh = len(items)
    while len(items) > 1:
        a, b = heapq.heappop(items), heapq.heappop(items)
        heapq.heappush(items, (max(a[0], b[0]) + 1, fresh, combine(a[2], b[2])))
        fresh += 1
    return items[0][2], items[0][0]


def _cost(node: Node) -> int:
    if isinstance(node, SumNode | ProductNode):
        return max(0, len(arguments(node)) - 1)
    return 0


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
class Share:
    """Compute the sum of two signed terms, up to its sign, or the product of two factors once for all the `nodes`."""

    gain: int
    part: SumNode | ProductNode
    nodes: tuple[int, ...]

    @property
    def touches(self) -> tuple[int, ...]:
        return self.nodes


Move = TakeOut | Share


def _rank(move: Move) -> tuple[int, int, tuple[int, ...]]:
    """The larger gain first; of equal ones factors are taken out first, then sums shared, then products."""
    order = 0 if isinstance(move, TakeOut) else 1 + isinstance(move.part, ProductNode)
    return -move.gain, order, move.touches


def factor(program: Program) -> Program:
    """An equivalent program with no more operations: greedy factoring until nothing saves an operation."""
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
    """Make all disjoint rewrites of the largest gain; False if there is none."""
    moves = sorted(find_moves(network), key=_rank)
    touched: set[int] = set()
    for move in moves:
        if move.gain < moves[0].gain or not touched.isdisjoint(move.touches):
            continue
        touched.update(move.touches)
        make_move(network, move)
    return bool(moves)


def find_moves(network: Network) -> Iterator[Move]:
    """Every rewrite that saves operations."""
    counts = network.use_counts()
    busy = [number for number in sorted(counts) if number not in network.fixed]
    for number in busy:
        node = network.nodes[number]
        if isinstance(node, SumNode):
            yield from _takings(network, counts, number, node)
    yield from _shared_pairs(network, busy)


def make_move(network: Network, move: Move) -> None:
    if isinstance(move, TakeOut):
        _take_out(network, move)
        return
    shared, pair = network.put(move.part), move.part
    for number in move.nodes:
        node = network.nodes[number]
        if number == shared:
            continue
        if isinstance(pair, ProductNode):
            assert isinstance(node, ProductNode)
            network.replace(number, make_product(network, [*without(node.factors, pair.factors), shared]))
        else:
            assert isinstance(node, SumNode)
            (first, own), (second, _) = pair.terms
            rest = [term for term in node.terms if term[0] not in (first, second)]
            network.replace(number, make_sum(network, [*rest, (shared, dict(node.terms)[first] * own)]))


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
            left = (network.number(1),)
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


def _shared_pairs(network: Network, busy: list[int]) -> Iterator[Share]:
    """Pairs of factors, and of terms up to their sign (the first term's is taken out), that several nodes have."""
    products: list[tuple[int, list[tuple[int, int]]]] = []
    sums: list[tuple[int, list[tuple[Term, Term]]]] = []
    for number in busy:
        node = network.nodes[number]
        if isinstance(node, ProductNode):
            products.append((number, sorted(pairs(node.factors))))
        elif isinstance(node, SumNode):
            found = combinations(node.terms, 2)
            sums.append((number, [((a, 1), (b, first * second)) for (a, first), (b, second) in found]))
    for factors, numbers in shared(products).items():
        yield Share(len(numbers) - 1, ProductNode(factors), tuple(numbers))
    for terms, numbers in shared(sums).items():
        yield Share(len(numbers) - 1, SumNode(terms), tuple(numbers))
