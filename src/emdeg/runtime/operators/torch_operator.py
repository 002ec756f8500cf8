"""A robot's function as an operator of torch: `torch.library` knows its shapes and its adjoint.

On the processor tensors are NumPy's arrays of the same memory; on a GPU they are computed where they lie. Opaque to
`torch.compile`, which calls it as it stands; `torch.func.vmap` adds an axis of states. The transforms of `torch.func`
do not see what `torch.library` knows of gradients: under them the operator is an `autograd.Function` of the same rules.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from emdeg.errors import BadRequest, StateError
from emdeg.programs import Program, digest_text
from emdeg.robot import Robot, RobotLike, as_robot
from emdeg.runtime.compiled import CompiledProgram, compile
from emdeg.runtime.operators.adjoint import COTANGENT, OperatorPrograms, operator_programs

Tensor = Any
Operator = Callable[..., Any]


def torch_function(robot: RobotLike, function: str) -> Operator:
    """`function` of the robot on tensors (..., size) of float32 or float64, a tuple of results if it has several.

    Leading axes are states and broadcast; CPU or GPU, wherever the tensors are. Gradients come from the adjoint program
    (`<f>_vjp`), those of gradients from `<f>_jvp` and `<f>_hvp`; open parameters are the last argument.
    """
    return _operator(as_robot(robot), function)


@lru_cache(maxsize=64)
def _operator(robot: Robot, function: str) -> Operator:
    programs = operator_programs(robot, function)
    forward = _registered(programs.forward)
    if programs.adjoint is None:
        return forward
    adjoint = _registered(programs.adjoint)
    _differentiable(forward, adjoint, programs)
    if not programs.has_parameters:
        _differentiable_adjoint(adjoint, programs)
    return forward


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError:
        raise BadRequest("emdeg.torch needs torch, which is not installed: pip install torch") from None


@lru_cache(maxsize=256)
def _registered(program: Program) -> Any:
    """The program as an operator of torch's library, without a derivative yet."""
    torch = _torch()
    digest = hashlib.sha256(digest_text(program).encode()).hexdigest()[:16]
    names = [f"Tensor {group.name}" for group in program.inputs]
    results = ["Tensor"] * len(program.outputs)
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    schema = f"({', '.join(names)}) -> {returned}"
    run = _Run(program)
    made = torch.library.custom_op(f"emdeg::p{digest}", run, mutates_args=(), schema=schema)
    made.register_fake(lambda *arrays: _alone([arrays[0].new_empty(shape) for shape in run.shapes(arrays)]))
    made.register_vmap(lambda info, dims, *arrays: _along_states(made, info, dims, arrays, len(results)))
    return made


def _with_gradient(operator: Any, kept: Callable[..., None], backward: Callable[..., Any], results: int) -> None:
    """Tell torch an operator's gradient, for its own transforms and for those of `torch.func`."""
    operator.register_autograd(backward, setup_context=kept)
    torch, plain = _torch(), type(operator)
    rules = {
        "forward": staticmethod(lambda *arrays: plain.__call__(operator, *arrays)),
        "setup_context": staticmethod(kept),
        "backward": staticmethod(backward),
        "vmap": staticmethod(lambda info, dims, *arrays: _along_states(operator, info, dims, arrays, results)),
    }
    function = type("Transformed", (torch.autograd.Function,), rules)

    def call(self: Any, *arrays: Tensor) -> Any:
        if torch._C._are_functorch_transforms_active():
            return function.apply(*arrays)
        return plain.__call__(self, *arrays)

    operator.__class__ = type("DifferentiableOperator", (plain,), {"__call__": call})


