"""A function of one thread as a kernel: what this processor runs in a loop, a GPU runs side by side.

The function is LLVM text, @one(words, start, stop): it does pieces start..stop of some work and reads all it needs from
one block of 64-bit words, pointers and numbers. On a GPU every thread makes that block for itself and does one piece.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from emdeg.runtime.cuda.assembler import architecture, assembled
from emdeg.runtime.cuda.driver import Device, Launchable
from emdeg.runtime.llvm_writer import PRECISIONS

THREADS = 128
"""Threads of a block."""


@dataclass
class ThreadFunction:
    """`text` defines @one, which takes `words` words; of those in `boxed` @one expects pointers to the numbers."""

    name: str
    text: str
    words: int
    bits: int = 64
    boxed: frozenset[int] = frozenset()
    _kernels: dict[int, Launchable] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, on: Device, words: Sequence[int], count: int, stream: int) -> None:
        """Pieces 0..count on a device, not waited for; a boxed word is its number's bits (`number_bits`)."""
        if len(words) != self.words:
            raise ValueError(f"{self.name} takes {self.words} words, not {len(words)}")
        if count:
            self._kernel(on).prepared(words, count, -(-count // THREADS), THREADS, stream)()

    def number_bits(self, value: float) -> int:
        """A boxed word: the bits of a number in the function's precision."""
        return int.from_bytes(struct.pack("<d" if self.bits == 64 else "<f", value), "little")

    def _kernel(self, on: Device) -> Launchable:
        with self._lock:
            if on.number not in self._kernels:
                text = assembled(self.kernel_text(), THREADS, architecture(on.sm), loops=True)
                self._kernels[on.number] = on.load(text, self.name)
            return self._kernels[on.number]

    def kernel_text(self) -> str:
        """The LLVM module for NVIDIA's back end: the words are the kernel's arguments, then the number of pieces."""
        scalar = PRECISIONS[self.bits].scalar
        names = [f"word{k}" for k in range(self.words)]
        arguments = ", ".join(f"i64 %{name}" for name in [*names, "count"])
        lines = [
            'target triple = "nvptx64-nvidia-cuda"',
            self.text.replace("define void @one", "define internal void @one"),
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            f"define ptx_kernel void @{self.name}({arguments}) {{",
            "entry:",
            f"  %words = alloca [{self.words} x i64]",
        ]
        for place, name in enumerate(names):
            lines.append(f"  %to{place} = getelementptr i64, ptr %words, i64 {place}")
            if place in self.boxed:
                lines += [f"  %box{place} = alloca {scalar}", *self._unpacked(place, name, scalar)]
                name = f"place{place}"
            lines.append(f"  store i64 %{name}, ptr %to{place}")
        return "\n".join([*lines, *_RUN]) + "\n"

    def _unpacked(self, place: int, name: str, scalar: str) -> list[str]:
        """The number in a word into its box, and the box's place as a word."""
        whole = f"%{name}"
        lines = []
        if self.bits == 32:
            lines, whole = [f"  %low{place} = trunc i64 %{name} to i32"], f"%low{place}"
        return [
            *lines,
            f"  %number{place} = bitcast i{self.bits} {whole} to {scalar}",
            f"  store {scalar} %number{place}, ptr %box{place}",
            f"  %place{place} = ptrtoint ptr %box{place} to i64",
        ]


_RUN = [
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


def thread_text(
    pointers: Sequence[str],
    numbers: Sequence[str],
    body: Sequence[str],
    declared: Iterable[str],
    kept: Sequence[str] = (),
) -> str:
    """@one with `body` for every piece %i, in which the words have these names, the pointers first.

    The body begins in the block %piece and ends in an open one; `kept` stands before it, once.
    """
    words = []
    for place, (name, kind) in enumerate([*((p, "ptr") for p in pointers), *((k, "i64") for k in numbers)]):
        words += [f"  %at{place} = getelementptr i64, ptr %words, i64 {place}"]
        words += [f"  %{name} = load {kind}, ptr %at{place}"]
    lines = [
        *sorted(declared),
        "define void @one(ptr %words, i64 %start, i64 %stop) {",
        "entry:",
        *words,
        *kept,
        "  br label %piece",
        "piece:",
        "  %i = phi i64 [ %start, %entry ], [ %next_piece, %after_piece ]",
        *body,
        "  br label %after_piece",
        "after_piece:",
        "  %next_piece = add i64 %i, 1",
        "  %more_pieces = icmp ult i64 %next_piece, %stop",
        "  br i1 %more_pieces, label %piece, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"
