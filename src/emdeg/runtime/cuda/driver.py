"""NVIDIA's driver, called through ctypes: devices, modules, launches, memory. Nothing else of CUDA is needed.

emdeg uses each device's primary context, the one that torch, JAX and CuPy use too, so that their arrays are at hand.
Every call pushes it and pops it again: a thread's own current context is left as it was.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from emdeg.errors import DeviceError

_NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
_CAPABILITY_MAJOR, _CAPABILITY_MINOR, _PROCESSORS = 75, 76, 16
_LOG = 8192
_LOG_BUFFER, _LOG_SIZE, _EFFORT = 5, 6, 7
LONG_TEXT = 1_000_000
"""Characters of PTX, some thirty thousand operations, that NVIDIA's assembler takes many minutes to optimise."""


class Driver:
    """The driver of this process, begun once; DeviceError where there is none."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._library = _library()
        self("cuInit", 0)
        self._launch = self._library.cuLaunchKernel
        self._launch.argtypes = (
            ctypes.c_void_p,
            *[ctypes.c_uint] * 7,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        )
        self._current = self._library.cuCtxGetCurrent
        self._held = threading.local()

    def __call__(self, name: str, *arguments: Any) -> None:
        """One of the driver's functions; DeviceError, naming the call, if it fails."""
        self._need_own_process()
        code = getattr(self._library, name)(*arguments)
        if code:
            raise DeviceError(f"{name} failed: {self._said(code)}", driver_code=code)

    def launch(self, *arguments: Any) -> None:
        """cuLaunchKernel, whose arguments need no conversion: it is called often."""
        code = self._launch(*arguments)
        if code:
            raise DeviceError(f"cuLaunchKernel failed: {self._said(code)}", driver_code=code)

    def _need_own_process(self) -> None:
        if os.getpid() != self._process:
            raise DeviceError("this process was forked after the GPU was used; use it first in the child, or spawn it")

    def context(self) -> int | None:
        """The context that is this thread's at present."""
        self._need_own_process()
        if not hasattr(self._held, "found"):
            self._held.found = ctypes.c_void_p()
            self._held.place = ctypes.byref(self._held.found)
        self._current(self._held.place)
        return self._held.found.value

    def _said(self, code: int) -> str:
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self._library.cuGetErrorName(code, ctypes.byref(name))
        self._library.cuGetErrorString(code, ctypes.byref(text))
        parts = [part.decode() for part in (name.value, text.value) if part]
        return ": ".join(parts) or f"error {code}"


@cache
def _library() -> Any:
    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise DeviceError("there is no NVIDIA driver on this machine (libcuda was not found)")


@cache
def cuda_driver() -> Driver:
    """The driver, begun when it is first asked for."""
    return Driver()


def devices() -> int:
    """How many GPUs this process may use; 0 where there is no driver."""
    try:
        count = ctypes.c_int()
        cuda_driver()("cuDeviceGetCount", ctypes.byref(count))
    except DeviceError:
        return 0
    return count.value


@cache
def device(number: int = 0) -> Device:
    """The GPU of that number."""
    there = ctypes.c_int()
    cuda_driver()("cuDeviceGetCount", ctypes.byref(there))
    if not 0 <= number < there.value:
        raise DeviceError(f"there is no GPU {number}; this process sees {there.value}")
    return Device(number)


def assembler_effort(text: str) -> int:
    """How hard NVIDIA's assembler shall try with a kernel: 3, as usual, or with a long one 1, so that it ends."""
    return 3 if len(text) < LONG_TEXT else 1


