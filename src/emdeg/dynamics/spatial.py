"""Six-dimensional (spatial) vectors, transforms and inertias in 3+3 blocks: angular part first. No physics here.

The letters are Featherstone's: X takes motions from a parent's frame to a child's and its transpose takes forces back,
S is a joint's unit motion, I an inertia. `X @ v`, `X.T @ f`, `I @ v`, `S * qd` and `S.dot(f)` read as in the book.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.algebra import Scalar as Scalar
from emdeg.algebra.linear import total as total


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

    def __mul__(self, k: Scalar) -> Spatial:
        return Spatial(scale(k, self.w), scale(k, self.v))

    def dot(self, other: Spatial) -> Scalar:
        """Power of a force on a motion."""
        return dot(self.w, other.w) + dot(self.v, other.v)

    def cross(self, m: Spatial) -> Spatial:
        """v x m: how a motion m, fixed in a frame moving with v, changes."""
        if isinstance(m, Axis):
            return m.changed_by(self)
        return Spatial(cross(self.w, m.w), add(cross(self.v, m.w), cross(self.w, m.v)))

    def cross_force(self, f: Spatial) -> Spatial:
        """v x* f: how a force f, fixed in a frame moving with v, changes."""
        return Spatial(add(cross(self.w, f.w), cross(self.v, f.v)), cross(self.w, f.v))


@dataclass(frozen=True, slots=True)
class Axis(Spatial):
    """S, the unit motion of a joint about or along z: its products take components and multiply nothing."""

    revolute: bool

    @staticmethod
    def of(revolute: bool, zero: Scalar, one: Scalar) -> Axis:
        z, none = (zero, zero, one), (zero, zero, zero)
        return Axis(z, none, True) if revolute else Axis(none, z, False)

    def __mul__(self, k: Scalar) -> Spatial:
        zero = self.w[0]
        none = (zero, zero, zero)
        return Spatial((zero, zero, k), none) if self.revolute else Spatial(none, (zero, zero, k))

    def dot(self, other: Spatial) -> Scalar:
        return other.w[2] if self.revolute else other.v[2]

    def changed_by(self, v: Spatial) -> Spatial:
        """v x S."""
        zero, turned = self.w[0], (v.w[1], -v.w[0], self.w[0])
        return Spatial(turned, (v.v[1], -v.v[0], zero)) if self.revolute else Spatial((zero, zero, zero), turned)


@dataclass(frozen=True, slots=True)
class TurnAboutZ:
    """How axes come about: turned about z by an angle, (sine, cosine), then by the constant rotation `twist`."""

    twist: Mat3
    angle: tuple[Scalar, Scalar]


@dataclass(frozen=True, slots=True)
class Transform:
    """X of a child whose frame has the axes R and the origin p in its parent's; `turn` makes R, where it is known."""

    R: Mat3
    p: Vec3
    turn: TurnAboutZ | None = None

    def __matmul__(self, m: Spatial) -> Spatial:
        """A motion stated in the parent's frame, in the child's."""
        return Spatial(tmul(self.R, m.w), tmul(self.R, add(m.v, cross(m.w, self.p))))

    @property
    def T(self) -> TransposedTransform:
        return TransposedTransform(self.R, self.p)

    def turned(self, A: Mat3) -> Mat3:
        """R A R^T: a tensor stated along the child's axes, along the parent's."""
        if self.turn is None:
            return matmul(matmul(self.R, A), transpose(self.R))
        T = self.turn.twist
        return matmul(matmul(T, turned_about_z(A, self.turn.angle)), transpose(T))


@dataclass(frozen=True, slots=True)
class TransposedTransform:
    """X^T: forces stated in the child's frame, in the parent's."""

    R: Mat3
    p: Vec3

    def __matmul__(self, f: Spatial) -> Spatial:
        force = mul(self.R, f.v)
        return Spatial(add(mul(self.R, f.w), cross(self.p, force)), force)


