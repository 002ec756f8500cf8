"""Which robot a certificate is about: its name, its normal form as text, and the digest of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from emdeg.codegen.infix import escaped
from emdeg.errors import NotCertified
from emdeg.programs import normal_digest
from emdeg.robot import Robot, assemble, library_names, load, read_toml, to_toml


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
