"""Closed loops over their workspace: reach against geometry, motors' inertias against the model in their angles."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import emdeg
from emdeg.analysis import loops, loops_map
from emdeg.analysis.loops import closed_workspace, home, looked_at, motor_figures, motor_loads, poses, reached
from emdeg.analysis.loops_map import plane
from emdeg.cli import app
from emdeg.loops.choose import with_coordinates
from emdeg.loops.views import reachable, singularity_figures
from tests.loops.test_loops import robot_of, states

runner = CliRunner()


def test_the_delta_reaches_on_its_axis_between_stretched_and_folded():
    """There every arm's axis is right above its forearm's end: 0.52 - 0.2 m to 0.52 + 0.2 m below."""
    z = -np.array([0.315, 0.3199, 0.3201, 0.45, 0.7199, 0.7201, 0.8])
    q = np.stack([0 * z, 0 * z, z], -1)
    assert reachable(robot_of("delta"), q).tolist() == [False, False, True, True, True, False, False]


def test_reach_is_where_the_loops_close():
    robot = robot_of("rrr3")
    q = closed_workspace(robot).sample(50)

    def closes(pose):
        try:
            return bool(emdeg.loops.closure_error(robot, emdeg.loops.joint_positions(robot, pose)) < 1e-9)
        except emdeg.ClosureError:
            return False

    there = reachable(robot, q)
    assert there.tolist() == [closes(pose) for pose in q]
    assert 0 < there.sum() < 50


@pytest.mark.slow
def test_a_leg_beyond_its_stroke_is_not_reached():
    robot = robot_of("stewart")
    legs = [k for k, joint in enumerate(robot.joints) if joint in robot.driven]
    q = home(robot) + np.array([[0, 0, dz, 0, 0, 0] for dz in (0, 0.1, 0.22, -0.2, 0.4, -0.3)])
    length = emdeg.loops.joint_positions(robot, q)[:, legs]
    inside = (length >= 0.45).all(axis=1) & (length <= 0.85).all(axis=1)
    assert inside.tolist() == reached(robot, q).tolist()
    assert 0 < inside.sum() < len(q)


def test_motors_feel_the_mass_matrix_in_their_own_angles():
    """With the others held its diagonal, with the others free the inverse of its inverse's diagonal."""
    robot = robot_of("delta")
    X = states("delta", 6)[0]
    joints = with_coordinates(robot, ["q1", "q2", "q3"])
    M = emdeg.mass_matrix(joints, emdeg.loops.joint_positions(robot, X)[:, :3])
    found = motor_figures(robot, X)
    np.testing.assert_allclose(found["held"], np.diagonal(M, axis1=1, axis2=2), rtol=1e-9)
    np.testing.assert_allclose(found["free"], 1 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2), rtol=1e-9)
    rest = np.zeros_like(X)
    np.testing.assert_allclose(found["gravity"], emdeg.inverse_dynamics(robot, X, rest, rest), atol=1e-10)


def test_extremes_are_attained_and_pass_every_sample(monkeypatch):
    monkeypatch.setattr(loops, "ROUNDS", 5)
    robot = robot_of("fivebar")
    found = poses(robot, closed_workspace(robot, {"q1": (1.2, 2.6), "q2": (0.5, 1.9)}), 500)
    values = motor_figures(robot, found.q[found.usable])
    for i, load in enumerate(motor_loads(robot, found)):
        for key, (low, high) in (("held", load.held), ("free", load.free), ("gravity", load.gravity)):
            for extreme in (low, high):
                at = np.array([extreme.at])
                assert motor_figures(robot, at)[key][0, i] == pytest.approx(extreme.value)
                assert looked_at(robot, at)[3][0]
            assert low.value <= values[key][:, i].min()
            assert high.value >= values[key][:, i].max()


