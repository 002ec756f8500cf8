"""A program divided among processors: a balanced split, the values that must pass, and the critical path.

List scheduling: operations in the order of the longest way that still lies before them, each on the processor where it
can start first; a value made on another processor arrives `delay` operations late.
"""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.documents import Shown
from emdeg.programs import Dependence, Kind, Program, dependences, live

COUNTED = frozenset({Kind.ADD, Kind.SUB, Kind.MUL, Kind.DIV, Kind.SQRT})


@dataclass(frozen=True)
class Split(Shown):
    """Which processor computes each operation; times in operations."""

    processors: int
    of: dict[int, int]
    """Operation's index -> processor."""
    start: dict[int, int]
    load: tuple[int, ...]
    """Operations of each processor."""
    span: int
    """When the last one ends."""
    critical: int
    """The longest chain of operations: no number of processors ends sooner."""
    passed: tuple[tuple[int, int, int], ...]
    """(value, from, to): what must pass between processors."""

    @property
    def speedup(self) -> float:
        return sum(self.load) / self.span if self.span else 1.0

    def data(self) -> dict[str, object]:
        return {
            "processors": self.processors,
            "operations": list(self.load),
            "span": self.span,
            "critical_path": self.critical,
            "speedup": self.speedup,
            "values_passed": len(self.passed),
        }


def split(program: Program, processors: int, delay: int = 1) -> Split:
    """The program on so many processors. Sines, cosines, inputs and constants are at hand everywhere.

    >>> import emdeg
    >>> two = split(emdeg.program(emdeg.load("planar3r"), "inverse_dynamics"), 2)
    >>> two.critical <= two.span < sum(two.load)
    True
    """
    if processors < 1 or delay < 0:
        raise ValueError("there must be a processor at least, and no negative delay")
    needed, classes = live(program), dependences(program)
    work = [
        i
        for i, op in enumerate(program.ops)
        if needed[i] and op.kind in COUNTED and classes[i] is not Dependence.CONSTANTS
    ]
    mine = set(work)
    # A sine waits for the sum that is its angle.
    waits = {i: _sources(program, i, mine) for i in work}
    readers: dict[int, list[int]] = {i: [] for i in work}
    for i in work:
        for source in waits[i]:
            readers[source].append(i)
    ahead: dict[int, int] = {}
    for i in reversed(work):
        ahead[i] = 1 + max((ahead[r] for r in readers[i]), default=0)
    free = [0] * processors
    load = [0] * processors
    of: dict[int, int] = {}
    start: dict[int, int] = {}
    left = {i: len(waits[i]) for i in work}
    ready = [i for i in work if not left[i]]
    while ready:
        ready.sort(key=lambda i: (-ahead[i], i))
        chosen = ready.pop(0)

        def begins(p: int, i: int = chosen) -> int:
            arrive = [start[s] + 1 + (delay if of[s] != p else 0) for s in waits[i]]
            return max([free[p], *arrive])

        best = min(range(processors), key=lambda p: (begins(p), load[p], p))
        start[chosen], of[chosen] = begins(best), best
        free[best] = start[chosen] + 1
        load[best] += 1
        for reader in readers[chosen]:
            left[reader] -= 1
            if not left[reader]:
                ready.append(reader)
    crossing = {(s, of[s], of[i]) for i in work for s in waits[i] if of[s] != of[i]}
    return Split(processors, of, start, tuple(load), max(free), max(ahead.values(), default=0), tuple(sorted(crossing)))


def _sources(program: Program, index: int, counted: set[int]) -> list[int]:
    """The counted operations that one waits for, through what costs nothing."""
    found: list[int] = []
    stack = list(program.ops[index].args)
    while stack:
        arg = stack.pop()
        if arg in counted:
            if arg not in found:
                found.append(arg)
        else:
            stack.extend(program.ops[arg].args)
    return found
