"""Scenario files: what they say is done, and what cannot be done is said before anything runs."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.errors import OverBudget, RobotError
from emdeg.simulation import perform, summary
from emdeg.simulation.pictures.stick_figures import animation
from emdeg.simulation.scenarios.outcome import table
from emdeg.simulation.scenarios.scenario import read_scenario
from tests.commands import run

GOOD = """
schema = 1
duration = 0.5
[initial]
q = { q1 = 0.1 }
[controller]
kind = "pd"
kp = [50, 50]
kd = 8
target = ["30 deg", -0.2]
[integration]
method = "rk4"
step = 0.001
output_step = 0.01
"""


def read(text: str, robot: str = "planar2r", folder: Path | None = None):
    return read_scenario(text, "run.toml", folder, emdeg.load(robot))


def test_a_scenario_is_carried_out():
    result = summary(perform(read(GOOD)))
    assert result["method"] == "rk4"
    assert result["steps"] == 500
    assert result["samples"]["t"][-1] == pytest.approx(0.5)
    assert result["drift"]["energy_relative"] < 1e-6
    json.dumps(result)


def test_the_same_seed_gives_the_same_batch():
    text = GOOD + "[batch]\ncount = 9\nseed = 4\nq_spread = 0.1\nqd_spread = { q1 = 0.2 }\n"
    first, second = perform(read(text)), perform(read(text))
    other = perform(read(text.replace("seed = 4", "seed = 5")))
    assert first.motion.q.shape == (9, 51, 2)
    np.testing.assert_array_equal(first.motion.q, second.motion.q)
    assert np.max(np.abs(first.motion.q - other.motion.q)) > 1e-3
    assert np.ptp(first.motion.q[:, 0, 0]) > 0.05
    assert summary(first)["trajectories"] == 9


MOVE = """
schema = 1
[trajectory]
kind = "quintic"
start = [0, 0]
goal = [1, 0.5]
duration = 0.5
[controller]
kind = "computed_torque"
kp = 400
kd = 40
"""


def strayed(text: str) -> float:
    """How far the arm ends up from the wanted motion [rad]."""
    outcome = perform(read(text))
    wanted = outcome.scenario.trajectory(outcome.motion.t)[0]
    return float(np.max(np.abs(outcome.motion.q - wanted)))


def test_computed_torque_with_a_shortened_model_strays_with_the_exact_one_does_not():
    shortened = MOVE + 'model = "abbreviated"\n'
    exact = strayed(MOVE)
    assert exact < 1e-9
    assert strayed(shortened + "significance = 0\njoint_significance = 0\n") == pytest.approx(exact, abs=1e-9)
    assert 1e-5 < strayed(shortened + "significance = 0.5\n") < 0.1


def test_thresholds_of_a_shortened_model_are_checked():
    with pytest.raises(RobotError, match="significance must be at least 0 and below 1; got 3"):
        read(MOVE + 'model = "abbreviated"\nsignificance = 3\n')
    with pytest.raises(RobotError, match=r"run\.toml:12: significance belongs to model = 'abbreviated'"):
        read(MOVE + "significance = 0.01\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("q1 = 0.1", "q7 = 0.1"), "run.toml:5: q: planar2r has no joint 'q7'; its joints are q1, q2"),
        (("kp = [50, 50]", "kp = [50, 50, 50]"), "run.toml:8: kp has 3 numbers; planar2r has 2 joints: q1, q2"),
        (("kp = [50, 50]", "kp = [50, -50]"), "kp must be finite and not negative"),
        (("step = 0.001", "step = 0.3"), "the duration 0.5 s is no multiple of the step"),
        (("step = 0.001", "step = 0"), "run.toml:13: step must be positive; got 0"),
        (("output_step = 0.01", "output_step = 1.0"), "run.toml: the duration 0.5 s is no multiple"),
        (("output_step = 0.01", "drift_tolerance = -1"), "run.toml:14: drift_tolerance must be at least 0"),
        (("output_step = 0.01", "[batch]\ncount = 2\nq_spread = -1"), "run.toml:14: spreads must not be negative"),
        (("output_step = 0.01", '[present]\nefforts = { q1 = "a", q2 = "a" }'), "two efforts would have the same name"),
        (("schema = 1", "schema = true"), "schema must be 1"),
        (("kd = 8", "kd = 9000"), "the step 0.001 s is unstable for rk4: the fastest mode at the start is"),
        (('method = "rk4"', 'method = "rk5"'), "method must be"),
        (("step = 0.001\n", "", 1), "rk4 needs a step"),
        (('method = "rk4"', ""), "DOP853 chooses its steps itself"),
        (("duration = 0.5", "duration = -1"), "duration must be at least 0"),
        (("schema = 1", ""), "write schema = 1 on the first line"),
        (("kd = 8", "kd = 8\nperiod = 0.0015"), "the sampling period 0.0015 s is no multiple of the step"),
        (("kd = 8", "kd = 8\ndelay = 0.001"), "a delay needs a sampling period"),
        (("kd = 8", "kd = 8\nkq = 1"), "run.toml:10: unknown key 'kq'"),
        (("kd = 8", 'kd = 8\nmax_effort = "drive"'), "no drive of the robot states one"),
        (("kd = 8", "kd = 8\nconverter_bits = 12"), "its drive has no max_torque"),
        (('target = ["30 deg", -0.2]', ""), "pd needs a target, or a table"),
        (('target = ["30 deg", -0.2]', 'target = ["x", 0]'), "target must be a number, not 'x'"),
        (("output_step = 0.01", "output_step = 0.01\n[effects]\nfriction = true"), "its file states none"),
        (("output_step = 0.01", 'output_step = 0.01\n[effects]\nstops = "bounce"'), "needs an adaptive method"),
        (("output_step = 0.01", 'output_step = 0.01\n[effects]\nstops = "spring"'), "there is nothing to stop at"),
    ],
)
def test_a_bad_scenario_is_refused_before_anything_runs(change, message):
    with pytest.raises(RobotError) as problem:
        perform(read(GOOD.replace(*change)))
    assert message in str(problem.value)


STIFF_STOPS = """
[effects]
stops = "spring"
stiffness = 1e9
"""


def test_a_step_too_long_for_the_robot_alone_is_refused_with_a_sampled_law_too():
    """Between samples the efforts are held, but a stop as stiff as this one is not followed by such a step."""
    text = "schema = 1\nduration = 0.5\n[initial]\nq = { q3 = 0.2 }\n[controller]\nkind = 'pd'\nkp = 50\nkd = 8\n"
    text += "target = [0, 0, 0.1, 0]\nperiod = 0.01\n[integration]\nmethod = 'rk4'\nstep = 0.01\n"
    with pytest.raises(RobotError, match=r"run\.toml: the step 0\.01 s is unstable for rk4"):
        perform(read(text.replace("0.2 }", "0.2000000001 }") + STIFF_STOPS, "scara"))


@pytest.mark.parametrize(("duration", "step", "records"), [(0.2, 0.001, 200), (0.7, 0.001, 350), (1.009, 0.001, 1009)])
def test_records_fit_the_fixed_step_where_no_output_step_is_given(duration, step, records):
    text = f"schema = 1\nduration = {duration}\n[integration]\nmethod = 'rk4'\nstep = {step}\n"
    assert len(perform(read(text)).motion.t) == records + 1


def test_the_trajectory_of_a_line_needs_a_duration():
    text = "schema = 1\n[trajectory]\nkind = 'line'\nnear = [0.3, 0.9]\ngoal = [0.5, 0, 0.5]\nduration = 0\n"
    with pytest.raises(RobotError, match=r"run\.toml:2: a duration must be positive"):
        read(text)


def test_a_run_that_was_written_can_be_read_as_a_trajectory(tmp_path):
    first = perform(read(GOOD))
    (tmp_path / "run.csv").write_bytes(table(first))
    again = read("schema = 1\nmode = 'torques'\n[trajectory]\nkind = 'csv'\nfile = 'run.csv'\n", folder=tmp_path)
    np.testing.assert_allclose(again.trajectory(first.motion.t)[0], first.motion.q, atol=1e-12)


def test_a_batchs_table_holds_every_trajectory(tmp_path):
    import pyarrow.parquet

    outcome = perform(read(GOOD + "[batch]\ncount = 3\nq_spread = 0.1\n"))
    (tmp_path / "run.parquet").write_bytes(table(outcome, "parquet"))
    found = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    rows = list(csv.DictReader(table(outcome).decode().splitlines()))
    assert found.num_rows == len(rows) == 3 * 51
    np.testing.assert_array_equal(found["trajectory"], np.repeat([0, 1, 2], 51))
    np.testing.assert_array_equal(found["q.q2"], outcome.motion.q[..., 1].ravel())
    np.testing.assert_array_equal(found["power_balance"], outcome.motion.invariants.power_balance.ravel())
    assert [float(row["q.q2"]) for row in rows] == found["q.q2"].to_pylist()


def test_a_start_outside_the_limits_is_refused():
    text = "schema = 1\nduration = 1\n[initial]\nq = { q3 = 0.3 }\n"
    with pytest.raises(RobotError, match=r"the run would start outside the robot's limits: q3: position 0.3 .* 0.2"):
        perform(read(text, "scara"))


def test_a_run_beyond_the_budget_is_refused():
    with pytest.raises(OverBudget, match="steps"):
        read(GOOD.replace("step = 0.001", "step = 0.000000001").replace("duration = 0.5", "duration = 5000"))


@pytest.mark.parametrize(
    "lines",
    [
        'kind = "cycloidal"\nstart = [0, 0]\ngoal = [1, 0.5]\nduration = 1',
        'kind = "quintic"\nstart = [0, 0]\ngoal = { q1 = "60 deg", q2 = 0 }\nduration = 1',
        'kind = "trapezoidal"\nstart = [0, 0]\ngoal = [1, 0.5]\nmax_speed = 2\nmax_acceleration = [5, 5]',
        'kind = "spline"\ntimes = [0, 0.5, 1]\npoints = [[0, 0], { q1 = 1, q2 = 0.3 }, [0.2, 0.1]]',
        'kind = "fourier"\nperiod = 2\na = [{ q1 = 0.5 }, [0.1, 0.2]]\nb = [[0, 0], [0.1, 0]]',
        'kind = "csv"\nfile = "move.csv"',
    ],
)
def test_every_kind_of_trajectory_can_be_tracked(lines, tmp_path):
    (tmp_path / "move.csv").write_text("t,q1,q2\n" + "".join(f"{k / 10},{k * k / 100},{-k / 20}\n" for k in range(11)))
    text = f"schema = 1\n[trajectory]\n{lines}\n[controller]\nkind = 'computed_torque'\nkp = 100\nkd = 20\n"
    plan = read(text, folder=tmp_path)
    assert max(summary(perform(plan))["tracking_error"]) < 1e-6


def test_a_tools_line_from_a_file():
    text = """
