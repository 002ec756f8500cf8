"""Numbers for sines and cosines without a library: range reduction and minimax polynomials.

x is reduced by the multiple k of pi/2 nearest to it, pi/2 in parts short enough for k times each to be exact
(Cody and Waite) as long as |k| <= 2^20 in double, 2^16 in single precision. On |r| <= pi/4 then

    sin r = r + r^3 S(r^2)          cos r = 1 - r^2/2 + r^4 C(r^2)

with S and C the minimax polynomials of relative weight, found with Remez' algorithm in 50 digits: errors
below 2^-58 and 2^-64 in double, 2^-28 and 2^-33 in single precision. The rounding of the evaluation then
dominates: at most `ulps` units in the last place for |x| <= `reach`, which the tests check.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrigTable:
    """Constants of one precision; polynomials from the constant term upwards."""

    two_over_pi: float
    half_pi_parts: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]
    rounder: float
    """Added and taken away again, it rounds to the nearest integer; the sum's low bits are that integer's."""
    most_quarters: float
    """The largest |k| that is reduced; beyond it sine and cosine are NaN rather than wrong."""
    reach: float
    ulps: float


DOUBLE = TrigTable(
    two_over_pi=0.6366197723675814,
    half_pi_parts=(1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
    sine=(
        -0.16666666666666632,
        0.008333333333322413,
        -0.00019841269829807808,
        2.755731369191808e-06,
        -2.5050758115276912e-08,
        1.5896795653837948e-10,
    ),
    cosine=(
        0.0416666666666666,
        -0.0013888888888874125,
        2.4801587289482194e-05,
        -2.7557314352335047e-07,
        2.087572327348275e-09,
        -1.1359647814765908e-11,
    ),
    rounder=1.5 * 2.0**52,
    most_quarters=2.0**20,
    reach=1e5,
    ulps=3.0,
)

SINGLE = TrigTable(
    two_over_pi=0.6366197466850281,
    half_pi_parts=(
        1.5703125,
        0.0004825592041015625,
        1.2665987014770508e-06,
        9.89530235528946e-10,
        2.5633440682570896e-12,
    ),
    sine=(-0.16666655242443085, 0.008332177996635437, -0.00019517235341481864),
    cosine=(0.04166664555668831, -0.0013887366512790322, 2.4438379114144482e-05),
    rounder=1.5 * 2.0**23,
    most_quarters=2.0**16,
    reach=1e5,
    ulps=4.0,
)
