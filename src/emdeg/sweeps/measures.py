"""What a study can compute: every function of a model, and the analyses that have a value at each state.

A measure turns the compiled functions' outputs at some states into named arrays; statistics over the states follow.
Over a tracer it is a program like any function, which a GPU folds; singular values come from LAPACK here, and from
rotations there.
The analysis `loads` is another kind: certified extremes over the whole workspace, for which states mean nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.algebra.linear import invert_symmetric, product
from emdeg.analysis import capability_from, ellipsoid_from, mobility
from emdeg.bounds import SearchLimits, extremes
from emdeg.dynamics.functions import known_functions
from emdeg.equations import derive, entry_name
from emdeg.errors import SweepError, UnknownFunction
from emdeg.programs import InputGroup, Program, Slot, Traced, Tracer, prune, schedule
from emdeg.robot import Robot, Workspace
from emdeg.sweeps.entrywise import NUMBERS, Entrywise, traced_entries
from emdeg.sweeps.plan import PlannedOutput
from emdeg.sweeps.spectra import singular_values, square_factors, weighed_by_inverse
from emdeg.sweeps.study import Compute

Values = Mapping[str, Mapping[str, Array]]
"""Function -> output -> array (states, ...)."""

MOST_BOXES = 200_000
"""What a certified search may examine: counted, not timed, so that every machine finds the same."""


@dataclass(frozen=True)
class SweepMeasure:
    """`outputs` computes named arrays (states, ...) from the values of `functions` and the torque limits (n)."""

    functions: tuple[str, ...]
    outputs: Callable[[Values, Array], Mapping[str, Array]]
    statistics: tuple[str, ...] = ("max_abs", "rms")
    limits: bool = False
    nanoseconds: float = 0.0
    """About what a state costs beyond the functions; for the size of chunks."""
    entrywise: Callable[[Values, Array, Entrywise], Mapping[str, Array]] | None = None
    """The same as `outputs` of a state's traced values; ArithmeticError where that cannot be."""
    is_function: bool = False
    """Whether it is a function as it is."""

    def program(self, name: str, programs: Mapping[str, Program], limits: Sequence[float]) -> Program | None:
        """The measure as a program, from those of its functions; None where it is none, or divides by nothing."""
        if self.is_function:
            return programs[self.functions[0]]
        if self.entrywise is None:
            return None
        groups = {group.name: group for one in programs.values() for group in one.inputs}
        tracer = Tracer(sorted({name for group in _parameters_of(programs.values()) for name in group.labels}))
        for group in groups.values():
            if group.depends:
                tracer.inputs(group.name, group.size, group.depends, group.labels)
        values = {function: _replayed(tracer, programs[function]) for function in self.functions}
        try:
            found = self.entrywise(values, np.array(limits, object), traced_entries(tracer))
        except ArithmeticError:
            return None
        return schedule(prune(tracer.program(name, {output: array.tolist() for output, array in found.items()})))


def _parameters_of(programs: Iterable[Program]) -> list[InputGroup]:
    return [group for one in programs for group in one.inputs if not group.depends]


def _replayed(tracer: Tracer, program: Program) -> dict[str, Array]:
    """The outputs of a function's program as arrays of traced values; its parameters are found by their names."""
    labels = {group.name: group.labels for group in _parameters_of([program])}

    def given(slot: Slot) -> Traced | None:
        return tracer.symbol(labels[slot[0]][slot[1]]) if slot[0] in labels else None

    flat = tracer.outputs_of(program, tracer.replay(program, given))
    return {group.name: np.array(flat[group.name], object).reshape(group.shape) for group in program.outputs}


def _entrywise(
    functions: tuple[str, ...],
    compute: Callable[[Values, Array, Entrywise], Mapping[str, Array]],
    statistics: tuple[str, ...],
    limits: bool,
    nanoseconds: float,
) -> SweepMeasure:
    return SweepMeasure(functions, lambda v, most: compute(v, most, NUMBERS), statistics, limits, nanoseconds, compute)


def _torque_budget(values: Values, limits: Array, on: Entrywise) -> Mapping[str, Array]:
    share = on.magnitude(values["inverse_dynamics"]["tau"]) / limits
    return {"budget": share, "over": on.is_positive(share - 1)}


def _capability(values: Values, limits: Array, on: Entrywise) -> Mapping[str, Array]:
    found = capability_from(values["gravity"]["g"], values["mass_matrix"]["M"], limits)
    weaker = {"left": found.left, "acceleration": found.acceleration}
    return {name: on.lesser(-both[..., 0], both[..., 1]) for name, both in weaker.items()}


def _manipulability(values: Values, limits: Array) -> Mapping[str, Array]:
    found = ellipsoid_from(values["jacobian"]["J"], values["mass_matrix"]["M"], values["gravity"]["g"], limits)
    return {"axis": found.lengths, "manipulability": np.prod(found.lengths, axis=-1)}


def _traced_manipulability(values: Values, limits: Array, on: Entrywise) -> Mapping[str, Array]:
    J, M = values["jacobian"]["J"][:3], values["mass_matrix"]["M"]
    one = M[0, 0] * 0 + 1
    per_torque = np.array(product(J.tolist(), invert_symmetric(M.tolist(), one), one * 0), object)
    lengths = np.array(singular_values((per_torque * limits).tolist(), on), object)
    return {"axis": lengths, "manipulability": np.array(np.prod(lengths), object)}


def _tool_inertia(values: Values, limits: Array) -> Mapping[str, Array]:
    with np.errstate(divide="ignore"):
        inverse = np.linalg.eigvalsh(mobility(values["jacobian"]["J"], values["mass_matrix"]["M"]))
        return {"tool_inertia": np.asarray(1 / inverse[..., ::-1], np.float64)}


