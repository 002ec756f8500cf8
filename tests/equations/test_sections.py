"""Whatever a robot's symbols are called, what is printed can be read in one way, and that is the model."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

import emdeg
from emdeg.algebra import Exact
from emdeg.documents import WRITERS, Document, Equation, Item, Paragraph, Section, Table
from emdeg.dynamics.kane import joint_rates
from emdeg.equations import Model, write
from emdeg.reports import ShadedEntries, Subject
from emdeg.reports.equations_part import equations as equations_of_page
from emdeg.reports.kane import describe
from emdeg.reports.kane_pages import kane_document
from emdeg.robot import substitute
from tests.equations import printed

HOSTILE = """
I1 I2 G1 G2 Im1 Im2 C23 C2 S2 SS2 SC23 c2 s1 c1 s_1 c_2 C_2 T1 V1 K1 K2 M11 M12 b112 c12 c21 g1 g2 g M C J T m2 m_2 m__2
Ixx2 Ixx_2 q_1 q_2 qd_1 lambda E I S N Q O beta sin cos Matrix Symbol Rational Io1 Go1 Mo11 S2m3 tau e1
""".split()  # noqa: SIM905
ARM = """schema = 1
name = "arm"
convention = "modified"
gravity = ["{0}", 0, "{1}"]
[[link]]
name = "first"
joint = {{ name = "j1", type = "revolute", alpha = "90 deg" }}
inertia = {{ about = "com", mass = "{2}", com = ["{3}", 0, 0], Izz = "{4}" }}
drive = {{ inertia = "{5}" }}
[[link]]
name = "second"
joint = {{ name = "j2", type = "{13}", alpha = {14}, a = "{6}" }}
inertia = {{ about = "com", mass = "{7}", com = ["{8}", "{9}", 0], Izz = "{10}" }}
[[link]]
name = "third"
joint = {{ name = "j3", type = "revolute", alpha = {15}, a = "{11}" }}
inertia = {{ about = "com", mass = "{12}", com = [0.125, 0, 0], Izz = 0.01 }}
"""


def hostile(seed: int, tmp_path) -> Model:
    chosen = random.Random(seed).sample(HOSTILE, 13)
    kind = ("revolute", "0", "0") if seed % 3 else ("prismatic", '"90 deg"', '"-90 deg"')
    file = tmp_path / "arm.toml"
    file.write_text(ARM.format(*chosen, *kind))
    return emdeg.derive(file)


def numbers_of(model: Model) -> dict:
    known = (model.general or model).known.items()
    return {sympy.Symbol(n, real=True): sympy.Rational(v.value.numerator, v.value.denominator) for n, v in known}


def agrees(model: Model, found: dict[str, sympy.Expr]) -> None:
    """Every entry, by its value in the robot's own letters, exactly."""
    known = (model.general or model).known
    numbers = {
        sympy.Symbol(n, real=True): sympy.Rational(v.value.numerator, v.value.denominator) for n, v in known.items()
    }
    for name, value in model.entries(["M", "g"]).items():
        assert model.algebra.from_sympy(sympy.expand(found[name].subs(numbers))) == value, name


READERS = {
    "text": (printed.text_equations, False),
    "latex": (printed.latex_equations, True),
    "markdown": (printed.latex_equations, True),
    "mathml": (printed.mathml_equations, True),
}


def entries(defined: dict[tuple[str, str], sympy.Expr], model: Model) -> dict[str, sympy.Expr]:
    """Entry -> what was printed for it, whatever letter of ours stood there."""
    found = {}
    for (head, tail), value in defined.items():
        letters = "".join(c for c in head if c.isalpha())
        number = (head[len(letters) :] + tail).replace(",", "")
        if letters.rstrip("o") in ("M", "g"):
            found[letters.rstrip("o") + number] = value
    return found


@pytest.mark.parametrize("parts", [("constants", "M", "g"), ("M", "g")])
@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_what_was_printed_reads_as_the_model(seed, form, parts, tmp_path):
    model = hostile(seed, tmp_path)
    read, typeset = READERS[form]
    page = write(model, form, parts)
    defined = printed.definitions(read(page), printed.names_of(model, page, typeset))
    agrees(model, entries(defined, model))


