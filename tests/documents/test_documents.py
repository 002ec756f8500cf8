"""What is written: LaTeX that compiles, XML that parses, SymPy that agrees, text of every part."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import sympy

import emdeg
from emdeg.documents import html, latex, markdown, sympy_form, text
from emdeg.documents.json_form import sections_data
from emdeg.equations import derive
from emdeg.equations.sections import PARTS, document

ALL = tuple(PARTS)


def everything(name="stanford_arm"):
    return document(derive(emdeg.load(name)), ALL)


def test_mathml_is_well_formed_and_has_every_equation():
    page = ElementTree.fromstring(html.write(everything()))
    assert len(page.findall(".//{http://www.w3.org/1998/Math/MathML}math")) > 60


def test_latex_is_balanced_and_escapes_names():
    model = derive(replace(emdeg.load("planar2r"), title=r"50% \input{x} & a_b #1 $ ü"))
    source = latex.write(document(model, ["M", "b", "c", "g", "C", "T"]))
    assert r"50\% \textbackslash{}input\{x\} \& a\_b \#1 \$ ?" in source
    assert source.count(r"\begin{") == source.count(r"\end{")
    assert source.replace(r"\{", "").count("{") == source.replace(r"\}", "").count("}")


HOSTILE = r"""<robot name="50% \input{x} $a_b$ &amp; #1 ^ ~ { \end{document}">
  <link name="base"/>
  <link name="\write18{x} %"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="}}$$"><inertial><origin xyz="0.2 0.05 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a_b^c&amp;" type="revolute"><parent link="base"/><child link="\write18{x} %"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="\\" type="revolute"><parent link="\write18{x} %"/><child link="}}$$"/><origin xyz="0.4 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
"""A URDF file whose names are LaTeX."""
READING = ("constants", "M", "b", "c", "g", "hierarchy")


@pytest.fixture
def hostile(tmp_path):
    file = tmp_path / "hostile.urdf"
    file.write_text(HOSTILE)
    return derive(emdeg.load(file))


def balanced(source: str) -> bool:
    """Environments, braces and brackets of one size opened as often as closed."""
    pairs = [(r"\begin{", r"\end{"), (r"\bigl(", r"\bigr)"), (r"\left(", r"\right)")]
    plain = source.replace(r"\{", "").replace(r"\}", "")
    return all(source.count(a) == source.count(b) for a, b in [*pairs]) and plain.count("{") == plain.count("}")


def test_latex_of_the_reading_form_is_balanced(hostile):
    for model in (derive(emdeg.load("puma560")), derive(emdeg.load("jpl_rrp")), hostile):
        source = latex.write(document(model, READING))
        assert balanced(source)
        assert "write18{" not in source
        assert source.count(r"\end{document}") == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("name", ["puma560", "jpl_rrp", "hostile"])
