"""The command line on robots with closed loops."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import emdeg
from emdeg.cli import app
from emdeg.mechanics.state import ClosureError

runner = CliRunner()


def result(*words):
    done = runner.invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["result"]


def test_eval_speaks_of_coordinates_and_driven_joints():
    tau = result("eval", "delta", "inverse_dynamics", "--q=0.05,-0.08,-0.45", "--qd=0.3,-0.2,0.1", "--qdd=1,-2,0.5")
    expected = emdeg.inverse_dynamics(emdeg.load("delta"), [0.05, -0.08, -0.45], [0.3, -0.2, 0.1], [1, -2, 0.5])
    np.testing.assert_array_equal(tau, expected)
    done = runner.invoke(app, ["eval", "delta", "mass_matrix", "--q=0,0"])
    assert "3 needed, one a joint of delta (x, y, z)" in str(done.exception)


def test_eval_adds_the_motors_friction():
    words = ("eval", "fivebar", "bias", "--q=2.1,1.05", "--qd=0.2,0.1")
    robot = emdeg.load("fivebar")
    change = np.subtract(result(*words, "--friction"), result(*words))
    np.testing.assert_allclose(change, emdeg.drive_friction(robot, [2.1, 1.05], [0.2, 0.1]), atol=1e-12)


def test_a_pose_out_of_reach_is_bad_input_that_names_the_loop():
    done = runner.invoke(app, ["eval", "delta", "mass_matrix", "--q=0,0,-0.9"])
    assert isinstance(done.exception, ClosureError)
    assert done.exception.loop == "forearm1"


def test_count_generate_and_verify(tmp_path):
    counted = result("count", "delta", "inverse_dynamics")
    assert counted["mul"] + counted["add"] + counted["div"] <= 250
    made = result("generate", "delta", "-f", "inverse_dynamics", "--target", "c", "--out", str(tmp_path))
    assert made[0]["operations"] == counted
    assert runner.invoke(app, ["verify", str(tmp_path / "delta_inverse_dynamics.c")]).exit_code == 0


def test_derive_writes_the_named_blocks():
    done = runner.invoke(app, ["derive", "delta"])
    assert done.exit_code == 0
    assert "phi1 = -0.2*s1*q6 + 0.2*c1*q5 + 0.5*q4^2 + 0.5*q5^2 + 0.5*q6^2 - 0.1152" in done.stdout
    assert "[1,1] = -q4 / (-0.2*s1*q5 - 0.2*c1*q6)" in done.stdout
    blocks = result("derive", "fivebar", "--only", "closure,W,g")
    assert list(blocks) == ["closure", "W", "g"]
    assert runner.invoke(app, ["derive", "delta", "--only", "b"]).exit_code == 2


def test_show_prints_the_mobility():
    shown = result("show", "fivebar")["loops"]
    assert (shown["equations"], shown["rank"], shown["mobility"]) == (5, 2, 2)
    assert "mobility 2; redundant equations in wrist" in runner.invoke(app, ["show", "fivebar"]).stdout


@pytest.mark.parametrize("name", ["delta", "fivebar", "fourbar", "palletiser", "rrr3"])
def test_check_passes_the_library(name):
    assert runner.invoke(app, ["check", name]).exit_code == 0
