"""`emdeg abbreviate` where it shortens a program: results, files, exit codes."""

from __future__ import annotations

import json

import pytest

from tests import commands


@pytest.mark.slow
def test_a_short_mass_matrix_with_its_code_is_verified_and_tampering_shows(tmp_path):
    code = tmp_path / "short.c"
    words = ("ur5e", "--function", "mass_matrix", "--worst-error", "0.05", "--emit", str(code), "--json")
    done = commands.run("abbreviate", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["result"]
    counted = {key: sum(found[key][kind] for kind in ("mul", "add")) for key in ("operations", "exact_operations")}
    assert counted["operations"] < counted["exact_operations"]
    assert len(found["certified_error"]) == 36
    assert max(found["certified_error"]) <= 0.05
    assert set(found["box"]) == {"lower", "upper", "speed", "acceleration"}
    checked = commands.run("verify", str(code))
    assert checked.returncode == 0, checked.stderr
    beside = code.with_name(code.name + ".certificate.json")
    certificate = json.loads(beside.read_text())
    certificate["short"]["certified_error"] = [0.5 * e for e in certificate["short"]["certified_error"]]
    beside.write_text(json.dumps(certificate))
    wrong = commands.run("verify", str(code))
    assert wrong.returncode == 1
    assert "is not shown" in wrong.stdout + wrong.stderr


def test_a_length_that_cannot_be_had_is_exit_code_1_and_nothing_is_written(tmp_path):
    code = tmp_path / "short.c"
    done = commands.run("abbreviate", "planar2r", "--at-most", "0", "--emit", str(code))
    assert done.returncode == 1
    assert "asked for were 0" in done.stderr
    assert not code.exists()


def test_terms_and_programs_do_not_go_together():
    done = commands.run("abbreviate", "planar2r", "--at-most", "9", "--only", "M,g")
    assert done.returncode == 2
    assert "--at-most" in done.stderr


def test_one_way_to_ask_at_a_time_and_what_is_not_stated_is_said():
    done = commands.run("abbreviate", "planar2r", "--at-most", "9", "--worst-error", "0.1")
    assert done.returncode == 2
    assert "--worst-error and --at-most" in done.stderr
    done = commands.run("abbreviate", "planar3r", "--of-tolerance", "1")
    assert done.returncode == 2
    assert "states no tolerances" in " ".join(done.stderr.replace("│", " ").split())
    done = commands.run("abbreviate", "planar3r", "--of-friction", "1")
    assert done.returncode == 2
    assert "friction" in done.stderr


def test_the_exact_program_is_called_so():
    done = commands.run("abbreviate", "planar2r", "--worst-error", "1e-6")
    assert done.returncode == 0, done.stderr
    assert "it is the exact program: no shorter program was found within these errors" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "words",
    [
        ("planar2r", "--range", "q1=0:0"),
        ("planar2r", "--range", "q1=0:0", "--range", "q2=0:0"),
        ("panda", "--function", "gravity", "--gravity=0,0,0"),
        ("planar2r", "--function", "gravity", "--gravity=0,0,0"),
    ],
)
def test_a_joint_that_stands_still_and_a_program_of_nothing_are_no_special_cases(words):
    done = commands.run("abbreviate", *words, "--worst-error", "0.1", "--seconds", "2", "--json", EMDEG_EFFORT="0")
    assert done.returncode == 0, done.stderr
    assert all(0 <= error <= 0.1 for error in json.loads(done.stdout)["result"]["certified_error"])


def test_tables_of_terms_are_refused_by_their_own_name():
    done = commands.run("abbreviate", "planar2r", "--worst-error", "0.1", "--tables", "--seconds", "2")
    assert done.returncode == 2
    assert "--tables" in done.stderr
