"""Filters that shift nothing: polynomials pass, derivatives are derivatives, thinning out is smoothing and choosing."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.identification.smoothing import smoothing_filter


def test_polynomials_and_their_derivatives_pass_exactly():
    filter_ = smoothing_filter(0.01, 5.0, 10.0)
    t = np.arange(400) * 0.01
    curve = np.poly1d([0.3, -1.0, 0.2, 0.7, 1.0])
    inner = t[filter_.reach : len(t) - filter_.reach]
    for order in (0, 1, 2):
        np.testing.assert_allclose(filter_.at(curve(t), order), np.polyder(curve, order)(inner), atol=1e-7)


@pytest.mark.parametrize(("count", "every"), [(300, 3), (301, 7), (500, 10), (523, 1)])
def test_thinning_out_is_smoothing_and_then_choosing(count, every):
    filter_ = smoothing_filter(0.01, 8.0, 14.0, 60.0)
    x = np.random.default_rng(count).normal(size=(count, 3))
    np.testing.assert_allclose(filter_.thinned(x, every), filter_.at(x)[::every], atol=1e-12)
