"""Rows between memory and the tile of a warp: short rows whole, long ones in pieces of 32 columns.

Memory is written in sectors of 32 bytes; one that is written in part is read first, which costs several times as much.
Pieces of results are therefore cut where sectors end, which in every row is at another column.
A warp that has all its rows copies them at distances that are the same in every lane and part of the instructions, rows
that are whole 16 bytes at a time. The last warp, and arrays that do not begin at a multiple of 16 bytes, are copied
entry by entry, in a loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from emdeg.runtime.cuda.warp import LANES, SHARED, LanePlace, Warp

LARGEST_TILE = 16 * 1024
"""Bytes of a warp's tile; with more of them too few warps would fit a multiprocessor."""
SECTOR = 32
"""Bytes that memory writes at once."""
CONFLICTS = 4
"""How many lanes may want the same bank of the tile's memory: rows whose length has this factor in common with 32."""


@dataclass(frozen=True, slots=True)
class RowPiece:
    """`width` columns from `first` on of an array's rows, as they lie in the tile: `stride` entries a row.

    `beyond` further ones lie there too, for rows in which the piece begins and ends later: at the next multiple of
    `sector` entries.
    """

    first: int
    width: int
    stride: int
    beyond: int = 0
    sector: int = 1

    @property
    def entries(self) -> int:
        return LANES * self.stride

    @property
    def places(self) -> range:
        """Which entries of a row lie in the tile."""
        return range(self.first, self.first + self.width + self.beyond)

    def of_row(self, row: int, size: int) -> range:
        """Which entries, from the first in the tile, are written of a warp's row of `size` entries; none at times."""

        def later(column: int) -> int:
            return min(-(row * size + column) % self.sector, size - column) if column else 0

        end = self.first + self.width
        return range(later(self.first), self.width + later(end))


def pieces(size: int, bits: int) -> list[RowPiece]:
    """How rows of `size` entries pass through a tile: whole if they are short, else by 32 columns."""
    if size * LANES * bits // 8 <= LARGEST_TILE and math.gcd(size, LANES) <= CONFLICTS:
        return [RowPiece(0, size, size)]
    return [RowPiece(first, min(LANES, size - first), LANES + 1) for first in range(0, size, LANES)]


def result_pieces(size: int, bits: int) -> list[RowPiece]:
    """The same for rows of results: what is written of a piece ends where memory's sectors end, in every row."""
    whole, sector = pieces(size, bits), SECTOR * 8 // bits
    begins_alike = math.gcd(size, sector)
    if len(whole) == 1 or begins_alike == sector:
        return whole
    slack = sector - begins_alike  # the first piece is shorter by so much: no more than 32 columns are ever written
    edges = [0, *range(LANES - slack, size, LANES)]
    ends = [*edges[1:], size]
    stride = LANES + slack + 1 - slack % 2
    return [RowPiece(first, end - first, stride, min(slack, size - end), sector) for first, end in zip(edges, ends)]


