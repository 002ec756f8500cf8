"""Chunks and results as Parquet: the columns' order and types, encoding, and the last step from parts to rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.documents import arrow, parquet
from emdeg.errors import SweepError
from emdeg.sweeps.measures import WHOLE, loads_columns, prefixed
from emdeg.sweeps.plan import Plan, text_digest

ROWS_TOGETHER = 100_000
"""Rows of the results held in memory at a time."""


def encoded(plan: Plan, parts: list[dict[str, np.ndarray]]) -> bytes:
    """Rows as the bytes of one Parquet file, every column of the plan in its place."""
    pa = arrow()
    schema = _schema(plan)
    tables = [_table(schema, columns) for columns in parts]
    return parquet(pa.concat_tables(tables))


def _table(schema: Any, columns: dict[str, np.ndarray]) -> Any:
    pa = arrow()
    count = len(columns["sample"])
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _head(plan: Plan) -> list[tuple[str, str]]:
    head = [("sample", "int64"), ("robot", "string"), ("payload", "string"), ("workspace", "string")]
    if plan.study.tolerances is not None:
        head.append(("tolerance_scale", "float64"))
    return [*head, *((path, "float64") for path in plan.varied)]


def _schema(plan: Plan) -> Any:
    """The columns of a chunk."""
    if plan.study.output == "states":
        return _final_schema(plan)
    outputs = [output for case in plan.cases for output in case.outputs]
    values = _unique(f"{label}:{what}" for o in outputs for what in o.running for label in o.entries)
    return _fields([*_head(plan), ("part", "int64"), ("states", "int64"), *_reals(values), *_reals(_loads(plan))])


def _final_schema(plan: Plan) -> Any:
    """The columns of the results."""
    if plan.study.output == "states":
        inputs = _unique(f"{g}{j + 1}" for case in plan.cases for g in case.groups for j in range(case.n))
        labels = _unique(label for case in plan.cases for o in case.outputs for label in o.entries)
        return _fields([*_head(plan), ("state", "int64"), *_reals(inputs), *_reals(labels)])
    whole = {"at": "int64"}
    values = _unique(
        (f"{label}_{s}", whole.get(s, "float64"))
        for case in plan.cases
        for o in case.outputs
        for label in o.entries
        for s in o.statistics
    )
    return _fields([*_head(plan), ("states", "int64"), *values, *_reals(_loads(plan))])


def _loads(plan: Plan) -> list[str]:
    return _unique(
        prefixed(compute, name)
        for case in plan.cases
        for compute in plan.study.compute
        if compute.analysis == WHOLE
        for name in loads_columns(case.n)
    )


def _unique(items: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(items))


def _reals(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, "float64") for name in names]


def _fields(columns: list[tuple[str, str]]) -> Any:
    pa = arrow()
    names = [name for name, _ in columns]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise SweepError(f"two columns would be called {doubled!r}: give a computation a name", body="compute")
    return pa.schema([pa.field(name, pa.type_for_alias(kind)) for name, kind in columns])


def metadata(plan: Plan) -> dict[str, str]:
    """What makes the study repeatable: all it needs but emdeg itself."""
    text = plan.to_json()
    return {
        "emdeg.version": plan.version,
        "emdeg.study": json.dumps(plan.study.to_data()),
        "emdeg.seed": str(plan.study.seed),
        "emdeg.study_digest": plan.study_digest,
        "emdeg.plan": text,
        "emdeg.plan_digest": text_digest(text),
    }


def write_results(plan: Plan, chunks: Iterable[Path], target: Path) -> int:
    """All chunks, in order, as one Parquet file of finished rows; how many rows. Memory does not grow with them."""
    pa = arrow()
    schema = _final_schema(plan).with_metadata(metadata(plan))
    count = 0
    with pa.parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        for table in _finished(plan, chunks, schema):
            writer.write_table(table)
            count += table.num_rows
    return count


def _finished(plan: Plan, chunks: Iterable[Path], schema: Any) -> Iterator[Any]:
    pa = arrow()
    waiting: list[Any] = []
    for table in _whole_samples(plan, chunks):
        waiting.append(table)
        if sum(one.num_rows for one in waiting) >= ROWS_TOGETHER:
            yield _final(plan, pa.concat_tables(waiting), schema)
            waiting = []
    if waiting:
        yield _final(plan, pa.concat_tables(waiting), schema)


def _whole_samples(plan: Plan, chunks: Iterable[Path]) -> Iterator[Any]:
    """The chunks' tables; parts of one sample, which lie in chunks one after the other, put together."""
    pa = arrow()
    parts: list[Any] = []
    for path in chunks:
        table = _read(plan, path)
        if plan.work.parts == 1 or plan.study.output == "states":
            yield table
            continue
        parts.append(table)
        if len(parts) == plan.work.parts:
            yield _merged(pa.concat_tables(parts))
            parts = []


