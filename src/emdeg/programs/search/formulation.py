"""Which formulation of each function, varied how: the choices that a search ranges over, and the program of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emdeg.errors import CannotVary
from emdeg.mechanics.functions import FUNCTIONS, ways_of
from emdeg.mechanics.kinds import TREE, kind_of
from emdeg.mechanics.mechanism import mechanism
from emdeg.mechanics.trees.kind import tree_state
from emdeg.mechanics.variants.frames_that_stay import Joints, turn_back_choices
from emdeg.mechanics.variants.moments import MOMENTS
from emdeg.mechanics.variants.regrouping import drives_in_links, slide_choices
from emdeg.mechanics.variants.split_inertia import SPLITS
from emdeg.mechanics.variants.variation import Variation, no_variation, varied
from emdeg.programs.build import joined, open_trace
from emdeg.programs.ir import Program
from emdeg.programs.trace import Tracer
from emdeg.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Formulation:
    """A formulation for each function, by its name in the catalogue, and how the mechanics is written in all."""

    method: tuple[str, ...]
    variation: Variation


def plain_formulation(robot: Robot, functions: Sequence[str]) -> Formulation:
    """What the plain program uses: body-fixed frames as given, YY, MZ and M handed over."""
    first = tuple(ways_of(function, robot).searched[0] for function in functions)
    return Formulation(first, no_variation(robot.n))


def has_formulations(robot: Robot, functions: Sequence[str]) -> bool:
    """Whether there is anything to choose: every function has formulations that bear variation."""
    return all(ways_of(function, robot).searched for function in functions)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing a formulation may choose: field `name` (at link `place`, or for function `place`) = `value`."""

    name: str
    place: int | None
    value: Any = field(hash=False)

    def applied(self, to: Formulation) -> Formulation:
        if self.name == "method":
            return replace(to, method=_with(to.method, self.place, self.value))
        chosen = _with(getattr(to.variation, self.name), self.place, self.value)
        return replace(to, variation=replace(to.variation, **{self.name: chosen}))

    def is_in(self, formulation: Formulation) -> bool:
        chosen = getattr(formulation if self.name == "method" else formulation.variation, self.name)
        return bool((chosen if self.place is None else chosen[self.place]) == self.value)


def _with(values: Any, place: int | None, value: Any) -> Any:
    return value if place is None else (*values[:place], value, *values[place + 1 :])


def options(robot: Robot, functions: Sequence[str]) -> list[Option]:
    """Every single choice open for this robot and these functions."""
    found: list[Option] = []
    joints = range(robot.n)
    turns = turn_back_choices(mechanism(robot, Tracer(sorted(robot.symbols))))
    found += [Option("back", i, joints_) for i in joints for joints_ in turns[i]]
    found += [Option("slide", i, length) for i, lengths in enumerate(slide_choices(robot)) for length in lengths]
    for i in joints:
        if robot.joints[i].kind == "revolute":
            found += [Option("axial", i, value) for value in ("yy", "xx", "mean")]
            found += [Option("keep_mass", i, value) for value in (False, True)]
    if any(function in RECURSIVE for function in functions):
        found += [Option("moment", i, value) for i in joints for value in MOMENTS]
    if any(function in WITH_SPLIT_INERTIA for function in functions):
        found += [Option("apart", i, share) for i in joints for share in SPLITS]
        found += [Option("apart_back", i, joints_) for i in joints for joints_ in turns[i] if len(turns[i]) > 1]
    if "inverse_dynamics" in functions:
        found += [Option("closed", None, k) for k in range(min(robot.n, 4))]
    for place, function in enumerate(functions):
        found += [Option("method", place, name) for name in ways_of(function, robot).searched]
    return found


RECURSIVE = ("inverse_dynamics", "bias", "gravity", "forward_dynamics")
"""Functions that take efforts from the recursion."""
WITH_SPLIT_INERTIA = (*RECURSIVE, "mass_matrix")
"""Functions that may count a body as two that move alike."""


def write(robot: Robot, functions: Sequence[str], formulation: Formulation) -> Program:
    """The functions traced as the formulation says, not simplified; CannotVary if its choices do not go together."""
    assert kind_of(robot) is TREE
    trace = open_trace(robot, functions)

    def pair_of(joints: Joints):
        angle = trace.q[joints[0]]
        for joint in joints[1:]:
            angle = angle + trace.q[joint]
        return trace.tracer.sincos_of(angle)

    state = tree_state(drives_in_links(robot, mechanism(robot, trace.tracer)), trace.inputs)
    written = varied(state, formulation.variation, pair_of)
    results: dict[str, Any] = {}
    for function, method in zip(functions, formulation.method):
        found = FUNCTIONS[function].ways[TREE.name].formulations[method](written)
        if found is None:
            raise CannotVary(f"{method} does not serve this robot")
        results = joined(results, found, functions, trace.names)
    return trace.tracer.program("_".join(functions), results)
