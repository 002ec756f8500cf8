"""Writes examples/judged/asadi_heydari.toml: the Delta's equations (1) to (42), their matrices multiplied out.

python examples/make_judged_delta.py
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).parent / "judged" / "asadi_heydari.toml"
X = "xyz"
HEAD = """\
# F. Asadi, A. Heydari, Analytical dynamic modeling of Delta robot with experimental verification, Proc IMechE Part K
# 234(3), 2020, (1) to (42) and appendix, multiplied out by examples/make_judged_delta.py. Misprints stand as printed;
# `correct` is what first principles give (docs/errata/asadi_heydari.md). z points up here, so gravity is negative.
# As printed m_B is defined nowhere, and m_K is the whole leg's mass instead of what (22) leaves at its centre.
schema = 1
title = "The Delta robot's explicit equations"
source = "Asadi and Heydari 2020, (40) to (42)"
robot = "delta"

[constants]
r_b = 0.2
r_a = 0.2
l_L = 0.2
r_L = 0.3933
l_K = 0.52
r_K = 0.5
I_K = 5.74769459e-3
I_L = 6.4345319e-4
I_mo = 0.0465475
M_K = "2*0.05788"
m_L = 0.116
m_P = 1.055
g = -9.81
m_C = "I_K/(r_K*l_K^2)"                   # (22) solved
m_A = "I_K/((1 - r_K)*l_K^2)"
m_K = { printed = "2*0.05788", correct = "M_K - m_C - m_A" }
m_B = { correct = "m_A" }
I = "I_mo + I_L"
"""
PHI = {1: "pi", 2: "-pi/3", 3: "pi/3"}


def leg(i: int) -> dict[str, str]:
    """U, T, J and J-dot of one leg, (4) to (12); rows of O^T R^T; J_K of (20) and the weights of (40), (41)."""
    names = {
        f"sf{i}": f"sin({PHI[i]})",
        f"cf{i}": f"cos({PHI[i]})",
        f"s{i}": f"sin(q{i})",
        f"c{i}": f"cos(q{i})",
        f"U{i}x": f"x + sf{i}*(r_b - r_a + l_L*c{i})",
        f"U{i}y": f"y - cf{i}*(r_b - r_a + l_L*c{i})",
        f"U{i}z": f"z - l_L*s{i}",
        f"T{i}x": f"l_L*sf{i}*s{i}",
        f"T{i}y": f"-l_L*cf{i}*s{i}",
        f"T{i}z": f"l_L*c{i}",
        f"UT{i}": " + ".join(f"U{i}{a}*T{i}{a}" for a in X),
        **{f"J{i}{a}": f"U{i}{a}/UT{i}" for a in X},
        f"v{i}": " + ".join(f"J{i}{a}*qd_{a}" for a in X),
        **{f"Ud{i}{a}": f"qd_{a} - T{i}{a}*v{i}" for a in X},
        f"Td{i}x": f"l_L*sf{i}*c{i}*v{i}",
        f"Td{i}y": f"-l_L*cf{i}*c{i}*v{i}",
        f"Td{i}z": f"-l_L*s{i}*v{i}",
        f"UTd{i}": " + ".join(f"Ud{i}{a}*T{i}{a} + U{i}{a}*Td{i}{a}" for a in X),
        **{f"Jd{i}{a}": f"(Ud{i}{a} - UTd{i}*J{i}{a})/UT{i}" for a in X},
    }
    rows = (
        (f"cf{i}", f"sf{i}", "0"),
        (f"-sf{i}*c{i}", f"cf{i}*c{i}", f"s{i}"),
        (f"sf{i}*s{i}", f"-cf{i}*s{i}", f"c{i}"),
    )
    for r, row in enumerate(rows, 1):
        names |= {f"OR{i}{r}{a}": text for a, text in zip(X, row)}
        names |= {f"JK{i}{r}{a}": f"r_K*OR{i}{r}{a}" + (f" + (1 - r_K)*l_L*J{i}{a}" if r == 3 else "") for a in X}
    names |= {f"W{i}2{a}": f"m_K*(1 - r_K)*l_L*JK{i}2{a}" for a in X}
    names |= {f"W{i}3{a}": f"m_C*l_L*l_L*J{i}{a} + m_L*(r_L*l_L)^2*J{i}{a} + m_K*(1 - r_K)*l_L*JK{i}3{a}" for a in X}
    return names


def mass(a: str, b: str) -> str:
    """An entry of (40)."""
    parts = [f"I*({' + '.join(f'J{i}{a}*J{i}{b}' for i in PHI)})"]
    parts += ["m_P + 3*m_B"] if a == b else []
    parts += [f"m_K*r_K*({' + '.join(f'JK{i}{r}{a}*OR{i}{r}{b}' for r in (1, 2, 3))})" for i in PHI]
    parts += [f"W{i}3{a}*J{i}{b}" for i in PHI]
    return " + ".join(parts)


def coriolis(a: str, b: str) -> str:
    """An entry of (41)."""
    parts = [f"I*({' + '.join(f'J{i}{a}*Jd{i}{b}' for i in PHI)})"]
    parts += [f"W{i}3{a}*Jd{i}{b} - W{i}2{a}*v{i}*J{i}{b}" for i in PHI]
    return " + ".join(parts)


def gravity(a: str) -> str:
    """An entry of (42)."""
    parts = ["-(m_P + 3*m_A)*g"] if a == "z" else []
    for i in PHI:
        parts += [f"-m_K*JK{i}{r}{a}*OR{i}{r}z*g" for r in (1, 2)]
        parts += [f"-(m_C*l_L*J{i}{a} + m_L*r_L*l_L*J{i}{a} + m_K*JK{i}3{a})*OR{i}3z*g"]
    return " + ".join(parts).replace("+ -", "- ").replace("- (", "-(")


def text() -> str:
    """The file."""
    lines = [HEAD, "[define]"]
    for i in PHI:
        lines += [f'{name} = "{value}"' for name, value in leg(i).items()] + [""]
    lines.append("[entries]")
    lines += [f'M{j}{k} = "{mass(X[j - 1], X[k - 1])}"' for j in (1, 2, 3) for k in range(j, 4)]
    lines += [f'C{j}{k} = "{coriolis(X[j - 1], X[k - 1])}"' for j in (1, 2, 3) for k in (1, 2, 3)]
    lines += [f'g{j} = "{gravity(X[j - 1])}"' for j in (1, 2, 3)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