@dataclass(frozen=True, slots=True)
class StagedRows:
    """A piece of an array's rows, `size` entries each, on its way between memory, at `rows`, and a warp's tile."""

    piece: RowPiece
    size: int
    rows: str
    tile: str
    wide: bool = True
    """Whether 16 bytes may be copied at once: that takes four registers side by side."""

    @property
    def is_wide(self) -> bool:
        """Whether 16 bytes are copied at once."""
        return self.wide and self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether the piece is the rows, so that all its entries lie side by side."""
        return self.piece.stride == self.piece.width == self.size

    @property
    def turns(self) -> int:
        """How many entries a lane copies where rows are missing."""
        return self.size if self.is_whole else LANES

    def fetched(self, warp: Warp) -> list[tuple[str, ...]]:
        """What a lane copies of 32 rows."""
        if self.is_wide:
            return [warp.load_wide(self.rows, outside) for outside, _ in self._places(warp)]
        return [(warp.load(self.rows, outside),) for outside, _ in self._places(warp)]

    def put(self, warp: Warp, values: Sequence[tuple[str, ...]]) -> None:
        """What was fetched into the tile."""
        for (_, inside), value in zip(self._places(warp), values):
            if self.is_wide:
                warp.store_wide(self.tile, inside, value, SHARED)
            else:
                warp.store(self.tile, inside, value[0], SHARED)

    def written(self, warp: Warp) -> None:
        """The tile's 32 rows into memory."""
        for outside, inside in self._places(warp):
            if self.is_wide:
                warp.store_wide(self.rows, outside, warp.load_wide(self.tile, inside, SHARED))
            else:
                warp.store(self.rows, outside, warp.load(self.tile, inside, SHARED))

    def _places(self, warp: Warp) -> list[tuple[LanePlace, LanePlace]]:
        """[(where in the rows, where in the tile)] of what a lane copies of 32 rows."""
        if self.is_wide:
            return [(at, at) for at in _side_by_side(warp, LANES * self.size // warp.wide)]
        if self.is_whole:
            return [(at, at) for at in (LanePlace(warp.lane, LANES * step) for step in range(self.size))]
        piece, found = self.piece, []
        for row in range(LANES):
            there = piece.of_row(row, self.size)
            if not there:
                continue
            column = self._column(warp, len(there))
            outside, inside = row * self.size + piece.first, row * piece.stride
            found.append((LanePlace(column, outside + there.start), LanePlace(column, inside + there.start)))
        return found

    def one_place(self, warp: Warp, turn: str) -> tuple[LanePlace, LanePlace]:
        """Where in the rows and in the tile an entry lies that a lane copies where rows are missing.

        Whoever would copy beyond the last row copies an entry of that once more.
        """
        last = warp.spread(warp.last_row)
        if self.is_whole:
            end = warp.integer("add", warp.integer("mul", last, warp.number(self.size)), warp.number(self.size - 1))
            along = warp.integer("add", warp.integer("mul", turn, warp.number(LANES)), warp.lane)
            at = LanePlace(warp.least(along, end))
            return at, at
        row, column = warp.least(turn, last), self._column(warp, self.piece.width)
        outside, inside = (
            warp.integer("add", warp.integer("mul", row, warp.number(apart)), column)
            for apart in (self.size, self.piece.stride)
        )
        return LanePlace(outside, self.piece.first), LanePlace(inside)

    def _column(self, warp: Warp, width: int) -> str:
        return warp.least(warp.lane, warp.number(width - 1)) if width < LANES else warp.lane

    def own_place(self, warp: Warp, place: int) -> LanePlace:
        """Where in the tile the lane's own entry lies."""
        return LanePlace(warp.integer("mul", warp.lane, warp.number(self.piece.stride)), place)


def _side_by_side(warp: Warp, count: int) -> list[LanePlace]:
    """Where a lane's copies of `warp.wide` entries begin, `count` of them in all; lanes beyond repeat the last one."""
    found = []
    for before in range(0, count, LANES):
        left = count - before
        lane = warp.lane if left >= LANES else warp.least(warp.lane, warp.number(left - 1))
        found.append(LanePlace(warp.integer("mul", lane, warp.number(warp.wide)), before * warp.wide))
    return found


def staged_in(warp: Warp, staged: Sequence[StagedRows]) -> list[list[str]]:
    """The lane's own entries of several pieces: all are on their way before the first is waited for."""

    def whole() -> None:
        values = [one.fetched(warp) for one in staged]
        for one, each in zip(staged, values):
            one.put(warp, each)

    def turn(number: str) -> None:
        places = [one.one_place(warp, number) for one in staged]
        values = [warp.load(one.rows, outside) for one, (outside, _) in zip(staged, places)]
        for one, (_, inside), value in zip(staged, places, values):
            warp.store(one.tile, inside, value, SHARED)

    warp.both_ways(whole, max(one.turns for one in staged), turn)
    warp.together()
    found = [[warp.load(one.tile, one.own_place(warp, k), SHARED) for k in range(one.piece.width)] for one in staged]
    warp.together()
    return found


def staged_out(warp: Warp, staged: StagedRows, values: Sequence[str]) -> None:
    """The lane's own entries into memory."""

    def turn(number: str) -> None:
        outside, inside = staged.one_place(warp, number)
        warp.store(staged.rows, outside, warp.load(staged.tile, inside, SHARED))

    for place, value in enumerate(values):
        warp.store(staged.tile, staged.own_place(warp, place), value, SHARED)
    warp.together()
    warp.both_ways(lambda: staged.written(warp), staged.turns, turn)
    warp.together()