def _traced_tool_inertia(values: Values, limits: Array, on: Entrywise) -> Mapping[str, Array]:
    rows = weighed_by_inverse(values["jacobian"]["J"][:3].tolist(), values["mass_matrix"]["M"].tolist(), on)
    return {"tool_inertia": np.array([1 / (value * value) for value in singular_values(rows, on)], object)}


def _eigenvalues(values: Values, limits: Array) -> Mapping[str, Array]:
    found = np.asarray(np.linalg.eigvalsh(values["mass_matrix"]["M"]), np.float64)
    return {"eigenvalue": found, "condition": np.asarray(found[..., -1] / found[..., 0], np.float64)}


def _traced_eigenvalues(values: Values, limits: Array, on: Entrywise) -> Mapping[str, Array]:
    found = [value * value for value in singular_values(square_factors(values["mass_matrix"]["M"].tolist(), on), on)]
    return {"eigenvalue": np.array(found[::-1], object), "condition": np.array(found[0] / found[-1], object)}


def _couplings(values: Values, limits: Array, on: Entrywise) -> Mapping[str, Array]:
    M = values["mass_matrix"]["M"]
    return {"coupling": on.magnitude(M) / np.einsum("...ii->...i", M)[..., None]}


ANALYSES: dict[str, SweepMeasure] = {
    "torque_budget": _entrywise(("inverse_dynamics",), _torque_budget, ("max", "mean"), True, 80),
    "capability": _entrywise(("gravity", "mass_matrix"), _capability, ("min", "mean"), True, 300),
    "manipulability": SweepMeasure(
        ("gravity", "mass_matrix", "jacobian"),
        _manipulability,
        ("min", "mean"),
        True,
        20_000,
        _traced_manipulability,
    ),
    "tool_inertia": SweepMeasure(
        ("mass_matrix", "jacobian"), _tool_inertia, ("min", "max"), False, 15_000, _traced_tool_inertia
    ),
    "eigenvalues": SweepMeasure(("mass_matrix",), _eigenvalues, ("min", "max"), False, 8_000, _traced_eigenvalues),
    "couplings": _entrywise(("mass_matrix",), _couplings, ("max",), False, 300),
}
WHOLE = "loads"


def measure(compute: Compute, robot: Robot) -> SweepMeasure:
    """The measure of a `Compute` at states; SweepError for a name that does not exist."""
    if compute.function is not None:
        try:
            (function,) = known_functions(compute.function, robot)
        except UnknownFunction as problem:
            raise SweepError(str(problem), body="compute") from None
        return SweepMeasure((function,), lambda values, limits: values[function], is_function=True)
    found = ANALYSES.get(compute.analysis or "")
    if found is None:
        known = ", ".join([*ANALYSES, WHOLE])
        raise SweepError(f"there is no analysis {compute.analysis!r}; there are {known}", body="compute")
    for function in found.functions:
        try:
            known_functions(function, robot)
        except UnknownFunction as problem:
            raise SweepError(f"{compute.analysis} needs {function}: {problem}", body=robot.name) from None
    return found


def loads_of(robot: Robot, where: Workspace, gap: float) -> dict[str, float]:
    """Certified extremes of each joint's inertia and gravity load: attained values, and the bounds they cannot pass."""
    model = derive(robot, "M,g", rational_angles=True)
    effort = SearchLimits(boxes=MOST_BOXES, seconds=math.inf)
    found: dict[str, float] = {}
    for i in range(robot.n):
        own, load = entry_name("M", i + 1, i + 1), entry_name("g", i + 1)
        inertia = extremes(model.M[i][i], where.box, gap=gap, effort=effort)
        weight = extremes(model.g[i], where.box, gap=gap, effort=effort).magnitude
        found |= {
            f"{own}_least": inertia.low.value,
            f"{own}_least_bound": inertia.low.bound,
            f"{own}_greatest": inertia.high.value,
            f"{own}_greatest_bound": inertia.high.bound,
            f"{load}_greatest": weight.value,
            f"{load}_greatest_bound": weight.bound,
        }
    return found


def loads_columns(n: int) -> list[str]:
    """The names `loads_of` gives for n joints."""
    return [
        name
        for i in range(1, n + 1)
        for own, load in [(entry_name("M", i, i), entry_name("g", i))]
        for name in (
            f"{own}_least",
            f"{own}_least_bound",
            f"{own}_greatest",
            f"{own}_greatest_bound",
            f"{load}_greatest",
            f"{load}_greatest_bound",
        )
    ]


def prefixed(compute: Compute, name: str) -> str:
    """A column's name with the name its computation has been given."""
    return f"{compute.name}_{name}" if compute.name else name


def planned_outputs(
    computes: Sequence[Compute], robot: Robot, shapes: Mapping[str, Mapping[str, tuple[int, ...]]], n: int
) -> list[PlannedOutput]:
    """What will be computed at every state, found by a trial on made-up values of the functions' shapes."""
    values = {
        function: {
            name: np.eye(n)[None] if name == "M" and len(shape) == 2 else np.zeros((1, *shape))
            for name, shape in found.items()
        }
        for function, found in shapes.items()
    }
    planned: dict[str, PlannedOutput] = {}
    for compute in computes:
        if compute.analysis == WHOLE:
            continue
        how = measure(compute, robot)
        for name, array in how.outputs(values, np.ones(n)).items():
            full = prefixed(compute, name)
            if full in planned:
                raise SweepError(f"two computations give {full!r}: give one of them a name", body="compute")
            planned[full] = PlannedOutput(full, tuple(array.shape[1:]), compute.statistics or how.statistics)
    return list(planned.values())