class _Run:
    """A program on tensors; compiled once for each precision."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._compiled: dict[str, CompiledProgram] = {}

    def __call__(self, *arrays: Tensor) -> Any:
        torch, name = _torch(), self.program.name
        kinds, places = {array.dtype for array in arrays}, {array.device for array in arrays}
        if len(kinds) > 1 or not kinds <= {torch.float32, torch.float64}:
            raise StateError(f"{name} takes tensors of float32, or of float64; got {', '.join(map(str, kinds))}")
        if len(places) > 1:
            raise StateError(f"{name}: the tensors are on several devices: {', '.join(sorted(map(str, places)))}")
        batch = self.batch(arrays)
        dtype = str(kinds.pop()).removeprefix("torch.")
        if dtype not in self._compiled:
            self._compiled[dtype] = compile(self.program, dtype=dtype)
        given = [_whole(torch, array.detach(), batch) for array in arrays]
        if arrays[0].device.type == "cpu":
            found = self._compiled[dtype](*(array.numpy() for array in given))
            found = found if isinstance(found, tuple) else (found,)
            return _alone([torch.from_numpy(result) for result in found])
        return self._compiled[dtype](*given)

    def batch(self, arrays: Sequence[Tensor]) -> tuple[int, ...]:
        """The axes of states; StateError where an array is no such one."""
        for array, group in zip(arrays, self.program.inputs):
            if not array.ndim or array.shape[-1] != group.size:
                shape = tuple(array.shape)
                raise StateError(f"{self.program.name}: {group.name} has shape {shape}, expected (..., {group.size})")
        return tuple(_torch().broadcast_shapes(*(array.shape[:-1] for array in arrays)))

    def shapes(self, arrays: Sequence[Tensor]) -> list[tuple[int, ...]]:
        batch = self.batch(arrays)
        return [(*batch, *group.shape) for group in self.program.outputs]


def _whole(torch: Any, array: Tensor, batch: tuple[int, ...]) -> Tensor:
    """All states or one, in rows: what a GPU takes."""
    if array.shape[:-1] != batch and math.prod(array.shape[:-1]) != 1:
        array = torch.broadcast_to(array, (*batch, array.shape[-1]))
    return array.contiguous()


def _alone(results: list[Tensor]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _differentiable(forward: Any, adjoint: Operator, programs: OperatorPrograms) -> None:
    groups, wanted = programs.forward.outputs, [group.name for group in programs.forward.inputs]
    assert programs.adjoint is not None
    taken = [group.name for group in programs.adjoint.inputs]
    given = [group.name for group in programs.adjoint.outputs]

    def kept(ctx: Any, inputs: Sequence[Tensor], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, *weights: Tensor) -> tuple[Tensor, ...]:
        arrays = dict(zip(wanted, ctx.saved_tensors))
        for group, weight in zip(groups, weights):
            flat = weight.reshape(*weight.shape[: weight.ndim - len(group.shape)], len(group.entries))
            arrays[group.name + COTANGENT] = flat
        found = adjoint(*(arrays[name] for name in taken))
        by_name = dict(zip(given, found if len(given) > 1 else [found]))
        return tuple(by_name[name + COTANGENT].sum_to_size(arrays[name].shape) for name in wanted)

    _with_gradient(forward, kept, backward, len(groups))


def _differentiable_adjoint(adjoint: Any, programs: OperatorPrograms) -> None:
    """With x_c = J^T y_c and weights w of x_c: the gradient by y_c is J w, by x the Hessian of y_c . y times w."""
    assert programs.adjoint is not None
    wanted = [group.name for group in programs.adjoint.inputs]
    varied = [group.name for group in programs.forward.inputs]

    def kept(ctx: Any, inputs: Sequence[Tensor], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, *weights: Tensor) -> tuple[Tensor, ...]:
        arrays = dict(zip(wanted, ctx.saved_tensors))
        arrays |= {f"{name}_t": weight for name, weight in zip(varied, weights)}
        found: dict[str, Tensor] = {}
        for program in programs.second():
            results = _registered(program)(*(arrays[group.name] for group in program.inputs))
            names = [group.name.removesuffix("_t") for group in program.outputs]
            found |= dict(zip(names, results if len(names) > 1 else [results]))
        # <f>_jvp yields y_t, one for each y_c, with the output's shape; <f>_hvp yields x_c_t, one for each x.
        slopes = {name + COTANGENT: value for name, value in found.items()}
        slopes |= {name: found[name + COTANGENT] for name in varied}
        return tuple(_like(slopes[name], arrays[name]) for name in wanted)

    _with_gradient(adjoint, kept, backward, len(programs.adjoint.outputs))


def _like(slope: Tensor, array: Tensor) -> Tensor:
    """The slope in the shape of what it belongs to: matrices as rows, states that were one for all added up."""
    extra = slope.ndim - array.ndim
    rows = slope if slope.shape[-1] == array.shape[-1] else slope.reshape(*slope.shape[:-2], array.shape[-1])
    return rows.sum_to_size(array.shape) if extra or rows.shape != array.shape else rows


def _along_states(made: Operator, info: Any, dims: Sequence[int | None], arrays: Sequence[Tensor], results: int) -> Any:
    """torch.func.vmap: the new axis is one more of states, the first."""
    deepest = max(array.ndim - (dim is not None) for array, dim in zip(arrays, dims))
    moved = []
    for array, dim in zip(arrays, dims):
        if dim is not None:
            array = array.movedim(dim, 0)
            array = array.reshape(array.shape[0], *[1] * (deepest + 1 - array.ndim), *array.shape[1:])
        moved.append(array)
    return made(*moved), 0 if results == 1 else (0,) * results
