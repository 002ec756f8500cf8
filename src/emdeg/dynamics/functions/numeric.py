"""The catalogue over doubles: every function of a model, for one state or an array of states.

Every function takes a robot without symbols and arrays whose last axis runs over the joints, `(..., n)`; leading
axes are states and broadcast. SI units, radians; torques are positive along the joint's axis and act on the outer
link. Drive inertia is included, friction is not. q are the independent coordinates and tau the driven joints' efforts.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.dynamics.arrays import checked_arrays, stacked
from emdeg.dynamics.formulations.friction import need_friction
from emdeg.dynamics.functions.catalogue import CATALOGUE
from emdeg.dynamics.functions.derived import derived_outputs
from emdeg.dynamics.functions.function import INPUTS, Function, Run
from emdeg.dynamics.functions.lookup import input_sizes, inputs_of_entry, ways_of
from emdeg.dynamics.functions.names import WITH_FRICTION
from emdeg.dynamics.functions.regularity import (
    need_inverse_there,
    need_regular_somewhere,
    need_regular_there,
    singular_jacobian,
    solves_for_motion,
)
from emdeg.dynamics.parameters.base import BaseParameters
from emdeg.dynamics.parameters.symbolic_regressor import chosen_columns
from emdeg.dynamics.state import State, kind_of
from emdeg.errors import RobotError, StateError, singular_mass_matrix
from emdeg.robot import Robot, RobotLike, as_robot, kind_named, resolved


def evaluate(
    name: str,
    robot: Robot,
    arrays: Mapping[str, ArrayLike],
    *,
    gyroscopic: bool = False,
    wrench: ArrayLike | None = None,
) -> Any:
    """The function's outputs in doubles: an array, or a tuple of them where it has several.

    `gyroscopic`: with the motors' spinning armatures. `wrench` (..., 6): a force [N] and a moment [N m] that act on
    the tool, base axes; known to inverse and forward dynamics.
    """
    entry, ways = CATALOGUE[name], ways_of(name, robot)
    run = ways.numbers
    if gyroscopic:
        if ways.rotors is None:
            raise RobotError(f"the rotors' gyroscopic terms are not known for its {name}", body=robot.name)
        run = ways.rotors
    if wrench is not None and name.removesuffix(WITH_FRICTION) not in ("inverse_dynamics", "forward_dynamics"):
        raise StateError(f"{name} takes no wrench on the tool")
    if entry.rubs:
        need_friction(robot)
    assert run is not None
    if solves_for_motion(entry):
        need_regular_somewhere(robot)

    def at(given: Mapping[str, ArrayLike]) -> tuple[State, tuple[Array, ...]]:
        return _at_state(entry, run, robot, given, gyroscopic)

    given = dict(arrays) if wrench is None else {**arrays, "wrench": wrench}
    state, values = at(given)
    kind_of(robot).need_steady(state, entry.order, given, values, lambda others: at(others)[1])
    return values[0] if len(values) == 1 else values


def _at_state(
    entry: Function, run: Run, robot: Robot, arrays: Mapping[str, ArrayLike], gyroscopic: bool
) -> tuple[State, tuple[Array, ...]]:
    """A state and the function's outputs there; a `wrench` may be among the arrays."""
    of_state = {one: array for one, array in arrays.items() if one in INPUTS}
    if "q" not in arrays:  # a state has a place, wherever that is
        of_state = {"q": kind_of(robot).home(robot), **of_state}
    state, shape = kind_of(robot).numbers(robot, of_state, rotors=gyroscopic, wrench=arrays.get("wrench"))
    if entry.derivation is not None:
        further = {one: arrays[one] for one in entry.inputs if one not in INPUTS}
        sizes = input_sizes([entry.name], robot)
        checked, own = checked_arrays(further, sizes.__getitem__, lambda one: f"entry of {one}")
        shape = np.broadcast_shapes(shape, own)
        given = {one: [array[..., k] for k in range(array.shape[-1])] for one, array in zip(further, checked)}
        run = partial(derived_outputs, entry.derivation, run, given=given)
    if not entry.divides:
        outputs = run(state)
    else:
        (need_regular_there if solves_for_motion(entry) else need_inverse_there)(robot, state, shape)
        numbers = all(np.isfinite(np.asarray(array, np.float64)).all() for array in arrays.values())
        with np.errstate(divide="raise", invalid="raise" if numbers else "ignore"):
            try:
                outputs = run(state)
            except (ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError):
                if entry.square:
                    raise singular_jacobian(robot.name) from None
                raise singular_mass_matrix(robot.name) from None
    assert outputs is not None
    return state, tuple(stacked(outputs[output.name], shape) for output in entry.outputs)


