"""Resubstitution: say a value anew in terms of other values that are there already.

A value t whose own operations (the cone that only t needs) number m may be replaced by any expression of at most m
operations on values that do not depend on t. Moves that win are made; moves that neither win nor lose are made at
random, so that the program drifts among its equals until another win appears.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np

from emdeg.programs.ir import Kind, Program
from emdeg.programs.search.equivalents import (
    Equivalent,
    Tables,
    one_operation,
    two_operations,
    two_products,
    with_new_constant,
)
from emdeg.programs.search.graph import SearchGraph
from emdeg.programs.weights import OPERATIONS, Effort, Weights, cost, target_seconds

TABLE_LIMIT = 700
"""Sums and products are listed for the first so many values: the tables grow with the square."""
REBUILD = 300
"""Moves after which the tables are made afresh, the dead entries gone."""
SELDOM = 0.15
"""How often the dearer forms are tried."""


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
        self.moves = 0

    def run(self, until: Callable[[], bool], sweeps: int | None = None) -> Program:
        """The smallest program found after `sweeps` sweeps, or when `until` says stop."""
        done = 0
        while not until() and (sweeps is None or done < sweeps):
            self.sweep(until)
            done += 1
        return self.result()

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
        if self._since_rebuild > REBUILD:
            self.tables = Tables(net, TABLE_LIMIT)
            self._since_rebuild = 0


def resubstitute(program: Program, seconds: float, seed: int = 0, weights: Weights = OPERATIONS) -> Program:
    """The program after resubstitution for so many nominal seconds; never dearer than it was."""
    effort = Effort(seconds)
    smaller = Resubstitution(program, seed, weights, effort.spend).run(effort.until(1.0))
    return smaller if cost(smaller, weights) < cost(program, weights) else program
