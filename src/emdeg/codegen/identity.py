"""What a certificate says, held against what was found: which robot it is about, whose it is, every other word of it.

The robot: its name, its normal form as text, and the digest of that. The owner: a certificate proves itself; an Ed25519
signature says who stands for it, made over everything else in the certificate, which holds the digest of the artefact.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from emdeg.algebra import Exact, parse_number
from emdeg.codegen.infix import escaped
from emdeg.documents import read_plain
from emdeg.errors import BadRequest, EmdegError, NotCertified, RobotError
from emdeg.loops import choose
from emdeg.programs import (
    FALSE_PASS,
    MOST_STATES,
    Certificate,
    Program,
    Rounding,
    count,
    normal_digest,
    wrong_format,
)
from emdeg.robot import Robot, assemble, library_names, load, read_toml, substitute, to_toml


def robot_data(robot: Robot) -> dict[str, str]:
    """What a certificate says about a robot."""
    return {"name": robot.name, "digest": normal_digest(robot), "toml": to_toml(robot)}


def stored_robot(data: Any) -> Robot:
    """The robot that a certificate holds; ValueError or RobotError where it is not what is said about it."""
    if set(data) != {"name", "digest", "toml"} or not all(isinstance(text, str) for text in data.values()):
        raise ValueError("its robot is not name, digest and text")
    robot = assemble(read_toml(data["toml"], "the stored robot"), allow_nonphysical=True)
    if normal_digest(robot) != data["digest"]:
        raise ValueError("the stored robot does not have the stated digest")
    if to_toml(replace(robot, name=data["name"])) != data["toml"]:
        raise ValueError("the stored robot is not in its normal form, or has another name")
    return robot


def need_same_robot(data: Mapping[str, str], robot: Robot) -> None:
    """NotCertified unless the certificate is about this robot: the same normal form, joint by joint."""
    found = normal_digest(robot)
    if found != data["digest"]:
        raise NotCertified(
            f"it is not of this robot: its robot, called {escaped(data['name'])}, has the digest {data['digest']}, "
            f"{escaped(robot.name)} has {found}"
        )


def library_note(data: Mapping[str, str]) -> str:
    """How the robot stands to the library's of its name."""
    if data["name"] not in library_names():
        return "no robot of the library has this name"
    same = normal_digest(load(data["name"])) == data["digest"]
    return (
        "it is the library's" if same else "it is not the library's robot of this name, or has been changed by options"
    )


SIGNATURE = "signature"
FMU = "fmu"
"""Where a certificate says that it is an FMU's, and what of."""
_KIND = "Ed25519"
LARGEST = 64 * 1024


def signed(certificate: Mapping[str, Any], key: Path) -> dict[str, Any]:
    """The certificate with the signature of a private key: PEM (PKCS 8) or OpenSSH, Ed25519, without a passphrase."""
    serialization, ed25519 = _library("--sign")
    data = _read(key)
    load = serialization.load_ssh_private_key if b"OPENSSH" in data else serialization.load_pem_private_key
    try:
        private = load(data, password=None)
    except (ValueError, TypeError) as problem:
        raise RobotError(f"it is no private key that can be used: {problem}", file=str(key)) from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise RobotError("it is no Ed25519 key", file=str(key))
    public = private.public_key().public_bytes_raw()
    bare = {name: value for name, value in certificate.items() if name != SIGNATURE}
    value = private.sign(_message(bare)).hex()
    return bare | {SIGNATURE: {"kind": _KIND, "key": public.hex(), "value": value}}


def signer(certificate: Mapping[str, Any], public: Path | None = None) -> str | None:
    """The public key (hexadecimal) that signed a certificate, None where nobody did; NotCertified where it is wrong.

    With `public`, a file (PEM, OpenSSH, or 64 hexadecimal digits), it must be that key's signature.
    """
    given = certificate.get(SIGNATURE)
    if given is None:
        if public is not None:
            raise NotCertified("it is not signed")
        return None
    if not isinstance(given, dict) or set(given) != {"kind", "key", "value"} or given["kind"] != _KIND:
        raise NotCertified("the certificate is damaged: its signature is none of Ed25519")
    _, ed25519 = _library("a signed certificate")
    from cryptography.exceptions import InvalidSignature

    bare = {name: value for name, value in certificate.items() if name != SIGNATURE}
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(given["key"]))
        key.verify(bytes.fromhex(given["value"]), _message(bare))
    except (InvalidSignature, TypeError, ValueError):
        raise NotCertified("the signature is not that of this certificate") from None
    if public is not None and key.public_bytes_raw() != public_key(public):
        raise NotCertified(f"it is signed by another key: {key.public_bytes_raw().hex()}")
    return key.public_bytes_raw().hex()


