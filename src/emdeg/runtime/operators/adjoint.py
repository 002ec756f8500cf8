"""The programs behind an operator: a function, its adjoint, and the derivatives of that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from emdeg.errors import UnknownFunction
from emdeg.programs import Dependence, Program, Tracer, cotangents, included, program, simplify
from emdeg.robot import Robot

COTANGENT = "_c"
"""Ends the name of an array's cotangent, as in the catalogue."""


@dataclass(frozen=True)
class OperatorPrograms:
    """A function of a robot; `adjoint` takes its inputs and the outputs' cotangents, None where it has none."""

    robot: Robot
    function: str
    forward: Program
    adjoint: Program | None

    def second(self) -> tuple[Program, Program]:
        """(`<f>_jvp`, `<f>_hvp`): the adjoint's derivatives along its cotangents, and along the inputs."""
        return program(self.robot, f"{self.function}_jvp"), program(self.robot, f"{self.function}_hvp")

    @property
    def has_parameters(self) -> bool:
        return any(group.name == "parameters" for group in self.forward.inputs)


@lru_cache(maxsize=64)
def operator_programs(robot: Robot, function: str) -> OperatorPrograms:
    """The programs of one function; UnknownFunction where there is none of that name."""
    forward = program(robot, function)
    if any(group.name == "parameters" for group in forward.inputs):
        return OperatorPrograms(robot, function, forward, adjoint_of(forward))
    try:
        adjoint = program(robot, f"{function}_vjp")
    except UnknownFunction:
        adjoint = None
    return OperatorPrograms(robot, function, forward, adjoint)


def adjoint_of(forward: Program) -> Program:
    """The adjoint of a program in all its inputs, open parameters included: `<input>_c` of each."""
    tracer = Tracer()
    arrays = {
        group.name: tuple(map(tracer.symbol, group.labels))
        if group.name == "parameters"
        else tracer.inputs(group.name, group.size, group.depends, group.labels)
        for group in forward.inputs
    }
    weights = {
        group.name: tracer.inputs(group.name + COTANGENT, len(group.entries), Dependence.RATES)
        for group in forward.outputs
    }
    outputs = included(tracer, forward, arrays)
    weighted = [
        (y, weight) for group, values in zip(forward.outputs, outputs) for y, weight in zip(values, weights[group.name])
    ]
    flat = [x for array in arrays.values() for x in array]
    found = iter(cotangents(tracer, weighted, flat))
    results = {name + COTANGENT: [next(found) for _ in array] for name, array in arrays.items()}
    return simplify(tracer.program(f"{forward.name}_vjp", results))
