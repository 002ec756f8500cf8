"""MJCF: what is read through MuJoCo's compiler, and the words for everything that is refused."""

from __future__ import annotations

import importlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.errors import OverBudget, RobotError
from emdeg.robot import Robot, assemble
from emdeg.robot.checks import BUDGET
from emdeg.robot.markup import parse_xml
from emdeg.robot.mjcf_extract import extract
from emdeg.robot.mjcf_reader import read_mjcf, rotation_of_quaternion

FILES = Path(__file__).parents[1] / "data" / "robots"
INERTIAL = '<inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>'


def document(*parts: str, before: str = "") -> str:
    """A model whose world holds the parts, each on its own line, the first on line 3."""
    return "\n".join([f"<mujoco>{before}", "<worldbody>", *parts, "</worldbody></mujoco>"])


def body(inside: str, attributes: str = "") -> str:
    return f'<body name="b" {attributes}>{inside}</body>'


def one(inside: str = "", attributes: str = "", joint: str = '<joint name="j" axis="0 0 1"/>', before: str = "") -> str:
    return document(body(joint + INERTIAL + inside, attributes), before=before)


def robot_of(text: str, snap: float = 1e-5) -> Robot:
    return assemble(read_mjcf(text, "some.xml", snap))


def test_decimals_stay_exact_and_euler_angles_become_so() -> None:
    found = read_mjcf(one(attributes='pos="0.4318 0 -0.0203" euler="90 0 0"'), "some.xml").bodies[0]
    assert [v.number for v in found.pose.p] == [Fraction(2159, 5000), 0, Fraction(-203, 10000)]
    assert found.pose.R == ((1, 0, 0), (0, 0, -1), (0, 1, 0))


def test_an_angle_near_a_multiple_of_a_twelfth_of_pi_becomes_exact_and_is_reported() -> None:
    text = one(attributes='euler="1.5708 0 0"', before='<compiler angle="radian"/>')
    draft = read_mjcf(text, "some.xml")
    assert draft.bodies[0].pose.R[2] == (0, 1, 0)
    assert draft.notes == ("body 'b': its roll, pitch, yaw were read as pi/2, 0, 0",)
    unsnapped = read_mjcf(text, "some.xml", 0.0)
    assert unsnapped.notes == ()
    assert unsnapped.bodies[0].pose.R[2][2] != 0


@pytest.mark.parametrize("pitch", [90, -90, 89.9999])
def test_a_right_pitch_leaves_one_angle_to_know(pitch: float) -> None:
    text = one(attributes=f'euler="30 {pitch} 0"', before='<compiler eulerseq="zyx"/>')
    stated = read_mjcf(text, "some.xml", 0.0).bodies[0].pose.R
    exact = read_mjcf(text, "some.xml", 1e-5).bodies[0].pose.R
    assert max(abs(float(a - b)) for r, s in zip(stated, exact) for a, b in zip(r, s)) < 3e-6
    assert exact[2] == ((-1 if pitch > 0 else 1), 0, 0)


def test_the_inertia_stated_is_the_inertia_read() -> None:
    full = '<inertial pos="0 0 0" mass="1.5" fullinertia="0.1 0.2 0.25 0.01 0.02 0.03"/>'
    text = document(body(f'<joint axis="0 0 1"/>{full}'))
    tensor = read_mjcf(text, "some.xml").bodies[0].inertia.tensor
    assert tensor == tuple(Exact.of(v) for v in (0.1, 0.01, 0.02, 0.2, 0.03, 0.25))


def test_armature_damping_and_friction_loss_become_the_drive() -> None:
    joint = '<joint axis="0 0 1" armature="0.3" damping="0.2" frictionloss="0.1" range="-90 45"/>'
    found = robot_of(one(joint=joint)).joints[0]
    assert found.drive.inertia == Exact.of(0.3)
    assert found.drive.friction.viscous == Exact.of(0.2)
    assert found.drive.friction.coulomb == Exact.of(0.1)
    assert found.limits.lower is not None
    assert float(found.limits.lower) == pytest.approx(-np.pi / 2)


