"""`emdeg kane` as a user meets it, and the reports behind it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.documents.formats import WRITERS
from emdeg.dynamics.kane import load_setup, read_setup
from emdeg.errors import RobotError
from emdeg.programs.kane import choose, kane_parts, natural_setups
from emdeg.programs.values import evaluate
from emdeg.reports.kane import PARTS, describe
from emdeg.reports.kane_pages import kane_data, kane_document
from emdeg.runtime.kane import KaneModel
from tests import commands, kane_stanford
from tests.random_robots import random_robot

EXAMPLES = Path(__file__).parents[2] / "examples" / "speeds"
PAPER = str(EXAMPLES / "stanford_arm.toml")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return commands.run("kane", *words)


def test_the_papers_arm_as_one_json_object():
    done = run("stanford_arm", "--speeds", PAPER, "--show", "all", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema_version"] == 1
    result = answer["result"]
    assert [speed["formula"] for speed in result["speeds"][:3]] == [
        "s2*s3*qd1 + c3*qd2",  # Kane and Levinson (5)-(7)
        "c2*qd1 + qd3",
        "-s2*c3*qd1 + s3*qd2",
    ]
    assert result["singular"] == ["q2 = 0 or 180 deg"]
    assert "fail at q2 = 0 or 180 deg" in done.stderr
    torques = result["programs"]["torques"]
    assert torques["count"]["mul"] < 646
    assert torques["certificate"]["false_pass_probability"] < 1e-15
    # (26) and (27): omega_1^B = c3 b1 + Z6 b2 + Z8 b3, where b1, b2, b3 are B's axes z, -y, x
    of_B = result["partials"][1]["omega"]
    assert of_B["u1"] == ["-s3", "-c2*s3/s2", "c3"]
    assert of_B["u2"] == ["0", "0", "0"]
    assert of_B["u3"] == ["c3", "c2*c3/s2", "s3"]
    assert result["velocities"][3]["omega"]["explicit"] == ["u3", "u1", "u2"]  # (18)
    assert len(result["equations"]["X"]) == 6


@pytest.mark.long
def test_text_and_c_and_latex():
    text = run("stanford_arm", "--speeds", PAPER)
    assert "qd1 = s3/s2*u1 - c3/s2*u3" in text.stdout
    c = run("stanford_arm", "--speeds", PAPER, "--emit", "accelerations")
    assert "void stanford_arm_kane_accelerations(" in c.stdout
    latex = run("planar2r", "--speeds", "auto", "--format", "latex", "--show", "forces")
    assert latex.stdout.count(r"\begin{align*}") == latex.stdout.count(r"\end{align*}") > 2


def test_json_stays_one_object_whatever_is_asked_for():
    for words in (("--emit", "torques", "--json"), ("--emit", "torques", "--format", "json"), ("--format", "json")):
        done = commands.run("kane", "stanford_arm", "--speeds", PAPER, *words)
        answer = json.loads(done.stdout)
        assert answer["schema_version"] == 1
        if "--emit" in words:
            assert "void stanford_arm_kane_torques(" in answer["result"]["code"]
            assert answer["result"]["operations"]["mul"] < 646
            assert answer["result"]["certificate"]["false_pass_probability"] < 1e-15


def test_emitted_c_is_called_after_the_robots_file(tmp_path):
    file = tmp_path / "My arm-2.toml"
    file.write_text(commands.run("new").stdout)
    done = commands.run("kane", str(file), "--emit", "rates")
    assert "void my_arm_2_kane_rates(" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("stanford_arm", "--speeds", "nowhere.toml"), 3, "nowhere.toml: there is no such file"),
        (("planar2r", "--show", "poetry"), 2, "--show takes"),
        (("planar2r", "--emit", "poetry"), 2, "--emit takes"),
    ],
)
def test_wrong_usage_is_said(words, code, message):
    done = run(*words)
    assert done.returncode == code
    assert message in done.stderr


def test_speeds_that_are_not_invertible_are_said(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text("[[speed]]\nrate = 'q1'\n[[speed]]\nrate = 'q1'\n")
    done = run("planar2r", "--speeds", str(file))
    assert done.returncode == 3
    assert "do not determine the joints' rates in any configuration: u2 follows from u1" in done.stderr


def test_a_speed_named_like_a_joint_is_refused():
    robot = emdeg.load("planar2r")
    with pytest.raises(RobotError, match="rename it"):
        describe(robot, read_setup("[[speed]]\nrate='q1'\nname='q2'\n[[speed]]\nrate='q2'\nname='qd1'\n", robot))


@pytest.mark.parametrize("file", ["stanford_arm.toml", "arm_on_vehicle.toml"])
def test_the_parts_add_up_to_the_equations(file):
    """X ud = sum T tau + G + E - H: the generalized forces that are printed are those of the equations."""
    robot = emdeg.load("stanford_arm")
    program = kane_parts(robot, load_setup(EXAMPLES / file, robot))
    inputs = {g.name: np.random.default_rng(3).uniform(0.3, 1, (7, g.size)) for g in program.inputs}
    found = evaluate(program, inputs)
    K = np.einsum("nrk,nk->nr", found["T"], inputs["tau"]) + found["G"] + found["E"]
    np.testing.assert_allclose(K - found["H"], found["rhs"], atol=1e-11)
    plain = KaneModel(robot, load_setup(EXAMPLES / file, robot)).equations(**inputs)
    np.testing.assert_allclose(found["X"], plain[0], atol=1e-12)
    np.testing.assert_allclose(found["rhs"], plain[1], atol=1e-11)


@pytest.mark.long
@pytest.mark.parametrize("format", ["text", "latex", "markdown"])
def test_everything_can_be_printed_for_any_robot(format):
    for robot in (random_robot(1, 3), random_robot(2, 3, tree=True), emdeg.load("scara")):
        for setup in natural_setups(robot)[1:3]:
            found = describe(robot, setup, PARTS)
            text = WRITERS[format](kane_document(found))
            data = kane_data(found, as_latex=format == "latex")
            assert all(str(speed.name) in text for speed in found.speeds) or format != "text"
            assert [body["body"] for body in data["velocities"]] == [link.name for link in robot.links]
            if format == "latex":
                assert text.count("{") == text.count("}")
                assert not re.search(r"(?<!\\)[%#]|(?<!\\)(?<!={})&(?! )", text)


def test_the_steps_printed_are_the_same_in_every_format():
    """One reading of the program: Z has as many steps in LaTeX as in text, and they stand for each other."""
    robot = emdeg.load("stanford_arm")
    found = describe(robot, load_setup(PAPER, robot), PARTS)
    assert found.dynamics is not None
    for name, value in found.dynamics.steps:
        letters = re.sub(r"_\{(\w+)\}", r"\1", value.latex).replace("\\tau", "tau").replace(r"\, ", "*")
        if "frac" not in letters:
            assert letters == value.text, name


def test_auto_finds_absolute_rates_for_a_planar_arm():
    best, *others = choose(emdeg.load("planar3r"))
    assert best.setup.title in (
        "sums of the rates about parallel axes",
        "each link's angular velocity about its own joint's axis",
    )
    plain = next(one for one in others if one.setup.title == "joint rates")
    assert best.torques.total < plain.torques.total
    assert best.accelerations.total < plain.accelerations.total


@pytest.mark.docs
def test_the_page_on_the_papers_arm_is_what_its_program_writes():
    assert (kane_stanford.ROOT / "docs" / "kane_stanford.md").read_text(encoding="utf-8") == kane_stanford.page()


def test_interrupted_it_prints_the_speeds_that_were_tried(monkeypatch):
    def interrupted(robot, setups=None, tell=lambda title: None):
        signal.raise_signal(signal.SIGINT)
        return choose(robot, setups, tell)

    monkeypatch.setattr("emdeg.cli.kane.choose", interrupted)
    done = commands.run("kane", "planar2r", "--json")
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    found = json.loads(done.stdout)["result"]
    assert found["interrupted"]
    assert len(found["tried"]) == 1
    assert set(found["programs"]) == {"torques", "accelerations", "equations", "rates"}


HOSTILE = """schema = 1
name = "hostile"
convention = "modified"