def _read(plan: Plan, path: Path) -> Any:
    """A chunk's table; SweepError where its columns are not the plan's, or it is larger than any chunk of it."""
    pa = arrow()
    most = plan.work.chunk_units * (plan.work.part_states if plan.study.output == "states" else 1)
    try:
        with pa.parquet.ParquetFile(path) as file:
            if file.metadata.num_rows > most or not file.schema_arrow.equals(_schema(plan)):
                raise SweepError("this chunk is not of this plan: remove it", file=str(path))
            return file.read()
    except pa.ArrowException as problem:
        raise SweepError(f"this chunk cannot be read: {problem}; remove it", file=str(path)) from None


def _merged(parts: Any) -> Any:
    """One row from the parts of one sample, in their order."""
    pa = arrow()
    columns = []
    for name in parts.column_names:
        column = parts[name].combine_chunks()
        what = name.rpartition(":")[2] if ":" in name else name
        if what == "at":
            peak = parts[name.removesuffix("at") + "peak"].to_numpy()
            columns.append(column.slice(0 if np.isnan(peak).all() else int(np.nanargmax(peak)), 1))
        elif what in _MERGE and column.null_count == 0:
            columns.append(pa.array([_MERGE[what](column.to_numpy())], column.type))
        else:
            columns.append(column.slice(0, 1))
    return pa.Table.from_arrays(columns, schema=parts.schema)


_MERGE = {"least": np.min, "greatest": np.max, "sum": np.sum, "squares": np.sum, "peak": np.max, "states": np.sum}


def _final(plan: Plan, table: Any, schema: Any) -> Any:
    """Statistics from running values."""
    pa = arrow()
    if plan.study.output == "states":
        return table.replace_schema_metadata(schema.metadata)
    arrays = []
    for field in schema:
        if field.name in table.column_names:
            arrays.append(table[field.name])
            continue
        label, _, statistic = field.name.rpartition("_")
        if statistic == "abs":
            label, statistic = label.removesuffix("_max"), "max_abs"
        value = _statistic(table, label, statistic)
        arrays.append(pa.array(value, field.type, from_pandas=False, mask=_missing(table, label)))
    return pa.Table.from_arrays(arrays, schema=schema)


def _missing(table: Any, label: str) -> np.ndarray:
    return table[f"{label}:least"].is_null().to_numpy()


def _statistic(table: Any, label: str, statistic: str) -> np.ndarray:
    def running(what: str) -> np.ndarray:
        return table[f"{label}:{what}"].to_numpy()

    states = table["states"].to_numpy()
    if statistic == "at":
        return np.nan_to_num(running("at")).astype(np.int64)
    if statistic in ("min", "max"):
        return running({"min": "least", "max": "greatest"}[statistic])
    if statistic == "max_abs":
        return np.maximum(-running("least"), running("greatest"))
    mean = running("sum") / states
    if statistic == "mean":
        return mean
    square = running("squares") / states
    return np.sqrt(square if statistic == "rms" else np.maximum(square - mean * mean, 0.0))
