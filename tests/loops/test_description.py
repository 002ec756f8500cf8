"""Closed loops in robot files: what is read, what is written, what is refused."""

from __future__ import annotations

import pytest

import emdeg
from emdeg.errors import RobotError
from emdeg.robot import to_toml

LOOPED = ["delta", "delta_lumped", "fivebar", "stewart", "fourbar", "palletiser", "rrr3"]
FIVEBAR = """
schema = 1
name = "tiny"
convention = "modified"
[[link]]
name = "a"
parent = "base"
joint = { name = "q1", type = "revolute" }
[[link]]
name = "b"
parent = "base"
joint = { name = "q2", type = "revolute", a = 1 }
"""
ROD = """
[[rod]]
name = "r"
from = { link = "a", xyz = [1, 0, 0] }
to = { link = "b", xyz = [1, 0, 0] }
length = 1
"""
LOOPS = """
[loops]
coordinates = ["q1"]
driven = ["q1"]
"""


def loaded(tmp_path, text):
    file = tmp_path / "tiny.toml"
    file.write_text(text)
    return emdeg.load(file)


@pytest.mark.parametrize("name", LOOPED)
def test_a_file_written_reads_back_to_the_same_loops(name, tmp_path):
    robot = emdeg.load(name)
    file = tmp_path / "robot.toml"
    file.write_text(to_toml(robot))
    assert emdeg.load(file).loops == robot.loops


def test_loops_are_read(tmp_path):
    loops = loaded(tmp_path, FIVEBAR + ROD + LOOPS).loops
    assert loops is not None
    assert loops.rods[0].length.number == 1
    assert loops.coordinates == (0,)
    assert loops.names == ("r",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROD, "a loop is closed, so write .loops. with coordinates"),
        (LOOPS, "there is no ..rod.. and no ..closure.. that closes a loop"),
        (ROD.replace("length = 1", "length = 0") + LOOPS, "a rod needs a positive length"),
        (ROD.replace("length = 1", "length = 1\nmass = -1") + LOOPS, "mass must not be negative"),
        (ROD.replace("length = 1", "length = 1\ncom = 1.5") + LOOPS, "com is a share of the length"),
        (ROD.replace("length = 1", "length = 1\ninertia = 1\ncom = 0") + LOOPS, "mass centre between its ends"),
        (ROD.replace('link = "b"', 'link = "c"') + LOOPS, "the loop 'r' is attached to 'c', which does not exist"),
        (ROD.replace('link = "b"', 'link = "a"') + LOOPS, "r: both ends are on the same link: it closes no loop"),
        (ROD.replace("to =", "too =") + LOOPS, "unknown key 'too'"),
        (ROD + ROD + LOOPS, "two loops are called 'r'"),
        (ROD + LOOPS.replace('["q1"]', '["q7"]'), "there is no joint 'q7'"),
        (ROD + LOOPS.replace('["q1"]', '["q1", "q1"]'), "names a joint twice"),
        (ROD + LOOPS.replace('["q1"]', "1"), "must be an array of joints' names"),
        (ROD + LOOPS + "start = { q9 = 1 }", "unknown key 'q9'"),
        (ROD + LOOPS + "modes = { r = 2 }", "a mode is 1 or -1"),
        ('[[closure]]\nname = "c"\ntype = "screw"\n' + LOOPS, "type must be 'spherical' or 'universal'"),
    ],
)
def test_a_wrong_loop_is_refused_with_its_reason(tmp_path, text, message):
    with pytest.raises(RobotError, match=message):
        loaded(tmp_path, FIVEBAR + text)


def test_a_locked_joint_is_no_coordinate(tmp_path):
    file = tmp_path / "tiny.toml"
    file.write_text(FIVEBAR + ROD + LOOPS)
    with pytest.raises(RobotError, match="every coordinate is locked: q1"):
        emdeg.load(file, lock={"q1": 0.5})


def test_a_rod_may_have_symbols(tmp_path):
    robot = loaded(tmp_path, FIVEBAR + ROD.replace("length = 1", 'length = "l"\nmass = "m"') + LOOPS)
    assert robot.symbols == {"l", "m"}
    with pytest.raises(RobotError, match="symbols without a number: l, m"):
        emdeg.mass_matrix(robot, [0.1])
    assert emdeg.mass_matrix(emdeg.substitute(robot, {"l": 1, "m": 2}), [0.1]).shape == (1, 1)
