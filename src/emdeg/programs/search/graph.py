"""A program as a mutable graph for searches: operations that can be rewired, each with its residues.

Every node is a leaf or one operation on signed earlier nodes; nodes without readers are removed. Values that depend on
constants alone are leaves: arithmetic on them is free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from emdeg.algebra import PrimeColumns, Residues
from emdeg.programs.ir import Dependence, Kind, Op, OutputGroup, Program, Ref, dependences
from emdeg.programs.network import signed
from emdeg.programs.residues import fingerprints
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.weights import OPERATIONS, Weights

Signed = tuple[int, int]
"""(node, +1 or -1)."""


@dataclass(slots=True)
class Node:
    """One value. `kind` None is a leaf: operation number `source` of the original program, or a new `number`."""

    kind: Kind | None
    args: tuple[Signed, ...]
    print: Residues
    source: int = -1
    number: Fraction | None = None


class SearchGraph:
    """The program as a graph. Ids are never reused; a node is removed with its last reader."""

    def __init__(self, program: Program, seed: int, weights: Weights = OPERATIONS) -> None:
        self.program = program
        self.weights = weights
        self.points = PrimeColumns(seed)
        self.moduli = self.points.prime
        self.nodes: dict[int, Node] = {}
        self.readers: dict[int, list[int]] = {}
        self.read: dict[int, int] = {}
        """How often each value is read, outputs included."""
        self.cost = 0.0
        self._order: list[int] | None = None
        self._next = 0
        self._classes = dependences(program)
        place: list[Signed] = []
        for index, (op, residues) in enumerate(zip(program.ops, fingerprints(program, self.points))):
            if self._is_leaf(index):
                place.append((self._new(Node(None, (), residues, source=index)), 1))
            elif op.kind is Kind.NEG:
                place.append((place[op.args[0]][0], -place[op.args[0]][1]))
            else:
                args = tuple(place[arg] for arg in op.args)
                kind = op.kind
                if kind is Kind.SUB:
                    kind, args = Kind.ADD, (args[0], (args[1][0], -args[1][1]))
                place.append((self._new(Node(kind, args, residues)), 1))
        self.outputs: list[list[Signed | None]] = [
            [(place[r.value][0], place[r.value][1] * r.sign) if r.sign else None for r in group.entries]
            for group in program.outputs
        ]
        self._look()

    def _is_leaf(self, index: int) -> bool:
        return self._classes[index] is Dependence.CONSTANTS or self.program.ops[index].kind is Kind.INPUT

    def _new(self, node: Node) -> int:
        index = self._next
        self._next += 1
        self.nodes[index], self._order = node, None
        self.readers[index], self.read[index] = [], 0
        self.cost += self.weights.of(node.kind)
        for arg, _ in node.args:
            self.readers[arg].append(index)
            self.read[arg] += 1
        return index

    @property
    def size(self) -> int:
        """The number of ids given out so far."""
        return self._next

    def value(self, ref: Signed) -> Residues:
        residues = self.nodes[ref[0]].print
        return residues if ref[1] > 0 else (self.moduli - residues) % self.moduli

    def add(self, a: Signed, b: Signed) -> Signed:
        residues = (self.value(a) + self.value(b)) % self.moduli
        return self._new(Node(Kind.ADD, (a, b), residues)), 1

    def mul(self, a: Signed, b: Signed) -> Signed:
        residues = self.nodes[a[0]].print * self.nodes[b[0]].print % self.moduli
        return self._new(Node(Kind.MUL, ((a[0], 1), (b[0], 1)), residues)), a[1] * b[1]

    def constant(self, value: Fraction) -> Signed:
        return self._new(Node(None, (), self.points.number(value).value, number=value)), 1

    def is_constant(self, index: int) -> bool:
        node = self.nodes[index]
        return node.kind is None and (node.number is not None or self._classes[node.source] is Dependence.CONSTANTS)

    def roots(self) -> Iterable[int]:
        for group in self.outputs:
            for ref in group:
                if ref is not None:
                    yield ref[0]

    @property
    def order(self) -> list[int]:
        """The living nodes, arguments first."""
        if self._order is None:
            order: list[int] = []
            seen: set[int] = set()
            nodes = self.nodes
            for root in self.roots():
                stack = [root]
                while stack:
                    index = stack.pop()
                    if index < 0:
                        order.append(~index)
                    elif index not in seen:
                        seen.add(index)
                        stack.append(~index)
                        stack.extend(arg for arg, _ in nodes[index].args if arg not in seen)
            self._order = order
        return self._order

    def _look(self) -> None:
        """Recompute the living nodes, their readers and the cost."""
        self._order = None
        order, nodes = self.order, self.nodes
        self.nodes = {index: nodes[index] for index in order}
        self.readers = {index: [] for index in order}
        for index in order:
            for arg, _ in nodes[index].args:
                self.readers[arg].append(index)
        self.read = {index: len(readers) for index, readers in self.readers.items()}
        for root in self.roots():
            self.read[root] += 1
        self.cost = self.weight(order)

    def cone(self, root: int) -> set[int]:
        """The values that only `root` needs, itself included: they are removed with it."""
        gone = {root}
        missing: dict[int, int] = {}
        stack = [root]
        while stack:
            for arg, _ in self.nodes[stack.pop()].args:
                missing[arg] = missing.get(arg, 0) + 1
                if missing[arg] == self.read[arg]:
                    gone.add(arg)
                    stack.append(arg)
        return gone

    def weight(self, group: Iterable[int]) -> float:
        return sum(self.weights.of(self.nodes[index].kind) for index in group)

    def beyond(self, root: int) -> set[int]:
        """Every node that depends on `root`, itself included."""
        found = {root}
        stack = [root]
        while stack:
            for reader in self.readers[stack.pop()]:
                if reader not in found:
                    found.add(reader)
                    stack.append(reader)
        return found

    def redirect(self, old: int, new: Signed) -> None:
        """Replace `old` by `new` in all its readers; remove `old` and what only it needed."""
        index, sign = new
        for reader in set(self.readers[old]):
            node = self.nodes[reader]
            node.args = tuple((index, s * sign) if arg == old else (arg, s) for arg, s in node.args)
        for group in self.outputs:
            for k, ref in enumerate(group):
                if ref is not None and ref[0] == old:
                    group[k] = (index, ref[1] * sign)
        self.readers[index] += self.readers[old]
        self.read[index] += self.read[old]
        self.readers[old], self.read[old], self._order = [], 0, None
        self.forget(old)

    def forget(self, index: int) -> None:
        """Remove a value without readers, and what only it needed."""
        stack = [] if self.read[index] else [index]
        while stack:
            gone = stack.pop()
            node = self.nodes.pop(gone)
            del self.readers[gone], self.read[gone]
            self.cost -= self.weights.of(node.kind)
            for arg, _ in node.args:
                self.readers[arg].remove(gone)
                self.read[arg] -= 1
                if not self.read[arg]:
                    stack.append(arg)

    def snapshot(self) -> tuple[dict[int, Node], list[list[Signed | None]]]:
        copies = {
            index: Node(node.kind, node.args, node.print, node.source, node.number)
            for index, node in self.nodes.items()
        }
        return copies, [list(group) for group in self.outputs]

    def restore(self, state: tuple[dict[int, Node], list[list[Signed | None]]]) -> None:
        self.nodes, self.outputs = state
        self._look()

    def to_program(self) -> Program:
        """The graph written out again."""
        tracer = Tracer.like(self.program)
        leaves: list[Traced] = []
        for index, op in enumerate(self.program.ops):
            args = [leaves[arg] for arg in op.args]
            leaves.append(tracer.apply(op, args) if self._is_leaf(index) else tracer.number(0))
        values: dict[int, Traced] = {}
        for index in self.order:
            node = self.nodes[index]
            if node.kind is None:
                values[index] = tracer.number(node.number) if node.number is not None else leaves[node.source]
            else:
                args = [signed(values[arg], sign) for arg, sign in node.args]
                values[index] = tracer.apply(Op(node.kind, tuple(range(len(args)))), args)
        outputs = tuple(
            OutputGroup(
                group.name,
                group.shape,
                tuple(Ref(0, 0) if ref is None else signed(values[ref[0]], ref[1]).ref for ref in refs),
            )
            for group, refs in zip(self.program.outputs, self.outputs)
        )
        return Program(self.program.name, self.program.inputs, tuple(tracer.ops), outputs)
