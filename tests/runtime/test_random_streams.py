"""Random numbers by place, and running statistics: against SplitMix64's published outputs and plain NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from emdeg.runtime import random_streams as uniform_module
from emdeg.runtime import statistics as fold_module
from emdeg.runtime.cuda import thread_text
from emdeg.runtime.engine import machine_engine
from emdeg.runtime.llvm_writer import PRECISIONS, Writer
from emdeg.runtime.random_streams import (
    GOLDEN,
    UniformRows,
    counter_start,
    normal_at,
    normal_text,
    signed_word,
    stream_key,
    uniform_at,
    words_at,
)
from emdeg.runtime.statistics import Fold


def splitmix64(state: int, count: int) -> list[int]:
    """The generator as Vigna's public-domain C states it, in Python's whole numbers."""
    found = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        found.append(z ^ (z >> 31))
    return found


def test_words_are_splitmix64s():
    # The outputs for the seed 1234567 that ports of SplitMix64 are commonly checked with.
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert splitmix64(1234567, 5) == published
    assert words_at(1234567, np.arange(5)).tolist() == published
    assert words_at(2**64 - 5, np.arange(1000)).tolist() == splitmix64(2**64 - 5, 1000)


@pytest.mark.parametrize("width", [1, 3, 18])
@pytest.mark.parametrize("first", [0, 5, 10**9, 2**60])
def test_machine_code_and_numpy_give_the_same_bits(width, first, monkeypatch):
    low = np.linspace(-2, 1, width)
    high = low + np.linspace(0.1, 3, width)
    rows = UniformRows(77, low, high)
    assert rows._fill is not None
    here = rows.rows(first, 1003)
    monkeypatch.setattr(uniform_module, "machine_available", lambda: False)
    assert np.array_equal(UniformRows(77, low, high).rows(first, 1003), here)
    assert np.array_equal(rows.rows(first + 100, 50), here[100:150])
    places = np.uint64(first * width % 2**64) + np.arange(1003 * width, dtype=np.uint64)
    assert np.array_equal(low + (high - low) * uniform_at(77, places).reshape(-1, width), here)


def test_numbers_are_uniform_and_streams_apart():
    from scipy.stats import kstest

    one, other = (UniformRows(stream_key(3, name), [0.0], [1.0]).rows(0, 20000)[:, 0] for name in ("a", "b"))
    assert kstest(one, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
    assert abs(np.corrcoef(one[:-1], one[1:])[0, 1]) < 0.03


def folded(rows: np.ndarray, block: int) -> np.ndarray:
    fold = Fold(rows.shape[1])
    for start in range(0, len(rows), block):
        fold.add(rows[start : start + block])
    return fold.result


@pytest.mark.parametrize("count", [1, 7, 8, 4096, 5003])
def test_a_fold_is_the_columns_statistics(count, monkeypatch):
    rows = np.random.default_rng(count).normal(size=(count, 6)) * [1, 10, 1e-3, 1e5, 1, 0]
    found = folded(rows, 1024)
    assert np.array_equal(found[:2], [rows.min(axis=0), rows.max(axis=0)])
    assert np.allclose(found[2:], [rows.sum(axis=0), (rows**2).sum(axis=0)], rtol=1e-12, atol=1e-9)
    assert np.array_equal(folded(rows, 4096), found)
    monkeypatch.setattr(fold_module, "machine_available", lambda: False)
    assert np.array_equal(folded(rows, 1024), found)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_shows(bad):
    rows = np.ones((100, 2))
    rows[41, 1] = bad
    found = folded(rows, 64)
    assert np.isfinite(found[:, 0]).all()
    assert np.isnan(found[:, 1]).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_logarithms_and_normal_numbers_of_machine_code(bits):
    """Against NumPy's, over all magnitudes that a share can have."""
    kind = np.dtype(f"f{bits // 8}")
    out = Writer(PRECISIONS[bits], 1)
    address = out.put(f"getelementptr {out.real}, ptr %x, i64 %i")
    value = out.logarithm(out.put(f"load {out.real}, ptr {address}"))
    draw = normal_text(out, out.put(f"add i64 {out.put(f'mul i64 %i, {signed_word(GOLDEN)}')}, %first"))
    for name, result in (("logs", value), ("draws", draw)):
        place = out.put(f"getelementptr {out.real}, ptr %{name}, i64 %i")
        out.lines.append(f"  store {out.real} {result}, ptr {place}")
    engine = machine_engine(thread_text(["x", "logs", "draws"], ["first"], out.lines, out.declared), opt=0)
    x = np.concatenate([np.geomspace(1e-30, 1e30, 2001), 1 + np.linspace(-0.4, 0.6, 2001), [0.5, 1.0, 2.0]]).astype(
        kind
    )
    logs, draws = np.empty_like(x), np.empty_like(x)
    words = (ctypes.c_int64 * 4)(*(a.ctypes.data for a in (x, logs, draws)), signed_word(counter_start(5)))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    run(engine.get_function_address("one"))(words, 0, len(x))
    eps = np.finfo(kind).eps
    np.testing.assert_allclose(logs, np.log(x.astype(float)), rtol=4 * eps, atol=2 * eps)
    np.testing.assert_allclose(draws, normal_at(5, np.arange(len(x))), rtol=0, atol=40 * eps)