def test_the_volume_is_that_of_a_finer_grid():
    robot = robot_of("delta")
    where = closed_workspace(robot, {"x": (-0.2, 0.2), "y": (-0.2, 0.2), "z": (-0.75, -0.3)})
    volume, error = poses(robot, where, 4000).volume
    grid = np.stack(
        np.meshgrid(*(np.linspace(a, b, 24, endpoint=False) + (b - a) / 48 for a, b in where.ranges)), -1
    ).reshape(-1, 3)
    fine = reachable(robot, grid).mean() * np.prod(np.diff(where.ranges))
    assert abs(volume - fine) < 4 * error
    assert error < 0.02 * volume


def test_the_second_kind_is_passed_where_three_forearms_meet_in_a_point():
    """The line of zero determinant on the map of the 3-RRR: there the three forearms' moments about a point vanish."""
    robot = robot_of("rrr3")
    found = plane(robot, closed_workspace(robot, {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "phi": (-1.2, 1.2)}), 0, 2, 61)
    assert found.crossed
    names = [joint.name for joint in robot.joints]
    low, high = -1.2, 1.2
    side = singularity_figures(robot, [0, 0, low])[3]
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if singularity_figures(robot, [0, 0, middle])[3] * side > 0 else (low, middle)
    T = emdeg.link_transforms(robot, [0, 0, low])
    lines = [T[names.index(name)] for name in ("p1", "p2", "p3")]
    for line in lines:  # by symmetry the lines meet in the centre
        assert abs(line[0, 3] * line[1, 0] - line[1, 3] * line[0, 0]) < 1e-9


def result(*words):
    done = runner.invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["result"]


@pytest.mark.long
def test_analyse_delta_writes_maps_and_says_what_motors_feel(tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "ROUNDS", 5)
    monkeypatch.setattr(loops_map, "GRID", 41)
    monkeypatch.setattr(loops_map, "LINE", 101)
    found = result(
        "analyse", "delta", "--samples", "800", "--range", "z=-0.6:-0.35", "--over", "x,z", "--out", str(tmp_path)
    )
    assert found["coordinates"] == ["x", "y", "z"]
    assert [row["motor"] for row in found["inertia"]] == ["q1", "q2", "q3"]
    assert found["inertia"][0]["others_held"]["min"] > 0.0465  # the drive's own inertia
    assert found["workspace"]["box"][2] == {"coordinate": "z", "low": -0.6, "high": -0.35, "found_by_rays": False}
    assert found["singularities"]["first"]["loop"].startswith("forearm")
    (map_csv,) = [file for file in found["files"] if file.endswith("x_z.csv")]
    with open(map_csv) as handle:
        rows = list(csv.DictReader(handle))
    seen = [row for row in rows if row["first"] != "nan"]
    one = seen[len(seen) // 2]
    expected = emdeg.loops.singularity(robot_of("delta"), [float(one[k]) for k in "xyz"])
    np.testing.assert_allclose([float(one["first"]), float(one["second"])], expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "delta_lumped", "fivebar", "fourbar", "palletiser", "rrr3", "stewart"])
def test_every_mechanism_is_analysed(name, tmp_path):
    found = result("analyse", name, "--samples", "1000", "--out", str(tmp_path))
    assert found["workspace"]["usable"] > 0
    assert all(row["others_held"]["min"] > 0 for row in found["inertia"])
    assert any(file.endswith(".png") for file in found["files"])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--range", "q1=0:1"], 3, "'q1' is no independent coordinate; these are x, y, z"),
        (["--range", "z=1:0"], 3, "z: its range is empty"),
        (["--range", "z=1:2"], 3, "no usable pose was found"),
        (["--formula", "M11"], 2, "--formula is not known for closed loops"),
        (["--only", "servo"], 2, "there is no part 'servo' of closed loops"),
        (["--over", "x,q1"], 2, "--over needs two different coordinates among x, y, z"),
    ],
)
def test_what_cannot_be_analysed_is_refused(words, code, message):
    done = runner.invoke(app, ["analyse", "delta", "--samples", "50", *words])
    said = f"{done.output}{done.exception}"
    assert message in " ".join(said.split())
    assert done.exit_code == (code if code == 2 else 1)  # the program's own main gives 3 for bad input
