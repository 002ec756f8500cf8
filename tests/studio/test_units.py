"""Units of entries: joints that turn and joints that slide, chains and loops."""

from __future__ import annotations

import pytest

import emdeg
from emdeg.documents import Label, label
from emdeg.programs import Dependence, Tracer
from emdeg.studio.units import Dimension, of_entry, of_parameter, of_values


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("M11", "kg m²"),
        ("M13", "kg m"),
        ("M33", "kg"),
        ("b113", "kg m"),
        ("c31", "kg m"),
        ("c13", "kg"),
        ("g1", "N m"),
        ("g3", "N"),
        ("J11", "m"),
        ("J13", ""),
        ("J41", ""),
        ("nonsense", ""),
    ],
)
def test_entries_of_an_arm_with_a_sliding_third_joint(name: str, unit: str) -> None:
    assert of_entry(label(name), emdeg.load("stanford_arm")) == unit


def test_entries_of_loops_with_sliding_coordinates_and_turning_drives() -> None:
    robot = emdeg.load("delta")
    labels = [Label("M", "11"), Label("C", "12"), Label("G", "1"), Label("J", "11"), Label("J", "_L1_1_2", dots=1)]
    assert [of_entry(one, robot) for one in labels] == ["kg", "kg/s", "N", "1/m", "1/s"]


def test_summands_of_different_units_have_none() -> None:
    tracer = Tracer()
    length, mass = tracer.inputs("q", 2, Dependence.CONFIGURATION)
    program = tracer.program("f", {"y": [length * mass + mass * length, length / mass, length + mass]})
    found = of_values(program, lambda slot: (Dimension(0, 1), Dimension(1))[slot[1]])
    assert [found[ref.value] for ref in program.outputs[0].entries] == [Dimension(1, 1), Dimension(-1, 1), None]
    robot = emdeg.load("stanford_arm")
    paths = ("link1.mass", "q6.drive.inertia", "q1.drive.inertia", "link2.com.x", "link2.Ixx", "q2.d", "gravity.z")
    assert [str(of_parameter(robot, path)) for path in paths] == ["kg", "kg", "kg m²", "m", "kg m²", "m", "m/s²"]
