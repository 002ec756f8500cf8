"""Short programs of mechanisms: shorter, within their bounds at every state, proved to be what they are said to be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.approximation import lumped_approximation, shortest, show_program_again, stated_program
from emdeg.approximation.loop_error import LoopError, change_of_efforts, need_sum
from emdeg.dynamics.parameters import base_parameters, base_values
from emdeg.errors import NotCertified, Refuted, RobotError
from emdeg.programs import count, plain_program
from emdeg.robot import Robot, Workspace, workspace
from tests.commands import run

BOX = {"x": (-0.05, 0.05), "y": (-0.05, 0.05), "z": (-0.48, -0.42)}


@pytest.fixture(scope="module")
def delta() -> Robot:
    return emdeg.load("delta")


def misses(robot: Robot, call, where: Workspace, states: int = 20_000) -> np.ndarray:
    """The largest |call - efforts| at random states, by motor, rates at their ends at half of them."""
    q, qd, qdd = where.sample_states(states, np.random.default_rng(3))
    half = states // 2
    qd[:half], qdd[:half] = np.sign(qd[:half]) * where.speed, np.sign(qdd[:half]) * where.acceleration
    return np.abs(call(q, qd, qdd) - emdeg.inverse_dynamics(robot, q, qd, qdd)).max(axis=0)


@pytest.mark.long
def test_a_four_bar_with_fewer_parameters_stays_within_its_bounds() -> None:
    robot = emdeg.load("fourbar")
    where = workspace(robot, {"q1": (0.8, 1.2)})
    short = shortest(robot, worst_error=0.05, where=where, effort=1.0)
    assert not short.missed
    assert short.names == tuple(joint.name for joint in robot.driven)
    assert count(short.program()).total < count(short.exact).total
    miss = misses(robot, emdeg.compile(short.program()), where)
    bounds = np.array([e.bound for e in short.errors])
    assert (miss > 0).all()
    assert (miss <= bounds).all()
    assert (bounds <= 1.5 * np.array([e.value for e in short.errors])).all()
    stated = stated_program(short)
    show_program_again(robot, short.program(), stated)
    with pytest.raises(NotCertified, match="not shown"):
        show_program_again(robot, short.program(), stated | {"certified_error": [0.5 * miss[0]]})
    other = ["1" if x == "0" else x for x in stated["base_parameters"]]
    with pytest.raises(NotCertified, match="parameters"):
        show_program_again(robot, short.program(), stated | {"base_parameters": other})


@pytest.mark.long
def test_so_many_operations_or_the_target_is_missed() -> None:
    robot = emdeg.load("fourbar")
    where = workspace(robot, {"q1": (0.9, 1.1)})
    few = shortest(robot, at_most=1, ladder=(0.05,), where=where, effort=0.0)
    assert "asked for were 1" in few.missed[0]
    enough = shortest(robot, at_most=count(few.exact).total - 1, ladder=(0.05,), where=where, effort=0.5)
    assert not enough.missed
    exact = shortest(robot, at_most=10_000, where=where, effort=0.0)
    assert exact.program() == exact.exact
    assert not exact.missed


@pytest.mark.long
def test_the_lumped_delta_is_within_its_certified_error(delta: Robot) -> None:
    """Asadi and Heydari's comparison: forearms halved to their ends."""
    lumped = emdeg.load("delta_lumped")
    where = workspace(delta, BOX)
    found = lumped_approximation(delta, lumped, where)
    miss = misses(delta, lambda *state: emdeg.inverse_dynamics(lumped, *state), where)
    bounds = np.array([e.bound for e in found.errors])
    assert (miss <= bounds).all()
    assert (bounds <= 1.5 * np.array([e.value for e in found.errors])).all()
    assert (miss >= 0.5 * bounds).all()


@pytest.mark.long
def test_another_machine_is_no_short_model(delta: Robot) -> None:
    base = base_parameters(delta)
    known = [value.number for value in base_values(delta, base)]
    change = change_of_efforts(delta, base, [x / 10 for x in known])
    exact = plain_program(delta, "inverse_dynamics")
    with pytest.raises(Refuted):
        need_sum(exact, exact, change)
    with pytest.raises(RobotError, match="do not close all over the box"):
        LoopError(delta, change, workspace(delta, BOX | {"z": (-0.9, -0.4)})).bounds([0.1] * 3, enough=[1.0] * 3)


@pytest.mark.long
def test_command_line(tmp_path: Path) -> None:
    words = ["abbreviate", "fourbar", "--worst-error", "0.05", "--range", "q1=0.5:1.5", "--emit", "short.c", "--json"]
    done = run(*words, cwd=tmp_path, EMDEG_EFFORT="1")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["operations"]["mul"] < result["exact_operations"]["mul"]
    assert max(result["certified_error"]) <= 0.05
    assert run("verify", "short.c", cwd=tmp_path).returncode == 0
    words = ["abbreviate", "fourbar", "--tradeoff", "curve.png", "--beside", "fourbar", "--range", "q1=0.9:1.1"]
    done = run(*words, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["result"]
    assert points[-1]["beside"] == "fourbar"
    assert points[-1]["certified"] == [0.0]
    assert min(point["operations"] for point in points) < points[0]["operations"]
