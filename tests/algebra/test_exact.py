"""Exact numbers and symbols: what is read, what is refused, and that they form a ring."""

import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emdeg.algebra import Exact, parse_number
from emdeg.errors import NumberTooLong

numbers = st.fractions(max_denominator=50).filter(lambda f: abs(f) < 1000)
values = st.lists(st.tuples(numbers, st.sampled_from(["", "a", "b", "m2"])), max_size=4).map(
    lambda parts: sum((Exact.of(c) * (Exact.symbol(n) if n else 1) for c, n in parts), Exact())
)


@given(values, values, values)
def test_exact_values_form_a_commutative_ring(x, y, z):
    assert (x + y) + z == x + (y + z)
    assert x + y == y + x
    assert x * y == y * x
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - x == Exact()
    assert hash(x + y) == hash(y + x)


@given(values, st.dictionaries(st.sampled_from(["a", "b", "m2"]), numbers, min_size=3, max_size=3))
def test_evaluation_after_substitution_is_evaluation(x, where):
    by_evaluation = x.evaluate(Fraction, where.__getitem__)
    by_substitution = x.substitute({name: Exact.of(value) for name, value in where.items()})
    assert by_substitution.number == by_evaluation


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_shortest_decimal_that_denotes_it(x):
    assert float(Exact.of(x)) == x
    assert Exact.of(0.1).number == Fraction(1, 10)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.4318", Fraction(2159, 5000)),
        ("-2e-3", Fraction(-1, 500)),
        ("+.5", Fraction(1, 2)),
        (" 7. ", Fraction(7)),
        ("1/3", Fraction(1, 3)),
        ("1e400", Fraction(10**400)),
    ],
)
def test_a_decimal_text_is_read_exactly(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["", "1..2", "0,5", "1e", "e5", "nan", "inf", "0x10", "1_000", "1 2", "--1"])
def test_what_is_no_number_is_refused_by_name(text):
    with pytest.raises(ValueError, match="is not a number: write a decimal") as caught:
        parse_number(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["1e999999999", "-1e-999999999", "1e2000"])
def test_a_huge_exponent_is_refused_at_once(text):
    start = time.perf_counter()
    with pytest.raises(NumberTooLong, match=r"the exponent of '.*' is beyond 400"):
        parse_number(text)
    with pytest.raises(NumberTooLong, match="is too long: at most 400 digits, and an exponent within 400"):
        Exact.of(Decimal(text))
    assert time.perf_counter() - start < 0.5


def test_a_number_of_many_digits_is_refused_and_its_message_is_short():
    with pytest.raises(NumberTooLong, match="has more than 400 characters") as caught:
        parse_number("1" * 100_000)
    assert len(str(caught.value)) < 200
    with pytest.raises(NumberTooLong, match="is too long: at most 400 digits"):
        Exact.of(Decimal("1." + "3" * 1000))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="is not a finite number"):
        Exact.of(value)


def test_a_symbol_name_is_a_letter_then_letters_digits_or_underscores():
    for name in ("2m", "m-2", "", "a" * 33, "m 2", "_m", "m\n"):
        with pytest.raises(ValueError, match="is not a symbol's name"):
            Exact.symbol(name)
    assert str(2 * Exact.symbol("m2") * Exact.symbol("m2") - 1) == "-1 + 2*m2^2"


def test_a_symbolic_value_has_no_number_and_says_why():
    with pytest.raises(ValueError, match="is not a number: it contains a, b"):
        _ = (Exact.symbol("b") + Exact.symbol("a")).number
