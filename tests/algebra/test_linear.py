"""Exact linear algebra: solutions solve, adjugates invert, echelon forms tell what depends on what."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as every

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emdeg.algebra import P, PrimeField, Quotient, Residue, TrigAlgebra
from emdeg.algebra.linear import (
    adjugate,
    blocks,
    congruent,
    determinant,
    eliminate,
    first_dependent_row,
    independent_rows,
    invert_symmetric,
    null_space,
    product,
    rational_echelon,
    reduce_rows,
    solve_symmetric,
    solve_system,
    times,
    transposed,
    triangular_blocks,
)
from tests.algebra.formulas import ALGEBRA, formulas

ZERO, ONE = Fraction(0), Fraction(1)
numbers = st.integers(-3, 3).map(Fraction)


def squares(n: int, entries=numbers):
    row = st.lists(entries, min_size=n, max_size=n)
    return st.lists(row, min_size=n, max_size=n)


@given(st.lists(st.lists(formulas, min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_matrix_times_its_adjugate_is_its_determinant(A):
    adjugated, det = adjugate(A)
    assert det == determinant(A) == determinant(transposed(A))
    for i, j in every(range(3), repeat=2):
        entry = sum((A[i][k] * adjugated[k][j] for k in range(3)), ALGEBRA.zero)
        assert entry == (det if i == j else 0)


def test_the_adjugate_of_one_entry_is_one():
    s, _ = ALGEBRA.joint_sincos(1)
    assert adjugate([[s]]) == ([[ALGEBRA.one]], s)


@pytest.mark.parametrize("n", range(1, 6))
def test_a_system_s_solution_solves_it_whatever_the_method(n):
    @given(squares(n), st.integers(0, 10**6))
    def holds(A, seed):
        field = PrimeField(seed)
        M = [[field.random(f"{i} {j}") if A[i][j] else field.number(0) for j in range(n)] for i in range(n)]
        B = [[field.random(f"right {i}"), field.number(i)] for i in range(n)]
        try:
            X = solve_system(M, B, field)
        except ZeroDivisionError:
            assert len(independent_rows([[x.value for x in row] for row in M], field.prime)) < n
            return
        assert product(M, X, field.number(0)) == B
        assert eliminate(M, B).X == X

    holds()


@given(squares(4))
def test_elimination_with_given_pivots_and_pattern_finds_the_same(A):
    M = [[Residue(int(x) + 11 * (i == j)) for j, x in enumerate(row)] for i, row in enumerate(A)]
    free = eliminate(M, [[Residue(1)]] * 4)
    full = [[True] * 4 for _ in range(4)]
    assert eliminate(M, [[Residue(1)]] * 4, free.places, full).X == free.X
    assert sorted(i for i, _ in free.places) == sorted(j for _, j in free.places) == [0, 1, 2, 3]


@given(squares(4), st.lists(numbers, min_size=4, max_size=4))
def test_a_symmetric_positive_system_is_solved(L, right):
    M = congruent([[ONE if i == j else ZERO for j in range(4)] for i in range(4)], L, ZERO)
    M = [[x + (i == j) for j, x in enumerate(row)] for i, row in enumerate(M)]
    assert times(M, solve_symmetric(M, right, ONE), ZERO) == right
    assert times(invert_symmetric(M, ONE), right, ZERO) == solve_symmetric(M, right, ONE)


@given(squares(3), squares(3))
def test_a_congruence_is_two_products(A, W):
    M = [[A[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]
    assert congruent(M, W, ZERO) == product(transposed(W), product(M, W, ZERO), ZERO)


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=6))
def test_echelon_forms_agree_on_rank_and_on_who_depends_on_whom(rows):
    reduced = rational_echelon([{k: c for k, c in enumerate(row) if c} for row in rows], 4)
    kept = independent_rows(rows, P)
    assert len(kept) == len(reduced)
    assert all(row[min(row)] == 1 for row in reduced)
    found = first_dependent_row(rows, P)
    if found is None:
        assert kept == list(range(len(rows)))
        return
    row, others = found
    assert row == min(set(range(len(rows))) - set(kept))
    assert set(others) <= set(range(row))
    assert len(independent_rows([rows[i] for i in (*others, row)], P)) == len(others)


def test_a_null_space_is_annihilated_and_nothing_is_divided_by_a_symbol_without_need():
    algebra = TrigAlgebra(parameters=["a", "b"])
    a, b, one = (Quotient(x) for x in (algebra.symbol("a"), algebra.symbol("b"), algebra.one))
    rows = [{0: a, 1: one}, {0: b, 1: one, 2: one}]
    (vector,) = null_space(rows, [0, 1, 2], one)
    for row in rows:
        assert not sum((row[c] * vector[c] for c in row if c in vector), Quotient(algebra.zero))
    solved = reduce_rows(rows, [[0, 1, 2]]).solved
    assert set(solved) == {1, 2}
    assert all(value.is_formula for row in solved.values() for value in row.values())
    left = reduce_rows(rows, [[1], [2], [0]], leave=[1])
    assert 1 not in left.solved
    assert len(left.unused) == 1


def test_zeros_say_what_can_be_solved_apart_and_in_which_order():
    A = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, -1, 0], [1, 1, 0, 1]]
    assert blocks(A[:3]) == [((0,), (0,)), ((1, 2), (1, 2))]
    assert triangular_blocks(A, abs) == [((0,), (0,)), ((1, 2), (1, 2)), ((3,), (3,))]
    with pytest.raises(ZeroDivisionError, match="singular by its structure"):
        triangular_blocks([[1, 0], [1, 0]], abs)
    with pytest.raises(ZeroDivisionError, match="singular by its structure"):
        solve_system([[Residue(1), Residue(0)], [Residue(1), Residue(0)]], [[Residue(1)]] * 2, PrimeField())
