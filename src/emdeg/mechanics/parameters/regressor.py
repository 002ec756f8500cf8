"""The regressor Y with tau = Y pi, over any scalar: Newton-Euler is linear in the inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.mechanics.formulations.newton_euler import motion, whirl
from emdeg.mechanics.mechanism import Frames, Mechanism, path
from emdeg.mechanics.vectors import Scalar, Vec3, add, cross, mul

COLUMNS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M", "Ia")
"""A link's columns, in order; Ia is its drive's inertia."""


def regressor(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[list[Scalar]]:
    """Y, n x 11n: the efforts per unit of every link's XX XY XZ YY YZ ZZ MX MY MZ M and drive inertia Ia."""
    zero = mech.zero
    move = motion(mech, frame, qd, qdd)
    Y = [[zero] * (len(COLUMNS) * mech.n) for _ in range(mech.n)]
    for i in range(mech.n):
        first = len(COLUMNS) * i
        for column, (f, n) in enumerate(unit_loads(move.omega[i], move.omegad[i], move.vd[i], zero)):
            for j in reversed(path(mech, i)):
                Y[j][first + column] = n[2] if mech.revolute[j] else f[2]
                f = mul(frame.R[j], f)
                n = add(mul(frame.R[j], n), cross(frame.p[j], f))
        Y[i][first + len(COLUMNS) - 1] = qdd[i]
    return Y


def unit_loads(w: Vec3, wd: Vec3, a: Vec3, zero: Scalar) -> list[tuple[Vec3, Vec3]]:
    """(force, moment about the origin) that a body asks for, per unit of each of its ten parameters."""
    x, y, z = w
    xd, yd, zd = wd
    none = (zero, zero, zero)
    moments: list[Vec3] = [
        (xd, x * z, -(x * y)),  # J omegad + omega x J omega, entry by entry
        (yd - x * z, xd + y * z, x * x - y * y),
        (zd + x * y, z * z - x * x, xd - y * z),
        (-(y * z), yd, x * y),
        (y * y - z * z, zd - x * y, yd + x * z),
        (y * z, -(x * z), zd),
    ]
    loads: list[tuple[Vec3, Vec3]] = [(none, moment) for moment in moments]
    U = whirl(w, wd)
    for k in range(3):
        e = _unit(k, a)
        loads.append(((U[0][k], U[1][k], U[2][k]), e))
    loads.append((a, none))
    return loads


def _unit(k: int, a: Vec3) -> Vec3:
    """e_k x a."""
    zero = a[0] * 0
    return ((zero, -a[2], a[1]), (a[2], zero, -a[0]), (-a[1], a[0], zero))[k]
