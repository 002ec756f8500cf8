"""`emdeg count --formulation`: one table, the printed figures beside ours."""

import json

from tests.commands import run


def test_printed_figures_stand_beside_the_formulation_they_count():
    done = run("count", "puma560", "mass_matrix", "--formulation", "Izaguirre-Paul", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    (row,) = result["formulations"]
    assert row["general"]["mul"] > row["plain"]["mul"] > row["simplified"]["mul"]
    assert row["certificate"]["formulations"][1] == "Newton-Euler at unit accelerations"
    printed = {one["formulation"]: one["total"] for one in result["published"] if one["formulation"]}
    assert printed == {"Walker-Orin 2": 2737, "Izaguirre-Paul": 58}


def test_kane_with_chosen_speeds_is_one_more_row():
    speeds = "examples/speeds/stanford_arm.toml"
    done = run("count", "stanford_arm", "inverse_dynamics", "--formulation", "Kane", "--speeds", speeds)
    assert done.returncode == 0, done.stderr
    assert "646 + 394" in done.stdout
    assert "eqs. 2 and 3" in done.stdout


def test_all_is_a_table():
    done = run("count", "planar2r", "inverse_dynamics", "--formulation", "all")
    assert done.returncode == 0, done.stderr
    assert "Luh-Walker-Paul" in done.stdout


def test_wrong_usage_is_said():
    assert run("count", "planar2r", "gravity", "--formulation", "none").returncode == 2
    assert run("count", "planar2r", "gravity", "--formulation", "all", "--effort", "1").returncode == 2
    assert run("count", "planar2r", "gravity", "--speeds", "x.toml").returncode == 2
    wrong = run("count", "planar2r", "gravity", "--formulation", "all", "--speeds", "examples/speeds/stanford_arm.toml")
    assert wrong.returncode == 2
