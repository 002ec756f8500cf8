"""Equations (17)-(25) of Burdick's paper: the dyadics and M, as printed and as corrected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.dynamics.burdick import Arm, X, Y, Z, braces, hat
from tests.dynamics.burdick_registry import Pair, all_revolute, corrected, pairs, parallels, printed

# Extended body dyadics: (17)-(21)


@printed("17 revolute")
def _(a):
    return ((a.M(i, i), Z @ a.dyadic(i, i) @ Z) for i in range(1, a.N + 1) if a.revolute(i))


@printed("17 prismatic")
def _(a):
    return ((a.M(i, i), X @ (a.mass_from(i) * hat(Y) @ hat(Y)) @ X) for i in range(1, a.N + 1) if not a.revolute(i))


@corrected("17 prismatic")
def _(a):
    return ((a.M(i, i), X @ (-a.mass_from(i) * hat(Y) @ hat(Y)) @ X) for i in range(1, a.N + 1) if not a.revolute(i))


@printed("18")
def _(a):
    for i, j in pairs(a):
        left = a.R(j, i) @ (Z if a.revolute(i) else X)
        yield a.M(i, j), left @ a.dyadic(i, j) @ (Z if a.revolute(j) else X)


@printed("18 text")
def _(a):  # z_i in C_j as R^j z of the same frame
    return ((a.M(i, j), Z @ a.dyadic(i, j) @ Z) for i, j in pairs(a) if a.revolute(i) and a.revolute(j))


@corrected("18 text")
def _(a):
    for i, j in pairs(a):
        if a.revolute(i) and a.revolute(j):
            yield a.M(i, j), a.R(j, i) @ Z @ a.dyadic(i, j) @ Z


@printed("19 first line")
def _(a):
    for j in range(1, a.N if all_revolute(a) else 0):
        R = a.R(j, j + 1)
        yield a.dyadic(j, j), a.K(j) - braces(a.P(j + 1), a.U(j + 1, j)) + R @ a.dyadic(j + 1, j + 1) @ R.T


def _across(a: Arm, middle) -> Iterator[Pair]:
    for i, j in pairs(a) if all_revolute(a) else ():
        if j < a.N:
            R = a.R(j, j + 1)
            yield a.dyadic(i, j), a.K(j) + middle(i, j) + R @ a.dyadic(i, j + 1) @ R.T


@printed("19 second line")
def _(a):  # the letters as they stand, U_{j+1} the first moment in C_j
    U = lambda j: a.U(j + 1, j)  # noqa: E731
    return _across(a, lambda i, j: -braces(a.P(j), U(j)) - hat(U(j)) @ hat(a.P(j)))


@printed("19 second line")
def _(a):  # U_{j+1} between braces read as the constant part, P_j as P_{j+1}
    U = lambda j: a.U(j + 1, j)  # noqa: E731
    return _across(a, lambda i, j: -braces(a.P(j + 1), a.U_bar(j)) - hat(U(j)) @ hat(a.P(j + 1)))


@corrected("19 second line")
def _(a):
    U = lambda j: a.U(j + 1, j)  # noqa: E731
    return _across(a, lambda i, j: -hat(a.Lo(i, j, j)) @ hat(a.U_bar(j)) - hat(U(j)) @ hat(a.P(j + 1)))


@printed("19 third line")
def _(a):  # I_ji as the transpose of I_ij, the arm to the origin
    return (
        (a.dyadic(i, j), a.dyadic(i, j).T - hat(a.Lo(i, j, j)) @ hat(a.U(j))) for i, j in pairs(a) if all_revolute(a)
    )


@printed("19 third line")
def _(a):  # I_ji read as I_jj, the arm to the mass centre of link j
    return ((a.dyadic(i, j), a.dyadic(j, j) - hat(a.L(i, j, j)) @ hat(a.U(j))) for i, j in pairs(a) if all_revolute(a))


@corrected("19 third line")
def _(a):
    return ((a.dyadic(i, j), a.dyadic(j, j) - hat(a.Lo(i, j, j)) @ hat(a.U(j))) for i, j in pairs(a) if all_revolute(a))


@printed("19 fourth line")
def _(a):  # I_{i+1,i} as a transpose, for any j beyond i
    for i, j in pairs(a) if all_revolute(a) else ():
        yield a.dyadic(i, i), a.dyadic(i, i + 1).T - hat(a.P(i + 1, at=j)) @ hat(a.U(j))


@corrected("19 fourth line")
def _(a):
    for i, j in pairs(a) if all_revolute(a) else ():
        yield a.dyadic(i, j), a.dyadic(i + 1, j) - hat(a.P(i + 1, at=j)) @ hat(a.U(j))


@printed("20 K and M")
def _(a):
    r, P = a.r, a.P
    for j in range(1, a.N):
        about_origin = np.array(a._mech.inertia[j - 1].J)
        yield a.K(j), about_origin - a.mass_from(j + 1) * hat(P(j + 1)) @ hat(P(j + 1))
        yield a.I_star(j, j) - a.m(j) * hat(r(j)) @ hat(r(j)), about_origin


@printed("20 U first form")
def _(a):
    return ((a.U(j), a.m(j) * a.r(j) + a.mass_from(j + 1) * a.P(j) + a.U(j + 1, j)) for j in range(1, a.N))


@corrected("20 U first form")
def _(a):
    return ((a.U(j), a.m(j) * a.r(j) + a.mass_from(j + 1) * a.P(j + 1) + a.U(j + 1, j)) for j in range(1, a.N))


@printed("20 U second form")
def _(a):
    return ((a.U(j), a.U(j + 1) + a.U(j + 1, j)) for j in range(1, a.N))


@corrected("20 U second form")
def _(a):
    return ((a.U(j), a.U_bar(j) + a.U(j + 1, j)) for j in range(1, a.N))


def _prismatic_then_revolute(a: Arm, vector) -> Iterator[Pair]:
    for i, j in pairs(a):
        if not a.revolute(i) and j < a.N and a.revolute(j) and a.revolute(j + 1):
            R = a.R(j, j + 1)
            yield a.dyadic(i, j), R @ a.dyadic(i, j + 1) @ R.T - hat(a.R(j, i) @ Y) @ hat(vector(j))


@printed("21 first line")
def _(a):
    return _prismatic_then_revolute(a, lambda j: a.U(j + 1, j))


@corrected("21 first line")
def _(a):
    return _prismatic_then_revolute(a, a.U_bar)


def _revolute_then_prismatic(a: Arm, vector) -> Iterator[Pair]:
    for j, i in pairs(a):
        if not a.revolute(i) and j + 1 < i and a.revolute(j) and a.revolute(j + 1):
            yield a.dyadic(j, i), a.dyadic(j + 1, i) - hat(vector(j, i)) @ hat(Y)


@printed("21 second line")
def _(a):
    return _revolute_then_prismatic(a, lambda j, i: a.U(j + 1, i))


@printed("21 second line")
def _(a):  # U_{j+1} read as the constant part
    return _revolute_then_prismatic(a, lambda j, i: a.R(i, j) @ a.U_bar(j))


@corrected("21 second line")
def _(a):
    return _revolute_then_prismatic(a, lambda j, i: a.mass_from(i) * a.P(j + 1, at=i))


# Parallel joints, M: (22)-(25)


@printed("22")
def _(a):
    for p in parallels(a):
        yield a.R(p, p + 1) @ Z, Z
        yield a.R(p + 1, p) @ Z, Z


@printed("23")
def _(a):
    for p in parallels(a):
        for j in range(p + 1, a.N + 1):
            yield a.z(p, j), a.z(p + 1, j)
            V, V_next = np.cross(Z, a.L(p, j, p)), np.cross(a.z(p + 1, p), a.L(p + 1, j, p))
            yield V, np.cross(Z, a.P(p + 1)) + V_next


@printed("24")
def _(a):
    for p in parallels(a):
        dyadic = a.dyadic(p + 1, p + 1) - hat(a.P(p + 1, at=p + 1)) @ hat(a.U(p + 1))
        yield a.M(p, p + 1), a.z(p, p + 1) @ dyadic @ Z
        yield a.M(p, p + 1), a.M(p + 1, p + 1) + a.eta(p + 1, p + 1)


@printed("25 first line")
def _(a):
    return ((a.M(p, p), a.M(p + 1, p + 1) + Z @ a.K(p) @ Z + 2 * a.eta(p + 1, p + 1)) for p in parallels(a))


@printed("25 second line")
def _(a):
    return ((a.M(p, p), a.M(p + 1, p + 1) + Z @ a.K(p) @ Z + a.eta(p + 1, p + 1)) for p in parallels(a))


@corrected("25 second line")
def _(a):
    return ((a.M(p, p), a.M(p, p + 1) + Z @ a.K(p) @ Z + a.eta(p + 1, p + 1)) for p in parallels(a))


def _third_of_25(a: Arm, dyadic) -> Iterator[Pair]:
    for p in parallels(a):
        for i in range(1, p):
            if a.revolute(i):
                yield a.M(i, p), a.M(i, p + 1) - a.z(i, p) @ dyadic(i, p) @ Z


@printed("25 third line")
def _(a):  # as it stands
    def dyadic(i, p):
        U = hat(a.U(p + 1, p))
        return U @ hat(a.P(p + 1)) + hat(a.L(i, p, p)) @ U

    return _third_of_25(a, dyadic)


@printed("25 third line")
def _(a):  # the arm to the origin and the constant part of U, but still no K
    def dyadic(i, p):
        return hat(a.U(p + 1, p)) @ hat(a.P(p + 1)) + hat(a.Lo(i, p, p)) @ hat(a.U_bar(p))

    return _third_of_25(a, dyadic)


@corrected("25 third line")
def _(a):
    def dyadic(i, p):
        return hat(a.U(p + 1, p)) @ hat(a.P(p + 1)) + hat(a.Lo(i, p, p)) @ hat(a.U_bar(p)) - a.K(p)

    return _third_of_25(a, dyadic)


@printed("25 fourth line")
def _(a):
    for p in parallels(a):
        for i in range(p + 2, a.N + 1):
            if a.revolute(i):
                yield a.M(p, i), a.M(p + 1, i) + a.eta(p + 1, i)
