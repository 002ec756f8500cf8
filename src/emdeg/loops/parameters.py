"""The efforts of a mechanism's opened tree, rods included, as linear in its bodies' inertial parameters.

A rod is a body of its own behind the links, with the same eleven columns. Of its parameters, about its first end with
x along it, only ZZ (across the rod), MX and M have an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.algebra.linear import Matrix
from emdeg.dynamics.mechanism import Position, frames
from emdeg.dynamics.parameters.regressor import COLUMNS, WIDTH
from emdeg.dynamics.parameters.regressor import regressor as of_tree
from emdeg.dynamics.spatial import Scalar, dot, mul
from emdeg.loops.linkage import Bar, Linkage, in_motion, world_frames
from emdeg.loops.reduction import end_accelerations, end_columns


def regressor(link: Linkage, position: Sequence[Position], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Matrix:
    """Y, one row a joint of the tree, eleven columns a link and then a rod."""
    zero = link.tree.zero
    Y = of_tree(link.bare, frames(link.bare, position), qd, qdd)
    if not link.bars:
        return Y
    world, moving = world_frames(link, position), world_frames(link, in_motion(link.tree, position, qd))
    pull = mul(link.tree.base[0], link.tree.gravity)
    for bar in link.bars:
        columns = end_columns(link, bar, world)
        felt = end_accelerations(columns, end_columns(link, bar, moving), qd, qdd, pull, zero)
        for k, row in enumerate(Y):
            # What the end masses m11, m12 and m22 ask of joint k, then per unit of M, MX and ZZ.
            own = [[dot(columns[i][k], felt[j]) if k in columns[i] else zero for j in range(2)] for i in range(2)]
            m11, m12, m22 = own[0][0], own[0][1] + own[1][0], own[1][1]
            units: dict[str, Scalar] = dict.fromkeys(COLUMNS, zero)
            for name, (a11, a12, a22) in unit_end_masses(bar).items():
                units[name] = m11 * a11 + m12 * a12 + m22 * a22
            row += [units[name] for name in COLUMNS]
    assert all(len(row) == WIDTH * (link.n + len(link.bars)) for row in Y)
    return Y


def unit_end_masses(bar: Bar) -> dict[str, tuple[Scalar, Scalar, Scalar]]:
    """(m11, m12, m22) of the two ends per unit of a rod's parameters about its first end."""
    per = 1 / bar.length
    square = per * per
    zero = per * 0
    return {"ZZ": (square, -square, square), "MX": (-2 * per, per, zero), "M": (zero + 1, zero, zero)}
