"""What an emdeg robot file may say, and what is said when it says something else."""

from fractions import Fraction

import pytest

from emdeg.algebra import Angle, Exact
from emdeg.errors import OverBudget, RobotError
from emdeg.robot.assembly import assemble
from emdeg.robot.toml_reader import read_payloads, read_toml

GOOD = """\
schema = 1
name = "arm"
convention = "modified"

[[link]]
name = "link1"
joint = { name = "q1", type = "revolute", alpha = 0, a = 0, d = 0.1 }
inertia = { about = "com", mass = 2, com = [0.1, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }

[[link]]
name = "link2"
joint = { name = "q2", type = "revolute", alpha = "90 deg", a = 0.4318, d = 0, lower = -1, upper = 1 }
inertia = { about = "com", mass = 1.5, com = [0.2, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }
drive = { inertia = 0.5, max_torque = 10 }
"""


def robot(text):
    return assemble(read_toml(text, "arm.toml"))


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def message(text):
    with pytest.raises(RobotError) as caught:
        robot(text)
    return str(caught.value)


def test_a_decimal_is_exact():
    assert robot(GOOD).joints[1].placement.a == Exact.of(Fraction(2159, 5000))
    assert robot(changed("0.4318", '"2159/5000"')) == robot(GOOD)
    assert robot(changed("0.4318", "4318e-4")) == robot(GOOD)


@pytest.mark.parametrize("text", ['"90 deg"', '"pi/2"', '"1*pi/2"', '"0.5*pi"'])
def test_a_right_angle_is_exact_however_it_is_written(text):
    assert robot(changed('"90 deg"', text)).joints[1].placement.alpha.quarter_turns == 1


def test_a_plain_number_is_radians_and_a_sum_keeps_its_parts():
    assert robot(changed('"90 deg"', "0.25")).joints[1].placement.alpha == Angle(radians=Fraction(1, 4))
    both = robot(changed('"90 deg"', '"pi/2 + 0.25"')).joints[1].placement.alpha
    assert both == Angle(Fraction(1, 2), Fraction(1, 4))


def test_a_name_stays_a_symbol():
    found = robot(changed("mass = 1.5, com = [0.2", 'mass = "m2", com = ["l2"').replace("0.4318", '"a2"'))
    assert found.symbols == {"m2", "l2", "a2"}
    assert str(found.links[1].inertia.first_moment[0]) == "l2*m2"
    assert robot(changed('"90 deg"', '"phi"')).symbols == {"phi"}


def test_a_link_may_be_a_phantom_or_a_point():
    found = robot(GOOD + '[[link]]\nname = "p"\njoint = { name = "q3", type = "revolute", alpha = "90 deg" }\n')
    assert found.links[2].inertia.is_zero
    point = changed(
        'inertia = { about = "com", mass = 1.5, com = [0.2, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }',
        "inertia = { mass = 1.5, com = [0.2, 0, 0] }",
    )
    assert robot(point).links[1].inertia.tensor[5].number == Fraction("0.06")


def test_inertia_about_the_frame_is_the_same_inertia():
    frame = changed(
        'about = "com", mass = 1.5, com = [0.2, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1',
        'about = "frame", M = 1.5, MX = 0.3, XX = 0.1, YY = 0.16, ZZ = 0.16',
    )
    assert robot(frame).links[1].inertia == robot(GOOD).links[1].inertia
    with_com = frame.replace("M = 1.5, MX = 0.3", "mass = 1.5, com = [0.2, 0, 0]")
    assert robot(with_com).links[1].inertia == robot(GOOD).links[1].inertia


def test_tolerances_and_sources_go_by_path():
    text = changed("mass = 1.5", 'mass = { value = 1.5, tol = 0.01, tol_percent = 1, source = "Table 4" }')
    text = text.replace("com = [0.2,", "com = [{ value = 0.2, tol = 0.003 },")
    text = text.replace('alpha = "90 deg"', 'alpha = { value = "90 deg", tol = "1 deg" }')
    text = text.replace("inertia = 0.5", 'inertia = { value = 0.5, tol_percent = 10 }, source = "maker"')
    found = robot(text + '[tolerances]\n"link1.mass" = 0.5\n[sources]\n"q1.d" = "drawing"\n')
    assert found.links == robot(GOOD).links
    assert found.tolerances["link2.mass"] == Fraction("0.025")
    assert found.tolerances["link2.com.x"] == Fraction("0.003")
    assert found.tolerances["q2.drive.inertia"] == Fraction("0.05")
    assert found.tolerances["link1.mass"] == Fraction("0.5")
    assert float(found.tolerances["q2.alpha"]) == pytest.approx(0.017453292519943295)
    assert found.sources == {"link2.mass": "Table 4", "q2.drive": "maker", "q1.d": "drawing"}


