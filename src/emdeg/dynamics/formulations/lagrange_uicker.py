"""Lagrange's equations in Uicker's form: 4 x 4 transforms, pseudo-inertias and traces, over any scalar.

Bejczy's report is followed by its letters: T, Q, U_ji, U_jkp, J_j, D_ij, D_ijk, D_i. His link frames are those of
Denavit and Hartenberg, ours the modified ones, whose joint moves last: dT/dq is T Q here, where it is Q T there.

A joint's matrix Q has a last row of zeros and T's is (0, 0, 0, 1): that is why what Bejczy's Appendix D omits may be
omitted. What that leaves of the sum over the links beyond a joint is one pseudo-inertia, P, of all of them.
"""

from __future__ import annotations

from fractions import Fraction

from emdeg.dynamics.formulations.coefficients import Coefficients
from emdeg.dynamics.mechanism import Frames, Mechanism, inward, outward, path
from emdeg.dynamics.spatial import (
    BodyInertia,
    Mat3,
    Scalar,
    Vec3,
    frozen,
    mul,
    neg,
    second_moments,
    total,
    transpose,
    zeros,
)
from emdeg.errors import NotSerial
from emdeg.robot import BASE

Row4 = tuple[Scalar, Scalar, Scalar, Scalar]
Mat4 = tuple[Row4, Row4, Row4, Row4]


def matmul4(A: Mat4, B: Mat4) -> Mat4:
    columns = list(zip(*B))
    return tuple(  # type: ignore[return-value]
        tuple(total([a * b for a, b in zip(row, column)]) for column in columns) for row in A
    )


def transpose4(A: Mat4) -> Mat4:
    return tuple(zip(*A))  # type: ignore[return-value]


def differentiation_matrix(revolute: bool, zero: Scalar, one: Scalar) -> Mat4:
    """Q of a joint: dT/dq = T Q (Bejczy (5) and (6))."""
    nothing = (zero, zero, zero, zero)
    if revolute:
        return ((zero, -one, zero, zero), (one, zero, zero, zero), nothing, nothing)
    return (nothing, nothing, (zero, zero, zero, one), nothing)


def pseudo_inertia(body: BodyInertia, half: Scalar) -> Mat4:
    """J of a link: the second, first and zeroth moments of its mass (Bejczy (10)).

    The tensor's off-diagonal entries carry the minus sign of products of inertia; the moments do not.
    """
    x, y, z = second_moments(body.J, half)
    mx, my, mz = body.mr
    return ((*x, mx), (*y, my), (*z, mz), (mx, my, mz, body.m))


def pseudo_inertias(mech: Mechanism) -> list[Mat4]:
    """J_j of every link, payloads included, drives not."""
    half = mech.algebra.number(Fraction(1, 2))
    return [pseudo_inertia(body, half) for body in mech.inertia]


def transforms(mech: Mechanism, frame: Frames) -> list[dict[int, Mat4]]:
    """T_i^j at [j][i]: link j's frame in that of each link i before it on its path, and in frame 0 (i = BASE)."""
    zero, one = mech.zero, mech.one
    identity: Mat4 = tuple(  # type: ignore[assignment]
        tuple(one if r == c else zero for c in range(4)) for r in range(4)
    )
    T: list[dict[int, Mat4]] = []
    for j, parent in outward(mech):
        R, p = frame.R[j], frame.p[j]
        own = homogeneous4(R, p, mech)
        before = {BASE: identity} if parent == BASE else T[parent]
        T.append({i: own if i == parent else matmul4(B, own) for i, B in before.items()})
        T[j][j] = identity
    return T


def first_derivatives(mech: Mechanism, frame: Frames) -> dict[tuple[int, int], Mat4]:
    """U_ji = dT_0^j/dq_i at [j, i], for i on the path to j; all others are zero (Bejczy (4))."""
    T = transforms(mech, frame)
    return {(j, i): matmul4(T[i][BASE], after(mech, i, T[j][i])) for j in range(mech.n) for i in path(mech, j)}


