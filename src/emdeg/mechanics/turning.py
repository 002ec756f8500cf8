"""The same mechanism seen in frames that do not all turn with their links, over any scalar.

A link's vectors may be written in its own frame turned back about the joint axis by the angle of its last joint, or
by the sum of the angles of the last few joints if their axes are parallel. Then neighbours on parallel joints share
their axes, and nothing is turned between them; instead the link's own parameters turn. A body that is symmetric about
its axis does not notice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from emdeg.mechanics.linear import Mat3, Scalar, Vec3
from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, Pair, _chain, frames
from emdeg.robot.model import BASE

PairOf = Callable[[tuple[int, ...]], Pair]
"""(sine, cosine) of the sum of the given joints' variables, a joint named twice counting twice."""


def parallel_suffixes(mech: Mechanism) -> list[list[tuple[int, ...]]]:
    """For each link the sets of joints its frame may be turned back by: none, its own, its own and those before."""
    choices: list[list[tuple[int, ...]]] = []
    for i in range(mech.n):
        options: list[tuple[int, ...]] = [()]
        k, joints = i, ()
        while k != BASE:
            if mech.revolute[k]:
                joints = (k, *joints)
                options.append(joints)
            step = mech.step[k]
            straight = step.alpha is None and step.beta is None and step.gamma is None and step.theta is None
            if not straight:
                break
            k = mech.parent[k]
        choices.append(options)
    return choices


def turned_back(
    mech: Mechanism, position: Sequence, back: Sequence[tuple[int, ...]], pair_of: PairOf
) -> tuple[Mechanism, Frames]:
    """The mechanism and its frames with link i's frame turned back by the joints `back[i]`."""
    zero, one = mech.zero, mech.one
    plain = frames(mech, position)
    R: list[Mat3] = []
    p: list[Vec3] = []
    bodies: list[BodyInertia] = []
    for i, parent in enumerate(mech.parent):
        step = mech.step[i]
        before = () if parent == BASE else back[parent]
        own = (i,) if mech.revolute[i] else ()
        straight = step.alpha is None and step.beta is None and step.gamma is None
        R.append(_rotation(step, straight, before, own, back[i], pair_of, position, zero, one))
        p.append(plain.p[i] if not before else _turn(pair_of(before), plain.p[i]))
        bodies.append(mech.inertia[i] if not back[i] else turned_inertia(mech.inertia[i], back[i], pair_of, zero))
    return replace(mech, inertia=tuple(bodies)), Frames(tuple(R), tuple(p))


def _rotation(step, straight, before, own, after, pair_of, position, zero, one) -> Mat3:
    """Rz(before) C Rz(theta + own - after), the angles put together where C is straight."""
    if straight and step.theta is None:
        left = list(before) + list(own)
        rest = list(after)
        for joint in list(rest):
            if joint in left:
                left.remove(joint)
                rest.remove(joint)
        if rest and not left:
            s, c = pair_of(tuple(rest))
            return _chain((("z", (-s, c)),), zero, one)
        if rest:
            raise ValueError("a frame cannot be turned back by a joint that does not turn it")
        return _chain((("z", pair_of(tuple(left)) if left else None),), zero, one)
    turn = None
    if own and not after:
        turn = pair_of(own)
    elif after and not own:
        s, c = pair_of(after)
        turn = (-s, c)
    elif own and after != own:
        raise ValueError("a frame cannot be turned back past an axis that is not parallel")
    theta = step.theta
    if theta is not None and turn is not None:
        (s1, c1), (s2, c2) = theta, turn
        turn = (s1 * c2 + c1 * s2, c1 * c2 - s1 * s2)
    elif turn is None:
        turn = theta
    start = pair_of(before) if before else None
    gamma = step.gamma
    rotations = [("z", start), ("z", gamma), ("x", step.alpha), ("y", step.beta), ("z", turn)]
    return _chain(rotations, zero, one)


def _turn(pair: Pair, v: Vec3) -> Vec3:
    s, c = pair
    return (c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])


def turned_inertia(body: BodyInertia, joints: tuple[int, ...], pair_of: PairOf, zero: Scalar) -> BodyInertia:
    """A body's parameters about axes turned back by the joints' angle."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.J
    h = _turn(pair_of(joints), body.h)
    xz, yz, _ = _turn(pair_of(joints), (xz, yz, zero))
    half = (xx - yy) * _half(xx)
    if half or xy:
        S, C = pair_of((*joints, *joints))
        mean = (xx + yy) * _half(xx)
        swing = half * C - xy * S
        xy = half * S + xy * C
        xx, yy = mean + swing, mean - swing
    return BodyInertia(body.m, h, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _half(value: Scalar):
    from fractions import Fraction

    return Fraction(1, 2)
