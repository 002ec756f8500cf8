"""Reports: true to the mechanics, the same bytes every time, complete or silent about what a robot cannot have."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import emdeg
from emdeg.approximation.significance import significant
from emdeg.cli import main
from emdeg.documents import ChartBar, bars, latex, saved, svg
from emdeg.documents.document import Label, Note
from emdeg.equations import lumped_model
from emdeg.programs import explicit_program
from emdeg.programs.ir import Dependence, count
from emdeg.programs.trace import Tracer
from emdeg.reports import Report, html, report
from emdeg.reports.counts_part import counts
from emdeg.reports.equations_part import equations
from emdeg.reports.items import ShadedEntries, ShadedEntry, ShadedTerm, Slider
from emdeg.reports.latex import LatexReportWriter
from emdeg.reports.published import published_counts as published
from emdeg.reports.scene import robot_scene
from emdeg.reports.subject import Subject
from emdeg.reports.tradeoff import SliderTuning, threshold_levels
from emdeg.simulation.pictures import line_figure
from tests.algebra.formulas import ALGEBRA
from tests.asadi_heydari import torques
from tests.commands import run

LARGEST = 10_000_000
VOID = {"meta", "input", "br", "img", "hr"}


@pytest.fixture(scope="module")
def small() -> Report:
    return report(emdeg.load("planar2r"), words=["planar2r"])


class Balance(HTMLParser):
    """Every tag that opens is closed, in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag, tag


def well_formed(page: str) -> None:
    balance = Balance()
    balance.feed(page)
    assert not balance.open
    formulas = re.findall(r"<math.*?</math>|<svg.*?</svg>", page, re.DOTALL)
    assert formulas
    for one in formulas:
        ElementTree.fromstring(one)
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"<script.*?</script>|base64,[^\"]*", "", page, flags=re.DOTALL))


def notes(made: Report) -> str:
    return "\n".join(item.text for s in made.document.sections for item in s.items if isinstance(item, Note))


def test_page_is_well_formed_and_stands_alone(small: Report) -> None:
    page = small.html
    well_formed(page)
    outside = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert outside
    assert all(link.startswith(("#", "data:")) for link in outside)
    assert "url(" not in page
    assert "@import" not in page


def test_code_on_the_page_is_the_proved_artefact(small: Report) -> None:
    """What is downloaded is what its certificate digests."""
    import base64
    import hashlib

    for one in small.artefacts:
        packed = base64.b64encode(one.text.encode()).decode()
        assert f'base64,{packed}"' in small.html
        assert hashlib.sha256(one.text.encode()).hexdigest() == one.certificate["digest"]


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "ur5e"])
def test_picture_stands_where_the_mechanics_puts_it(name: str) -> None:
    robot = emdeg.load(name)
    data = robot_scene(Subject(robot)).data
    for q in np.random.default_rng(1).uniform(-1, 1, (5, robot.n)):
        np.testing.assert_allclose(frames_at(dict(data), q), emdeg.link_transforms(robot, q), atol=1e-5)


def frames_at(data: Mapping[str, Any], q: np.ndarray) -> list[np.ndarray]:
    """Every link's frame in the base from the scene's data, as the page's script computes it."""
    found: list[np.ndarray] = []
    for link, x in zip(data["links"], q):
        c, s = (1.0, 0.0) if link["slides"] else (np.cos(x), np.sin(x))
        own = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, x if link["slides"] else 0], [0, 0, 0, 1]])
        before = np.eye(4) if link["parent"] < 0 else found[link["parent"]]
        found.append(before @ np.array([*link["T"], 0.0, 0.0, 0.0, 1.0]).reshape(4, 4) @ own)
    return found


@pytest.mark.parametrize("name", ["delta", pytest.param("stewart", marks=pytest.mark.slow), "palletiser"])
def test_picture_keeps_the_loops_closed(name: str) -> None:
    """Along the motion every rod keeps its length, and points that a joint holds together stay together."""
    robot = emdeg.load(name)
    subject = Subject(robot)
    data = robot_scene(subject).data
    assert robot.loops is not None
    expected = [float(rod.length) for rod in robot.loops.rods] + [0.0] * len(robot.loops.closures)
    for q in subject.tree_motion[::20]:
        frames = [*frames_at(data, q), np.eye(4)]

        def seen(end: Any, frames: list[np.ndarray] = frames) -> np.ndarray:
            return (frames[end["link"]] @ [*end["p"], 1.0])[:3]

        ends = [np.linalg.norm(seen(rod["a"]) - seen(rod["b"])) for rod in data["rods"]]
        np.testing.assert_allclose(ends, expected, atol=1e-4)
        drawn = [stroke.points[0] for stroke in line_figure(robot, q[None]) if stroke.kind == "rod"]
        np.testing.assert_allclose([np.linalg.norm(b - a) for a, b in drawn], expected, atol=1e-6)


