"""The tables that describe a robot, frames, inertias, drives; for the command line and for reports."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from emdeg.algebra import Angle, Exact
from emdeg.documents import Table
from emdeg.robot import BASE, Robot

PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


def number(value: Exact | Fraction | None) -> str:
    """A value for reading: six significant digits, or the symbol."""
    if value is None:
        return ""
    if isinstance(value, Fraction):
        return f"{float(value):.6g}"
    return f"{float(value):.6g}" if value.is_number else str(value)


def angle(value: Angle) -> str:
    """In degrees where it is a multiple of pi, else in radians, or the symbol."""
    if value.symbol is None and not value.radians:
        return f"{float(value.pi_times * 180):g} deg"
    return str(value) if value.symbol else f"{float(value):.6g}"


def frames(robot: Robot) -> Table:
    """Every joint's modified Denavit-Hartenberg parameters; those of branches where the robot has some."""
    head = ["", "joint", "kind", "parent", "alpha", "a [m]", "theta", "d [m]"]
    branches = any(
        not (j.placement.gamma.is_zero and not j.placement.b and j.placement.beta.is_zero) for j in robot.joints
    )
    if branches:
        head += ["gamma", "b [m]", "beta"]
    rows = []
    for i, link in enumerate(robot.links):
        place = link.joint.placement
        moving = link.joint.name
        theta, d = angle(place.theta), number(place.d)
        if link.joint.kind == "revolute":
            theta = moving if place.theta.is_zero else f"{moving} + {theta}"
        else:
            d = moving if not place.d else f"{moving} + {d}"
        parent = "base" if link.parent == BASE else robot.links[link.parent].name
        cells = [str(i + 1), link.joint.name, link.joint.kind, parent, angle(place.alpha), number(place.a), theta, d]
        if branches:
            cells += [angle(place.gamma), number(place.b), angle(place.beta)]
        rows.append(tuple(cells))
    return Table(tuple(head), tuple(rows), "Frames (modified Denavit-Hartenberg)")


def inertias(robot: Robot, across: int = 7) -> list[Table]:
    """A row a parameter, a column a link, at most `across` links a table."""
    tables = []
    for start in range(0, robot.n, across):
        links = robot.links[start : start + across]
        values = list(zip(*(link.inertia.parameters for link in links)))
        rows = [(name, *(number(v) for v in row)) for name, row in zip(PARAMETERS, values)]
        tables.append(
            Table(
                ("", *(link.name for link in links)),
                tuple(rows),
                "Inertia about each link frame's origin [kg, kg m, kg m^2]",
            )
        )
    return tables


def drives(robot: Robot) -> Table | None:
    """What is known of the drives, of closed loops those of the driven joints and any other; None: nothing."""
    if not any(_has_drive(joint.drive) for joint in robot.joints):
        return None
    rows = []
    for joint in robot.joints:
        if joint not in robot.driven and not _has_drive(joint.drive):
            continue
        drive = joint.drive
        resolution = ""
        if drive.resolution_bits and drive.max_torque is not None and drive.max_torque.is_number:
            resolution = f"{float(drive.max_torque) / 2 ** (drive.resolution_bits - 1):.4g}"
        rows.append(
            (
                joint.name,
                number(drive.inertia),
                number(drive.gear_ratio),
                number(drive.max_torque),
                resolution,
                number(drive.friction.viscous),
                number(drive.friction.coulomb),
                number(drive.friction.break_away),
            )
        )
    head = ("joint", "inertia", "ratio", "max", "step", "viscous", "Coulomb", "break-away")
    return Table(head, tuple(rows), "Drives, at the joint [kg m^2, N m; kg, N]")


def _has_drive(drive: Any) -> bool:
    return bool(drive.inertia) or any(
        value is not None for value in (drive.gear_ratio, drive.max_torque, drive.friction.break_away)
    )


def kind(robot: Robot) -> str:
    """What sort of mechanism it is."""
    return "closed loops on a tree" if robot.hidden else "a chain" if robot.is_serial else "a tree"
