"""Random trigonometric polynomials for the property tests."""

from fractions import Fraction

from hypothesis import strategies as st

from emdeg.algebra import Angle, Generator, TrigAlgebra

ALGEBRA = TrigAlgebra(
    revolute=[1, 2, 4],
    prismatic=[3],
    parameters=["m", "l"],
    constant_angles=[Angle.parse("0.3"), Angle(symbol="alpha")],
    rates=True,
)
RATES = [Generator("rate", 1), Generator("acceleration", 3)]
LETTERS = [g for g in ALGEBRA.generators if g.kind not in ("rate", "acceleration")] + RATES

coefficients = st.fractions(-9, 9, max_denominator=6)
monomials = st.dictionaries(st.sampled_from(LETTERS), st.integers(1, 3), max_size=4)
term_lists = st.lists(st.tuples(coefficients, monomials), max_size=5)
formulas = term_lists.map(ALGEBRA.from_terms)

joint_values = st.tuples(*[st.floats(-4, 4)] * 4)


def product_of_letters(terms, algebra=ALGEBRA):
    """The same formula as `from_terms`, by multiplying letter by letter."""
    total = algebra.zero
    for coefficient, monomial in terms:
        term = algebra.number(Fraction(coefficient))
        for generator, exponent in monomial.items():
            for _ in range(exponent):
                term = term * algebra.generator(generator)
        total = total + term
    return total
