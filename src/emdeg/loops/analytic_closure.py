"""Steps that close loops analytically: each finds one joint, or three, from those already known, over any scalar.

A plan is found once for a robot, from its structure and its start; it names joints and loops. Carrying it out needs
+, -, *, / and square roots, so it runs over doubles, residues and traces alike. A step that takes a root has two
solutions; the sign of a loop's step is its working (or assembly) mode. A root that is itself a formula is no root: its
sign would change where the formula's does, so such a step becomes a `ClosedForm`, the formula written out.

Every step has a reach margin: what its root is taken of over what it would be at right angles. It is the sine squared
of the angle that links make there: one at right angles, zero where they are stretched or folded, negative out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

from emdeg.algebra import Angle, FieldScalar, Generator, TrigPoly
from emdeg.dynamics.mechanism import Position, path
from emdeg.dynamics.spatial import Scalar, Vec3, add, column, cross, dot, mul, scale, sub, tmul
from emdeg.loops.linkage import Anchor, Linkage, Place
from emdeg.robot import BASE

Root = Callable[[Any, str], FieldScalar]
"""The square root, of the radicand's kind, and the loop that it belongs to (for the error if there is no root)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan: the joints it finds, the loops it uses and, where it takes a root, the root's sign."""

    joints: tuple[int, ...]
    loops: tuple[str, ...]
    sign: int = field(default=1, kw_only=True)

    @property
    def joint(self) -> int:
        return self.joints[0]

    @property
    def loop(self) -> str:
        return self.loops[0]

    @property
    def roots(self) -> int:
        """Square roots that the step takes."""
        return 0

    @property
    def signs(self) -> dict[str, int]:
        """The signs that may be chosen, by name: the loop's."""
        return {self.loop: self.sign} if self.roots else {}

    def with_signs(self, signs: Mapping[str, int]) -> Step:
        """The step with other signs, by name."""
        return replace(self, sign=signs.get(self.loop, self.sign))

    def variants(self) -> list[Step]:
        """The step with every choice of its signs, positive ones first."""
        return [self.with_signs(dict(zip(self.signs, signs))) for signs in product((1, -1), repeat=len(self.signs))]

    def take(self, place: Place, root: Root) -> None:
        """The joints' positions become known in `place`."""
        raise NotImplementedError

    def margin(self, place: Place) -> Scalar | None:
        """The reach margin from what is known before the step; None where no root is taken."""
        return None

    def measured_margin(self, place: Place) -> Scalar | None:
        """The reach margin from where the links are, all joints known: the angle between them."""
        return None


Plan = tuple[Step, ...]


def root_count(plan: Plan) -> int:
    """Square roots that the steps take."""
    return sum(step.roots for step in plan)


def solve(link: Linkage, plan: Plan, known: Mapping[int, Position], root: Root) -> list[Position]:
    """Every joint's position from the independent ones'."""
    place = Place(link, known)
    for step in plan:
        step.take(place, root)
    return [place.position[k] for k in range(link.n)]


def ends(place: Place, k: int, loop: str) -> tuple[Anchor, Anchor]:
    """(the end of the loop that joint k moves, the other)."""
    first, second = place.loops[loop].first, place.loops[loop].second
    return (first, second) if place.moves(k, first) else (second, first)


def lifted(anchor: Anchor, by: int) -> Anchor:
    """The anchor moved along its own z by 1, 0 or -1."""
    if not by:
        return anchor
    z = column(anchor.R, 2)
    return Anchor(anchor.link, anchor.R, add(anchor.p, z) if by > 0 else sub(anchor.p, z))


def _signed(value: FieldScalar, sign: int) -> FieldScalar:
    return value if sign > 0 else -value


