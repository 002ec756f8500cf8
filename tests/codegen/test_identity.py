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
    data, plain = robot_data(robot)
    assert robot_data(stored_robot(data))[0] == data
    names = [link.name for link in plain.links]
    assert len(set(names)) == len(names)
    if odd in (ODD[0], ODD[2]) and old == "base_yaw":
        (made,) = emdeg.generate(path, "gravity")
        assert recheck(made.text.encode(), made.certificate)


def test_two_names_that_would_become_one_stay_two(tmp_path):
    path = tmp_path / "arm.urdf"
    text = (EXAMPLES / "arm.urdf").read_text()
    path.write_text(text.replace('"turret"', '"x "').replace('"wrist"', '" x"').replace('"forearm"', '"x"'))
    _, plain = robot_data(emdeg.load(path))
    names = [link.name for link in plain.links]
    assert len(set(names)) == len(names)
