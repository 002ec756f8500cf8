"""Constant rigid transforms in exact arithmetic: rational rotation, origin that may hold symbols.

Sines, cosines and roots that are not rational are carried as rationals good to 60 digits; `tidy` removes what
such rounding leaves behind, so that an exact decimal stays one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from emdeg.algebra import NO_ANGLE, Angle, Exact, direction_angle, rounded, square_root
from emdeg.robot.model import NOWHERE, Inertia, Placement, Pose, Vector

Rotation = tuple[tuple[Fraction, Fraction, Fraction], ...]
Direction = tuple[Fraction, Fraction, Fraction]

_0, _1 = Fraction(0), Fraction(1)
IDENTITY: Rotation = ((_1, _0, _0), (_0, _1, _0), (_0, _0, _1))
X: Direction = (_1, _0, _0)
Z: Direction = (_0, _0, _1)

NOISE = Fraction(1, 10**40)
ALMOST_PARALLEL = Fraction(1, 20)
"""Axes closer than this sine, and not exactly parallel, are placed by beta instead of the common normal."""


@dataclass(frozen=True, slots=True)
class ExactTransform:
    """The pose of a child frame in a parent frame: x_parent = R x_child + p."""

    R: Rotation = IDENTITY
    p: Vector = NOWHERE

    def __matmul__(self, other: ExactTransform) -> ExactTransform:
        return ExactTransform(product(self.R, other.R), add(self.p, turn(self.R, other.p)))

    def inverse(self) -> ExactTransform:
        back = transpose(self.R)
        return ExactTransform(back, tuple(-v for v in turn(back, self.p)))  # type: ignore[arg-type]


def tidy(value: Fraction) -> Fraction:
    """`value` without rounding noise: the 30-digit decimal it almost is, or itself to 60 digits."""
    if value.denominator == 1:
        return value
    near = Fraction(round(value * 10**30), 10**30)
    return near if value != near and abs(value - near) < NOISE else rounded(value)


def tidy_exact(value: Exact) -> Exact:
    return Exact.from_terms({monomial: tidy(c) for monomial, c in value.terms})


def product(A: Rotation, B: Rotation) -> Rotation:
    columns = tuple(zip(*B))
    return tuple(tuple(tidy(dot(row, col)) for col in columns) for row in A)  # type: ignore[return-value,arg-type]


def transpose(R: Rotation) -> Rotation:
    return tuple(zip(*R))  # type: ignore[return-value]


def dot(u: Direction, v: Direction) -> Fraction:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def cross(u: Direction, v: Direction) -> Direction:
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def unit(v: Direction) -> Direction:
    length = square_root(dot(v, v))
    return tuple(tidy(x / length) for x in v)  # type: ignore[return-value]


def turn(R: Rotation, v: Vector) -> Vector:
    return tuple(tidy_exact(sum((x * a for x, a in zip(v, row) if a), start=Exact())) for row in R)  # type: ignore[return-value]


def turn_direction(R: Rotation, v: Direction) -> Direction:
    return tuple(tidy(dot(row, v)) for row in R)  # type: ignore[return-value,arg-type]


def add(u: Vector, v: Vector) -> Vector:
    return tuple(tidy_exact(a + b) for a, b in zip(u, v))  # type: ignore[return-value]


def along(direction: Direction, length: Exact) -> Vector:
    return tuple(tidy_exact(length * x) for x in direction)  # type: ignore[return-value]


def component(v: Vector, direction: Direction) -> Exact:
    return tidy_exact(sum((x * a for x, a in zip(v, direction) if a), start=Exact()))


def about(axis: str, angle: Angle) -> Rotation:
    """The rotation by `angle` about "x", "y" or "z"."""
    s, c = angle.sincos()
    if axis == "x":
        return ((_1, _0, _0), (_0, c, -s), (_0, s, c))
    if axis == "y":
        return ((c, _0, s), (_0, _1, _0), (-s, _0, c))
    return ((c, -s, _0), (s, c, _0), (_0, _0, _1))


def of_pose(pose: Pose) -> ExactTransform:
    roll, pitch, yaw = pose.rpy
    return ExactTransform(product(about("z", yaw), product(about("y", pitch), about("x", roll))), pose.xyz)


def to_pose(transform: ExactTransform) -> Pose:
    R = transform.R
    cos_pitch = square_root(tidy(R[0][0] ** 2 + R[1][0] ** 2))
    if cos_pitch < NOISE:  # roll and yaw turn about the same line: put all of it into yaw
        return Pose(
            transform.p,
            (NO_ANGLE, direction_angle(-R[2][0], _0), direction_angle(-R[0][1], R[1][1])),
        )
    return Pose(
        transform.p,
        (
            direction_angle(R[2][1], R[2][2]),
            direction_angle(-R[2][0], cos_pitch),
            direction_angle(R[1][0], R[0][0]),
        ),
    )


def of_placement(place: Placement) -> ExactTransform:
    """The child frame in the parent frame when the joint variable is zero."""
    before = ExactTransform(about("z", place.gamma), (Exact(), Exact(), place.b))
    twist = ExactTransform(about("x", place.alpha), (place.a, Exact(), Exact()))
    skew = ExactTransform(about("y", place.beta))
    after = ExactTransform(about("z", place.theta), (Exact(), Exact(), place.d))
    return before @ twist @ skew @ after


def to_placement(transform: ExactTransform) -> Placement:
    """The seven parameters of `Placement` that put the child frame exactly where `transform` has it."""
    R, p = transform.R, transform.p
    z = (R[0][2], R[1][2], R[2][2])
    sine = square_root(tidy(z[0] ** 2 + z[1] ** 2))
    beta, b = NO_ANGLE, Exact()
    if sine < NOISE:
        gamma, a = _line_of(p)
        alpha = NO_ANGLE if z[2] > 0 else Angle(_1)
        d = p[2] if z[2] > 0 else -p[2]
    elif sine < ALMOST_PARALLEL:
        d = tidy_exact(p[2] / z[2])
        gamma, a = _line_of(add(p, along(z, -d)))
        zx, zy, zz = turn_direction(transpose(about("z", gamma)), z)
        beta = direction_angle(zx, square_root(tidy(zy**2 + zz**2)))
        alpha = direction_angle(-zy, zz)
    else:
        gamma = direction_angle(z[0], -z[1])
        if not -_QUARTER < float(gamma) <= _QUARTER:
            gamma = direction_angle(-z[0], z[1])
        back = transpose(about("z", gamma))
        sin_alpha = -turn_direction(back, z)[1]
        alpha = direction_angle(sin_alpha, z[2])
        a, y, height = turn(back, p)
        d = tidy_exact(y * (-1 / sin_alpha))
        b = tidy_exact(height - d * z[2])
    rest = product(
        transpose(about("y", beta)),
        product(transpose(about("x", alpha)), product(transpose(about("z", gamma)), R)),
    )
    theta = direction_angle(rest[1][0], rest[0][0])
    return Placement(alpha, a, theta, d, gamma, b, beta)


_QUARTER = 1.5707963267948967


def _line_of(p: Vector) -> tuple[Angle, Exact]:
    """(gamma, a) with (p_x, p_y) = a (cos gamma, sin gamma); along an axis no root is needed."""
    x, y, _ = p
    if not y:
        return NO_ANGLE, x
    if not x:
        return Angle(Fraction(1, 2)), y
    if not (x.is_number and y.is_number):
        raise ValueError(f"the offset ({x}, {y}) between parallel axes has no numeric direction")
    length = square_root(x.number**2 + y.number**2)
    return direction_angle(y.number, x.number), Exact.of(tidy(length))


def move_inertia(inertia: Inertia, transform: ExactTransform) -> Inertia:
    """The inertia stated in a child frame, restated about the origin and along the axes of the parent frame."""
    R, p = transform.R, transform.p
    m = inertia.mass
    h = turn(R, inertia.first_moment)
    xx, xy, xz, yy, yz, zz = inertia.tensor
    rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    half = [turn(R, row) for row in rows]  # rows of (R J)^T
    J = [turn(R, (half[0][i], half[1][i], half[2][i])) for i in range(3)]
    # Parallel axes, from the child's origin to the parent's: J + |.|^2 1 - (.)(.)^T of h and p together.
    both = 2 * (h[0] * p[0] + h[1] * p[1] + h[2] * p[2]) + m * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2])

    def entry(i: int, j: int) -> Exact:
        shift = -(h[i] * p[j]) - h[j] * p[i] - m * p[i] * p[j]
        return tidy_exact(J[i][j] + shift + (both if i == j else Exact()))

    return Inertia(
        m,
        tuple(tidy_exact(h[i] + m * p[i]) for i in range(3)),  # type: ignore[arg-type]
        (entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)),
    )