def test_values_at_the_motor_reach_the_joint_through_the_gear():
    drive = "motor_inertia = 0.002, stall_torque = 0.5, gear_ratio = -100"
    found = robot(changed("inertia = 0.5, max_torque = 10", drive)).joints[1].drive
    assert (found.inertia.number, found.max_torque.number) == (20, 50)
    both = robot(changed("inertia = 0.5, max_torque = 10", drive + ", inertia = 21")).joints[1].drive
    assert both.inertia.number == 21


def test_limits_of_a_turning_joint_may_be_angles():
    limits = robot(changed("lower = -1, upper = 1", 'lower = "-90 deg", upper = "pi"')).joints[1].limits
    assert float(limits.lower) == -1.5707963267948966
    assert float(limits.upper) == 3.141592653589793


def test_a_fixed_joint_is_merged_and_its_frame_kept():
    text = GOOD + (
        '[[link]]\nname = "flange"\njoint = { type = "fixed", a = 0.1 }\ninertia = { mass = 1 }\n'
        '[[frame]]\nname = "eye"\nlink = "flange"\nxyz = [0, 0, 0.2]\nrpy = [0, "90 deg", 0]\n'
    )
    found = robot(text)
    assert found.n == 2
    assert found.links[1].inertia.mass.number == Fraction("2.5")
    frames = {frame.name: frame for frame in found.frames}
    assert [float(x) for x in frames["eye"].pose.xyz] == [0.1, 0, 0.2]
    assert frames["flange"].link == 1
    assert [float(x) for x in found.tool.pose.xyz] == [0.1, 0, 0]


def test_a_branch_names_its_parent():
    text = GOOD + '[[link]]\nname = "b"\nparent = "link1"\njoint = { name = "q3", type = "prismatic", b = 0.3 }\n'
    assert [link.parent for link in robot(text).links] == [-1, 0, 0]


def test_the_base_may_have_a_pose_and_a_name():
    found = robot(GOOD + '[base]\nname = "table"\nxyz = [0, 0, 1]\nrpy = ["180 deg", 0, 0]\n')
    assert found.base.xyz[2].number == 1
    assert "table" in {frame.name for frame in found.frames}