@pytest.mark.parametrize("limits", [{}, {"many_terms": 5}, {"many_terms": 5, "largest_table": 1}])
def test_slider_errors_hold_on_random_states(limits: dict[str, int]) -> None:
    """Certified is at least found and what brute force finds: as for few terms, for many, and for rows too large."""
    tuning = SliderTuning((0.003, 0.1), **limits)
    robot = emdeg.load("scara")
    subject = Subject(robot)
    full = lumped_model(robot)
    found = threshold_levels(subject, full, tuning)
    random = np.random.default_rng(0)
    q, qd, qdd = subject.where.sample_states(20_000, random)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    for level in found.levels[1:]:
        t = level.asked
        short, _ = significant(full, subject.where, significance=t, joint_significance=t / 10)
        miss = np.abs(emdeg.compile(explicit_program(short))(q, qd, qdd) - tau).max(axis=0)
        bound = np.array(level.certified) * found.largest
        assert (miss <= bound * (1 + 1e-9) + 1e-9).all()
        assert (np.array(level.found) <= np.array(level.certified) * (1 + 1e-12)).all()
    assert found.levels[0].terms == sum(map(len, full.lumped.expansions.values()))
    assert [level.terms for level in found.levels] == sorted((level.terms for level in found.levels), reverse=True)


def test_the_curve_shows_every_level_that_errs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations against certified error: the slider's levels are its places, the exact program a line."""
    monkeypatch.setattr("emdeg.reports.counts_part.QUOTED", 0.1)
    subject = Subject(emdeg.load("scara"))
    levels = threshold_levels(subject, lumped_model(subject.robot), SliderTuning((0.003, 0.1)))
    found = counts(subject, levels, "scara")
    written = html.HtmlReportWriter().section(found.section)
    erring = [one for one in levels.levels if max(one.certified, default=0.0)]
    assert erring
    for one in erring:
        assert f"hidden: {one.mul + one.add} operations, error below" in written
    assert f">exact: {found.counts['inverse_dynamics'].total}<" in written
    assert "--curve SECONDS" in written


def test_short_programs_are_on_the_curve() -> None:
    """Those that the summary tells, none longer than the exact program, which is the first."""
    found = counts(Subject(emdeg.load("planar2r"), curve=1.0), None, "planar2r")
    exact, *short = found.short
    assert exact.operations == found.counts["inverse_dynamics"].total
    assert all(one.operations < exact.operations and 0 < max(one.certified) <= 0.1 for one in short)
    drawn = html.HtmlReportWriter().section(found.section)
    assert ("short program within" in drawn) == bool(short)


@pytest.mark.long
def test_robots_of_thousands_of_terms_have_the_slider() -> None:
    tuning = SliderTuning((0.1,), many_points=20_000, starts=2)
    found = equations(Subject(emdeg.load("iiwa14")), "iiwa14", tuning=tuning)
    assert any(isinstance(item, Slider) for item in found.section.items)
    assert found.full is not None
    assert found.tradeoff is not None
    assert len(found.full.functions) > 1000
    whole, short = found.tradeoff.levels
    assert 0 < short.terms < whole.terms
    assert whole.terms - short.terms == len(found.tradeoff.goes)


def test_the_deltas_figure_is_the_papers_procedure_counted() -> None:
    tracer = Tracer()
    X = tracer.inputs("q", 3, Dependence.CONFIGURATION)
    Xd, Xdd = (tracer.inputs(name, 3, Dependence.RATES) for name in ("qd", "qdd"))
    counted = count(tracer.program("papers", {"tau": torques(tracer, X, Xd, Xdd, tracer.sqrt)}))
    (figure,) = published(emdeg.load("delta"))
    assert (figure.mul, figure.add) == (counted.mul, counted.add)
    assert f"{counted.div} divisions and {counted.sqrt} roots" in figure.source


def test_published_figures_belong_to_the_machine_not_to_its_name() -> None:
    """Armstrong, Khatib and Burdick, Table 1: 1560, 1165 (739 + 426) and 305; Kane and Levinson: 646 + 394."""
    figures = {figure.total for figure in published(emdeg.load("puma560"))}
    assert {1560, 739 + 426, 305} <= figures
    assert {figure.total for figure in published(emdeg.load("stanford_arm"))} == {
        646 + 394,
        2195 + 1719,
        1541 + 1196,
        852 + 738,
    }
    heavier = emdeg.load("puma560", payload="mass=1,com=0:0:0@link6")
    assert heavier.name == "puma560"
    assert published(heavier) == ()


def test_symbolic_robot_says_why_it_has_no_numbers() -> None:
    made = report(emdeg.load("planar2r", payload="mass=mL,com=0.1:0:0@link2"), words=["planar2r", "--payload=x"])
    assert "symbols" in notes(made)
    assert made.summary["abbreviated"] == []
    well_formed(made.html)


def test_closed_loops_say_what_is_left_out() -> None:
    made = report(emdeg.load("fourbar"), words=["fourbar"])
    assert "closed loops" in notes(made)
    assert "slider" in notes(made)
    well_formed(made.html)
    assert made.summary["operations"]["inverse_dynamics"]["mul"] > 0


