"""One chunk of a plan, computed: a pure function of the plan and the chunk's number, the same bits everywhere.

A row of a chunk is one part of one sample with the running values of its statistics (least, greatest, sum, sum of
squares), or, where the study keeps states, one state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from emdeg._version import __version__
from emdeg.algebra import Array
from emdeg.errors import SweepError
from emdeg.runtime import Fold
from emdeg.sweeps.bench import Bench
from emdeg.sweeps.measures import WHOLE, loads_columns, prefixed
from emdeg.sweeps.plan import PEAK, RUNNING, Plan, PlannedOutput, plan_from_json
from emdeg.sweeps.prepare import BLOCK, folds_on_device
from emdeg.sweeps.sampling import Samples, runs, samples
from emdeg.sweeps.states import Source
from emdeg.sweeps.tables import encoded

Columns = dict[str, NDArray]

GROUPED = 2048
"""Samples with fewer states than this are computed many at a time."""


def compute_chunk(plan_text: str, chunk: int) -> tuple[bytes, float]:
    """(the chunk as a Parquet file, seconds it took); what a worker runs, here or on another machine."""
    start = time.perf_counter()
    bench = _bench(plan_text)
    if bench.plan.version != __version__:
        raise SweepError(f"the study was planned with emdeg {bench.plan.version}; this worker has {__version__}")
    data = encoded(bench.plan, list(chunk_rows(bench, chunk)))
    return data, time.perf_counter() - start


@lru_cache(maxsize=2)
def _bench(plan_text: str) -> Bench:
    return Bench(plan_from_json(plan_text))


def chunk_rows(bench: Bench, chunk: int) -> Iterator[Columns]:
    """The chunk's rows as columns, run by run."""
    work = bench.plan.work
    first, last = chunk * work.chunk_units, min((chunk + 1) * work.chunk_units, work.units)
    part = first % work.parts  # a chunk is either one part of a sample or some whole samples
    for a, b in runs(bench.plan, first // work.parts, -(-last // work.parts)):
        some = samples(bench.plan, a, b)
        if bench.plan.study.output == "states":
            for k in range(len(some.numbers)):
                yield _kept(bench, some, k, part)
            continue
        yield _head(bench.plan, some, part) | _statistics(bench, some, part) | _whole(bench, some, part)


def _statistics(bench: Bench, some: Samples, part: int) -> Columns:
    """Running values of each sample's part."""
    outputs, work = bench.plan.cases[some.case].outputs, bench.plan.work
    there: dict[str, Array] = {}
    if folds_on_device(bench.plan.study):
        begin, end = _bounds(bench.plan, part)
        there = bench.folded_on_device(some, _first_state(bench.plan, int(some.numbers[0])) + begin, end - begin)
        for running in there.values():
            running[:, len(RUNNING) + 1 :] += begin  # the number of the state where the peak is
    rest = tuple(output for output in outputs if output.name not in there)
    if rest:
        one_by_one = work.parts > 1 or work.states >= GROUPED
        there |= _one_by_one(bench, some, part, rest) if one_by_one else _grouped(bench, some, rest)
    return _running_columns(outputs, there)


def _bounds(plan: Plan, part: int) -> tuple[int, int]:
    work = plan.work
    return part * work.part_states, min((part + 1) * work.part_states, work.states)


def _first_state(plan: Plan, sample: int) -> int:
    return 0 if plan.study.states.common else sample * plan.work.states


def _head(plan: Plan, some: Samples, part: int) -> Columns:
    """The columns that say which sample a row is about."""
    count, case = len(some.numbers), plan.cases[some.case]
    begin, end = _bounds(plan, part)
    columns: Columns = {
        "sample": some.numbers,
        "part": np.full(count, part, np.int64),
        "robot": np.full(count, case.robot),
        "payload": np.full(count, case.payload),
        "workspace": np.full(count, case.boxes[some.workspace].name),
        "states": np.full(count, end - begin, np.int64),
    }
    if plan.study.tolerances is not None:
        columns["tolerance_scale"] = some.scale
    return columns | {p.path: some.values[:, k] for k, p in enumerate(case.parameters)}


def _one_by_one(bench: Bench, some: Samples, part: int, outputs: tuple[PlannedOutput, ...]) -> dict[str, Array]:
    """Running values of each sample's part, states in blocks."""
    source = bench.source(some)
    found = [
        _running(bench, outputs, some.case, source, _first_state(bench.plan, sample), _bounds(bench.plan, part), values)
        for sample, values in zip(some.numbers.tolist(), some.values)
    ]
    return {o.name: np.stack([one[o.name] for one in found]) for o in outputs}


def _running(
    bench: Bench,
    outputs: tuple[PlannedOutput, ...],
    case: int,
    source: Source,
    offset: int,
    bounds: tuple[int, int],
    values: Array,
) -> dict[str, Array]:
    """PlannedOutput -> (running values, entries)."""
    folds = {o.name: Fold(len(o.entries)) for o in outputs}
    peaks = {o.name: np.array([[-1.0], [0.0]]).repeat(len(o.entries), 1) for o in outputs if "at" in o.statistics}
    begin, end = bounds
    for start in range(begin, end, BLOCK):
        count = min(BLOCK, end - start)
        for name, array in bench.outputs(case, source(offset + start, count), values).items():
            rows = array.reshape(count, -1)
            folds[name].add(rows)
            if name in peaks:
                _raise_peaks(peaks[name], folds[name].magnitude, rows, start)
    return {name: np.vstack([fold.result, *peaks.get(name, ())]) for name, fold in folds.items()}


def _raise_peaks(peaks: Array, magnitude: Array, rows: Array, start: int) -> None:
    """Note where |x| has passed the greatest so far: seldom, so only the columns concerned are searched."""
    for column in np.flatnonzero(magnitude > peaks[0]):
        peaks[:, column] = magnitude[column], start + np.abs(rows[:, column]).argmax()


def _grouped(bench: Bench, some: Samples, outputs: tuple[PlannedOutput, ...]) -> dict[str, Array]:
    """Running values of samples with few states each, many samples at a time."""
    source, states = bench.source(some), bench.plan.work.states
    size = max(1, BLOCK // states)
    parts: dict[str, list[Array]] = {o.name: [] for o in outputs}
    for a in range(0, len(some.numbers), size):
        values = some.values[a : a + size]
        count = len(values)
        if bench.plan.study.states.common:
            arrays = {name: np.tile(array, (count, 1)) for name, array in source(0, states).items()}
        else:
            arrays = dict(source(int(some.numbers[a]) * states, count * states))
        for name, array in bench.outputs(some.case, arrays, np.repeat(values, states, axis=0)).items():
            parts[name].append(_running_of_groups(array.reshape(count, states, -1)))
    return {name: np.concatenate(found) for name, found in parts.items()}


def _running_of_groups(rows: Array) -> Array:
    """(groups, running values, entries) of rows (groups, states, entries)."""
    size = np.abs(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        plain = (rows.min(axis=1), rows.max(axis=1), rows.sum(axis=1), (rows * rows).sum(axis=1), size.max(axis=1))
    found = np.stack([*plain, size.argmax(axis=1).astype(float)], axis=1)
    bad = ~np.isfinite(found[:, 3])
    found[:, :4] = np.where(bad[:, None], np.nan, found[:, :4])
    return found


def _running_columns(outputs: tuple[PlannedOutput, ...], found: dict[str, Array]) -> Columns:
    """Columns tau1:least, tau1:sum, ... of arrays (samples, running values, entries)."""
    columns: Columns = {}
    for output in outputs:
        for k, what in enumerate((*RUNNING, *PEAK)):
            if what in output.running:
                columns |= {f"{label}:{what}": found[output.name][:, k, j] for j, label in enumerate(output.entries)}
    return columns


def _kept(bench: Bench, some: Samples, k: int, part: int) -> Columns:
    """One row a state of the k-th sample."""
    plan, case = bench.plan, bench.plan.cases[some.case]
    begin, end = _bounds(plan, part)
    count = end - begin
    states = bench.source(some)(_first_state(plan, int(some.numbers[k])) + begin, count)
    one = Samples(some.case, some.workspace, some.numbers[[k]], some.scale[[k]], some.values[[k]])
    columns = {name: np.repeat(column, count) for name, column in _head(plan, one, part).items()}
    columns["state"] = np.arange(begin, end, dtype=np.int64)
    columns |= {f"{group}{j + 1}": states[group][:, j] for group in case.groups for j in range(case.n)}
    found = bench.outputs(some.case, states, some.values[k])
    for output in case.outputs:
        rows = found[output.name].reshape(count, -1)
        columns |= {label: rows[:, j] for j, label in enumerate(output.entries)}
    return columns


def _whole(bench: Bench, some: Samples, part: int) -> Columns:
    """Certified loads, once a sample: with its first part."""
    columns: Columns = {}
    names = loads_columns(bench.plan.cases[some.case].n)
    for compute in bench.plan.study.compute:
        if compute.analysis == WHOLE:
            nothing = dict.fromkeys(names, np.nan)
            found = [nothing if part else bench.loads(some, k, compute.gap) for k in range(len(some.numbers))]
            columns |= {prefixed(compute, name): np.array([one[name] for one in found]) for name in names}
    return columns
