"""A GPU of paper: its memory is here, its kernels are PTX that is executed here, with the names of emdeg's driver."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from emdeg.codegen.ptx.execution import HOME, PtxExecution, PtxKernel, PtxMemory, read_ptx


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

    def begin(self, pointers: Sequence[int], states: int, blocks: int, threads: int, stream: int) -> None:
        assert threads == self._kernel.threads
        PtxExecution(self._kernel, self._on.memories, [*pointers, states]).blocks(blocks)

    def prepared(self, *given):
        return lambda: self.begin(*given)
