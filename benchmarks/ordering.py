"""The order of a long program's operations in which a processor is done sooner, as far as its estimate tells.

The package estimates an order in some hundredths of a second, which is enough to choose between a few. A search asks
millions of times, so ordering.c, compiled by gcc into build/bench, gives the same answer in a thousandth of that.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from emdeg.programs import pipeline
from emdeg.programs.instructions import Instructions
from emdeg.programs.ir import Program
from emdeg.programs.registers import NEAR, REGISTERS, quickest
from emdeg.programs.simplification import reordered

SOURCE = Path(__file__).with_suffix(".c")
CACHE = SOURCE.parents[1] / "build" / "bench"
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]

FAR = (10, 10, 60, 400)
"""Places that an operation moves at the most, drawn from these."""
WARM, COLD = 0.2, 0.02
"""Cycles by which an order may take longer, by and large, at the first try and at the last."""
ACCESS = 0.1
"""Cycles that a read or a write of memory is worth here: more than in an estimate, to make room for further moves."""


class _Program(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("instructions", "inputs", "literals", "results")] + [
        (name, ctypes.POINTER(ctypes.c_int))
        for name in ("start", "reads", "wave", "product", "latency", "numbers", "stores", "result")
    ]


class _Processor(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int)
        for name in ("registers", "near", "at_once", "under_way", "waiting", "units", "read", "cached")
    ] + [(name, ctypes.c_double) for name in ("access", "decoded")]


def in_quicker_order(program: Program, tries: int, seed: int = 0) -> Program:
    """The program with its operations in the quickest order of so many; the same for a seed."""
    there = quickest(program, waves_lie=True)
    best = _numbers(range(len(there.order)))
    far = _numbers(FAR)
    given, processor = map(ctypes.byref, (_described(there), _processor(ACCESS)))
    heat = map(ctypes.c_double, (WARM, COLD))
    found = _library().search(given, processor, ctypes.c_long(tries), ctypes.c_uint64(seed), *heat, far, len(FAR), best)
    if found < 0:
        raise MemoryError("for the search")
    return _in_order(there.permuted(list(best)))


def _in_order(instructions: Instructions) -> Program:
    """The program with its operations in the order of the instructions."""
    program, placed = instructions.program, dict[int, None]()

    def put(index: int) -> None:
        for arg in program.ops[index].args:
            if arg not in placed:
                put(arg)
        placed[index] = None

    for index in (*instructions.order, *range(program.size)):
        if index not in placed:
            put(index)
    return reordered(program, list(placed))


def estimated_cycles(instructions: Instructions, access: float = pipeline.ACCESS) -> float:
    """What `emdeg.programs.registers.estimated_cycles` says where sines lie in memory."""
    order = _numbers(range(len(instructions.order)))
    return _library().estimate(*map(ctypes.byref, (_described(instructions), _processor(access))), order)


def _described(instructions: Instructions) -> _Program:
    program, order = instructions.program, instructions.order
    line = pipeline.Pipeline(instructions)
    inputs = sorted(instructions.inputs)
    number = {value: k for k, value in enumerate([*order, *inputs])}
    stores, literals = Counter[int](), 0
    for group in program.outputs:
        for ref in group.entries:
            if ref.sign and ref.value not in instructions.numbers:
                stores[ref.value] += 1
            else:
                literals += 1
    reads = [[number[arg] for arg in read] for read in instructions.reading]
    start = [0]
    for read in reads:
        start.append(start[-1] + len(read))
    columns = (
        start,
        [place for read in reads for place in read],
        [value in line.waves for value in order],
        *([line.kinds[value][part] for value in order] for part in range(3)),
        [stores[value] for value in number],
        [number[value] for value in stores],
    )
    return _Program(len(order), len(inputs), literals, len(stores), *map(_numbers, columns))


def _processor(access: float) -> _Processor:
    of = pipeline
    return _Processor(
        REGISTERS, NEAR, of.AT_ONCE, of.UNDER_WAY, of.WAITING, of.UNITS, of.READ, of.CACHED, access, of.DECODED
    )


def _numbers(values: Sequence[int]) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * len(values))(*map(int, values))


@cache
def _library() -> ctypes.CDLL:
    """The compiled search; it stays in build/bench until its source changes."""
    key = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    target = CACHE / f"{SOURCE.stem}-{key}.so"
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        subprocess.run(["gcc", *FLAGS, str(SOURCE), "-o", str(part), "-lm"], check=True)
        part.replace(target)
    library = ctypes.CDLL(str(target))
    library.search.restype = library.estimate.restype = ctypes.c_double
    return library