def test_defaults_and_gravity_of_the_file_hold() -> None:
    before = '<option gravity="0 1.5 -9"/><default><joint armature="0.7"/></default>'
    robot = robot_of(one(before=before))
    assert robot.joints[0].drive.inertia == Exact.of(0.7)
    assert [float(v) for v in robot.gravity] == [0, 1.5, -9]
    off = robot_of(one(before='<option><flag gravity="disable"/></option>'))
    assert not any(off.gravity)


def test_several_hinges_on_one_body_become_massless_links() -> None:
    joints = "".join(f'<joint name="j{k}" axis="{axis}"/>' for k, axis in enumerate(("1 0 0", "0 1 0", "0 0 1")))
    robot = robot_of(one(joint=joints))
    assert [joint.name for joint in robot.joints] == ["j0", "j1", "j2"]
    assert [link.inertia.is_zero for link in robot.links] == [True, True, False]
    assert robot.links[-1].name == "b"


def test_a_reference_position_is_where_the_file_draws_the_joint() -> None:
    text = one(joint='<joint name="j" axis="0 0 1" ref="30"/>', inside='<body name="tip" pos="1 0 0"/>')
    tool = emdeg.forward_kinematics(robot_of(text), [np.pi / 6])
    assert np.allclose(tool[:3, 3], [1, 0, 0], atol=1e-15)


def test_nameless_bodies_and_joints_get_names() -> None:
    text = document(f'<body><joint axis="0 0 1"/>{INERTIAL}<body pos="1 0 0">{INERTIAL}</body></body>')
    robot = robot_of(text)
    assert robot.joints[0].name == "joint1"
    assert {"body1", "body2", "world"} == {frame.name for frame in robot.frames}


def test_meshes_are_never_opened() -> None:
    asset = '<asset><mesh name="m" file="/etc/passwd"/><texture name="t" file="/etc/shadow"/></asset>'
    robot = robot_of(one(inside='<geom type="mesh" mesh="m"/>', before=asset))
    assert robot.links[0].inertia.mass == Exact.of(2)
    light = '<default><default class="visual"><geom type="mesh" mass="0"/></default></default>'
    shape = '<geom class="visual" mesh="m"/><geom size="0.1" mass="3"/>'
    text = document(body(f'<joint axis="0 0 1"/>{shape}'), before=asset + light)
    assert robot_of(text).links[0].inertia.mass == Exact.of(3)


def test_what_is_left_out_is_noted() -> None:
    text = document(
        body(f'<joint name="j" axis="0 0 1" stiffness="5"/>{INERTIAL}', 'gravcomp="1"'),
        before='<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>',
    )
    assert read_mjcf(text, "some.xml").notes == (
        "body 'b': its gravity compensation was left out",
        "joint 'j': its spring was left out",
        "the file's <tendon> section was left out",
    )


STILL = '<body name="s" pos="1 0 0"><geom size="0.1" mass="30"/></body>'
MESH = '<geom type="mesh" mesh="m" group="5"/><geom size="0.1" mass="1"/>'


def test_bodies_that_stand_still_have_their_part_in_the_total_mass() -> None:
    robot = robot_of(document(STILL, body(f"<joint/>{INERTIAL}"), before='<compiler settotalmass="8"/>'))
    assert float(robot.links[0].inertia.mass) == pytest.approx(8 * 2 / 32)


def test_groups_are_compared_as_numbers() -> None:
    text = document(body(f"<joint/>{MESH}"), before='<compiler inertiagrouprange="0 10"/>')
    with pytest.raises(RobotError, match="inertia would come from this mesh"):
        robot_of(text)
    text = document(body(f"<joint/>{MESH}"), before='<compiler inertiagrouprange="0 4"/>')
    assert robot_of(text).links[0].inertia.mass == Exact.of(1)


