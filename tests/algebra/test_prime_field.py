"""Residues modulo 2^61 - 1: a field, into which the rationals and the circle embed."""

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emdeg.algebra import Angle, P, PrimeColumns, PrimeField, Residue, TrigAlgebra, residue_of, sum_of_angles

residues = st.integers(0, P - 1).map(Residue)
fractions = st.fractions(max_denominator=10**9)


def test_the_modulus_is_prime_by_lucas_and_lehmer():
    s = 4
    for _ in range(59):
        s = (s * s - 2) % P
    assert s == 0


@given(residues, residues, residues)
def test_residues_form_a_field(a, b, c):
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a
    assert a * (b + c) == a * b + a * c
    assert a + 0 == a == a * 1
    assert a - b == -(b - a) == a + (-b)
    assert not a - a
    if b:
        assert a / b * b == a
        assert b * (1 / b) == 1


@given(fractions, fractions)
def test_rationals_embed_as_a_ring(x, y):
    field = PrimeField()
    assert field.number(x) + field.number(y) == field.number(x + y)
    assert field.number(x) * field.number(y) == field.number(x * y)
    assert Residue(residue_of(x)) - y == x - y
    assert y - Residue(residue_of(x)) == y - x
    if residue_of(y):  # a multiple of the prime has no inverse
        assert x / field.number(y) == x / y == field.number(x) / y


@given(st.integers(0, 100), st.integers(-4, 4), st.integers(-4, 4))
def test_sines_of_angle_sums_follow_the_addition_formulas(seed, m, n):
    field = PrimeField(seed)

    def sincos(multiples):
        parts = [(field.joint_sincos(joint), times) for joint, times in multiples.items()]
        return sum_of_angles(parts, field.number(1), field.number(0))

    s, c = sincos({1: m, 2: n})
    assert s * s + c * c == 1
    s1, c1 = sincos({1: m})
    s2, c2 = sincos({2: n})
    assert s == s1 * c2 + c1 * s2
    assert c == c1 * c2 - s1 * s2
    formula = TrigAlgebra(revolute=[1, 2]).sum_sincos({1: m, 2: n})
    assert formula[0].map(field.letter, field.number) == s
    assert formula[1].map(field.letter, field.number) == c


def test_values_depend_on_seed_and_name_only():
    code = "from emdeg.algebra import PrimeField; print(PrimeField(3).symbol('m2').value)"
    other_process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other_process.stdout) == PrimeField(3).symbol("m2").value
    drawn = {PrimeField(seed).symbol(name).value for seed in range(5) for name in ("m1", "m2")}
    field = PrimeField(0)
    drawn |= {
        field.rate(1).value,
        field.acceleration(1).value,
        field.displacement(1).value,
        field.random("1").value,
    }
    assert len(drawn) == 14
    assert field.sincos(Angle.parse("60 deg"))[0] == field.sincos(Angle.parse("30 deg"))[1]
    assert field.sincos(Angle.parse("180 deg")) == (0, -1)


def test_division_by_zero_says_what_to_do():
    for work in (
        lambda: 1 / Residue(0),
        lambda: Residue(2) / P,
        lambda: Residue(1) / Fraction(0),
        lambda: residue_of(Fraction(1, P)),
    ):
        with pytest.raises(ZeroDivisionError, match="division by zero modulo a prime: take another random point"):
            work()


def test_residues_refuse_floats_and_hashing():
    with pytest.raises(TypeError):
        _ = Residue(1) + 0.5
    with pytest.raises(TypeError, match="unhashable"):
        hash(Residue(1))
    assert Residue(-1) == -1
    assert Residue(2) ** -1 == Fraction(1, 2)


def test_columns_compute_what_integers_modulo_their_primes_do():
    columns = PrimeColumns("some seed")
    a, b = columns.random("a"), columns.random("b")
    (s, c), half = columns.joint_sincos(0), columns.number(Fraction(1, 2))
    for k, p in enumerate(columns.columns):
        x, y = int(a.value[k]), int(b.value[k])
        assert int(((a - b) * half).value[k]) == (x - y) * pow(2, -1, p) % p
        assert int(columns.inverse(a.value)[k]) == pow(x, -1, p)
        assert int((s * s + c * c).value[k]) == 1
    assert (columns.square_root((a * a).value) ** 2 % columns.prime == (a * a).value).all()


def test_a_ratio_is_read_off_its_residues():
    columns = PrimeColumns(5)
    a = columns.random("a")
    assert columns.ratio((a * columns.number(Fraction(-355, 113))).value, a.value) == Fraction(-355, 113)
    assert columns.ratio(a.value, columns.random("b").value) is None
