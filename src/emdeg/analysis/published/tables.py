"""A robot's printed values against certified ones, and the curves its source draws."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from emdeg.analysis.extremes import JointLoad
from emdeg.analysis.ratios import Curves, curves, largest_of, ratio
from emdeg.bounds import CertifiedExtremum
from emdeg.equations import Model
from emdeg.robot import Robot, Workspace, joint_number
from emdeg.robot import load as load_robot

AGREES = 5e-3
"""A printed value within this of the certified one, relatively, counts as the same number."""


@dataclass(frozen=True)
class PrintedRow:
    """One printed value; SI units."""

    table: int | str
    quantity: str
    side: str
    """min, max or magnitude."""
    load: bool
    printed: float
    in_table: float | None
    """What the table prints, where the text's own equation prints something else."""
    at_their_configuration: float
    """The quantity where the source's reasoning places the extreme, exact data."""
    certified: CertifiedExtremum

    @property
    def missed(self) -> bool:
        """Whether the true extreme is proven to lie beyond the value at the source's configuration."""
        slack = 1e-6 * abs(self.certified.value)
        beyond = self.certified.value - self.at_their_configuration
        return beyond < -slack if self.side == "min" else beyond > slack

    @property
    def printed_off(self) -> bool:
        """Whether the printed value differs from the certified one by more than half a per cent."""
        return abs(self.printed - self.certified.value) > AGREES * abs(self.certified.value)


def published(robot: Robot) -> Mapping[str, Any] | None:
    """What is on file for this robot; None if nothing is, or if it is not the library's robot of that name as it is.

    A locked joint, another gravity or another file make another robot, which the source says nothing about.
    """
    place = resources.files("emdeg.analysis.published").joinpath(f"{robot.name}.toml")
    if not robot.name.replace("_", "").isalnum() or not place.is_file():
        return None
    theirs = load_robot(robot.name)
    if robot.links != theirs.links or robot.gravity != theirs.gravity:
        return None
    return tomllib.loads(place.read_text("utf-8"))


def carries_their_load(robot: Robot, data: Mapping[str, Any]) -> bool:
    """Whether the robot's one payload has the source's mass and mass centre."""
    theirs = data.get("payload")
    if theirs is None or len(robot.payloads) != 1:
        return False
    ours = robot.payloads[0]
    offset = max(abs(float(x) - y) for x, y in zip(ours.com, theirs["com"]))
    return abs(float(ours.mass) - theirs["mass"]) < 1e-9 and offset < 1e-9 and ours.link == theirs["link"]


def rows(data: Mapping[str, Any], model: Model, loads: Sequence[JointLoad], load: bool) -> list[PrintedRow]:
    """The printed extremes with (`load`) or without the load, beside the certified ones of `loads`."""
    entries = model.entries(["M", "g"])
    found = []
    for value in data["value"]:
        if value["load"] != load:
            continue
        name, side = value["quantity"], value["side"]
        one = loads[int(name[-1]) - 1]
        own = one.inertia if name[0] == "M" else one.gravity
        certified = {"min": own.low, "max": own.high, "magnitude": own.magnitude}[side]
        theirs = float(entries[name].evaluate(np.array(value["at"])))
        theirs = abs(theirs) if side == "magnitude" else theirs
        found.append(
            PrintedRow(value["table"], name, side, load, value["printed"], value.get("in_table"), theirs, certified)
        )
    return found


def ratio_rows(data: Mapping[str, Any], model: Model, where: Workspace, load: bool) -> list[PrintedRow]:
    """The printed largest ratios beside the certified ones, other joints held where the source holds them."""
    found = []
    for value in data.get("ratio", ()):
        if value["load"] != load:
            continue
        one = ratio(model, value["above"], value["below"])
        held = {joint_number(model.robot, name): position for name, position in value["held"].items()}
        ranges = tuple((held[k], held[k]) if k in held else ends for k, ends in enumerate(where.ranges, 1))
        narrowed = replace(where, ranges=ranges)
        theirs = float(one.values(np.array(value["at"])))
        certified = largest_of(one, narrowed)
        found.append(PrintedRow("ratios", value["name"], "max", load, value["printed"], None, theirs, certified))
    return found


def derived_rows(
    data: Mapping[str, Any], bare: Sequence[JointLoad], loaded: Sequence[JointLoad] | None
) -> list[dict[str, Any]]:
    """What the tables derive from the extremes, as data: relative inertia, and gravity loads at the motor's shaft.

    Both are printed to two or three digits, so a value is off only if rounding does not explain the difference.
    """
    found = []
    for load, ours in ((False, bare), (True, loaded)):
        if ours is None:
            continue
        key = "with_load" if load else "no_load"
        for one in data.get("relative", ()):
            most, least = ours[one["joint"] - 1].inertia.high, bare[one["joint"] - 1].inertia.low
            name = f"M{one['joint']}{one['joint']} max/min"
            found.append(_derived(one, name, load, one[key], most.value / least.value, most.bound / least.bound))
        for one in data.get("at_motor", ()):
            joint = ours[one["joint"] - 1]
            assert joint.gear_ratio is not None
            value, bound = (x / joint.gear_ratio for x in (joint.gravity_load.value, joint.gravity_load.bound))
            found.append(_derived(one, f"g{one['joint']} motor", load, one[key], value, bound))
    return found


def _derived(
    one: Mapping[str, Any], quantity: str, load: bool, printed: float, value: float, bound: float
) -> dict[str, Any]:
    half_digit = 0.5 * 10.0 ** -len(repr(printed).partition(".")[2])
    return {
        "table": one["table"],
        "quantity": quantity,
        "load": load,
        "printed": printed,
        "certified": {"value": value, "bound": bound},
        "printed_off": abs(printed - value) > max(AGREES * abs(value), 1.001 * half_digit),
    }


@dataclass(frozen=True)
class PrintedFigure:
    number: int
    name: str
    title: str
    curves: Curves


def figures(data: Mapping[str, Any], model: Model, where: Workspace, load: bool) -> list[PrintedFigure]:
    """The source's figures, as curves of the exact model."""
    found = []
    for one in data.get("figure", ()):
        if one["load"] != load:
            continue
        robot = model.robot
        held = {joint_number(robot, name): position for name, position in one["held"].items()}
        family = joint_number(robot, one["family"]) if "family" in one else None
        drawn = curves(
            ratio(model, one["above"], one["below"], drives=one["drives"]),
            where,
            joint_number(robot, one["along"]),
            family,
            one.get("values", ()),
            ends=(one["ends"][0], one["ends"][1]),
            at=held,
        )
        found.append(PrintedFigure(one["number"], one["name"], one["title"], drawn))
    return found
