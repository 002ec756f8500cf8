"""Exact linear algebra over any field: matrices, determinants, systems, echelon forms."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.algebra.linear.matrices import (
        Matrix,
        Reduced,
        Row,
        adjugate,
        adjugate_of,
        blocks,
        congruent,
        determinant,
        determinant_of,
        first_dependent_row,
        independent_rows,
        inner,
        null_space,
        null_space_modulo,
        product,
        rational_echelon,
        reduce_rows,
        summed,
        times,
        total,
        transposed,
        triangular_blocks,
    )
    from emdeg.algebra.linear.systems import (
        Elimination,
        Rows,
        eliminate,
        factors_from_the_tip,
        invert_symmetric,
        pivots_from_the_tip,
        solve_symmetric,
        solve_system,
    )

on_demand(globals())