def second_derivatives(mech: Mechanism, frame: Frames) -> dict[tuple[int, int, int], Mat4]:
    """U_jkp = d^2 T_0^j/dq_k dq_p at [j, k, p], for k before or at p on the path to j (Bejczy (7)-(9))."""
    T = transforms(mech, frame)
    U: dict[tuple[int, int, int], Mat4] = {}
    for j in range(mech.n):
        for p in path(mech, j):
            for k in path(mech, p):
                outer = matmul4(T[p][k], after(mech, p, T[j][p]))
                U[j, k, p] = matmul4(T[k][BASE], after(mech, k, outer))
    return U


def standard_frames(mech: Mechanism, last: tuple[Mat3, Vec3]) -> tuple[Mat4, ...]:
    """Frame 0, then each link's frame, after Denavit and Hartenberg's standard convention, in the modified frames.

    Each lies on the next joint's axis: Rz(gamma) Tz(b) Rx(alpha) Tx(a), of which the standard convention counts gamma
    with theta and b with d. Of a chain; `last` is where the last link's frame lies, which no further joint says.
    """
    if any(parent != i - 1 for i, parent in enumerate(mech.parent)):
        raise NotSerial("standard Denavit-Hartenberg frames are for serial robots; this one branches")
    if any(place.beta is not None for place in mech.dh[1:]):  # the base may stand as it likes on joint 1's axis
        raise NotSerial(
            "its joints have no standard Denavit-Hartenberg frames: two axes are almost parallel (beta), so that their "
            "common normal is far away"
        )
    places = (place.axis_frame(mech.zero, mech.one) for place in mech.dh)
    return tuple(homogeneous4(*place, mech) for place in (*places, last))


def homogeneous4(R: Mat3, p: Vec3, mech: Mechanism) -> Mat4:
    zero, one = mech.zero, mech.one
    return ((*R[0], p[0]), (*R[1], p[1]), (*R[2], p[2]), (zero, zero, zero, one))


def restated(P: Mat4, F: Mat4, mech: Mechanism) -> Mat4:
    """A pseudo-inertia in the frame F instead: F^-1 P F^-T."""
    back = inverse4(F, mech)
    return matmul4(matmul4(back, P), transpose4(back))


def inverse4(F: Mat4, mech: Mechanism) -> Mat4:
    """F^-1 of a rotation and a shift."""
    x, y, z, _ = F
    R = transpose((x[:3], y[:3], z[:3]))
    return homogeneous4(R, neg(mul(R, (x[3], y[3], z[3]))), mech)


def after(mech: Mechanism, joint: int, A: Mat4) -> Mat4:
    """Q A of a joint's Q: a matter of rows and signs, not of products."""
    zero = mech.zero
    nothing = (zero, zero, zero, zero)
    if mech.revolute[joint]:
        return (_negative(A[1]), A[0], nothing, nothing)
    return (nothing, nothing, A[3], nothing)


def _negative(row: Row4) -> Row4:
    return (-row[0], -row[1], -row[2], -row[3])


def composite_pseudo_inertias(mech: Mechanism, T: list[dict[int, Mat4]]) -> list[Mat4]:
    """P_i: link i and all beyond it as one body in frame i, the sum of B J B^T of Bejczy's Appendix D."""
    P = pseudo_inertias(mech)
    for i, parent in inward(mech):
        if parent != BASE:
            B = T[i][parent]
            carried = matmul4(matmul4(B, P[i]), transpose4(B))
            P[parent] = tuple(  # type: ignore[assignment]
                tuple(x + y for x, y in zip(*rows)) for rows in zip(P[parent], carried)
            )
    return P


def trace(X: Mat4, P: Mat4, Y: Mat4) -> Scalar:
    """Tr(X P Y^T) for X and Y whose last row is zero and a symmetric P: each entry of P is used once."""
    parts = []
    for r in range(4):
        for s in range(r + 1):
            factor = total([Y[row][r] * X[row][s] for row in range(3)])
            if r != s:
                factor = factor + total([Y[row][s] * X[row][r] for row in range(3)])
            parts.append(factor * P[r][s])
    return total(parts)


