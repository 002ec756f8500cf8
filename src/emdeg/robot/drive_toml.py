"""Drives in emdeg's own robot files: motor, gear and friction of a joint."""

from __future__ import annotations

from emdeg.algebra import ZERO, Exact
from emdeg.robot.model import Drive, Friction, JointKind
from emdeg.robot.toml_table import TomlTable

DRIVE = ("inertia", "max_torque", "motor_inertia", "stall_torque", "gear_ratio")
FRICTION = ("viscous", "coulomb", "stribeck", "stribeck_velocity", "break_away", "rest_speed")


def read_drive(link: TomlTable, q: str, kind: JointKind) -> Drive:
    """The drive of a link's table, none if it has none; `q` is the joint's name."""
    table = link.subtable("drive")
    if table is None:
        return Drive()
    if kind == "fixed":
        raise table.error("a fixed joint has no drive")
    table.only((*DRIVE, "motor_axis", "motor_link", *FRICTION, "resolution_bits", "source"))
    if "source" in table:
        table.remarks.sources[f"{q}.drive"] = table.text("source")
    values = {key: table.number(key, f"{q}.drive.{key}") for key in (*DRIVE, *FRICTION)}
    for key, value in values.items():
        if value is None or not value.is_number or key in ("inertia", "gear_ratio"):
            continue
        if value.number < 0:
            raise table.error(f"{key} must not be negative", key)
    gear = values["gear_ratio"]
    if gear is not None and not gear:
        raise table.error("gear_ratio must not be zero", "gear_ratio")
    for motor, joint in (("motor_inertia", "inertia"), ("stall_torque", "max_torque")):
        at_motor = values[motor]
        if at_motor is not None and values[joint] is None:
            if gear is None:
                raise table.error(f"{motor} needs gear_ratio, or give {joint} at the joint", motor)
            values[joint] = at_motor * gear * gear if joint == "inertia" else at_motor * _size(gear)
    axis = table.vector("motor_axis")
    if axis is not None and not any(axis):
        raise table.error("motor_axis must not be zero", "motor_axis")
    if axis is None and "motor_link" in table:
        raise table.error("motor_link needs motor_axis, the rotor's axis in that link's frame", "motor_link")
    return Drive(
        inertia=values["inertia"] or ZERO,
        max_torque=values["max_torque"],
        motor_inertia=values["motor_inertia"],
        stall_torque=values["stall_torque"],
        gear_ratio=gear,
        motor_axis=axis,
        motor_link=table.name("motor_link") if "motor_link" in table else None,
        friction=Friction(
            values["viscous"] or ZERO,
            values["coulomb"] or ZERO,
            values["stribeck"],
            values["stribeck_velocity"],
            values["break_away"],
            values["rest_speed"],
        ),
        resolution_bits=table.integer("resolution_bits", 1, 64),
    )


def _size(value: Exact) -> Exact:
    return -value if value.is_number and value.number < 0 else value
