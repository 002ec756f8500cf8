"""One thread while it lasts, as many as before afterwards, whatever happens inside."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.runtime import one_thread
from emdeg.runtime.linear_algebra import _switches


def numbers() -> list[int]:
    return [threads() for threads, _ in _switches()]


def test_products_run_on_one_thread_while_it_lasts_and_on_as_many_as_before_afterwards():
    before = numbers()
    with one_thread():
        assert set(numbers()) <= {1}
        a = np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(a @ a.T, [[5, 14], [14, 50]])
    assert numbers() == before
    with pytest.raises(RuntimeError, match="inside"), one_thread():
        raise RuntimeError("inside")
    assert numbers() == before


def test_the_wheels_that_the_house_stands_on_are_known():
    """Without a switch nothing would fail, and searches would be slow on a busy machine."""
    for package in (np, __import__("scipy")):
        config = package.show_config(mode="dicts")["Build Dependencies"]["blas"]
        if config["name"] == "scipy-openblas":
            assert _switches()
