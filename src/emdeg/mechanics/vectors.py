"""Vectors and 3x3 matrices over any scalar: tuples, +, - and *. No physics here."""

from __future__ import annotations

from emdeg.algebra import Scalar as Scalar
from emdeg.algebra.linear.matrices import total as total

Vec3 = tuple[Scalar, Scalar, Scalar]
Mat3 = tuple[Vec3, Vec3, Vec3]


def dot(u: Vec3, v: Vec3) -> Scalar:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def cross(u: Vec3, v: Vec3) -> Vec3:
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def add(u: Vec3, v: Vec3) -> Vec3:
    return (u[0] + v[0], u[1] + v[1], u[2] + v[2])


def sub(u: Vec3, v: Vec3) -> Vec3:
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


def neg(u: Vec3) -> Vec3:
    return (-u[0], -u[1], -u[2])


def scale(k: Scalar, u: Vec3) -> Vec3:
    return (k * u[0], k * u[1], k * u[2])


def plus_z(u: Vec3, k: Scalar) -> Vec3:
    """u + k z."""
    return (u[0], u[1], u[2] + k)


def mul(A: Mat3, u: Vec3) -> Vec3:
    return (dot(A[0], u), dot(A[1], u), dot(A[2], u))


def tmul(A: Mat3, u: Vec3) -> Vec3:
    """A^T u."""
    return mul(transpose(A), u)


def transpose(A: Mat3) -> Mat3:
    (a, b, c), (d, e, f), (g, h, i) = A
    return ((a, d, g), (b, e, h), (c, f, i))


def column(A: Mat3, k: int) -> Vec3:
    return (A[0][k], A[1][k], A[2][k])


def matmul(A: Mat3, B: Mat3) -> Mat3:
    x, y, z = transpose(B)
    return tuple((dot(row, x), dot(row, y), dot(row, z)) for row in A)  # type: ignore[return-value]


def madd(A: Mat3, B: Mat3) -> Mat3:
    return (add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2]))


def msub(A: Mat3, B: Mat3) -> Mat3:
    return (sub(A[0], B[0]), sub(A[1], B[1]), sub(A[2], B[2]))


def identity(zero: Scalar, one: Scalar) -> Mat3:
    return ((one, zero, zero), (zero, one, zero), (zero, zero, one))


def outer(u: Vec3, v: Vec3) -> Mat3:
    return (scale(u[0], v), scale(u[1], v), scale(u[2], v))


def skew(u: Vec3) -> Mat3:
    """The matrix of u x."""
    x, y, z = u
    zero = x * 0
    return ((zero, -z, y), (z, zero, -x), (-y, x, zero))
