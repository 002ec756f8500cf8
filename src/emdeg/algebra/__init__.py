"""Exact scalars: numbers, angles, trigonometric polynomials and quotients, residues, dual numbers. No robots here.

What is done with them stands in `linear` (exact linear algebra), `factoring` (sums of products), `expression`
(formulas in print) and `short_forms` (the shortest ways to write a trigonometric polynomial).
"""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.algebra import linear
    from emdeg.algebra.angle import (
        HALF_RIGHT,
        NO_ANGLE,
        SIXTH,
        Angle,
        angle_ball,
        ball,
        direction_angle,
        rounded,
        square_root,
    )
    from emdeg.algebra.arrays import Array
    from emdeg.algebra.exact import ONE, ZERO, Exact, ExactLike, is_symbol_name, parse_number, shown
    from emdeg.algebra.expression import (
        WRITTEN_OUT,
        AngleSum,
        AngleSystem,
        Atom,
        ParallelJoints,
        PrintedCount,
        Product,
        Sum,
        angle_latex,
        angle_name,
        angle_sum,
        angle_systems,
        atoms_of,
        count,
        evaluate,
        scaled,
        written_out,
    )
    from emdeg.algebra.factoring import Factored, in_half_angles
    from emdeg.algebra.parsing import MAX_DEGREE, Expression, ParsedName, ParsedNode, ParsedProduct, ParsedSum, parsed
    from emdeg.algebra.prime_field import (
        LEAST_PRIME,
        MANY_PRIMES,
        MODULO,
        REMAINDER,
        P,
        PrimeColumns,
        PrimeField,
        Residue,
        Residues,
        prime_of,
        rational_of,
        residue_inverse,
        residue_of,
        root_of,
    )
    from emdeg.algebra.quotients import Quotient, QuotientField, lowest_terms, quotient
    from emdeg.algebra.scalar import (
        Algebra,
        Dual,
        FieldScalar,
        Floats,
        JointAlgebra,
        Scalar,
        add_angles,
        angle_pieces,
        derivative,
        multiple_angle,
        over_duals,
        sincos_from_pieces,
        sum_of_angles,
    )
    from emdeg.algebra.short_forms import (
        ExponentLayout,
        Exponents,
        ParameterKey,
        PlainPoly,
        ShortForms,
        Views,
        WrittenForm,
        added,
        fewest_terms,
        terms_of,
        with_sine_squares,
    )
    from emdeg.algebra.trig_algebra import DEFAULT_MAX_TERMS, KnownAngles, RationalAngles, TrigAlgebra
    from emdeg.algebra.trig_poly import (
        GREEK,
        Generator,
        Kind,
        Look,
        Substitute,
        TrigPoly,
        look,
        name_latex,
        verbatim_latex,
    )

on_demand(globals())
