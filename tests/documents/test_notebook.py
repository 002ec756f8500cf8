"""Public objects show themselves in a notebook: well-formed HTML, nothing of a stranger's taken for markup."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import emdeg
from emdeg.analysis import capability, loads, point_to_point, ratio, restrict, servo_view
from emdeg.documents.notebook import brief, table
from emdeg.programs import count, verify_program
from emdeg.robot.workspaces import workspace
from emdeg.simulation import computed_torque, cycloidal, fourier, linearise, load_scenario, perform, quintic

HOSTILE = "<script>alert(1)</script> & \"'"
ROOMS = ("", ".robot", ".equations", ".programs", ".runtime", ".approximation", ".analysis", ".simulation")
PLAIN = {
    "Op",
    "Ref",
    "InputGroup",
    "OutputGroup",
    "Body",
    "Draft",
    "Known",
    "Traced",
    "Tracer",
    "Trace",
    "TorqueRow",
    "Explicit",
    "BoundProgram",
    "Dependence",
    "Kind",
    "Tolerances",
    # what packages hand each other
    "AddedPart",
    "Choice",
    "ExactTransform",
    "Extract",
    "JointType",
    "ParameterGroup",
    "End",
    "Loops",
    "Remarks",
    "TomlDocument",
    "TomlTable",
    "Formulas",
    "TrigTable",
    "Weights",
    "Fold",
    "Rows",
    "UniformRows",
    "Writer",
    "RowObjective",
    "SharedSums",
    "ShortestForms",
    "Stated",
    "StatedModel",
    "Companion",
    "Effort",
    "Pattern",
    "ProgramError",
    "LoopError",
    "Act",
    "Allocation",
    "Constraints",
    "ConstraintsDraft",
    "Element",
}
"""Parts of which a program is made, and workers: their own `repr` is enough."""


def public_classes():
    found = []
    for room in ROOMS:
        module = importlib.import_module("emdeg" + room)
        for name in module.__all__:
            thing = getattr(module, name)
            described = getattr(thing, "_is_protocol", False)
            if inspect.isclass(thing) and not issubclass(thing, BaseException) and not described:
                found.append(pytest.param(thing, id=f"{room[1:]}.{name}"))
    return found


@pytest.mark.parametrize("kind", public_classes())
def test_every_public_kind_of_object_shows_itself(kind):
    assert kind.__name__ in PLAIN or hasattr(kind, "_repr_html_") or hasattr(kind, "_repr_latex_")


def samples():
    robot = emdeg.load("planar2r")
    q = np.array([0.3, 0.4])
    way = cycloidal([0, 0], [0.5, 0.4], duration=0.2)
    program = emdeg.program(robot, "mass_matrix")
    model = emdeg.derive(robot)
    base = emdeg.base_parameters(robot)
    arm = emdeg.load("stanford_arm")
    yield from (robot, robot.links[0], robot.joints[0], model, model.lumped, model.constants[0], model.compact())
    yield from (model.hierarchy(), base, program, emdeg.compile(program), count(program))
    yield verify_program(program, robot, "mass_matrix")
    yield from (way, quintic([0], [1], 1.0), fourier([0.0], [[1.0]], [[0.5]], 1.0), linearise(robot, q))
    yield emdeg.simulate(robot, computed_torque(robot, kp=100, kd=20, target=way), q, duration=0.1)
    yield from (workspace(robot), *loads(robot, seconds=0.5), ratio(model, "M12", "M11"))
    yield from (restrict(model, {2: 0.1}), capability(robot, q, limits=[20.0, 9.0]))
    yield servo_view(robot, point_to_point([0, 0], [1, 1], 2.0))
    yield emdeg.abbreviate(robot, significance=0.05, seconds=1)
    yield emdeg.kane.KaneModel(arm, emdeg.kane.load_setup("examples/speeds/stanford_arm.toml", arm))
    yield perform(load_scenario("stanford_fig1", arm))


def test_objects_show_themselves_as_short_well_formed_html():
    for thing in samples():
        html = thing._repr_html_()
        assert len(html) < 30_000, type(thing)
        text = "".join(ElementTree.fromstring(f"<div>{html}</div>").itertext())
        assert text.strip(), type(thing)


def test_a_strangers_names_are_text_and_not_markup():
    robot = emdeg.load("planar2r")
    joint = replace(robot.links[0].joint, name=HOSTILE)
    hostile = replace(robot, title=HOSTILE, links=(replace(robot.links[0], joint=joint), *robot.links[1:]))
    made = emdeg.program(hostile, "gravity"), emdeg.derive(hostile)
    for thing in (hostile, hostile.links[0], hostile.joints[0], *made):
        html = thing._repr_html_()
        assert "<script" not in html
        ElementTree.fromstring(f"<div>{html}</div>")


def test_a_robot_shows_its_numbers_as_people_write_them():
    html = emdeg.load("puma560")._repr_html_()
    assert "<td>0.4318</td>" in html
    assert "2159/5000" not in html


def test_a_program_says_what_it_costs_and_not_each_operation():
    program = emdeg.program(emdeg.load("planar2r"), "inverse_dynamics")
    assert len(repr(program)) < 100
    assert str(count(program)) in program._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.zeros((20, 3)), "20 x 3 numbers from 0 to 0"), (np.array(2.5), "2.5"), ("x" * 500, "x" * 157 + "...")],
)
def test_long_values_are_cut(value, text):
    assert brief(value) == text


def test_a_table_escapes_its_title_head_and_cells():
    assert table("<", [("<",)], ("<",)).count("&lt;") == 3
