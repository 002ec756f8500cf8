"""How many cycles a processor takes for a straight line, by and large: enough to tell with which order it is quicker.

It begins the next instructions in their order and may have several hundred under way. A sum or a product waits among
few others until what it reads is known and a unit is free for it; where that many wait, all that follow do.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from emdeg.programs.instructions import Act, Instructions, Step
from emdeg.programs.ir import Kind

AT_ONCE = 8
"""Instructions that begin in a cycle."""
UNDER_WAY = 448
"""Instructions of which the first is not done yet."""
WAITING = 80
"""Sums and products that wait for operands or a unit."""
UNITS = 2
"""For products, for sums, and for reads of memory; one for writes."""
PRODUCT, SUM, READ, DIVISION = 4, 3, 9, 13
"""Cycles until a result is known."""
ACCESS = 0.02
"""Cycles that a read or a write of memory is worth where nothing waits for it."""
CACHED, DECODED = 4800, 0.5
"""Instructions that a processor keeps ready, and the cycles that each takes beyond them."""


class Pipeline:
    """What a program's instructions are like; `cycles` tells how long an order of them takes."""

    def __init__(self, instructions: Instructions) -> None:
        ops = instructions.program.ops
        self.reading = dict(zip(instructions.order, instructions.reading))
        self.kinds: dict[int, tuple[bool, int, int]] = {}
        """Per value: whether a unit for products computes it, how long, and how many numbers it reads from memory."""
        for value in instructions.order:
            op, own = ops[value], instructions.inside.get(value)
            args = [arg for arg in op.args if arg != own] + list(ops[own].args if own is not None else ())
            numbers = sum(arg in instructions.numbers for arg in args)
            long = op.kind in (Kind.DIV, Kind.SQRT)
            product = long or own is not None or op.kind is Kind.MUL
            self.kinds[value] = product, DIVISION if long else PRODUCT if product else SUM, numbers
        self.waves = {value for value in instructions.order if ops[value].kind in (Kind.SIN, Kind.COS)}

    def cycles(self, steps: Iterable[Step], access: float = ACCESS) -> float:
        """From the first instruction to the last result; a read or a write of memory is worth `access` besides."""
        products, sums, reads, writes = (bytearray(1 << 10) for _ in range(4))
        known: dict[int, int] = {}
        """When values in registers are there."""
        lying: dict[int, int] = {}
        """When values that were kept in memory are there."""
        done: list[int] = []
        waiting: list[int] = []
        now = places = last = accesses = 0

        def free(unit: bytearray, at: int, many: int) -> int:
            """The cycle from then on in which the unit takes another."""
            nonlocal accesses
            accesses += unit is reads or unit is writes
            while True:
                if at >= len(unit):
                    unit.extend(bytes(at + len(unit)))
                if unit[at] < many:
                    unit[at] += 1
                    return at
                at += 1

        def begin() -> None:
            nonlocal now, places
            if places >= AT_ONCE:
                now, places = now + 1, 0
            if len(done) >= UNDER_WAY and done[-UNDER_WAY] > now:
                now, places = done[-UNDER_WAY], 0
            places += 1

        def end(at: int) -> None:
            nonlocal last
            last = max(last, at)
            done.append(last)

        for step in steps:
            value, act = step.value, step.act
            if act is Act.COMPUTE:
                if value in self.waves:
                    continue
                begin()
                ready, far = now + 1, 0
                for arg in self.reading[value]:
                    if arg in known:
                        ready = max(ready, known[arg])
                        continue
                    if far:  # an instruction reads one operand from memory, a further one needs its own
                        begin()
                        end(now + READ)
                    far += 1
                    ready = max(ready, free(reads, max(now + 1, lying.get(arg, 0)), UNITS) + READ)
                product, long, numbers = self.kinds[value]
                for _ in range(numbers):
                    ready = max(ready, free(reads, now + 1, UNITS) + READ)
                while waiting and waiting[0] <= now:
                    heappop(waiting)
                if len(waiting) >= WAITING:
                    now, places = heappop(waiting), 1
                at = free(products if product else sums, ready, UNITS)
                heappush(waiting, at)
                known[value] = at + long
                end(at + long)
            elif act is Act.LOAD:
                begin()
                known[value] = free(reads, max(now + 1, lying.get(value, 0)), UNITS) + READ
                end(known[value])
            elif act is Act.LEAVE:
                known.pop(value, None)
            else:
                begin()
                at = free(writes, max(now + 1, known.get(value, 0)), 1) + 1
                if act is Act.KEEP:
                    lying[value] = at
                end(at)
        return last + access * accesses + DECODED * max(0, len(done) - CACHED)
