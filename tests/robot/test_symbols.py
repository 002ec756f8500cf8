"""Numbers made symbols by their path: with their own numbers back the robot is the same, with others another's."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.errors import RobotError
from emdeg.robot.substitution import substitute
from emdeg.robot.symbols import opened, parameter_paths

ARM = """schema = 1
name = "arm"
convention = "modified"
[[link]]
name = "upper"
joint = {{ name = "q1", type = "revolute", alpha = "90 deg" }}
inertia = {{ about = "com", mass = {mass}, com = [{x}, 0, 0.02], Ixx = 0.1, Iyy = 0.2, Izz = 0.25 }}
[[link]]
name = "fore"
joint = {{ name = "q2", type = "revolute", alpha = {alpha}, a = 0.4, d = {d} }}
inertia = {{ about = "frame", M = 2, MX = 0.3, XX = 0.02, YY = {YY}, ZZ = 0.1 }}
drive = {{ inertia = {Ia} }}
"""
OWN = {"mass": 3.0, "x": 0.1, "alpha": 0.3, "d": 0.05, "YY": 0.09, "Ia": 0.5}
OTHER = {"mass": 4.0, "x": -0.2, "alpha": -0.7, "d": 0.11, "YY": 0.1, "Ia": 0.9}
PATHS = {
    "mass": "upper.mass",
    "x": "upper.com.x",
    "alpha": "q2.alpha",
    "d": "q2.d",
    "YY": "fore.YY",
    "Ia": "q2.drive.inertia",
}


def torques(robot) -> np.ndarray:
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, robot.n))
    return emdeg.inverse_dynamics(robot, q, qd, qdd)


@pytest.mark.parametrize("name", ["puma560", "panda", "planar3r", "stanford_arm"])
def test_every_number_may_be_opened_and_put_back(name):
    robot = emdeg.load(name, payload="mass=1,com=0.1:0:0.2,inertia=0.1:0.1:0.1")
    paths = parameter_paths(robot)
    linear = {p for p in paths if p.rpartition(".")[2] in ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")}
    found = opened(robot, [path for path in paths if path not in linear])
    assert len(found.robot.symbols) >= len(paths) - len(linear)
    back = substitute(found.robot, {found.symbols[path]: value for path, value in found.nominal.items()})
    assert np.allclose(torques(back), torques(robot), rtol=1e-12, atol=1e-12)


def test_another_number_is_what_a_file_with_that_number_says(tmp_path):
    for name, values in (("own", OWN), ("other", OTHER)):
        (tmp_path / f"{name}.toml").write_text(ARM.format(**values))
    found = opened(emdeg.load(tmp_path / "own.toml"), list(PATHS.values()))
    assert found.nominal == {PATHS[key]: value for key, value in OWN.items()}
    changed = substitute(found.robot, {found.symbols[PATHS[key]]: value for key, value in OTHER.items()})
    assert np.allclose(torques(changed), torques(emdeg.load(tmp_path / "other.toml")), rtol=1e-13)


def test_what_cannot_be_opened_is_said():
    with pytest.raises(RobotError, match=r"there is no parameter 'link2.maas'; did you mean link2.mass"):
        opened(emdeg.load("puma560"), ["link2.maas"])
    with pytest.raises(RobotError, match="vary the symbols it is made of"):
        opened(emdeg.load("puma560_symbolic"), ["link2.M"])
    assert opened(emdeg.load("puma560_symbolic"), ["M2"]).symbols == {"M2": "M2"}
