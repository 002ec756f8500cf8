"""Partial velocities for any generalized speeds, and the generalized inertia forces made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from emdeg.mechanics.kane.equations import Partial, of_acceleration
from emdeg.mechanics.kane.system import System
from emdeg.mechanics.mechanism import outward
from emdeg.mechanics.vectors import Scalar, Vec3, add, cross, plus_z, tmul
from emdeg.robot.model import BASE

Partials = tuple[tuple[Partial, ...], ...]
"""Per link of the mechanism, in its frame: one Partial a speed, of the frame's origin."""


def speed_partials(
    sys: System, W: Sequence[Sequence[Scalar]], turning: Mapping[int, Sequence[Vec3]] | None = None
) -> Partials:
    """Every link's partial angular velocities and partial velocities (Kane and Levinson (23), (44)).

    W = A^-1 (free joints x speeds) says how the rates follow the speeds; `turning` holds a link's partial angular
    velocities where they are known beforehand.
    """
    mech, frame = sys.mech, sys.frame
    none = Partial((mech.zero,) * 3, (mech.zero,) * 3)
    row = {joint: W[k] for k, joint in enumerate(sys.free)}
    found: list[tuple[Partial, ...]] = []
    for i, parent in outward(mech):
        R, p = frame.R[i], frame.p[i]
        own = []
        for r in range(len(sys.free)):
            before = none if parent == BASE else found[parent][r]
            omega = tmul(R, before.omega)
            v = tmul(R, add(before.v, cross(before.omega, p)))
            if i in row and mech.revolute[i]:
                omega = plus_z(omega, row[i][r])
            elif i in row:
                v = plus_z(v, row[i][r])
            if turning and i in turning:
                omega = turning[i][r]
            own.append(Partial(omega, v))
        found.append(tuple(own))
    return tuple(found)


def inertia_coefficients(sys: System, W: Sequence[Sequence[Scalar]], partials: Partials) -> list[list[Scalar]]:
    """X, symmetric: the generalized inertia forces are K*_r = - sum X_rs ud_s - (terms without ud)."""
    mech, n = sys.mech, len(sys.free)
    X = [[mech.zero] * n for _ in range(n)]
    for i in range(sys.offset, mech.n):
        own = partials[i]
        for s in range(n):
            force = of_acceleration(mech.inertia[i], own[s])
            for r in range(s + 1):
                X[r][s] = X[r][s] + force.on(own[r])
    for k, joint in enumerate(sys.free):
        for s in range(n):
            for r in range(s + 1):
                X[r][s] = X[r][s] + mech.drive[joint] * W[k][r] * W[k][s]
    for s in range(n):
        for r in range(s):
            X[s][r] = X[r][s]
    return X
