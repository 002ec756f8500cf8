"""A plan that came in a file, believed only after all that can be worked out again has been.

Results carry their plan, so that a study can be repeated; whoever sent them may have changed it. The robots and the
study are taken from it, and what they imply (sizes, columns, limits, how the work is cut) must be what the plan says;
its programs are proved. Then nothing in it can make a wrong number, or a loop read beyond its arrays.
"""

from __future__ import annotations

import math

from emdeg.analysis import torque_limits
from emdeg.errors import EmdegError, OverBudget, Refuted, SweepError
from emdeg.programs import verify_program
from emdeg.robot import Robot, assemble, read_toml
from emdeg.sweeps.measures import WHOLE, measure, planned_outputs
from emdeg.sweeps.plan import Case, Parameter, Plan, StateBox, study_digest
from emdeg.sweeps.prepare import cut, groups_of

LARGEST = 64 * 2**20
"""Characters of a plan."""


def trusted(plan: Plan) -> Plan:
    """The plan, after it was found to be one that emdeg could have made; SweepError where it is not."""
    if plan.study_digest != study_digest(plan.version, plan.study, plan.cases):
        raise SweepError("the plan was changed: its study and robots do not have the stated digest")
    try:
        for case in plan.cases:
            _check(plan, case)
        if plan.work != cut(plan.study, plan.cases):
            raise SweepError("the plan was changed: its work is cut otherwise than its study says")
    except (SweepError, OverBudget):
        raise
    except (EmdegError, ArithmeticError, KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise SweepError(f"the plan was changed: {problem}") from None
    return plan


def _check(plan: Plan, case: Case) -> None:
    robot = assemble(read_toml(case.toml, "the plan's robot"), allow_nonphysical=True)
    study = plan.study
    measures = [measure(one, robot) for one in study.compute if one.analysis != WHOLE]
    wanted = {function for one in measures for function in one.functions}
    _need(case.programs.keys() == wanted, "its programs are not those of its study")
    programs = {function: case.program(function) for function in case.programs}
    for function, program in programs.items():
        try:
            verify_program(program, robot, [function])
        except Refuted as problem:
            raise SweepError(f"the plan was changed: {problem}") from None
    shapes = {function: {g.name: g.shape for g in program.outputs} for function, program in programs.items()}
    limits = tuple(map(float, torque_limits(robot))) if any(one.limits for one in measures) else None
    _need(case.n == robot.freedoms, "its joints are not its robot's")
    _need(case.groups == groups_of(case.programs), "its states are not those that its programs read")
    _need(case.outputs == tuple(planned_outputs(study.compute, robot, shapes, case.n)), "its columns are others")
    _need(case.limits == limits, "its limits are not its robot's")
    _need(len(case.boxes) == len(study.workspaces), "its workspaces are not its study's")
    _need(all(isinstance(text, str) and len(text) <= 1000 for text in (case.robot, case.payload)), "its names are odd")
    for box in case.boxes:
        _need(_fits(box, plan, case), "the ranges of its states do not fit its robot")
    _check_parameters(plan, case, robot)


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise SweepError(f"the plan was changed: {rule}")


def _fits(box: StateBox, plan: Plan, case: Case) -> bool:
    arrays = {"random": len(case.groups), "grid": 1, "motions": 2}[plan.study.states.kind]
    numbers = (*box.low, *box.high)
    return len(box.low) == len(box.high) == case.n * arrays and all(map(_is_number, numbers))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_parameters(plan: Plan, case: Case, robot: Robot) -> None:
    symbols = [one.symbol for one in case.parameters]
    _need(sorted(symbols) == sorted(robot.symbols), "its parameters are not its robot's symbols")
    for one in case.parameters:
        _need(_is_drawn(plan, one), f"the parameter {one.path!r} is drawn in no known way")


def _is_drawn(plan: Plan, one: Parameter) -> bool:
    if not isinstance(one.axis, int) or one.axis < 0 or not all(map(_is_number, one.numbers)):
        return False
    if one.rule == "grid":
        return one.axis < len(plan.grids) and not one.numbers
    known = one.rule in ("uniform", "normal") or (one.rule == "tolerance" and plan.study.tolerances is not None)
    return known and len(one.numbers) == 2
