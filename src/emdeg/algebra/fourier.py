"""Trigonometric polynomials as sums of cosines and sines of multiple angles, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from flint import fmpq

from emdeg.algebra.scalar import powers_of_z
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import TrigPoly

Index = tuple[int, ...]
Series = dict[Index, tuple[TrigPoly, TrigPoly]]


def to_fourier(formula: TrigPoly) -> Series:
    """{m: (a, b)} with formula = sum of a cos(m.q) + b sin(m.q); see `TrigPoly.to_fourier`.

    With z = exp(iq), c = (z + 1/z)/2 and s = (z - 1/z)/(2i). A term with an even number of sines is even in q
    and gives cosines only, an odd one sines only; so the powers of i reduce to a sign and every coefficient
    stays rational.
    """
    algebra = formula.algebra
    joints = len(algebra.revolute)
    even_odd: tuple[dict[Index, Any], dict[Index, Any]] = ({}, {})
    for exponents, coefficient in _by_angle_monomial(formula).items():
        sines = sum(exponents[::2])
        parity = sines % 2
        even_odd[parity][exponents] = coefficient if sines // 2 % 2 == 0 else -coefficient
    cosines, sines_ = (_expanded(part, joints) for part in even_odd)
    still = (0,) * joints
    series: Series = {}
    for index in sorted({*cosines, *sines_}):
        if index < still:
            continue
        twice = 1 if index == still else 2
        a, b = cosines.get(index), sines_.get(index)
        pair = (
            algebra._canonical(a * twice) if a else algebra.zero,
            algebra._canonical(b * twice) if b and index != still else algebra.zero,
        )
        if pair[0] or pair[1]:
            series[index] = pair
    return series


def from_fourier(algebra: TrigAlgebra, series: Mapping[Index, tuple[TrigPoly, TrigPoly]]) -> TrigPoly:
    """The formula in powers of sines and cosines."""
    total = algebra.zero
    for index, (a, b) in series.items():
        if len(index) != len(algebra.revolute):
            raise ValueError(f"the multi-index {index} needs one entry for each revolute joint of {algebra.revolute}")
        s, c = algebra.sum_sincos(dict(zip(algebra.revolute, index)))
        total = total + a * c + b * s
    return total


def _by_angle_monomial(formula: TrigPoly) -> dict[Index, Any]:
    """{exponents of s_k, c_k, ...: coefficient}, the coefficients flint polynomials free of joint angles."""
    algebra = formula.algebra
    width = 2 * len(algebra.revolute)
    free = (0,) * width
    grouped: dict[Index, dict[Any, Any]] = {}
    for monomial, coefficient in formula._poly.to_dict().items():
        angles = tuple(int(e) for e in monomial[:width])
        grouped.setdefault(angles, {})[free + monomial[width:]] = coefficient
    return {angles: algebra._context.from_dict(rest) for angles, rest in grouped.items()}


def _expanded(terms: dict[Index, Any], joints: int) -> dict[Index, Any]:
    """{m: coefficient of z^m}, up to the powers of i that `to_fourier` accounts for; joint by joint."""
    for _ in range(joints):
        # Each round turns the leading pair of exponents into a trailing power of z; equal keys merge early.
        merged: dict[Index, Any] = {}
        for key, coefficient in terms.items():
            for power, weight in _flint_powers_of_z(key[0], key[1]):
                image = (*key[2:], power)
                value = coefficient * weight
                merged[image] = merged[image] + value if image in merged else value
        terms = merged
    return terms


@lru_cache(maxsize=4096)
def _flint_powers_of_z(sines: int, cosines: int) -> tuple[tuple[int, fmpq], ...]:
    return tuple((power, fmpq(c.numerator, c.denominator)) for power, c in powers_of_z(sines, cosines))
