"""A plan with its programs compiled: values at states. Programs are compiled once a process, when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from threading import Lock

import numpy as np

from emdeg.algebra import Array
from emdeg.robot import Robot, assemble, read_toml, substitute
from emdeg.runtime import CompiledProgram
from emdeg.runtime import compile as compile_program
from emdeg.sweeps.measures import WHOLE, loads_of, measure, prefixed
from emdeg.sweeps.plan import Plan
from emdeg.sweeps.sampling import Samples, input_order
from emdeg.sweeps.states import Arrays, Source, state_source


class Bench:
    """What computes values for chunks. Safe to use from several threads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._compiled: dict[tuple[int, str], tuple[CompiledProgram, list[int]]] = {}
        self._lock = Lock()
        self.robot = lru_cache(maxsize=64)(self._robot)
        self.measures = lru_cache(maxsize=64)(self._measures)

    def source(self, some: Samples) -> Source:
        """The states of these samples."""
        case = self.plan.cases[some.case]
        return state_source(self.plan, case, case.boxes[some.workspace])

    def outputs(self, case: int, states: Arrays, values: Array) -> dict[str, Array]:
        """Named arrays (states, ...) of everything computed; `values` (parameters) or (states, parameters)."""
        one = self.plan.cases[case]
        found = {name: self._run(case, name, states, values) for name in one.programs}
        limits = np.array(one.limits or ())
        named: dict[str, Array] = {}
        for compute, how in self.measures(case):
            for output, array in how.outputs(found, limits).items():
                named[prefixed(compute, output)] = array
        return named

    def loads(self, some: Samples, k: int, gap: float) -> dict[str, float]:
        """Certified loads of the k-th of these samples."""
        case = self.plan.cases[some.case]
        robot = self.robot(some.case)
        if case.parameters:
            robot = substitute(robot, {p.symbol: float(x) for p, x in zip(case.parameters, some.values[k])})
        return loads_of(robot, case.boxes[some.workspace].where, gap)

    def _run(self, case: int, function: str, states: Arrays, values: Array) -> Mapping[str, Array]:
        compiled, places = self._program(case, function)
        arrays = [states[g.name] if g.depends else values[..., places] for g in compiled.program.inputs]
        result = compiled(*arrays)
        results = result if isinstance(result, tuple) else (result,)
        return {group.name: array for group, array in zip(compiled.program.outputs, results)}

    def _program(self, case: int, function: str) -> tuple[CompiledProgram, list[int]]:
        """The compiled program, and the places of its parameters among the case's."""
        with self._lock:
            if (case, function) not in self._compiled:
                one = self.plan.cases[case]
                program = one.program(function)
                labels = next((group.labels for group in program.inputs if not group.depends), ())
                self._compiled[case, function] = compile_program(program, threads=1), input_order(one, labels)
            return self._compiled[case, function]

    def _robot(self, case: int) -> Robot:
        one = self.plan.cases[case]
        return assemble(read_toml(one.toml, one.robot), allow_nonphysical=True)

    def _measures(self, case: int) -> list:
        robot = self.robot(case)
        return [(one, measure(one, robot)) for one in self.plan.study.compute if one.analysis != WHOLE]
