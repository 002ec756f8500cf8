"""Finding a robot by name or path, and changing it on the way: tip, locks, payloads, gravity."""

import math

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.errors import OverBudget, RobotError
from emdeg.robot.checks import BUDGET
from emdeg.robot.loading import check, library_names, parse_payload, read_draft
from emdeg.robot.model import Payload
from emdeg.robot.toml_writer import to_toml

Q, QD, QDD = [0.1, -0.7, 0.4, 1.2, -0.3, 0.8], [0.5, -0.3, 0.9, -1.1, 0.7, 0.2], [1, -2, 0.5, 3, -1, 2]


def message(*arguments, **options):
    with pytest.raises(RobotError) as caught:
        emdeg.load(*arguments, **options)
    return str(caught.value)


def test_a_typo_suggests_the_nearest_robot():
    assert "did you mean 'puma560'?" in message("pumma560")
    assert "did you mean 'stanford_arm'?" in message("Stanford_Arm")
    assert all(name in message("zzz") for name in library_names())


def test_a_file_is_read_by_its_suffix(tmp_path):
    file = tmp_path / "copy.toml"
    file.write_text(to_toml(emdeg.load("puma560")))
    assert emdeg.load(file) == emdeg.load(str(file)) == emdeg.load("puma560")
    other = tmp_path / "copy.yaml"
    other.write_text("x")
    assert "a file must end in .toml, .urdf, .xml" in message(other)


def test_what_is_no_readable_file_is_said(tmp_path):
    assert message(tmp_path / "none.toml") == f"{tmp_path / 'none.toml'}: there is no such file"
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    assert "it is a directory, not a file" in message(folder)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'schema = 1\ntitle = "Gelenk f\xfcr"\n')
    assert message(latin) == f"{latin}:2: the file is not UTF-8 text"
    empty = tmp_path / "empty.toml"
    empty.write_bytes(b"")
    assert "the file is empty" in message(empty)
    assert "no such file" in message("a\0b.toml")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (BUDGET.bytes + 1))
    with pytest.raises(OverBudget, match="larger than the budget"):
        emdeg.load(large)


def test_a_byte_order_mark_and_dos_lines_are_read(tmp_path):
    file = tmp_path / "dos.toml"
    file.write_bytes(b"\xef\xbb\xbf" + to_toml(emdeg.load("planar2r")).replace("\n", "\r\n").encode())
    assert emdeg.load(file) == emdeg.load("planar2r")


def test_a_locked_joint_is_rigid_at_its_value():
    whole = emdeg.load("puma560")
    locked = emdeg.load("puma560", lock={"q4": "30 deg", "q6": 0.25})
    q = [0.1, -0.7, 0.4, math.pi / 6, -0.3, 0.25]
    kept = [0, 1, 2, 4]
    M = emdeg.mass_matrix(whole, q)[np.ix_(kept, kept)]
    np.testing.assert_allclose(emdeg.mass_matrix(locked, np.array(q)[kept]), M, atol=1e-13)
    T = emdeg.forward_kinematics(whole, q)
    np.testing.assert_allclose(emdeg.forward_kinematics(locked, np.array(q)[kept]), T, atol=1e-13)


def test_a_tolerance_goes_with_its_parameter():
    locked = emdeg.load("puma560", lock={"q4": 0})
    assert "link2.mass" in locked.tolerances
    assert "q3.drive.inertia" in locked.tolerances
    assert not {"link3.mass", "link4.mass", "q4.drive.inertia"} & set(locked.tolerances)


def test_wrong_locks_are_said():
    assert "there is no joint 'q9' to lock; joints: q1, q2" in message("puma560", lock={"q9": 0})
    assert "q1: it cannot be locked at 'half a turn'" in message("puma560", lock={"q1": "half a turn"})
    assert "cannot be locked" in message("puma560", lock={"q1": float("nan")})
    assert "a length, not at an angle" in message("jpl_rrp", lock={"r3": "90 deg"})