def public_key(path: Path) -> bytes:
    """The 32 bytes of a public key."""
    serialization, ed25519 = _library("--signed-by")
    data = _read(path).strip()
    try:
        if len(data) == 64:
            return bytes.fromhex(data.decode())
        load = serialization.load_ssh_public_key if data.startswith(b"ssh-") else serialization.load_pem_public_key
        key = load(data)
    except (ValueError, TypeError) as problem:
        raise RobotError(f"it is no public key that can be used: {problem}", file=str(path)) from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise RobotError("it is no Ed25519 key", file=str(path))
    return key.public_bytes_raw()


def _message(certificate: Mapping[str, Any]) -> bytes:
    return b"emdeg certificate\n" + json.dumps(certificate, sort_keys=True, separators=(",", ":")).encode()


def _read(path: Path) -> bytes:
    try:
        return read_plain(path, LARGEST)[:LARGEST]
    except OSError as problem:
        raise RobotError(f"cannot be read: {problem.strerror or problem}", file=str(path)) from None


def _library(asking: str) -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise BadRequest(f"{asking} needs the package cryptography: pip install 'emdeg[sign]'") from None
    return serialization, ed25519


FORMAT = 3
"""Of a certificate. 1 said `schema_version`, and `made_by` for the version; 2 knew one prime."""
MOST_POINTS = 16
PROOF = (
    "digest",
    "formulations",
    "primes",
    "seed",
    "points",
    "degree_bound",
    "height_bound",
    "false_pass_probability",
    "divides_by",
    "roots_of",
)


_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")


def only_known(certificate: Mapping[str, Any], known: Container[str]) -> None:
    """ValueError where a certificate says what is not checked, or its version or its seed, if it has one, is none."""
    if unknown := [key for key in certificate if key not in known]:
        raise ValueError(f"it says what is not checked: {', '.join(sorted(map(escaped, unknown)))[:200]}")
    if not isinstance(certificate["emdeg"], str) or not _VERSION.fullmatch(certificate["emdeg"]):
        raise ValueError("its version is none")
    seed = certificate["seed"] if "seed" in known else 0
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ValueError("its seed is no whole number")


def check_points(points: Any) -> None:
    """NotCertified unless this is a number of points that a proof may take."""
    if not isinstance(points, int) or not 0 < points <= MOST_POINTS:
        raise NotCertified(f"the certificate is damaged: points must be a number from 1 to {MOST_POINTS}")


def found_of(proof: Certificate) -> dict[str, Any]:
    """What a certificate says about a proof, as it is written."""
    found = {key: value for key, value in proof.as_dict().items() if key in PROOF}
    named = {"divides_by": proof.divides_by, "roots_of": proof.roots_of}
    lists = {key: [list(one) for one in pairs] for key, pairs in named.items()}
    return found | {"formulations": list(proof.formulations), **lists}


def check_said(
    certificate: Mapping[str, Any],
    found: Mapping[str, Any],
    program: Program,
    rounding: Rounding,
    errors: Mapping[str, float],
) -> None:
    """NotCertified unless a certificate says what was found, counts and rounding errors of the program too."""
    # Certificates written before roots were named have none of them.
    certificate = {"roots_of": []} | dict(certificate)
    for key, value in {**found, "operations": count(program).as_dict()}.items():
        if certificate.get(key) != value:
            raise NotCertified(f"the certificate was changed: {key} is {certificate.get(key)!r}, found {value!r}")
    if found["false_pass_probability"] >= FALSE_PASS:
        raise NotCertified(
            f"the points are too few: a false pass has probability {found['false_pass_probability']:.1g}"
        )
    stated = certificate.get("float_error_ulps")
    if not _alike(stated, errors):
        raise NotCertified(f"the certificate was changed: float_error_ulps is {stated!r}, found {errors!r}")
    if not _like_rounding(certificate.get("rounding"), rounding):
        raise NotCertified(f"the certificate was changed: rounding is {certificate.get('rounding')!r}")


