"""Loops closed analytically: steps, each of which finds one or a few joints from what is known, over any scalar.

A plan is found once for a robot, from its structure and its start; it names joints and loops. Carrying it out needs
+, -, *, / and square roots, so it runs over doubles, residues and traces alike. A step that takes a root has two
branches; the sign of a loop's step is its working (or assembly) mode. A root that is itself a formula is no root: its
sign would change where the formula's does, so such a step is `Drawn`, the formula written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from emdeg.algebra import Angle, FieldScalar, Generator, TrigPoly
from emdeg.dynamics.mechanism import Position, link_frame, path
from emdeg.dynamics.spatial import Scalar, Vec3, add, column, cross, dot, mul, scale, sub, tmul
from emdeg.loops.levels import LevelStep, Root, Tie, take_level, tied
from emdeg.loops.linkage import Anchor, Bar, Linkage, Meeting
from emdeg.loops.place import Place
from emdeg.robot import BASE


@dataclass(frozen=True, slots=True)
class Gap:
    """Two points whose distance stays what it is: a rod's ends, or points on the two axes of a link in its place.

    `elbow` is the joint at one end of that link, the loop's closing joint is at the other. `lifted`: how far [m] along
    the elbow's axis and along the closing joint's the points lie; the second's sign says whether the closing frames'
    axes point the same way. `level`: the elbow is parallel to the joint that the gap is to place.
    """

    loop: str
    elbow: int | None = None
    lifted: tuple[int, int] = (0, 0)
    level: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """A revolute joint that brings a point of its link to a given distance from a known point."""

    joint: int
    gap: Gap
    sign: int = 1

    @property
    def loop(self) -> str:
        return self.gap.loop


@dataclass(frozen=True, slots=True)
class Pin:
    """A revolute joint that must keep two distances: both are linear in its sine and cosine, so no root is needed."""

    joint: int
    gaps: tuple[Gap, Gap]

    @property
    def loop(self) -> str:
        return self.gaps[0].loop


@dataclass(frozen=True, slots=True)
class Aim:
    """A revolute joint that brings a point of its link to a known point it can reach; `lifted` as in `Gap`."""

    joint: int
    loop: str
    lifted: int = 0


@dataclass(frozen=True, slots=True)
class Draw:
    """A prismatic joint that brings a point of its link to a known point on its way."""

    joint: int
    loop: str


@dataclass(frozen=True, slots=True)
class Way:
    """A joint's (sine, cosine), or displacement alone, as formulas of the coordinates over one divisor."""

    above: tuple[TrigPoly, ...]
    below: TrigPoly


@dataclass(frozen=True, slots=True)
class Drawn:
    """A joint whose position is a formula of the coordinates: one way, or one for each sign."""

    joint: int
    loop: str
    ways: tuple[Way, ...]
    sign: int = 1


@dataclass(frozen=True, slots=True)
class Slide:
    """A prismatic joint that brings a point of its link to a given distance from a known point.

    The distance is a rod's, or that of two points of a link which turns about the joint `elbow`, at right angles to
    the slide: one behind the slide or across the loop from it (a connecting rod), or one before it (a cylinder on a
    hinge, which reaches as far as the point it has to meet is away).
    """

    joint: int
    loop: str
    sign: int = 1
    elbow: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """Two crossing revolute joints and a prismatic one at right angles to the second, that reach a known point."""

    joints: tuple[int, int, int]
    loop: str
    sign: int = 1
    along: int = 1


@dataclass(frozen=True, slots=True)
class Trilaterate:
    """Three prismatic joints at right angles to each other that keep three rods' lengths."""

    joints: tuple[int, int, int]
    loops: tuple[str, str, str]
    sign: int = 1


Step = Turn | Pin | Aim | Draw | Drawn | Slide | Point | Trilaterate | LevelStep | Tie
Plan = tuple[Step, ...]


def root_count(plan: Plan) -> int:
    """Square roots that the steps take."""
    kinds = {Turn: 1, Slide: 1, Point: 2, Trilaterate: 1}
    return sum(int(step.turns) if isinstance(step, LevelStep) else kinds.get(type(step), 0) for step in plan)