schema = 1
mode = "torques"
[trajectory]
kind = "line"
near = [0, -0.5, 0.8, 0.3, 0.6, 0.2]
goal = [0.5, 0.3, 0.3]
duration = 2
"""
    outcome = perform(read(text, "puma560"))
    T = emdeg.forward_kinematics(outcome.robot, outcome.prescribed.q[-1])
    np.testing.assert_allclose(T[:3, 3], [0.5, 0.3, 0.3], atol=1e-7)


def emdeg_command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "emdeg", *words], capture_output=True, text=True, cwd=cwd)


@pytest.mark.long
def test_simulate_writes_table_figure_summary_and_animations(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(GOOD)
    done = emdeg_command(
        "simulate",
        "planar2r",
        "--scenario",
        str(file),
        "--out",
        "results",
        "--animation",
        "results/run.gif",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["joints"] == ["q1", "q2"]
    folder = tmp_path / "results"
    assert sorted(path.name for path in folder.iterdir()) == ["run.csv", "run.gif", "run.json", "run.png"]
    rows = list(csv.DictReader((folder / "run.csv").read_text().splitlines()))
    assert len(rows) == 51
    assert float(rows[-1]["q.q1"]) == result["samples"]["q"][-1][0]
    assert {"t", "q.q1", "qd.q2", "tau.q1", "kinetic", "potential", "power_balance"} <= rows[0].keys()
    assert (folder / "run.gif").read_bytes()[:3] == b"GIF"
    again = emdeg_command("simulate", "planar2r", "--scenario", str(file), "--out", "results", cwd=tmp_path)
    assert again.returncode == 3
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--animation", "a.mp4"), 2, "is written as .gif or .html"),
        (("--table", "xls", "--out", "o"), 2, "--table is csv or parquet"),
        (("--animation", "file/a.html"), 3, "is no folder"),
        (("--out", "file"), 3, "is no folder"),
        (("--out", "taken", "--force"), 3, "run.png: it is a directory"),
        (("--out", "o", "--animation", "run.html"), 3, "run.html: it exists already"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_runs(words, code, message, tmp_path, monkeypatch):
    (tmp_path / "run.toml").write_text(GOOD)
    (tmp_path / "file").write_text("")
    (tmp_path / "run.html").write_text("")
    (tmp_path / "taken" / "run.png").mkdir(parents=True)
    monkeypatch.setattr("emdeg.simulation.scenarios.perform", lambda *_: pytest.fail("it ran"))
    before = sorted(tmp_path.rglob("*"))
    done = run("simulate", "planar2r", "--scenario", "run.toml", *words, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_long_motion_is_animated_with_fewer_frames():
    robot = emdeg.load("planar2r")
    t = np.linspace(0, 200, 11)
    text = animation(robot, t, np.stack([t, t], axis=1), ".html", "TITLE & DATA").decode()
    assert text.count("TITLE &amp; DATA") == 2
    times = json.loads(text.partition('"times": ')[2].partition("}")[0])
    assert (len(times), times[0], times[-1]) == (1500, 0.0, 200.0)


def test_degrees_are_shown_everywhere_or_nowhere(tmp_path):
    """An arm with turning joints and a slide: the paper's motion ends at 60 degrees and 0.1 m."""
    words = ("torques", "stanford_arm", "--trajectory", "stanford_fig1", "--json", "--out", "o", "--force")
    plain, turned = (json.loads(run(*words, *more, cwd=tmp_path).stdout)["result"] for more in ((), ("--deg",)))
    assert (plain["angles"], turned["angles"]) == ("rad", "deg")
    np.testing.assert_allclose(turned["samples"]["q"][-1], [60, 60, 60, 60, 60, 0.1])
    assert turned["samples"]["tau"] == plain["samples"]["tau"]
    scale = np.array([180 / np.pi] * 5 + [1])
    np.testing.assert_allclose(turned["largest_speed"], scale * plain["largest_speed"])
    last = list(csv.DictReader((tmp_path / "o" / "stanford_fig1.csv").read_text().splitlines()))[-1]
    assert float(last["q.q1"]) == pytest.approx(60)
    assert "positions [deg, m]" in run(*words[:4], "--deg").stdout


