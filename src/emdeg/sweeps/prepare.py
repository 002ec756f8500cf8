"""From a study to its plan: load the robots, open what varies, make the programs, cut the work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from emdeg._version import __version__
from emdeg.analysis import torque_limits
from emdeg.errors import CannotJoin, RobotError, SweepError, TooLarge
from emdeg.programs import count, from_data, program, to_data
from emdeg.robot import (
    Joint,
    Opened,
    Robot,
    Workspace,
    by_kind,
    load,
    opened,
    stated_tolerances,
    substitute,
    to_toml,
    workspace,
)
from emdeg.sweeps.measures import ANALYSES, WHOLE, measure, planned_outputs
from emdeg.sweeps.plan import Case, Parameter, Plan, StateBox, Work, study_digest
from emdeg.sweeps.study import PerJoint, States, Study

BLOCK = 4096
"""States that are computed at a time: long against a call, small enough for the cache."""
SECOND = 1e9
MOST_SAMPLES, MOST_CHUNKS = 10**9, 10**6
MOST_STATES = 10**14
LEAST_CHUNKS = 16
DEVICE_CORES = 500
"""About as many cores of a processor as a GPU is worth; for the size of chunks."""
MOST_KEPT = 4 * 10**6
"""Numbers in a chunk that keeps every state: 32 MB."""


def prepare(study: Study) -> Plan:
    """The plan of a study; SweepError or RobotError says what in it cannot be run."""
    robots = {(name, payload): _loaded(study, name, payload) for name in study.robots for payload in study.payloads}
    labels = _labels(robots)
    cases = tuple(_case(study, robot, labels[given], payload) for (given, payload), robot in robots.items())
    return plan_of(study, cases)


def plan_of(study: Study, cases: tuple[Case, ...]) -> Plan:
    """The plan of a study whose robots are cases already."""
    return Plan(__version__, study, study_digest(__version__, study, cases), cases, cut(study, cases))


Robots = Mapping[tuple[str, str], Robot]
"""(robot, payload) as the study names them -> the robot with its payload."""


def _loaded(study: Study, name: str, payload: str) -> Robot:
    robot = load(
        name,
        tip=study.tip,
        lock=dict(study.lock),
        payload=None if payload == "none" else payload,
        gravity=study.gravity,
    )
    return substitute(robot, dict(study.set)) if study.set else robot


def _labels(robots: Robots) -> dict[str, str]:
    """What the results call each robot: its name, or, where two have the same, its file."""
    names = {given: robot.name for (given, _), robot in robots.items()}
    return names if len(set(names.values())) == len(names) else {given: given for given in names}


def _case(study: Study, robot: Robot, label: str, payload: str) -> Case:
    stated = _stated_tolerances(study, robot)
    found = _opened(study, robot, stated)
    measures = [measure(one, robot) for one in study.compute if one.analysis != WHOLE]
    check_study(robot, len(measures) < len(study.compute), bool(found.symbols))
    programs = {function: _program(found.robot, function) for m in measures for function in m.functions}
    groups = groups_of(programs)
    shapes = {f: {g.name: g.shape for g in from_data(data).outputs} for f, data in programs.items()}
    outputs = tuple(planned_outputs(study.compute, robot, shapes, robot.freedoms))
    limits = tuple(map(float, torque_limits(robot))) if any(m.limits for m in measures) else None
    boxes = tuple(
        _box(study.states, robot, one.name, workspace(robot, dict(one.ranges)), groups) for one in study.workspaces
    )
    return Case(
        label,
        payload,
        to_toml(_plain(found.robot)),
        robot.freedoms,
        _parameters(study, found, stated),
        programs,
        groups,
        outputs,
        limits,
        boxes,
    )


def _stated_tolerances(study: Study, robot: Robot) -> dict[str, float]:
    """Path -> +- of what the study draws by tolerance: all the file states of the dynamics, but what varies anyway."""
    if study.tolerances is None:
        return {}
    own = {one.parameter for one in study.vary}
    stated = {path: float(value) for path, value in stated_tolerances(robot).items() if path not in own}
    if not stated:
        raise SweepError("its file states no tolerances", body=robot.name)
    return stated


def _opened(study: Study, robot: Robot, stated: Mapping[str, float]) -> Opened:
    """The robot with symbols for all that varies, and for nothing else."""
    try:
        found = opened(robot, [*(one.parameter for one in study.vary), *stated])
    except RobotError as problem:
        raise SweepError(problem.rule, body=robot.name) from None
    left = sorted(found.robot.symbols - set(found.symbols.values()))
    if left:
        raise SweepError(f"the symbol {left[0]!r} has no number: vary it, or give it one in [set]", body=robot.name)
    return found


@by_kind
def check_study(robot: Robot, loads: bool, varies: bool) -> None:
    """SweepError where a study of such a robot cannot have the analysis of loads, or parameters that vary."""


def _plain(robot: Robot) -> Robot:
    """The robot without remarks on values that are symbols now."""
    return replace(robot, tolerances={}, sources={})


def _parameters(study: Study, found: Opened, stated: Mapping[str, float]) -> tuple[Parameter, ...]:
    rules = []
    grid = dimension = 0
    for one in study.vary:
        symbol = found.symbols[one.parameter]
        if one.values is not None:
            rules.append(Parameter(one.parameter, symbol, "grid", grid))
            grid += 1
        else:
            rule, numbers = ("uniform", one.uniform) if one.uniform is not None else ("normal", one.normal)
            rules.append(Parameter(one.parameter, symbol, rule, dimension, tuple(numbers or ())))
            dimension += 1
    for path, tolerance in stated.items():
        numbers = (found.nominal[path], tolerance)
        rules.append(Parameter(path, found.symbols[path], "tolerance", dimension, numbers))
        dimension += 1
    return tuple(rules)


def _program(robot: Robot, function: str) -> dict:
    try:
        return to_data(program(robot, function))
    except CannotJoin as problem:
        raise SweepError(str(problem), body=robot.name) from None


def groups_of(programs: Mapping[str, dict]) -> tuple[str, ...]:
    """The arrays of a state that some program reads: q first."""
    read = {name for data in programs.values() for name, *_ in data["inputs"]}
    return ("q", *(name for name in ("qd", "qdd", "tau") if name in read))


def _box(states: States, robot: Robot, name: str, where: Workspace, groups: tuple[str, ...]) -> StateBox:
    low, high = (list(ends) for ends in zip(*where.ranges))
    if states.kind == "random":
        asked = {
            "qd": ("speed", states.speed),
            "qdd": ("acceleration", states.acceleration),
            "tau": ("torque", states.torque),
        }
        for group in groups[1:]:
            reach = _reach(robot, *asked[group])
            low, high = low + [-x for x in reach], high + reach
            if group != "tau":
                where = replace(where, **{asked[group][0]: tuple(reach)})
    elif states.kind == "motions":
        low, high = low * 2, high * 2
        if "tau" in groups:
            raise SweepError("forward dynamics needs torques: a motion has none", body="states")
    return StateBox(name, where, tuple(low), tuple(high))


def _reach(robot: Robot, what: str, given: PerJoint | None) -> list[float]:
    """One number a joint: what is given, or the robot's own limit."""
    joints = robot.coordinates
    if isinstance(given, Mapping):
        known = {joint.name: k for k, joint in enumerate(joints)}
        wrong = [name for name in given if name not in known]
        if wrong:
            rule = f"{what}: there is no joint {wrong[0]!r}; its joints are {', '.join(known)}"
            raise SweepError(rule, body=robot.name)
        numbers = [given.get(joint.name) for joint in joints]
    elif isinstance(given, tuple):
        if len(given) != len(joints):
            raise SweepError(f"{what} has {len(given)} numbers; it has {len(joints)} joints", body=robot.name)
        numbers = list(given)
    else:
        numbers = [given] * len(joints)
    own = [_own_limit(joint, what) for joint in joints]
    found = [mine if number is None else number for number, mine in zip(numbers, own)]
    for joint, number in zip(joints, found):
        where = f"{robot.name}, {joint.name}"
        if number is None:
            raise SweepError(f"its file has no limit of {what}: give {what} in [states]", body=where)
        if not math.isfinite(number) or number < 0:
            raise SweepError(f"{what} must be a number that is not negative, not {number}", body=where)
    return [float(number) for number in found if number is not None]


