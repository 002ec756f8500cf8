"""Three ways to write a body's moment J omegad + omega x J omega, over any scalar: which is shortest depends on J."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from emdeg.mechanics.formulations.newton_euler import Moment, whirl
from emdeg.mechanics.vectors import Mat3, Vec3, add, cross, matmul, mul


def euler(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """As Euler wrote it."""
    return add(mul(J, wd), cross(w, mul(J, w)))


def by_products(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """From the products of the speeds, the tensor's differences being constants."""
    (A, D, E), (_, B, F), (_, _, C) = J
    x, y, z = w
    xd, yd, zd = wd
    yz, xz, xy, xx, yy, zz = y * z, x * z, x * y, x * x, y * y, z * z
    return (
        A * xd + (C - B) * yz + D * (yd - xz) + E * (zd + xy) + F * (yy - zz),
        B * yd + (A - C) * xz + D * (xd + yz) + F * (zd - xy) + E * (zz - xx),
        C * zd + (B - A) * xy + E * (xd - yz) + F * (yd + xz) + D * (xx - yy),
    )


def by_whirl(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """From U = [omegad]x + [omega]x[omega]x and the pseudo-inertia P = tr(J)/2 - J: the axial vector of U P."""
    (A, D, E), (_, B, F), (_, _, C) = J
    half = Fraction(1, 2)
    P = (((B + C - A) * half, -D, -E), (-D, (A + C - B) * half, -F), (-E, -F, (A + B - C) * half))
    G = matmul(whirl(w, wd), P)
    return (G[2][1] - G[1][2], G[0][2] - G[2][0], G[1][0] - G[0][1])


MOMENTS: Mapping[str, Moment] = {"euler": euler, "products": by_products, "whirl": by_whirl}
