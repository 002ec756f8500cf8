"""The command line on robots with closed loops."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import emdeg
from emdeg.cli import app, main
from emdeg.errors import ClosureError
from tests.loops.linkages import CUSPIDAL
from tests.loops.overconstrained import LOCOMOTIVE, ROUNDED_BENNETT

runner = CliRunner()


def result(*words):
    done = runner.invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["result"]


def test_the_rows_and_columns_of_a_matrix_are_named():
    functions = ("mass_matrix", "drive_jacobian")
    told = [runner.invoke(app, ["eval", "delta", name, "--q=0,0,-0.45"]).output for name in functions]
    assert "rows and columns: x, y, z" in told[0]
    assert "rows: q1, q2, q3\ncolumns: x, y, z" in told[1]


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
    np.testing.assert_allclose(change, emdeg.loops.drive_friction(robot, [2.1, 1.05], [0.2, 0.1]), atol=1e-12)


POSE, RATES = [0.05, -0.08, -0.45], [0.3, -0.2, 0.1]
Q, QD = "--q=0.05,-0.08,-0.45", "--qd=0.3,-0.2,0.1"


def test_eval_knows_what_only_closed_loops_have():
    robot = emdeg.load("delta")
    np.testing.assert_array_equal(
        result("eval", "delta", "joint_positions", Q), emdeg.loops.joint_positions(robot, POSE)
    )
    np.testing.assert_array_equal(result("eval", "delta", "drive_jacobian", Q), emdeg.loops.drive_jacobian(robot, POSE))
    np.testing.assert_array_equal(result("eval", "delta", "motor_inertias", Q), emdeg.loops.motor_inertias(robot, POSE))
    np.testing.assert_array_equal(result("eval", "delta", "singularity", Q), emdeg.loops.singularity(robot, POSE))
    rate = result("eval", "delta", "state_rate", Q, QD, "--tau=1,2,3")
    np.testing.assert_array_equal(rate, emdeg.loops.state_rate(robot, [*POSE, *RATES], [1, 2, 3]))
    assert rate[:3] == RATES
    assert runner.invoke(app, ["eval", "planar2r", "singularity", "--q=0,0"]).exit_code == 2


@pytest.mark.parametrize(
    ("function", "names"),
    [
        ("joint_positions", [["q1", "q2", "q3", "x", "y", "z"]]),
        ("drive_jacobian", [["q1", "q2", "q3"], ["x", "y", "z"]]),
        ("mass_matrix", [["x", "y", "z"], ["x", "y", "z"]]),
        ("closure", [["forearm1", "forearm2", "forearm3"]]),
        ("forward_kinematics", [None, None]),
    ],
)
def test_entries_of_every_array_have_names(function, names):
    found = result("eval", "delta", function, Q, "--names")
    assert found["names"] == names
    assert found["value"] == result("eval", "delta", function, Q)


def test_names_of_several_states_and_several_outputs(tmp_path):
    (tmp_path / "q.csv").write_text("2,1\n2.1,1.1\n")
    found = result("eval", "fivebar", "gravity", f"--q={tmp_path / 'q.csv'}", "--names")
    assert found["names"] == [None, ["q1", "q2"]]
    assert np.shape(found["value"]) == (2, 2)
    found = result("eval", "delta", "inverse_dynamics_derivatives", Q, QD, "--qdd=0,0,0", "--names")
    assert found["dtau_dqd"]["names"] == [["q1", "q2", "q3"], ["x", "y", "z"]]


def test_a_mode_is_asked_for_by_its_label():
    listed = result("loops", "delta", "--branches", Q)["branches"]
    assert len(listed) == 8
    for one in listed:
        joints = result("eval", "delta", "joint_positions", Q, f"--mode={one['label']}")
        np.testing.assert_allclose(joints, list(one["joints"].values()), atol=1e-14)
    by_loop = result("eval", "delta", "joint_positions", Q, "--mode=forearm1=-1,forearm3=-1")
    np.testing.assert_array_equal(by_loop, emdeg.loops.joint_positions(emdeg.loops.with_mode("delta", "-+-"), POSE))


def test_a_way_without_signs_has_a_name_to_ask_for(tmp_path):
    file = tmp_path / "locomotive.toml"
    file.write_text(LOCOMOTIVE)
    listed = result("loops", str(file), "--modes")
    assert listed["labels"] == [listed["mode"]["label"]] == ["sole"]
    asked = result("eval", str(file), "joint_positions", "--q=4", "--mode=sole")
    assert asked == result("eval", str(file), "joint_positions", "--q=4")
    assert "1 to ask for here (--mode=LABEL): sole" in runner.invoke(app, ["loops", str(file), "--modes"]).stdout


@pytest.mark.parametrize(
    ("robot", "mode", "word"),
    [
        ("fourbar", "sole", "there is no mode 'sole'; at the start there are"),
        ("delta", "+", "at the start there are +++, ++-"),
        ("delta", "forearm1=2", "a mode is 1 or -1"),
        ("delta", "elbow=1", "there is no loop 'elbow'"),
        ("planar2r", "+", "no closed loops"),
    ],
)
def test_a_mode_that_is_none_is_refused(robot, mode, word, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["emdeg", "show", robot, f"--mode={mode}"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 3
    assert word in capsys.readouterr().err


def test_a_force_on_the_tool_is_carried_by_the_motors():
    """For the Delta J^T tau changes by -F, for a serial arm tau by -J^T F."""
    words = ("eval", "delta", "inverse_dynamics", Q, QD, "--qdd=1,-2,0.5")
    change = np.subtract(result(*words, "--wrench=3,-2,5,0,0,0"), result(*words))
    J = np.array(result("eval", "delta", "drive_jacobian", Q))
    np.testing.assert_allclose(J.T @ change, [-3, 2, -5], atol=1e-12)
    words = ("eval", "planar2r", "inverse_dynamics", "--q=0.3,0.4", "--qd=0,0", "--qdd=0,0")
    change = np.subtract(result(*words, "--wrench=3,-2,0,0,0,1"), result(*words))
    J = emdeg.jacobian(emdeg.load("planar2r"), [0.3, 0.4])
    np.testing.assert_allclose(change, -J.T @ [3, -2, 0, 0, 0, 1], atol=1e-12)
    qdd = result("eval", "planar2r", "forward_dynamics", "--q=0.3,0.4", "--qd=0,0", "--tau=0,0", "--wrench=1,0,0,0,0,0")
    expected = emdeg.forward_dynamics(emdeg.load("planar2r"), [0.3, 0.4], [0, 0], J.T @ [1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(qdd, expected)
    for words, message in (
        (["eval", "delta", "mass_matrix", Q, "--wrench=1,0,0,0,0,0"], "--wrench applies to"),
        (["eval", "delta", "inverse_dynamics", Q, QD, "--qdd=0,0,0", "--wrench=1,2"], "--wrench needs six"),
    ):
        done = runner.invoke(app, words)
        assert done.exit_code == 2
        assert message in done.output


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
    assert "phi1 = -0.2*s1*z + 0.2*c1*y + 0.5*x^2 + 0.5*y^2 + 0.5*z^2 - 0.1152" in done.stdout
    assert "x / (0.2*s1*y + 0.2*c1*z)" in done.stdout
    blocks = result("derive", "fivebar", "--only", "closure,W,G")
    assert list(blocks) == ["closure", "W", "G"]
    assert runner.invoke(app, ["derive", "delta", "--only", "b"]).exit_code == 2


def test_show_prints_the_mobility():
    shown = result("show", "fivebar")["loops"]
    assert (shown["equations"], shown["rank"], shown["mobility"]) == (5, 2, 2)
    assert "mobility 2; redundant equations in wrist" in runner.invoke(app, ["show", "fivebar"]).stdout


def test_what_knows_only_trees_says_so():
    done = runner.invoke(app, ["abbreviate", "delta", "--average-error", "0.05"])
    assert isinstance(done.exception, emdeg.RobotError)
    assert "entries of M and g are not abbreviated for closed loops" in str(done.exception)


FIVEBAR = """
schema = 1
name = "tiny"
convention = "modified"
[[link]]
name = "a"
parent = "base"
joint = { name = "q1", type = "revolute" }
inertia = { about = "com", mass = 1, Izz = 0.1, Ixx = 0.1, Iyy = 0.1 }
[[link]]
name = "b"
parent = "base"
joint = { name = "q2", type = "revolute", a = 1 }
inertia = { about = "com", mass = 1, Izz = 0.1, Ixx = 0.1, Iyy = 0.1 }
[[rod]]
name = "coupler"
from = { link = "a", xyz = [0.2, 0, 0] }
to = { link = "b", xyz = [0.2, 0, 0] }
length = LENGTH
[loops]
coordinates = ["q1"]
driven = ["q1"]
"""
SCENARIO = "schema = 1\nduration = 0.1\n"
WRONG = {
    "a loop that cannot close": (FIVEBAR.replace("LENGTH", "3"), "eval ROBOT mass_matrix --q=0.1", "coupler: the loop"),
    "the same, checked": (FIVEBAR.replace("LENGTH", "3"), "check ROBOT", "coupler: the loop cannot close"),
    "a pose out of reach": ("delta", "eval ROBOT gravity --q=0,0,-0.9", "forearm1: the pose cannot be reached"),
    "a start out of reach": (
        "delta",
        "simulate ROBOT --scenario " + SCENARIO + "[initial]\nq = { z = -0.9 }",
        "forearm1: the pose cannot be reached",
    ),
    "a singular pose": ("delta", "eval ROBOT inverse_dynamics --q=0,0,-0.72 --qd=0,0,0 --qdd=0,0,0", "is singular"),
    "a singular start": (
        "delta",
        "simulate ROBOT --scenario " + SCENARIO + "[initial]\nq = { z = -0.72 }",
        "the pose is singular",
    ),
    "a start off the constraint": (
        "delta",
        "simulate ROBOT --scenario " + SCENARIO + "[initial.joints]\nq1 = 0.1\nq2 = 0\nq3 = 0\nx = 0\ny = 0\nz = -0.45",
        "forearm2: the configuration is off the constraint",
    ),
    "a trajectory out of reach": (
        "delta",
        "torques ROBOT --trajectory schema = 1\n"
        '[trajectory]\nkind = "quintic"\nstart = [0, 0, -0.45]\ngoal = [0.9, 0, -0.45]\nduration = 1',
        "poses cannot be reached",
    ),
    "a trajectory to be followed out of reach": (
        "delta",
        "simulate ROBOT --scenario schema = 1\n"
        '[trajectory]\nkind = "quintic"\nstart = [0, 0, -0.45]\ngoal = [0.9, 0, -0.45]\nduration = 1\n'
        '[controller]\nkind = "computed_torque"\nkp = 100\nkd = 20',
        "poses cannot be reached",
    ),
    "an abbreviated model of loops": (
        "delta",
        "simulate ROBOT --scenario schema = 1\nduration = 1\n"
        '[controller]\nkind = "computed_torque"\nkp = 100\nkd = 20\ntarget = [0, 0, -0.45]\nmodel = "abbreviated"',
        "no abbreviated models of closed loops",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_ends_with_code_3_one_line_and_the_loop(case, tmp_path, monkeypatch, capfd):
    """Through the program's own entry: exit code, message, nothing on stdout."""
    robot, words, message = WRONG[case]
    if robot != "delta":
        (tmp_path / "tiny.toml").write_text(robot)
        robot = str(tmp_path / "tiny.toml")
    head, _, text = words.partition(" schema")
    command = [robot if word == "ROBOT" else word for word in head.split()]
    if text:
        (tmp_path / "run.toml").write_text("schema" + text)
        command.append(str(tmp_path / "run.toml"))
    monkeypatch.setattr(sys, "argv", ["emdeg", *command])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    assert ended.value.code == 3, said
    assert message in said.err.replace("\n", " ")
    assert any(loop in said.err for loop in ("forearm", "coupler", "closed loops"))
    assert said.out == ""


