"""Least, greatest, sum and sum of squares of each column of a stream of rows, in one pass of machine code.

Rows are taken eight at a time, each with running values of its own, so that the order of additions is fixed by the
rows' order and not by the vectors' width; NumPy adds in the same order where llvmlite is not there. A column that
meets a number that is not finite has NaN for all four.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.runtime.kernel import machine_available
from emdeg.runtime.llvm_writer import vector_attributes
from emdeg.runtime.random_streams import LANES

LEAST, GREATEST, SUM, SQUARES = range(4)


class Fold:
    """Add rows (count, width) with `add`; `result` is (4, width): least, greatest, sum, sum of squares."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._running = np.zeros((4, LANES * width))
        self._running[LEAST], self._running[GREATEST] = np.inf, -np.inf
        self._fold = _machine_fold() if machine_available() else None

    def add(self, rows: Array) -> None:
        """Take rows in; all calls but the last must bring a multiple of eight."""
        if self.count % LANES:
            raise ValueError("only the last rows may be no multiple of eight")
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.width:  # the loop below reads as many as it was made for
            raise ValueError(f"rows of {self.width} numbers are needed; got shape {rows.shape}")
        whole = len(rows) // LANES * LANES
        if self._fold is None:
            _numpy_fold(self._running, rows[:whole].reshape(-1, LANES * self.width))
        else:
            addresses = (array.__array_interface__["data"][0] for array in (rows, self._running))
            self._fold(*addresses, whole // LANES * self.width, self.width)
        if len(rows) > whole:
            left = self._running[:, : (len(rows) - whole) * self.width]
            _numpy_fold(left, rows[whole:].reshape(1, -1))
        self.count += len(rows)

    @property
    def magnitude(self) -> Array:
        """(width) the greatest |x| so far."""
        lanes = self._running[:2].reshape(2, LANES, self.width)
        return np.maximum(-lanes[LEAST].min(axis=0), lanes[GREATEST].max(axis=0))

    @property
    def result(self) -> Array:
        lanes = self._running.reshape(4, LANES, self.width)
        least, greatest = lanes[LEAST].min(axis=0), lanes[GREATEST].max(axis=0)
        total, squares = (np.add.reduce(lanes[k], axis=0) for k in (SUM, SQUARES))
        found = np.stack([least, greatest, total, squares])
        found[:, ~np.isfinite(squares)] = np.nan
        return found


def _numpy_fold(running: Array, rows: Array) -> None:
    if not len(rows):
        return
    np.fmin(running[LEAST], np.fmin.reduce(rows, axis=0), out=running[LEAST])
    np.fmax(running[GREATEST], np.fmax.reduce(rows, axis=0), out=running[GREATEST])
    with np.errstate(over="ignore", invalid="ignore"):
        for row in rows:
            running[SUM] += row
            running[SQUARES] += row * row


@lru_cache(maxsize=1)
def _machine_fold() -> Any:
    from emdeg.runtime.engine import machine_engine

    engine = machine_engine(_assembly())
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)
    fold = kind(engine.get_function_address("fold"))
    vars(fold)["engine"] = engine  # the code lives as long as the function
    return fold


def _assembly() -> str:
    """@fold(rows, running, vectors, width): vector i of eight numbers goes into the running values i mod width."""
    reals, truth = f"<{LANES} x double>", f"<{LANES} x i1>"
    lines = ["  %size = mul i64 %width, 8"]
    updates = {
        LEAST: [f"  %below = fcmp olt {reals} %x, %r0", f"  %n0 = select {truth} %below, {reals} %x, {reals} %r0"],
        GREATEST: [f"  %above = fcmp ogt {reals} %x, %r1", f"  %n1 = select {truth} %above, {reals} %x, {reals} %r1"],
        SUM: [f"  %n2 = fadd {reals} %r2, %x"],
        SQUARES: [f"  %square = fmul {reals} %x, %x", f"  %n3 = fadd {reals} %r3, %square"],
    }
    body = []
    for k, update in updates.items():
        body += [
            f"  %row{k} = mul i64 %size, {k}",
            f"  %place{k} = add i64 %row{k}, %l",
            f"  %at{k} = getelementptr double, ptr %running, i64 %place{k}",
            f"  %r{k} = load {reals}, ptr %at{k}, align 8",
            *update,
            f"  store {reals} %n{k}, ptr %at{k}, align 8",
        ]
    return "\n".join(
        [
            "define void @fold(ptr %rows, ptr %running, i64 %vectors, i64 %width) #0 {",
            "entry:",
            *lines,
            "  %some = icmp sgt i64 %vectors, 0",
            "  br i1 %some, label %loop, label %done",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            "  %v = phi i64 [ 0, %entry ], [ %turned, %loop ]",
            "  %l = mul i64 %v, 8",
            "  %o = mul i64 %i, 8",
            "  %from = getelementptr double, ptr %rows, i64 %o",
            f"  %x = load {reals}, ptr %from, align 8",
            *body,
            "  %next = add i64 %i, 1",
            "  %v1 = add i64 %v, 1",
            "  %wraps = icmp eq i64 %v1, %width",
            "  %turned = select i1 %wraps, i64 0, i64 %v1",
            "  %more = icmp slt i64 %next, %vectors",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
            vector_attributes(64 * LANES),
            "",
        ]
    )
