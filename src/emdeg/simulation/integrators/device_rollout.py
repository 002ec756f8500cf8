"""Fixed-step runs on a GPU: the function that this processor runs too, one thread a trajectory, states in registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from emdeg.runtime import GOLDEN, PRECISIONS, Writer, normal_text, signed_word
from emdeg.runtime.cuda import (
    Borrowed,
    Device,
    ThreadFunction,
    borrowed,
    emptied,
    handed_back,
    library_of,
    thread_text,
    where_it_lies,
)
from emdeg.simulation.integrators.control_loop import EffortNoise, Hold, Loop
from emdeg.simulation.integrators.methods import METHODS
from emdeg.simulation.integrators.rollout import need_references
from emdeg.simulation.integrators.step_text import STEP_LENGTH, WORDS, kernel_text


@dataclass
class DeviceRollout:
    """A loop of robot, law and method for GPUs; arrays are of one library, on one device."""

    loop: Loop
    method: str
    hold: Hold | None
    dtype: np.dtype

    @cached_property
    def function(self) -> ThreadFunction:
        """What a thread does."""
        bits = 8 * self.dtype.itemsize
        text = kernel_text(self.loop, METHODS[self.method], self.hold, 1, bits)
        return ThreadFunction("rollout", text, WORDS, bits, frozenset({STEP_LENGTH}))

    @property
    def row(self) -> int:
        """Entries of a record."""
        return self.loop.row(self.hold)

    def __call__(
        self,
        initial: Any,
        step: float,
        per_record: int,
        records: int,
        references: Any | None = None,
        noise: EffortNoise | None = None,
    ) -> Any:
        """(trajectories, records, row), as `Rollout` has them, on the arrays' device, in their library's stream."""
        library = library_of([initial])
        start = borrowed(initial, "the initial states", self.dtype, self.loop.plant.name)
        count = start.shape[0]
        shown = emptied(library, (count, records, self.row), self.dtype, start.device, [initial])
        if not count or not records:
            return shown
        told: Borrowed | None = None
        per_step = own = 0
        if references is not None:
            told = borrowed(references, "the references", self.dtype, self.loop.plant.name)
            need_references(self.loop, self.method, self.hold, told.shape, per_record * records, count)
            per_step = 0 if told.shape[-3] == 1 else told.shape[-2] * told.shape[-1]
            own = int(np.prod(told.shape[1:])) if len(told.shape) == 4 else 0
        place = start.place if told is None else told.place
        words = [start.place, shown.place, place, self.loop.size, records * self.row, per_step]
        words += [per_record, records, self.function.number_bits(step), own]
        if noise is None:
            words += [0, 0, 0]
        else:
            words += [_deviation(start.device, noise.deviation, self.dtype).place, *noise.words(per_record * records)]
        self.function.begin(start.device, words, count, start.stream)
        return shown


@lru_cache(maxsize=16)
def _deviation(on: Device, deviation: tuple[float, ...], dtype: np.dtype) -> Borrowed:
    """The noise's deviations on a device; kept, since a kernel reads them after the call has returned."""
    stream = on.stream()
    taken = Borrowed.taken(np.array(deviation, dtype), on, stream)
    on.wait(stream)
    return taken


def device_noise(noise: EffortNoise, trajectories: int, steps: int, like: Any) -> Any:
    """(trajectories, steps, n): the noise as an array of the library, device and precision of `like`."""
    library, n = library_of([like]), len(noise.deviation)
    kind = where_it_lies(like, "like", "effort_noise")
    shown = emptied(library, (trajectories, steps, n), kind.dtype, kind.device, [like])
    function = noise_function(8 * kind.dtype.itemsize, n)
    words = [shown.place, _deviation(kind.device, noise.deviation, kind.dtype).place, noise.words(steps)[0]]
    function.begin(kind.device, words, trajectories * steps * n, shown.stream)
    return handed_back(library, shown)


@lru_cache(maxsize=16)
def noise_function(bits: int, n: int) -> ThreadFunction:
    """Number i of the noise: words are the pointers to the results and the deviations, and the counter's beginning."""
    out = Writer(PRECISIONS[bits], 1)
    at = out.put(f"add i64 {out.put(f'mul i64 %i, {signed_word(GOLDEN)}')}, %start_word")
    joint = out.put(f"urem i64 %i, {n}")
    address = out.put(f"getelementptr {out.real}, ptr %base_deviation, i64 {joint}")
    value = out.binary("fmul", normal_text(out, at), out.put(f"load {out.real}, ptr {address}"))
    place = out.put(f"getelementptr {out.real}, ptr %shown, i64 %i")
    out.lines.append(f"  store {out.real} {value}, ptr {place}")
    text = thread_text(["shown", "base_deviation"], ["start_word"], out.lines, out.declared)
    return ThreadFunction("noise", text, 3, bits)
