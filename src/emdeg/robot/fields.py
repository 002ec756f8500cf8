"""Values of a study's or scenario's file: numbers, and one number a joint, by name or in the robot's order."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from emdeg.algebra import Angle, Array
from emdeg.robot.model import Joint, Robot
from emdeg.robot.toml_table import TomlTable, kind_of


def real(table: TomlTable, key: str, default: float | None = None, *, least: float = -math.inf) -> float:
    """A number under `key`: plain, or an angle such as "90 deg" in radians."""
    if key not in table:
        if default is None:
            raise table.error(f"{key} is missing")
        return default
    value = as_real(table, table.data[key], key)
    if value < least:
        raise table.error(f"{key} must be at least {least:g}; got {value:g}", key)
    return value


def optional_real(table: TomlTable, key: str, *, least: float = -math.inf) -> float | None:
    return real(table, key, least=least) if key in table else None


def as_real(table: TomlTable, value: Any, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise table.error(f"{key} must be a number, not {kind_of(value)}", key)
    try:
        angle = Angle.parse(str(value))
    except ValueError as problem:
        raise table.error(f"{key}: {problem}", key) from None
    if angle.symbol:
        raise table.error(f"{key} must be a number, not {angle.symbol!r}", key)
    try:
        number = float(angle)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise table.error(f"{key} is too large", key)
    return number


def flag(table: TomlTable, key: str, default: bool) -> bool:
    value = table.data.get(key, default)
    if not isinstance(value, bool):
        raise table.error(f"{key} must be true or false, not {kind_of(value)}", key)
    return value


def numbers(table: TomlTable, key: str, count: int | None = None) -> Array:
    """A list of numbers."""
    value = table.data.get(key)
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise table.error(f"{key} must be a list of {count or 'some'} numbers", key if key in table else None)
    return np.array([as_real(table, item, key) for item in value])


def per_joint(
    table: TomlTable,
    key: str,
    robot: Robot,
    default: float | Array | None = None,
    *,
    spread: bool = False,
    driven: bool = False,
) -> Array:
    """One number a joint: a list in the robot's order, or a table by joint names, where `default` fills gaps.

    With `spread` a single number serves all joints. With closed loops the joints are those of the coordinates, or the
    `driven` ones.
    """
    if key not in table:
        if default is None:
            raise table.error(f"{key} is missing: one number a joint")
        return np.full(robot.freedoms, default)
    return as_joints(table, table.data[key], key, robot, default, spread, driven)


def as_joints(
    table: TomlTable,
    value: Any,
    key: str,
    robot: Robot,
    default: float | Array | None = None,
    spread: bool = False,
    driven: bool = False,
) -> Array:
    joints = robot.driven if driven else robot.coordinates
    names = [joint.name for joint in joints]
    if isinstance(value, list):
        if len(value) != len(joints):
            raise table.error(
                f"{key} has {len(value)} numbers; {robot.name} has {len(joints)} joints: {', '.join(names)}", key
            )
        return np.array([as_real(table, item, key) for item in value])
    if isinstance(value, dict):
        result = np.full(len(joints), math.nan if default is None else default)
        for name, item in value.items():
            result[joint_index(table, name, robot, key, joints)] = as_real(table, item, f"{key}.{name}")
        missing = [name for name, number in zip(names, result) if math.isnan(number)]
        if missing:
            raise table.error(f"{key} has no number for the joint {missing[0]!r}", key)
        return result
    if spread:
        return np.full(len(joints), as_real(table, value, key))
    raise table.error(f"{key} must be a list or a table with one number a joint, not {kind_of(value)}", key)


def joint_index(table: TomlTable, name: Any, robot: Robot, key: str, joints: Sequence[Joint] | None = None) -> int:
    """Its place among `joints`, by default the coordinates."""
    names = [joint.name for joint in (robot.coordinates if joints is None else joints)]
    if name not in names:
        near = difflib.get_close_matches(str(name), names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"its joints are {', '.join(names)}"
        raise table.error(f"{key}: {robot.name} has no joint {str(name)[:40]!r}; {hint}", key)
    return names.index(name)


def joint_list(table: TomlTable, key: str, robot: Robot, joints: Sequence[Joint] | None = None) -> tuple[int, ...]:
    """Joints by name: places among `joints`, by default the coordinates."""
    value = table.data.get(key, [])
    if not isinstance(value, list):
        raise table.error(f"{key} must be a list of joint names", key)
    return tuple(joint_index(table, name, robot, key, joints) for name in value)


def by_name(table: TomlTable, key: str) -> dict[str, float]:
    """Numbers by name; none where the table is missing."""
    value = table.data.get(key, {})
    if not isinstance(value, dict):
        raise table.error(f"{key} must be a table of numbers by name", key)
    return {name: as_real(table, one, f"{key}.{name}") for name, one in value.items()}