@pytest.mark.parametrize(
    ("before", "joint", "words"),
    [
        ('<option density="1.2"/>', "", "the forces of the fluid"),
        ('<option viscosity="0.1"/>', "", "the forces of the fluid"),
        ("", 'damping="1 0.5"', "joint 'j': the quadratic and cubic parts of its damping were left out"),
        ("", 'stiffness="0 0.5"', "joint 'j': its spring was left out"),
        ("", 'springdamper="0.5 1"', "joint 'j': its spring was left out"),
        ("<default><motor armature='1'/></default>", "", "inertia and damping of the file's <actuator>"),
        ('<option><flag damper="disable"/></option>', 'damping="1"', "damping is switched off in the file"),
    ],
)
def test_forces_that_are_no_part_of_the_robot_are_noted(before: str, joint: str, words: str) -> None:
    draft = read_mjcf(one(joint=f'<joint name="j" axis="0 0 1" {joint}/>', before=before), "some.xml")
    assert any(words in note for note in draft.notes), draft.notes


def test_a_warning_of_the_compiler_is_a_note_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draft = read_mjcf(one(joint='<joint axis="0 0 1"/>' * 2), "some.xml")
    assert "singular" in draft.notes[0]
    assert not list(tmp_path.iterdir())


def test_a_quaternion_of_any_length_is_an_exact_rotation() -> None:
    R = rotation_of_quaternion((Fraction(2), Fraction(0), Fraction(0), Fraction(1)))
    assert ((Fraction(3, 5), Fraction(-4, 5), 0), (Fraction(4, 5), Fraction(3, 5), 0), (0, 0, 1)) == R


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, package: str | None = None):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(RobotError, match=r"emdeg\[mjcf\]"):
        read_mjcf(one(), "some.xml")


def test_the_compiler_sees_nothing_but_bodies_joints_and_inertias() -> None:
    text = document(
        '<light/><camera/><geom type="mesh" mesh="m" material="x"/>',
        body(f'<joint axis="0 0 1" user="1"/>{INERTIAL}<site/><geom mesh="m"/>', 'user="2" mocap="false"'),
        before='<asset><mesh file="a"/><model file="b"/></asset><sensor/><actuator/><keyframe/><compiler meshdir="/"/>',
    )
    assert (
        extract(parse_xml(text)).xml.split()
        == (
            '<mujoco> <compiler/> <worldbody> <body name="b"> <joint axis="0 0 1" name="joint1"/> '
            f"{INERTIAL} </body> </worldbody> </mujoco>"
        ).split()
    )