BAD = [
    # text to replace, by what, line, what the message must say
    ("schema = 1\n", "", None, "schema is missing"),
    ("schema = 1", "schema = 2", 1, "schema must be 1"),
    ('name = "arm"', 'name = "My Arm"', 2, "a-z, 0-9 and _"),
    ('name = "arm"\n', "", None, "name is missing"),
    ('convention = "modified"', 'convention = "craig"', 3, "'modified' or 'standard'"),
    ('convention = "modified"\n', "", None, "convention is missing"),
    ('convention = "modified"', 'convention = "modified"\ngravty = [0, 0, -9.81]', 4, "did you mean 'gravity'?"),
    ('convention = "modified"', 'convention = "modified"\ngravity = [0, -9.81]', 4, "three numbers [x, y, z]"),
    ("alpha = 0,", "alhpa = 0,", 7, "unknown key 'alhpa' in joint; did you mean 'alpha'?"),
    ("Iyy = 0.1", "Iyyy = 0.1", 8, "did you mean 'Iyy'?"),
    ("Iyy = 0.1", "YY = 0.1", 8, 'needs about = "frame"'),
    ("max_torque", "maxtorque", 14, "did you mean 'max_torque'?"),
    ("d = 0.1 }", "d = nan }", 7, "nan is not a number a robot can have"),
    ("d = 0.1 }", "d = -inf }", 7, "-inf is not a number a robot can have"),
    ("d = 0.1 }", 'd = "nan" }', 7, "'nan' is not a number"),
    ("d = 0.1 }", 'd = "0,1" }', 7, "written with a point, not a comma"),
    ("d = 0.1 }", "d = 0,1 }", 7, "not valid TOML"),
    ("d = 0.1 }", "d = 1e999999999 }", 7, "exponent"),
    ("d = 0.1 }", "d = 1e-999999999 }", 7, "exponent"),
    ("d = 0.1 }", 'd = "1e999999999" }', 7, "exponent"),
    ("d = 0.1 }", "d = 1e60 }", 7, "too large"),
    ("d = 0.1 }", "d = true }", 7, "d must be a number or a symbol's name, not true or false"),
    ("d = 0.1 }", "d = [1] }", 7, "not an array"),
    ("d = 0.1 }", "d = 2020-01-01 }", 7, "not a date or time"),
    ("d = 0.1 }", 'd = "1/0" }', 7, "is not a number"),
    ("d = 0.1 }", 'd = "__import__(1)" }', 7, "is not a number"),
    ("d = 0.1 }", "d = { value = 0.1, tol = -1 } }", 7, "tol must not be negative"),
    ("d = 0.1 }", "d = { value = 0.1, tol_per_cent = 1 } }", 7, "did you mean 'tol_percent'?"),
    ("d = 0.1 }", "d = { tol = 1 } }", 7, "value is missing"),
    ('"90 deg"', '"90 degrees"', 12, "is not an angle"),
    ('"90 deg"', '"pi/0"', 12, "is not an angle"),
    ('"90 deg"', '"1e999999999 deg"', 12, "is not an angle"),
    ('"90 deg"', "1e300", 12, "too large an angle"),
    ("mass = 2", "mass = -2", 5, "its mass is negative: -2 kg"),
    ("Izz = 0.1 }", "Izz = 0.5 }", 5, "triangle inequality"),
    ("Izz = 0.1 }", "Izz = -0.1 }", 5, "not positive semidefinite"),
    ("com = [0.1, 0, 0]", "com = [0.1, 0]", 8, "com must be three numbers"),
    ("com = [0.1, 0, 0]", 'com = "middle"', 8, "com must be three numbers"),
    ('about = "com", mass = 2', "mass = 2", 8, "about is missing"),
    ('about = "com", mass = 2', 'about = "frame", mass = 2', 8, 'needs about = "com"'),
    ('name = "link2"', 'name = "link1"', 10, "two links are called 'link1'"),
    ('name = "q2"', 'name = "q1"', 10, "two joints are called 'q1'"),
    ('name = "link2"', 'name = "base"', 11, "that is the base"),
    ('name = "link2"', 'name = ""', 11, "must be a name"),
    ('name = "link2"', 'name = "a\\u001b[31m"', 11, "control character"),
    ('name = "link2"', "name = 2", 11, "name must be text, not a number"),
    ('name = "link2"\n', "", 10, "name is missing"),
    ('name = "link2"', 'name = "link2"\nparent = "link9"', 10, "its parent 'link9' does not exist"),
    ('name = "link2"', 'name = "link2"\nparent = "link2"', 10, "the links form a loop"),
    ('name = "q2", ', "", 12, "name is missing"),
    ('type = "revolute", alpha = "90', 'type = "ball", alpha = "90', 12, "'revolute' or 'prismatic' or 'fixed'"),
    ('type = "revolute", alpha = "90', 'alpha = "90', 12, "type is missing"),
    ("lower = -1, upper = 1", "lower = 1, upper = -1", 12, "lower (1) is above upper (-1)"),
    ("lower = -1", "lower = nan", 12, "nan is not a number"),
    ("lower = -1", 'lower = "x"', 12, "must be a number, not the symbol x"),
    ("upper = 1", "velocity = -1", 12, "velocity must not be negative"),
    ("upper = 1", "upper = 1e400", 12, "too large"),
    ("inertia = 0.5", "inertia = -0.5", 10, "drive's inertia is negative"),
    ("max_torque = 10", "max_torque = -10", 14, "max_torque must not be negative"),
    ("max_torque = 10", "gear_ratio = 0", 14, "gear_ratio must not be zero"),
    ("max_torque = 10", "stall_torque = 1", 14, "stall_torque needs gear_ratio"),
    ("max_torque = 10", "resolution_bits = 99", 14, "from 1 to 64"),
    ("drive = {", "drive = 3 #", 14, "drive must be a table, not a number"),
    ("[[link]]", "[link]", 10, "not valid TOML"),
    ("[[link]]", "[[link", 5, "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "line", "says"), BAD)
def test_bad_input_is_refused_with_file_line_and_rule(old, new, line, says):
    with pytest.raises(RobotError) as caught:
        robot(changed(old, new))
    assert says in str(caught.value)
    assert str(caught.value).startswith("arm.toml")
    if line is not None:
        assert caught.value.line == line


@pytest.mark.parametrize(
    ("addition", "says"),
    [
        ('[tool]\nlink = "hand"\n', "the tool is attached to 'hand', which does not exist"),
        ('[tool]\nlink = "link2"\nrpy = ["phi", 0, 0]\n', "not symbols"),
        ('[[frame]]\nname = "eye"\nlink = "head"\n', "frame 'eye' is attached to 'head', which does not exist"),
        ('[[frame]]\nname = "link1"\nlink = "link2"\n', "two frames are called 'link1'"),
        ('[[payload]]\nlink = "link2"\n', "mass is missing"),
        ('[[payload]]\nlink = "hand"\nmass = 1\n', "is attached to 'hand', which does not exist"),
        ('[[payload]]\nlink = "link2"\nmass = -1\n', "its mass is negative"),
        ('[tolerances]\n"link7.mass" = 1\n', "is not the path of a parameter"),
        ('[tolerances]\n"link1.mass" = -1\n', "must not be negative"),
        ("[base]\nxyz = [0, 0, 0, 0]\n", "three numbers"),
        ("[base]\nrpy = 3\n", "three angles"),
        ('[[link]]\nname = "f"\njoint = { type = "fixed" }\ndrive = { inertia = 1 }\n', "fixed joint has no drive"),
        ('[[link]]\nname = "f"\njoint = { type = "fixed", lower = 1 }\n', "fixed joint has no limits"),
        ('[[link]]\nname = "f"\n', "joint is missing"),
        ("[[link.joint]]\n", "not valid TOML"),
        ("[link2]\n", "unknown key 'link2'"),
    ],
)
def test_bad_tables_are_refused(addition, says):
    assert says in message(GOOD + addition)


def test_two_links_in_a_ring_are_a_loop():
    text = changed('name = "link1"', 'name = "link1"\nparent = "link2"')
    assert "the links form a loop" in message(text)


def test_nothing_but_fixed_joints_is_no_robot():
    text = changed('type = "revolute"', 'type = "fixed"').replace('type = "revolute"', 'type = "fixed"')
    text = text.replace(", lower = -1, upper = 1", "").replace("drive = { inertia = 0.5, max_torque = 10 }", "")
    assert "no moving joint" in message(text)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_file_is_refused(text):
    assert "the file is empty" in message(text)


def test_a_file_without_links_is_refused():
    assert "it has no links" in message('schema = 1\nname = "a"\nconvention = "modified"\n')


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 3000 + "]" * 3000,
        "x = " + "[\n" * 3000 + "]" * 3000,
        "x = " + "{a=" * 1000 + "1" + "}" * 1000,
        "a." * 1900 + "b = 1",
        "a" * 5000,
        "x = " + "9" * 5000,
        "# " + "x\n# " * 10**6,
        GOOD + "".join(f'[[frame]]\nname = "f{i}"\nlink = "link1"\n' for i in range(600)),
        GOOD + "".join(f'[[link]]\nname="l{i}"\njoint={{name="j{i}",type="revolute"}}\n' for i in range(600)),
        GOOD.replace("mass = 2", 'mass = "' + " + ".join(f"m{i}" for i in range(60)) + '"'),
    ],
    ids=["deep", "deep lines", "inline", "dotted", "long line", "digits", "large", "frames", "links", "terms"],
)
def test_what_would_exhaust_the_machine_is_over_budget(text):
    with pytest.raises(RobotError) as caught:
        robot(text)
    assert isinstance(caught.value, OverBudget) or "not valid TOML" in str(caught.value)


def test_broken_physics_is_refused_unless_the_file_says_why():
    text = changed("Izz = 0.1 }", "Izz = 0.5 }")
    assert "--allow-nonphysical" in message(text)
    found = robot(text.replace('name = "arm"', 'name = "arm"\nnonphysical = "as published"'))
    assert found.nonphysical == "as published"
    assert any("triangle" in note for note in found.notes)


def test_a_payload_file_holds_payloads_only():
    payload = "schema = 1\n[[payload]]\nmass = 1.8\ncom = [0, 0, 0.1]\nIxx = 0.1\nIyy = 0.1\nIzz = 0.1\n"
    found = read_payloads(payload, "cube.toml", "link6")[0]
    assert (found.link, found.mass, found.com[2]) == ("link6", Exact.of(1.8), Exact.of(0.1))
    with pytest.raises(RobotError, match="unknown key 'name'; known: schema, source, payload"):
        read_payloads(GOOD, "arm.toml", "link6")
    with pytest.raises(RobotError, match="no \\[\\[payload\\]\\]"):
        read_payloads("schema = 1\n", "none.toml", "link6")
