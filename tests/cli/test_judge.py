"""`emdeg judge`: exit codes and JSON."""

import json

from tests.commands import run

TEXT = 'schema = 1\nclaim = 0.01\n[constants]\nJ = 0.34\n[entries]\nM22 = "J"\n'


def test_a_failed_claim_is_exit_code_1(tmp_path):
    (tmp_path / "model.toml").write_text(TEXT)
    done = run("judge", "model.toml", "--robot", "planar2r", "--json", cwd=tmp_path)
    assert done.returncode == 1
    result = json.loads(done.stdout)["result"]
    assert not result["holds"]
    assert result["entries"]["M22"]["relative"]["bound"] >= 0.02
    held = run("judge", "model.toml", "--robot", "planar2r", "--constant", "J=1/3", cwd=tmp_path)
    assert held.returncode == 0
    assert "exact: M22" in held.stdout


def test_a_gap_that_is_asked_for_and_not_reached_is_exit_code_1(tmp_path):
    hard = "cos(q1)^5*sin(q2)^7*cos(q3)^6 + sin(q1 + 2*q2)*cos(q2 - q3)^4"
    (tmp_path / "model.toml").write_text(f'schema = 1\n[entries]\ng1 = "{hard}"\n')
    of = ("model.toml", "--robot", "planar3r", "--seconds", "0.01")
    asked = run("judge", *of, "--gap", "1e-6", "--json", cwd=tmp_path)
    assert asked.returncode == 1
    assert "TARGET MISSED: g1: the gap is" in asked.stderr
    assert not json.loads(asked.stdout)["result"]["within_target"]
    assert run("judge", *of, cwd=tmp_path).returncode == 0


def test_wrong_usage_and_bad_files(tmp_path):
    (tmp_path / "model.toml").write_text(TEXT)
    assert run("judge", "model.toml", cwd=tmp_path).returncode == 2
    assert run("judge", "none.toml", "--robot", "planar2r", cwd=tmp_path).returncode == 3
    assert run("judge", "model.toml", "--robot", "planar2r", "--constant", "K=1", cwd=tmp_path).returncode == 3
    assert run("judge", "model.toml", "--robot", "delta_symbolic", cwd=tmp_path).returncode == 3


def test_a_mechanism_is_judged_where_its_loops_close(tmp_path):
    (tmp_path / "model.toml").write_text(TEXT.replace("M22", "M11"))
    done = run("judge", "model.toml", "--robot", "fourbar", "--margin", "0.1", "--json", cwd=tmp_path)
    assert done.returncode == 1
    one = json.loads(done.stdout)["result"]["entries"]["M11"]
    assert one["error"]["bound"] >= one["error"]["value"] > 0.3