def test_names_are_escaped_in_latex_and_svg() -> None:
    bad = r"\input{/etc/passwd}$<&%#_^~{}"
    drawing = bars([ChartBar(bad, (1.0, 2.0), bad)], ("a", "b"), bad)
    ElementTree.fromstring(svg(drawing))
    assert b"generated by emdeg" in saved(drawing.figure, "pdf")
    assert latex.latex_escape(bad).count("\\input") == 0
    assert html.data_block("k", {"a": "</script>"}).count("</script>") == 1


@pytest.mark.long
def test_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Another process with other hash seeds writes the same page, source and figures."""
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        command = [sys.executable, "-m", "emdeg.cli", "report", "fourbar", "--out", str(folder), "--json"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        summary = json.loads(done.stdout)
        assert summary["schema_version"] == 1
        assert summary["result"]["robot"] == "fourbar"
        assert "report:" in done.stderr
        found.append({path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()})
    assert found[0].keys() >= {"report.html", "report.tex", "counts.pdf", "frames.pdf"}
    assert found[0] == found[1]


def test_a_foreign_file_is_not_replaced(small: Report, tmp_path: Path) -> None:
    (tmp_path / "report.tex").write_text("my thesis")
    with pytest.raises(emdeg.RobotError, match="not generated by emdeg"):
        small.write(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["report.tex"]
    small.write(tmp_path, force=True)
    small.write(tmp_path)
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["no_such_robot"], 3, "there is no robot"),
        (["planar2r", "--range", "q1=0"], 2, "JOINT=LOW:HIGH"),
        (["planar2r", "--range", "q9=0:1"], 3, "no joint"),
        (["planar2r", "--effort=-1"], 2, "between 0"),
    ],
)
def test_bad_input_has_its_exit_code(
    words: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["emdeg", "report", *words, "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == code
    assert message in re.sub(r"[\s│]+", " ", said.err)
    assert not said.out
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX on this machine")
def test_latex_compiles(small: Report, tmp_path: Path) -> None:
    source = small.write(tmp_path).files[1]
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("name", emdeg.library_names())
def test_every_library_robot_has_its_report(name: str, tmp_path: Path) -> None:
    made = report(emdeg.load(name), words=[name], stem=name)
    page, source, *figures = made.write(tmp_path).files
    assert page.stat().st_size < LARGEST
    assert figures
    well_formed(page.read_text("utf-8"))
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((Path(__file__).parent.parent / "data" / "robots").glob("*.urdf")))
def test_a_urdf_arm_has_its_report(path: Path, tmp_path: Path) -> None:
    made = report(emdeg.load(path, allow_nonphysical=True), words=[str(path)], stem=path.stem)
    page = made.write(tmp_path).files[0]
    assert page.stat().st_size < LARGEST
    well_formed(page.read_text("utf-8"))


LOOSE_END = """<robot name="loose"><link name="base"/><link name="tip"/>
<link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="MASS"/>
<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j1" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="j2" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("mass", ["1", "0"])
def test_a_joint_that_moves_no_mass_has_no_forward_dynamics_and_the_page_says_so(mass, tmp_path):
    path = tmp_path / "loose.urdf"
    path.write_text(LOOSE_END.replace("MASS", mass))
    singular = "its mass matrix is singular at every pose: a motion of its joints moves neither mass nor drive inertia"
    done = run("report", str(path), "--effort", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "forward_dynamics" not in json.loads(done.stdout)["result"]["operations"]
    assert f"forward_dynamics is left out: {singular}" in (tmp_path / "loose_report" / "report.html").read_text()
    for command, *options in (("count",), ("generate", "-o", "c", "-f")):
        done = run(command, str(path), *options, "forward_dynamics", cwd=tmp_path)
        assert (done.returncode, singular in done.stderr) == (3, True)
    assert run("derive", str(path)).returncode == 0


@pytest.mark.parametrize(("what", "message"), [("file", "it is no folder"), ("page", "was not generated by emdeg")])
def test_a_report_that_could_not_be_written_is_refused_before_it_is_made(what, message, tmp_path):
    out = tmp_path / "out"
    if what == "file":
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "report.html").write_text("mine")
    done = run("report", "planar2r", "--out", str(out))
    assert done.returncode == 3
    assert message in done.stderr
    assert "report: the robot" not in done.stderr


def test_terms_that_are_formulas_are_shaded_in_latex_too_and_a_fraction_is_one_piece():
    a, b = ALGEBRA.joint_sincos(1)
    terms = (ShadedTerm(a, share=1.0), ShadedTerm(-b, share=0.05))
    shaded = LatexReportWriter().item(ShadedEntries("G", (ShadedEntry(Label("G", "1"), terms),), ()))
    assert "{\\color{s0}s_{1}}" in shaded
    assert re.search(r"\{\\color\{s2\}- ?c_\{?1\}?\}", shaded)
    fraction = LatexReportWriter().item(
        ShadedEntries("G", (ShadedEntry(Label("G", "1"), terms, below=(ShadedTerm(a), ShadedTerm(b))),), ())
    )
    assert "\\frac" in fraction