def solve(link: Linkage, plan: Plan, known: Mapping[int, Position], root: Root) -> list[Position]:
    """Every joint's position from the independent ones'."""
    place = Place(link, known)
    for step in plan:
        take(place, step, root)
    return [place.position[k] for k in range(link.n)]


def take(place: Place, step: Step, root: Root) -> None:
    """One step: its joints' positions become known."""
    loops: dict[str, Bar | Meeting] = {x.name: x for x in (*place.link.bars, *place.link.meetings)}
    match step:
        case Turn():
            _turn(place, step, loops[step.loop], root)
        case Pin():
            _pin(place, step, [loops[gap.loop] for gap in step.gaps])
        case Aim():
            _aim(place, step, loops[step.loop])
        case Draw():
            _draw(place, step, loops[step.loop])
        case Drawn():
            _write(place, step)
        case Slide():
            _slide(place, step, loops[step.loop], root)
        case Point():
            _point(place, step, loops[step.loop], root)
        case Trilaterate():
            _trilaterate(place, step, [loops[name] for name in step.loops], root)
        case LevelStep():
            take_level(place, step, loops[step.loop], root)
        case Tie():
            place.position[step.joint] = tied(place, step)


def ends(place: Place, k: int, loop: Bar | Meeting) -> tuple[Anchor, Anchor]:
    """(the end that joint k moves, the other)."""
    return (loop.first, loop.second) if place.moves(k, loop.first) else (loop.second, loop.first)


@dataclass(frozen=True, slots=True)
class Triangle:
    """What `Turn` solves, in the joint's frame at rest: a the known point, C the moving one at rest, w = |a_xy|^2.

    The moving point E keeps a.E = K, |E| = r and so a x E = +- sqrt(r^2 w - K^2).
    """

    a: Vec3
    C: Vec3
    w: FieldScalar
    K: Scalar
    radicand: Scalar


def triangle(place: Place, k: int, gap: Gap, loop: Bar | Meeting) -> Triangle:
    """What keeping `gap` asks of joint k."""
    moving, fixed = ends(place, k, loop)
    R, p = place.rest(k)
    if gap.elbow is None:
        assert isinstance(loop, Bar)
        C, A = place.local(moving, k), place.point(fixed)
        a = tmul(R, sub(A, p))
        depth = a[2] - C[2]
        reach = loop.length_squared - depth * depth
    else:
        j = gap.elbow
        up, along = gap.lifted
        inner = link_frame(place.mech, j, place.zero(j))
        moving, fixed = lifted(moving, along), lifted(fixed, abs(along))
        if j in path(place.mech, moving.link) and k in path(place.mech, j):
            C = place.local(lifted(Anchor(place.mech.parent[j], inner[0], inner[1]), up), k)
            a = tmul(R, sub(place.point(fixed), p))
            arm = place.local(moving, j)
        else:
            C = place.local(moving, k)
            at = place.rest(j)
            a = tmul(R, sub(lifted(Anchor(BASE, at[0], at[1]), up).p, p))
            arm = place.local(fixed, j)
        if gap.level:
            reach = arm[0] * arm[0] + arm[1] * arm[1]
        else:
            depth, height = a[2] - C[2], arm[2] - up
            reach = arm[0] * arm[0] + arm[1] * arm[1] + height * height - depth * depth
    w = a[0] * a[0] + a[1] * a[1]
    r2 = C[0] * C[0] + C[1] * C[1]
    K = (w + (r2 - reach)) / 2
    return Triangle(a, C, w, K, r2 * w - K * K)


def lifted(anchor: Anchor, by: int) -> Anchor:
    """The anchor moved along its own z by 1, 0 or -1."""
    if not by:
        return anchor
    z = column(anchor.R, 2)
    return Anchor(anchor.link, anchor.R, add(anchor.p, z) if by > 0 else sub(anchor.p, z))


