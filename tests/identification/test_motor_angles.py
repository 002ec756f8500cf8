"""A mechanism's motion from its motors: the platform where the motors say, friction and loads at the motors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import emdeg
from emdeg import loops
from emdeg.dynamics.formulations import FrictionLaw
from emdeg.errors import RobotError
from emdeg.identification.motor_angles import coordinate_rates, coordinates_from_motors
from tests import commands

LAW = FrictionLaw(0.05, 0.3, 0.2, 0.15)


@pytest.fixture(scope="module")
def delta():
    return emdeg.load("delta")


@pytest.fixture(scope="module")
def motion():
    """t, q, qd, qdd of a platform that goes round and up and down."""
    t = np.arange(0.0, 1.6, 0.002)
    rates = 2 * np.pi * np.array([0.8, 1.04, 0.56])
    sizes, phases = np.array([0.08, 0.08, 0.04]), np.array([0.0, 0.5, 0.0]) * np.pi
    angle = t[:, None] * rates + phases
    q = sizes * np.sin(angle) + [0, -0.08, -0.45]
    return t, q, sizes * rates * np.cos(angle), -sizes * rates**2 * np.sin(angle)


def test_coordinates_from_motors_are_where_the_motors_came_from(delta, motion):
    _, q, qd, _ = motion
    motors = loops.joint_positions(delta, q)[:, :3]
    motors[3] = np.nan
    found = coordinates_from_motors(delta, motors)
    whole = np.arange(len(q)) != 3
    assert np.isnan(found[3]).all()
    np.testing.assert_allclose(found[whole], q[whole], atol=1e-8)
    rates = coordinate_rates(delta, q, loops.drive_rates(delta, q, qd))
    np.testing.assert_allclose(rates, qd, atol=1e-9)


def test_motors_that_cannot_stand_so_are_named(delta):
    with pytest.raises(RobotError, match=r"motors cannot stand"):
        coordinates_from_motors(delta, np.array([[0.1, 0.1, 0.1], [3.0, -3.0, 0.0]]))


def log(path, header, *columns):
    rows = np.column_stack(columns)
    text = "\n".join([",".join(header), *(",".join(f"{x:.12g}" for x in row) for row in rows)])
    path.write_text(text + "\n")
    return str(path)


@pytest.mark.parametrize("names", [("q_q1", "q_q2", "q_q3"), ("q1", "q2", "q3"), ("q_x", "q_y", "q_z")])
def test_friction_of_the_delta_is_found_from_motor_angles_and_from_poses(delta, motion, names, tmp_path):
    t, q, qd, qdd = motion
    tau = emdeg.inverse_dynamics(delta, q, qd, qdd)
    tau = tau + LAW.effort(loops.drive_rates(delta, q, qd), np.sign, np.exp, np.tanh)
    positions = q if "q_x" in names else loops.joint_positions(delta, q)[:, :3]
    currents = tau / 0.5
    file = log(tmp_path / "log.csv", ["t", *names, "i1", "i2", "i3"], t, positions, currents)
    words = ("--measured", file, "--torque-constants", "0.5,0.5,0.5", "--slowest", "0.02", "--json")
    done = commands.run("analyse", "delta", *words, "--out", str(tmp_path / "figures"))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    found = result["measured"]
    assert "workspace" not in result
    assert (tmp_path / "figures" / "measured.png").exists()
    assert [fit["joint"] for fit in found["friction"]] == ["q1", "q2", "q3"]
    for fit in found["friction"]:
        for name, value in (("viscous", 0.05), ("coulomb", 0.3), ("stribeck", 0.5), ("stribeck_velocity", 0.15)):
            assert fit[name]["value"] == pytest.approx(value, rel=0.05), name
    assert all(error["relative"] < 0.01 for error in found["errors"])
    assert "load" not in found


@pytest.mark.long
def test_a_load_on_the_platform_that_is_not_modelled_is_named(delta, motion, tmp_path):
    t, q, qd, qdd = motion
    carrying = emdeg.load("delta", payload="mass=0.3,com=0:0:0@platform")
    tau = emdeg.inverse_dynamics(carrying, q, qd, qdd)
    tau = tau + LAW.effort(loops.drive_rates(delta, q, qd), np.sign, np.exp, np.tanh)
    motors = loops.joint_positions(delta, q)[:, :3]
    header = ["t", *(f"{letter}_q{k}" for letter in ("q", "tau") for k in (1, 2, 3))]
    file = log(tmp_path / "log.csv", header, t, motors, tau)
    done = commands.run("analyse", "delta", "--measured", file, "--json")
    assert json.loads(done.stdout)["result"]["measured"]["load"]["mass"] == pytest.approx(0.3, rel=0.1)
    assert "model it (--payload)" in done.stderr
    modelled = commands.run(
        "analyse", "delta", "--payload", "mass=0.3,com=0:0:0@platform", "--measured", file, "--json"
    )
    assert "load" not in json.loads(modelled.stdout)["result"]["measured"]
