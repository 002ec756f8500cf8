"""Closed loops as a kind of mechanism: how a state follows from a function's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.dynamics.arrays import Surroundings, checked_arrays
from emdeg.dynamics.mechanism import Position
from emdeg.dynamics.state import Again, Inputs, MechanismKind, State, joint_loads
from emdeg.errors import RobotError
from emdeg.loops import description
from emdeg.loops.analytic_closure import root_count, solve
from emdeg.loops.closing import (
    Ready,
    closing_of,
    coordinate_positions,
    positions,
    reach_root,
    ready,
    surroundings,
)
from emdeg.loops.linkage import linkage_of
from emdeg.loops.rounding import need_steady
from emdeg.loops.singularities import require_regular
from emdeg.loops.state import LoopState, NumericLoopState
from emdeg.robot import Robot


@dataclass(frozen=True, slots=True)
class ClosedLoops(MechanismKind):
    """Mechanisms with closed loops: q are the independent coordinates, tau the driven joints' efforts."""

    name: str = description.CLOSED_LOOPS
    example: ClassVar = ("emdeg.loops", "fivebar", "[2.0, 1.0]")
    larger_example: ClassVar = example
    explicit: ClassVar = "blocks"

    def is_everywhere(self, robot: Robot) -> bool:
        return False

    def state(self, robot: Robot, inputs: Inputs) -> LoopState:
        looked = closing_of(robot)
        if looked.plan is None:
            raise RobotError(
                "its loops close numerically, not by steps, so there is no program in its independent coordinates: "
                f"{looked.why_numeric}. emdeg eval, analyse and simulate (adaptive) serve it",
                body=robot.name,
            )
        link = linkage_of(robot, inputs.algebra, looked.mobility.rows, looked.mobility.pivots)
        known: dict[int, Position] = {
            k: link.tree.joints[k].position(
                lambda _, place=place: inputs.entry("q", place), lambda _, place=place: inputs.circle(place)
            )
            for place, k in enumerate(link.coordinates)
        }

        def root(value, _):
            return inputs.algebra.sqrt(value)

        given = inputs.arrays(partial(self.size, robot))
        return LoopState(link, known, solve(link, looked.plan, known, root), looked.plan, root, **given)

    def numbers(
        self, robot: Robot, arrays: Mapping[str, ArrayLike], *, rotors: bool = False, wrench: ArrayLike | None = None
    ) -> tuple[NumericLoopState, tuple[int, ...]]:
        if rotors:
            raise RobotError("the rotors' gyroscopic terms are not known for closed loops", body=robot.name)
        found = ready(robot)

        def entry(name: str) -> str:
            return f"{'driven joint' if name == 'tau' else 'independent coordinate'} of {robot.name}"

        checked, shape = checked_arrays(arrays, partial(self.size, robot), entry)
        given = dict(zip(arrays, checked))
        state = numeric_loop_state(found, positions(found, given["q"]), given)
        if wrench is None:
            return state, shape
        load, shape = joint_loads(state.tree, state.frame, wrench, shape)
        return replace(state, load=load), shape

    def need_steady(
        self, state: State, order: int, arrays: Mapping[str, ArrayLike], values: Sequence[Array], again: Again
    ) -> None:
        assert isinstance(state, NumericLoopState)
        need_steady(state, order, arrays, values, again)

    def home(self, robot: Robot) -> Array:
        return closing_of(robot).home

    def surroundings(self, robot: Robot) -> Surroundings:
        return surroundings(robot)

    def has_programs(self, robot: Robot) -> bool:
        return closing_of(robot).plan is not None

    def roots(self, robot: Robot) -> int:
        return root_count(closing_of(robot).plan or ())

    @property
    def singular_places(self) -> int:
        return 4  # they may close in ways that differ

    def joint_positions(self, robot: Robot, q: ArrayLike) -> Array:
        s, shape = self.numbers(robot, {"q": q})
        given = np.asarray(q, dtype=np.float64)
        values = [np.arctan2(*at) if turns else at for at, turns in zip(s.position, s.tree.revolute)]
        for i, k in enumerate(s.link.coordinates):
            values[k] = given[..., i]
        return np.stack([np.broadcast_to(v, shape) for v in values], -1)

    def need_possible(self, robot: Robot, q: ArrayLike) -> None:
        s, _ = self.numbers(robot, {"q": q})
        require_regular(s.conditions)

    def mobility(self, robot: Robot) -> str | None:
        return str(closing_of(robot).mobility)


def numeric_loop_state(found: Ready, position: list[Position], given: Mapping[str, Array]) -> NumericLoopState:
    """A state in doubles of a mechanism whose joints are at `position`."""
    lists = {name: [array[..., k] for k in range(array.shape[-1])] for name, array in given.items() if name != "q"}
    known = coordinate_positions(found.link, given["q"])
    return NumericLoopState(found.link, known, position, found.plan, reach_root, **lists)


def no_general_robot(robot: Robot) -> None:
    """No robot with a symbol for every number: of mechanisms with closed loops the literature counts none."""


CLOSED_LOOPS = ClosedLoops()