def _rotation(before: tuple[Scalar, Scalar], after: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """(sine, cosine) of the rotation that brings one vector of the plane to another of the same length."""
    (x, y), (u, v) = before, after
    r2 = x * x + y * y
    return (x * v - y * u) / r2, (x * u + y * v) / r2


def _ratio(part: Scalar, of: Scalar) -> Scalar:
    return part * part / cast(FieldScalar, of)


@dataclass(frozen=True, slots=True)
class Gap:
    """Two points whose distance stays what it is: a rod's ends, or points on the two axes of a link in its place.

    `elbow` is the joint at one end of that link, the loop's closing joint is at the other. `lifted`: how far [m] along
    the elbow's axis and along the closing joint's the points are; the second's sign says whether the closing frames'
    axes point the same way. `level`: the elbow is parallel to the joint that the gap is to place.
    """

    elbow: int | None = None
    lifted: tuple[int, int] = (0, 0)
    level: bool = True

    def points(self, place: Place, k: int, loop: str) -> tuple[Vec3, Vec3, Vec3 | None]:
        """(the point that joint k moves, in its link's frame; the other, in the base frame; the link as a vector)."""
        moving, fixed = ends(place, k, loop)
        if self.elbow is None:
            return place.local(moving, k), place.point(fixed), None
        up, along = self.lifted
        moving, fixed = lifted(moving, along), lifted(fixed, abs(along))
        if place.moves(self.elbow, moving):
            hinge = lifted(place.hinge(self.elbow), up)
            return place.local(hinge, k), place.point(fixed), place.local(moving, self.elbow)
        R, p = place.rest(self.elbow)
        return place.local(moving, k), lifted(Anchor(BASE, R, p), up).p, place.local(fixed, self.elbow)

    def measured(self, place: Place, k: int, loop: str) -> tuple[Vec3, Vec3]:
        """The two points in the base frame, all joints known."""
        moving, fixed = ends(place, k, loop)
        if self.elbow is None:
            return place.point(moving), place.point(fixed)
        up, along = self.lifted
        R, p = place.world(self.elbow)
        return add(p, column(R, 2)) if up else p, place.point(lifted(fixed, abs(along)))


@dataclass(frozen=True, slots=True)
class Triangle:
    """A revolute joint and a gap, in the joint's frame at rest: a the known point, C the moving one, w = |a_xy|^2.

    The moving point E keeps a.E = K, |E| = r and so a x E = +- sqrt(r^2 w - K^2).
    """

    a: Vec3
    C: Vec3
    w: FieldScalar
    K: Scalar
    radicand: Scalar

    @property
    def equation(self) -> tuple[Scalar, Scalar]:
        """(u, v) of the joint's equation u c + v s = K."""
        (ax, ay, _), (x, y, _) = self.a, self.C
        return ax * x + ay * y, ay * x - ax * y


def triangle(place: Place, k: int, gap: Gap, loop: str) -> Triangle:
    """What keeping `gap` requires of the revolute joint k."""
    R, p = place.rest(k)
    C, target, arm = gap.points(place, k, loop)
    a = tmul(R, sub(target, p))
    if arm is None:
        depth = a[2] - C[2]
        reach = place.rod(loop).length_squared - depth * depth
    elif gap.level:
        reach = arm[0] * arm[0] + arm[1] * arm[1]
    else:
        depth, height = a[2] - C[2], arm[2] - gap.lifted[0]
        reach = arm[0] * arm[0] + arm[1] * arm[1] + height * height - depth * depth
    w = a[0] * a[0] + a[1] * a[1]
    r2 = C[0] * C[0] + C[1] * C[1]
    K = (w + (r2 - reach)) / 2
    return Triangle(a, C, w, K, r2 * w - K * K)


@dataclass(frozen=True, slots=True)
class CircleIntersection(Step):
    """A joint that brings a point of its link to a given distance from a known point.

    A revolute joint may have two gaps to keep: both are linear in its sine and cosine, so no root is needed. The link
    of a prismatic joint's gap turns at right angles to the joint, about an elbow behind it or across the loop (a
    connecting rod), or before it (a cylinder on a hinge, which extends as far as the point it has to meet is away).
    """

    gaps: tuple[Gap, ...]

    @property
    def gap(self) -> Gap:
        return self.gaps[0]

    @property
    def roots(self) -> int:
        return int(len(self.gaps) == 1)

    def take(self, place: Place, root: Root) -> None:
        k = self.joint
        if not place.mech.revolute[k]:
            along, across, reach = self._stretch(place)
            h = root(reach - across, self.loop)
            place.position[k] = along + h if self.sign > 0 else along - h
            return
        t, *others = (triangle(place, k, gap, loop) for gap, loop in zip(self.gaps, self.loops))
        for other in others:
            (u, v), (x, y) = t.equation, other.equation
            per = 1 / cast(FieldScalar, u * y - v * x)
            place.position[k] = (u * other.K - x * t.K) * per, (y * t.K - v * other.K) * per
        if not others:
            h = _signed(root(t.radicand, self.loop), self.sign)
            per = 1 / t.w
            end = (t.K * t.a[0] - h * t.a[1]) * per, (t.K * t.a[1] + h * t.a[0]) * per
            place.position[k] = _rotation((t.C[0], t.C[1]), end)

    def margin(self, place: Place) -> Scalar | None:
        if not self.roots:
            return None
        if not place.mech.revolute[self.joint]:
            _, across, reach = self._stretch(place)
            return (reach - across) / cast(FieldScalar, reach)
        t = triangle(place, self.joint, self.gap, self.loop)
        return t.radicand / cast(FieldScalar, (t.C[0] * t.C[0] + t.C[1] * t.C[1]) * t.w)

    def measured_margin(self, place: Place) -> Scalar | None:
        if not self.roots:
            return None
        one, other = self.gap.measured(place, self.joint, self.loop)
        R, p = place.world(self.joint)
        z = column(R, 2)
        if place.mech.revolute[self.joint]:
            a, e = cross(z, sub(one, p)), cross(z, sub(other, p))
            return _ratio(dot(z, cross(a, e)), dot(a, a) * dot(e, e))
        U = sub(other, one)
        if self.gap.elbow is not None:  # only what is at right angles to the hinge counts
            hinge = column(place.world(self.gap.elbow)[0], 2)
            U = sub(U, scale(dot(hinge, U), hinge))
        return _ratio(dot(z, U), dot(U, U))

    def is_on_a_hinge(self, link: Linkage) -> bool:
        """Whether it is a cylinder that swings."""
        own = link.tree.parent[self.joint]
        return not link.tree.revolute[self.joint] and self.gap.elbow in path(link.tree, own)

    def _stretch(self, place: Place) -> tuple[Scalar, Scalar, Scalar]:
        """How far the prismatic joint's point has to go along the joint and, squared, across it; the distance squared.

        Both are counted to the point from which the distance is measured.
        """
        k, gap = self.joint, self.gap
        if self.is_on_a_hinge(place.link):  # seen from the hinge
            moving, fixed = ends(place, k, self.loop)
            j = cast(int, gap.elbow)
            R, p = place.rest(j)
            t = tmul(R, sub(place.point(fixed), p))
            slide = place.hinge(k)
            at = Anchor(slide.link, slide.R, add(slide.p, mul(slide.R, place.local(moving, k))))
            (x, y, _), (u, v, _) = place.local(at, j), place.local(lifted(at, 1), j)
            u, v = u - x, v - y
            across = x * v - y * u
            return -(x * u + y * v), across * across, t[0] * t[0] + t[1] * t[1]
        R, p = place.rest(k)
        C, target, arm = gap.points(place, k, self.loop)
        if arm is None:
            D = tmul(R, sub(target, add(p, mul(R, C))))
            return D[2], D[0] * D[0] + D[1] * D[1], place.rod(self.loop).length_squared
        j = cast(int, gap.elbow)
        if place.moves(j, ends(place, k, self.loop)[0]):
            x, y, _ = sub(place.local(lifted(place.hinge(j), 1), k), C)
        else:
            x, y, _ = tmul(R, column(place.rest(j)[0], 2))
        D = tmul(R, sub(target, add(p, mul(R, C))))
        across = y * D[0] - x * D[1]
        return D[2], across * across, arm[0] * arm[0] + arm[1] * arm[1]


@dataclass(frozen=True, slots=True)
class Aim(Step):
    """A joint that brings a point of its link to a known point on its circle or line; `lifted` as in `Gap`."""

    lifted: int = 0

    def take(self, place: Place, root: Root) -> None:
        k = self.joint
        moving, fixed = ends(place, k, self.loop)
        R, p = place.rest(k)
        t = tmul(R, sub(place.point(lifted(fixed, abs(self.lifted))), p))
        e = place.local(lifted(moving, self.lifted), k)
        place.position[k] = _rotation((e[0], e[1]), (t[0], t[1])) if place.mech.revolute[k] else t[2] - e[2]


@dataclass(frozen=True, slots=True)
class Leg(Step):
    """Two crossing revolute joints and a prismatic one at right angles to the second, which reach a known point."""

    along: int = field(default=1, kw_only=True)

    @property
    def roots(self) -> int:
        return 2

    @property
    def signs(self) -> dict[str, int]:
        """The loop's sign, and the sign of the prismatic joint: negative where the leg runs backwards."""
        return {self.loop: self.sign, f"{self.loop}:along": self.along}

    def with_signs(self, signs: Mapping[str, int]) -> Step:
        return replace(self, sign=signs.get(self.loop, self.sign), along=signs.get(f"{self.loop}:along", self.along))

    def take(self, place: Place, root: Root) -> None:
        i, j, k = self.joints
        moving, fixed = ends(place, k, self.loop)
        target = place.point(fixed)
        R, p = place.rest(i)
        t = tmul(R, sub(target, p))
        axis = column(place.hinge(j).R, 2)
        per = 1 / _signed(root(t[0] * t[0] + t[1] * t[1], self.loop), self.sign)
        place.position[i] = _rotation((axis[0], axis[1]), (-(t[1] * per), t[0] * per))
        R, p = place.rest(j)
        t = tmul(R, sub(target, p))
        slide = place.hinge(k)
        b = column(slide.R, 2)
        start = dot(b, add(slide.p, mul(slide.R, place.local(moving, k))))
        h = _signed(root(t[0] * t[0] + t[1] * t[1], self.loop), self.along)
        per = 1 / h
        place.position[j] = _rotation((b[0], b[1]), (t[0] * per, t[1] * per))
        place.position[k] = h - start

    def margin(self, place: Place) -> Scalar | None:
        _, fixed = ends(place, self.joints[2], self.loop)
        R, p = place.rest(self.joint)
        t = tmul(R, sub(place.point(fixed), p))
        flat = t[0] * t[0] + t[1] * t[1]
        return flat / cast(FieldScalar, flat + t[2] * t[2])

    def measured_margin(self, place: Place) -> Scalar | None:
        _, fixed = ends(place, self.joints[2], self.loop)
        R, p = place.world(self.joint)
        t = sub(place.point(fixed), p)
        flat = cross(column(R, 2), t)
        return dot(flat, flat) / cast(FieldScalar, dot(t, t))


@dataclass(frozen=True, slots=True)
class SphereIntersection(Step):
    """Three prismatic joints at right angles to each other that keep three rods' lengths.

    Each rod puts the joints on a sphere. Those about S, S + u and S + v meet in S + (P +- sqrt(radicand) N) / N.N with
    N = u x v.
    """

    @property
    def roots(self) -> int:
        return 1

    def take(self, place: Place, root: Root) -> None:
        S, P, N, NN, radicand, _ = self._spheres(place)
        h = _signed(root(radicand, self.loop), self.sign)
        X = add(S, scale(1 / NN, add(P, scale(h, N))))
        for k in self.joints:
            place.position[k] = dot(column(place.rest(k)[0], 2), X)

    def margin(self, place: Place) -> Scalar | None:
        *_, NN, radicand, length_squared = self._spheres(place)
        return radicand / cast(FieldScalar, length_squared * NN)

    def measured_margin(self, place: Place) -> Scalar | None:
        pairs = [ends(place, self.joints[2], name) for name in self.loops]
        Y = [sub(place.point(moving), place.point(fixed)) for moving, fixed in pairs]
        N = cross(sub(Y[1], Y[0]), sub(Y[2], Y[0]))
        return _ratio(dot(N, Y[0]), dot(N, N) * dot(Y[0], Y[0]))

    def _spheres(self, place: Place) -> tuple[Vec3, Vec3, Vec3, FieldScalar, Scalar, Scalar]:
        """(S, P, N, N.N, the radicand, the first rod's length squared)."""
        there = Place(place.link, {**place.position, **dict.fromkeys(self.joints, place.mech.zero)})
        pairs = [ends(place, self.joints[2], name) for name in self.loops]
        S = [sub(there.point(fixed), there.point(moving)) for moving, fixed in pairs]
        l2 = [place.rod(name).length_squared for name in self.loops]
        u, v = sub(S[1], S[0]), sub(S[2], S[0])
        # Y = X - S1:  Y.Y = l1^2,  u.Y = f,  v.Y = g.
        f = (dot(u, u) + (l2[0] - l2[1])) / 2
        g = (dot(v, v) + (l2[0] - l2[2])) / 2
        N = cross(u, v)
        NN = cast(FieldScalar, dot(N, N))
        P = add(scale(f, cross(v, N)), scale(g, cross(N, u)))
        return S[0], P, N, NN, l2[0] * NN - dot(P, P) / NN, l2[0]


@dataclass(frozen=True, slots=True)
class Expression:
    """A joint's (sine, cosine), or displacement alone, as formulas of the coordinates over one divisor."""

    numerators: tuple[TrigPoly, ...]
    denominator: TrigPoly


@dataclass(frozen=True, slots=True)
class ClosedForm(Step):
    """A joint whose position is a formula of the coordinates: one expression, or one for each sign."""

    expressions: tuple[Expression, ...]

    @property
    def signs(self) -> dict[str, int]:
        return {self.loop: self.sign} if len(self.expressions) == 2 else {}

    def take(self, place: Place, root: Root) -> None:
        algebra = place.link.algebra

        def symbol(generator: Generator) -> Any:
            if isinstance(generator.of, Angle):
                return algebra.sincos(generator.of)[generator.kind == "cosine"]
            if generator.kind == "parameter":
                return algebra.symbol(str(generator.of))
            at: Any = place.position[int(generator.of) - 1]
            return at if generator.kind == "displacement" else at[generator.kind == "cosine"]

        chosen = self.expressions[0 if self.sign > 0 else -1]
        parts = [formula.map(symbol, algebra.number) for formula in chosen.numerators]
        if chosen.denominator != 1:
            per = 1 / chosen.denominator.map(symbol, algebra.number)
            parts = [part * per for part in parts]
        place.position[self.joint] = (parts[0], parts[1]) if len(parts) == 2 else parts[0]
