"""Singular values by rotations, as a GPU computes them: LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.programs import Dependence, Tracer
from emdeg.sweeps.entrywise import traced_entries
from emdeg.sweeps.spectra import MOST, singular_values, square_factors, weighed_by_inverse


def traced(rows, columns, of):
    """A function of matrices: what `of` makes of a traced one, as an array."""
    tracer = Tracer()
    x = tracer.inputs("x", rows * columns, Dependence.CONFIGURATION)
    found = of([x[columns * i : columns * (i + 1)] for i in range(rows)], traced_entries(tracer))
    run = emdeg.compile(tracer.program("of", {"found": found}), backend="numpy")
    return lambda matrices: run(np.reshape(matrices, (len(matrices), -1)))


def flat(rows):
    return [entry for row in rows for entry in row]


def test_singular_values_are_lapacks_for_all_kinds_of_matrices():
    rng = np.random.default_rng(5)
    A = rng.normal(size=(400, 3, 4)) * 10.0 ** rng.uniform(-6, 6, (400, 3, 1))
    A[0], A[1], A[2] = 0.0, 1.0, np.eye(3, 4)  # nothing, rank one, all alike
    A[3:100, 2] = A[3:100, 0] + 1e-9 * A[3:100, 1]  # nearly singular
    expected = np.linalg.svd(A, compute_uv=False)
    found = traced(3, 4, singular_values)(A)
    assert (np.abs(found - expected) <= 4e-15 * expected[:, :1]).all()


def test_factors_of_a_mass_matrix_give_it_back():
    rng = np.random.default_rng(6)
    G = rng.normal(size=(20, 3, 3))
    M, J = np.swapaxes(G, 1, 2) @ G + np.eye(3), rng.normal(size=(20, 2, 3))
    square = traced(3, 3, lambda M, on: flat(square_factors(M, on)))(M).reshape(-1, 3, 3)
    np.testing.assert_allclose(np.swapaxes(square, 1, 2) @ square, M, rtol=1e-12, atol=1e-12)
    both = np.concatenate([J, M], axis=1)
    W = traced(5, 3, lambda rows, on: flat(weighed_by_inverse(rows[:2], rows[2:], on)))(both).reshape(-1, 2, 3)
    expected = J @ np.linalg.solve(M, np.swapaxes(J, 1, 2))
    np.testing.assert_allclose(W @ np.swapaxes(W, 1, 2), expected, rtol=1e-12, atol=1e-12)


def test_what_is_no_short_program_is_refused():
    for rows, columns in ((MOST + 1, MOST + 1), (3, 2)):
        with pytest.raises(ArithmeticError, match="no matrix"):
            traced(rows, columns, singular_values)
