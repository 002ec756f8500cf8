"""Three ways to write a body's moment J omegad + omega x J omega, over any scalar: which is shortest depends on J."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from emdeg.mechanics.spatial import second_moments
from emdeg.mechanics.vectors import Mat3, Vec3, add, cross, matmul, mul

Moment = Callable[[Mat3, Vec3, Vec3], Vec3]
"""(J, omega, omegad) -> J omegad + omega x J omega [N m]."""


def acceleration_matrix(omega: Vec3, omegad: Vec3) -> Mat3:
    """U = [omegad]x + [omega]x[omega]x: what gives a point of a body its acceleration from its place [1/s^2]."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    return (
        (-(yy + zz), xy - omegad[2], xz + omegad[1]),
        (xy + omegad[2], -(xx + zz), yz - omegad[0]),
        (xz - omegad[1], yz + omegad[0], -(xx + yy)),
    )


def as_euler_wrote_it(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """J omegad + omega x J omega."""
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


def by_acceleration_matrix(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """The axial vector of U P, P being the second moments of the mass: sum of r x (U r) m."""
    G = matmul(acceleration_matrix(w, wd), second_moments(J, Fraction(1, 2)))
    return (G[2][1] - G[1][2], G[0][2] - G[2][0], G[1][0] - G[0][1])


MOMENTS: Mapping[str, Moment] = {
    "Euler": as_euler_wrote_it,
    "products": by_products,
    "acceleration matrix": by_acceleration_matrix,
}
