"""Threads: linear algebra on one thread while it lasts, and blocks in their order."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from emdeg.runtime import in_blocks, one_thread, thread_pool


def numbers() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_products_run_on_one_thread_while_the_context_lasts_and_on_as_many_as_before_afterwards():
    before = numbers()
    assert before, "NumPy's linear algebra is not known to threadpoolctl"
    with one_thread():
        assert set(numbers()) == {1}
        a = np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(a @ a.T, [[5, 14], [14, 50]])
    assert numbers() == before
    with pytest.raises(RuntimeError, match="inside"), one_thread():
        raise RuntimeError("inside")
    assert numbers() == before


def test_results_of_blocks_come_in_the_order_of_the_items():
    assert list(in_blocks(lambda k: k * k, range(50))) == [k * k for k in range(50)]
    assert list(in_blocks(lambda k: k, [])) == []


def test_a_pool_of_one_size_exists_once():
    assert thread_pool(2) is thread_pool(2)
