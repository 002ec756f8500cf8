"""The Jacobian's determinant and inverse where it is square: from the rates of the joints seen in one link's frame.

In the axes of a link in the middle, and at its origin, the joints' motions have the fewest terms. Turning the axes and
moving the point changes no determinant; an inverse is turned and moved back to the tool and the base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from emdeg.algebra.linear import Matrix, adjugate_of, determinant_of
from emdeg.dynamics.formulations.kinematics import tool_pose
from emdeg.dynamics.mechanism import Frames, Mechanism, in_base, path
from emdeg.dynamics.spatial import Mat3, Scalar, Vec3, add, cross, matmul, mul, sub, tmul, total, transpose


def jacobian_in_link_frame(mech: Mechanism, frame: Frames, link: int) -> Matrix:
    """6 x 6: velocity (rows 1-3) of the tool's link at the origin of `link`, its angular velocity; axes of `link`."""
    zero, one = mech.zero, mech.one
    links = path(mech, mech.tool_link)
    R: dict[int, Mat3] = {link: ((one, zero, zero), (zero, one, zero), (zero, zero, one))}
    p: dict[int, Vec3] = {link: (zero, zero, zero)}
    place = links.index(link)
    for inner, outer in pairwise(links[place:]):
        R[outer] = matmul(R[inner], frame.R[outer]) if inner != link else frame.R[outer]
        p[outer] = add(p[inner], mul(R[inner], frame.p[outer])) if inner != link else frame.p[outer]
    for inner, outer in reversed(list(pairwise(links[: place + 1]))):
        R[inner] = matmul(R[outer], transpose(frame.R[outer])) if outer != link else transpose(frame.R[outer])
        p[inner] = sub(p[outer], mul(R[inner], frame.p[outer]))
    columns = []
    for i in links:
        for k in mech.speeds[i]:
            S = mech.S[k].rotated(R[i])
            columns.append((*add(S.v, cross(p[i], S.w)), *S.w))
    return [list(row) for row in zip(*columns)]


def jacobian_determinant(mech: Mechanism, frame: Frames, link: int) -> Scalar:
    """det J of the tool's 6 x 6 Jacobian [m^3], seen from a link."""
    return determinant_of(jacobian_in_link_frame(mech, frame, link), dot_of(mech.zero))


def inverse_jacobian(mech: Mechanism, frame: Frames, link: int) -> Matrix:
    """J^-1: qd = J^-1 (v, omega), v of the tool's origin, base axes; seen from a link, then moved."""
    adjugate, det = adjugate_of(jacobian_in_link_frame(mech, frame, link), mech.one, dot_of(mech.zero))
    world = in_base(mech, frame)
    R = world.R[link]
    lever = tmul(R, sub(tool_pose(mech, frame)[1], world.p[link]))
    over = mech.one / det  # type: ignore[operator]
    rows = []
    for row in adjugate:
        a, b = (tuple(row[:3]), tuple(row[3:]))
        # v at the link's origin is v_tool + lever x omega.
        turned = add(b, cross(a, lever))  # type: ignore[arg-type]
        rows.append([over * x for x in (*mul(R, a), *mul(R, turned))])  # type: ignore[arg-type]
    return rows


def dot_of(zero: Scalar) -> Callable[[Iterable[tuple[Scalar, Scalar]]], Scalar]:
    """What sums products, `zero` where there are none."""

    def dot(pairs: Iterable[tuple[Scalar, Scalar]]) -> Scalar:
        products = [a * b for a, b in pairs]
        return total(products) if products else zero

    return dot
