"""Uniform random numbers as a function of their place: number k of a stream, without the ones before it.

SplitMix64 (Steele, Lea and Flood, 'Fast splittable pseudorandom number generators', 2014) is a counter with a mixing
function: its k-th output is mix(key + k * 0x9E3779B97F4A7C15). So any part of a stream can be computed anywhere, in
any order, to the same bits. The upper 53 bits make a double of [0, 1). The loop is machine code, eight numbers at a
time; NumPy computes the same bits where llvmlite is not there.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array
from emdeg.runtime.kernel import machine_available

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
        start = (self.key + GOLDEN * (first * self.width + 1)) % WORD
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


def _spread(value: int | str, kind: str) -> str:
    return "<" + ", ".join([f"{kind} {value}"] * LANES) + ">"


def _signed(value: int) -> int:
    """A 64-bit word as LLVM writes it."""
    value %= WORD
    return value - WORD if value >= WORD // 2 else value


def _assembly() -> str:
    """@fill(out, low, span, vectors, width, start): vector i of eight numbers is scaled by low, span's i mod width."""
    ints, reals = f"<{LANES} x i64>", f"<{LANES} x double>"
    steps = "<" + ", ".join(f"i64 {_signed(GOLDEN * lane)}" for lane in range(LANES)) + ">"
    mixing, z = [], "%z0"
    for k, (shift, factor) in enumerate(((30, FIRST), (27, SECOND), (31, None))):
        mixing += [f"  %s{k} = lshr {ints} {z}, {_spread(shift, 'i64')}", f"  %x{k} = xor {ints} {z}, %s{k}"]
        z = f"%x{k}"
        if factor is not None:
            mixing.append(f"  %m{k} = mul {ints} {z}, {_spread(_signed(factor), 'i64')}")
            z = f"%m{k}"
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
            *mixing,
            f"  %top = lshr {ints} {z}, {_spread(11, 'i64')}",
            f"  %whole = uitofp {ints} %top to {reals}",
            f"  %u = fmul {reals} %whole, {_spread('0x3CA0000000000000', 'double')}",
            "  %l = mul i64 %v, 8",
            "  %low_at = getelementptr double, ptr %low, i64 %l",
            "  %span_at = getelementptr double, ptr %span, i64 %l",
            f"  %a = load {reals}, ptr %low_at, align 8",
            f"  %b = load {reals}, ptr %span_at, align 8",
            f"  %scaled = fmul {reals} %b, %u",
            f"  %x = fadd {reals} %a, %scaled",
            "  %o = mul i64 %i, 8",
            "  %out_at = getelementptr double, ptr %out, i64 %o",
            f"  store {reals} %x, ptr %out_at, align 8",
            "  %next = add i64 %i, 1",
            f"  %further = add i64 %at, {_signed(GOLDEN * LANES)}",
            "  %v1 = add i64 %v, 1",
            "  %wraps = icmp eq i64 %v1, %width",
            "  %turned = select i1 %wraps, i64 0, i64 %v1",
            "  %more = icmp slt i64 %next, %vectors",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
            f'attributes #0 = {{ nounwind "min-legal-vector-width"="{64 * LANES}" }}',
            "",
        ]
    )
