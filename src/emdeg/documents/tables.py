"""Columns of numbers as files: CSV with every digit, Parquet (needs pyarrow, which comes with the extra `sweep`)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from emdeg.errors import SweepError


def arrow() -> Any:
    """pyarrow with its Parquet part; SweepError says how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SweepError("results are Parquet files, for which pyarrow is needed: pip install 'emdeg[sweep]'") from None
    return pyarrow


def parquet(table: Any) -> bytes:
    """A pyarrow table as the bytes of a Parquet file."""
    sink = io.BytesIO()
    arrow().parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def parquet_columns(names: Sequence[str], columns: Sequence[NDArray[Any]]) -> bytes:
    """Columns as the bytes of a Parquet file."""
    return parquet(arrow().table(list(columns), names=list(names)))


def csv_columns(names: Sequence[str], columns: Sequence[NDArray[Any]]) -> str:
    """Columns as CSV, every number with all its digits."""
    lines = [",".join(_quoted(name) for name in names)]
    lines += [",".join(map(repr, row)) for row in zip(*(column.tolist() for column in columns))]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    if name[:1] in "=+-@":  # a spreadsheet would take it for a formula
        name = "'" + name
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n\r') else name
