"""Every formulation of a function side by side: each traced, counted by one rule, and proved equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from emdeg.algebra import ZERO, Angle, Exact
from emdeg.documents import Shown
from emdeg.dynamics.functions import CATALOGUE, Run, known_functions, ways_of
from emdeg.dynamics.parameters import COLUMNS
from emdeg.errors import BadRequest, Refuted
from emdeg.programs.build import open_trace, run_together
from emdeg.programs.ir import Count, Program, count
from emdeg.programs.proof import Certificate
from emdeg.programs.simplification import retrace, simplify
from emdeg.programs.verification import verify_program
from emdeg.robot import BASE, Drive, Inertia, Pose, Robot, by_kind

LONGEST = 6000
"""Programs of more operations are counted as they are written and not simplified: a search would take minutes."""


@dataclass(frozen=True)
class Formulated(Shown):
    """One formulation's operations: for any robot with such joints, as written for this one, and simplified.

    `general` has a letter for every length, twist and inertia (None with closed loops): what the literature counts.
    `plain` has this robot's constants folded and what is zero left out; `simplified` base parameters for the inertias
    where that is allowed, common factors and shared sums besides (None where the program is too long for it).
    """

    formulation: str
    general: Count | None
    plain: Count
    simplified: Count | None
    certificate: Certificate | None
    is_reference: bool = False
    """Whether it is what the others are proved against."""


def compared_formulations(robot: Robot, function: str, names: Sequence[str] | None = None) -> list[Formulated]:
    """The formulations of a function that serve the robot, by default all; the reference comes last.

    Each program, plain and simplified, is proved equal to the reference modulo a prime before it is counted.
    """
    (function,) = known_functions(function, robot)
    ways = ways_of(function, robot)
    runs: dict[str, Run] = {**ways.formulations, ways.reference[0]: ways.reference[1]}
    wanted = list(runs) if names is None else list(names)
    for name in wanted:
        if name not in runs:
            raise BadRequest(f"{function} has no formulation {name!r}; there are {', '.join(runs)}")
    found = []
    letters = general_robot(robot)
    for name in wanted:
        plain = traced(robot, function, runs[name], regroup=False)
        if plain is None:
            continue
        is_reference = name == ways.reference[0]
        certificate = None if is_reference else _proof(plain, robot, function, [plain])
        small = _simplified(robot, function, runs[name], plain, is_reference)
        general = None if letters is None else traced(letters, function, runs[name], regroup=False)
        of_any = None if general is None else count(general)
        found.append(Formulated(name, of_any, count(plain), small, certificate, is_reference))
    return found


@by_kind
def general_robot(robot: Robot) -> Robot | None:
    """A tree with the same joints and a symbol for every other number; its first joint is the base's own axis.

    None for kinds of mechanism of which the literature counts no such robot.
    """
    links = []
    for i, link in enumerate(robot.links, 1):
        place = link.joint.placement
        if link.parent != BASE:
            offset = Exact.symbol(f"d{i}") if link.joint.kind == "revolute" else place.d
            twist = Angle.parse(f"alpha{i}")
            place = replace(place, alpha=twist, a=Exact.symbol(f"a{i}"), d=offset)
        inertia = Inertia.from_parameters(tuple(Exact.symbol(f"{name}{i}") for name in COLUMNS[:10]))
        joint = replace(link.joint, placement=place, drive=Drive())
        links.append(replace(link, joint=joint, inertia=inertia, stated=None))
    down = (ZERO, ZERO, Exact.symbol("g"))
    return replace(robot, links=tuple(links), payloads=(), gravity=down, base=Pose())


def traced(robot: Robot, function: str, run: Run, *, regroup: bool) -> Program | None:
    """The program that a formulation writes; None where it does not serve the robot."""
    trace = open_trace(robot, [function])
    outputs = run_together(trace, [function], [run], regroup)
    return None if outputs is None else retrace(trace.tracer.program(function, outputs))


def _simplified(robot: Robot, function: str, run: Run, plain: Program, is_reference: bool) -> Count | None:
    candidates = [plain]
    if CATALOGUE[function].regroups:
        regrouped = traced(robot, function, run, regroup=True)
        candidates += [] if regrouped is None or regrouped == plain else [regrouped]
    short = [simplify(one) for one in candidates if count(one).total <= LONGEST]
    if not short:
        return None
    best = min(short, key=lambda one: count(one).total)
    if not is_reference or best is not plain:
        _proof(best, robot, function, candidates)
    return count(best)


def _proof(program: Program, robot: Robot, function: str, grounds: Sequence[Program]) -> Certificate:
    """That it computes the function; its divisors are the formulation's own, as `grounds` has them."""
    try:
        return verify_program(program, robot, function, grounds=grounds)
    except Refuted as problem:
        raise Refuted(f"{robot.name} {problem}") from None