@pytest.mark.long
def test_torques_prints_the_papers_figure(tmp_path):
    words = ("--trajectory", "stanford_fig1", "--json", "--animation", "arm.html")
    done = emdeg_command("torques", "stanford_arm", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["efforts"] == ["tau1", "tau2", "tau3", "tau4", "tau5", "sigma"]
    assert result["samples"]["tau"][5][1] == pytest.approx(17.0730244, abs=1e-7)
    page = (tmp_path / "arm.html").read_text()
    assert "http" not in page
    assert "<canvas" in page


@pytest.mark.long
def test_a_wrong_scenario_gets_a_word_and_an_exit_code(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(GOOD.replace("q1 = 0.1", "elbow = 0.1"))
    done = emdeg_command("simulate", "planar2r", "--scenario", str(file), cwd=tmp_path)
    assert done.returncode == 3
    assert "has no joint 'elbow'" in done.stderr
    assert "Traceback" not in done.stderr
    for words, code in ((("--scenario", "nosuch"), 3), ((), 2)):
        assert emdeg_command("simulate", "planar2r", *words, cwd=tmp_path).returncode == code


@pytest.mark.long
def test_names_from_files_are_shown_not_run(tmp_path):
    """A title with markup stays text in the page and in the figure."""
    text = GOOD.replace("schema = 1", 'schema = 1\ntitle = "</script><b>$x^{"')
    file = tmp_path / "odd.toml"
    file.write_text(text)
    done = emdeg_command(
        "simulate", "planar2r", "--scenario", str(file), "--out", "r", "--animation", "r/a.html", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "</script><b>" not in (tmp_path / "r" / "a.html").read_text().replace("</script></body>", "")
