"""`emdeg abbreviate` as a user meets it: results, files, errors."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from emdeg.robot import workspace
from tests import commands
from tests.bejczy import CUBE

ARM = Path(__file__).parents[1] / "data" / "robots" / "odd_arm.urdf"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return commands.run("abbreviate", *words)


def result(*words: str):
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["schema_version"] == 1
    return data["result"]


@pytest.mark.long
def test_a_short_model_with_its_error_tables_split_and_code(tmp_path):
    code = tmp_path / "short.c"
    words = ("--seconds", "3", "--significance", "0.05", "--tables", "--processors", "2", "--emit", str(code))
    found = result("planar3r", *words)
    assert all(e["found"] <= e["certified"] for e in found["errors"])
    counted = found["operations"]
    assert list(counted) == list(found["exact_operations"]) == ["mul", "add", "div", "sqrt", "sincos"]
    assert len(found["certified_error"]) == 3
    assert sum(found["processors"]["operations"]) == counted["mul"] + counted["add"]
    forces = found["tables"]["forces"]
    assert forces["general recursive Newton-Euler"]["total"] == 150 * 3 - 48 + 131 * 3 - 48
    assert forces["abbreviated"]["total"] <= forces["full explicit"]["total"]
    assert {"robot_short_configuration", "robot_short_rates"} <= set(code.read_text().replace("(", " ").split())


def test_the_tables_are_printed_as_tables():
    done = run("planar2r", "--seconds", "1", "--tables", "--processors", "2")
    assert done.returncode == 0, done.stderr
    for words in ("exact inverse dynamics: ", "general recursive", "smallest exact", "rates Hz", "2 processors: "):
        assert words in done.stdout
    assert "{" not in done.stdout


def test_wrong_numbers_are_named_and_nothing_is_written(tmp_path):
    for words, message in (
        (("--worst-error", "0.01,0.02"), "one number, or 3"),
        (("--neglect", "I99"), "there is no constant I99"),
        (("--only", "M,g"), "for M and g alone give an average error"),
        (("--lower", "0,0"), "3 lower and 3 upper positions"),
    ):
        code = tmp_path / "short.c"
        done = run("planar3r", *words, "--seconds", "1", "--emit", str(code))
        assert done.returncode == 2, (words, done.stderr)
        assert message in " ".join(done.stderr.replace("│", " ").split())
        assert "Traceback" not in done.stderr
        assert not done.stdout
        assert not code.exists()


def test_a_target_that_is_missed_is_said_with_what_was_reached_and_written_only_on_demand(tmp_path):
    code = tmp_path / "arm.c"
    words = ("planar2r", "--at-most", "0", "--seconds", "5", "--emit", str(code), "--json")
    done = run(*words)
    assert done.returncode == 1, done.stderr
    assert "TARGET MISSED: the shortest found has " in done.stderr
    assert "nothing is written" in done.stderr
    assert not code.exists()
    found = json.loads(done.stdout)["result"]
    assert not found["within_target"]
    assert len(found["missed"]) == 1
    assert run(*words, "--best-effort").returncode == 1
    assert code.exists()


def test_without_room_the_exact_program_stands():
    found = result("planar2r", "--worst-error", "0.0005", "--seconds", "5")
    assert found["within_target"]
    assert found["operations"] == found["exact_operations"]
    assert set(found["certified_error"]) == {0.0}


@pytest.mark.parametrize("robot", ["planar2r", "planar3r"])
@pytest.mark.long
def test_by_the_rule_too_no_program_is_longer_than_the_exact_one(robot):
    found = result(robot, "--significance", "0.001", "--seconds", "3")
    lengths = [found[key]["mul"] + found[key]["add"] for key in ("operations", "exact_operations")]
    assert lengths[0] <= lengths[1]


def test_the_verdict_comes_before_the_formulas():
    lines = run("planar2r", "--seconds", "1").stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == [
        "short inverse dynamics",
        "exact inverse dynamics",
        "certified error",
    ]
    places = [next(k for k, line in enumerate(lines) if line.startswith(word)) for word in ("The box", "M11 = ")]
    assert places == sorted(places)


@pytest.mark.parametrize("words", [("--worst-error", "0.05"), ("--function", "gravity", "--worst-error", "0.1")])
def test_an_interrupt_ends_the_search_and_what_there_is_is_written(tmp_path, words):
    code = tmp_path / "arm.c"

    def interrupted(*given, **more):
        signal.raise_signal(signal.SIGINT)
        return workspace(*given, **more)

    with mock.patch("emdeg.cli.abbreviate.usable_workspace", interrupted):
        done = run("planar3r", *words, "--emit", str(code), "--json")
    assert done.returncode == 130, done.stderr
    assert "interrupted: this is the best found so far" in done.stderr
    found = json.loads(done.stdout)["result"]
    assert found["interrupted"]
    assert set(found["certified_error"]) == {0.0}  # nothing was tried: the exact model stands
    assert found["emitted"]["file"] == str(code)
    assert code.exists()


def test_a_second_interrupt_is_not_waited_for():
    def interrupted(*given, **more):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with mock.patch("emdeg.cli.abbreviate.usable_workspace", interrupted):
        done = run("planar3r", "--seconds", "1")
    assert (done.returncode, done.stdout) == (130, "")


def test_a_sliding_joint_without_a_range_is_refused_and_an_existing_file_kept(tmp_path):
    done = run("stanford_arm")
    assert done.returncode == 2
    assert "slides without limits; give its range" in " ".join(done.stderr.replace("│", " ").split())
    kept = tmp_path / "kept.c"
    kept.write_text("mine")
    done = run("planar2r", "--seconds", "1", "--emit", str(kept))
    assert done.returncode == 3
    assert "it exists and was not generated by emdeg" in done.stderr
    assert kept.read_text() == "mine"


@pytest.mark.slow
def test_the_trade_off_is_drawn_with_its_data_beside(tmp_path):
    picture = tmp_path / "curve.png"
    points = result("planar3r", "--seconds", "4", "--tradeoff", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    with picture.with_suffix(".csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert [int(row["operations"]) for row in rows] == [p["operations"] for p in points]
    assert points[0]["certified"] == [0.0, 0.0, 0.0]
    assert max(points[-1]["certified"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("load", [(), ("--payload", CUBE)])
def test_simplified_state_equations_keep_their_average(load):
    found = result("jpl_rrp", "--only", "M,g", "--average-error", "0.05", "--seconds", "20", *load)
    assert {e["entry"] for e in found["entry_errors"]} >= {"M11", "M22", "M33", "M44", "M55", "M66", "g2", "g3"}
    for e in found["entry_errors"]:
        assert e["average"] <= 0.05
        assert e["found_difference"] <= e["certified_difference"]
    assert any(c["load"] for c in found["constants"].values()) == bool(load)


@pytest.mark.slow
def test_a_urdf_arm_in_two_rates_and_on_two_processors(tmp_path):
    found = result(str(ARM), "--seconds", "20", "--tables", "--processors", "2", "--emit", str(tmp_path / "arm.c"))
    assert found["multirate"]["workspace"] > 0
    assert found["processors"]["span"] >= found["processors"]["critical_path"]
    assert all(e["found"] <= e["certified"] for e in found["errors"])
    rates = found["tables"]["rates"]
    assert all(r["rates_hz"] >= r["together_hz"] >= r["configuration_hz"] for r in rates.values())


@pytest.mark.slow
def test_the_puma_by_the_papers_rule():
    found = result("puma560", "--significance", "0.01", "--joint-significance", "0.001")
    programs = {name: counted["total"] for name, counted in found["programs"].items()}
    assert programs["inverse_dynamics"] <= 200 < programs["exact_inverse_dynamics"]
    assert programs["mass_matrix"] <= 25
    assert found["entries"]["M34"]["constants"] == "-I15*S4*S5"
    assert all(e["certified"] <= 1.5 * e["found"] for e in found["errors"] if e["ratio"])


@pytest.mark.slow
def test_the_smallest_puma_within_the_papers_own_error():
    found = result("puma560", "--worst-error", "0.03,0.03,0.03,0.05,0.05,0.05", "--seconds", "600")
    assert found["within_target"]
    assert found["operations"]["mul"] + found["operations"]["add"] <= 110


MOVE = """schema = 1
name = "move"
mode = "torques"

[trajectory]
kind = "cycloidal"
duration = 1
start = { q1 = 0, q2 = 0, q3 = 0 }
goal = { q1 = 1, q2 = -1, q3 = 0.5 }
"""


@pytest.mark.slow
def test_holding_the_configuration_part_longer_errs_more(tmp_path):
    (tmp_path / "move.toml").write_text(MOVE)
    motion = ("--trajectory", str(tmp_path / "move.toml"), "--seconds", "1")
    largest = [max(result("planar3r", "--hold", k, *motion)["holding"]["largest"]) for k in ("1", "10", "50")]
    assert largest[0] < 1e-12 < largest[1] < largest[2]
    done = run("planar3r", "--hold", "4")
    assert done.returncode == 2
    assert "go together" in done.stderr
