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
        return m.carried_by(self)

    def cross_force(self, f: Spatial) -> Spatial:
        """v x* f: how a force f, fixed in a frame moving with v, changes."""
        return Spatial(add(cross(self.w, f.w), cross(self.v, f.v)), cross(self.w, f.v))

    # What follows is a motion's part in the products of others: a joint's axis takes components instead.

    @property
    def turns(self) -> bool:
        """False of a motion that is known to be a translation."""
        return True

    def carried_by(self, v: Spatial) -> Spatial:
        """v x m of this motion m."""
        return Spatial(cross(v.w, self.w), add(cross(v.v, self.w), cross(v.w, self.v)))

    def momentum(self, I: BodyInertia) -> Spatial:
        """I m."""
        return Spatial(add(mul(I.J, self.w), cross(I.mr, self.v)), sub(scale(I.m, self.v), cross(I.mr, self.w)))

    def force(self, I: Articulated) -> Spatial:
        """I m of an articulated inertia."""
        return Spatial(add(mul(I.A, self.w), mul(I.B, self.v)), add(tmul(I.B, self.w), mul(I.D, self.v)))

    def rotated(self, R: Mat3) -> Spatial:
        """The motion in other axes, about the same point."""
        return Spatial(mul(R, self.w), mul(R, self.v))

    def turn_dot(self, u: Vec3) -> Scalar:
        """w . u."""
        return dot(self.w, u)

    def turn_cross(self, u: Vec3) -> Vec3:
        """w x u."""
        return cross(self.w, u)

    def cross_slide(self, u: Vec3) -> Vec3:
        """u x v."""
        return cross(u, self.v)

    def spread(self, D: Mat3) -> Vec3:
        """tr(D) w - D w."""
        return sub(scale(D[0][0] + D[1][1] + D[2][2], self.w), mul(D, self.w))

    def accelerated(self, w: Vec3, wd: Vec3) -> Spatial:
        """U = [wd]x + [w]x[w]x times both parts."""
        U = acceleration_matrix(w, wd)
        return Spatial(mul(U, self.w), mul(U, self.v))

    def advance(self, w: Vec3, wd: Vec3, a: Vec3, qd: Scalar, qdd: Scalar) -> tuple[Vec3, Vec3, Vec3]:
        """`relative_motion` along this axis at the speed qd and the acceleration qdd."""
        return relative_motion(w, wd, a, self * qd, self * qdd)


