"""A robot's function over JAX's arrays, with its adjoint program as the rule of its gradient.

The program is traced into JAX's own operations, so that XLA compiles it for whatever device the arrays are on and
nothing passes through the host; `jit`, `vmap` and `grad` apply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from emdeg.errors import BadRequest, StateError
from emdeg.programs import Program, evaluate
from emdeg.robot import Robot, RobotLike, as_robot
from emdeg.runtime.operators.adjoint import COTANGENT, OperatorPrograms, operator_programs


def jax_function(robot: RobotLike, function: str) -> Callable[..., Any]:
    """`function` of the robot on arrays (..., size), a tuple of results if it has several; for jit, vmap and grad.

    Leading axes are states and broadcast. Precision is the arrays': enable JAX's x64 for doubles. Gradients come from
    the adjoint program (`<f>_vjp`); open parameters are the last argument.
    """
    return _function(as_robot(robot), function)


@lru_cache(maxsize=64)
def _function(robot: Robot, function: str) -> Callable[..., Any]:
    programs = operator_programs(robot, function)
    run = _over_jax(programs.forward)
    run, asarray = run if programs.adjoint is None else _differentiable(run, programs), _jax().numpy.asarray

    def of_anything(*given: Any) -> Any:
        return run(*map(asarray, given))

    of_anything.__name__ = function
    return of_anything


def _jax() -> Any:
    try:
        return import_module("jax")
    except ImportError:
        raise BadRequest("emdeg.jax needs JAX, which is not installed: pip install 'emdeg[jax]'") from None


def _over_jax(program: Program) -> Callable[..., Any]:
    """The program as a function of JAX's arrays."""
    jnp, names = _jax().numpy, [group.name for group in program.inputs]

    def run(*given: Any) -> Any:
        if len(given) != len(names):
            raise TypeError(f"{program.name} takes {', '.join(names)}")
        dtype = jnp.result_type(*given, jnp.float32)
        if not jnp.issubdtype(dtype, jnp.floating):
            raise StateError(f"{program.name} takes real numbers; got {dtype}")
        try:
            found = tuple(evaluate(program, dict(zip(names, given)), dtype.type, jnp).values())
        except ValueError as problem:
            raise StateError(str(problem)) from None
        return found[0] if len(found) == 1 else found

    run.__name__ = program.name
    return run


def _differentiable(run: Callable[..., Any], programs: OperatorPrograms) -> Callable[..., Any]:
    """The function with the adjoint program as its gradient."""
    jax, forward, adjoint = _jax(), programs.forward, programs.adjoint
    assert adjoint is not None
    backward, names = _over_jax(adjoint), [group.name for group in forward.inputs]
    function = jax.custom_vjp(run)

    def kept(*given: Any) -> tuple[Any, tuple[Any, ...]]:
        return run(*given), given

    def pulled(given: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
        arrays = dict(zip(names, given))
        for group, weight in zip(forward.outputs, weights if len(forward.outputs) > 1 else [weights]):
            batch = weight.shape[: weight.ndim - len(group.shape)]
            arrays[group.name + COTANGENT] = weight.reshape((*batch, len(group.entries)))
        found = backward(*(arrays[group.name] for group in adjoint.inputs))
        by_name = dict(zip((group.name for group in adjoint.outputs), found if isinstance(found, tuple) else (found,)))
        return tuple(_like(jax.numpy, by_name[name + COTANGENT], jax.numpy.asarray(arrays[name])) for name in names)

    function.defvjp(kept, pulled)
    return function


def _like(jnp: Any, slope: Any, array: Any) -> Any:
    """The slope in the shape of the array: states that were one for all are added up."""
    extra = tuple(range(slope.ndim - array.ndim))
    slope = slope.sum(axis=extra)
    ones = tuple(k for k, size in enumerate(array.shape) if size == 1 != slope.shape[k])
    return slope.sum(axis=ones, keepdims=True).astype(array.dtype) if ones else slope.astype(array.dtype)
