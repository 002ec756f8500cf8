"""Between arrays of states and vectors that hold one entry of many states: loads, stores, transposition.

A state's entries lie side by side in memory; a vector wants the same entry of neighbouring states. As many rows as
a vector has lanes are loaded whole and the square is transposed in registers, log2(lanes) shuffles a vector.
"""

from __future__ import annotations

from functools import cache

from emdeg.runtime.llvm_writer import Writer

LINE_BITS = 512
"""What a cache fetches at a time."""


@cache
def masked_align_argument() -> bool:
    """Whether a masked load's alignment is an argument, as until LLVM 21, or an attribute of the pointer."""
    from llvmlite import binding as llvm  # whoever writes C does not need 40 MB of LLVM

    return llvm.llvm_version_info[0] < 22


class Rows:
    """The states of one array at the loop's index: one a lane. `shared`: one state serves all lanes."""

    def __init__(self, out: Writer, name: str, size: int, shared: bool = False) -> None:
        self._out, self._name, self._size, self._shared = out, name, size, shared
        self._columns: dict[int, str] = {}
        self._addresses: list[str] = []

    def load(self, place: int) -> str:
        """Entry `place`, of all lanes."""
        if place not in self._columns:
            if self._out.width == 1:
                self._columns[place] = self._entry(place)
            elif self._shared:
                self._columns[place] = self._spread(self._entry(place))
            else:
                first = place - place % self._out.width
                rows = [self._load_row(lane, first) for lane in range(self._out.width)]
                self._columns |= {first + i: column for i, column in enumerate(transposed(self._out, rows))}
        return self._columns[place]

    def store(self, values: list[str]) -> None:
        """All entries, of all lanes."""
        for place, value in enumerate(values):
            self.put(place, value)

    def put(self, place: int, value: str) -> None:
        """Entry `place`, of all lanes; stored as soon as those are there that share a vector with it in memory."""
        out = self._out
        if out.width == 1:
            out.lines.append(f"  store {out.real} {value}, ptr {self._at(0, place)}")
            return
        self._columns[place] = value
        first = place - place % out.width
        block = [self._columns.get(k) for k in range(first, min(first + out.width, self._size))]
        if None not in block:
            columns = [column or "" for column in block] + ["poison"] * (out.width - len(block))
            for lane, row in enumerate(transposed(out, columns)):
                self._store_row(lane, first, row)

    def next_fetched(self) -> list[str]:
        """Lines that fetch from memory where the lanes' next states will be stored.

        A line of the cache that is stored to must be there first; as stores are done in turn, all would wait for it.
        Fetched to be written, or another core could have to give it up first; and to the second cache where there is a
        choice, since what waits to be computed with fills the first.
        """
        out, name, scalar = self._out, self._name, self._out.precision.scalar
        out.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        lines = [
            f"  %further.{name} = add i64 %i, {out.width}",
            f"  %skip.{name} = mul i64 %further.{name}, %step_{name}",
            f"  %next.{name} = getelementptr {scalar}, ptr %base_{name}, i64 %skip.{name}",
        ]
        for place in range(0, out.width * self._size, LINE_BITS // out.precision.bits):
            at = f"%next.{name}.{place}"
            fetch = f"call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 2, i32 1)"
            lines += [f"  {at} = getelementptr {scalar}, ptr %next.{name}, i64 {place}", f"  {fetch}"]
        return lines

    def _entry(self, place: int) -> str:
        scalar = self._out.precision.scalar
        return self._out.put(f"load {scalar}, ptr {self._at(0, place)}")

    def _spread(self, value: str) -> str:
        out, scalar = self._out, self._out.precision.scalar
        first = out.put(f"insertelement {out.real} poison, {scalar} {value}, i32 0")
        return shuffled(out, first, "poison", [0] * out.width)

    def _at(self, lane: int, place: int) -> str:
        out, scalar = self._out, self._out.precision.scalar
        if not self._addresses:
            for each in range(1 if self._shared else out.width):
                state = out.put(f"add i64 %i, {each}")
                offset = out.put(f"mul i64 {state}, %step_{self._name}")
                self._addresses.append(out.put(f"getelementptr {scalar}, ptr %base_{self._name}, i64 {offset}"))
        return out.put(f"getelementptr {scalar}, ptr {self._addresses[lane]}, i64 {place}")

    def _mask(self, first: int) -> str:
        """The lanes of a row's vector that are the row's own: what lies behind it must not be touched."""
        here = min(self._out.width, self._size - first)
        bits = ["i1 true"] * here + ["i1 false"] * (self._out.width - here)
        return f"<{self._out.width} x i1> <{', '.join(bits)}>"

    def _load_row(self, lane: int, first: int) -> str:
        out, align = self._out, self._out.precision.bits // 8
        address = self._at(lane, first)
        if self._size - first >= out.width:
            return out.put(f"load {out.real}, ptr {address}, align {align}")
        name = f"llvm.masked.load.{out.suffix}.p0"
        if masked_align_argument():
            out.declared.add(f"declare {out.real} @{name}(ptr, i32, <{out.width} x i1>, {out.real})")
            return out.put(
                f"call {out.real} @{name}(ptr {address}, i32 {align}, {self._mask(first)}, {out.real} poison)"
            )
        out.declared.add(f"declare {out.real} @{name}(ptr, <{out.width} x i1>, {out.real})")
        return out.put(f"call {out.real} @{name}(ptr align {align} {address}, {self._mask(first)}, {out.real} poison)")

    def _store_row(self, lane: int, first: int, row: str) -> None:
        out, align = self._out, self._out.precision.bits // 8
        address = self._at(lane, first)
        if self._size - first >= out.width:
            out.lines.append(f"  store {out.real} {row}, ptr {address}, align {align}")
            return
        name = f"llvm.masked.store.{out.suffix}.p0"
        if masked_align_argument():
            out.declared.add(f"declare void @{name}({out.real}, ptr, i32, <{out.width} x i1>)")
            out.lines.append(f"  call void @{name}({out.real} {row}, ptr {address}, i32 {align}, {self._mask(first)})")
            return
        out.declared.add(f"declare void @{name}({out.real}, ptr, <{out.width} x i1>)")
        out.lines.append(f"  call void @{name}({out.real} {row}, ptr align {align} {address}, {self._mask(first)})")


def transposed(out: Writer, rows: list[str]) -> list[str]:
    """Rows to columns, by exchanging blocks of 1, 2, 4, ... entries between pairs of rows."""
    width = out.width
    block = 1
    while block < width:
        result = list(rows)
        for i in range(width):
            if i & block:
                continue
            low, high = rows[i], rows[i + block]
            if low == high == "poison":
                continue
            keep = [width + j - block if j & block else j for j in range(width)]
            give = [width + j if j & block else j + block for j in range(width)]
            result[i], result[i + block] = shuffled(out, low, high, keep), shuffled(out, low, high, give)
        rows = result
        block *= 2
    return rows


def shuffled(out: Writer, a: str, b: str, lanes: list[int]) -> str:
    indices = ", ".join(f"i32 {lane}" for lane in lanes)
    return out.put(f"shufflevector {out.real} {a}, {out.real} {b}, <{out.width} x i32> <{indices}>")
