"""What 32 threads of a GPU do in step: one thread's view of it, or all 32 at once on this processor.

A state is one thread. Arrays come row by row, so that neighbouring threads want entries that lie a row apart, which a
GPU's memory dislikes; it likes neighbouring threads on neighbouring entries. So rows pass through a tile of memory that
the 32 threads share: the threads copy the tile in order, and each reads or writes its own row in it.

The text is written once. For the GPU an index is one thread's number; for the emulation it is a vector of all 32, and
an access to memory is done lane by lane. What the tests run on this processor is thus what the GPU runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from emdeg.runtime.llvm_writer import Precision, Writer

LANES = 32
GLOBAL, SHARED = " addrspace(1)", " addrspace(3)"
WIDE = 16
"""Bytes that a thread copies at once."""


@dataclass(frozen=True, slots=True)
class LanePlace:
    """Where each lane's entry lies: at `index`, a lane's own number, and `beyond`, the same in every lane."""

    index: str
    beyond: int = 0


@dataclass
class Warp:
    """Instructions of a warp on `out`, whose width is 1 on the GPU and 32 in the emulation."""

    out: Writer
    last_row: str = "%last_row"
    """The number of the last row that there is, from 0; a name of i32."""
    full: str = "%full"
    """Whether all 32 rows are there, and begin where `WIDE` bytes may be copied at once; a name of i1."""
    forks: int = 0

    @staticmethod
    def of(precision: Precision, emulated: bool) -> Warp:
        return Warp(Writer(precision, LANES if emulated else 1))

    @property
    def emulated(self) -> bool:
        return self.out.width > 1

    @property
    def lane(self) -> str:
        """The numbers of the lanes."""
        if not self.emulated:
            return "%lane"
        return "<" + ", ".join(f"i32 {lane}" for lane in range(LANES)) + ">"

    @property
    def index(self) -> str:
        """The type of an index."""
        return f"<{LANES} x i32>" if self.emulated else "i32"

    def number(self, value: int) -> str:
        """The same index in every lane."""
        return "<" + ", ".join([f"i32 {value}"] * LANES) + ">" if self.emulated else str(value)

    def spread(self, value: str) -> str:
        """A name of i32 in every lane."""
        if not self.emulated:
            return value
        first = self.out.put(f"insertelement {self.index} poison, i32 {value}, i32 0")
        return self.out.put(f"shufflevector {self.index} {first}, {self.index} poison, {self.index} zeroinitializer")

    def integer(self, operation: str, a: str, b: str) -> str:
        return self.out.put(f"{operation} {self.index} {a}, {b}")

    def least(self, a: str, b: str) -> str:
        return self._select("ult", a, b)

    def _select(self, relation: str, a: str, b: str) -> str:
        truth = f"<{LANES} x i1>" if self.emulated else "i1"
        below = self.out.put(f"icmp {relation} {self.index} {a}, {b}")
        return self.out.put(f"select {truth} {below}, {self.index} {a}, {self.index} {b}")

    def load(self, pointer: str, place: LanePlace, space: str = GLOBAL) -> str:
        """What lies at pointer[place], in every lane."""
        out, scalar = self.out, self.out.precision.scalar
        if not self.emulated:
            return out.put(f"load {scalar}, ptr{space} {self._address(pointer, place, space)}")
        whole = "poison"
        for lane in range(LANES):
            one = out.put(f"load {scalar}, ptr {self._address(pointer, self._of_lane(place, lane), '')}")
            whole = out.put(f"insertelement {out.real} {whole}, {scalar} {one}, i32 {lane}")
        return whole

    def store(self, pointer: str, place: LanePlace, value: str, space: str = GLOBAL) -> None:
        """pointer[place] = value, in every lane; the last lane wins."""
        out, scalar = self.out, self.out.precision.scalar
        if not self.emulated:
            out.lines.append(f"  store {scalar} {value}, ptr{space} {self._address(pointer, place, space)}")
            return
        for lane in range(LANES):
            one = out.put(f"extractelement {out.real} {value}, i32 {lane}")
            out.lines.append(f"  store {scalar} {one}, ptr {self._address(pointer, self._of_lane(place, lane), '')}")

    @property
    def wide(self) -> int:
        """How many entries a lane copies at once."""
        return WIDE * 8 // self.out.precision.bits

    def load_wide(self, pointer: str, place: LanePlace, space: str = GLOBAL) -> tuple[str, ...]:
        """The entries that lie side by side from pointer[place] on, in every lane, as `store_wide` takes them."""
        out = self.out
        if self.emulated:
            return tuple(self.load(pointer, replace(place, beyond=place.beyond + k), space) for k in range(self.wide))
        kind, address = f"<{self.wide} x {out.precision.scalar}>", self._address(pointer, place, space)
        return (out.put(f"load {kind}, ptr{space} {address}, align {WIDE}"),)

    def store_wide(self, pointer: str, place: LanePlace, values: tuple[str, ...], space: str = GLOBAL) -> None:
        """They lie side by side from pointer[place] on."""
        if self.emulated:
            for k, value in enumerate(values):
                self.store(pointer, replace(place, beyond=place.beyond + k), value, space)
            return
        kind, address = f"<{self.wide} x {self.out.precision.scalar}>", self._address(pointer, place, space)
        self.out.lines.append(f"  store {kind} {values[0]}, ptr{space} {address}, align {WIDE}")

    def both_ways(self, whole: Callable[[], None], turns: int, turn: Callable[[str], None]) -> None:
        """What `whole` writes for warps whose rows are `full`; for the others `turns` times what `turn` writes.

        `turn` is told the number of the turn as an index. All lanes go the same way: rows are missing in the last warp
        alone, and all rows begin alike. A loop, since it is seldom gone through and shall hold no registers.
        """
        out = self.out
        self.forks += 1
        all_rows, before, again, either = (f"{name}_{self.forks}" for name in ("all_rows", "fewer", "again", "either"))
        number, following, more = (f"%{name}_{self.forks}" for name in ("turn", "next_turn", "more_turns"))
        out.lines += [f"  br i1 {self.full}, label %{all_rows}, label %{before}", f"{all_rows}:"]
        whole()
        out.lines += [f"  br label %{either}", f"{before}:", f"  br label %{again}", f"{again}:"]
        out.lines.append(f"  {number} = phi i32 [ 0, %{before} ], [ {following}, %{again} ]")
        turn(self.spread(number))
        out.lines += [
            f"  {following} = add i32 {number}, 1",
            f"  {more} = icmp ult i32 {following}, {turns}",
            f"  br i1 {more}, label %{again}, label %{either}",
            f"{either}:",
        ]

    def uniform(self, pointer: str, place: int) -> str:
        """The one number that all lanes share."""
        out, scalar, space = self.out, self.out.precision.scalar, "" if self.emulated else GLOBAL
        at = out.put(f"getelementptr {scalar}, ptr{space} {pointer}, i64 {place}")
        one = out.put(f"load {scalar}, ptr{space} {at}")
        if not self.emulated:
            return one
        first = out.put(f"insertelement {out.real} poison, {scalar} {one}, i32 0")
        return out.put(f"shufflevector {out.real} {first}, {out.real} poison, {self.index} zeroinitializer")

    def _of_lane(self, place: LanePlace, lane: int) -> LanePlace:
        return LanePlace(self.out.put(f"extractelement {self.index} {place.index}, i32 {lane}"), place.beyond)

    def _address(self, pointer: str, place: LanePlace, space: str) -> str:
        """What is added alike in every lane is a part of the instruction that reads or writes, and costs nothing."""
        out, scalar = self.out, self.out.precision.scalar
        wide = out.put(f"zext i32 {place.index} to i64")
        own = out.put(f"getelementptr {scalar}, ptr{space} {pointer}, i64 {wide}")
        return out.put(f"getelementptr {scalar}, ptr{space} {own}, i64 {place.beyond}") if place.beyond else own

    def together(self) -> None:
        """Every lane has done what stands before; what it wrote into the tile can be read."""
        if self.emulated:
            return
        self.out.declared.add("declare void @llvm.nvvm.bar.warp.sync(i32)")
        self.out.lines.append("  call void @llvm.nvvm.bar.warp.sync(i32 -1)")
