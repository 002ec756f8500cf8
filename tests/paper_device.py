"""A GPU of paper: its memory is here, its kernels are PTX that is executed here, with the names of emdeg's driver."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from emdeg.codegen.ptx.execution import HOME, PtxExecution, PtxKernel, PtxMemory, read_ptx
from emdeg.runtime.cuda import ThreadFunction, assembled
from emdeg.runtime.engine import machine_engine


class DeviceOfPaper:
    """What `emdeg.runtime.cuda.driver.Device` offers."""

    number, sm = 0, 90

    def __init__(self) -> None:
        self.memories = PtxMemory()
        self.loaded: list[str] = []

    def stream(self) -> int:
        return 0

    def wait(self, stream: int) -> None:
        """Everything is done at once."""

    def memory(self, size: int) -> MemoryOfPaper:
        return MemoryOfPaper(self.memories, size)

    def load(self, text: str, name: str) -> KernelOfPaper:
        kernel = read_ptx(text, name)
        assert kernel is not None
        self.loaded.append(text)
        return KernelOfPaper(self, kernel)


class MemoryOfPaper:
    def __init__(self, whole: PtxMemory, size: int) -> None:
        self._whole, self._size, self.place = whole, size, whole.taken(size)

    def take(self, host: int, stream: int) -> None:
        self._whole.bytes[self.place - HOME :][: self._size] = np.frombuffer(
            ctypes.string_at(host, self._size), np.uint8
        )

    def give(self, host: int, stream: int) -> None:
        ctypes.memmove(host, self._whole.bytes[self.place - HOME :][: self._size].tobytes(), self._size)


class KernelOfPaper:
    def __init__(self, on: DeviceOfPaper, kernel: PtxKernel) -> None:
        self._on, self._kernel = on, kernel

    def begin(
        self, pointers: Sequence[int], states: int, blocks: int, threads: int, stream: int, rows: int = 1
    ) -> None:
        assert threads == self._kernel.threads
        PtxExecution(self._kernel, self._on.memories, [*pointers, states]).blocks(blocks, rows)

    def prepared(self, *given):
        launch = partial(self.begin, *given)
        launch.kept = None
        return launch


class DeviceOfThreads:
    """A GPU whose memory is this machine's and whose threads run here, one after the other, as machine code."""

    number, sm = 0, 90

    def __init__(self) -> None:
        self.begun: list[str] = []

    def stream(self) -> int:
        return 0

    def wait(self, stream: int) -> None:
        """Everything is done at once."""

    def memory(self, size: int) -> MemoryHere:
        return MemoryHere(size)

    def begin(self, function: ThreadFunction, words: Sequence[int], count: int) -> None:
        """`ThreadFunction.begin`, with the function that the kernel calls; NVIDIA's back end must take the kernel."""
        if function.name not in self.begun:
            assert f".visible .entry {function.name}" in assembled(function.kernel_text(), 128, 80, loops=True)
        self.begun.append(function.name)
        engine = _engine(function.text)
        boxes = {k: np.array([words[k]], np.uint64) for k in function.boxed}  # the number's bits, in memory
        signed = [w - 2**64 if w >= 2**63 else w for w in words]
        block = (ctypes.c_int64 * len(words))(
            *(boxes[k].ctypes.data if k in boxes else w for k, w in enumerate(signed))
        )
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        kind(engine.get_function_address("one"))(block, 0, count)


@lru_cache(maxsize=16)
def _engine(text: str) -> Any:
    return machine_engine(text, opt=0)


class MemoryHere:
    def __init__(self, size: int) -> None:
        self._bytes = np.full(max(1, size), 0x7F, np.uint8)  # nothing is zero by chance
        self.place = self._bytes.ctypes.data

    def take(self, host: int, stream: int) -> None:
        ctypes.memmove(self.place, host, len(self._bytes))

    def give(self, host: int, stream: int) -> None:
        ctypes.memmove(host, self.place, len(self._bytes))


def use_threads_here(monkeypatch) -> DeviceOfThreads:
    """Every device is one of threads here, until the test ends."""
    there = DeviceOfThreads()
    monkeypatch.setattr("emdeg.runtime.cuda.device", lambda number=0: there)
    monkeypatch.setattr(
        ThreadFunction, "begin", lambda self, on, words, count, stream: on.begin(self, words, count) if count else None
    )
    return there
