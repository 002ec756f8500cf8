"""`emdeg derive` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import emdeg
from emdeg.equations import PARTS, derive, from_json
from tests import commands


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


def test_the_command_prints_constants_reading_form_and_hierarchy_in_json():
    done = run("puma560", "--only", "constants,M,b,c,g,hierarchy", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert from_json(done.stdout) == derive(emdeg.load("puma560"))
    first = next(c for c in result["constants"] if c["name"] == "I15")
    assert first["formula"] == [["1", {"d4": 1, "m6": 1, "rz6": 1}]]
    assert (first["unit"], first["value"]) == ("kg m^2", pytest.approx(0.001247328))
    assert first["tolerance"] == pytest.approx(0.25 * 2**0.5 * 0.001247328)
    assert "b112" in first["uses"]
    assert result["compact"]["M35"] == "I15*C4*C5 + I17*C4 + I21*S5"
    assert result["hierarchy"]["steps"]["M66"]


def test_the_command_shows_the_tables_by_default():
    done = run("puma560")
    assert done.returncode == 0, done.stderr
    assert "I2        1.748114002    0.0465" in done.stdout
    assert "c21 = -1/2 b112" in done.stdout


@pytest.mark.long
def test_the_command_takes_a_frame_rows_and_a_symbolic_load():
    done = run("planar2r", "--only", "J,Jinv", "--rows", "1,3")
    assert done.returncode == 0, done.stderr
    assert "rows 1, 3 of 6" in done.stdout
    assert "detJ = s2" in done.stdout
    done = run("puma560", "--only", "J", "--frame", "link4", "--rows", "4,5,6")
    assert "axes of frame link4, rows 4, 5, 6 of 6" in done.stdout
    done = run("planar2r", "--symbolic-payload", "tool")
    assert "I2 = mL*rxL + 0.5" in done.stdout


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
        (("panda", "--only", "Jinv"), 3, "redundant, its Jacobian is 6 x 7 and has no inverse. Lock a joint"),
        (("planar2r", "--only", "Jinv"), 3, "Pick 2 of its six rows (--rows 1,2,.."),
        (("planar2r", "--only", "J", "--rows", "1,9"), 2, "--rows needs different numbers from 1 to 6"),
        (("planar2r", "--only", "J", "--frame", "x"), 3, "there is no frame 'x'; there are base, tool, 1 to 2"),
        (("planar2r", "--symbolic-payload", "x"), 3, "there is no link 'x' to carry the load"),
        (("panda", "--budget", "50"), 4, "the budget is 50"),
        (("panda", "--only", "relation"), 2, "relations"),
        (("panda", "--only", ","), 2, "names no part"),
        (("planar2r", "--rows", "1,3"), 2, "--rows is for the parts J, Jinv and singularities"),
        (("planar2r", "--frame", "tool"), 2, "--frame is for the parts J and Jinv"),
        (("planar2r", "--only", "M", "--frames", "standard"), 2, "--frames is for the parts U and D"),
        (("delta", "--symbolic-payload", "tool"), 2, "--symbolic-payload is not known for closed loops"),
    ],
)
def test_what_cannot_be_done_has_an_exit_code_and_a_reason(words, code, message):
    done = run(*words)
    assert done.returncode == code
    assert message in done.stderr
    assert not done.stdout


def test_interrupted_it_prints_the_parts_that_are_ready(monkeypatch):
    def interrupted(model, choice):
        raise KeyboardInterrupt

    monkeypatch.setitem(PARTS, "b", interrupted)
    done = commands.run("derive", "planar2r", "--only", "M,g,b,c")
    assert done.returncode == 130
    assert "M11 = " in done.stdout
    assert "g2 = " in done.stdout
    assert "interrupted while working out b: the parts before it are complete" in done.stderr
    assert commands.run("derive", "planar2r", "--only", "b").returncode == 130


def test_standard_frames_alone_ask_for_lagranges_letters():
    done = commands.run("derive", "planar2r", "--frames", "standard")
    assert done.returncode == 0, done.stderr
    assert "Standard Denavit-Hartenberg frames" in done.stdout
    assert "D11 = " in done.stdout
    assert "D122 = " in done.stdout