BAD = {
    "empty": ("", "not well-formed|empty"),
    "document type": ("<!DOCTYPE m><mujoco/>", "document type"),
    "URDF": ("<robot/>", "this is a URDF file"),
    "another format": ("<sdf/>", "some.xml:1: its root element is <sdf>; an MJCF's is <mujoco>"),
    "include": (document('<include file="/etc/passwd"/>'), "some.xml:3: an <include> is refused"),
    "plugin": (document("<plugin/>"), "some.xml:3: a <plugin> is refused"),
    "extension": ("<mujoco><extension/></mujoco>", "some.xml:1: an <extension> is refused"),
    "attach": (document('<attach model="m"/>'), "some.xml:3: an <attach> is refused"),
    "replicate": (document('<replicate count="1000000000"/>'), "some.xml:3: a <replicate> is refused"),
    "composite": (document("<composite/>"), "some.xml:3: a <composite> is refused"),
    "flexcomp": (document("<flexcomp/>"), "some.xml:3: a <flexcomp> is refused"),
    "free joint": (
        one(joint='\n<joint name="j" type="free"/>'),
        "some.xml:4: j: a free joint is refused: the base must stand still",
    ),
    "freejoint": (one(joint='\n<freejoint name="j"/>'), "some.xml:4: j: a free joint is refused"),
    "ball joint": (one(joint='<joint name="j" type="ball"/>'), "j: a ball joint is refused: .*three hinge"),
    "mesh inertia": (
        document(body('<joint/>\n<geom type="mesh" mesh="m"/>')),
        "some.xml:4: .*inertia would come from this mesh, and meshes are not opened",
    ),
    "massless": (document(body("<joint/>")), "MuJoCo's compiler refuses it: .*mass and inertia"),
    "NaN": (one(attributes='pos="0 nan 0"'), "some.xml:3: 'pos' of <body> is 'nan'; it must be a finite"),
    "comma": (one(attributes='pos="0,5 0 0"'), "some.xml:3: 'pos' of <body> is '0,5'; .*comma"),
    "endless exponent": (one(attributes='pos="1e999999999 0 0"'), "exponent"),
    "two names": (one(inside=f'<body name="b">{INERTIAL}</body>'), "MuJoCo's compiler refuses it: .*repeated name"),
    "zero axis": (one(joint='<joint axis="0 0 0"/>'), "axis"),
    "zero quaternion": (one(attributes='quat="0 0 0 0"'), "quat|zero"),
    "unknown class": (one(joint='\n<joint class="nowhere"/>'), "some.xml:4: .*class"),
    "too few numbers": (one(attributes='pos="0 1"'), "some.xml:3: MuJoCo's compiler refuses it"),
    "empty name": (document('<body name=""/>'), "some.xml:3: <body> has an empty name"),
    "negative mass": (one().replace('mass="2"', 'mass="-2"'), "mass"),
    "triangle": (one().replace("0.1 0.2 0.25", "0.1 0.2 0.5"), "inertia must satisfy A"),
    "no joint": (document(body(INERTIAL)), "some.xml: it has no moving joint"),
    "attribute": (one(attributes='mass="2"'), "some.xml:3: an attribute 'mass' of <body> is not known"),
    "element": (one(inside="<motor/>"), "some.xml:3: <motor> is not known inside <body>"),
    "section": ("<mujoco><physics/></mujoco>", "some.xml:1: a section <physics> is not known"),
    "global": ('<mujoco><compiler coordinate="global"/></mujoco>', "some.xml:1: coordinate must be local"),
    "total": ('<mujoco><compiler settotalmass="1" fusestatic="true"/></mujoco>', "some.xml:1: settotalmass together"),
    "world's joint": (document("<joint/>"), "some.xml:3: MuJoCo's compiler refuses it"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_words(name: str) -> None:
    text, words = BAD[name]
    with pytest.raises(RobotError, match=words):
        robot_of(text)


def test_budgets_are_kept() -> None:
    with pytest.raises(OverBudget, match="bodies; the budget"):
        read_mjcf(document("<body/>" * (BUDGET.links + 1)), "f")
    with pytest.raises(OverBudget, match="nest deeper"):
        read_mjcf("<mujoco>" + "<body>" * 100, "f")


@pytest.mark.parametrize("file", sorted(FILES.glob("*.xml")), ids=lambda file: file.stem)
def test_our_own_files_are_read_snapped_too(file: Path) -> None:
    assert robot_of(file.read_text()).n >= 3


LEGGED = """<mujoco><worldbody><body name="torso" pos="0 0 1">{torso}{legs}</body>{more}</worldbody></mujoco>"""
MASSIVE = """<inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/>"""
LEG = """<body name="{name}"><joint name="j{name}" axis="0 1 0"/>
  <inertial pos="0 0 -0.2" mass="1" diaginertia="0.1 0.1 0.1"/></body>"""


@pytest.mark.parametrize(
    ("mass", "inside", "outside", "told"), [(10, "lr", "", True), (10, "l", "r", False), (10, "", "lr", False)]
)
def test_a_torso_on_which_several_legs_hang_is_said_to_be_held(tmp_path, mass, inside, outside, told):
    legs, more = ("".join(LEG.format(name=name) for name in some) for some in (inside, outside))
    file = tmp_path / "legged.xml"
    file.write_text(LEGGED.format(torso=MASSIVE.format(mass=mass), legs=legs, more=more))
    notes = emdeg.load(file).notes
    words = "'torso', on which 2 limbs hang, is held in its place: a free base is not modelled, its 10 kg do not count"
    assert (words in notes) == told
    assert any("held in its place" in note for note in notes) == told
