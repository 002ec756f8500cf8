"""Trigonometric polynomials as sums of cosines and sines of multiple angles."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import fmpq

from emdeg.algebra.trig_poly import TrigPoly

Index = tuple[int, ...]
Series = dict[Index, tuple[TrigPoly, TrigPoly]]


def to_fourier(formula: TrigPoly) -> Series:
    """{m: (a, b)} with formula = sum of a cos(m.q) + b sin(m.q); see `TrigPoly.to_fourier`."""
    algebra = formula.algebra
    width = 2 * len(algebra.revolute)
    none = algebra._context.constant(0)
    parts: tuple[dict[Index, Any], dict[Index, Any]] = defaultdict(lambda: none), defaultdict(lambda: none)
    for monomial, coefficient in formula._poly.to_dict().items():
        angles = [int(e) for e in monomial[:width]]
        term = algebra._context.from_dict({(0,) * width + monomial[width:]: coefficient})
        for index, odd, weight in harmonics(tuple(zip(angles[::2], angles[1::2]))):
            parts[odd][index] += term * fmpq(weight.numerator, weight.denominator)
    series = {
        m: (algebra._canonical(parts[0][m]), algebra._canonical(parts[1][m])) for m in sorted({*parts[0], *parts[1]})
    }
    return {index: pair for index, pair in series.items() if any(pair)}


@lru_cache(maxsize=4096)
def harmonics(pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[tuple[int, ...], bool, Fraction], ...]:
    """A product of s^a c^b over several angles as a sum of weight * cos (or, if odd, sin) of combinations.

    With z = exp(i q): c = (z + 1/z)/2, i s = (z - 1/z)/2; the powers of i leave a sign and the parity.
    """
    powers: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for sines, cosines in pairs:
        powers = {(*m, p): a * b for m, a in powers.items() for p, b in _powers_of_z(sines, cosines)}
    total = sum(sines for sines, _ in pairs)
    odd = bool(total % 2)
    sign = (-1) ** (total // 2)
    found: dict[tuple[int, ...], Fraction] = {}
    for multiples, weight in powers.items():
        lead = next((m for m in multiples if m), 0)
        flipped = tuple(-m for m in multiples) if lead < 0 else multiples
        value = weight * sign * (-1 if odd and lead < 0 else 1)
        if odd and not lead:
            continue
        found[flipped] = found.get(flipped, Fraction(0)) + value
    return tuple((m, odd, w) for m, w in found.items() if w)


@lru_cache(maxsize=4096)
def _powers_of_z(sines: int, cosines: int) -> tuple[tuple[int, Fraction], ...]:
    """((m, weight), ...) with (i s)^sines c^cosines = sum of weight z^m, z = exp(iq)."""
    scale = 2 ** (sines + cosines)
    weights: dict[int, int] = {}
    for j in range(sines + 1):
        for k in range(cosines + 1):
            power = sines + cosines - 2 * (j + k)
            weights[power] = weights.get(power, 0) + (-1) ** j * math.comb(sines, j) * math.comb(cosines, k)
    return tuple((power, Fraction(weight, scale)) for power, weight in weights.items() if weight)