@pytest.mark.parametrize("name", ["delta", "fivebar", "fourbar", "palletiser", "rrr3"])
def test_check_passes_the_library(name):
    assert runner.invoke(app, ["check", name]).exit_code == 0


def test_the_same_robot_in_its_motors_coordinates():
    X, Xd, tau = [0.05, -0.08, -0.45], [0.3, -0.2, 0.1], [1.0, 0.5, -0.5]
    model = emdeg.loops.reduced_model("delta", X, Xd)
    Xdd = emdeg.forward_dynamics("delta", X, Xd, tau)
    state = {"q": emdeg.loops.joint_positions("delta", X)[:3], "qd": model["J"] @ Xd, "tau": tau}
    words = [f"--{name}={','.join(map(repr, map(float, value)))}" for name, value in state.items()]
    found = result("eval", "delta", "forward_dynamics", "--coordinates", "q1,q2,q3", *words)
    np.testing.assert_allclose(found, model["J"] @ Xdd + model["J_rate"] @ Xd, rtol=1e-9)
    assert runner.invoke(app, ["eval", "delta", "gravity", "--coordinates", "q9", "--q=0"]).exit_code != 0


def test_loops_names_modes_branches_and_every_joint():
    found = result("loops", "delta", "--modes", "--branches", "--q=0.05,-0.08,-0.45")
    assert list(found["mode"]["joints"]) == ["q1", "q2", "q3", "x", "y", "z"]
    assert [row["loop"] for row in found["modes"]] == ["forearm1", "forearm2", "forearm3"]
    assert len(found["branches"]) == 8
    assert len({one["label"] for one in found["branches"]}) == 8
    assert found["labels"] == [one["label"] for one in found["branches"]]
    assert "forearm1 in" in runner.invoke(app, ["loops", "delta", "--q=0,0,0.45"]).stdout
    assert isinstance(runner.invoke(app, ["loops", "puma560"]).exception, emdeg.RobotError)


