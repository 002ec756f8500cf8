"""A mechanism at a moment, in one algebra: what every formulation of a function reads.

A tree, a mechanism with closed loops and, some day, a robot on a free base are kinds of one protocol. `q` are the
coordinates, `qd` the speeds: the two need not be as many, nor need the speeds be the coordinates' rates; only a kind
knows how a joint's position follows from q.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Algebra, Array, Dual, Floats
from emdeg.dynamics.arrays import Everywhere, Surroundings, checked_arrays
from emdeg.dynamics.formulations import composite_body, kinematics
from emdeg.dynamics.formulations.rnea_link_frame import rnea_link_frame
from emdeg.dynamics.joints import Pair, Position, Rates, joint_kind
from emdeg.dynamics.mechanism import (
    Frames,
    Mechanism,
    frames,
    joint_positions,
    lift_positions,
    mechanism_of,
    seed_duals,
)
from emdeg.dynamics.spatial import Scalar, total
from emdeg.dynamics.variants.rotors import mass_matrix_with_rotors, newton_euler_with_rotors
from emdeg.errors import RobotError
from emdeg.robot import TREE_KIND, Robot, kind_named, known_kinds, need_numbers, remembered, resolved

Outputs = Mapping[str, Any]
"""Output's name -> a scalar, or nested sequences of scalars: what a formulation yields."""