@pytest.mark.parametrize("seed", [0, 1, 7, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_the_reports_equations_read_as_the_model(seed, tmp_path):
    """A page's MathML and its LaTeX, parsed back: constants by their formulas, entries by their terms."""
    model = hostile(seed, tmp_path)
    section = equations_of_page(Subject(model.robot), "arm").section
    legend = " ".join(item.text for item in section.items if isinstance(item, Paragraph))
    items: list[Item] = []
    for item in section.items:
        if isinstance(item, Table):
            at = item.head.index("constant"), item.head.index("formula")
            items += [Equation(row[at[0]], row[at[1]]) for row in item.rows if row[at[1]] != ""]
        items += [one for folded in item.plain for one in folded.items] if isinstance(item, ShadedEntries) else []
    document = Document("page", (Section("equations", "page", tuple(items)),))
    for form in ("latex", "mathml"):
        page = WRITERS[form](document)
        names = printed.names_of(model, legend + page, True)
        agrees(model, entries(printed.definitions(READERS[form][0](page), names), model))


@pytest.mark.parametrize("parts", [("constants", "M", "b", "c", "g", "hierarchy"), ("M", "b", "c", "g")])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_the_sympy_program_defines_the_model(seed, parts, tmp_path):
    model = hostile(seed, tmp_path)
    space: dict = {}
    exec(write(model, "sympy", parts), space)
    M, b, c, g = (space[name] for name in "Mbcg")
    assert (M.shape, b.shape, c.shape, g.shape) == ((3, 3), (3, 3), (3, 3), (3, 1))
    found = {f"M{i + 1}{j + 1}": M[i, j] for i in range(3) for j in range(i, 3)}
    agrees(model, found | {f"g{i + 1}": g[i] for i in range(3)})
    pairs = [(1, 2), (1, 3), (2, 3)]
    known = (model.general or model).known
    numbers = {
        sympy.Symbol(n, real=True): sympy.Rational(v.value.numerator, v.value.denominator) for n, v in known.items()
    }
    for i in range(3):
        for k, (j, m) in enumerate(pairs):
            assert model.algebra.from_sympy(sympy.expand(b[i, k].subs(numbers))) == model.b(i + 1, j, m)
        for j in range(3):
            assert model.algebra.from_sympy(sympy.expand(c[i, j].subs(numbers))) == model.c(i + 1, j + 1)


def test_the_sympy_program_has_constant_angles_as_angles(tmp_path):
    """A twist of 17 degrees stands in the constants: as it stands the program runs, and M is the arm's."""
    names = ["g", "h", "m1", "x1", "Iz1", "Ja", "l1", "m2", "x2", "y2", "Iz2", "l2", "m3"]
    file = tmp_path / "arm.toml"
    file.write_text(ARM.format(*names, "revolute", '"17 deg"', '"-29 deg"'))
    space: dict = {}
    exec(write(emdeg.derive(file), "sympy"), space)
    values = {name: Fraction(k + 3, 10) for k, name in enumerate(names)}
    q = {"q1": 0.3, "q2": -0.4, "q3": 0.7}
    at = {sympy.Symbol(name, real=True): sympy.Rational(str(value)) for name, value in {**values, **q}.items()}
    robot = emdeg.load(file)
    numeric = substitute(robot, {name: Exact.of(value) for name, value in values.items() if name in robot.symbols})
    M = np.array(space["M"].subs(at).evalf(), dtype=float)
    np.testing.assert_allclose(M, emdeg.mass_matrix(numeric, [*q.values()]), rtol=1e-12)


def test_other_letters_are_told_in_the_legend(tmp_path):
    file = tmp_path / "arm.toml"
    names = ["g", "g1", "I1", "c2", "C23", "Im1", "M11", "m2", "m_2", "G1", "T1", "S2", "K1", "revolute", "0", "0"]
    file.write_text(ARM.format(*names))
    page = write(emdeg.derive(file))
    assert "Mo stands for M" in page
    assert "Io stands for I" in page
    assert "Sines and cosines are written out" in page
    assert "m_2 stand letter by letter" in page
    assert "stands for" not in write(emdeg.derive("puma560"))


def test_transforms_and_jacobians_have_sines_of_sums():
    page = write(emdeg.derive("puma560"), parts=["T", "J"])
    assert "0.4331*C23 + 0.0203*S23 - 0.4318*S2" in page
    assert "S2m3 = sin(q2 - q3)" in page
    read = printed.text_equations(page.replace("  [1,4] = ", "T14 = "))
    model = emdeg.derive("puma560")
    defined = printed.definitions(((k, f) for k, f in read if k == ("T14", "")), printed.names_of(model, page, False))
    assert model.algebra.from_sympy(sympy.expand(defined["T14", ""])) == model.kinematics.transform("tool")[0][3]


def test_kanes_partial_velocities_tell_a_cosine_from_a_length(tmp_path):
    """c2 is where the fore's mass centre is; its partial velocities have the cosine of q2 and no such length."""
    file = tmp_path / "arm.toml"
    names = ["g", "h", "m1", "c1", "I1", "Ia", "l1", "m2", "c2", "e2", "I2", "l2", "m3", "revolute", "0", "0"]
    file.write_text(ARM.format(*names))
    robot = emdeg.load(file)
    found = describe(robot, joint_rates(robot), ("partials", "equations"))
    page = WRITERS["latex"](kane_document(found))
    assert r"\cos(q_{2})" in page
    assert "c_{2}" in page
    assert "s_{2}" not in page


def test_singularities_and_determinants_have_sines_of_sums():
    text = write(emdeg.derive("puma560_symbolic"), parts=["singularities"])
    assert "sigma1 = a3*C23 + d4*S23 + a2*C2" in text
    assert "C23 = cos(q2 + q3)" in text
    assert "detJ_2 = a3*C23 + d4*S23 + a2*C2" in write(emdeg.derive("puma560_symbolic"), parts=["Jinv"])


def test_a_legend_tells_the_joints_whose_names_are_not_their_variables():
    """The Stanford Arm's third joint is called q6, as in the paper, and its variable q3."""
    text = write(emdeg.derive("stanford_arm"), parts=["singularities"])
    assert "q3 of joint q6" in text
    assert "of q3 (it divides the determinant 2 times); at q3 = -0.6 m" in text
    assert "of joint" not in write(emdeg.derive("puma560"), parts=["g"])
