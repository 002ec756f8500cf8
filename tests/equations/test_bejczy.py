"""Bejczy's explicit equations (28)-(68) for the JPL arm, misprints corrected: equal as formulas, not as numbers."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.formulations.lagrange_uicker import first_derivatives, pseudo_inertias
from emdeg.equations import derive

HALF = Fraction(1, 2)
MASS = {1: "9.29", 2: "5.505", 3: "4.25", 4: "1.08", 5: "0.63", 6: "0.51"}
MOMENT = {
    1: ("0.276", "0.255", "0.071"),
    2: ("0.108", "0.018", "0.1"),
    3: ("2.51", "2.51", "0.006"),
    4: ("0.002", "0.001", "0.001"),
    5: ("0.003", "0.003", "0.0004"),
    6: ("0.005", "0.005", "0.0003"),
}
"""m k_11^2, m k_22^2, m k_33^2 of Appendix B, about each link frame's origin."""


@pytest.fixture(scope="module")
def arm():
    """The model and, in its algebra, the letters of the paper: s2, c2, r3, m_i, K[i, jj] = m_i k_ijj^2."""
    model = derive(emdeg.load("jpl_rrp"))
    pairs = {i: model.algebra.joint_sincos(i) for i in (1, 2, 4, 5, 6)}
    return SimpleNamespace(
        model=model,
        s={i: pair[0] for i, pair in pairs.items()},
        c={i: pair[1] for i, pair in pairs.items()},
        r2=Fraction("0.162"),
        r3=model.algebra.displacement(3),
        r6=Fraction("0.2476"),
        m={i: Fraction(text) for i, text in MASS.items()},
        K={(i, 11 * (k + 1)): Fraction(text) for i, texts in MOMENT.items() for k, text in enumerate(texts)},
        y2=Fraction("-0.1054"),
        z2=Fraction("-0.0079"),
        z3=Fraction("-0.6447"),
        y4=Fraction("0.0092"),
        z4=Fraction("-0.0054"),
        z5=Fraction("0.0566"),
        z6=Fraction("-0.0922"),
        g=Fraction("9.81"),
    )


RESTRICTED = """
schema = 1
name = "first_three_links"
convention = "standard"

[[link]]
name = "post"
joint = { name = "t1", type = "revolute", theta = 0, d = 0, a = 0, alpha = "-90 deg" }
inertia = { about = "frame", mass = "m1", com = [0, "y1", "z1"], XX = "K111", YY = "K122", ZZ = "K133" }

[[link]]
name = "shoulder"
joint = { name = "t2", type = "revolute", theta = 0, d = "r2", a = 0, alpha = "90 deg" }
inertia = { about = "frame", mass = "m2", com = [0, "y2", "z2"], XX = "K211", YY = "K222", ZZ = "K233" }

[[link]]
name = "boom"
joint = { name = "r3", type = "prismatic", theta = "-90 deg", d = 0, a = 0, alpha = 0 }
inertia = { about = "frame", mass = "m3", com = [0, 0, "z3"], XX = "K311", YY = "K322", ZZ = "K333" }
"""
"""The model of the first three joints, the wrist part of the boom: K322 is the paper's m3* k*322^2."""


