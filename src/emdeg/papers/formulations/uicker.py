"""Lagrange's equations as Uicker and Bejczy wrote them: every transform's derivatives, every trace of every link.

Bejczy's report is followed by its symbols: T, Q, U_ji, U_jkp, J_j, D_ij, D_ijk, D_i. His link frames are those of
Denavit and Hartenberg, ours the modified ones, whose joint moves last: dT/dq is T Q here, where it is Q T there.
"""

from __future__ import annotations

from emdeg.dynamics import Frames, Mat3, Mechanism, Scalar, Vec3, frozen, mul, neg, path, total, transpose, zeros
from emdeg.dynamics.formulations import (
    Coefficients,
    Mat4,
    after,
    homogeneous4,
    matmul4,
    pseudo_inertias,
    transforms,
    transpose4,
)
from emdeg.errors import NotSerial
from emdeg.robot import BASE


def differentiation_matrix(revolute: bool, zero: Scalar, one: Scalar) -> Mat4:
    """Q of a joint: dT/dq = T Q (Bejczy (5) and (6))."""
    nothing = (zero, zero, zero, zero)
    if revolute:
        return ((zero, -one, zero, zero), (one, zero, zero, zero), nothing, nothing)
    return (nothing, nothing, (zero, zero, zero, one), nothing)


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


def restated(P: Mat4, F: Mat4, mech: Mechanism) -> Mat4:
    """A pseudo-inertia in the frame F instead: F^-1 P F^-T."""
    back = inverse4(F, mech)
    return matmul4(matmul4(back, P), transpose4(back))


def inverse4(F: Mat4, mech: Mechanism) -> Mat4:
    """F^-1 of a rotation and a shift."""
    x, y, z, _ = F
    R = transpose((x[:3], y[:3], z[:3]))
    return homogeneous4(R, neg(mul(R, (x[3], y[3], z[3]))), mech)


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
