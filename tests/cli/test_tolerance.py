"""`emdeg tolerance`: table and data."""

import json

import pytest

from tests.commands import run


def test_table_data_and_wrong_usage(tmp_path):
    done = run("tolerance", "puma560", "--states", "20", "--draws", "50", "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert len(result["joints"]) == 6
    assert result["influences"][0]["path"].endswith("drive.inertia")
    assert len(result["files"]) == 2
    assert "known well enough" in run("tolerance", "puma560", "--states", "5", "--draws", "5").stdout
    assert run("tolerance", "planar2r").returncode == 3
    assert run("tolerance", "fourbar").returncode == 2


@pytest.mark.long
def test_a_robot_without_tolerances_takes_an_assumed_one():
    """Masses alone scale every effort alike, so the spread is at least that of a few of them."""
    done = run("tolerance", "examples/arm.urdf", "--assume", "5", "--states", "10", "--draws", "200", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert {one["path"].split(".", 1)[1] for one in result["influences"]} >= {"mass", "com.x", "Ixx"}
    for joint in result["joints"]:
        assert 0.7 < joint["monte_carlo"] / joint["first_order"] < 1.3
    twice = json.loads(run("tolerance", "scara", "--assume", "2", "--states", "5", "--draws", "5", "--json").stdout)
    once = json.loads(run("tolerance", "scara", "--assume", "1", "--states", "5", "--draws", "5", "--json").stdout)
    for two, one in zip(twice["result"]["joints"], once["result"]["joints"]):
        assert abs(two["first_order"] - 2 * one["first_order"]) < 1e-9 * two["first_order"]
