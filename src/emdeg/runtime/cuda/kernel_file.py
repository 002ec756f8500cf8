"""A kernel's PTX file as a function on NumPy's arrays: the loader of emitted kernels.

`emdeg generate --target ptx --loader` writes this text, after that of `driver`, into a file that stands alone: nothing
but NumPy and the standard library may be imported here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.runtime.cuda.driver import Device, DeviceError, Launchable, device


class KernelFile:
    """Call it with arrays (..., size), one for each of `inputs`: leading axes are states and broadcast.

    `inputs` are the sizes, `outputs` the shapes of a state's arrays; `threads` those of a block; with `entries` an
    array lies entry by entry on the device. `digest` is the SHA-256 of the file: another text is not loaded.
    """

    # No dataclass: those want their module to be in sys.modules, and a file may be loaded without that.
    def __init__(
        self,
        file: Path,
        digest: str,
        name: str,
        inputs: Mapping[str, int],
        outputs: Mapping[str, tuple[int, ...]],
        dtype: str,
        threads: int,
        entries: bool = False,
    ) -> None:
        self.file, self.digest, self.name = file, digest, name
        self.inputs, self.outputs, self.dtype = inputs, outputs, dtype
        self.threads, self.entries = threads, entries

    def __call__(self, *given: Any, number: int = 0) -> Any:
        """The results (..., *shape) of every state, a tuple if there are several, computed on GPU `number`."""
        if len(given) != len(self.inputs):
            raise TypeError(f"{self.name} takes {', '.join(self.inputs)}")
        arrays = [np.asarray(array, self.dtype) for array in given]
        for array, (name, size) in zip(arrays, self.inputs.items()):
            if not array.ndim or array.shape[-1] != size:
                raise ValueError(f"{self.name}: {name} has shape {array.shape}, expected (..., {size})")
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        states = math.prod(batch)
        rows = [np.broadcast_to(a, (*batch, a.shape[-1])).reshape(states, a.shape[-1]) for a in arrays]
        held = [np.ascontiguousarray(row.T if self.entries else row) for row in rows]
        sizes = [math.prod(shape) for shape in self.outputs.values()]
        found = [np.empty((size, states) if self.entries else (states, size), self.dtype) for size in sizes]
        if states:
            self._run(device(number), held, found, states)
        results = tuple(
            (array.T if self.entries else array).reshape(*batch, *shape)
            for array, shape in zip(found, self.outputs.values())
        )
        return results[0] if len(results) == 1 else results

    def _run(self, on: Device, held: list[np.ndarray], found: list[np.ndarray], states: int) -> None:
        stream, kernel = on.stream(), _loaded(self.file, self.digest, self.name, on)
        memories = [on.memory(array.nbytes) for array in (*held, *found)]
        for array, memory in zip(held, memories):
            if array.nbytes:
                memory.take(array.ctypes.data, stream)
        places = [memory.place for memory in memories]
        kernel.prepared(places, states, -(-states // self.threads), self.threads, stream)()
        for array, memory in zip(found, memories[len(held) :]):
            if array.nbytes:
                memory.give(array.ctypes.data, stream)
        on.wait(stream)


@lru_cache(maxsize=64)
def _loaded(file: Path, digest: str, name: str, on: Device) -> Launchable:
    text = file.read_bytes()
    if hashlib.sha256(text).hexdigest() != digest:
        raise DeviceError(f"{file.name} is not the file that this loader was made for: its SHA-256 is another")
    return on.load(text.decode(), name)
