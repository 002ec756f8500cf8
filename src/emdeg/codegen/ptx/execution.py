"""Emitted PTX, executed on this processor: what the text itself computes, instruction by instruction.

A kernel here is a straight line, with short loops where rows are missing; a warp without states jumps over it. All 32
threads of a warp are a row of NumPy's numbers; registers are bits that an instruction reads as its type says. Global
memory holds the kernel's arrays and nothing else: whoever reads or writes beside them is found out. A fused
multiplication and addition rounds twice here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.codegen.execution import Executed
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import Program

LANES = 32
HOME = 1 << 32
"""The address of the first array; nothing lies at 0."""
GAP = 256
"""Bytes between arrays that belong to none."""
READ, WRITE = 1, 2
MOST_TURNS = 256
"""How often a line may be executed, on an average, before a warp is said not to end."""

_ENTRY = re.compile(
    r"\.visible \.entry (\w+)\((.*?)\)\s*\.reqntid (\d+), 1, 1\s*(?:\.maxnreg \d+\s*)?\{(.*)\}", re.DOTALL
)
_TILE = re.compile(r"\.shared \.align \d+ \.b8 (\w+)\[(\d+)\];")
_ADDRESS = re.compile(r"\[([%\w]+)(?:\+(-?\d+))?\]")
_OPERAND = re.compile(r"\{[^}]*\}|[^,\s][^,]*")
_GUARDED = re.compile(r"@(!?)(%p\d+)\s+(.*)")

_TYPES: Mapping[str, type] = {
    **{f"{letter}{bits}": getattr(np, f"uint{bits}") for letter in "bu" for bits in (16, 32, 64)},
    **{f"s{bits}": getattr(np, f"int{bits}") for bits in (16, 32, 64)},
    "f32": np.float32,
    "f64": np.float64,
    "pred": np.bool_,
}
_WIDE = {np.uint32: np.uint64, np.int32: np.int64, np.uint16: np.uint32, np.int16: np.int32}
_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": lambda a, b: (a < b) | (a > b) if a.dtype.kind == "f" else a != b,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": operator.ne,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
}
_PLAIN: Mapping[str, Callable[..., Any]] = {
    "mov": lambda a: a,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mad": lambda a, b, c: a * b + c,
    "fma": lambda a, b, c: a * b + c,
    "div": operator.truediv,
    "rem": np.remainder,
    "rcp": lambda a: a.dtype.type(1) / a,
    "sqrt": np.sqrt,
    "neg": operator.neg,
    "abs": np.abs,
    "min": np.fmin,
    "max": np.fmax,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line: its words between the dots, its operands, and the predicate that guards it (whether it is turned)."""

    words: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""
    turned: bool = False

    @property
    def kind(self) -> type:
        return _TYPES[self.words[-1]]

    @property
    def width(self) -> int:
        """How many entries side by side it reads or writes."""
        return 4 if "v4" in self.words else 2 if "v2" in self.words else 1


@dataclass(frozen=True, slots=True)
class PtxKernel:
    """A kernel as it is read: threads of a block, bytes of shared memory, lines, and where each label stands."""

    parameters: tuple[str, ...]
    threads: int
    tile: tuple[str, int]
    lines: tuple[Instruction, ...]
    labels: Mapping[str, int]