@pytest.mark.long
def test_latex_compiles(name, tmp_path, hostile):
    model = hostile if name == "hostile" else derive(emdeg.load(name))
    parts = READING if name != "hostile" else (*READING, "C", "T", "U", "J", "relations", "base", "regressor")
    (tmp_path / "model.tex").write_text(latex.write(document(model, parts)))
    command = ["pdflatex", "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "model.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_of_long_formulas_and_matrices_compiles(tmp_path):
    model = derive(emdeg.load("puma560"))
    (tmp_path / "model.tex").write_text(latex.write(document(model, ["M", "g", "T", "J", "Jinv"])))
    command = ["pdflatex", "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "model.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]


def test_sympy_of_the_reading_form_equals_the_formulas_once_the_constants_are_put_in():
    model = derive(emdeg.load("planar2r"))
    found = sympy_form.expressions(document(model, ["constants", "M", "b", "c", "g"]))
    known = {
        sympy.Symbol(name, real=True): sympy.Rational(number.value.numerator, number.value.denominator)
        for name, number in derive(model.robot, symbolic=True).known.items()
    }
    names = {sympy.Symbol(c.name, real=True): found[c.name].subs(known) for c in model.constants}
    aliases = {sympy.Symbol(name): found[name] for name in ("b112",)}
    for name, value in model.entries().items():
        assert model.algebra.from_sympy(sympy.expand(found[name].subs(aliases).subs(names))) == value, name


def test_mathml_of_the_reading_form_parses(hostile):
    for model in (derive(emdeg.load("puma560")), hostile):
        page = ElementTree.fromstring(html.write(document(model, READING)))
        assert len(page.findall(".//{http://www.w3.org/1998/Math/MathML}math")) > 5


def test_constants_decide_between_the_reading_form_and_expanded_formulas():
    model = derive(emdeg.load("puma560"))
    compact = text.write(document(model, ["constants", "M"]))
    assert "I4 = a2*((d3 + d2)*(m3 + m4 + m5 + m6) + m3*rz3) + m2*rx2*(d2 + rz2)" in compact
    assert "M35 = I15*C4*C5 + I17*C4 + I21*S5" in compact
    assert "I12*C2*C23" not in text.write(document(model, ["M"]))


def test_hostile_titles_stay_text_in_markdown_and_mathml():
    model = derive(replace(emdeg.load("planar2r"), title="<script>x</script> $y$ \x07"))
    page = document(model, ["M"])
    assert "<script>" not in markdown.write(page)
    assert "<script>" not in html.write(page)
    assert "<script>" not in replace(model, robot=replace(model.robot, name="<script>"))._repr_html_()
    ElementTree.fromstring(html.write(page))


def test_sympy_expressions_equal_the_formulas():
    model = derive(emdeg.load("planar2r"))
    found = sympy_form.expressions(document(model, ["M", "b", "c", "g"]))
    q2 = sympy.Symbol("q2", real=True)
    assert found["M11"] == sympy.cos(q2) + sympy.Rational(5, 3)
    for name, value in model.entries(["M", "g"]).items():
        assert model.algebra.from_sympy(found[name]) == value


def test_a_coefficient_that_repeats_one_not_shown_is_written_out():
    model = derive(emdeg.load("planar2r"))
    assert "c21 = -1/2 b112" in text.write(document(model, ["b", "c"]))
    assert "c21 = 0.5*s2" in text.write(document(model, ["c"]))


def test_text_and_markdown_of_every_part():
    page = everything()
    assert "Inverse of the Jacobian" in text.write(page)
    assert markdown.write(page).count("$$") % 2 == 0
    with pytest.raises(ValueError, match="there is no part 'nothing'"):
        document(derive(emdeg.load("scara")), ["nothing"])


def test_a_model_shows_itself_in_a_notebook():
    model = derive(emdeg.load("planar2r"))
    assert model._repr_latex_().startswith(r"$$\begin{aligned}M_{11} &= c_{2}")
    ElementTree.fromstring(f"<div>{model._repr_html_()}</div>")
    assert "panda: 7 joints" in derive(emdeg.load("panda"))._repr_latex_()
    puma = derive(emdeg.load("puma560"))
    assert r"M_{35} &= I_{15}\,C_{4}\,C_{5} + I_{17}\,C_{4} + I_{21}\,S_{5}" in puma._repr_latex_()
    ElementTree.fromstring(f"<div>{puma._repr_html_()}</div>")


def test_the_section_of_base_parameters_names_every_one_and_what_is_grouped_into_it():
    model = derive(emdeg.load("planar2r"))
    found = emdeg.base_parameters(model.robot)
    data = sections_data(document(model, ["base"]))["base"]
    assert len(data["equations"]) == len(found)
    for column, parts in found.grouping.items():
        formula = data["equations"][f"{column.name}r{column.link + 1}"]
        assert all(str(one) in formula for one in (column, *(other for other, _ in parts)))
    assert any("Without effect" in remark for remark in data["remarks"])
    assert latex.write(document(model, ["base"])).count("={}&") == len(found)


def test_a_sum_of_thousands_of_terms_is_a_program_that_python_compiles() -> None:
    names = sympy.symbols("a:4000")
    written = sympy_form._printer().doprint(sympy.Add(*names))
    assert compile(written, "sum", "eval")
    assert written.startswith("Add(a0, ")
