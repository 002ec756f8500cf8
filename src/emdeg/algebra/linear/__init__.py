"""Exact linear algebra over any field: matrices, determinants, systems, echelon forms."""

from emdeg.algebra.linear.determinants import adjugate, determinant
from emdeg.algebra.linear.echelon import (
    Reduced,
    Row,
    first_dependent_row,
    independent_rows,
    null_space,
    rational_echelon,
    reduce_rows,
)
from emdeg.algebra.linear.matrices import Matrix, congruent, inner, product, summed, times, total, transposed
from emdeg.algebra.linear.structure import blocks, triangular_blocks
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
