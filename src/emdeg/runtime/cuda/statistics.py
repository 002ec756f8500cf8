"""Statistics of a function over many states, on a GPU: states are made, computed and folded where they are needed.

A thread makes every K-th state of a sample (`drawn_states`), computes the program in it, and
keeps least, greatest, sum and sum of squares of every entry, and where asked the greatest magnitude and the state it is
met in. Partial values are then joined, 64 at a time, in an order that depends on nothing but the numbers of samples and
states: the result is the same at every repetition. It differs in last digits from `Fold`'s, whose order is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from emdeg.algebra import Array
from emdeg.programs import OutputGroup, Program, Ref, Slot
from emdeg.runtime.cuda.arrays import Borrowed, emptied
from emdeg.runtime.cuda.drawn_states import StateRule
from emdeg.runtime.cuda.driver import Device
from emdeg.runtime.cuda.threads import ThreadFunction, thread_text
from emdeg.runtime.llvm_text import operations
from emdeg.runtime.llvm_writer import PRECISIONS, Writer
from emdeg.runtime.random_streams import counter_start
from emdeg.runtime.statistics import GREATEST, LEAST, SQUARES, SUM

JOINED = 64
"""How many partial values a thread joins."""
MOST_THREADS = 1 << 17
MOST_KEPT = 64
"""Running values of a thread, in double precision: two registers each, beside those of the program."""
MOST_BYTES = 1 << 29
"""Of partial values."""
PEAK, AT = 4, 5
RUNNING, WITH_PEAKS = 4, 6
STARTS = {LEAST: np.inf, GREATEST: -np.inf, SUM: 0.0, SQUARES: 0.0, PEAK: -1.0, AT: 0.0}


@dataclass(frozen=True)
class StateStatistics:
    """Running values of a program's outputs over states of a box; `peaks` adds the greatest magnitudes."""

    program: Program
    states: StateRule
    peaks: bool

    @cached_property
    def pieces(self) -> list[FoldedEntries]:
        """The values that differ, a few at a time: a thread's running values shall stay in its registers."""
        entries = list(dict.fromkeys(ref for group in self.program.outputs for ref in group.entries))
        rows = WITH_PEAKS if self.peaks else RUNNING
        most = max(1, MOST_KEPT // rows)
        count = -(-len(entries) // most)
        edges = [len(entries) * k // count for k in range(count + 1)]
        return [FoldedEntries(self.program, tuple(entries[i:j]), self.states, rows) for i, j in pairwise(edges)]

    def __call__(
        self, on: Device, key: int, low: Array, high: Array, values: Array, first: int, apart: int, states: int
    ) -> dict[str, Array]:
        """Output -> (samples, running values, entries).

        `values` (samples, parameters) are the program's parameters, none with 0 columns. Sample k's states are number
        first + k * apart and the next ones; the random numbers in them are those of the stream `key`, over low..high.
        """
        stream = on.stream()
        given = (low, np.subtract(high, low), self.states.table)
        box = [Borrowed.taken(np.ascontiguousarray(a, float), on, stream) for a in given]
        parts = []
        for piece in self.pieces:
            together = min(len(values), piece.threads)
            found = [
                piece(on, key, box, values[k : k + together], first + k * apart, apart, states)
                for k in range(0, len(values), together)
            ]
            parts.append(np.concatenate(found))
        whole = np.concatenate(parts, axis=-1)
        whole[:, :RUNNING] = np.where(np.isfinite(whole[:, SQUARES, None]), whole[:, :RUNNING], np.nan)
        place = {ref: k for k, ref in enumerate(ref for piece in self.pieces for ref in piece.entries)}
        return {g.name: whole[..., [place[ref] for ref in g.entries]] for g in self.program.outputs}


@dataclass(frozen=True)
class FoldedEntries:
    """What draws states, computes some entries of a program in them and folds those."""

    whole: Program
    entries: tuple[Ref, ...]
    states: StateRule
    rows: int
    """Running values of an entry: least, greatest, sum, sum of squares; greatest magnitude, number of the state."""

    @property
    def program(self) -> Program:
        """The program of these entries alone."""
        folded = OutputGroup("folded", (len(self.entries),), self.entries)
        return Program(self.whole.name, self.whole.inputs, self.whole.ops, (folded,))

    @property
    def size(self) -> int:
        """Numbers of a partial value."""
        return self.rows * len(self.entries)

    @property
    def threads(self) -> int:
        return max(JOINED, min(MOST_THREADS, MOST_BYTES // (8 * self.size)))

    @cached_property
    def drawn(self) -> ThreadFunction:
        """Thread i does states i mod K, i mod K + K, ... of sample i div K."""
        return ThreadFunction("draw", _draw_text(self), 11)

    @cached_property
    def joined(self) -> ThreadFunction:
        """Thread i joins up to 64 partial values of one entry."""
        return ThreadFunction("join", _join_text(self), 4)

    def __call__(
        self, on: Device, key: int, box: Sequence[Borrowed], values: Array, first: int, apart: int, states: int
    ) -> Array:
        """(samples, running values, entries), as `StateStatistics` has them."""
        samples, stream, count = len(values), on.stream(), len(self.entries)
        each = max(1, min(states, self.threads // samples))
        told = Borrowed.taken(np.ascontiguousarray(values, float), on, stream)
        partial = emptied("numpy", (samples, each, self.rows, count), np.dtype(float), on, ())
        pointers = [array.place for array in (*box, told, partial)]
        words = [*pointers, counter_start(key), first, apart, states, each, values.shape[1]]
        self.drawn.begin(on, words, samples * each, stream)
        while each > 1:
            fewer = -(-each // JOINED)
            result = emptied("numpy", (samples, fewer, self.rows, count), np.dtype(float), on, ())
            self.joined.begin(on, [partial.place, result.place, each, fewer], samples * fewer * count, stream)
            on.wait(stream)  # the memory of what was joined goes back
            partial, each = result, fewer
        return partial.fetched(stream)[:, 0]


def _merged(out: Writer, old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Running values of two sets of numbers together; of equal peaks the one met in the earlier state counts."""
    news = [
        out.select(out.put(f"fcmp olt double {new[LEAST]}, {old[LEAST]}"), new[LEAST], old[LEAST]),
        out.select(out.put(f"fcmp ogt double {new[GREATEST]}, {old[GREATEST]}"), new[GREATEST], old[GREATEST]),
        out.put(f"fadd double {old[SUM]}, {new[SUM]}"),
        out.put(f"fadd double {old[SQUARES]}, {new[SQUARES]}"),
    ]
    if len(old) > RUNNING:
        above = out.put(f"fcmp ogt double {new[PEAK]}, {old[PEAK]}")
        equal = out.put(f"fcmp oeq double {new[PEAK]}, {old[PEAK]}")
        sooner = out.put(f"fcmp olt double {new[AT]}, {old[AT]}")
        taken = out.put(f"or i1 {above}, {out.put(f'and i1 {equal}, {sooner}')}")
        news += [out.select(taken, new[row], old[row]) for row in (PEAK, AT)]
    return news


def _draw_text(what: FoldedEntries) -> str:
    """Words: low, span, the states' table, parameters, partial values; then the counter's start, the first state,
    states from one sample to the next, states, threads of a sample, parameters."""
    out, entries = Writer(PRECISIONS[64], 1), len(what.entries)
    of_state, own = what.states.loads(out), {name for name, _ in what.states.columns}

    def load(slot: Slot) -> str:
        name, place = slot
        if name in own:
            return of_state(slot)
        return out.put(f"load double, ptr {out.put(f'getelementptr double, ptr %own_values, i64 {place}')}")

    def fold(name: str, place: int, x: str) -> None:
        kept = [f"%kept{row}_{place}" for row in range(what.rows)]
        old = [out.put(f"load double, ptr {each}") for each in kept]
        one = [x, x, x, out.put(f"fmul double {x}, {x}")]
        if what.rows > RUNNING:
            one += [out.call("llvm.fabs", x), "%state_number"]
        out.lines += [f"  store double {new}, ptr {each}" for new, each in zip(_merged(out, old, one), kept)]

    operations(what.program, out, load, {}, fold)
    places = [(row, entry) for row in range(what.rows) for entry in range(entries)]
    last = Writer(PRECISIONS[64], 1, names=out.names)
    for row, entry in places:
        value = last.put(f"load double, ptr %kept{row}_{entry}")
        address = last.put(f"getelementptr double, ptr %running, i64 {row * entries + entry}")
        last.lines.append(f"  store double {value}, ptr {address}")
    body = [
        *(f"  store double {out.constant(STARTS[row])}, ptr %kept{row}_{entry}" for row, entry in places),
        "  %sample = udiv i64 %i, %each",
        "  %lane = urem i64 %i, %each",
        "  %to_sample = mul i64 %sample, %apart",
        "  %from = add i64 %first, %to_sample",
        "  %to_values = mul i64 %sample, %parameters",
        "  %own_values = getelementptr double, ptr %values, i64 %to_values",
        f"  %to_running = mul i64 %i, {what.size}",
        "  %running = getelementptr double, ptr %partial, i64 %to_running",
        "  br label %drawing",
        "drawing:",
        "  %state = phi i64 [ %lane, %piece ], [ %next_state, %drawing ]",
        "  %state_number = uitofp i64 %state to double",
        "  %number = add i64 %from, %state",
        *out.lines,
        "  %next_state = add i64 %state, %each",
        "  %more_states = icmp ult i64 %next_state, %states",
        "  br i1 %more_states, label %drawing, label %drawn",
        "drawn:",
        *last.lines,
    ]
    numbers = ["start_word", "first", "apart", "states", "each", "parameters"]
    kept = [f"  %kept{row}_{entry} = alloca double" for row, entry in places]
    return thread_text(["low", "span", "along", "values", "partial"], numbers, body, out.declared, kept)


def _join_text(what: FoldedEntries) -> str:
    """Words: partial values, results; how many there are of a sample before and after."""
    out, entries, rows = Writer(PRECISIONS[64], 1), len(what.entries), range(what.rows)

    def places(to: Writer, pointer: str, which: str) -> list[str]:
        first = to.put(f"add i64 {to.put(f'mul i64 {which}, {what.size}')}, %which")
        offsets = [to.put(f"add i64 {first}, {row * entries}") for row in rows]
        return [to.put(f"getelementptr double, ptr {pointer}, i64 {offset}") for offset in offsets]

    new = [out.put(f"load double, ptr {place}") for place in places(out, "%partial", out.put("add i64 %of_sample, %j"))]
    old = [f"%kept{row}" for row in rows]
    news = _merged(out, old, new)
    last = Writer(PRECISIONS[64], 1, names=out.names)
    for value, place in zip(news, places(last, "%result", "%group")):
        last.lines.append(f"  store double {value}, ptr {place}")
    body = [
        f"  %which = urem i64 %i, {entries}",
        f"  %group = udiv i64 %i, {entries}",
        "  %sample = udiv i64 %group, %fewer",
        "  %of_sample = mul i64 %sample, %each",
        "  %own_group = urem i64 %group, %fewer",
        f"  %begin = mul i64 %own_group, {JOINED}",
        f"  %full = add i64 %begin, {JOINED}",
        "  %over = icmp ugt i64 %full, %each",
        "  %end = select i1 %over, i64 %each, i64 %full",
        "  br label %joining",
        "joining:",
        "  %j = phi i64 [ %begin, %piece ], [ %next_j, %joining ]",
        *(f"  {old[k]} = phi double [ {out.constant(STARTS[k])}, %piece ], [ {news[k]}, %joining ]" for k in rows),
        *out.lines,
        "  %next_j = add i64 %j, 1",
        "  %more_j = icmp ult i64 %next_j, %end",
        "  br i1 %more_j, label %joining, label %joined",
        "joined:",
        *last.lines,
    ]
    return thread_text(["partial", "result"], ["each", "fewer"], body, out.declared)