@pytest.fixture(scope="module")
def restricted(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "first_three_links.toml"
    file.write_text(RESTRICTED)
    return derive(emdeg.load(file))


def test_restricted_gravity_29_to_33(restricted):
    """With the sign of a torque that holds the arm: the printed D_i are -dV/dq_i."""
    algebra = restricted.algebra
    s2, c2 = algebra.joint_sincos(2)
    r3, g = algebra.displacement(3), Fraction("9.81")
    m2, z2, m3, z3 = map(algebra.symbol, ("m2", "z2", "m3", "z3"))
    D2 = g * (m2 * z2 + m3 * (z3 + r3)) * s2
    D3 = -g * m3 * c2
    assert restricted.g == (0, -D2, -D3)


def test_restricted_inertias_36_to_38_and_couplings_42_to_44(restricted):
    algebra = restricted.algebra
    s2, c2 = algebra.joint_sincos(2)
    r3 = algebra.displacement(3)
    r2, m2, y2, z2, m3, z3 = map(algebra.symbol, ("r2", "m2", "y2", "z2", "m3", "z3"))
    K122, K211, K222, K233, K311, K322, K333 = (algebra.symbol(f"K{k}") for k in (122, 211, 222, 233, 311, 322, 333))
    D11 = (
        K122
        + K211 * s2 * s2
        + K233 * c2 * c2
        + m2 * r2 * (2 * y2 + r2)
        + K322 * s2 * s2
        + K333 * c2 * c2
        + m3 * (r3 * s2 * s2 * (2 * z3 + r3) + r2 * r2)
    )
    D22 = K222 + K311 + m3 * r3 * (2 * z3 + r3)
    D12 = -(m2 * z2 * r2 + m3 * r2 * (z3 + r3)) * c2
    D13 = -m3 * r2 * s2
    assert restricted.M_links == ((D11, D12, D13), (D12, D22, 0), (D13, 0, m3))


@pytest.mark.parametrize("which", ["restricted", "arm"])
def test_the_defining_sums_28_to_35_39_to_41_45_47_57_59(which, request):
    """D_i = sum_j m_j G U_ji p_j and D_ij = sum_k Tr(U_kj J_k U_ki^T): both kinds of the paper's definitions."""
    found = request.getfixturevalue(which)
    model = found if which == "restricted" else found.model
    mech, frame = model.kinematics.mechanism, model.kinematics.frames
    U, J = first_derivatives(mech, frame), pseudo_inertias(mech)
    zero = model.algebra.zero
    gravity = Fraction("9.81")
    for i in range(model.n):
        D = sum((-gravity * U[j, i][2][a] * J[j][a][3] for j in range(i, model.n) for a in range(4)), zero)
        assert model.g[i] == -D
        for j in range(i, model.n):
            trace = zero
            for k in range(j, model.n):
                for row in range(3):
                    for a in range(4):
                        for b in range(4):
                            trace = trace + U[k, j][row][a] * J[k][a][b] * U[k, i][row][b]
            assert model.M_links[i][j] == trace


def test_gravity_48_to_56(arm):
    """With the sign of a torque that holds the arm: the printed D_i are -dV/dq_i."""
    s, c, m, r3, r6 = arm.s, arm.c, arm.m, arm.r3, arm.r6
    D2 = arm.g * (
        m[2] * arm.z2 * s[2]
        + m[3] * (arm.z3 + r3) * s[2]
        + m[4] * (r3 * s[2] - arm.y4 * s[2] + arm.z4 * c[2] * c[4])
        + m[5] * (arm.z5 * (s[2] * c[5] + c[2] * s[4] * s[5]) + r3 * s[2])
        + m[6] * ((arm.z6 + r6) * (c[2] * s[4] * s[5] + s[2] * c[5]) + r3 * s[2])
    )
    D3 = -arm.g * (m[3] + m[4] + m[5] + m[6]) * c[2]
    D4 = arm.g * (-m[4] * arm.z4 * s[4] + m[5] * arm.z5 * c[4] * s[5] + m[6] * (arm.z6 + r6) * c[4] * s[5]) * s[2]
    D5 = arm.g * (m[5] * arm.z5 + m[6] * (arm.z6 + r6)) * (s[2] * s[4] * c[5] + c[2] * s[5])
    assert arm.model.g == (0, -D2, -D3, -D4, -D5, 0)


def test_inertia_58_of_joint_1(arm):
    s, c, m, K, r2, r3, r6 = arm.s, arm.c, arm.m, arm.K, arm.r2, arm.r3, arm.r6
    ss2 = s[2] * s[2]
    link4 = (
        K[4, 11] * ss2 * s[4] * s[4]
        + HALF * K[4, 22] * (1 + c[2] * c[2] - ss2)
        + HALF * K[4, 33] * (ss2 * (1 - 2 * s[4] * s[4]) + ss2)
        + m[4] * (r3 * r3 * ss2 + r2 * r2 - 2 * arm.y4 * r3 * ss2 + 2 * arm.z4 * (r2 * s[4] + r3 * s[2] * c[2] * c[4]))
    )
    link5 = (
        HALF * (-K[5, 11] + K[5, 22] + K[5, 33]) * ((s[2] * s[5] - c[2] * s[4] * c[5]) ** 2 + (c[4] * c[5]) ** 2)
        + HALF * (K[5, 11] - K[5, 22] + K[5, 33]) * (s[4] ** 2 + (c[2] * c[4]) ** 2)
        + HALF * (K[5, 11] + K[5, 22] - K[5, 33]) * ((s[2] * c[5] + c[2] * s[4] * s[5]) ** 2 + (c[4] * s[5]) ** 2)
        + m[5] * (r3 * r3 * ss2 + r2 * r2)
        + 2 * m[5] * arm.z5 * (r3 * (ss2 * c[5] + s[2] * c[2] * s[4] * s[5]) - r2 * c[4] * s[5])
    )
    x6 = (s[2] * s[5] * c[6] - c[2] * s[4] * c[5] * c[6] - c[2] * c[4] * s[6]) ** 2 + (
        c[4] * c[5] * c[6] - s[4] * s[6]
    ) ** 2
    y6 = (c[2] * s[4] * c[5] * s[6] - s[2] * s[5] * s[6] - c[2] * c[4] * c[6]) ** 2 + (
        c[4] * c[5] * s[6] + s[4] * c[6]
    ) ** 2
    z6 = (c[2] * s[4] * s[5] + s[2] * c[5]) ** 2 + (c[4] * s[5]) ** 2
    link6 = (
        HALF * (-K[6, 11] + K[6, 22] + K[6, 33]) * x6
        + HALF * (K[6, 11] - K[6, 22] + K[6, 33]) * y6
        + HALF * (K[6, 11] + K[6, 22] - K[6, 33]) * z6
        + m[6] * ((r6 * c[2] * s[4] * s[5] + (r6 * c[5] + r3) * s[2]) ** 2 + (r6 * c[4] * s[5] - r2) ** 2)
        + 2 * m[6] * arm.z6 * (r6 * z6 + r3 * (s[2] * c[2] * s[4] * s[5] + ss2 * c[5]) - r2 * c[4] * s[5])
    )
    D11 = (
        K[1, 22]
        + K[2, 11] * ss2
        + K[2, 33] * c[2] * c[2]
        + m[2] * r2 * (2 * arm.y2 + r2)
        + K[3, 22] * ss2
        + K[3, 33] * c[2] * c[2]
        + m[3] * (r3 * (2 * arm.z3 + r3) * ss2 + r2 * r2)
        + link4
        + link5
        + link6
    )
    assert arm.model.M_links[0][0] == D11


def test_inertia_60_of_joint_2(arm):
    s, c, m, K, r3, r6 = arm.s, arm.c, arm.m, arm.K, arm.r3, arm.r6
    turn = (s[4] * c[5]) ** 2 + s[5] ** 2 - c[4] ** 2
    mixed = 4 * s[4] * c[4] * s[6] * c[6]
    link6 = (
        HALF * K[6, 11] * ((s[6] ** 2 - c[6] ** 2) * turn + c[5] * (c[5] - mixed) + (s[4] * s[5]) ** 2)
        + HALF * K[6, 22] * ((c[6] ** 2 - s[6] ** 2) * turn + c[5] * (c[5] + mixed) + (s[4] * s[5]) ** 2)
        + K[6, 33] * (c[4] * s[5]) ** 2
        + m[6] * (r3 * (2 * r6 * c[5] + r3) + r6 * r6 * ((s[4] * s[5]) ** 2 + c[5] ** 2))
        + 2 * m[6] * arm.z6 * ((r3 + r6 * c[5]) * c[5] + r6 * (s[4] * s[5]) ** 2)
    )
    D22 = (
        K[2, 22]
        + K[3, 11]
        + m[3] * r3 * (2 * arm.z3 + r3)
        + K[4, 11] * c[4] ** 2
        + K[4, 33] * s[4] ** 2
        + m[4] * r3 * (r3 - 2 * arm.y4)
        + K[5, 11] * (c[4] * c[5]) ** 2
        + K[5, 22] * s[4] ** 2
        + K[5, 33] * (c[4] * s[5]) ** 2
        + m[5] * r3 * (r3 + 2 * arm.z5 * c[5])
        + link6
    )
    assert arm.model.M_links[1][1] == D22


def test_inertias_62_to_68_of_joints_3_to_6(arm):
    s, c, m, K, r6 = arm.s, arm.c, arm.m, arm.K, arm.r6
    reach = m[6] * r6 * (2 * arm.z6 + r6)
    D44 = (
        K[4, 22]
        + K[5, 11] * s[5] ** 2
        + K[5, 33] * c[5] ** 2
        + K[6, 11] * (s[5] * c[6]) ** 2
        + K[6, 22] * (s[5] * s[6]) ** 2
        + K[6, 33] * c[5] ** 2
        + reach * s[5] ** 2
    )
    D55 = K[5, 22] + K[6, 11] * s[6] ** 2 + K[6, 22] * c[6] ** 2 + reach
    assert arm.model.M_links[2][2] == m[3] + m[4] + m[5] + m[6]
    assert arm.model.M_links[3][3] == D44
    assert arm.model.M_links[4][4] == D55
    assert arm.model.M_links[5][5] == K[6, 33]


def test_gravity_at_joint_6_of_a_load_off_the_axis():
    """0.58 N m of the hand with its load, an inch off the axis: not in the pose that section VII.B.6 names."""
    empty, inch = emdeg.load("jpl_rrp"), 0.0254
    hand = float(empty.links[5].inertia.mass) + 1.8
    loaded = emdeg.load("jpl_rrp", payload=f"mass={hand},com={inch}:0:0")
    right = np.pi / 2

    def at_joint_6(theta2, theta5):
        return abs(emdeg.gravity(loaded, [0, theta2, 0.5, right, theta5, right])[5])

    assert hand * 9.81 * inch == pytest.approx(0.58, abs=0.005)
    assert at_joint_6(0, 0) == pytest.approx(0, abs=1e-12)
    assert at_joint_6(0, 0.5) < 0.5 * hand * 9.81 * inch
    assert at_joint_6(0, right) == pytest.approx(hand * 9.81 * inch)
    assert at_joint_6(right, 0) == pytest.approx(hand * 9.81 * inch)


def test_u_matrices_in_standard_frames_are_the_appendix_as_corrected():
    """Entries of Appendix A that are misprinted, as the product of the matrices gives them; rows and columns from 1."""
    from emdeg.documents import MatrixEquation
    from emdeg.equations import document

    model = emdeg.derive(emdeg.load("jpl_rrp"), only="M")
    section = document(model, ["U"], standard=True).sections[0]
    U = {str(item.label): item.rows for item in section.items if isinstance(item, MatrixEquation)}
    a = model.algebra
    (s1, c1), (s2, c2), (s4, c4), (s5, c5), (s6, _) = (a.joint_sincos(k) for k in (1, 2, 4, 5, 6))
    assert U["U_2_1"][0][2] == -s1 * s2
    assert U["U_5_2"][2][2] == -(c2 * s4 * s5 + s2 * c5)
    assert U["U_5_4"][0][1] == -(s1 * c4 + c1 * c2 * s4)
    assert U["U_6_5"][2][1] == -s2 * s4 * s5 * s6 + c2 * c5 * s6


def test_traces_do_not_depend_on_the_frames():
    """D_11 from U and P of standard frames is M11 without its drive."""
    from emdeg.documents import MatrixEquation
    from emdeg.equations import document

    model = emdeg.derive(emdeg.load("jpl_rrp"), only="M")
    section = document(model, ["U"], standard=True).sections[0]
    found = {str(item.label): item.rows for item in section.items if isinstance(item, MatrixEquation)}
    total = model.algebra.zero
    for j in range(1, 7):
        U, P = found[f"U_{j}_1"], found[f"P_{j}"]
        for r in range(3):
            for s in range(4):
                for t in range(4):
                    total = total + U[r][s] * P[s][t] * U[r][t]
    assert total == model.entries(["M"], drives=False)["M11"]
