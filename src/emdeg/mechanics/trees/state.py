"""A chain or a tree at a moment, in one algebra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array, Floats
from emdeg.errors import RobotError
from emdeg.mechanics.formulations import composite_body
from emdeg.mechanics.formulations.friction import friction
from emdeg.mechanics.mechanism import Mechanism, Position, Rates, led, mechanism_of, seeded
from emdeg.mechanics.spatial import Scalar
from emdeg.mechanics.state import FramedState, Inputs, Surroundings, checked_arrays, joint_loads
from emdeg.mechanics.variants.link_frame_recursion import link_frame_recursion
from emdeg.mechanics.variants.rotors import mass_matrix_with_rotors, newton_euler_with_rotors
from emdeg.robot import Robot, need_numbers, remembered


@dataclass(frozen=True)
class TreeState(FramedState):
    """A chain or a tree at a moment. `load` is what acts on the joints from outside, as efforts of theirs."""

    tree: Mechanism
    position: Sequence[Position]
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()
    p: Sequence[Scalar] = ()
    load: Sequence[Scalar] | None = None

    @property
    def n(self) -> int:
        return self.tree.n

    def open_loops(self) -> Sequence[tuple[str, Scalar]]:
        return ()

    def seeded(self) -> TreeState:
        """The same state over dual numbers, joint k's position varying in direction k."""
        return replace(self, position=seeded(self.tree, self.position))

    def varied(self, rates: Mapping[str, Sequence[Rates]], level: int, closing: bool = False) -> TreeState:
        """The same state over dual numbers of a level; the rates say how each entry of an input array changes."""
        turns, along = self.tree.revolute, rates.get("q")
        position = (
            self.position
            if along is None
            else [led(at, turns[k], each, level) for k, (at, each) in enumerate(zip(self.position, along, strict=True))]
        )
        return replace(self, position=position, **self.varied_arrays(rates, level))

    def efforts(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool = True) -> list[Scalar]:
        """What the joints give for these speeds and accelerations, by the recursion that saves operations."""
        return list(link_frame_recursion(self.tree, self.frame, qd, qdd, gravity=gravity))

    def mass_matrix(self) -> list[list[Scalar]]:
        """M by composite bodies."""
        return composite_body.mass_matrix(self.tree, self.frame)


class TreeStateWithRotors(TreeState):
    """A tree whose motors' armatures spin: efforts with their gyroscopic terms, and what follows from efforts."""

    def efforts(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool = True) -> list[Scalar]:
        return list(newton_euler_with_rotors(self.tree, self.frame, qd, qdd, gravity=gravity))

    def mass_matrix(self) -> list[list[Scalar]]:
        return mass_matrix_with_rotors(self.tree, self.frame)


@dataclass(frozen=True, slots=True)
class Tree:
    """Chains and trees: q are the joint variables."""

    name: str = "tree"

    def size(self, robot: Robot, array: str) -> int:
        return robot.n

    def state(self, robot: Robot, inputs: Inputs) -> TreeState:
        return tree_state(mechanism_of(robot, inputs.algebra), inputs)

    def numbers(
        self, robot: Robot, arrays: Mapping[str, ArrayLike], *, rotors: bool = False, wrench: ArrayLike | None = None
    ) -> tuple[TreeState, tuple[int, ...]]:
        mech = _mechanism(robot)
        if rotors and all(rotor is None for rotor in mech.rotor):
            raise RobotError("it has no gear ratios, so the rotors' gyroscopic terms are not known", body=robot.name)
        checked, shape = checked_arrays(arrays, mech.n, lambda name: f"joint of {robot.name}")
        plain = shape == () and wrench is None
        given = {
            name: [float(v) for v in array] if plain else [array[..., k] for k in range(mech.n)]
            for name, array in zip(arrays, checked)
        }
        q = given.pop("q")
        kind = TreeStateWithRotors if rotors else TreeState
        state = kind(mech, [_turned(v) if turns else v for v, turns in zip(q, mech.revolute)], **given)
        if wrench is None:
            return state, shape
        load, shape = joint_loads(state.tree, state.frame, wrench, shape)
        return replace(state, load=load), shape

    def friction(self, robot: Robot, q: ArrayLike, qd: ArrayLike, *, generalized: bool = False) -> Array:
        return friction(robot, qd)

    def home(self, robot: Robot) -> Array:
        return np.zeros(robot.n)

    def is_everywhere(self, robot: Robot) -> bool:
        return True

    def surroundings(self, robot: Robot) -> Surroundings:
        return Surroundings(np.zeros(robot.n), np.full(robot.n, np.pi), {})

    def has_programs(self, robot: Robot) -> bool:
        return True

    def roots(self, robot: Robot) -> int:
        return 0

    @property
    def explicit(self) -> Literal["formulas", "blocks"]:
        return "formulas"

    @property
    def opens(self) -> bool:
        return True

    def joint_positions(self, robot: Robot, q: ArrayLike) -> Array:
        return np.asarray(q, dtype=np.float64)

    def need_possible(self, robot: Robot, q: ArrayLike) -> None:
        pass

    def mobility(self, robot: Robot) -> str | None:
        return None


def tree_state(mech: Mechanism, inputs: Inputs) -> TreeState:
    """The state of a mechanism at the inputs; the mechanism may have other constants than the robot's own."""
    position: list[Position] = [
        inputs.circle(k) if turns else inputs.entry("q", k) for k, turns in enumerate(mech.revolute)
    ]
    return TreeState(mech, position, **inputs.arrays(lambda _: mech.n))


@remembered(64)
def _mechanism(robot: Robot) -> Mechanism:
    need_numbers(robot)
    return mechanism_of(robot, Floats())


def _turned(angle):
    if isinstance(angle, float):
        return float(np.sin(angle)), float(np.cos(angle))
    return np.sin(angle), np.cos(angle)
