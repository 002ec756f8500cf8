"""Short programs of Jacobians, where the package has them: they take the place of a program's own derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from emdeg.dynamics import TREE, kind_of
from emdeg.programs.ir import Program
from emdeg.programs.store import shipped
from emdeg.robot import Robot

MADE_OF = {
    "inverse_dynamics": ("inverse_dynamics_derivatives", "mass_matrix"),
    "forward_dynamics": ("forward_dynamics_derivatives",),
}
"""The functions that are a Jacobian by all inputs: of a tree's efforts by its accelerations, the mass matrix."""


def slopes_on_file(robot: Robot, functions: Sequence[str]) -> Program | None:
    """The package's program of a function's Jacobian by all inputs, outputs `d<output>_d<input>`; None without one."""
    names = MADE_OF.get("+".join(functions), ())
    if not names or robot.symbols or kind_of(robot) is not TREE:
        return None
    found = shipped(robot, names)
    if found is None:
        return None
    named = (replace(one, name="dtau_dqdd") if one.name == "M" else one for one in found.outputs)
    return replace(found, outputs=tuple(named))
