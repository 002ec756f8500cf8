"""Numbers for symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from emdeg.algebra import Angle, Exact, ExactLike
from emdeg.errors import RobotError
from emdeg.robot.loading import RobotLike, as_robot
from emdeg.robot.model import Robot


def substitute(robot: RobotLike, values: Mapping[str, ExactLike]) -> Robot:
    """`robot` with the named symbols replaced by numbers (SI units, radians) or by other symbols.

    >>> import emdeg
    >>> robot = emdeg.load("puma560", payload="mass=mL,com=0:0:0.1")
    >>> sorted(robot.symbols), sorted(emdeg.substitute(robot, {"mL": 2.5}).symbols)
    (['mL'], [])
    """
    robot = as_robot(robot)
    unknown = sorted(set(values) - robot.symbols)
    if unknown:
        known = ", ".join(sorted(robot.symbols)) or "none"
        raise RobotError(f"it has no symbol {unknown[0]!r}; its symbols: {known}", body=robot.name)
    exact = {name: Exact.of(value) for name, value in values.items()}
    return _replaced(robot, exact)


def _replaced(node: Any, values: Mapping[str, Exact]) -> Any:
    if isinstance(node, Exact):
        return node.substitute(values) if node.symbols & values.keys() else node
    if isinstance(node, Angle):
        if node.symbol is None or node.symbol not in values:
            return node
        value = values[node.symbol]
        if value.is_number:
            return Angle(node.pi_times, node.radians + value.number)
        return Angle.parse(str(value)) + Angle(node.pi_times, node.radians)
    if isinstance(node, tuple):
        return tuple(_replaced(part, values) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        changes = {f.name: _replaced(getattr(node, f.name), values) for f in fields(node)}
        return replace(node, **changes)
    return node


def need_numbers(robot: Robot) -> None:
    """RobotError if the robot has symbols: there is nothing to evaluate."""
    if robot.symbols:
        names = sorted(robot.symbols)
        some = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        raise RobotError(
            f"it has symbols without a number: {some}; "
            "give them values (--set NAME=VALUE, or emdeg.substitute) to evaluate it",
            body=robot.name,
        )
