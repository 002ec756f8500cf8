"""Other libraries' arrays on a device: borrowed where they lie, results handed back in kind, nothing copied.

torch and CuPy are asked for their current stream and for new arrays of their own. JAX, whose arrays cannot be written,
and whoever else speaks DLPack take memory of ours and keep it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from emdeg.errors import StateError
from emdeg.runtime.compiled import CUDA
from emdeg.runtime.cuda.dlpack import as_capsule, read_capsule
from emdeg.runtime.cuda.driver import Device, Memory, device

Library = Literal["numpy", "torch", "cupy", "dlpack"]


@dataclass(frozen=True)
class Borrowed:
    """An array on a device: where it lies, and who keeps it there."""

    place: int
    shape: tuple[int, ...]
    dtype: np.dtype
    device: Device
    stream: int
    owner: Any

    @staticmethod
    def taken(array: np.ndarray, on: Device, stream: int) -> Borrowed:
        """A copy of the host's array."""
        memory = on.memory(array.nbytes)
        if array.nbytes:
            memory.take(array.ctypes.data, stream)
        return Borrowed(memory.place, array.shape, array.dtype, on, stream, (memory, array))

    def fetched(self, stream: int) -> np.ndarray:
        """A copy on the host."""
        result = np.empty(self.shape, self.dtype)
        if result.nbytes:
            self.owner.give(result.ctypes.data, stream)
            self.device.wait(stream)
        return result

    # What DLPack asks of whoever hands an array over.
    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.device.number

    def __dlpack__(self, *, stream: int | None = None, **_: object) -> Any:
        self.device.wait(self.stream)
        return as_capsule(self.place, self.shape, self.dtype, self.device.number, self.owner)


def library_of(arrays: Sequence[Any]) -> Library:
    """Whose arrays these are; StateError where some live on a device and some do not."""
    kinds: set[Library] = {_library(array) for array in arrays}
    if len(kinds) == 1:
        return kinds.pop()
    names = ", ".join(sorted(kinds))
    raise StateError(f"the arrays are of several kinds ({names}): give all in one library, on one device")


def _library(array: Any) -> Library:
    if isinstance(array, np.ndarray | list | tuple | float | int):
        return "numpy"
    home = type(array).__module__.partition(".")[0]
    if home in ("torch", "cupy"):
        return "numpy" if home == "torch" and array.device.type == "cpu" else home
    if hasattr(array, "__dlpack_device__"):
        return "dlpack" if array.__dlpack_device__()[0] == CUDA else "numpy"
    return "numpy"


def lives_on_device(array: Any) -> bool:
    """Whether it is an array in a GPU's memory."""
    return not isinstance(array, np.ndarray) and _library(array) != "numpy"


def borrowed(array: Any, name: str, dtype: np.dtype, program: str) -> Borrowed:
    """The array where it lies; StateError unless it has that dtype and lies row by row."""
    if isinstance(array, Borrowed):
        return array
    found = where_it_lies(array, name, program)
    if found.dtype != dtype:
        raise StateError(f"{program}: {name} has dtype {found.dtype}, expected {dtype}")
    return found


def where_it_lies(array: Any, name: str, program: str) -> Borrowed:
    """The array where it lies, whatever its dtype; StateError unless it lies row by row."""
    library = _library(array)
    if library == "torch":
        if array.dtype not in (sys.modules["torch"].float32, sys.modules["torch"].float64):
            raise StateError(f"{program}: {name} has dtype {array.dtype}, expected float32 or float64")
        return _of_torch(array)
    return _of_cupy(array) if library == "cupy" else _of_dlpack(array, program, name)


def _of_torch(array: Any) -> Borrowed:
    torch = sys.modules["torch"]
    array = array.detach().contiguous()
    stream = torch.cuda.current_stream(array.device).cuda_stream
    kind = np.dtype(str(array.dtype).removeprefix("torch."))
    return Borrowed(array.data_ptr(), tuple(array.shape), kind, device(array.device.index or 0), stream, array)


def _of_cupy(array: Any) -> Borrowed:
    cupy = sys.modules["cupy"]
    array = cupy.ascontiguousarray(array)
    stream = cupy.cuda.get_current_stream().ptr
    return Borrowed(array.data.ptr, tuple(array.shape), array.dtype, device(array.device.id), stream, array)


def _of_dlpack(array: Any, program: str, name: str) -> Borrowed:
    on = device(array.__dlpack_device__()[1])
    stream = on.stream()
    capsule = array.__dlpack__(stream=stream)
    place, shape, dtype, in_rows = read_capsule(capsule)
    if not in_rows:
        raise StateError(f"{program}: {name} does not lie row by row")
    return Borrowed(place, shape, dtype, on, stream, (capsule, array))


@dataclass(frozen=True, slots=True)
class PlainTensors:
    """torch's tensors of one GPU, row by row, of the precision asked for: their shapes, and torch's present stream."""

    number: int
    shapes: tuple[tuple[int, ...], ...]
    stream: int
    like: Any

    def emptied(self, shape: tuple[int, ...]) -> Any:
        """A new tensor there."""
        return self.like.new_empty(shape)


def plain_tensors(arrays: Sequence[Any], dtype: np.dtype) -> PlainTensors | None:
    """What torch's own tensors are, found out with few calls; None where some array is anything else."""
    torch = sys.modules.get("torch")
    if torch is None or not arrays:
        return None
    kind = torch.float32 if dtype.itemsize == 4 else torch.float64
    number, plain = -1, torch.Tensor
    for array in arrays:
        if type(array) is not plain or array.dtype is not kind or not array.is_cuda or not array.is_contiguous():
            return None
        if number not in (-1, array.get_device()):
            return None
        number = array.get_device()
    stream = torch.cuda.current_stream(number).cuda_stream
    return PlainTensors(number, tuple(array.shape for array in arrays), stream, arrays[0])


def namespace(library: Library, array: Any) -> Any:
    """The functions of the library whose array this is; NumPy's names, `concatenate` and `asarray` among them."""
    if library in ("torch", "cupy"):
        return sys.modules[library]
    if library == "dlpack" and type(array).__module__.startswith("jax"):
        return sys.modules["jax"].numpy
    return np


def place_of(array: Any) -> int:
    """Where an array of torch or CuPy lies."""
    return array.data_ptr() if hasattr(array, "data_ptr") else array.data.ptr


def emptied(library: Library, shape: tuple[int, ...], dtype: np.dtype, on: Device, like: Sequence[Any]) -> Borrowed:
    """A new array of that library for results."""
    if library == "torch":
        torch = sys.modules["torch"]
        return _of_torch(torch.empty(shape, dtype=getattr(torch, dtype.name), device=like[0].device))
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(on.number):
            return _of_cupy(cupy.empty(shape, dtype))
    memory: Memory = on.memory(int(np.prod(shape)) * dtype.itemsize)
    return Borrowed(memory.place, shape, dtype, on, on.stream(), memory)


def handed_back(library: Library, result: Borrowed) -> Any:
    """The result as that library has it."""
    if library in ("torch", "cupy"):
        return result.owner
    jax = sys.modules.get("jax")
    return result if jax is None else jax.dlpack.from_dlpack(result)
