"""A long program in parts: each computes some of the results, and anew what several of them need.

A thread that computes every result of a long program at once has more values to keep than registers. Results that need
much the same are kept together, so that little is computed twice. The parts follow each other in a thread, or are done
by threads of their own.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from emdeg.programs import ROOM, Kind, Program, Ref, fullest, prune, schedule
from emdeg.runtime.cuda.staging import RowPiece, result_pieces

CROWDED = {32: 2.0, 64: 1.7}
"""How many times `ROOM` values at once, by their bits, make parts worth while: measured on an H200, as all of these."""
AGAIN = 1.5
"""How many times a program's operations its parts may have together."""
FEW, MANY = 1 << 10, 1 << 17
"""Up to so many states threads are too few for a card; from so many on parts pay in single precision."""
LONG = 1500
"""Operations of a program that few states wait for."""
MOST_UNITS = 400
"""Pieces of results that are put together one by one; of more, neighbours are first."""

Unit = tuple[str, RowPiece]
"""Entries of an output that leave together: its name, and which columns of its row."""


@dataclass(frozen=True, slots=True)
class KernelPart:
    """A program with the operations of some results alone: those in `units`. The others are zeros in it."""

    program: Program
    units: tuple[Unit, ...]

    def fullest(self) -> int:
        """The most values that must be kept at once: a result waits for those that leave with it."""
        return _fullest(self.program, self.units)


def kernel_parts(program: Program, bits: int, count: int = 1) -> tuple[KernelPart, ...]:
    """The parts of a program, at most as many as were asked for."""
    units = [(group.name, piece) for group in program.outputs for piece in result_pieces(len(group.entries), bits)]
    if count == 1:
        return (KernelPart(program, tuple(units)),)
    return tuple(_part(program, each) for each in _shares(program, units, count))


def crowd(states: int) -> int:
    """Whether states are few, many, or neither: -1, 1, 0. Where that is the same, so are the suitable parts."""
    return (states >= MANY) - (states <= FEW)


def suitable_parts(program: Program, bits: int, states: int) -> tuple[KernelPart, ...]:
    """The program whole, or in two parts: where it has far more values at once than a thread has registers, as
    derivatives and regressors have; or where it is long, and states are few, so that threads are.

    What a mass matrix's parts share is most of it, and forward dynamics has one part: they stay whole.
    """
    whole = kernel_parts(program, bits)
    crowded = whole[0].fullest() * bits > CROWDED[bits] * ROOM * 32 and (bits == 64 or crowd(states) > 0)
    if not crowded and (crowd(states) >= 0 or program.size < LONG):
        return whole
    both = kernel_parts(program, bits, 2)
    return both if len(both) == 2 and sum(part.program.size for part in both) <= AGAIN * program.size else whole


def _part(program: Program, units: Sequence[Unit]) -> KernelPart:
    mine = {(name, place) for name, piece in units for place in piece.places}
    outputs = tuple(
        replace(
            group,
            entries=tuple(ref if (group.name, at) in mine else Ref(0, 0) for at, ref in enumerate(group.entries)),
        )
        for group in program.outputs
    )
    alone = prune(replace(program, outputs=outputs))
    return KernelPart(schedule(alone, lambda each: _fullest(each, units)), tuple(units))


def _fullest(program: Program, units: Iterable[Unit]) -> int:
    return fullest(program, (_values(program, unit) for unit in units))


def _values(program: Program, unit: Unit) -> set[int]:
    name, piece = unit
    entries = next(group.entries for group in program.outputs if group.name == name)
    return {entries[place].value for place in piece.places if entries[place].sign}


def _shares(program: Program, units: Sequence[Unit], count: int) -> list[list[Unit]]:
    """The units in `count` shares: again and again the two are put together that need fewest operations together."""
    needs = _needs(program)
    together = [[unit] for unit in units]
    while len(together) > max(MOST_UNITS, count):
        together = [[unit for each in together[k : k + 2] for unit in each] for k in range(0, len(together), 2)]
    shares: dict[int, tuple[int, list[Unit]]] = {}
    for number, each in enumerate(together):
        need = 0
        for unit in each:
            for value in _values(program, unit):
                need |= needs[value]
        shares[number] = need, each
    pairs = [((shares[a][0] | shares[b][0]).bit_count(), a, b) for a, b in combinations(shares, 2)]
    heapq.heapify(pairs)
    while len(shares) > count:
        _, a, b = heapq.heappop(pairs)
        if a not in shares or b not in shares:
            continue
        (need, mine), (other, theirs) = shares.pop(a), shares.pop(b)
        number, need = len(together), need | other
        together.append(mine + theirs)
        for each, (other, _) in shares.items():
            heapq.heappush(pairs, ((need | other).bit_count(), each, number))
        shares[number] = need, together[number]
    return [each for _, each in shares.values()]


def _needs(program: Program) -> list[int]:
    """Per value the operations that it needs, itself too: a bit each; numbers cost nothing."""
    needs: list[int] = []
    for index, op in enumerate(program.ops):
        need = 0 if op.kind is Kind.NUMBER else 1 << index
        for arg in op.args:
            need |= needs[arg]
        needs.append(need)
    return needs
