"""What a run asks of a robot's kind of mechanism: its joints, its energies, how it fails. Here the answers of trees."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.robot import Robot, TomlTable, by_kind
from emdeg.runtime import CompiledProgram
from emdeg.runtime import compile as compile_program
from emdeg.simulation.plant.programs import Compiled, energies, robot_program


@by_kind
def plant_at(robot: Robot, q: Array) -> Any:
    """What has the accelerations and the driven joints' rates of a run that begins at q, and `conditions`."""
    return Compiled(robot)


@by_kind
def all_joints(robot: Robot, q: Array, begin: Array | None = None) -> Array:
    """(..., joints of the tree): every joint along a run q (..., k, n); `begin`: all joints at a place of the run."""
    return kind_of(robot).joint_positions(robot, q)


@by_kind
def run_energies(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """T, V (..., k) and p (..., k, n) along a run."""
    return compiled_energies(robot)(q, qd)


@lru_cache(maxsize=16)
def compiled_energies(robot: Robot) -> CompiledProgram:
    """The energies and momenta as a compiled program."""
    return compile_program(energies(robot))


@by_kind
def open_along(robot: Robot, q: Array) -> Array | None:
    """(..., k) by how much the constraints are missed along a run; None where there are none."""
    return None


@by_kind
def singularity_report(robot: Robot, q: Array) -> dict[str, Any]:
    """What a run's result says of singularities along q (..., k, n)."""
    return {}


@by_kind
def where_it_broke(robot: Robot, q: Array, found: Any = None) -> str:
    """What to say of a run that ended near q (n,); `found`: the plant's `conditions` there."""
    return ""


@by_kind
def torques_along(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """The efforts of a motion."""
    return compile_program(robot_program(robot, "inverse_dynamics"))(q, qd, qdd)


@by_kind
def placed_by_all_joints(robot: Robot, table: TomlTable) -> Array | None:
    """The coordinates where a table names every joint of the tree; None where it does not, or need not."""
    table.only(("q", "qd"))
    return None


@by_kind
def most_stalled_steps(robot: Robot) -> int:
    """A run is given up where so many steps bring it no further."""
    return 1000


@by_kind
def check_abbreviated(robot: Robot, table: TomlTable) -> None:
    """RobotError where there are no abbreviated models of such a robot."""