@dataclass(frozen=True, slots=True)
class BodyInertia:
    """I of a rigid body: mass m, first moments mr and the tensor J about the frame's origin."""

    m: Scalar
    mr: Vec3
    J: Mat3

    @staticmethod
    def nothing(zero: Scalar) -> BodyInertia:
        none = (zero, zero, zero)
        return BodyInertia(zero, none, (none, none, none))

    def __add__(self, other: BodyInertia) -> BodyInertia:
        """Both bodies as one."""
        return BodyInertia(self.m + other.m, add(self.mr, other.mr), madd(self.J, other.J))

    def __matmul__(self, m: Spatial) -> Spatial:
        """I v, the momentum of the body moving with v."""
        if isinstance(m, Axis):
            return self._times_axis(m)
        return Spatial(add(mul(self.J, m.w), cross(self.mr, m.v)), sub(scale(self.m, m.v), cross(self.mr, m.w)))

    def _times_axis(self, S: Axis) -> Spatial:
        (x, y, _), zero = self.mr, S.w[0]
        if S.revolute:  # J z and z x mr
            return Spatial(column(self.J, 2), (-y, x, zero))
        return Spatial((y, -x, zero), (zero, zero, self.m))  # mr x z and m z

    def to_parent(self, X: Transform) -> BodyInertia:
        """X^T I X: the body stated in a child's frame, in the parent's."""
        p = X.p
        mr = mul(X.R, self.mr)
        J = X.turned(self.J)
        mp = scale(self.m, p)
        # With k = 2 mr + m p:  J + (k.p) 1 - sym(k p^T), symmetric because mr p^T + p mr^T enters whole.
        rp, pr, pp = outer(mr, p), outer(p, mr), outer(mp, p)
        trace = dot(mr, p) + dot(mr, p) + dot(mp, p)

        def entry(i: int, j: int) -> Scalar:
            value = J[i][j] - (rp[i][j] + pr[i][j] + pp[i][j])
            return value + trace if i == j else value

        xx, xy, xz, yy, yz, zz = (entry(*ij) for ij in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        return BodyInertia(self.m, add(mr, mp), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def second_moments(J: Mat3, half: Scalar) -> Mat3:
    """The sum of m r r^T [kg m^2] from the tensor J: tr(J)/2 - J."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = J
    return (
        ((yy + zz - xx) * half, -xy, -xz),
        (-xy, (xx + zz - yy) * half, -yz),
        (-xz, -yz, (xx + yy - zz) * half),
    )


@dataclass(frozen=True, slots=True)
class Articulated:
    """A symmetric 6x6 inertia [[A, B], [B^T, D]]: moment and force from angular and linear acceleration."""

    A: Mat3
    B: Mat3
    D: Mat3

    @staticmethod
    def of(body: BodyInertia, zero: Scalar) -> Articulated:
        m = body.m
        return Articulated(body.J, skew(body.mr), ((m, zero, zero), (zero, m, zero), (zero, zero, m)))

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(madd(self.A, other.A), madd(self.B, other.B), madd(self.D, other.D))

    def __matmul__(self, m: Spatial) -> Spatial:
        if isinstance(m, Axis):
            turning, sliding = (self.A, transpose(self.B)) if m.revolute else (self.B, self.D)
            return Spatial(column(turning, 2), column(sliding, 2))
        return Spatial(add(mul(self.A, m.w), mul(self.B, m.v)), add(tmul(self.B, m.w), mul(self.D, m.v)))

    def less_square(self, u: Spatial, k: Scalar) -> Articulated:
        """This inertia minus k u u^T."""
        kw, kv = scale(k, u.w), scale(k, u.v)

        def minus(X: Mat3, left: Vec3, right: Vec3) -> Mat3:
            return tuple(  # type: ignore[return-value]
                tuple(X[i][j] - left[i] * right[j] for j in range(3)) for i in range(3)
            )

        return Articulated(minus(self.A, kw, u.w), minus(self.B, kw, u.v), minus(self.D, kv, u.v))

    def to_parent(self, X: Transform) -> Articulated:
        """X^T I X: this inertia stated in a child's frame, in the parent's."""
        A, B, D = (X.turned(block) for block in (self.A, self.B, self.D))
        P = skew(X.p)
        PD = matmul(P, D)
        BPt = matmul(B, transpose(P))
        shifted = madd(A, madd(BPt, transpose(BPt)))
        return Articulated(madd(shifted, matmul(PD, transpose(P))), madd(B, PD), D)


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


def turned_about_z(A: Mat3, angle: tuple[Scalar, Scalar]) -> Mat3:
    """R A R^T of the rotation R about z by an angle, (sine, cosine).

    Half of what matrix products take: the trace and the difference of the corners stay, and by s s + c c = 1 what is
    left is one number, e = s (xx - yy) + c (xy + yx).
    """
    s, c = angle
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = A
    e = s * (xx - yy) + c * (xy + yx)
    se, ce = s * e, c * e
    return (
        (xx - se, ce - yx, c * xz - s * yz),
        (ce - xy, yy + se, s * xz + c * yz),
        (c * zx - s * zy, s * zx + c * zy, zz),
    )


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


def zeros(zero: Scalar, *shape: int) -> list[Any]:
    """A table to write into: nested lists of zeros."""
    if len(shape) == 1:
        return [zero] * shape[0]
    return [zeros(zero, *shape[1:]) for _ in range(shape[0])]


def frozen(table: Sequence[Any]) -> tuple[Any, ...]:
    """The same table as nested tuples."""
    return tuple(frozen(row) if isinstance(row, list | tuple) else row for row in table)