class RootAlgebra(Algebra, Protocol):
    """An algebra that also takes square roots: closed loops need them."""

    def sqrt(self, value: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Inputs:
    """A function's inputs in one algebra.

    `entry(name, place)` is one scalar of the array `name`; `circle(place)` the sine and cosine of the angle that
    stands in q at that place. `names` are the arrays beyond q that are there.
    """

    algebra: RootAlgebra
    entry: Callable[[str, int], Scalar]
    circle: Callable[[int], Pair]
    names: tuple[str, ...] = ()

    def arrays(self, size: Callable[[str], int]) -> dict[str, list[Scalar]]:
        """Every array beyond q, `size` of its name scalars each."""
        return {name: [self.entry(name, place) for place in range(size(name))] for name in self.names}


class State(Protocol):
    """What a formulation may read of any kind of mechanism."""

    @property
    def qd(self) -> Sequence[Scalar]: ...
    @property
    def qdd(self) -> Sequence[Scalar]: ...
    @property
    def tau(self) -> Sequence[Scalar]: ...
    @property
    def p(self) -> Sequence[Scalar]: ...

    @property
    def tree(self) -> Mechanism:
        """Every body and joint, loops opened."""
        ...

    @property
    def n(self) -> int:
        """How many speeds there are, and efforts."""
        ...

    @property
    def position(self) -> Sequence[Position]:
        """Of every joint of the tree."""
        ...

    @property
    def frame(self) -> Frames:
        """Each link's frame in its parent's."""
        ...

    @property
    def rates(self) -> Sequence[Sequence[Scalar]] | None:
        """Every joint's rate per speed; None where the speeds are the joints' rates."""
        ...

    def mass_matrix(self) -> list[list[Scalar]]:
        """M of the speeds, both triangles."""
        ...

    def open_loops(self) -> Sequence[tuple[str, Scalar]]:
        """(loop, by how much it is open) for every equation that a state of this kind must satisfy."""
        ...

    def varied(self, rates: Mapping[str, Sequence[Rates]], level: int, closing: bool = False) -> State:
        """The same state over dual numbers of a level; the rates say how each entry of an input array changes.

        `closing`: joints that depend on others follow through the equations that close loops, not through their rates.
        """
        ...


@dataclass(frozen=True, slots=True)
class Balance:
    """An equation r(x, y) = 0 that a function's outputs y make true, with -dr/dy = A symmetric and free of y.

    Its derivatives are those of r and solutions with A: what led to y need not be differentiated. `solve` yields
    A^-1 b, `inverse` A^-1, and `slopes` dr/dx, rows along r and columns along all inputs, where a way is known that is
    shorter than differentiating r.
    """

    residual: Sequence[Scalar]
    solve: Callable[[Sequence[Scalar]], Sequence[Scalar]]
    inverse: Callable[[], Sequence[Sequence[Scalar]]]
    slopes: Callable[[], Sequence[Sequence[Scalar]]] | None = None


class FramedState:
    """What the states of all kinds have in common: frames, rest, and unit speeds."""

    tree: Any
    position: Any
    n: Any

    @property
    def frame(self) -> Frames:
        """Each link's frame in its parent's."""
        return self._frame

    @cached_property
    def _frame(self) -> Frames:
        return frames(self.tree, self.position)

    @property
    def rest(self) -> list[Scalar]:
        """Zero speeds, or accelerations."""
        return [self.tree.zero] * self.n

    def unit(self, k: int) -> list[Scalar]:
        """A unit speed, or acceleration, of coordinate k alone."""
        return [self.tree.one if i == k else self.tree.zero for i in range(self.n)]

    def varied_arrays(self, rates: Mapping[str, Sequence[Rates]], level: int) -> dict[str, list[Scalar]]:
        """Every array beyond q over dual numbers of a level, where the rates say how its entries change."""
        return {
            name: [Dual(v, dict(each), level) for v, each in zip(getattr(self, name), of_entries, strict=True)]
            for name, of_entries in rates.items()
            if name != "q"
        }


@dataclass(frozen=True, slots=True)
class Measure:
    """Something known of a mechanism over doubles alone: `run(robot, *inputs)`, arrays (..., n) in, one array out.

    `named(robot)` says what the entries along the last axis are called.
    """

    inputs: tuple[str, ...]
    run: Callable[..., Array]
    named: Callable[[Robot], list[str]]


Again = Callable[[Mapping[str, Array]], Sequence[Array]]
"""A function's outputs for other inputs (states, size), over doubles: each (states, ...)."""


class MechanismKind:
    """How a kind of mechanism moves. What is here is right where every joint of the tree is a coordinate."""

    __slots__ = ()
    name: str
    example: ClassVar[tuple[str, str, str]] = ("emdeg", "planar2r", "[0.1, 0.2]")
    """Where Python finds its functions, a small robot of the library, and q of it."""
    larger_example: ClassVar[tuple[str, str, str]] = ("emdeg", "puma560", "[0.1, 0.2, 0, 0, 0.5, -0.3]")
    """The same, of a robot with friction that moves its tool in six degrees of freedom, where the library has one."""

    explicit: ClassVar[str] = "formulas"

    def is_everywhere(self, robot: Robot) -> bool:
        return True

    def size(self, robot: Robot, array: str) -> int:
        """How many entries an input array has: q, qd, qdd, tau, p."""
        types = [joint.type for joint in (robot.driven if array == "tau" else robot.coordinates)]
        return sum(one.nq if array == "q" else one.nv for one in types)

    def state(self, robot: Robot, inputs: Inputs) -> State:
        """The state in the inputs' algebra."""
        raise NotImplementedError

    def regrouped_state(self, robot: Robot, inputs: Inputs) -> State:
        """The same with base parameters for the inertias, where this kind knows how to regroup them."""
        return self.state(robot, inputs)

    def numbers(
        self, robot: Robot, arrays: Mapping[str, ArrayLike], *, rotors: bool = False, wrench: ArrayLike | None = None
    ) -> tuple[State, tuple[int, ...]]:
        """The state in doubles, and the shape that the arrays' leading axes have together.

        `rotors`: with the gyroscopic terms of the motors' armatures. `wrench` (..., 6): a force [N] and a moment
        [N m] on the tool, base axes.
        """
        raise NotImplementedError

    def need_steady(
        self, state: State, order: int, arrays: Mapping[str, ArrayLike], values: Sequence[Array], again: Again
    ) -> None:
        """StateError where rounding may have made much of the values that the arrays gave.

        `order`: how often what follows from q was differentiated by it for these values.
        """

    def home(self, robot: Robot) -> Array:
        """q (n,) of a place where the robot can be."""
        return np.concatenate([np.zeros(0), *(joint_kind(joint.kind).neutral() for joint in robot.coordinates)])

    def surroundings(self, robot: Robot) -> Surroundings:
        """States that the robot can be in, and numbers that its symbols may have, about its home."""
        home = self.home(robot)
        return Everywhere(home, np.full(len(home), np.pi), {})

    def has_programs(self, robot: Robot) -> bool:
        """Whether its state follows from its inputs by finitely many operations."""
        return True

    def roots(self, robot: Robot) -> int:
        """Square roots on the way from q to every joint's position."""
        return 0

    @property
    def singular_places(self) -> int:
        """Random places at which the mass matrix must be singular to be it everywhere."""
        return 1

    def joint_positions(self, robot: Robot, q: ArrayLike) -> Array:
        """(..., joints of the tree) [rad, m]: where every joint is."""
        return np.asarray(q, dtype=np.float64)

    def need_possible(self, robot: Robot, q: ArrayLike) -> None:
        """StateError, saying where and why, if the robot cannot be at q (..., n) or is singular there."""

    def mobility(self, robot: Robot) -> str | None:
        """How freely it moves, in words; None where that is plain."""
        return None


def kind_of(robot: Robot) -> MechanismKind:
    """Which kind of mechanism a robot is."""
    return resolved(kind_named(robot.constraints.kind).mechanism)


def mechanism_kinds() -> tuple[MechanismKind, ...]:
    """Every registered kind of mechanism."""
    return tuple(resolved(kind.mechanism) for kind in known_kinds())


def joint_loads(
    tree: Mechanism, frame: Frames, wrench: ArrayLike, shape: tuple[int, ...]
) -> tuple[list[Array], tuple[int, ...]]:
    """What a force and a moment on the tool give every joint of the tree, J^T w, and the states' shape with it."""
    (w,), shape_of_wrench = checked_arrays({"wrench": wrench}, 6, lambda _: "force's or moment's component")
    J = kinematics.jacobian(tree, frame)
    load = [total([J[i][k] * w[..., i] for i in range(6)]) for k in range(tree.nv)]
    return load, np.broadcast_shapes(shape, shape_of_wrench)


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
        return self.tree.nv

    @property
    def rates(self) -> None:
        return None

    def open_loops(self) -> Sequence[tuple[str, Scalar]]:
        return ()

    def seed_duals(self) -> TreeState:
        """The same state over dual numbers, moving along speed k's axis in direction k."""
        return replace(self, position=seed_duals(self.tree, self.position))

    def varied(self, rates: Mapping[str, Sequence[Rates]], level: int, closing: bool = False) -> TreeState:
        """The same state over dual numbers of a level; the rates say how each entry of an input array changes."""
        along = rates.get("q")
        position = self.position if along is None else lift_positions(self.tree, self.position, along, level)
        return replace(self, position=position, **self.varied_arrays(rates, level))

    def efforts(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool = True) -> list[Scalar]:
        """What the joints give for these speeds and accelerations, by the recursion that saves operations."""
        return list(rnea_link_frame(self.tree, self.frame, qd, qdd, gravity=gravity))

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
class Tree(MechanismKind):
    """Chains and trees: q are the joint variables."""

    name: str = TREE_KIND

    def state(self, robot: Robot, inputs: Inputs) -> TreeState:
        return tree_state(mechanism_of(robot, inputs.algebra), inputs)

    def regrouped_state(self, robot: Robot, inputs: Inputs) -> TreeState:
        from emdeg.dynamics.parameters.base import regrouped_mechanism

        return tree_state(regrouped_mechanism(robot, inputs.algebra), inputs)

    def numbers(
        self, robot: Robot, arrays: Mapping[str, ArrayLike], *, rotors: bool = False, wrench: ArrayLike | None = None
    ) -> tuple[TreeState, tuple[int, ...]]:
        mech = _mechanism(robot)
        if rotors and all(rotor is None for rotor in mech.rotor):
            raise RobotError("it has no gear ratios, so the rotors' gyroscopic terms are not known", body=robot.name)
        checked, shape = checked_arrays(arrays, partial(self.size, robot), lambda name: f"joint of {robot.name}")
        plain = shape == () and wrench is None
        given = {
            name: [float(v) for v in array] if plain else [array[..., k] for k in range(array.shape[-1])]
            for name, array in zip(arrays, checked)
        }
        q = given.pop("q")
        kind = TreeStateWithRotors if rotors else TreeState
        state = kind(mech, joint_positions(mech, q.__getitem__, lambda k: _sincos(q[k])), **given)
        if wrench is None:
            return state, shape
        load, shape = joint_loads(state.tree, state.frame, wrench, shape)
        return replace(state, load=load), shape


def tree_state(mech: Mechanism, inputs: Inputs) -> TreeState:
    """The state of a mechanism at the inputs; the mechanism may have other constants than the robot's own."""
    position = joint_positions(mech, lambda k: inputs.entry("q", k), inputs.circle)
    return TreeState(mech, position, **inputs.arrays(lambda name: mech.nq if name == "q" else mech.nv))


@remembered(64)
def _mechanism(robot: Robot) -> Mechanism:
    need_numbers(robot)
    return mechanism_of(robot, Floats())


def _sincos(angle):
    if isinstance(angle, float):
        return float(np.sin(angle)), float(np.cos(angle))
    return np.sin(angle), np.cos(angle)


TREE = Tree()