def acceleration_matrix(omega: Vec3, omegad: Vec3) -> Mat3:
    """U = [omegad]x + [omega]x[omega]x: times a point's place, its acceleration relative to the origin [1/s^2]."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    return (
        (-(yy + zz), xy - omegad[2], xz + omegad[1]),
        (xy + omegad[2], -(xx + zz), yz - omegad[0]),
        (xz - omegad[1], yz + omegad[0], -(xx + yy)),
    )


def accelerated_z(omega: Vec3, omegad: Vec3) -> Vec3:
    """U z, the last column of `acceleration_matrix`."""
    x, y, z = omega
    return (x * z + omegad[1], y * z - omegad[0], -(x * x + y * y))


def relative_motion(w: Vec3, wd: Vec3, a: Vec3, V: Spatial, A: Spatial) -> tuple[Vec3, Vec3, Vec3]:
    """Angular velocity and acceleration of a frame, and its origin's acceleration, on a frame that has w, wd, a.

    V is the frame's motion relative to the other one and A its rate of change, both in its own axes.
    """
    omegad = add(add(wd, A.w), cross(w, V.w))
    coriolis = cross(w, add(V.v, V.v))
    return add(w, V.w), omegad, add(add(a, A.v), add(coriolis, cross(V.w, V.v)))


@dataclass(frozen=True, slots=True)
class RevoluteAxis(Spatial):
    """S of a revolute joint, a unit rotation about z: its products take components and multiply nothing."""

    @staticmethod
    def along_z(zero: Scalar, one: Scalar) -> RevoluteAxis:
        return RevoluteAxis((zero, zero, one), (zero, zero, zero))

    def __mul__(self, k: Scalar) -> Spatial:
        zero = self.w[0]
        return Spatial((zero, zero, k), (zero, zero, zero))

    def dot(self, other: Spatial) -> Scalar:
        return other.w[2]

    def carried_by(self, v: Spatial) -> Spatial:
        zero = self.w[0]
        return Spatial((v.w[1], -v.w[0], zero), (v.v[1], -v.v[0], zero))

    def momentum(self, I: BodyInertia) -> Spatial:
        x, y, _ = I.mr
        return Spatial(column(I.J, 2), (-y, x, self.w[0]))

    def force(self, I: Articulated) -> Spatial:
        return Spatial(column(I.A, 2), column(transpose(I.B), 2))

    def rotated(self, R: Mat3) -> Spatial:
        return Spatial(column(R, 2), self.v)

    def turn_dot(self, u: Vec3) -> Scalar:
        return u[2]

    def turn_cross(self, u: Vec3) -> Vec3:
        return (-u[1], u[0], self.w[0])

    def cross_slide(self, u: Vec3) -> Vec3:
        return self.v

    def spread(self, D: Mat3) -> Vec3:
        return (-D[0][2], -D[1][2], D[0][0] + D[1][1])

    def accelerated(self, w: Vec3, wd: Vec3) -> Spatial:
        return Spatial(accelerated_z(w, wd), self.v)

    def advance(self, w: Vec3, wd: Vec3, a: Vec3, qd: Scalar, qdd: Scalar) -> tuple[Vec3, Vec3, Vec3]:
        # omega_i = w + qd z;  omegad_i = wd + qdd z + w x qd z
        turned = (wd[0] + w[1] * qd, wd[1] - w[0] * qd, wd[2])
        return plus_z(w, qd), plus_z(turned, qdd), a


@dataclass(frozen=True, slots=True)
class PrismaticAxis(Spatial):
    """S of a prismatic joint, a unit translation along z: its products take components and multiply nothing."""

    @staticmethod
    def along_z(zero: Scalar, one: Scalar) -> PrismaticAxis:
        return PrismaticAxis((zero, zero, zero), (zero, zero, one))

    @property
    def turns(self) -> bool:
        return False

    def __mul__(self, k: Scalar) -> Spatial:
        zero = self.w[0]
        return Spatial((zero, zero, zero), (zero, zero, k))

    def dot(self, other: Spatial) -> Scalar:
        return other.v[2]

    def carried_by(self, v: Spatial) -> Spatial:
        return Spatial(self.w, (v.w[1], -v.w[0], self.w[0]))

    def momentum(self, I: BodyInertia) -> Spatial:
        (x, y, _), zero = I.mr, self.w[0]
        return Spatial((y, -x, zero), (zero, zero, I.m))

    def force(self, I: Articulated) -> Spatial:
        return Spatial(column(I.B, 2), column(I.D, 2))

    def rotated(self, R: Mat3) -> Spatial:
        return Spatial(self.w, column(R, 2))

    def turn_dot(self, u: Vec3) -> Scalar:
        return self.w[0]

    def turn_cross(self, u: Vec3) -> Vec3:
        return self.w

    def cross_slide(self, u: Vec3) -> Vec3:
        return (u[1], -u[0], self.w[0])

    def spread(self, D: Mat3) -> Vec3:
        return self.w

    def accelerated(self, w: Vec3, wd: Vec3) -> Spatial:
        return Spatial(self.w, accelerated_z(w, wd))

    def advance(self, w: Vec3, wd: Vec3, a: Vec3, qd: Scalar, qdd: Scalar) -> tuple[Vec3, Vec3, Vec3]:
        # vd_i = a + qdd z + 2 w x qd z
        twice = qd + qd
        return w, wd, plus_z((a[0] + w[1] * twice, a[1] - w[0] * twice, a[2]), qdd)


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
        return m.momentum(self)

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
        return m.force(self)

    def rank_one_downdate(self, u: Spatial, k: Scalar) -> Articulated:
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
