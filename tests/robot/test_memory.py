"""What was worked out for a robot is remembered for it and for its equals, and for no other."""

from dataclasses import replace

import emdeg
from emdeg.robot.memory import remembered


def test_an_equal_robot_finds_what_was_worked_out_and_another_does_not():
    calls = []

    @remembered(2)
    def name(robot):
        calls.append(robot.name)
        return robot.name

    first = emdeg.load("planar2r")
    again = replace(first)
    other = replace(first, name="other")
    assert again is not first
    assert [name(robot) for robot in (first, first, again, other, first)] == ["planar2r"] * 3 + ["other", "planar2r"]
    assert calls == ["planar2r", "other"]


def test_more_robots_than_it_holds_are_worked_out_again_and_rightly():
    @remembered(2)
    def joints(robot):
        return robot.n

    robots = [emdeg.load(name) for name in ("planar2r", "planar3r", "scara", "puma560")]
    assert [joints(robot) for robot in robots * 2] == [2, 3, 4, 6] * 2
