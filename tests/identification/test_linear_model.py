"""Squares summed up block by block are as exact as QR factors of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.identification.linear_model import SumOfSquares


def summed(rows: np.ndarray, block: int) -> np.ndarray:
    total = SumOfSquares(rows.shape[1])
    for first in range(0, len(rows), block):
        total.add(rows[first : first + block])
    return total.triangle()


@pytest.mark.parametrize("block", [100, 1700, 6000])
def test_small_singular_values_are_those_of_all_rows_and_hidden_ones_are_hidden(block):
    rng = np.random.default_rng(0)
    turned, _ = np.linalg.qr(rng.normal(size=(30, 30)))
    shown = rng.normal(size=(6000, 30)) * np.logspace(0, -8, 30) @ turned
    rows = np.column_stack([shown, shown @ rng.normal(size=(30, 2)), np.zeros((6000, 2))])
    rows[4000:, -1] = 1e-5 * rng.normal(size=2000)  # a joint that moves late
    length = np.linalg.norm(rows, axis=0)
    length[length == 0] = 1
    found = np.linalg.svd(summed(rows, block) / length, compute_uv=False)
    known = np.linalg.svd(rows / length, compute_uv=False)
    assert known[30] > 1e-9 > 1e-12 > known[31]
    np.testing.assert_allclose(found[:31], known[:31], rtol=1e-6)
    assert found[31:].max() < 1e-12


def test_a_column_that_no_row_shows_stays_zero():
    rows = np.random.default_rng(1).normal(size=(500, 4)) * [1.0, 0.0, 1e-7, 1e9]
    found = summed(rows, 60)
    assert not found[:, 1].any()
    length = np.array([1.0, 1.0, 1e-7, 1e9])
    np.testing.assert_allclose(
        (found / length).T @ (found / length), (rows / length).T @ (rows / length), atol=1e-9 * len(rows)
    )
