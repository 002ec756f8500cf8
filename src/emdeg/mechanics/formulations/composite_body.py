"""The mass matrix by composite bodies (Walker and Orin's third method), over any scalar."""

from __future__ import annotations

from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, inward
from emdeg.mechanics.vectors import Mat3, Scalar, Vec3, add, cross, dot, madd, matmul, mul, outer, transpose
from emdeg.robot.model import BASE


def mass_matrix(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """M, n x n, both triangles."""
    zero = mech.zero
    M = [[zero] * mech.n for _ in range(mech.n)]
    composite = composite_inertias(mech, frame)
    for j in range(mech.n):
        f, n = unit_effort(composite[j], mech.revolute[j], zero)
        i = j
        while True:
            M[i][j] = M[j][i] = n[2] if mech.revolute[i] else f[2]
            parent = mech.parent[i]
            if parent == BASE:
                break
            f = mul(frame.R[i], f)
            n = add(mul(frame.R[i], n), cross(frame.p[i], f))
            i = parent
        M[j][j] = M[j][j] + mech.drive[j]
    return M


def unit_effort(body: BodyInertia, revolute: bool, zero: Scalar) -> tuple[Vec3, Vec3]:
    """Force and moment about the origin that give a resting body a unit acceleration about or along z."""
    hx, hy, _ = body.h
    if revolute:  # f = z x h, n = J z
        return (-hy, hx, zero), (body.J[0][2], body.J[1][2], body.J[2][2])
    return (zero, zero, body.m), (hy, -hx, zero)  # f = m z, n = h x z


def composite_inertias(mech: Mechanism, frame: Frames) -> list[BodyInertia]:
    """Each link with everything beyond it, as one rigid body in the link's frame."""
    composite = list(mech.inertia)
    for i, parent in inward(mech):
        if parent != BASE:
            composite[parent] = joined(composite[parent], moved(composite[i], frame.R[i], frame.p[i]))
    return composite


def joined(one: BodyInertia, other: BodyInertia) -> BodyInertia:
    return BodyInertia(one.m + other.m, add(one.h, other.h), madd(one.J, other.J))


def moved(body: BodyInertia, R: Mat3, p: Vec3) -> BodyInertia:
    """A body stated in a child frame, restated in the parent's, where the child has R and p."""
    h = mul(R, body.h)
    J = matmul(matmul(R, body.J), transpose(R))
    mp = (body.m * p[0], body.m * p[1], body.m * p[2])
    # With k = 2 h + m p:  J + (k.p) 1 - sym(k p^T), symmetric because h p^T + p h^T enters whole.
    hp, ph, pp = outer(h, p), outer(p, h), outer(mp, p)
    trace = dot(h, p) + dot(h, p) + dot(mp, p)

    def entry(i: int, j: int) -> Scalar:
        value = J[i][j] - (hp[i][j] + ph[i][j] + pp[i][j])
        return value + trace if i == j else value

    xx, xy, xz, yy, yz, zz = (entry(*ij) for ij in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    return BodyInertia(body.m, add(h, mp), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
