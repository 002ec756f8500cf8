"""Where the Jacobian is singular: the factors of its determinant, by name, and the positions at which each vanishes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array, TrigPoly, in_half_angles
from emdeg.documents import Shown
from emdeg.equations.jacobian_inverse import factors_of, parts_of_determinant, singular_everywhere, spherical_wrist
from emdeg.equations.kinematics import Kinematics


@dataclass(frozen=True, slots=True, repr=False)
class Singularity(Shown):
    """The arm is singular where `factor` is zero."""

    factor: TrigPoly
    power: int
    """How often it divides the determinant."""
    name: str
    """wrist, elbow, shoulder; else empty."""
    joints: tuple[int, ...]
    """The numbers of the joints on which it depends."""
    at: tuple[float, ...] | None
    """Of a factor in one joint's position and numbers: where it vanishes, within a turn [rad] or anywhere [m]."""


def singularities(kinematics: Kinematics, rows: Sequence[int] | None = None) -> tuple[Singularity, ...]:
    """Every factor of det J that varies with the configuration; none where J is regular everywhere."""
    parts = parts_of_determinant(kinematics, rows)
    if not all(parts):
        raise singular_everywhere(kinematics, rows)
    wrist = rows is None and spherical_wrist(kinematics) is not None
    found = []
    for place, part in enumerate(parts):
        for factor, power in factors_of(part).factors:
            joints = tuple(sorted({g.of for g in factor.generators if isinstance(g.of, int)}))
            if joints:
                name = _name(joints, place, kinematics.mechanism.revolute) if wrist else ""
                found.append(Singularity(factor, power, name, joints, zeros(factor)))
    return tuple(sorted(found, key=lambda one: (one.joints, len(one.factor))))


def _name(joints: tuple[int, ...], part: int, revolute: Sequence[bool]) -> str:
    """As one calls it in arms of three joints and a wrist: what the inner three do, and what the outer three do."""
    if part == 1:
        return "wrist"
    if not all(revolute[:3]):
        return ""
    return "elbow" if joints == (3,) else "shoulder"


def zeros(factor: TrigPoly) -> tuple[float, ...] | None:
    """Where a formula in one joint's position alone vanishes; None where it has other letters."""
    joints = {g.of for g in factor.generators}
    if len(joints) != 1 or not isinstance(joint := joints.pop(), int):
        return None
    if factor.generators[0].kind == "displacement":
        degree = factor.degree(factor.generators[0])
        coefficients = np.zeros(degree + 1)
        for coefficient, monomial in factor.terms():
            coefficients[degree - sum(monomial.values())] = float(coefficient)
        return tuple(_real(coefficients).tolist())
    form = in_half_angles(factor.algebra).form(factor)
    place = factor.algebra.revolute.index(joint)
    degree = form.degree[place]
    coefficients = np.zeros(degree + 1)
    for exponents, coefficient in form.poly.to_dict().items():
        coefficients[degree - int(exponents[place])] = float(coefficient)
    turned = [2 * math.atan(t) for t in _real(np.trim_zeros(coefficients, "f"))]
    if coefficients[0] == 0:  # y divides it: half a turn
        turned.append(math.pi)
    return tuple(sorted({round(angle, 12): angle for angle in turned}.values()))


def _real(coefficients: Array) -> Array:
    roots = np.roots(coefficients)
    return np.sort(roots[np.abs(roots.imag) < 1e-9 * (1 + np.abs(roots))].real.astype(np.float64))
