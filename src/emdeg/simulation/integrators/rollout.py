"""Fixed-step runs of one robot from one or many initial states, on all cores."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError
from emdeg.runtime import cores, machine_available, thread_pool
from emdeg.simulation.integrators.control_loop import EffortNoise, Hold, Loop
from emdeg.simulation.integrators.methods import METHODS, nodes
from emdeg.simulation.integrators.step_text import WORDS, kernel_text


@dataclass(frozen=True)
class Rollout:
    """A compiled loop of robot, law and method. `lanes` trajectories run side by side."""

    loop: Loop
    method: str
    hold: Hold | None
    lanes: int
    _one: Callable[..., None]
    _many: Callable[..., None]
    _engine: Any

    @property
    def row(self) -> int:
        """Entries of a record."""
        return self.loop.row(self.hold)

    def __call__(
        self,
        initial: Array,
        step: float,
        per_record: int,
        records: int,
        references: Array | None = None,
        noise: EffortNoise | None = None,
        *,
        out: Array | None = None,
        threads: int | None = None,
    ) -> Array:
        """(trajectories, records, row): the states after every `per_record` steps of `step` seconds.

        `initial` is (trajectories, loop.size). `references` is (steps, nodes, reference size), or (1, nodes, size)
        where it does not change: the law's reference at the method's nodes in each step; with one axis more, first,
        every trajectory has its own.
        """
        initial = np.ascontiguousarray(initial, dtype=np.float64)
        count = initial.shape[0]
        if out is None:
            out = np.empty((count, records, self.row))
        if not count or not records:
            return out
        reference = np.zeros((1, 1, 1)) if references is None else np.ascontiguousarray(references, dtype=np.float64)
        own = reference.ndim == 4
        if self.loop.law is not None:
            need_references(self.loop, self.method, self.hold, reference.shape, per_record * records, count)
        length = np.array([step])
        per_step = 0 if reference.shape[-3] == 1 else reference.shape[-2] * reference.shape[-1]
        deviation = np.array(() if noise is None else noise.deviation, float)
        words = (ctypes.c_int64 * WORDS)(
            *(array.ctypes.data for array in (initial, out, reference)),
            self.loop.size,
            records * self.row,
            per_step,
            per_record,
            records,
            length.ctypes.data,
            reference[0].size if own else 0,
            deviation.ctypes.data,
            *((0, 0) if noise is None else noise.words(per_record * records)),
        )
        self._run(words, count, threads or cores(), alone=own)
        return out

    def _run(self, words: Any, count: int, threads: int, alone: bool) -> None:
        if count < self.lanes:
            self._one(words, 0, count)
            return
        many = self._one if alone else self._many
        workers = max(1, min(threads, count // self.lanes))
        if workers == 1:
            many(words, 0, count)
            return
        edges = [count * i // workers for i in range(workers + 1)]
        pool = thread_pool(workers)
        parts = [pool.submit(many, words, a, b) for a, b in pairwise(edges)]
        for part in parts:
            part.result()


def need_references(
    loop: Loop, method: str, hold: Hold | None, shape: tuple[int, ...], steps: int, trajectories: int
) -> None:
    """ValueError unless references of that shape are what the law asks for."""
    rows = 1 if hold else len(nodes(METHODS[method]))
    needed = (rows, loop.reference_size)
    fits = len(shape) == 3 or (len(shape) == 4 and shape[0] == trajectories)
    if not fits or shape[-3] not in (1, steps) or shape[-2:] != needed:
        raise ValueError(f"references of shape {shape} for {steps} steps, each {needed}")


@lru_cache(maxsize=16)
def compiled_rollout(loop: Loop, method: str, hold: Hold | None = None) -> Rollout:
    """The loop compiled for this processor."""
    if not machine_available():
        raise ScenarioError(f"{method} is compiled with llvmlite, which is not installed here; use DOP853")
    from emdeg.runtime import machine_engine, vector_bits

    lanes = vector_bits() // 64
    engine = machine_engine(kernel_text(loop, METHODS[method], hold, lanes))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return Rollout(
        loop,
        method,
        hold,
        lanes,
        kind(engine.get_function_address("one")),
        kind(engine.get_function_address("lanes")),
        engine,
    )