def test_loops_tells_both_kinds_of_singularity_and_maps_the_workspace():
    found = result("loops", "fivebar", "--singularities", "--map", "--samples", "50")
    first, second = emdeg.loops.singularity("fivebar", list(found["q"].values()))
    assert found["singularity"]["first"]["distance"] == pytest.approx(float(first))
    assert found["singularity"]["second"]["distance"] == pytest.approx(float(second))
    assert found["workspace"]["samples"] == 50
    assert found["singularities"]["maps"]


def test_a_new_mechanism_closes_and_moves(tmp_path):
    file = tmp_path / "mine.toml"
    assert runner.invoke(app, ["new", "--loop", "--out", str(file)]).exit_code == 0
    robot = emdeg.load(file)
    assert emdeg.loops.closure_error(robot, emdeg.loops.joint_positions(robot, [2.0])) < 1e-12
    assert runner.invoke(app, ["check", str(file)]).exit_code == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [(ROUNDED_BENNETT, "the equations of four up to rounding"), (CUSPIDAL, "no steps of one square root")],
    ids=["bennett", "cuspidal"],
)
def test_what_closes_numerically_has_numbers_and_no_program(text, why, tmp_path, monkeypatch, capfd):
    """Every command that would write or count a program says why there is none, and what serves."""
    file = tmp_path / "linkage.toml"
    file.write_text(text)
    robot = emdeg.load(file)
    q = "--q=" + ",".join(str(float(robot.loops.start[k]) - 0.1) for k in robot.loops.coordinates)
    assert np.isfinite(result("eval", str(file), "gravity", q)).all()
    for words in (
        ["count", str(file), "gravity"],
        ["generate", str(file), "--function", "gravity", "--out", str(tmp_path)],
    ):
        monkeypatch.setattr(sys, "argv", ["emdeg", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 3
        said = capfd.readouterr().err
        assert "its loops close numerically, not by steps, so there is no program" in said
        assert why in said
        assert "emdeg eval, analyse and simulate" in said
    assert [path.name for path in tmp_path.iterdir()] == ["linkage.toml"]
