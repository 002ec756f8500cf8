"""A program as a function on arrays that live on a GPU: torch, JAX, CuPy, whatever speaks DLPack; NumPy by copying."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from emdeg.errors import StateError
from emdeg.programs import Program
from emdeg.runtime.compiled import as_array, matched
from emdeg.runtime.cuda.arrays import (
    Borrowed,
    PlainTensors,
    borrowed,
    emptied,
    handed_back,
    library_of,
    place_of,
    plain_tensors,
)
from emdeg.runtime.cuda.assembler import architecture, ptx
from emdeg.runtime.cuda.driver import Device, Launch, Launchable, device
from emdeg.runtime.cuda.kernel_text import KernelShape, Layout
from emdeg.runtime.cuda.parts import KernelPart, crowd, kernel_parts, suitable_parts

MOST_PLANS = 256


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """A kernel for inputs of some shapes: how it is launched, and the shapes of its results."""

    kernel: Launchable
    states: int
    blocks: int
    threads: int
    rows: int
    shapes: tuple[tuple[int, ...], ...]

    def begin(self, places: Sequence[int], stream: int) -> None:
        """Begin it on inputs and outputs that lie there; nothing is to be done without states."""
        if self.states:
            self.kernel.begin(places, self.states, self.blocks, self.threads, stream, self.rows)


class CudaProgram:
    """Call it with arrays (..., size) of one library and one device; the results are that library's, there.

    Leading axes are states and broadcast; an input with one state serves all. Work is put into the library's current
    stream and not waited for. NumPy arrays are copied to device `number` and the results back. The program is done in
    `parts`, or in as many as suit it.
    """

    def __init__(
        self, program: Program, dtype: np.dtype, number: int = 0, layout: Layout = "rows", parts: int | None = None
    ) -> None:
        self.program, self.dtype, self.parts = program, dtype, parts
        self.layout: Layout = layout
        self._number = number
        self._kernels: dict[tuple[int, frozenset[str], int], tuple[Launchable, KernelShape]] = {}
        self._parts: dict[int, tuple[KernelPart, ...]] = {}
        self._plans: dict[tuple[int, tuple[tuple[int, ...], ...]], LaunchPlan] = {}
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **named: Any) -> Any:
        groups, given = self.program.inputs, matched(self.program, args, named)
        rows = plain_tensors(given, self.dtype)
        if rows is not None:
            return self._of_tensors(given, rows)
        library = library_of(given)
        if library == "numpy":
            return self._copied([as_array(self.program, g, array, self.dtype) for array, g in zip(given, groups)])
        arrays = [borrowed(array, group.name, self.dtype, self.program.name) for array, group in zip(given, groups)]
        on = self._one_device(arrays)
        plan = self._plan(on, tuple(array.shape for array in arrays))
        outputs = [emptied(library, shape, self.dtype, on, given) for shape in plan.shapes]
        plan.begin([array.place for array in (*arrays, *outputs)], arrays[0].stream)
        results = tuple(handed_back(library, output) for output in outputs)
        return results[0] if len(results) == 1 else results

    def _of_tensors(self, given: Sequence[Any], rows: PlainTensors) -> Any:
        """The short way for torch's tensors that lie as they should: a call costs little more than its launch."""
        plan = self._plan(device(rows.number), rows.shapes)
        outputs = [rows.emptied(shape) for shape in plan.shapes]
        plan.begin([array.data_ptr() for array in (*given, *outputs)], rows.stream)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def bind(self, *arrays: Any) -> Launch:
        """A call without arguments on arrays that stay where they are: inputs, then outputs, all of one library.

        It begins the work in the stream that is the library's current one now, and does not wait for it. No output may
        share memory with another array.
        """
        groups = [*self.program.inputs, *self.program.outputs]
        if len(arrays) != len(groups):
            raise StateError(f"{self.program.name} is bound to {', '.join(group.name for group in groups)}")
        held = [borrowed(array, group.name, self.dtype, self.program.name) for array, group in zip(arrays, groups)]
        for array, given, group in zip(held, arrays, groups):
            if array.owner is not given and library_of([given]) in ("torch", "cupy") and array.place != place_of(given):
                raise StateError(f"{self.program.name}: {group.name} does not lie row by row")
        inputs, outputs = held[: len(self.program.inputs)], held[len(self.program.inputs) :]
        plan = self._plan(self._one_device(held), tuple(array.shape for array in inputs))
        for array, group, expected in zip(outputs, self.program.outputs, plan.shapes):
            if array.shape != expected:
                raise StateError(f"{self.program.name}: {group.name} has shape {array.shape}, expected {expected}")
        self._need_apart(held)
        places = [array.place for array in held]
        launch = plan.kernel.prepared(places, plan.states, plan.blocks, plan.threads, held[0].stream, plan.rows)
        launch.kept = (launch.kept, held)
        return launch

    def _need_apart(self, held: Sequence[Borrowed]) -> None:
        """StateError where results would lie in the memory of another array: threads would read what others wrote."""
        names = [group.name for group in (*self.program.inputs, *self.program.outputs)]
        ends = [array.place + math.prod(array.shape) * self.dtype.itemsize for array in held]
        for k in range(len(self.program.inputs), len(held)):
            for j in range(k):
                if held[j].place < ends[k] and held[k].place < ends[j]:
                    raise StateError(f"{self.program.name}: {names[k]} shares memory with {names[j]}")

    def _copied(self, arrays: list[np.ndarray]) -> Any:
        on = device(self._number)
        stream = on.stream()
        batch = self._batch([array.shape for array in arrays])
        kept = [np.ascontiguousarray(self._full(array, batch)) for array in arrays]
        inputs = [Borrowed.taken(array, on, stream) for array in kept]
        plan = self._plan(on, tuple(array.shape for array in inputs))
        outputs = [emptied("numpy", shape, self.dtype, on, ()) for shape in plan.shapes]
        plan.begin([array.place for array in (*inputs, *outputs)], stream)
        results = tuple(output.fetched(stream) for output in outputs)
        return results[0] if len(results) == 1 else results

    def _full(self, array: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
        return array if math.prod(array.shape[:-1]) == 1 else np.broadcast_to(array, (*batch, array.shape[-1]))

    def _plan(self, on: Device, shapes: tuple[tuple[int, ...], ...]) -> LaunchPlan:
        """How inputs of these shapes are computed on a device; thought out once."""
        key = on.number, shapes
        found = self._plans.get(key)
        if found is None:
            batch = self._batch(shapes)
            states = math.prod(batch)
            kernel, shape = self._kernel(on, self._ones(shapes, states), states)
            results = tuple((*batch, *group.shape) for group in self.program.outputs)
            found = LaunchPlan(kernel, states, shape.blocks(states), shape.threads, shape.parts, results)
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[key] = found
        return found

    def _ones(self, shapes: Sequence[tuple[int, ...]], states: int) -> frozenset[str]:
        """The inputs of which one state serves all."""
        return frozenset(
            group.name for group, shape in zip(self.program.inputs, shapes) if states > 1 and math.prod(shape[:-1]) == 1
        )

    def _kernel(self, on: Device, shared: frozenset[str], states: int) -> tuple[Launchable, KernelShape]:
        bits = 8 * self.dtype.itemsize
        with self._lock:
            which = crowd(states)
            if which not in self._parts:
                told = self.parts
                self._parts[which] = (
                    suitable_parts(self.program, bits, states)
                    if told is None
                    else kernel_parts(self.program, bits, told)
                )
            parts = self._parts[which]
            key = on.number, shared, len(parts)
            if key not in self._kernels:
                sm, layout = architecture(on.sm), self.layout
                text, shape = ptx(self.program, "kernel", bits=bits, layout=layout, shared=shared, sm=sm, parts=parts)
                self._kernels[key] = on.load(text, "kernel"), shape
            return self._kernels[key]

    def _one_device(self, arrays: Sequence[Borrowed]) -> Device:
        numbers = {array.device.number for array in arrays}
        if len(numbers) > 1:
            raise StateError(f"{self.program.name}: the arrays lie on several GPUs: {sorted(numbers)}")
        return arrays[0].device

    def _batch(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        for shape, group in zip(shapes, self.program.inputs):
            if not shape or shape[-1] != group.size:
                raise StateError(f"{self.program.name}: {group.name} has shape {shape}, expected (..., {group.size})")
        leading = [shape[:-1] for shape in shapes]
        try:
            batch = np.broadcast_shapes(*leading)
        except ValueError:
            raise StateError(f"{self.program.name}: the states do not fit together: {leading}") from None
        for shape, group in zip(leading, self.program.inputs):
            if shape != batch and math.prod(shape) != 1:
                raise StateError(
                    f"{self.program.name}: {group.name} has {shape} states, the others {batch}: "
                    "on a device an array has all states or one"
                )
        return batch

    def __repr__(self) -> str:
        return f"<{self.program.name} for CUDA, {self.dtype}>"
