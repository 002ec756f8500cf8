"""Short programs of Jacobians, where the package has them: they take the place of a program's own derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from emdeg.dynamics.functions import CATALOGUE, ways_of
from emdeg.programs.ir import Program
from emdeg.programs.store import shipped
from emdeg.robot import Robot


def slopes_on_file(robot: Robot, functions: Sequence[str]) -> Program | None:
    """The package's program of a function's Jacobian by all inputs, outputs `d<output>_d<input>`; None without one."""
    (function, *others) = functions
    names = ways_of(function, robot).jacobian
    if not names or others or robot.symbols or CATALOGUE[function].derivation is not None:
        return None
    found = shipped(robot, names)
    if found is None:
        return None
    named = (replace(one, name="dtau_dqdd") if one.name == "M" else one for one in found.outputs)
    return replace(found, outputs=tuple(named))
