"""The numbers of what closes a robot's loops, as groups that may become symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from emdeg.loops.description import Loops
from emdeg.robot import AXES, ParameterGroup, Robot


def parameter_groups(loops: Loops) -> Iterator[ParameterGroup]:
    """What closes the loops: a rod's length, centre, mass and inertia (lR1, cR1, mR1, IR1), places of ends (x1a)."""
    none = (None,) * 4
    for k, rod in enumerate(loops.rods):
        names = ("length", "com", "mass", "inertia") if rod.points is None else ("length", "com")
        letters = tuple(f"{letter}R{k + 1}" for letter in "lcmI"[: len(names)])
        values = tuple(getattr(rod, name) for name in names)
        yield ParameterGroup(rod.name, names, letters, values, _in_loop("rods", k, names), none[: len(names)])
        if rod.points is not None:
            letters = tuple(f"m{end}{k + 1}" for end in "CAK")
            yield ParameterGroup(
                rod.name, ("mass.first", "mass.second", "mass.centre"), letters, rod.points, _points(k), none[:3]
            )
    for kind, own in (("rods", loops.rods), ("closures", loops.closures)):
        for k, loop in enumerate(own):
            number = k + 1 + (len(loops.rods) if kind == "closures" else 0)
            for end, letter in (("first", "a"), ("second", "b")):
                owner = f"{loop.name}.{end}"
                xyz = getattr(loop, end).xyz
                letters = tuple(f"{axis}{number}{letter}" for axis in AXES)
                yield ParameterGroup(owner, AXES, letters, xyz, _in_end(kind, k, end), none[:3])


def _in_loop(kind: str, k: int, names: Sequence[str]) -> Callable[[Robot, tuple[Any, ...]], Robot]:
    def put(robot: Robot, values: tuple[Any, ...]) -> Robot:
        return _replaced(robot, kind, k, dict(zip(names, values)))

    return put


def _points(k: int) -> Callable[[Robot, tuple[Any, ...]], Robot]:
    def put(robot: Robot, values: tuple[Any, ...]) -> Robot:
        return _replaced(robot, "rods", k, {"points": values, "mass": values[0] + values[1] + values[2]})

    return put


def _in_end(kind: str, k: int, end: str) -> Callable[[Robot, tuple[Any, ...]], Robot]:
    def put(robot: Robot, values: tuple[Any, ...]) -> Robot:
        own = getattr(getattr(robot.constraints, kind)[k], end)
        return _replaced(robot, kind, k, {end: replace(own, xyz=values)})

    return put


def _replaced(robot: Robot, kind: str, k: int, changes: Mapping[str, Any]) -> Robot:
    """The robot with changes in one rod or closing joint."""
    loops = robot.constraints
    assert isinstance(loops, Loops)
    own = list(getattr(loops, kind))
    own[k] = replace(own[k], **changes)
    return replace(robot, constraints=replace(loops, **{kind: tuple(own)}))
