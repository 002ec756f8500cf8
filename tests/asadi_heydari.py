"""Asadi and Heydari's Delta as they print it: equations (1)-(42), steps 1 to 7, over any scalar.

Misprints are corrected where a formula would otherwise have no meaning: m_B in (40) is m_A; J-dot in step 4 is from
(12). M_K is the appendix's m_K, the mass of a pair of forearms; m_K is the point mass at their centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra import Angle
from emdeg.algebra.linear import solve_system

DATA = {
    "r_b": "0.2",
    "r_a": "0.2",
    "l_L": "0.2",
    "r_L": "0.3933",
    "l_K": "0.52",
    "r_K": "0.5",
    "I_K": "0.00574769459",
    "I_L": "0.00064345319",
    "I_mo": "0.0465475",
    "M_K": "0.11576",
    "m_L": "0.116",
    "m_P": "1.055",
}
PHI = (Angle.parse("pi"), -Angle.parse("pi/3"), Angle.parse("pi/3"))


@dataclass
class Steps:
    """What the seven steps yield."""

    q: list[Any]
    J: list[Any]
    J_rate: list[Any]
    M: list[Any]
    C: list[Any]
    G: list[Any]


def three_masses(I_K: Fraction, M_K: Fraction, r: Fraction, l: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """(22) solved by elimination, not from its closed form."""
    m_C = I_K / (r**2 * l**2 + (r / (1 - r)) * (1 - r) ** 2 * l**2)
    m_A = r / (1 - r) * m_C
    return m_C, m_A, M_K - m_C - m_A


def matmul(A, B):
    return [[_sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def transpose(A):
    return [list(row) for row in zip(*A)]


def add(*matrices):
    return [[_sum(entries) for entries in zip(*rows)] for rows in zip(*matrices)]


def scaled(k, A):
    return [[k * a for a in row] for row in A]


def _sum(values):
    values = list(values)
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def procedure(algebra, X, Xd, root, *, lumped: bool = False) -> Steps:
    """Steps 1-6; `root` is the square root; z up, the platform below the base, elbows out."""
    d = {key: Fraction(text) for key, text in DATA.items()}
    if lumped:
        d["I_K"] = d["M_K"] * d["l_K"] ** 2 / 4

    def n(value):
        return algebra.number(Fraction(value))

    zero, one = n(0), n(1)
    m_C, m_A, m_K = three_masses(d["I_K"], d["M_K"], d["r_K"], d["l_K"])
    l, r_K, r_L = d["l_L"], d["r_K"], d["r_L"]
    g = [[zero], [zero], [n("-9.81")]]
    S1 = [[zero, zero, zero], [zero, zero, -one], [zero, one, zero]]
    R, O, U, T, S1O, q = [], [], [], [], [], []
    for phi in PHI:
        s, c = algebra.sincos(phi)
        R.append([[c, -s, zero], [s, c, zero], [zero, zero, one]])
        # step 1: |X - R((Rb - Ra) + O L)|^2 = l_K^2, one quadratic a leg
        p = transpose(matmul(transpose(R[-1]), [[x] for x in X]))[0]
        y, z = p[1] - n(d["r_b"] - d["r_a"]), p[2]
        k = (p[0] * p[0] + y * y + z * z + n(l**2 - d["l_K"] ** 2)) * n(1 / (2 * l))
        w = y * y + z * z
        h = root(w - k * k)
        co, si = (k * y - h * z) / w, (k * z + h * y) / w
        q.append((si, co))
        O.append([[one, zero, zero], [zero, co, -si], [zero, si, co]])
        L = [[zero], [n(l)], [zero]]
        arm = matmul(R[-1], add([[zero], [n(d["r_b"] - d["r_a"])], [zero]], matmul(O[-1], L)))
        U.append([[x - a[0]] for x, a in zip(X, arm)])  # (4)
        S1O.append(matmul(S1, O[-1]))
        T.append(matmul(R[-1], matmul(S1O[-1], L)))  # after (7)
    per = [one / matmul(transpose(u), t)[0][0] for u, t in zip(U, T)]
    J = [[k * u[0] for u in col] for k, col in zip(per, U)]  # (9)
    qd = [row[0] for row in matmul(J, [[v] for v in Xd])]  # step 3
    J_rate = []
    for i in range(3):  # (12)
        Ud = [[v - t[0] * qd[i]] for v, t in zip(Xd, T[i])]
        Td = scaled(qd[i], matmul(R[i], matmul(S1, matmul(S1O[i], [[zero], [n(l)], [zero]]))))
        bent = matmul(transpose(Ud), T[i])[0][0] + matmul(transpose(U[i]), Td)[0][0]
        J_rate.append([per[i] * (u[0] - bent * j) for u, j in zip(Ud, J[i])])
    I3 = [[one if i == j else zero for j in range(3)] for i in range(3)]
    inertia = n(d["I_mo"] + d["I_L"])
    M = add(scaled(inertia, matmul(transpose(J), J)), scaled(n(d["m_P"] + 3 * m_A), I3))
    C = scaled(inertia, matmul(transpose(J), J_rate))
    G = scaled(n(-(d["m_P"] + 3 * m_A)), g)
    for i in range(3):
        row = [[zero] * 3, [zero] * 3, J[i]]
        OR = matmul(transpose(O[i]), transpose(R[i]))
        J_L, J_C = scaled(n(r_L * l), row), scaled(n(l), row)  # (19), (21)
        J_K = add(scaled(n((1 - r_K) * l), row), scaled(n(r_K), OR))  # (20)
        weights = add(
            scaled(n(m_C * l), transpose(J_C)),
            scaled(n(d["m_L"] * r_L * l), transpose(J_L)),
            scaled(n(m_K * (1 - r_K) * l), transpose(J_K)),
        )
        M = add(M, scaled(n(m_K * r_K), matmul(transpose(J_K), OR)), matmul(weights, row))  # (40)
        turning = [[zero] * 3, [-(qd[i] * j) for j in J[i]], J_rate[i]]  # Xd^T J_i^T is qd_i
        C = add(C, matmul(weights, turning))  # (41)
        pull = add(scaled(n(m_C), transpose(J_C)), scaled(n(d["m_L"]), transpose(J_L)), scaled(n(m_K), transpose(J_K)))
        G = add(G, scaled(-one, matmul(matmul(pull, OR), g)))  # (42)
    return Steps(q, J, J_rate, M, C, [row[0] for row in G])


def torques(algebra, X, Xd, Xdd, root, *, lumped: bool = False):
    """Step 7: tau from (39) without external force and friction."""
    steps = procedure(algebra, X, Xd, root, lumped=lumped)
    force = add(matmul(steps.M, [[a] for a in Xdd]), matmul(steps.C, [[v] for v in Xd]), [[g] for g in steps.G])
    return [x[0] for x in solve_system(transpose(steps.J), force, algebra)]
