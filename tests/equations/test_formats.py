"""What comes out: JSON that reads back, LaTeX that compiles, XML that parses, SymPy that agrees."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import sympy

import emdeg
from emdeg.equations import BadData, derive, from_json, to_json
from emdeg.equations.writing import latex, markdown, mathml, sympy_form, text
from emdeg.equations.writing.parts import PARTS, document
from tests.random_robots import random_robot

ALL = tuple(PARTS)


def everything(name="stanford_arm"):
    return document(derive(emdeg.load(name)), ALL)


@pytest.mark.parametrize("name", emdeg.library_names())
def test_json_reads_back_to_an_equal_model(name):
    model = derive(emdeg.load(name))
    assert from_json(to_json(model)) == model


def test_json_of_symbols_constant_angles_and_parts_left_out_reads_back():
    for model in (
        derive(emdeg.load("puma560"), symbolic=True),
        derive(random_robot(1, 3)),
        derive(emdeg.load("scara"), only="g"),
        derive(emdeg.load("scara"), only="M"),
    ):
        again = from_json(to_json(model))
        assert again == model
        assert again.known == model.known


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="x"), "it is not a model"),
        (lambda d: d["M"]["M11"].append(["1", {"zz": 1}]), "M11: 'zz' is not among the model's letters"),
        (lambda d: d["M"]["M11"].append(["1.5.2", {}]), "M11: '1.5.2' is not a number"),
        (lambda d: d["M"]["M11"].append(["1", {"c2": -1}]), "M11: the exponent of c2"),
        (lambda d: d["robot"].update(links=3), "robot.links must be a list"),
        (lambda d: d["robot"].pop("name"), "robot must be an object with"),
        (lambda d: d.pop("letters"), "the model is incomplete: KeyError 'letters'"),
        (lambda d: d["M"].pop("M11"), "the model is incomplete"),
    ],
)
def test_json_that_is_no_model_is_refused_in_words(change, message):
    data = json.loads(to_json(derive(emdeg.load("planar2r"))))
    change(data)
    with pytest.raises(BadData, match=message):
        from_json(json.dumps(data))


def test_mathml_is_well_formed_and_has_every_equation():
    page = ElementTree.fromstring(mathml.write(everything()))
    assert len(page.findall(".//{http://www.w3.org/1998/Math/MathML}math")) > 60


def test_latex_is_balanced_and_escapes_names():
    model = derive(replace(emdeg.load("planar2r"), title=r"50% \input{x} & a_b #1 $ ü"))
    source = latex.write(document(model, ALL[:6]))
    assert r"50\% \textbackslash{}input\{x\} \& a\_b \#1 \$ ?" in source
    assert source.count(r"\begin{") == source.count(r"\end{")
    assert source.replace(r"\{", "").count("{") == source.replace(r"\}", "").count("}")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    (tmp_path / "model.tex").write_text(latex.write(everything("puma560")))
    command = ["pdflatex", "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "model.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]


def test_hostile_titles_stay_text_in_markdown_and_mathml():
    model = derive(replace(emdeg.load("planar2r"), title="<script>x</script> $y$ \x07"))
    page = document(model, ["M"])
    assert "<script>" not in markdown.write(page)
    assert "<script>" not in mathml.write(page)
    assert "<script>" not in replace(model, robot=replace(model.robot, name="<script>"))._repr_html_()
    ElementTree.fromstring(mathml.write(page))


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


def run(*words):
    return subprocess.run(
        [sys.executable, "-m", "emdeg.cli", "derive", *words], capture_output=True, text=True, check=False, timeout=120
    )


def test_the_command_prints_json_that_reads_back(tmp_path):
    done = run("puma560", "--only", "M,b,c,g,J,relations", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert from_json(done.stdout) == derive(emdeg.load("puma560"))
    assert answer["result"]["sections"]["relations"]["tables"][0][0]["up to sign"] == "35"


def test_the_command_writes_a_file_and_does_not_overwrite_it(tmp_path):
    file = tmp_path / "arm.tex"
    assert run("planar2r", "--format", "latex", "--out", str(file)).returncode == 0
    assert file.read_text().startswith(r"\documentclass")
    again = run("planar2r", "--format", "latex", "--out", str(file))
    assert again.returncode == 3
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("panda", "--only", "Jinv"), 3, "redundant"),
        (("panda", "--budget", "50"), 4, "the budget is 50"),
        (("panda", "--only", "relation"), 2, "relations"),
        (("panda", "--only", ","), 2, "names no part"),
    ],
)
def test_what_cannot_be_done_has_an_exit_code_and_a_reason(words, code, message):
    done = run(*words)
    assert done.returncode == code
    assert message in done.stderr
    assert not done.stdout