def lagrange_coefficients(mech: Mechanism, frame: Frames) -> Coefficients:
    """M = D_ij, beta = D_ijk and g = D_i of Bejczy (1), with the omissions of his Appendix D. Chains and trees."""
    n, zero = mech.n, mech.zero
    T = transforms(mech, frame)
    P = composite_pseudo_inertias(mech, T)

    def turned(first: int, joint: int, last: int) -> Mat4:
        """T_first^joint Q T_joint^last: U without the transforms before `first` (Appendix D's statement)."""
        moved = after(mech, joint, T[last][joint])
        return moved if first == joint else matmul4(T[joint][first], moved)

    def D(i: int, k: int, p: int) -> Scalar:
        """D_ikp for k before or at p; the sum over the links beyond all three is in P."""
        if not mech.revolute[k]:  # Qbar B Q = Qbar B Qbar = 0: (D.32) and the zeros beside it
            return zero
        last, first = max(i, p), min(i, k)
        outer = after(mech, p, T[last][p])
        U = after(mech, k, outer if k == p else matmul4(T[p][k], outer))
        return trace(U if first == k else matmul4(T[k][first], U), P[last], turned(first, i, last))

    M = zeros(zero, n, n)
    beta = zeros(zero, n, n, n)
    for last in range(n):
        line = path(mech, last)  # whatever couples to joint `last` from before it
        for at, j in enumerate(line):
            M[j][last] = M[last][j] = trace(turned(j, last, last), P[last], turned(j, j, last))
            if j == last:
                continue
            # D_iii = 0 and D_i,ij = 0 for j before i: a symmetric times a skew matrix (D.57), (D.59)
            beta[j][last][last] = D(j, last, last)
            beta[last][j][j] = D(last, j, j)
            beta[j][j][last] = beta[j][last][j] = -beta[last][j][j]
            for k in line[at + 1 : -1]:
                beta[j][k][last] = beta[j][last][k] = D(j, k, last)
                # D_i,kj = -D_j,ki for k before both: compare (D.36) with (D.44)
                value = D(k, j, last)
                beta[k][j][last] = beta[k][last][j] = value
                beta[last][j][k] = beta[last][k][j] = -value
        M[last][last] = M[last][last] + mech.drive[last]
    return Coefficients(frozen(M), frozen(beta), tuple(gravity(mech, T, P)))


def uicker_coefficients(mech: Mechanism, frame: Frames) -> Coefficients:
    """D_ij, D_ijk and D_i by the sums as they stand in Bejczy (1)-(3): every trace of every link, nothing omitted."""
    n, zero = mech.n, mech.zero
    U, UU, J = first_derivatives(mech, frame), second_derivatives(mech, frame), pseudo_inertias(mech)
    M, beta = zeros(zero, n, n), zeros(zero, n, n, n)
    g = [zero] * n
    for j in range(n):
        line = path(mech, j)
        for i in line:
            JU = matmul4(J[j], transpose4(U[j, i]))
            for at, k in enumerate(line):
                M[i][k] = M[i][k] + _whole_trace(U[j, k], JU)
                for p in line[at:]:
                    beta[i][k][p] = beta[i][k][p] + _whole_trace(UU[j, k, p], JU)
            moved = [total([U[j, i][row][column] * J[j][column][3] for column in range(4)]) for row in range(3)]
            g[i] = g[i] - total([G * r for G, r in zip(mech.gravity, moved)])
    for i in range(n):
        M[i][i] = M[i][i] + mech.drive[i]
        for k in range(n):
            for p in range(k):  # summed for k before or at p along a path, which counts joints upwards
                beta[i][k][p] = beta[i][p][k]
    return Coefficients(frozen(M), frozen(beta), tuple(g))


def _whole_trace(A: Mat4, B: Mat4) -> Scalar:
    """Tr(A B)."""
    return total([A[r][c] * B[c][r] for r in range(4) for c in range(4)])


def gravity(mech: Mechanism, T: list[dict[int, Mat4]], P: list[Mat4]) -> list[Scalar]:
    """D_i = -sum_j m_j G U_ji r_j; the last column of P_i holds the sum of the m_j r_j (Bejczy (1)-(3))."""
    g = []
    for i in range(mech.n):
        down = [total([G * T[i][BASE][row][column] for row, G in enumerate(mech.gravity)]) for column in range(3)]
        x, y, _, m = (row[3] for row in P[i])
        g.append(down[0] * y - down[1] * x if mech.revolute[i] else -(down[2] * m))
    return g
