"""Uniform random numbers as a function of their place: number k of a stream, without the ones before it.

SplitMix64 (Steele, Lea and Flood, 'Fast splittable pseudorandom number generators', 2014) is a counter with a mixing
function: its k-th output is mix(key + k * 0x9E3779B97F4A7C15). So any part of a stream can be computed anywhere, in
any order, to the same bits. The upper 53 bits make a double of [0, 1). The loop is machine code, eight numbers at a
time; NumPy computes the same bits where llvmlite is not there.
"""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array
from emdeg.runtime.kernel import machine_available
from emdeg.runtime.llvm_writer import PRECISIONS, Writer, vector_attributes

GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
WORD = 2**64
LANES = 8


def stream_key(*words: object) -> int:
    """The key of a stream of its own for these words (a seed, a name, a number)."""
    return int.from_bytes(sha256(repr(words).encode()).digest()[:8], "little")


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's mixing function, a bijection of 64-bit words."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND)
    return z ^ (z >> np.uint64(31))


def words_at(key: int, places: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The stream's words at these places, from 0."""
    with np.errstate(over="ignore"):
        return mixed(np.uint64(key) + np.uint64(GOLDEN) * (places.astype(np.uint64) + np.uint64(1)))


def uniform_at(key: int, places: NDArray[np.uint64]) -> Array:
    """The stream's numbers in [0, 1) at these places, from 0."""
    return (words_at(key, places) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal_at(key: int, places: NDArray[np.uint64]) -> Array:
    """The stream's standard normal numbers at these places, from 0."""
    words = words_at(key, places)
    radius = np.sqrt(-2 * np.log(((words >> np.uint64(32)).astype(float) + 0.5) * 2.0**-32))
    return radius * np.cos((words & np.uint64(2**32 - 1)).astype(float) * (2 * np.pi * 2.0**-32))


def words_text(out: Writer, at: str) -> str:
    """The stream's words where its counter stands at `at` (64 bits, in every lane): SplitMix64's mixing."""
    kind, z = out.words, at
    for shift, factor in ((30, FIRST), (27, SECOND), (31, None)):
        z = out.put(f"xor {kind} {z}, {out.put(f'lshr {kind} {z}, {out.word(shift)}')}")
        if factor is not None:
            z = out.put(f"mul {kind} {z}, {out.word(signed_word(factor))}")
    return z


def uniform_text(out: Writer, at: str) -> str:
    """The numbers of [0, 1) there, doubles in every lane."""
    kind, real = out.words, "double" if out.width == 1 else f"<{out.width} x double>"
    top = out.put(f"lshr {kind} {words_text(out, at)}, {out.word(11)}")
    scale = Writer(PRECISIONS[64], out.width).constant(2.0**-53)
    return out.put(f"fmul {real} {out.put(f'uitofp {kind} {top} to {real}')}, {scale}")


def normal_text(out: Writer, at: str) -> str:
    """The standard normal numbers there, in the writer's precision."""
    kind, word = out.words, words_text(out, at)
    high = out.put(f"lshr {kind} {word}, {out.word(32)}")
    low = out.put(f"and {kind} {word}, {out.word(2**32 - 1)}")
    radius, angle = (out.put(f"uitofp {kind} {half} to {out.real}") for half in (high, low))
    share = out.binary("fmul", out.binary("fadd", radius, out.constant(0.5)), out.constant(2.0**-32))
    square = out.binary("fmul", out.logarithm(share), out.constant(-2.0))
    cosine = out.sincos(out.binary("fmul", angle, out.constant(2 * math.pi * 2.0**-32)))[1]
    return out.binary("fmul", out.call("llvm.sqrt", square), cosine)


def counter_start(key: int, first: int = 0) -> int:
    """Where a stream's counter stands at number `first`, as a 64-bit word; it goes on by GOLDEN."""
    return (key + GOLDEN * (first + 1)) % WORD


class UniformRows:
    """Rows of random numbers, column j uniform over [low[j], high[j]): row i is the same whoever asks for it."""

    def __init__(self, key: int, low: ArrayLike, high: ArrayLike) -> None:
        self.key = key
        self.low, self.span = np.asarray(low, float), np.subtract(high, low).astype(float)
        if self.low.ndim != 1 or self.span.shape != self.low.shape:
            raise ValueError(
                f"low and high must have one number a column; got shapes {self.low.shape}, {np.shape(high)}"
            )
        self.width = len(self.low)
        self._tiles = np.tile(self.low, LANES), np.tile(self.span, LANES)
        self._fill = _machine_fill() if machine_available() else None

    def rows(self, first: int, count: int) -> Array:
        """Rows `first` to `first + count` (count, width)."""
        if self._fill is None:
            places = np.uint64(first * self.width % WORD) + np.arange(count * self.width, dtype=np.uint64)
            return self.low + self.span * uniform_at(self.key, places).reshape(count, self.width)
        padded = -(-count // LANES) * LANES
        out = np.empty((padded, self.width))
        start = counter_start(self.key, first * self.width)
        addresses = (array.__array_interface__["data"][0] for array in (out, *self._tiles))
        self._fill(*addresses, padded // LANES * self.width, self.width, start)
        return out[:count]


@lru_cache(maxsize=1)
def _machine_fill() -> Any:
    from emdeg.runtime.engine import machine_engine

    engine = machine_engine(_assembly())
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2, ctypes.c_uint64)
    fill = kind(engine.get_function_address("fill"))
    vars(fill)["engine"] = engine  # the code lives as long as the function
    return fill


def signed_word(value: int) -> int:
    """A 64-bit word as LLVM writes it."""
    value %= WORD
    return value - WORD if value >= WORD // 2 else value


def _assembly() -> str:
    """@fill(out, low, span, vectors, width, start): vector i of eight numbers is scaled by low, span's i mod width."""
    out = Writer(PRECISIONS[64], LANES)
    ints, reals = out.words, out.real
    steps = "<" + ", ".join(f"i64 {signed_word(GOLDEN * lane)}" for lane in range(LANES)) + ">"
    u = uniform_text(out, "%z0")
    return "\n".join(
        [
            "define void @fill(ptr %out, ptr %low, ptr %span, i64 %vectors, i64 %width, i64 %start) #0 {",
            "entry:",
            "  %some = icmp sgt i64 %vectors, 0",
            "  br i1 %some, label %loop, label %done",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            "  %v = phi i64 [ 0, %entry ], [ %turned, %loop ]",
            "  %at = phi i64 [ %start, %entry ], [ %further, %loop ]",
            f"  %one = insertelement {ints} poison, i64 %at, i64 0",
            f"  %all = shufflevector {ints} %one, {ints} poison, <{LANES} x i32> zeroinitializer",
            f"  %z0 = add {ints} %all, {steps}",
            *out.lines,
            "  %l = mul i64 %v, 8",
            "  %low_at = getelementptr double, ptr %low, i64 %l",
            "  %span_at = getelementptr double, ptr %span, i64 %l",
            f"  %a = load {reals}, ptr %low_at, align 8",
            f"  %b = load {reals}, ptr %span_at, align 8",
            f"  %scaled = fmul {reals} %b, {u}",
            f"  %x = fadd {reals} %a, %scaled",
            "  %o = mul i64 %i, 8",
            "  %out_at = getelementptr double, ptr %out, i64 %o",
            f"  store {reals} %x, ptr %out_at, align 8",
            "  %next = add i64 %i, 1",
            f"  %further = add i64 %at, {signed_word(GOLDEN * LANES)}",
            "  %turn = add i64 %v, 1",
            "  %wraps = icmp eq i64 %turn, %width",
            "  %turned = select i1 %wraps, i64 0, i64 %turn",
            "  %more = icmp slt i64 %next, %vectors",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
            vector_attributes(64 * LANES),
            "",
        ]
    )
