"""What runs a program over arrays: machine code where llvmlite is there, NumPy where it is not."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emdeg.programs import Program, evaluate
from emdeg.runtime.pools import thread_pool

STATES_PER_THREAD = 8192
"""Fewer are done before another core has woken up."""
STATES_PER_CHUNK = 4096
"""What a thread takes at a time: long against taking it, short against waiting for one that was interrupted."""


class Kernel(Protocol):
    """Runs over rows: inputs (states or 1, size), outputs (states, size), entries of a row side by side."""

    def run(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray], threads: int) -> None: ...

    def bound(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> Callable[[], None]:
        """A call without arguments for one state in fixed arrays."""
        ...


class MachineKernel:
    """Compiled by LLVM for the processor at hand."""

    def __init__(self, program: Program, dtype: np.dtype) -> None:
        from emdeg.runtime.engine import machine_code

        self._size = dtype.itemsize
        self._constant = [place for place, group in enumerate(program.inputs) if not group.depends]
        shared = frozenset(program.inputs[place].name for place in self._constant)
        self._code = machine_code(program, 8 * self._size, shared)
        self._varied = self._code if not shared else None
        self._vary = lambda: machine_code(program, 8 * self._size, frozenset())

    def run(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray], threads: int) -> None:
        states = outputs[0].shape[0]
        words = self._words(inputs, outputs)
        if states == 1:
            self._code.one(words)
        elif states < self._code.lanes:
            self._code.states(words, 0, states)
        else:
            vectors = self._code_for(inputs).vectors
            workers = max(1, min(threads, states // STATES_PER_THREAD))
            if workers == 1:
                vectors(words, 0, states)
                return
            _spread(partial(vectors, words), states, workers, thread_pool(threads))

    def bound(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> Callable[[], None]:
        run = partial(self._code.one, self._words(inputs, outputs))
        # Neither the address nor the words hold on to the code and the arrays they point at.
        run.__dict__["kept"] = (self._code, inputs, outputs)
        return run

    def _code_for(self, inputs: Sequence[NDArray]) -> Any:
        """The usual code has one set of constants for all states; another is made when they vary."""
        if all(inputs[place].shape[0] == 1 for place in self._constant):
            return self._code
        if self._varied is None:
            self._varied = self._vary()
        return self._varied

    def _words(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> Any:
        arrays = [*inputs, *outputs]
        steps = [0 if a.shape[0] == 1 else a.strides[0] // self._size for a in arrays]
        return (ctypes.c_int64 * (2 * len(arrays)))(*(a.__array_interface__["data"][0] for a in arrays), *steps)


def _spread(run: Callable[[int, int], None], states: int, workers: int, pool: ThreadPoolExecutor) -> None:
    """Run over all states, this thread and others taking chunks until none is left."""
    count = max(workers, states // STATES_PER_CHUNK)
    chunks = deque(pairwise(states * i // count for i in range(count + 1)))

    def work() -> None:
        while True:
            try:
                start, stop = chunks.popleft()
            except IndexError:
                return
            run(start, stop)

    others = [pool.submit(work) for _ in range(workers - 1)]
    work()
    for other in others:
        if not other.cancel():  # one that has not begun by now has nothing left to do
            other.result()


class NumpyKernel:
    """Each operation is a NumPy operation on all states: slower, and everywhere."""

    def __init__(self, program: Program, dtype: np.dtype) -> None:
        self._program = program
        self._type = dtype.type

    def run(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray], threads: int) -> None:
        names = [group.name for group in self._program.inputs]
        results = evaluate(self._program, dict(zip(names, inputs)), self._type)
        for array, group in zip(outputs, self._program.outputs):
            array[...] = results[group.name].reshape(-1, len(group.entries))

    def bound(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> Callable[[], None]:
        return partial(self.run, inputs, outputs, 1)


def machine_available() -> bool:
    """Whether llvmlite can be imported."""
    try:
        import llvmlite  # noqa: F401
    except ImportError:
        return False
    return True