[base]
rpy = ["90 deg", 0, 0]

[[link]]
name = "link1"
joint = { name = "q1", type = "revolute", alpha = 0, a = 0, d = 0 }
inertia = { about = "com", mass = "X11", com = ["H1", 0, 0], Izz = "R1" }

[[link]]
name = "link2"
joint = { name = "q2", type = "revolute", alpha = 0, a = "T12", d = 0 }
inertia = { about = "com", mass = "G2", com = ["E1", 0, 0], Izz = 1 }
"""


def test_entries_of_kane_s_equations_do_not_look_like_symbols_of_the_robot(tmp_path):
    file = tmp_path / "hostile.toml"
    file.write_text(HOSTILE)
    robot = emdeg.load(file)
    assert {"X11", "H1", "R1", "T12", "G2", "E1"} <= set(robot.symbols)
    done = commands.run("kane", str(file), "--show", "forces,equations")
    assert done.returncode == 0, done.stderr
    defined = re.findall(r"^([A-Z][a-z]*[0-9_]+) = ", done.stdout, re.MULTILINE)
    assert len(defined) > 5
    assert not set(defined) & set(robot.symbols)
    assert "X is written Xo" in done.stdout
    assert "Xo ud = Ro" in done.stdout
    latex = commands.run("kane", str(file), "--show", "equations", "--format", "latex").stdout
    assert r"\mathrm{Xo}_{rs}" in latex