def _turn(place: Place, step: Turn, loop: Bar | Meeting, root: Root) -> None:
    t = triangle(place, step.joint, step.gap, loop)
    h = root(t.radicand, step.loop)
    h = h if step.sign > 0 else -h
    per = 1 / t.w
    x, y = (t.K * t.a[0] - h * t.a[1]) * per, (t.K * t.a[1] + h * t.a[0]) * per
    place.position[step.joint] = _angle_of((t.C[0], t.C[1]), (x, y))


def linear_gap(t: Triangle) -> tuple[Scalar, Scalar]:
    """(u, v) of the joint's equation u c + v s = K."""
    (ax, ay, _), (x, y, _) = t.a, t.C
    return ax * x + ay * y, ay * x - ax * y


def _pin(place: Place, step: Pin, loops: Sequence[Bar | Meeting]) -> None:
    first, second = (triangle(place, step.joint, gap, loop) for gap, loop in zip(step.gaps, loops))
    (u, v), (x, y) = linear_gap(first), linear_gap(second)
    per = 1 / cast(FieldScalar, u * y - v * x)
    place.position[step.joint] = (u * second.K - x * first.K) * per, (y * first.K - v * second.K) * per


def _angle_of(before: tuple[Scalar, Scalar], after: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """(sine, cosine) of the turn that brings one vector of the plane to another of the same length."""
    (x, y), (u, v) = before, after
    r2 = x * x + y * y
    return (x * v - y * u) / r2, (x * u + y * v) / r2


def _aim(place: Place, step: Aim, loop: Bar | Meeting) -> None:
    moving, fixed = ends(place, step.joint, loop)
    R, p = place.rest(step.joint)
    t = tmul(R, sub(place.point(lifted(fixed, abs(step.lifted))), p))
    e = place.local(lifted(moving, step.lifted), step.joint)
    place.position[step.joint] = _angle_of((e[0], e[1]), (t[0], t[1]))


def _draw(place: Place, step: Draw, loop: Bar | Meeting) -> None:
    moving, fixed = ends(place, step.joint, loop)
    R, p = place.rest(step.joint)
    t = tmul(R, sub(place.point(fixed), p))
    place.position[step.joint] = t[2] - place.local(moving, step.joint)[2]


def _write(place: Place, step: Drawn) -> None:
    algebra = place.link.algebra

    def letter(generator: Generator) -> Any:
        if isinstance(generator.of, Angle):
            return algebra.sincos(generator.of)[generator.kind == "cosine"]
        if generator.kind == "parameter":
            return algebra.symbol(str(generator.of))
        at: Any = place.position[int(generator.of) - 1]
        return at if generator.kind == "displacement" else at[generator.kind == "cosine"]

    way = step.ways[0 if step.sign > 0 else -1]
    parts = [formula.map(letter, algebra.number) for formula in way.above]
    if way.below != 1:
        per = 1 / way.below.map(letter, algebra.number)
        parts = [part * per for part in parts]
    place.position[step.joint] = (parts[0], parts[1]) if len(parts) == 2 else parts[0]


def _slide(place: Place, step: Slide, loop: Bar | Meeting, root: Root) -> None:
    along, across, reach = stretch(place, step, loop)
    h = root(reach - across, step.loop)
    place.position[step.joint] = along + h if step.sign > 0 else along - h


def stretch(place: Place, step: Slide, loop: Bar | Meeting) -> tuple[Scalar, Scalar, Scalar]:
    """What a slide's point has to go to where its distance is measured from, along the slide and, squared, across it.

    The third is the distance's square.
    """
    k, j = step.joint, step.elbow
    moving, fixed = ends(place, k, loop)
    if j is not None and j in path(place.mech, place.mech.parent[k]):  # a cylinder on a hinge, seen from the hinge
        R, p = place.rest(j)
        t = tmul(R, sub(place.point(fixed), p))
        inner = link_frame(place.mech, k, place.zero(k))
        at = add(inner[1], mul(inner[0], place.local(moving, k)))
        x, y, _ = place.local(Anchor(place.mech.parent[k], inner[0], at), j)
        u, v, _ = place.local(Anchor(place.mech.parent[k], inner[0], add(at, column(inner[0], 2))), j)
        u, v = u - x, v - y
        across = x * v - y * u
        return -(x * u + y * v), across * across, t[0] * t[0] + t[1] * t[1]
    R, p = place.rest(k)
    if j is None:
        assert isinstance(loop, Bar)
        D = tmul(R, sub(place.point(fixed), add(p, mul(R, place.local(moving, k)))))
        return D[2], D[0] * D[0] + D[1] * D[1], loop.length_squared
    if place.moves(j, moving):
        hinge = link_frame(place.mech, j, place.zero(j))
        at = Anchor(place.mech.parent[j], hinge[0], hinge[1])
        C, target, arm = place.local(at, k), place.point(fixed), place.local(moving, j)
        x, y, _ = sub(place.local(lifted(at, 1), k), C)
    else:
        S, target = place.rest(j)
        C, arm = place.local(moving, k), place.local(fixed, j)
        x, y, _ = tmul(R, column(S, 2))
    D = tmul(R, sub(target, add(p, mul(R, C))))
    across = y * D[0] - x * D[1]
    return D[2], across * across, arm[0] * arm[0] + arm[1] * arm[1]


def _point(place: Place, step: Point, loop: Bar | Meeting, root: Root) -> None:
    i, j, k = step.joints
    moving, fixed = ends(place, k, loop)
    target = place.point(fixed)
    R, p = place.rest(i)
    t = tmul(R, sub(target, p))
    axis = column(link_frame(place.mech, j, place.zero(j))[0], 2)
    h = root(t[0] * t[0] + t[1] * t[1], step.loop)
    h = h if step.sign > 0 else -h
    per = 1 / h
    place.position[i] = _angle_of((axis[0], axis[1]), (-(t[1] * per), t[0] * per))
    R, p = place.rest(j)
    t = tmul(R, sub(target, p))
    inner = link_frame(place.mech, k, place.zero(k))
    b = column(inner[0], 2)
    start = dot(b, add(inner[1], mul(inner[0], place.local(moving, k))))
    h = root(t[0] * t[0] + t[1] * t[1], step.loop)
    h = h if step.along > 0 else -h
    per = 1 / h
    place.position[j] = _angle_of((b[0], b[1]), (t[0] * per, t[1] * per))
    place.position[k] = h - start


@dataclass(frozen=True, slots=True)
class Spheres:
    """Three spheres about S, S + u and S + v: their points are S + (P +- sqrt(radicand) N) / N.N with N = u x v."""

    S: Vec3
    P: Vec3
    N: Vec3
    NN: FieldScalar
    length_squared: Scalar
    radicand: Scalar


def spheres(place: Place, step: Trilaterate, loops: Sequence[Any]) -> Spheres:
    """Where the three slides must be for each rod's length alone."""
    for k in step.joints:
        place.position[k] = place.mech.zero
    S, l2 = [], []
    for bar in loops:
        moving, fixed = ends(place, step.joints[2], bar)
        S.append(sub(place.point(fixed), place.point(moving)))
        l2.append(bar.length_squared)
    for k in step.joints:
        del place.position[k]
    place.forget(step.joints)
    u, v = sub(S[1], S[0]), sub(S[2], S[0])
    # Y = X - S1:  Y.Y = l1^2,  u.Y = f,  v.Y = g.
    f = (dot(u, u) + (l2[0] - l2[1])) / 2
    g = (dot(v, v) + (l2[0] - l2[2])) / 2
    N = cross(u, v)
    NN = cast(FieldScalar, dot(N, N))
    P = add(scale(f, cross(v, N)), scale(g, cross(N, u)))
    return Spheres(S[0], P, N, NN, l2[0], l2[0] * NN - dot(P, P) / NN)


def _trilaterate(place: Place, step: Trilaterate, loops: Sequence[Any], root: Root) -> None:
    """The intersection of three spheres."""
    three = spheres(place, step, loops)
    h = root(three.radicand, step.loops[0])
    h = h if step.sign > 0 else -h
    X = add(three.S, scale(1 / three.NN, add(three.P, scale(h, three.N))))
    for k in step.joints:
        axis = column(place.rest(k)[0], 2)
        place.position[k] = dot(axis, X)
