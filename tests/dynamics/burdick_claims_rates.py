"""Equations (26)-(35) and Appendix I of Burdick's paper: derivatives and rates, as printed and as corrected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.dynamics.burdick import Arm, Z, hat
from tests.dynamics.burdick_registry import Pair, all_revolute, corrected, pairs, parallels, printed, triples

# Coriolis and centripetal terms, any robot: (26)-(30)


@printed("26")
def _(a):
    n = range(1, a.N + 1)
    return ((a.dM(i, j, k), 0.0) for i in n for j in n for k in range(1, min(i, j) + 1))


@printed("27")
def _(a):
    for i, j in pairs(a):
        yield a.c(i, j), a.dM(i, j, j)
        yield a.c(j, i), -a.dM(i, i, j) / 2
    for i in range(1, a.N + 1):
        yield a.c(i, i), 0.0


@printed("28")
def _(a):
    for j, k in pairs(a):
        yield a.b(j, j, k), -2 * a.c(k, j)
        yield a.b(k, j, k), 0.0
    for j, k, i in triples(a):
        yield a.b(i, j, k), -a.b(k, j, i)


@printed("29")
def _(a):
    for i, j, k in triples(a):
        yield a.b(i, j, k), a.dM(i, j, k) + a.dM(i, k, j)
        yield a.b(j, i, k), a.dM(i, j, k) - a.dM(i, k, j)


# Coriolis and centripetal terms, parallel joints: (30)-(35). Revolute arms.


def _beyond(a: Arm, first: int = 2) -> Iterator[tuple[int, int]]:
    """(p, k) with k >= p + first."""
    return ((p, k) for p in parallels(a) if all_revolute(a) for k in range(p + first, a.N + 1))


def _chained(a: Arm, i: int, p: int, k: int) -> float:
    """z_i . hat(z^ U_k) . hat(P_{p+1}) . z, in C_p: the chain of (31), (33) and (35)."""
    return a.z(i, p) @ hat(a.zU(k, p)) @ hat(a.P(p + 1)) @ Z


@printed("30")
def _(a):
    return ((a.b(i, p, k), a.dM(i, p, k) + a.dM(i, k, p)) for p, k in _beyond(a, 1) for i in range(1, p))


@printed("31")
def _(a):
    for p, k in _beyond(a, 1):
        for i in range(1, p):
            yield a.dM(i, p, k), a.dM(i, p + 1, k) - _chained(a, i, p, k)


def _rate_of_axis(a: Arm, first) -> Iterator[Pair]:
    """(32), with k for the j of its right side."""
    for p, k in _beyond(a):
        for i in range(1, p):
            bracket = a.dyadic(k, k) - hat(a.Lo(i, k, k)) @ hat(a.U(k))
            second = a.z(i, k) @ hat(a.R(k, p) @ np.cross(Z, a.Lo(i, p, p))) @ hat(a.U(k)) @ Z
            yield a.dM(i, k, p), -first(i, p, k) @ bracket @ Z + second


@printed("32")
def _(a):
    return _rate_of_axis(a, lambda i, p, k: a.R(k, p + 1) @ np.cross(Z, a.z(i, p)))


@corrected("32")
def _(a):
    return _rate_of_axis(a, lambda i, p, k: a.R(k, p) @ np.cross(Z, a.z(i, p)))


@printed("33")
def _(a):
    for p, k in _beyond(a, 1):
        for i in range(1, p):
            yield a.dM(i, k, p), a.dM(i, k, p + 1) + _chained(a, i, p, k)


@printed("34")
def _(a):
    return ((a.b(i, p, k), a.b(i, p + 1, k)) for p, k in _beyond(a) for i in range(1, p))


@printed("34 for i > p+1")
def _(a):
    return ((a.b(i, p, k), a.b(i, p + 1, k)) for p, k in _beyond(a) for i in range(p + 2, a.N + 1))


@printed("34 for i = p+1")
def _(a):  # the paper does not say so; it holds
    return ((a.b(p + 1, p, k), a.b(p + 1, p + 1, k)) for p, k in _beyond(a))


def _end(a: Arm, p: int, k: int, P) -> float:
    """z . hat(P) . hat(z^ U_k) . z, in C_{p+1}: the chain of (35), first and sixth line."""
    return Z @ hat(P) @ hat(a.zU(k, p + 1)) @ Z


@printed("35 first line")
def _(a):  # ^pP, mixing components of two frames
    return ((a.b(p + 1, p, k), a.b(p + 1, p + 1, k) - 2 * _end(a, p, k, a.P(p + 1))) for p, k in _beyond(a))


@printed("35 first line")
def _(a):
    return ((a.b(p + 1, p, k), a.b(p + 1, p + 1, k) - 2 * _end(a, p, k, a.P(p + 1, at=p + 1))) for p, k in _beyond(a))


@corrected("35 first line")
def _(a):
    return ((a.b(p, p, k), a.b(p + 1, p + 1, k) - 2 * _end(a, p, k, a.P(p + 1, at=p + 1))) for p, k in _beyond(a))


@printed("35 second line")
def _(a):
    return ((a.b(p, i, p + 1), 0.0) for p in parallels(a) if all_revolute(a) for i in range(1, p))


@corrected("35 second line")
def _(a):
    for p in parallels(a) if all_revolute(a) else ():
        for i in range(1, p):
            yield a.b(p, i, p + 1), -2 * _chained(a, i, p, p + 1)


@printed("35 third line")
def _(a):
    for p in parallels(a) if all_revolute(a) else ():
        for i in range(1, p):
            yield a.b(i, p, p + 1), 2 * a.c(i, p + 1) - _chained(a, i, p, p + 1)


@corrected("35 third line")
def _(a):
    for p in parallels(a) if all_revolute(a) else ():
        for i in (*range(1, p), *range(p + 2, a.N + 1)):
            yield a.b(i, p, p + 1), 2 * a.c(i, p + 1)


@printed("35 fourth line")
def _(a):  # b_{p,k,j} is b_{p,j,k}
    for p, k in _beyond(a):
        for j in range(p + 2, k):
            chain = a.z(p + 1, j) @ hat(a.P(p + 1, at=j)) @ hat(a.zU(k, j)) @ Z
            yield a.b(p, k, j), a.b(p + 1, j, k) - 2 * chain


@printed("35 fifth line")
def _(a):
    for p, k in _beyond(a, 1):
        for j in range(1, p):
            yield a.b(p, j, k), a.b(p + 1, j, k) - 2 * _chained(a, j, p, k)


@printed("35 sixth line")
def _(a):
    for p, k in _beyond(a):
        yield a.b(p, p + 1, k), -2 * a.c(k, p + 1) - 2 * _end(a, p, k, a.P(p + 1, at=p + 1))


def _seventh(a: Arm, p: int) -> float:
    return Z @ hat(a.zP(p, p + 1)) @ hat(a.U(p + 1)) @ Z


@printed("35 seventh line")
def _(a):
    return ((a.c(p, p + 1), -2 * a.c(p + 1, p) + _seventh(a, p)) for p in parallels(a))


@corrected("35 seventh line")
def _(a):
    for p in parallels(a):
        yield a.c(p, p + 1), -a.c(p + 1, p)
        yield a.c(p, p + 1), _seventh(a, p)


@printed("35 eighth line")
def _(a):
    return ((a.c(p, i), a.c(p + 1, i) - Z @ hat(a.zP(p, i)) @ hat(a.U(i)) @ Z) for p, i in _beyond(a))


@printed("35 eighth line")
def _(a):  # the first z that of joint p
    return ((a.c(p, i), a.c(p + 1, i) - a.z(p, i) @ hat(a.zP(p, i)) @ hat(a.U(i)) @ Z) for p, i in _beyond(a))


@corrected("35 eighth line")
def _(a):
    return ((a.c(p, i), a.c(p + 1, i) + Z @ hat(a.zP(p, i)) @ hat(a.U(i)) @ Z) for p, i in _beyond(a))


# Appendix I. Revolute arms.


@printed("A-1 and A-2")
def _(a):
    for i, p in pairs(a) if all_revolute(a) else ():
        for j in range(p, a.N + 1):
            yield a.derivative(lambda x, i=i, j=j: x.R(i, j), p), a.R(i, p) @ hat(Z) @ a.R(p, j)


def _arm_rate(a: Arm, right) -> Iterator[Pair]:
    for i, p in pairs(a) if all_revolute(a) else ():
        for k in range(p, a.N + 1):
            yield a.derivative(lambda x, i=i, k=k: x.L(i, k, i), p), right(i, p, k)


@printed("A-3 last line, left part")
def _(a):  # the sum to k - 1; what it is to be a sum of is taken as the matrix times P_{m+1}
    def right(i, p, k):
        turn = a.R(i, p) @ hat(Z)
        return sum((turn @ a.R(p, m + 1) @ a.P(m + 1) for m in range(p, k)), turn @ a.R(p, k) @ a.r(k))

    return _arm_rate(a, right)


@corrected("A-3 last line, left part")
def _(a):
    def right(i, p, k):
        turn = a.R(i, p) @ hat(Z)
        return sum((turn @ a.R(p, m) @ a.P(m + 1) for m in range(p, k)), turn @ a.R(p, k) @ a.r(k))

    return _arm_rate(a, right)


@printed("A-3 last line, right part")
def _(a):
    return _arm_rate(a, lambda i, p, k: a.R(i, p) @ np.cross(Z, a.L(p, k, p)))


@printed("A-4")
def _(a):
    for j, k in pairs(a) if all_revolute(a) else ():
        yield a.derivative(lambda x, j=j: x.U(j), k), a.zU(k, j)