def _own_limit(joint: Joint, what: str) -> float | None:
    if what == "speed" and joint.limits.velocity is not None:
        return float(joint.limits.velocity)
    if what == "torque":
        stated = [float(v) for v in (joint.drive.max_torque, joint.limits.effort) if v is not None]
        return min(stated) if stated else None
    return None


def cut(study: Study, cases: tuple[Case, ...]) -> Work:
    """How the work of a study is cut into chunks; TooLarge where it is more than the budget."""
    grids = [len(one.values) for one in study.vary if one.values is not None]
    scales = len(study.tolerances.scale) if study.tolerances else 1
    samples = math.prod([len(cases), len(study.workspaces), scales, *grids, study.draws])
    counts = {_state_count(study.states, case) for case in cases}
    if len(counts) > 1:
        raise SweepError("robots with different numbers of joints cannot share a grid of states", body="states")
    states = counts.pop() if any(case.programs for case in cases) else 1
    if samples > MOST_SAMPLES or samples * states > MOST_STATES:
        raise TooLarge(
            f"the study has {samples:.3g} samples of {states:.3g} states; the budget is "
            f"{MOST_SAMPLES:g} samples and {MOST_STATES:g} states",
            body=study.name,
        )
    # A second's work; less, down to a twentieth, where the whole is a few seconds: all cores shall have some.
    second = _states_in_a_second(study, cases)
    chunk = study.chunk_states or min(second, max(BLOCK, second // 20, samples * states // LEAST_CHUNKS))
    if study.output == "states":
        columns = max(case.n * len(case.groups) + sum(len(o.entries) for o in case.outputs) for case in cases)
        chunk = min(chunk, max(BLOCK, MOST_KEPT // columns))
    if any(one.analysis == WHOLE for one in study.compute):
        chunk = min(chunk, states)  # each sample is seconds of work
    # A part is a whole number of blocks, except the last of a sample.
    part = states if states <= chunk else max(BLOCK, chunk // BLOCK * BLOCK)
    work = Work(samples, states, part, max(1, chunk // states) if part == states else 1)
    if work.chunks > MOST_CHUNKS:
        raise TooLarge(
            f"it would be {work.chunks} chunks; the budget is {MOST_CHUNKS}: raise chunk_states", body=study.name
        )
    return work


def folds_on_device(study: Study) -> bool:
    """Whether states are made, computed and folded on a GPU, and never leave it; of what is a program, that is."""
    return study.backend == "cuda" and study.output == "statistics"


def _state_count(states: States, case: Case) -> int:
    if states.kind == "grid":
        return states.points**case.n
    return states.count if states.kind == "random" else states.count * states.points


def _states_in_a_second(study: Study, cases: tuple[Case, ...]) -> int:
    """About how many states a core does in a second, from the programs' operations; a rule of thumb, not a clock."""
    analyses = [ANALYSES[one.analysis] for one in study.compute if one.analysis in ANALYSES]
    extra = sum(one.nanoseconds for one in analyses)
    worst = 1.0
    for case in cases:
        programs = {name: from_data(data) for name, data in case.programs.items()}
        operations = sum(count(p).total + 25 * count(p).sincos for p in programs.values())
        entries = sum(len(output.entries) for output in case.outputs)
        nanoseconds = 0.08 * operations + 0.6 * case.n * len(case.groups) + 0.8 * entries
        worst = max(worst, nanoseconds + extra)
    if folds_on_device(study) and all(one.entrywise is not None for one in analyses):
        worst /= DEVICE_CORES
    return max(BLOCK, int(np.clip(SECOND / worst, BLOCK, 10**11)))
