"""What friction may be made of in a fit that is linear: a column of efforts for each term, joint by joint."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array

LEVELS = tuple(0.015 * 1.55**k for k in range(9))
"""Stribeck velocities, of the fastest speed, at which the peak's column is at hand; between them it is interpolated."""


@dataclass(frozen=True)
class FrictionTerm:
    """A term's name, and its effort per unit from the speed and the direction's smoothed sign.

    Of `level` it is Stribeck's peak with a velocity of so many times the fastest speed.
    """

    name: str
    effort: Callable[[Array, Array], Array]
    level: float | None = None
    always: bool = False
    """Whether every joint has it; the others must earn their place."""


def stribeck_peak(v: Array, sign: Array, velocity: float) -> Array:
    return sign * np.exp(-((v / velocity) ** 2))


VISCOUS = FrictionTerm("viscous", lambda v, sign: v, always=True)
COULOMB = FrictionTerm("coulomb", lambda v, sign: sign, always=True)
OFFSET = FrictionTerm("offset", lambda v, sign: np.ones_like(v), always=True)
FURTHER = (
    FrictionTerm("viscous_asymmetry", lambda v, sign: np.abs(v)),
    FrictionTerm("quadratic", lambda v, sign: v * np.abs(v)),
    FrictionTerm("root", lambda v, sign: sign * np.sqrt(np.abs(v))),
    # Gears rub with what they carry: times the effort that the bodies ask for, which a fit must tell first.
    FrictionTerm("load", lambda v, sign: sign),
)
"""A rate that differs with the direction (Coulomb friction that does is an offset); drag; thin films; loads."""


COULOMB_PLACE, LOAD_PLACE = 1, 6
"""Where these stand among the candidates."""


def stribeck_terms(fastest: float) -> tuple[FrictionTerm, ...]:
    """Stribeck's peak at some velocities [rad/s, m/s] of a joint whose fastest speed is given."""

    def term(level: float) -> FrictionTerm:
        velocity = level * fastest
        return FrictionTerm("stribeck", lambda v, sign: stribeck_peak(v, sign, velocity), level)

    return tuple(map(term, LEVELS))


def candidates(fastest: float) -> tuple[FrictionTerm, ...]:
    """Every term of a joint, those that it always has first."""
    return (VISCOUS, COULOMB, OFFSET, *FURTHER, *stribeck_terms(fastest))


def expected_sign(v: Array, noise: float) -> Array:
    """The sign of a speed that was measured with a noise [rad/s, m/s]: what it is on average."""
    from scipy.special import erf

    return np.sign(v) if noise <= 0 else erf(v / (math.sqrt(2) * noise))


def interpolated_peak(level: float) -> tuple[Array, Array]:
    """(shares of the columns at LEVELS that make Stribeck's peak at another level, their derivatives by the level)."""
    at, x = np.log(LEVELS), math.log(level)
    first = int(np.clip(np.searchsorted(at, x) - 2, 0, len(at) - 4))
    near = at[first : first + 4]
    share, slope = np.zeros(len(at)), np.zeros(len(at))
    for k in range(4):
        others = np.delete(near, k)
        basis = np.poly(others) / np.prod(near[k] - others)
        share[first + k], slope[first + k] = np.polyval(basis, x), np.polyval(np.polyder(basis), x) / level
    return share, slope