class NumericFunction:
    """A function of the catalogue that Python calls: `f(robot, q, ...)`, arrays (..., n) in, arrays out."""

    def __init__(self, entry: Function) -> None:
        self.entry = entry
        self.__name__ = self.__qualname__ = entry.name
        self.__doc__ = _text(entry)
        self.__signature__ = _signature(entry.inputs)

    def __call__(
        self,
        robot: RobotLike,
        *arrays: ArrayLike,
        gyroscopic: bool = False,
        wrench: ArrayLike | None = None,
        **named: ArrayLike,
    ) -> Any:
        loaded = as_robot(robot)
        taken = inputs_of_entry(self.entry, loaded)  # says what is wrong with a function that such a robot has not
        if named or len(arrays) != len(taken):
            bound = _signature(taken).bind(robot, *arrays, **named).arguments
            arrays = tuple(bound[name] for name in taken)
        given = dict(zip(taken, arrays))
        return evaluate(self.entry.name, loaded, given, gyroscopic=gyroscopic, wrench=wrench)

    def __repr__(self) -> str:
        return f"<function {self.__name__}{self.__signature__}: {self.entry.meaning}>"


def _signature(arrays: Sequence[str]) -> inspect.Signature:
    """(robot, the arrays, *, gyroscopic=False, wrench=None)."""
    places = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("robot", *arrays)]
    options = [
        inspect.Parameter("gyroscopic", inspect.Parameter.KEYWORD_ONLY, default=False),
        inspect.Parameter("wrench", inspect.Parameter.KEYWORD_ONLY, default=None),
    ]
    return inspect.Signature([*places, *options])


def _text(entry: Function) -> str:
    """A docstring: what comes out, with shapes and units; what goes in."""
    yields = ", ".join(
        f"{output.name} ({', '.join(('...', *output.shape))}) [{output.unit}]" for output in entry.outputs
    )
    arrays = {name: entry.arrays[name] for name in entry.inputs}
    sizes = {name: " x ".join(array.shape) or "1" for name, array in arrays.items()}
    takes = "; ".join(f"{name} (..., {sizes[name]}): {one.meaning} [{one.unit}]" for name, one in arrays.items())
    return (
        f"{yields}: {entry.meaning}.\n\nTakes a robot, its name or path; {takes}. Leading axes are states and "
        f"broadcast.\n\n{_example(entry)}"
    )


def _example(entry: Function) -> str:
    """One state of a small robot that has the function."""
    kind = resolved(kind_named(next(iter(entry.ways))).mechanism)
    where, name, positions = kind.larger_example if entry.square or entry.rubs else kind.example
    given = [positions] * len(entry.inputs)
    if entry.derivation is not None:
        sizes = input_sizes([entry.name], as_robot(name))
        given = [state if one in INPUTS else f"[0.1] * {sizes[one]}" for one, state in zip(entry.inputs, given)]
    outputs = ", ".join(output.name for output in entry.outputs)
    return f'>>> import emdeg\n>>> {outputs} = {where}.{entry.name}("{name}", {", ".join(given)})'


@cache
def numeric_function(name: str) -> NumericFunction | None:
    """The function of the catalogue that has this name, for Python to call; None where there is none."""
    return NumericFunction(CATALOGUE[name]) if name in CATALOGUE else None


def __getattr__(name: str) -> NumericFunction:
    found = None if name.startswith("_") else numeric_function(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


if TYPE_CHECKING:  # for those who read types: what `__getattr__` finds in the registry
    bias: NumericFunction
    bias_with_friction: NumericFunction
    closure: NumericFunction
    coriolis_matrix: NumericFunction
    drive_jacobian: NumericFunction
    drive_rates: NumericFunction
    elements: NumericFunction
    forward_dynamics: NumericFunction
    forward_dynamics_derivatives: NumericFunction
    forward_dynamics_derivatives_with_friction: NumericFunction
    forward_dynamics_with_friction: NumericFunction
    forward_kinematics: NumericFunction
    friction: NumericFunction
    generalized_friction: NumericFunction
    gravity: NumericFunction
    inverse_dynamics: NumericFunction
    inverse_dynamics_derivatives: NumericFunction
    inverse_dynamics_derivatives_with_friction: NumericFunction
    inverse_dynamics_with_friction: NumericFunction
    inverse_jacobian: NumericFunction
    jacobian: NumericFunction
    jacobian_determinant: NumericFunction
    jacobian_rate: NumericFunction
    kinetic_energy: NumericFunction
    link_transforms: NumericFunction
    mass_matrix: NumericFunction
    momenta: NumericFunction
    momentum: NumericFunction
    momentum_rates: NumericFunction
    potential_energy: NumericFunction
    velocities: NumericFunction


def regressor(
    robot: RobotLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: BaseParameters | bool = False
) -> Array:
    """Y (..., n, p) with tau = Y pi [N m, N] at states (..., n) [rad, m]; p is 11 a body, links and then rods.

    `base`: the columns of the base parameters only (True), or of a set of your own.

    >>> import emdeg
    >>> emdeg.regressor("planar2r", [0.0, 0.5], [0.0, 0.0], [1.0, 0.0]).shape
    (2, 22)
    """
    robot = as_robot(robot)
    Y = evaluate("regressor", robot, {"q": q, "qd": qd, "qdd": qdd})
    return Y[..., [column.place for column in chosen_columns(robot, base)]]
