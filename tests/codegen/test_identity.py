"""Which robot it is, under names that no file may have, which stay different; and whose certificate it is."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

import emdeg
from emdeg.codegen.identity import SIGNATURE, check_robot_named, robot_data, signed, signer, stored_robot
from emdeg.codegen.rechecking import recheck
from emdeg.errors import BadRequest, NotCertified, RobotError
from emdeg.programs import normal_digest
from emdeg.robot import to_toml
from tests.commands import run

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")

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


def keys(folder: Path, name: str, ssh: bool = False) -> tuple[Path, Path]:
    """(private, public), in files."""
    key = ed25519.Ed25519PrivateKey.generate()
    private, public = folder / name, folder / f"{name}.pub"
    kind = serialization.PrivateFormat.OpenSSH if ssh else serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()))
    if ssh:
        words = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    else:
        words = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(key.public_key().public_bytes(*words))
    return private, public


@pytest.mark.parametrize("ssh", [False, True])
def test_a_signed_certificate_is_the_signer_s(ssh, tmp_path):
    private, public = keys(tmp_path, "ours", ssh)
    _, theirs = keys(tmp_path, "theirs")
    (made,) = emdeg.generate("planar2r", "gravity", out=tmp_path, sign=private)
    found = emdeg.verify(made.path, signed_by=public)
    assert len(found["signed_by"]) == 64
    assert emdeg.verify(made.path)["signed_by"] == found["signed_by"]
    raw = tmp_path / "raw"
    raw.write_text(found["signed_by"] + "\n")
    assert emdeg.verify(made.path, signed_by=raw)["signed_by"] == found["signed_by"]
    with pytest.raises(NotCertified, match="signed by another key"):
        emdeg.verify(made.path, signed_by=theirs)


def test_a_signature_holds_for_every_word_of_the_certificate(tmp_path):
    private, public = keys(tmp_path, "ours")
    certificate = signed({"digest": "abc", "points": 2}, private)
    assert signer(certificate, public)
    signature = certificate[SIGNATURE]
    for change in (
        {"points": 3},
        {"more": 1},
        {SIGNATURE: signature | {"value": "00" * 64}},
        {SIGNATURE: signature | {"value": "xyz"}},
        {SIGNATURE: signature | {"key": "00" * 32}},
        {SIGNATURE: signature | {"kind": "none"}},
        {SIGNATURE: "trust me"},
    ):
        with pytest.raises(NotCertified, match="signature"):
            signer(certificate | change)
    with pytest.raises(NotCertified, match="not signed"):
        signer({"digest": "abc"}, public)


def test_keys_that_are_none_are_named(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("no key")
    for work in (lambda: signed({}, wrong), lambda: signed({}, tmp_path / "nothing")):
        with pytest.raises(RobotError, match=r"no private key|No such file"):
            work()
    private, _ = keys(tmp_path, "ours")
    with pytest.raises(RobotError, match="no public key"):
        signer(signed({}, private), wrong)


def test_without_the_library_it_is_said_what_to_install(tmp_path, monkeypatch):
    private, _ = keys(tmp_path, "ours")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(BadRequest, match=r"pip install 'emdeg\[sign\]'"):
        signed({}, private)


def test_the_command_line_signs_and_says_whose_it_is(tmp_path):
    private, public = keys(tmp_path, "ours")
    assert run("generate", "planar2r", "-f", "gravity", "-o", str(tmp_path), "--sign", str(private)).returncode == 0
    file = str(tmp_path / "planar2r_gravity.c")
    done = run("verify", file, "--signed-by", str(public), "--robot", "planar2r", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["result"]
    assert len(answer["signed_by"]) == 64
    assert answer["robot"] == "planar2r"
    assert run("verify", file, "--robot", "puma560").returncode == 1
    assert run("verify", file, "--robot", "planar2r", "--gravity=0,0,-1").returncode == 1
    said = run("verify", file).stdout
    assert answer["robot_digest"] in said
    assert "it is the library's" in said
    assert run("verify", "planar2r", "gravity", "--signed-by", str(public)).returncode == 2


def test_a_library_robot_is_named_with_the_options_that_make_it():
    options = ["--gravity=0,1,-9", "--lock=q6=0.3", "--payload=mass=1.8,com=0:0:0.1", "--tip=link5", "--target=c"]
    robot = emdeg.load("puma560", gravity=(0, 1, -9), lock={"q6": 0.3}, payload="mass=1.8,com=0:0:0.1", tip="link5")
    check_robot_named("puma560", options, normal_digest(robot))
    check_robot_named("puma560", ["--payload=load.toml"], "of which nothing is known")
    check_robot_named("delta", ["--mode=++-"], normal_digest(emdeg.loops.with_mode(emdeg.load("delta"), "++-")))
    for option in (
        "--snap=1e-05",
        "--gravity=0,0,-9.81",
        "--allow-nonphysical",
        "--tip=link6",
        "--lock=q7=1",
        "--set=a",
    ):
        with pytest.raises(ValueError, match="its command"):
            check_robot_named("puma560", [option], normal_digest(robot))


@pytest.mark.parametrize(
    ("was", "said", "why"),
    [
        ("--gravity=0,1,-9", "--gravity=0,0,-9.81", "another gravity"),
        ("--gravity=0,1,-9", "--gravity=0,1,-9 --lock=q1=1", "locks q1, which moves"),
    ],
)
def test_a_header_says_of_a_strangers_robot_nothing_that_it_is_not(was, said, why, tmp_path):
    file = tmp_path / "my_arm.toml"
    file.write_text(to_toml(emdeg.load("planar2r")), encoding="utf-8")
    words = ["generate", str(file), "-f", "gravity", "--gravity=0,1,-9", "--effort", "0", "--out", str(tmp_path)]
    assert run(*words).returncode == 0
    path = tmp_path / "my_arm_gravity.c"
    assert run("verify", str(path)).returncode == 0
    beside = path.with_name(path.name + ".certificate.json")
    certificate, text = json.loads(beside.read_text()), path.read_text()
    command = certificate["request"]["command"]
    path.write_text(text.replace(command, command.replace(was, said)))
    certificate["request"]["command"] = command.replace(was, said)
    certificate["digest"] = hashlib.sha256(path.read_bytes()).hexdigest()
    beside.write_text(json.dumps(certificate))
    done = run("verify", str(path))
    assert done.returncode == 1
    assert why in " ".join(done.stderr.split())