class Device:
    """One GPU and its primary context."""

    def __init__(self, number: int) -> None:
        self.number = number
        handle = ctypes.c_int()
        cuda_driver()("cuDeviceGet", ctypes.byref(handle), number)
        self._handle = handle
        self._context = ctypes.c_void_p()
        cuda_driver()("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), handle)
        self.sm = 10 * self._attribute(_CAPABILITY_MAJOR) + self._attribute(_CAPABILITY_MINOR)
        self.processors = self._attribute(_PROCESSORS)
        self._streams = threading.local()

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int()
        cuda_driver()("cuDeviceGetAttribute", ctypes.byref(value), which, self._handle)
        return value.value

    @property
    def context(self) -> int | None:
        """The primary context, as the driver names it."""
        return self._context.value

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        cuda_driver()("cuDeviceGetName", text, 256, self._handle)
        return text.value.decode()

    @contextmanager
    def current(self) -> Iterator[None]:
        """The device's context is this thread's; afterwards it has the one it had."""
        call = cuda_driver()
        if call.context() == self._context.value:
            yield
            return
        call("cuCtxPushCurrent_v2", self._context)
        try:
            yield
        finally:
            call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def load(self, text: str, name: str) -> Launchable:
        """A kernel of PTX, assembled by the driver; DeviceError with the driver's words if it will not."""
        log = ctypes.create_string_buffer(_LOG)
        effort = assembler_effort(text)
        options = (ctypes.c_int * 3)(_LOG_BUFFER, _LOG_SIZE, _EFFORT)
        values = (ctypes.c_void_p * 3)(ctypes.addressof(log), _LOG, effort)
        told = 3 if effort < 3 else 2  # the driver's own default is its best
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with self.current():
            try:
                cuda_driver()("cuModuleLoadDataEx", ctypes.byref(module), text.encode() + b"\0", told, options, values)
            except DeviceError as problem:
                words = log.value.decode(errors="replace").strip()
                raise DeviceError(
                    f"{problem}{chr(10) if words else ''}{words}", driver_code=problem.driver_code
                ) from None
            cuda_driver()("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return Launchable(self, module, function)

    def stream(self) -> int:
        """A stream of this thread's own, not ordered with others."""
        if not hasattr(self._streams, "handle"):
            handle = ctypes.c_void_p()
            with self.current():
                cuda_driver()("cuStreamCreate", ctypes.byref(handle), 1)
            self._streams.handle = handle.value or 0
        return self._streams.handle

    def wait(self, stream: int) -> None:
        """Until all work of a stream is done; its errors are raised here."""
        with self.current():
            cuda_driver()("cuStreamSynchronize", ctypes.c_void_p(stream))

    def memory(self, size: int) -> Memory:
        """`size` bytes on the device."""
        return Memory(self, size)


class Memory:
    """Bytes on a device; given back when nobody holds them any more."""

    def __init__(self, on: Device, size: int) -> None:
        self.device, self.size = on, size
        place = ctypes.c_uint64()
        with on.current():
            cuda_driver()("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(size, 1)))
        self.place = place.value

    def take(self, host: int, stream: int) -> None:
        """Copy as many bytes from the host's memory."""
        with self.device.current():
            args = ctypes.c_uint64(self.place), ctypes.c_void_p(host), ctypes.c_size_t(self.size)
            cuda_driver()("cuMemcpyHtoDAsync_v2", *args, ctypes.c_void_p(stream))

    def give(self, host: int, stream: int) -> None:
        """Copy as many bytes to the host's memory; they are there after `wait`."""
        with self.device.current():
            args = ctypes.c_void_p(host), ctypes.c_uint64(self.place), ctypes.c_size_t(self.size)
            cuda_driver()("cuMemcpyDtoHAsync_v2", *args, ctypes.c_void_p(stream))

    def __del__(self) -> None:
        place, self.place = getattr(self, "place", 0), 0
        if place:
            _free(self.device, place)


def _free(on: Device, place: int) -> None:
    """Give memory back; at the interpreter's end, or in a forked child, the driver does that by itself."""
    try:
        with on.current():
            cuda_driver()("cuMemFree_v2", ctypes.c_uint64(place))
    except (DeviceError, TypeError, AttributeError):
        return


class Launchable:
    """A kernel on a device."""

    def __init__(self, on: Device, module: ctypes.c_void_p, function: ctypes.c_void_p) -> None:
        self.device, self._module, self._function = on, module, function
        self._own = threading.local()

    def begin(
        self, pointers: Sequence[int], states: int, blocks: int, threads: int, stream: int, rows: int = 1
    ) -> None:
        """Begin `rows` rows of `blocks` of the kernel on these arrays; it is not waited for.

        The driver copies arguments before it returns.
        """
        held = getattr(self._own, "held", None)
        if held is None or len(held[0]) != len(pointers) + 1:
            held = self._own.held = _arguments(len(pointers) + 1)
        values, places = held
        values[:] = (*pointers, states)
        call = cuda_driver()
        if call.context() == self.device.context:
            call.launch(self._function, blocks, rows, 1, threads, 1, 1, 0, stream, places, None)
            return
        with self.device.current():
            call.launch(self._function, blocks, rows, 1, threads, 1, 1, 0, stream, places, None)

    def prepared(
        self, pointers: Sequence[int], states: int, blocks: int, threads: int, stream: int, rows: int = 1
    ) -> Launch:
        """The kernel on these arrays, over `states` states, in the stream's order: ready to be begun."""
        values, places = _arguments(len(pointers) + 1)
        values[:] = (*pointers, states)
        fixed = (self._function, blocks, rows, 1, threads, 1, 1, 0, stream, places, None)
        return Launch(self.device, fixed, (self, values))


def _arguments(count: int) -> tuple[Any, Any]:
    """(words for a kernel's arguments, their places as cuLaunchKernel takes them)."""
    values = (ctypes.c_uint64 * count)()
    start = ctypes.addressof(values)
    return values, (ctypes.c_void_p * count)(*(start + 8 * k for k in range(count)))


class Launch:
    """Call it to begin a kernel whose arguments are laid out already; it is not waited for. No blocks, no work."""

    __slots__ = ("_begin", "_device", "fixed", "kept")

    def __init__(self, on: Device, fixed: tuple[Any, ...], kept: object) -> None:
        self._device, self._begin = on, cuda_driver().launch
        self.fixed = fixed
        """The arguments of the driver's cuLaunchKernel."""
        self.kept = kept
        """What must live as long as the kernel may run."""

    def __call__(self) -> None:
        if self.fixed[1]:
            with self._device.current():
                self._begin(*self.fixed)
