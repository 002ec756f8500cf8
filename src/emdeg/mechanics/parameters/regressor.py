"""The regressor Y with tau = Y pi, over any scalar: Newton-Euler is linear in the inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.mechanics.mechanism import Frames, Mechanism, path
from emdeg.mechanics.spatial import Scalar, Spatial, Vec3, column
from emdeg.mechanics.variants.link_frame_recursion import LinkMotion, acceleration_matrix, motion

COLUMNS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M", "Ia")
"""A link's columns, in order; Ia is its drive's inertia."""


def regressor(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[list[Scalar]]:
    """Y, n x 11n: the efforts per unit of every link's XX XY XZ YY YZ ZZ MX MY MZ M and drive inertia Ia."""
    zero = mech.zero
    X, S = frame.X, mech.S
    Y = [[zero] * (len(COLUMNS) * mech.n) for _ in range(mech.n)]
    for i, move in enumerate(motion(mech, frame, qd, qdd)):
        first = len(COLUMNS) * i
        for entry, f in enumerate(unit_forces(move, zero)):
            for j in reversed(path(mech, i)):
                Y[j][first + entry] = S[j].dot(f)
                f = X[j].T @ f
        Y[i][first + len(COLUMNS) - 1] = qdd[i]
    return Y


def unit_forces(move: LinkMotion, zero: Scalar) -> list[Spatial]:
    """What a body's motion asks for, per unit of each of its ten parameters."""
    w, a = move.omega, move.vd
    x, y, z = w
    xd, yd, zd = move.omegad
    none = (zero, zero, zero)
    moments: list[Vec3] = [
        (xd, x * z, -(x * y)),  # J omegad + omega x J omega, entry by entry
        (yd - x * z, xd + y * z, x * x - y * y),
        (zd + x * y, z * z - x * x, xd - y * z),
        (-(y * z), yd, x * y),
        (y * y - z * z, zd - x * y, yd + x * z),
        (y * z, -(x * z), zd),
    ]
    U = acceleration_matrix(w, move.omegad)
    return [
        *(Spatial(moment, none) for moment in moments),
        *(Spatial(_unit(k, a), column(U, k)) for k in range(3)),
        Spatial(none, a),
    ]


def _unit(k: int, a: Vec3) -> Vec3:
    """e_k x a."""
    zero = a[0] * 0
    return ((zero, -a[2], a[1]), (a[2], zero, -a[0]), (-a[1], a[0], zero))[k]
