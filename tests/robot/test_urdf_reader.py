"""URDF: what is read, and the words for everything that is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from emdeg.algebra import Angle, Exact
from emdeg.errors import OverBudget, RobotError
from emdeg.robot import Robot, assemble
from emdeg.robot.checks import BUDGET
from emdeg.robot.urdf_reader import read_urdf

FILES = Path(__file__).parents[1] / "data" / "robots"

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
JOINT = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'


def document(*parts: str) -> str:
    """A robot with each part on its own line, the first on line 2."""
    return "\n".join(["<robot name='r'>", *parts, "</robot>"])


def pair(joint: str = JOINT, inertial: str = INERTIAL) -> str:
    return document('<link name="a"/>', f'<link name="b">{inertial}</link>', joint)


def joint_with(inside: str, kind: str = "revolute") -> str:
    return f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{inside}</joint>'


def robot_of(text: str, snap: float = 1e-5, **options) -> Robot:
    return assemble(read_urdf(text, "some.urdf", snap), **options)


def test_decimals_stay_exact() -> None:
    joint = joint_with('<origin xyz="0.4318 -.0203 1e-3"/><axis xyz="0 0 2"/>')
    body = read_urdf(pair(joint), "some.urdf").bodies[0]
    assert [v.number for v in body.pose.p] == [Fraction(2159, 5000), Fraction(-203, 10000), Fraction(1, 1000)]
    assert body.axis == (0, 0, 1)


def test_an_angle_near_a_multiple_of_a_twelfth_of_pi_becomes_exact_and_is_reported() -> None:
    text = pair(joint_with('<origin rpy="1.5708 0 -0.2618"/>'))
    draft = read_urdf(text, "some.urdf", 1e-5)
    R = draft.bodies[0].pose.R
    assert R[2] == (0, 1, 0)
    assert draft.notes == (
        "joint 'j': the angle 1.5708 rad was read as pi/2",
        "joint 'j': the angle -0.2618 rad was read as -pi/12",
    )
    unsnapped = read_urdf(text, "some.urdf", 0.0)
    assert unsnapped.notes == ()
    assert unsnapped.bodies[0].pose.R[2][2] == Angle(radians=Fraction("1.5708")).sincos()[1]


def test_an_angle_farther_off_is_taken_at_its_word() -> None:
    draft = read_urdf(pair(joint_with('<origin rpy="3.14 0 0"/>')), "some.urdf", 1e-5)
    assert draft.notes == ()
    assert draft.bodies[0].pose.R[2][1] != 0


def test_an_axis_is_normalised_and_snapped() -> None:
    assert read_urdf(pair(joint_with('<axis xyz="0 3 4"/>')), "f").bodies[0].axis == (
        0,
        Fraction(3, 5),
        Fraction(4, 5),
    )
    draft = read_urdf(pair(joint_with('<axis xyz="4.9e-12 -0.9999999 0"/>')), "f")
    assert draft.bodies[0].axis == (0, -1, 0)
    assert "axis" in draft.notes[0]
    assert read_urdf(pair(joint_with('<axis xyz="4.9e-12 -1 0"/>')), "f", 0.0).bodies[0].axis[0] != 0


def test_an_axis_left_out_is_x() -> None:
    assert read_urdf(pair(), "some.urdf").bodies[0].axis == (1, 0, 0)


def test_limits_and_dynamics_are_read() -> None:
    inside = '<limit lower="-1.5" upper="2" velocity="3" effort="40"/><dynamics damping="0.7" friction="0.2"/>'
    joint = robot_of(pair(joint_with(inside))).joints[0]
    assert (joint.limits.lower, joint.limits.upper) == (Fraction(-3, 2), 2)
    assert (joint.limits.velocity, joint.limits.effort) == (3, 40)
    assert joint.drive.friction.viscous == Exact.of(0.7)
    assert joint.drive.friction.coulomb == Exact.of(0.2)


def test_a_continuous_joint_has_no_limits_of_position() -> None:
    joint = robot_of(pair(joint_with('<limit lower="-1" upper="1" effort="2"/>', "continuous"))).joints[0]
    assert (joint.kind, joint.limits.lower, joint.limits.effort) == ("revolute", None, 2)


def test_a_lower_limit_above_the_upper_is_noted() -> None:
    draft = read_urdf(pair(joint_with('<limit lower="1" upper="-1"/>')), "some.urdf")
    assert draft.notes == ("joint 'j': its lower limit is above its upper limit",)


def test_a_simple_transmission_gives_the_gear_ratio() -> None:
    transmission = (
        '<transmission><joint name="j"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction>'
        "</actuator></transmission>"
    )
    text = document('<link name="a"/>', f'<link name="b">{INERTIAL}</link>', JOINT, transmission)
    assert robot_of(text).joints[0].drive.gear_ratio == Exact.of(50)


def test_the_inertia_of_a_turned_frame_is_turned() -> None:
    inertial = (
        '<inertial><origin rpy="0 0 1.5708"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0.1" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>'
    )
    tensor = read_urdf(pair(inertial=inertial), "f").bodies[0].inertia.tensor
    assert [float(v) for v in tensor] == [2, -0.1, 0, 1, 0, 2.5]


def test_a_link_without_inertial_has_no_mass_and_fixed_links_are_merged() -> None:
    text = document(
        '<link name="a"/>',
        '<link name="b"/>',
        f'<link name="c">{INERTIAL}</link>',
        JOINT,
        '<joint name="k" type="fixed"><parent link="b"/><child link="c"/><origin xyz="0 0 2"/></joint>',
    )
    robot = robot_of(text)
    assert (robot.n, robot.links[0].inertia.mass) == (1, Exact.of(1))
    assert {frame.name for frame in robot.frames} == {"a", "b", "c"}


def test_a_mimic_joint_is_refused_unless_it_is_locked() -> None:
    text = pair(joint_with('\n<mimic joint="other"/>'))
    with pytest.raises(RobotError, match=r"some.urdf:5: j: it mimics 'other'.*--lock j=VALUE"):
        robot_of(text)
    with pytest.raises(RobotError, match="no moving joint"):
        robot_of(text, locks={"j": Exact.of(0)})


def test_meshes_are_never_opened() -> None:
    mesh = '<visual><geometry><mesh filename="/etc/passwd"/></geometry></visual>'
    assert robot_of(pair(inertial=INERTIAL + mesh)).n == 1


BAD = {
    "empty": ("", "line 1|not well-formed|empty"),
    "not XML": ("robot", "some.urdf:1: not well-formed XML"),
    "cut off": ("<robot>\n<link", "some.urdf:2: not well-formed XML"),
    "document type": ('<!DOCTYPE r [<!ENTITY x "y">]>\n<robot/>', "document type"),
    "billion laughs": ('<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><robot>&c;</robot>', "document type"),
    "external entity": ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "document type"),
    "another format": ("<sdf/>", "some.urdf:1: its root element is <sdf>; a URDF's is <robot>"),
    "MJCF": ("<mujoco/>", "this is an MJCF file"),
    "no link": ("<robot/>", "some.urdf:1: it has no <link>"),
    "xacro element": (document('<link name="a"/>', "<xacro:arm/>"), "some.urdf:3: .*xacro template.*expand"),
    "xacro value": (document('<link name="${n}"/>'), "some.urdf:2: .*xacro template"),
    "nameless link": (document("<link/>"), "some.urdf:2: <link> has no 'name' attribute"),
    "empty name": (document('<link name=" "/>'), "some.urdf:2: <link> has an empty name"),
    "endless name": (document(f'<link name="{"a" * 300}"/>'), "name of 300 characters"),
    "two links": (
        document('<link name="a"/>', '<link name="a"/>'),
        "some.urdf:3: a: two links are called 'a'; the first is on line 2",
    ),
    "two joints": (pair(JOINT + "\n" + JOINT), "some.urdf:5: j: two joints are called 'j'"),
    "two roots": (pair(""), "some.urdf:3: b: it has 2 roots.*'a', 'b'"),
    "a ring": (
        pair(JOINT + '\n<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'),
        "loop",
    ),
    "a ring apart": (
        document(
            '<link name="a"/>',
            '<link name="b"/>',
            '<link name="c"/>',
            '<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint>',
            '<joint name="k" type="fixed"><parent link="c"/><child link="b"/></joint>',
        ),
        "the links form a loop: no path leads from here to the base",
    ),
    "two parents": (
        pair(JOINT + '\n<joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint>'),
        "some.urdf:5: k: link 'b' hangs on two joints, 'j' and 'k': a closed loop",
    ),
    "no type": (
        pair('<joint name="j"><parent link="a"/><child link="b"/></joint>'),
        "some.urdf:4: j: <joint> has no 'type'",
    ),
    "unknown type": (pair(joint_with("", "ball")), "some.urdf:4: j: 'ball' is not a type of joint"),
    "floating": (pair(joint_with("", "floating")), "some.urdf:4: j: a floating joint is refused"),
    "planar": (pair(joint_with("", "planar")), "some.urdf:4: j: a planar joint is refused"),
    "no parent": (pair('<joint name="j" type="fixed"><child link="b"/></joint>'), "some.urdf:4: j: it has no <parent>"),
    "no child": (pair('<joint name="j" type="fixed"><parent link="b"/></joint>'), "some.urdf:4: j: it has no <child>"),
    "no link in parent": (
        pair('<joint name="j" type="fixed"><parent/><child link="b"/></joint>'),
        "some.urdf:4: j: <parent> has no 'link'",
    ),
    "unknown parent": (
        pair('<joint name="j" type="fixed"><parent link="x"/><child link="b"/></joint>'),
        "some.urdf:4: j: its parent link 'x' does not exist",
    ),
    "unknown child": (
        pair('<joint name="j" type="fixed"><parent link="a"/><child link="x"/></joint>'),
        "some.urdf:4: j: its child link 'x' does not exist",
    ),
    "zero axis": (pair(joint_with('\n<axis xyz="0 0 0"/>')), "some.urdf:5: j: its axis is the zero vector"),
    "axis without xyz": (pair(joint_with("<axis/>")), "some.urdf:4: j: <axis> has no 'xyz'"),
    "two axes": (pair(joint_with('<axis xyz="0 0 1"/>' * 2)), "some.urdf:4: j: <joint> has 2 <axis> elements"),
    "two numbers": (pair(joint_with('<origin xyz="0 1"/>')), "'xyz' of <origin> is '0 1'; it must be 3 numbers"),
    "NaN": (pair(joint_with('<origin xyz="0 0 nan"/>')), "some.urdf:4: j: 'xyz' of <origin> is 'nan'; .*finite"),
    "infinity": (pair(joint_with('<origin rpy="0 -Inf 0"/>')), "'rpy' of <origin> is '-Inf'; .*finite"),
    "comma decimal": (pair(joint_with('<origin xyz="0,5 0 0"/>')), "decimals with a point, not with a comma"),
    "commas between": (pair(joint_with('<origin xyz="1,2,3"/>')), "separate 3 numbers by blanks"),
    "a word": (pair(joint_with('<origin xyz="one 0 0"/>')), "'one' is not a number"),
    "a ratio": (pair(joint_with('<origin xyz="1/2 0 0"/>')), "not a decimal number"),
    "endless exponent": (pair(joint_with('<origin xyz="1e999999999 0 0"/>')), "exponent"),
    "endless digits": (pair(joint_with(f'<origin xyz="{"1" * 100_000} 0 0"/>')), "characters"),
    "beyond all": (pair(joint_with('<origin xyz="1e80 0 0"/>')), "beyond any length"),
    "no mass": (pair(inertial="<inertial><inertia/></inertial>"), "some.urdf:3: b: its <inertial> has no <mass>"),
    "no inertia": (pair(inertial='<inertial><mass value="1"/></inertial>'), "its <inertial> has no <inertia>"),
    "no mass value": (pair(inertial=INERTIAL.replace(' value="1"', "")), "some.urdf:3: b: <mass> has no 'value'"),
    "no izz": (pair(inertial=INERTIAL.replace('izz="1"', "")), "some.urdf:3: b: <inertia> has no 'izz'"),
    "negative mass": (pair(inertial=INERTIAL.replace('"1"/><i', '"-1"/><i')), "b: its mass is negative: -1 kg"),
    "indefinite": (pair(inertial=INERTIAL.replace('ixx="1"', 'ixx="-1"')), "b: .*not positive semidefinite"),
    "triangle": (
        pair(inertial=INERTIAL.replace('izz="1"', 'izz="3"')),
        "some.urdf:3: b: its inertia breaks the triangle inequality.*--allow-nonphysical",
    ),
    "no moving joint": (pair(joint_with("", "fixed")), "some.urdf: it has no moving joint"),
    "lone surrogate": ("<robot name='\ud800'/>", "not Unicode|not well-formed"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_words(name: str) -> None:
    text, words = BAD[name]
    with pytest.raises(RobotError, match=words):
        robot_of(text)


def test_the_snap_must_be_a_small_angle() -> None:
    for snap in (-1.0, 1.0, float("nan")):
        with pytest.raises(RobotError, match="snap"):
            read_urdf(pair(), "some.urdf", snap)


def test_budgets_are_kept() -> None:
    with pytest.raises(OverBudget, match="characters; the budget"):
        read_urdf(" " * (BUDGET.bytes + 1), "f")
    with pytest.raises(OverBudget, match="nest deeper"):
        read_urdf("<robot>" + "<a>" * 100, "f")
    with pytest.raises(OverBudget, match="elements, the budget"):
        read_urdf("<robot>" + "<a/>" * (BUDGET.elements + 1) + "</robot>", "f")
    with pytest.raises(OverBudget, match="links; the budget"):
        read_urdf(document(*(f'<link name="l{i}"/>' for i in range(BUDGET.links + 1))), "f")


@pytest.mark.parametrize("file", sorted(FILES.glob("*.urdf")), ids=lambda file: file.stem)
def test_our_own_files_are_read_snapped_too(file: Path) -> None:
    assert robot_of(file.read_text()).n >= 5
