"""Which robot it is: names that no file may have are stored so that they can be read, and stay different."""

from pathlib import Path

import pytest

import emdeg
from emdeg.codegen.artefact import recheck
from emdeg.codegen.identity import robot_data, stored_robot

EXAMPLES = Path(__file__).parents[2] / "examples"
ODD = [
    "end ",
    " x",
    "a" * 180,
    "qu&quot;ote",
    "back\\slash",
    "\u00e9" * 50,
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("old", ["turret", "base_yaw"])
def test_a_robot_with_odd_names_has_a_certificate_that_can_be_repeated(odd, old, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text((EXAMPLES / "arm.urdf").read_text().replace(f'"{old}"', f'"{odd}"'))
    robot = emdeg.load(path)
    data = robot_data(robot)
    assert robot_data(stored_robot(data)) == {**data, "name": stored_robot(data).name}
    if odd in (ODD[0], ODD[2]) and old == "base_yaw":
        (made,) = emdeg.generate(path, "gravity")
        assert recheck(made.text.encode(), made.certificate)


def test_friction_and_limits_are_and_are_not_part_of_a_robot_s_identity(tmp_path):
    path = tmp_path / "arm.toml"
    text = """schema = 1
name = "arm"
convention = "modified"
[[link]]
name = "link"
joint = { name = "hinge", type = "revolute" }
inertia = { about = "com", mass = 2, com = [0.3, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }
"""
    path.write_text(text)
    bare = robot_data(emdeg.load(path))["digest"]
    path.write_text(text.replace('"revolute" }', '"revolute", lower = -1, upper = 1 }'))
    assert robot_data(emdeg.load(path))["digest"] == bare
    path.write_text(text.replace('"revolute" }', '"revolute" }\ndrive = { viscous = 0.1 }'))
    assert robot_data(emdeg.load(path))["digest"] != bare
