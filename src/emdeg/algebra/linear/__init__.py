"""Exact linear algebra over any field: matrices, determinants, systems, echelon forms."""

from emdeg.algebra.linear.echelon import (
    Reduced,
    Row,
    first_dependent_row,
    independent_rows,
    null_space,
    rational_echelon,
    reduce_rows,
)
from emdeg.algebra.linear.matrices import (
    Matrix,
    adjugate,
    blocks,
    congruent,
    determinant,
    inner,
    product,
    summed,
    times,
    total,
    transposed,
    triangular_blocks,
)
from emdeg.algebra.linear.systems import Elimination, eliminate, solve_symmetric, solve_system

__all__ = [
    "Elimination",
    "Matrix",
    "Reduced",
    "Row",
    "adjugate",
    "blocks",
    "congruent",
    "determinant",
    "eliminate",
    "first_dependent_row",
    "independent_rows",
    "inner",
    "null_space",
    "product",
    "rational_echelon",
    "reduce_rows",
    "solve_symmetric",
    "solve_system",
    "summed",
    "times",
    "total",
    "transposed",
    "triangular_blocks",
]
