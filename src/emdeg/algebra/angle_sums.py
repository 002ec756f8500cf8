"""The angles that formulas are written in: integer sums of joint angles, their names, and systems of them.

Axes that stay parallel turn by sums of joint angles, and formulas are shortest in those: C2*S23 rather than
C2*S2*C3 + C2*C2*S3. An `AngleSystem` says what each joint's pair of letters stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import TrigPoly

AngleSum = tuple[tuple[int, int], ...]
"""An integer combination of joint angles: (joint, multiple), joints rising, no multiple zero."""

ParallelJoints = tuple[tuple[int, int], ...]
"""Joints with parallel axes along a chain: (joint, +1 or -1 where its axis points the other way)."""

MOST_SYSTEMS = 24


@dataclass(frozen=True)
class AngleSystem:
    """`meaning` of each joint's letters, as a combination of joint angles, and its `inverse`."""

    meaning: dict[int, AngleSum]
    inverse: dict[int, AngleSum]

    def write(self, formula: TrigPoly) -> TrigPoly:
        """`formula` in this system's angles: joint k's letters then stand for `meaning[k]`."""
        algebra = formula.algebra
        used = {g.of for g in formula.generators if g.is_joint_angle}
        changed = {
            joint: algebra.sum_sincos(dict(combination))
            for joint, combination in self.inverse.items()
            if combination != ((joint, 1),) and joint in used
        }
        return formula.substitute({**changed}) if changed else formula


def angle_systems(algebra: TrigAlgebra, groups: Sequence[ParallelJoints]) -> tuple[AngleSystem, ...]:
    """The systems worth trying for these parallel joints; the first is that of the joints' own angles."""
    own = {joint: ((joint, 1),) for joint in algebra.revolute}
    choices = [list(_trees(len(group))) for group in groups]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MOST_SYSTEMS:
        choices = [choice[:2] for choice in choices]
    systems = []
    for trees in product(*choices):
        meaning, inverse = dict(own), dict(own)
        for group, edges in zip(groups, trees):
            meaning |= {group[k][0]: _between(group, *edge) for k, edge in enumerate(edges)}
            inverse |= _inverse(group, edges)
        systems.append(AngleSystem(meaning, inverse))
        if len(systems) == MOST_SYSTEMS:
            break
    return tuple(systems)


Edge = tuple[int, int]


def _trees(joints: int) -> Iterator[tuple[Edge, ...]]:
    """Trees on the vertices 0..joints, vertex v being the sum of the first v angles: an edge is an angle.

    First the path (each joint's own angle), then the stars: all angles against the base, against the first link...
    """
    path = tuple((v, v + 1) for v in range(joints))
    yield path
    for center in range(joints + 1):
        star = tuple((min(v, center), max(v, center)) for v in range(joints + 1) if v != center)
        if star != path:
            yield star


def _between(group: ParallelJoints, u: int, v: int) -> AngleSum:
    """The angle from vertex u to vertex v of a group, positive in its first joint."""
    signs = [sign for _, sign in group[u:v]]
    return tuple((joint, sign * signs[0]) for joint, sign in group[u:v])


def _inverse(group: ParallelJoints, edges: Sequence[Edge]) -> dict[int, AngleSum]:
    """Each joint's own angle as a combination of the edges' letters; edge k has joint k's letters."""
    found: dict[int, AngleSum] = {}
    for k, (joint, sign) in enumerate(group):
        walk = _path(edges, k, k + 1)
        letters: dict[int, int] = {}
        for edge, direction in walk:
            first = group[edges[edge][0]][1]
            letters[group[edge][0]] = direction * first * sign
        found[joint] = tuple(sorted(letters.items()))
    return found


def _path(edges: Sequence[Edge], start: int, goal: int) -> list[tuple[int, int]]:
    """The edges from vertex `start` to `goal` of a tree, each with +1 if walked upwards."""
    stack: list[tuple[int, list[tuple[int, int]]]] = [(start, [])]
    seen = {start}
    while stack:
        vertex, walked = stack.pop()
        if vertex == goal:
            return walked
        for k, (u, v) in enumerate(edges):
            for here, there, direction in ((u, v, 1), (v, u, -1)):
                if here == vertex and there not in seen:
                    seen.add(there)
                    stack.append((there, [*walked, (k, direction)]))
    raise ValueError("the edges do not form a tree")


def angle_name(combination: AngleSum) -> str:
    """The angle in an abbreviation: "23" for q2 + q3, "223" for 2 q2 + q3, "3m2" for q3 - q2, "10_11" past nine.

    >>> angle_name(((2, 2), (3, 1))), angle_name(((2, -1), (3, 1)))
    ('223', '3m2')
    """
    plus = [str(joint) for joint, times in combination for _ in range(max(times, 0))]
    minus = [str(joint) for joint, times in combination for _ in range(max(-times, 0))]
    link = "_" if any(len(name) > 1 for name in (*plus, *minus)) else ""
    return link.join(plus) + ("m" + link.join(minus) if minus else "")


def angle_latex(combination: AngleSum) -> str:
    """The same as a subscript: "23", "2-3", "10,11"."""
    return angle_name(combination).replace("m", "-").replace("_", ",")