def executed_ptx(
    text: str, name: str, program: Program, *, single: bool = False, layout: str = "rows", **_: object
) -> Executed:
    """The kernel `name` of emitted PTX as a function of arrays, a row a state; NotExecutable where it is not known."""
    kernel = read_ptx(text, name)
    if kernel is None or len(kernel.parameters) != len(program.inputs) + len(program.outputs) + 1:
        raise NotExecutable("its kernel has another shape or an instruction that is not known here")
    dtype: Any = np.float32 if single else np.float64
    entries = layout == "entries"

    def run(states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        rows = len(next(iter(states.values())))
        # Warps that have 32 rows and the one that has fewer copy them by other instructions: both shall be executed.
        whole, fewer = LANES * -(-rows // LANES), min(rows, LANES - 1)
        again = np.arange(whole + fewer) % rows
        given = [np.asarray(states[g.name], dtype).reshape(rows, g.size)[again] for g in program.inputs]
        empty = [np.full((len(again), len(group.entries)), np.nan, dtype) for group in program.outputs]
        memory = PtxMemory()
        inputs = [memory.put(np.ascontiguousarray(a.T if entries else a), READ) for a in given]
        found = [np.ascontiguousarray(a.T if entries else a) for a in empty]
        places = [memory.put(array, WRITE) for array in found]
        PtxExecution(kernel, memory, [*inputs, *places, len(again)]).blocks(-(-len(again) // kernel.threads))
        results: dict[str, NDArray] = {}
        for group, place, array in zip(program.outputs, places, found):
            memory.fetch(place, array)
            each = array.T if entries else array
            if not np.array_equal(each, each[:rows][again], equal_nan=True):
                raise Refuted(f"{group.name} of a state depends on the warp that it is computed in")
            results[group.name] = each[:rows].reshape(rows, *group.shape)
        return results

    return Executed(run, by="this processor, instruction by instruction")


def read_ptx(text: str, name: str) -> PtxKernel | None:
    """The kernel of that name; None where the text has another shape or an instruction that is not known here."""
    plain = re.sub(r"//.*", "", text)
    found = _ENTRY.search(plain)
    if found is None or found[1] != name:
        return None
    tile = _TILE.search(plain)
    lines: list[Instruction] = []
    labels: dict[str, int] = {}
    for piece in found[4].replace(":", ":;").split(";"):
        words = piece.strip()
        if not words or words.startswith("."):
            continue
        if words.endswith(":"):
            labels[words[:-1]] = len(lines)
            continue
        line = _instruction(words)
        if line is None:
            return None
        lines.append(line)
    parameters = tuple(part.split()[-1] for part in found[2].split(",") if part.strip())
    where = (tile[1], int(tile[2])) if tile else ("", 0)
    return PtxKernel(parameters, int(found[3]), where, tuple(lines), labels)


def _instruction(words: str) -> Instruction | None:
    guarded = _GUARDED.match(words)
    head, _, rest = (guarded[3] if guarded else words).partition("\t" if "\t" in words else " ")
    line = Instruction(
        tuple(head.strip().split(".")),
        tuple(part.strip() for part in _OPERAND.findall(rest)),
        guarded[2] if guarded else "",
        bool(guarded and guarded[1]),
    )
    first = line.words[0]
    known = first in _PLAIN or first in ("ld", "st", "setp", "selp", "cvt", "shl", "shr")
    ends = line.words in (("ret",), ("bra",), ("bra", "uni"), ("bar", "warp", "sync"))
    vectors = "{" not in rest or (first in ("ld", "st") and line.width > 1)
    typed = known and line.words[-1] in _TYPES and vectors
    return line if ends or (typed and (not guarded)) else None


class PtxMemory:
    """Global memory: what was taken of it may be read and written, the first inputs of a kernel read alone."""

    def __init__(self) -> None:
        self.bytes = np.zeros(0, np.uint8)
        self.may = np.zeros(0, np.uint8)

    def taken(self, size: int, may: int = READ | WRITE) -> int:
        """The address of `size` bytes that were nobody's, with some that stay nobody's around them."""
        place = len(self.bytes) + GAP
        more = GAP * (3 + size // GAP)
        self.bytes, self.may = (np.concatenate([old, np.zeros(more, np.uint8)]) for old in (self.bytes, self.may))
        self.may[place : place + size] = may
        return HOME + place

    def put(self, array: NDArray, may: int) -> int:
        """The address of a copy of the array."""
        place = self.taken(array.nbytes, may)
        self.bytes[place - HOME :][: array.nbytes] = array.reshape(-1).view(np.uint8)
        return place

    def fetch(self, place: int, array: NDArray) -> None:
        """Fill the array with what lies at the address."""
        array.reshape(-1).view(np.uint8)[:] = self.bytes[place - HOME :][: array.nbytes]


class PtxExecution:
    """A kernel on its arguments: addresses, then the number of states."""

    def __init__(self, kernel: PtxKernel, memory: PtxMemory, arguments: Sequence[int]) -> None:
        self.kernel, self.memory, self.arguments = kernel, memory, arguments
        self.shared = np.full(kernel.tile[1], 0xFF, np.uint8)
        self.registers: dict[str, NDArray] = {}

    def blocks(self, count: int, rows: int = 1) -> None:
        """Run every warp of every block: `rows` rows of `count` blocks."""
        with np.errstate(all="ignore"):
            for row, block in product(range(rows), range(count)):
                self.shared[:] = 0xFF
                for first in range(0, self.kernel.threads, LANES):
                    self._warp({"%ctaid.x": block, "%ctaid.y": row, "%nctaid.y": rows}, first)

    def _warp(self, block: Mapping[str, int], first: int) -> None:
        self.registers = {name: np.full(LANES, number, np.uint32) for name, number in block.items()}
        self.registers["%tid.x"] = np.arange(first, first + LANES, dtype=np.uint32)
        at = 0
        for _ in range(MOST_TURNS * len(self.kernel.lines)):
            if at >= len(self.kernel.lines):
                return
            line = self.kernel.lines[at]
            at += 1
            if line.words[0] == "ret":
                return
            if line.words[0] != "bra":
                self._do(line)
            elif self._taken(line):
                at = self.kernel.labels[line.operands[0]]
        raise Refuted("a warp does not come to an end")

    def _taken(self, line: Instruction) -> bool:
        if not line.guard:
            return True
        taken = self.registers[line.guard] ^ line.turned
        if taken.any() != taken.all():
            raise Refuted("the threads of a warp part ways")
        return bool(taken.all())

    def _do(self, line: Instruction) -> None:
        first, operands = line.words[0], line.operands
        if first == "bar":
            return
        if first == "st":
            indices, memory = self._memory(line, operands[0])
            for place, value in enumerate(_members(operands[1])):
                memory.view(line.kind)[indices + place] = self._read(value, line.kind)
            return
        if first == "ld" and line.words[1] != "param":
            indices, memory = self._memory(line, operands[1])
            for place, name in enumerate(_members(operands[0])):
                self.registers[name] = memory.view(line.kind)[indices + place]
            return
        self.registers[operands[0]] = np.broadcast_to(self._value(line), LANES)

    def _value(self, line: Instruction) -> Any:
        words, kind = line.words, line.kind
        first, sources = words[0], line.operands[1:]
        if first == "ld":
            which = self.kernel.parameters.index(sources[0].strip("[]"))
            return kind(self.arguments[which])
        if first == "cvt":
            return self._read(sources[0], kind).astype(_TYPES[words[-2]])
        if first == "selp":
            return np.where(self.registers[sources[2]], self._read(sources[0], kind), self._read(sources[1], kind))
        if first in ("shl", "shr"):
            return self._shifted(first, self._read(sources[0], kind), self._read(sources[1], np.uint32))
        values = [self._read(source, kind) for source in sources]
        if first == "setp":
            return _RELATIONS[words[1]](*values)
        if first == "fma" and kind is np.float32:
            return (values[0].astype(float) * values[1] + values[2]).astype(kind)
        if first in ("mul", "mad") and "wide" in words:
            wide = _WIDE[kind]
            product = values[0].astype(wide) * values[1].astype(wide)
            return product + self._read(sources[2], wide) if first == "mad" else product
        return _PLAIN[first](*values)

    def _shifted(self, first: str, value: NDArray, by: NDArray) -> NDArray:
        # A shift by the width or more leaves nothing, here as there.
        width = 8 * value.dtype.itemsize
        amount = np.minimum(by, width - 1).astype(value.dtype)
        moved = value << amount if first == "shl" else value >> amount
        return np.where(by >= width, moved & 0 if value.dtype.kind == "u" else moved, moved)

    def _read(self, source: str, kind: type) -> NDArray:
        if source in self.registers:
            held = self.registers[source]
            return held if held.dtype == kind else np.ascontiguousarray(held).view(kind)
        if source == self.kernel.tile[0]:
            return np.zeros(1, np.uint64).view(kind)
        bits = 8 * np.dtype(kind).itemsize
        if source[:2] in ("0d", "0f"):
            value = int(source[2:], 16)
        else:
            value = int(source, 0) % (1 << bits)
        return np.array([value], f"u{bits // 8}").view(kind)

    def _memory(self, line: Instruction, operand: str) -> tuple[NDArray, NDArray]:
        """(indices, memory) of what an address means, in entries of its type; Refuted where nothing of ours lies."""
        found = _ADDRESS.fullmatch(operand)
        if found is None:
            raise Refuted(f"an address that is none: {operand}")
        each = np.dtype(line.kind).itemsize
        size, writing = each * line.width, line.words[0] == "st"
        offsets = self._read(found[1], np.uint64).astype(np.int64) + int(found[2] or 0)
        offsets = np.broadcast_to(offsets, LANES)
        if line.words[1] == "shared":
            there, memory = (offsets >= 0) & (offsets + size <= len(self.shared)), self.shared
        else:
            offsets, memory, may = offsets - HOME, self.memory.bytes, self.memory.may
            there = (offsets >= 0) & (offsets + size <= len(memory))
            wanted = WRITE if writing else READ
            there[there] = ((may[offsets[there]] & may[offsets[there] + size - 1]) & wanted) != 0
        if not there.all() or (offsets % size).any():
            raise Refuted(f"{'writes' if writing else 'reads'} where nothing of its arrays lies")
        return offsets // each, memory


def _members(operand: str) -> list[str]:
    """The registers of {a, b, c, d}, or the one."""
    return [part.strip() for part in operand.strip("{}").split(",")]
