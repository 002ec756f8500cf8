"""A long program in which fewer operations wait for others, at the same price.

Resubstitution drifts among programs of one price by chance, and many of them are long chains: a sum of products of sums
of products has few operations, each of which waits for the one before. Here it drifts to where values are known early.
"""

from __future__ import annotations

from collections.abc import Callable

from emdeg.programs.ir import Kind, Program
from emdeg.programs.registers import estimated_cycles, quickest
from emdeg.programs.search.optimise import tidied
from emdeg.programs.search.resubstitute import ROUNDING, Equivalent, Resubstitution
from emdeg.programs.weights import OPERATIONS, Weights, cost

STEP = 4
CYCLES = {Kind.MUL: STEP, Kind.ADD: STEP, Kind.SUB: STEP, Kind.DIV: 13, Kind.SQRT: 20, Kind.SIN: 60, Kind.COS: 60}
"""From operands to result, by and large."""
MOVES = 10
"""Moves after which it is told anew when values are known."""
STAY = 0.5
"""How often a value that would be known no earlier stays as it is."""
SWEEPS = 2
"""Of all values between two looks at how long the program takes."""


class Hastening(Resubstitution):
    """Resubstitution in which nothing is said by what is known later, unless that is cheaper."""

    _known: dict[int, int]
    _told = -MOVES

    def _score(self, target: int, candidate: Equivalent, change: float) -> tuple[float, ...] | None:
        if target not in self._times():
            self._told = -MOVES
        known = self._times()
        then, now = _arrival(candidate, known), known[target]
        if change > -ROUNDING and (then > now or (then == now and self.random.random() < STAY)):
            return None
        return change, then, self.random.random()

    def _times(self) -> dict[int, int]:
        """When each value is known, as it was a few moves ago."""
        if self.moves >= self._told + MOVES:
            self._known, self._told = {}, self.moves
            for index in self.net.order:
                node = self.net.nodes[index]
                operands = (self._known.get(arg, 0) for arg, _ in node.args)
                self._known[index] = max(operands, default=0) + CYCLES.get(node.kind or Kind.INPUT, 0)
        return self._known


def _arrival(candidate: Equivalent, known: dict[int, int]) -> int:
    """When the expression's value is known: operands are joined from the last to the first, four of them by twos."""
    steps = candidate.adds + candidate.muls
    first, *others = (known.get(operand, 0) for operand in candidate.operands)
    if steps < 2 or not others:
        return max(first, *others, 0) + STEP * steps
    if len(others) == 1:  # a multiple of the first, and the other
        return max(first + STEP, others[0]) + STEP
    if len(others) == 2:
        return max(first, max(others) + STEP) + STEP
    return max(first, *others) + 2 * STEP


def hastened(
    program: Program, until: Callable[[], bool], seed: int = 0, weights: Weights = OPERATIONS, sweeps: int = 100
) -> Program:
    """The cheapest of the forms found until then; of equally cheap ones that of the fewest estimated cycles."""

    def rank(form: Program) -> tuple[float, float]:
        return cost(form, weights), estimated_cycles(quickest(form, waves_lie=True), waves_lie=True)

    search = Hastening(program, seed, weights)
    found, least = program, rank(program)
    for _ in range(0, sweeps, SWEEPS):
        for _ in range(SWEEPS):
            search.sweep(until)
        if until():
            break
        form = tidied(search.net.to_program(), weights)
        if rank(form) < least:
            found, least = form, rank(form)
    return found
