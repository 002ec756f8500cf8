"""Fixed-step runs on a GPU: the function that this processor runs too, one thread a trajectory, states in registers."""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from emdeg.runtime import PRECISIONS
from emdeg.runtime.cuda import Borrowed, Device, Launchable, architecture, assembled, borrowed, emptied, library_of
from emdeg.simulation.integrators.control_loop import Hold, Loop
from emdeg.simulation.integrators.methods import METHODS
from emdeg.simulation.integrators.rollout import need_references
from emdeg.simulation.integrators.step_text import kernel_text

THREADS = 128
WORDS = ("initial", "record", "reference", "step_initial", "step_record", "step_reference", "per_record", "records")


def device_kernel_text(loop: Loop, method: str, hold: Hold | None, bits: int) -> str:
    """The LLVM module for NVIDIA's back end: @rollout takes the words of `step_text` as its arguments."""
    scalar = PRECISIONS[bits].scalar
    names = [*WORDS, "length", "step_trajectory", "count"]
    lines = [
        'target triple = "nvptx64-nvidia-cuda"',
        kernel_text(loop, METHODS[method], hold, 1, bits).replace("define void @one", "define internal void @one"),
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        f"define ptx_kernel void @rollout({', '.join(f'i64 %{name}' for name in names)}) {{",
        "entry:",
        "  %words = alloca [10 x i64]",
        f"  %length_at = alloca {scalar}",
        *(
            ["  %h = bitcast i64 %length to double"]
            if bits == 64
            else ["  %low = trunc i64 %length to i32", "  %h = bitcast i32 %low to float"]
        ),
        f"  store {scalar} %h, ptr %length_at",
        "  %length_place = ptrtoint ptr %length_at to i64",
    ]
    for place, name in enumerate([*WORDS, "length_place", "step_trajectory"]):
        lines += [
            f"  %to{place} = getelementptr i64, ptr %words, i64 {place}",
            f"  store i64 %{name}, ptr %to{place}",
        ]
    lines += [
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "  %thread64 = zext i32 %thread to i64",
        "  %block64 = zext i32 %block to i64",
        f"  %before = mul i64 %block64, {THREADS}",
        "  %which = add i64 %before, %thread64",
        "  %next = add i64 %which, 1",
        "  %there = icmp ult i64 %which, %count",
        "  br i1 %there, label %run, label %done",
        "run:",
        "  call void @one(ptr %words, i64 %which, i64 %next)",
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"


@dataclass
class DeviceRollout:
    """A loop of robot, law and method for GPUs; arrays are of one library, on one device."""

    loop: Loop
    method: str
    hold: Hold | None
    dtype: np.dtype
    _kernels: dict[int, Launchable] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def row(self) -> int:
        """Entries of a record."""
        return self.loop.row(self.hold)

    def __call__(self, initial: Any, step: float, per_record: int, records: int, references: Any | None = None) -> Any:
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
        length = int.from_bytes(struct.pack("<d" if self.dtype.itemsize == 8 else "<f", step), "little")
        words: Sequence[int] = [start.place, shown.place, place, self.loop.size, records * self.row, per_step]
        words = [*words, per_record, records, length, own]
        kernel = self._kernel(start.device)
        kernel.prepared(words, count, -(-count // THREADS), THREADS, start.stream)()
        return shown

    def _kernel(self, on: Device) -> Launchable:
        with self._lock:
            if on.number not in self._kernels:
                text = device_kernel_text(self.loop, self.method, self.hold, 8 * self.dtype.itemsize)
                self._kernels[on.number] = on.load(assembled(text, THREADS, architecture(on.sm), loops=True), "rollout")
            return self._kernels[on.number]
