"""A program as the LLVM text of a GPU's kernel: one thread a state, arrays row by row or entry by entry.

The kernel takes the pointers to inputs and outputs, in the program's order, then the number of states (64 bits). Rows
pass through the warp's tile (`warp`): a short row whole, a long one in pieces of 32 columns. Results leave as soon as
their piece is complete, so that they need not be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from emdeg.programs import ROOM, InputGroup, Kind, OutputGroup, Program, fullest
from emdeg.runtime.cuda.parts import KernelPart, Unit, kernel_parts
from emdeg.runtime.cuda.staging import LARGEST_TILE, RowPiece, StagedRows, pieces, staged_in, staged_out
from emdeg.runtime.cuda.warp import GLOBAL, LANES, SHARED, WIDE, LanePlace, Warp
from emdeg.runtime.llvm_text import operations
from emdeg.runtime.llvm_writer import PRECISIONS, Writer

Layout = Literal["rows", "entries"]


@dataclass(frozen=True, slots=True)
class KernelShape:
    """How a kernel is launched: `warps` of 32 threads a block, each with `tile` entries of shared memory.

    The blocks may be launched in up to `parts` rows, which then do a part each; one row does all.
    """

    warps: int
    tile: int
    bits: int
    layout: Layout
    crowded: bool = False
    """Whether a part has more values at once than a thread has registers."""
    parts: int = 1

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return LANES * self.warps

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block, declared by the kernel itself."""
        return self.warps * self.tile * self.bits // 8

    def blocks(self, states: int) -> int:
        """How many blocks do `states` states."""
        return -(-states // self.threads)


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """What a kernel computes and how: a program in its parts. `shared` are the inputs of which one state serves all."""

    program: Program
    shape: KernelShape
    parts: tuple[KernelPart, ...]
    shared: frozenset[str]


def kernel_plan(
    program: Program,
    bits: int = 64,
    layout: Layout = "rows",
    shared: frozenset[str] = frozenset(),
    parts: tuple[KernelPart, ...] | None = None,
) -> KernelPlan:
    """The kernel that suits a program, which is done in `parts`, or whole."""
    parts = parts or kernel_parts(program, bits)
    return KernelPlan(program, _shape(program, bits, layout, shared, parts), parts, shared)


def _shape(
    program: Program, bits: int, layout: Layout, shared: frozenset[str], parts: Sequence[KernelPart]
) -> KernelShape:
    """The shape that suits a program: two warps a block where their tiles are small.

    With one, a multiprocessor's 32 blocks would be too few for programs of few registers; with more, few states would
    keep fewer multiprocessors busy, and a block's registers would come free later.
    """
    crowded = max(fullest(part.program) for part in parts) * bits > ROOM * 32
    if layout == "entries":
        return KernelShape(4, 0, bits, layout, crowded, len(parts))
    sizes = [group.size for group in _read(program, shared)]
    results = [piece for part in parts for _, piece in part.units]
    tile = max((piece.entries for size in sizes for piece in pieces(size, bits)), default=0)
    tile = max(tile, *(piece.entries for piece in results), sum(LANES * size for size in _side_by_side(sizes, bits)))
    return KernelShape(2 if tile * bits // 8 <= LARGEST_TILE // 4 else 1, tile, bits, layout, crowded, len(parts))


def _read(program: Program, shared: frozenset[str]) -> list[InputGroup]:
    """The inputs that the program uses and of which every state has its own."""
    return [group for group in _used(program) if group.name not in shared]


def _used(program: Program) -> list[InputGroup]:
    names = {op.slot[0] for op in program.ops if op.kind is Kind.INPUT}
    return [group for group in program.inputs if group.name in names]


def _side_by_side(sizes: Sequence[int], bits: int) -> list[int]:
    """The rows that are on their way into the tile at once: as many as fit, from the first on, whole rows alone."""
    together: list[int] = []
    for size in sizes:
        if len(pieces(size, bits)) > 1 or (sum(together) + size) * LANES * bits // 8 > LARGEST_TILE:
            break
        together.append(size)
    return together


def kernel(plan: KernelPlan, name: str) -> str:
    """The LLVM module for NVIDIA's back end: the kernel `name`."""
    program, shape = plan.program, plan.shape
    warp = Warp.of(PRECISIONS[shape.bits], emulated=False)
    copied = _bodies(plan, warp)
    scalar = warp.out.precision.scalar
    tile = max(1, shape.warps * shape.tile)
    groups: Sequence[InputGroup | OutputGroup] = [*program.inputs, *program.outputs]
    arguments = ", ".join(f"ptr{GLOBAL} noalias nocapture %base_{group.name}" for group in groups)
    lines = [
        'target triple = "nvptx64-nvidia-cuda"',
        f"@tile = internal addrspace(3) global [{tile} x {scalar}] undef, align 16",
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()",
        *sorted(warp.out.declared),
        f"define ptx_kernel void @{name}({arguments}, i64 %states) {{",
        "entry:",
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        f"  %lane = and i32 %thread, {LANES - 1}",
        "  %of_block = lshr i32 %thread, 5",
        f"  %before = mul i32 %block, {shape.warps}",
        "  %warp32 = add i32 %before, %of_block",
        "  %warp = zext i32 %warp32 to i64",
        f"  %tile_offset = mul i32 %of_block, {shape.tile}",
        f"  %own_tile = getelementptr {scalar}, ptr{SHARED} @tile, i32 %tile_offset",
        "  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()",
        "  %block_rows = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()",
        *_framed(warp.out.lines, warp, copied),
    ]
    return "\n".join(lines) + "\n"


def emulated_kernel(plan: KernelPlan) -> str:
    """The same kernel for this processor: @warp(words, states, warp, row, block_rows) does what 32 threads do.

    `words` are the pointers to inputs and outputs in order, then the one to a tile.
    """
    program = plan.program
    warp = Warp.of(PRECISIONS[plan.shape.bits], emulated=True)
    copied = _bodies(plan, warp)
    groups: Sequence[InputGroup | OutputGroup] = [*program.inputs, *program.outputs]
    head = []
    for place, name in enumerate([*(f"base_{group.name}" for group in groups), "own_tile"]):
        head += [f"  %at{place} = getelementptr i64, ptr %words, i64 {place}", f"  %{name} = load ptr, ptr %at{place}"]
    lines = [
        *sorted(warp.out.declared),
        "define void @warp(ptr %words, i64 %states, i64 %warp, i32 %row, i32 %block_rows) {",
        "entry:",
        *head,
        *_framed(warp.out.lines, warp, copied),
    ]
    return "\n".join(lines) + "\n"


def _framed(body: list[str], warp: Warp, rows: Sequence[str]) -> list[str]:
    """The body with what it stands on: the warp's first state, its last row; a warp without states does nothing.

    `rows` names the arrays that are copied row by row.
    """
    aligned = Writer(warp.out.precision, 1, names=warp.out.names)
    space, ends = "" if warp.emulated else GLOBAL, "0"
    for name in rows:
        ends = aligned.put(f"or i64 {ends}, {aligned.put(f'ptrtoint ptr{space} %base_{name} to i64')}")
    ends = aligned.put(f"and i64 {ends}, {WIDE - 1}")
    return [
        f"  %first = mul i64 %warp, {LANES}",
        "  %some = icmp ult i64 %first, %states",
        "  br i1 %some, label %work, label %done",
        "work:",
        "  %rest = sub i64 %states, %first",
        f"  %complete = icmp uge i64 %rest, {LANES}",
        f"  %rows64 = select i1 %complete, i64 {LANES}, i64 %rest",
        "  %rows = trunc i64 %rows64 to i32",
        "  %last_row = sub i32 %rows, 1",
        *aligned.lines,
        f"  %aligned = icmp eq i64 {ends}, 0",
        "  %full = and i1 %complete, %aligned",
        *body,
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ]


def _bodies(plan: KernelPlan, warp: Warp) -> list[str]:
    """Writes what a warp does; the names of the arrays that it copies row by row.

    Part k is done in row k of the blocks, modulo their number of rows. No part stands on what another computed: the
    compiler would keep it.
    """
    if len(plan.parts) == 1:
        _body(plan.parts[0], warp, plan.shape, plan.shared)
    else:
        for number, part in enumerate(plan.parts):
            mine = warp.out.put(f"urem i32 {number}, %block_rows")
            mine = warp.out.put(f"icmp eq i32 {mine}, %row")
            warp.out.lines += [f"  br i1 {mine}, label %part_{number}, label %beyond_{number}", f"part_{number}:"]
            _body(part, warp, plan.shape, plan.shared)
            warp.out.lines += [f"  br label %beyond_{number}", f"beyond_{number}:"]
    copied = [*_read(plan.program, plan.shared), *plan.program.outputs]
    return [group.name for group in copied] if plan.shape.layout == "rows" else []


def _body(part: KernelPart, warp: Warp, shape: KernelShape, shared: frozenset[str]) -> None:
    """Writes what a warp does of one part."""
    program = part.program
    rows = {
        group.name: [warp.uniform(f"%base_{group.name}", place) for place in range(group.size)]
        for group in _used(program)
        if group.name in shared
    }
    own = _read(program, shared)
    if shape.layout == "entries":
        rows |= {group.name: [_entry(warp, group.name, place) for place in range(group.size)] for group in own}
    else:
        first = len(_side_by_side([group.size for group in own], shape.bits))
        rows |= _staged_in_together(warp, own[:first], not shape.crowded)
        rows |= {group.name: _staged_in_pieces(warp, group.name, group.size, shape.bits) for group in own[first:]}
    values = {(name, place): value for name, row in rows.items() for place, value in enumerate(row)}
    operations(program, warp.out, values.__getitem__, {}, StagedResults(warp, part, shape).put)


def _entry(warp: Warp, name: str, place: int) -> str:
    return warp.load(_column(warp, name, place), LanePlace(warp.least(warp.lane, warp.spread(warp.last_row))))


def _column(warp: Warp, name: str, place: int) -> str:
    """A pointer to one entry of the warp's first state, entry by entry."""
    out, space = warp.out, "" if warp.emulated else GLOBAL
    offset = out.put(f"mul i64 %states, {place}")
    at = out.put(f"add i64 {offset}, %first")
    return out.put(f"getelementptr {out.precision.scalar}, ptr{space} %base_{name}, i64 {at}")


def _rows(warp: Warp, name: str, size: int) -> str:
    """A pointer to the warp's first row."""
    out, space = warp.out, "" if warp.emulated else GLOBAL
    offset = out.put(f"mul i64 %first, {size}")
    return out.put(f"getelementptr {out.precision.scalar}, ptr{space} %base_{name}, i64 {offset}")


def _staged_in_together(warp: Warp, groups: Sequence[InputGroup], wide: bool) -> dict[str, list[str]]:
    """Several arrays at once, each in a tile of its own."""
    staged, before = [], 0
    space = "" if warp.emulated else SHARED
    for group in groups:
        piece = RowPiece(0, group.size, group.size)
        tile = warp.out.put(f"getelementptr {warp.out.precision.scalar}, ptr{space} %own_tile, i64 {before}")
        staged.append(StagedRows(piece, group.size, _rows(warp, group.name, group.size), tile, wide))
        before += piece.entries
    found = staged_in(warp, staged) if staged else []
    return {group.name: row for group, row in zip(groups, found)}


def _staged_in_pieces(warp: Warp, name: str, size: int, bits: int) -> list[str]:
    """One array, a piece at a time."""
    rows = _rows(warp, name, size)
    found = (staged_in(warp, [StagedRows(piece, size, rows, "%own_tile")]) for piece in pieces(size, bits))
    return [value for (row,) in found for value in row]


class StagedResults:
    """Where a part's results go as they come: into the tile and out of it, piece by piece."""

    def __init__(self, warp: Warp, part: KernelPart, shape: KernelShape) -> None:
        self._warp, self._shape = warp, shape
        self._sizes = {group.name: len(group.entries) for group in part.program.outputs}
        self._pieces: dict[tuple[str, int], list[RowPiece]] = {}
        for name, piece in part.units:
            for place in piece.places:
                self._pieces.setdefault((name, place), []).append(piece)
        self._waiting: dict[Unit, dict[int, str]] = {unit: {} for unit in part.units}

    def put(self, name: str, place: int, value: str) -> None:
        """One entry of an output; one of another part is passed over."""
        mine = self._pieces.get((name, place), ())
        if mine and self._shape.layout == "entries":
            self._put_entry(name, place, value)
            return
        for piece in mine:
            waiting = self._waiting[name, piece]
            waiting[place] = value
            if len(waiting) == len(piece.places):
                self._staged_out(name, piece, [waiting[each] for each in piece.places])

    def _put_entry(self, name: str, place: int, value: str) -> None:
        """Lanes beyond the last state hold its numbers too, and write them once more."""
        warp = self._warp
        last = warp.least(warp.lane, warp.spread(warp.last_row))
        warp.store(_column(warp, name, place), LanePlace(last), value)

    def _staged_out(self, name: str, piece: RowPiece, values: list[str]) -> None:
        warp, size = self._warp, self._sizes[name]
        wide = not self._shape.crowded
        staged_out(warp, StagedRows(piece, size, _rows(warp, name, size), "%own_tile", wide), values)