def test_a_payload_in_every_form_is_the_same_load(tmp_path):
    text = "mass=1.8,com=0:0:0.1,inertia=0.002:0.003:0.004:0.0001:0.0002:0.0003@link6"
    by_text = emdeg.load("puma560", payload=text)
    by_value = emdeg.load("puma560", payload=parse_payload(text, "link6"))
    file = tmp_path / "load.toml"
    file.write_text(
        'schema = 1\n[[payload]]\nlink = "link6"\nmass = 1.8\ncom = [0, 0, 0.1]\n'
        "Ixx = 0.002\nIyy = 0.003\nIzz = 0.004\nIxy = 0.0001\nIxz = 0.0002\nIyz = 0.0003\n"
    )
    assert by_text == by_value == emdeg.load("puma560", payload=file)
    assert by_text == emdeg.load("puma560", payload=text.removesuffix("@link6"))
    assert by_text.payloads[0].tensor == tuple(map(Exact.of, (0.002, 0.0001, 0.0002, 0.003, 0.0003, 0.004)))


def test_a_point_load_adds_its_weight_through_the_jacobian():
    bare, loaded = emdeg.load("puma560"), emdeg.load("puma560", payload="mass=1.8@link6")
    weight = emdeg.jacobian(bare, Q)[:3].T @ [0, 0, 1.8 * 9.81]
    np.testing.assert_allclose(emdeg.gravity(loaded, Q) - emdeg.gravity(bare, Q), weight, atol=1e-12)


def test_several_payloads_add():
    two = emdeg.load("puma560", payload=["mass=1@link6", Payload("link6", Exact.of(0.8))])
    one = emdeg.load("puma560", payload="mass=1.8@link6")
    np.testing.assert_allclose(emdeg.mass_matrix(two, Q), emdeg.mass_matrix(one, Q), atol=1e-14)


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("mass=1.8@hand", "attached to 'hand', which does not exist"),
        ("mass=1,8@link6", "is not of the form"),
        ("mass=one two", "is not a number"),
        ("mass=1,com=0:0", "is not of the form"),
        ("com=0:0:0", "is not of the form"),
        ("mass=1,mass=2", "is not of the form"),
        ("mass=1@", "is not of the form"),
        ("mass=-1", "its mass is negative"),
        ("mass=1,inertia=1:1:3", "triangle"),
        ("nothing.toml", "there is no such file"),
    ],
)
def test_a_wrong_payload_is_said(payload, says):
    options = {"payload": payload}
    assert says in message("planar2r" if "@" not in payload else "puma560", **options)


def test_gravity_may_be_replaced():
    moon = emdeg.load("puma560", gravity=(0, 0, -1.62))
    earth = emdeg.gravity(emdeg.load("puma560"), Q)
    np.testing.assert_allclose(emdeg.gravity(moon, Q), earth * 1.62 / 9.81, atol=1e-13)
    assert "gravity must be three numbers" in message("puma560", gravity=(0, 0))
    assert "gravity must be three numbers" in message("puma560", gravity=(0, 0, float("inf")))


def test_the_tip_may_be_any_link():
    robot = emdeg.load("puma560", tip="link3")
    assert robot.tool.link == 2
    assert "the tip is to be 'hand', which does not exist" in message("puma560", tip="hand")


def test_check_tells_what_is_broken_and_whether_the_file_says_why(tmp_path):
    assert check("puma560").passes
    file = tmp_path / "bad.toml"
    text = to_toml(emdeg.load("planar2r"))
    file.write_text(text.replace("mass = 1,", "mass = -1,", 1))
    found = check(file)
    assert not found.passes
    assert [finding.body for finding in found.findings] == ["link1"]
    assert found.findings[0].line == text[: text.index("[[link]]")].count("\n") + 1


def test_a_draft_knows_its_file_and_lines():
    draft = read_draft("puma560")
    assert draft.file == "puma560.toml"
    lines = [body.line for body in draft.bodies]
    assert lines == sorted(lines)
    assert None not in lines
