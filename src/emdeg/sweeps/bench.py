"""A plan with its programs compiled: values at states. Programs are compiled once a process, when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from emdeg.algebra import Array
from emdeg.programs import Program
from emdeg.robot import Robot, assemble, read_toml, substitute
from emdeg.runtime import CompiledProgram
from emdeg.runtime import compile as compile_program
from emdeg.sweeps.measures import WHOLE, SweepMeasure, loads_of, measure, prefixed
from emdeg.sweeps.plan import Case, Plan
from emdeg.sweeps.prepare import folds_on_device
from emdeg.sweeps.sampling import Samples, input_order
from emdeg.sweeps.states import Arrays, Source, state_source, states_key, states_on_device
from emdeg.sweeps.study import Compute

if TYPE_CHECKING:
    from emdeg.runtime.cuda import CudaProgram, StateStatistics


class Bench:
    """What computes values for chunks. Safe to use from several threads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._compiled: dict[tuple[int, str], tuple[CompiledProgram | CudaProgram, list[int]]] = {}
        self._folds: dict[tuple[int, str], tuple[StateStatistics, list[int]] | None] = {}
        self._lock = Lock()
        self.robot = lru_cache(maxsize=64)(self._robot)
        self.measures = lru_cache(maxsize=64)(self._measures)

    def source(self, some: Samples) -> Source:
        """The states of these samples."""
        case = self.plan.cases[some.case]
        return state_source(self.plan, case, case.boxes[some.workspace])

    def outputs(self, case: int, states: Arrays, values: Array) -> dict[str, Array]:
        """Named arrays (states, ...) of everything computed here; `values` (parameters) or (states, parameters)."""
        found: dict[str, Mapping[str, Array]] = {}
        limits = np.array(self.plan.cases[case].limits or ())
        named: dict[str, Array] = {}
        for compute, how in self.measures(case):
            if folds_on_device(self.plan.study) and self._fold(case, compute, how) is not None:
                continue
            found |= {f: self._run(case, f, states, values) for f in how.functions if f not in found}
            for output, array in how.outputs(found, limits).items():
                named[prefixed(compute, output)] = array
        return named

    def folded_on_device(self, some: Samples, first: int, states: int) -> dict[str, Array]:
        """Output of a program -> (samples, running values, entries), over states first.. of each sample.

        Functions, and analyses that treat each entry by itself; the others are not among them.
        """
        from emdeg.runtime.cuda import device  # needs llvmlite

        plan, case = self.plan, self.plan.cases[some.case]
        box, key = case.boxes[some.workspace], states_key(plan)
        apart = 0 if plan.study.states.common else plan.work.states
        named: dict[str, Array] = {}
        for compute, how in self.measures(some.case):
            folded = self._fold(some.case, compute, how)
            if folded is None:
                continue
            fold, places = folded
            values = some.values[:, places]
            found = fold(device(), key, np.array(box.low), np.array(box.high), values, first, apart, states)
            named |= {prefixed(compute, output): array for output, array in found.items()}
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

    def _fold(self, case: int, compute: Compute, how: SweepMeasure) -> tuple[StateStatistics, list[int]] | None:
        """What draws, computes and folds on a GPU, and the places of its parameters among the case's.

        None where what is computed is no program.
        """
        from emdeg.runtime.cuda import StateStatistics  # needs llvmlite

        name = compute.function or compute.analysis or ""
        with self._lock:
            if (case, name) not in self._folds:
                one = self.plan.cases[case]
                programs = {function: one.program(function) for function in how.functions}
                program = how.program(name, programs, one.limits or ())
                peaks = any("at" in output.statistics for output in one.outputs)
                self._folds[case, name] = (
                    None
                    if program is None
                    else (StateStatistics(program, states_on_device(self.plan, one), peaks), _parameters(one, program))
                )
            return self._folds[case, name]

    def _program(self, case: int, function: str) -> tuple[CompiledProgram | CudaProgram, list[int]]:
        """The compiled program, and the places of its parameters among the case's."""
        with self._lock:
            if (case, function) not in self._compiled:
                one = self.plan.cases[case]
                program = one.program(function)
                on_device = self.plan.study.backend == "cuda"
                compiled = (
                    compile_program(program, backend="cuda") if on_device else compile_program(program, threads=1)
                )
                self._compiled[case, function] = compiled, _parameters(one, program)
            return self._compiled[case, function]

    def _robot(self, case: int) -> Robot:
        one = self.plan.cases[case]
        return assemble(read_toml(one.toml, one.robot), allow_nonphysical=True)

    def _measures(self, case: int) -> list[tuple[Compute, SweepMeasure]]:
        robot = self.robot(case)
        return [(one, measure(one, robot)) for one in self.plan.study.compute if one.analysis != WHOLE]


def _parameters(case: Case, program: Program) -> list[int]:
    """The places of a program's parameters among the case's."""
    return input_order(case, next((group.labels for group in program.inputs if not group.depends), ()))
