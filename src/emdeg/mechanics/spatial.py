"""Six-dimensional (spatial) vectors and inertias in 3+3 blocks: angular part first. No physics here."""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.mechanics.mechanism import BodyInertia
from emdeg.mechanics.vectors import (
    Mat3,
    Scalar,
    Vec3,
    add,
    cross,
    dot,
    madd,
    matmul,
    mul,
    neg,
    scale,
    skew,
    sub,
    tmul,
    transpose,
)


@dataclass(frozen=True, slots=True)
class Spatial:
    """A motion (omega, v of the origin) or a force (moment about the origin, force)."""

    w: Vec3
    v: Vec3

    def __add__(self, other: Spatial) -> Spatial:
        return Spatial(add(self.w, other.w), add(self.v, other.v))

    def __sub__(self, other: Spatial) -> Spatial:
        return Spatial(sub(self.w, other.w), sub(self.v, other.v))

    def __neg__(self) -> Spatial:
        return Spatial(neg(self.w), neg(self.v))

    def scaled(self, k: Scalar) -> Spatial:
        return Spatial(scale(k, self.w), scale(k, self.v))

    def dot(self, other: Spatial) -> Scalar:
        """Power of a force on a motion."""
        return dot(self.w, other.w) + dot(self.v, other.v)


def axis(revolute: bool, zero: Scalar, one: Scalar) -> Spatial:
    """S: the unit motion of a joint about or along z."""
    z, none = (zero, zero, one), (zero, zero, zero)
    return Spatial(z, none) if revolute else Spatial(none, z)


def motion_to_child(R: Mat3, p: Vec3, m: Spatial) -> Spatial:
    """A motion stated in the parent frame, in the child's."""
    return Spatial(tmul(R, m.w), tmul(R, add(m.v, cross(m.w, p))))


def force_to_parent(R: Mat3, p: Vec3, f: Spatial) -> Spatial:
    """A force stated in the child frame, in the parent's."""
    force = mul(R, f.v)
    return Spatial(add(mul(R, f.w), cross(p, force)), force)


def cross_motion(a: Spatial, b: Spatial) -> Spatial:
    """a x b: how a motion vector b, fixed in a frame moving with a, changes."""
    return Spatial(cross(a.w, b.w), add(cross(a.v, b.w), cross(a.w, b.v)))


def cross_force(a: Spatial, f: Spatial) -> Spatial:
    """a x* f: how a force vector f, fixed in a frame moving with a, changes."""
    return Spatial(add(cross(a.w, f.w), cross(a.v, f.v)), cross(a.w, f.v))


def inertia_times(body: BodyInertia, m: Spatial) -> Spatial:
    """The momentum of a rigid body moving with m."""
    return Spatial(add(mul(body.J, m.w), cross(body.h, m.v)), sub(scale(body.m, m.v), cross(body.h, m.w)))


@dataclass(frozen=True, slots=True)
class Articulated:
    """A symmetric 6x6 inertia [[A, B], [B^T, D]]: moment and force from angular and linear acceleration."""

    A: Mat3
    B: Mat3
    D: Mat3

    @staticmethod
    def of(body: BodyInertia, zero: Scalar) -> Articulated:
        m = body.m
        return Articulated(body.J, skew(body.h), ((m, zero, zero), (zero, m, zero), (zero, zero, m)))

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(madd(self.A, other.A), madd(self.B, other.B), madd(self.D, other.D))

    def times(self, m: Spatial) -> Spatial:
        return Spatial(add(mul(self.A, m.w), mul(self.B, m.v)), add(tmul(self.B, m.w), mul(self.D, m.v)))

    def less_square(self, u: Spatial, k: Scalar) -> Articulated:
        """This inertia minus k u u^T."""
        kw, kv = scale(k, u.w), scale(k, u.v)

        def minus(X: Mat3, left: Vec3, right: Vec3) -> Mat3:
            return tuple(  # type: ignore[return-value]
                tuple(X[i][j] - left[i] * right[j] for j in range(3)) for i in range(3)
            )

        return Articulated(minus(self.A, kw, u.w), minus(self.B, kw, u.v), minus(self.D, kv, u.v))

    def to_parent(self, R: Mat3, p: Vec3) -> Articulated:
        """This inertia stated in the child frame, in the parent's."""
        Rt = transpose(R)
        A, B, D = (matmul(matmul(R, X), Rt) for X in (self.A, self.B, self.D))
        P = skew(p)
        PD = matmul(P, D)
        BPt = matmul(B, transpose(P))
        shifted = madd(A, madd(BPt, transpose(BPt)))
        return Articulated(madd(shifted, matmul(PD, transpose(P))), madd(B, PD), D)