CHOICES = {"--gravity", "--tip", "--lock", "--payload", "--set", "--coordinates", "--mode"}
CHOICES |= {"--snap", "--allow-nonphysical"}
"""Options that make another robot of the one that is named."""


def check_robot_named(word: str, options: Sequence[str], digest: str) -> None:
    """ValueError where a command names a robot of the library, of which its `options` make another than is meant.

    A load's file is not at hand: of a robot with one nothing is said.
    """
    given: dict[str, list[str]] = {}
    for name, _, value in (option.partition("=") for option in options):
        given.setdefault(name, []).append(value)
    if word not in library_names() or not all("=" in spec for spec in given.get("--payload", ())):
        return
    try:
        named = _named(word, given)
    except (EmdegError, ValueError) as problem:
        raise ValueError(f"its command makes no robot of the library's {word}: {problem}") from None
    if normal_digest(named) != digest:
        raise ValueError(f"its command names the library's {word}, and its robot is another")


def check_robot_told(options: Sequence[str], robot: Robot) -> None:
    """ValueError where a command's options say what the stored robot is not: another gravity, a rigid joint that moves.

    That can be seen without the file that the command names.
    """
    for name, _, value in (option.partition("=") for option in options):
        if name == "--gravity" and _vector(value) != list(robot.gravity):
            raise ValueError("its command says another gravity than its robot's")
        if name == "--lock" and (joint := value.partition("=")[0]) in {one.name for one in robot.joints}:
            raise ValueError(f"its command locks {joint}, which moves")


def _vector(text: str) -> list[Exact]:
    return [Exact.of(parse_number(x)) for x in text.split(",")]


def _named(word: str, given: Mapping[str, Sequence[str]]) -> Robot:
    """The library's robot with what the options of a command say, by name."""

    def pairs(option: str) -> dict[str, str]:
        return {name: value for name, _, value in (text.partition("=") for text in given.get(option, ()))}

    gravity = _vector(given["--gravity"][-1]) if "--gravity" in given else None
    tip = given["--tip"][-1] if "--tip" in given else None
    found = load(word, tip=tip, lock=pairs("--lock"), payload=given.get("--payload", ()), gravity=gravity)
    found = substitute(found, {name: Exact.of(parse_number(text)) for name, text in pairs("--set").items()})
    for names in given.get("--coordinates", ()):
        found = choose.with_coordinates(found, [name.strip() for name in names.split(",")])
    for label in given.get("--mode", ()):
        from emdeg.loops import with_mode  # a third of what starting `emdeg generate` would import

        found = with_mode(found, label)
    return found


def check_command(command: str, verb: str, digest: str) -> None:
    """ValueError where a header's command is another verb's, or names a robot of the library and means another."""
    words = shlex.split(command)
    if command and words[:2] != ["emdeg", verb]:
        raise ValueError(f"its command is not one that makes it: {escaped(command)[:200]}")
    options = [word for word in words if word.startswith("--")]
    for word in words[2:]:
        check_robot_named(word, options, digest)


def _like_rounding(stated: Any, found: Rounding) -> bool:
    """Whether this is what a check at other states, perhaps on another machine, could have found."""
    if not isinstance(stated, dict) or set(stated) != set(asdict(found)):
        return False
    states, largest, allowed = stated["states"], stated["largest"], stated["allowed"]
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (states, largest, allowed))
    return numbers and 0 < states <= MOST_STATES and 0 <= largest <= allowed == found.allowed


def same_format(certificate: Any) -> None:
    """NotCertified where another version of emdeg wrote the certificate in another format: says which, what to do."""
    if not isinstance(certificate, dict):
        return
    request = certificate.get("request")
    command = str(request.get("command", "")) if isinstance(request, dict) else ""
    again = ": ".join(["generate the file again", *([escaped(command)[:500]] if command else [])])
    maker = str(certificate.get("made_by", "")).removeprefix("emdeg ")  # where format 1 kept the version
    if (word := wrong_format({"emdeg": maker or None} | certificate, FORMAT, again)) is not None:
        raise NotCertified(f"the certificate cannot be used: {word}")


def _alike(stated: Any, found: Mapping[str, float]) -> bool:
    """Whether these are errors of the same program: another machine's sines may round otherwise."""
    if not isinstance(stated, dict) or stated.keys() != found.keys():
        return False
    return all(
        isinstance(one, int | float) and one <= 4 * other + 4 and other <= 4 * one + 4
        for one, other in ((stated[name], found[name]) for name in found)
    )
