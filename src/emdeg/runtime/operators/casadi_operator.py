"""A robot's function as a function of CasADi's symbols, for whoever wants CasADi's own differentiation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from emdeg.errors import BadRequest
from emdeg.programs import ARITHMETIC, LAWS, Kind, constants, matrix_shape, program
from emdeg.robot import RobotLike, as_robot

_NAMES = {Kind.SIN: "sin", Kind.COS: "cos", Kind.SQRT: "sqrt", **{law: law.value for law in LAWS}}


def casadi(robot: RobotLike, function: str) -> Any:
    """A `casadi.Function` of SX: `function` (or "A+B") of the robot, inputs and outputs by their names; SI units.

    It is the program of `emdeg.program`, operation by operation, so CasADi differentiates it, maps it and generates its
    code; matrices are matrices, other arrays columns, open parameters the last input. For compiled derivatives that
    need no expansion see `emdeg generate --casadi`.

    >>> import emdeg
    >>> emdeg.casadi("planar2r", "gravity").name_in()  # doctest: +SKIP
    ['q']
    """
    try:
        library = import_module("casadi")
    except ImportError:
        raise BadRequest("emdeg.casadi needs CasADi, which is not installed: pip install 'emdeg[casadi]'") from None
    traced = program(as_robot(robot), function)
    inputs = {group.name: library.SX.sym(group.name, group.size) for group in traced.inputs}
    # The sine of a constant angle is rounded once, from its 60 digits.
    fixed = {index: float(value) for index, value in constants(traced).items()}

    def leaf(index: int) -> Any:
        op = traced.ops[index]
        if op.kind is Kind.INPUT:
            return inputs[op.slot[0]][op.slot[1]]
        return float(op.angle) if op.kind is Kind.ANGLE else fixed.get(index)

    functions = {**ARITHMETIC, **{kind: getattr(library, name) for kind, name in _NAMES.items()}}
    known: list[Any] = []
    for index, op in enumerate(traced.ops):
        value = leaf(index)
        known.append(functions[op.kind](*(known[arg] for arg in op.args)) if value is None else value)
    outputs = []
    for group in traced.outputs:
        entries = [known[ref.value] * ref.sign if ref.sign else 0 for ref in group.entries]
        rows, columns = matrix_shape(group.shape)
        outputs.append(
            library.vertcat(*(library.horzcat(*entries[i * columns : (i + 1) * columns]) for i in range(rows)))
        )
    names = [list(inputs), [group.name for group in traced.outputs]]
    return library.Function(traced.name, list(inputs.values()), outputs, *names)
