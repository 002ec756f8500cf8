"""Which generalized speeds are best for a robot: the natural sets are tried, and the programs' operations counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import cast

from emdeg.algebra import ONE, ZERO, PrimeField, Residue, parsed
from emdeg.algebra.linear import independent_rows
from emdeg.dynamics.kane import (
    AngularVelocity,
    LinearForm,
    PointVelocity,
    Rate,
    Setup,
    Speed,
    joint_rates,
    loop_system,
    speed_matrix,
    system,
)
from emdeg.equations.speeds import SpeedInverse, speed_inverse
from emdeg.errors import OverBudget, RobotError
from emdeg.programs.ir import Count, count
from emdeg.programs.kane.build import kane_program
from emdeg.programs.kane.closed import LoopKane
from emdeg.programs.kane.inputs import KaneInputs
from emdeg.robot import BASE, NOWHERE, Frame, Robot, Vector

FINALISTS = 4
"""Sets whose programs are simplified to the end; the others are counted as traced."""
DRAWS = 4096
"""Points tried modulo a prime: half of them fail at each square root of the closure."""
LARGEST = 600
"""Terms of det A beyond which a set is left out: no one would want those speeds."""

_AXES: tuple[Vector, ...] = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
_LETTERS = "xyz"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A set of speeds and the operations of its programs: torques from motion, ud from torques."""

    setup: Setup
    torques: Count
    accelerations: Count
    singular: tuple[str, ...]
    simplified: bool

    @property
    def total(self) -> int:
        return self.torques.total + self.accelerations.total

    @property
    def rank(self) -> tuple[int, int]:
        """Operations, then in how many ways the speeds fail."""
        return self.total, len(self.singular)


def natural_setups(robot: Robot) -> list[Setup]:
    """Sets of speeds that suggest themselves: rates, sums over parallel axes, velocities of bodies.

    Only those that determine the rates, judged modulo a prime at a random configuration.
    """
    found: dict[tuple[Speed, ...], Setup] = {}
    for setup in _suggested(robot):
        if setup.speeds not in found and _invertible(robot, setup):
            found[setup.speeds] = setup
    return list(found.values())


def choose(
    robot: Robot, setups: Sequence[Setup] | None = None, tell: Callable[[str], bool | None] = lambda text: None
) -> list[Candidate]:
    """The natural sets, smallest programs first (both problems together); the best few simplified to the end.

    `tell` is told which set is tried; where it answers with True no further one is.
    """
    tried: list[tuple[Candidate, SpeedInverse | None]] = []
    for setup in natural_setups(robot) if setups is None else setups:
        if tell(setup.title) and tried:
            break
        if not robot.is_tree:
            tried.append((_counted(robot, setup, None, False), None))
            continue
        try:
            kinematics = speed_inverse(robot, setup)
        except (RobotError, OverBudget):
            continue
        det = kinematics.det
        if det is not None and len(det) <= LARGEST:
            tried.append((_counted(robot, setup, kinematics, False), kinematics))
    tried.sort(key=lambda pair: pair[0].rank)
    best = [_counted(robot, one.setup, kinematics, True) for one, kinematics in tried[:FINALISTS]]
    return sorted(best, key=lambda one: one.rank) + [one for one, _ in tried[FINALISTS:]]


def _counted(robot: Robot, setup: Setup, kinematics: SpeedInverse | None, simplified: bool) -> Candidate:
    torques, accelerations = (
        count(kane_program(robot, setup, function, kinematics=kinematics, factored=simplified))
        for function in ("torques", "accelerations")
    )
    where = () if kinematics is None else tuple(one.where for one in kinematics.singular)
    return Candidate(setup, torques, accelerations, where, simplified)


def _invertible(robot: Robot, setup: Setup) -> bool:
    if not robot.is_tree:
        return _invertible_loops(robot, setup)
    field = PrimeField.fresh()
    at = [field.joint_sincos(k) if j.kind == "revolute" else field.displacement(k) for k, j in enumerate(robot.joints)]
    A = speed_matrix(system(robot, setup, field, at))
    residues = [[cast(Residue, entry).value for entry in row] for row in A]
    return len(independent_rows(residues, field.prime)) == robot.n


def _invertible_loops(robot: Robot, setup: Setup) -> bool:
    """The same where the loops are closed, at a point where their roots exist."""
    for _ in range(DRAWS):
        field = PrimeField.fresh()
        at = [
            field.joint_sincos(k) if joint.kind == "revolute" else field.displacement(k)
            for k, joint in enumerate(robot.coordinates)
        ]
        try:
            sys = loop_system(robot, setup, field, at, (), lambda value, _, field=field: field.sqrt(value))
            A = LoopKane(sys, KaneInputs(), field.sqrt).A
        except ZeroDivisionError:
            continue
        residues = [[cast(Residue, entry).value for entry in row] for row in A]
        return len(independent_rows(residues, field.prime)) == len(A)
    return False


def _suggested_of_loops(robot: Robot) -> Iterator[Setup]:
    """The coordinates' and the motors' rates; components of the tool's velocity and angular velocity."""
    yield replace(joint_rates(robot), title="the coordinates' rates")
    loops, n = robot.loops, robot.freedoms
    assert loops is not None
    if len(loops.driven) == n and loops.driven != loops.coordinates:
        yield Setup(tuple(Rate(k) for k in loops.driven), title="the driven joints' rates")
    base = Frame("base", BASE)
    for axes in combinations(range(3), n) if n <= 3 else ():
        words = ", ".join(_LETTERS[axis] for axis in axes)
        yield Setup(
            tuple(PointVelocity(robot.tool, NOWHERE, base, _AXES[axis]) for axis in axes),
            title=f"the tool's velocity, {words} of the base",
        )
        yield Setup(
            tuple(AngularVelocity(robot.tool, robot.tool, _AXES[axis]) for axis in axes),
            title=f"the tool's angular velocity, its own {words}",
        )


def _suggested(robot: Robot) -> Iterator[Setup]:
    if not robot.is_tree:
        yield from _suggested_of_loops(robot)
        return
    rates = list(joint_rates(robot).speeds)
    yield joint_rates(robot)
    own = [Frame(link.name, i) for i, link in enumerate(robot.links)]
    turning = [joint.kind == "revolute" for joint in robot.joints]
    yield Setup(
        tuple(AngularVelocity(own[k], own[k], _AXES[2]) if turning[k] else rates[k] for k in range(robot.n)),
        title="each link's angular velocity about its own joint's axis",
    )
    yield _parallel_sums(robot)
    for link in range(robot.n):
        chain = _path(robot, link)
        turns = [k for k in chain if turning[k]]
        name = robot.links[link].name
        for size in (3, 2):
            if len(turns) < size:
                continue
            for replaced in dict.fromkeys((tuple(turns[-size:]), tuple(turns[:size]))):
                for axes in combinations(range(3), size):
                    speeds: list[Speed] = list(rates)
                    for k, axis in zip(replaced, axes):
                        speeds[k] = AngularVelocity(own[link], own[link], _AXES[axis])
                    words = ", ".join(_LETTERS[axis] for axis in axes)
                    yield Setup(tuple(speeds), title=_title(robot, "angular velocity", name, words, replaced))
        if len(chain) < 3:
            continue
        for frame in (own[link], Frame("base", BASE)):
            for replaced in dict.fromkeys((tuple(chain[-3:]), tuple(chain[:3]))):
                speeds = list(rates)
                for k, axis in zip(replaced, range(3)):
                    speeds[k] = PointVelocity(own[link], NOWHERE, frame, _AXES[axis])
                words = "x, y, z" + ("" if frame is own[link] else " of the base")
                yield Setup(tuple(speeds), title=_title(robot, "velocity of the origin", name, words, replaced))


def _title(robot: Robot, what: str, body: str, axes: str, replaced: Sequence[int]) -> str:
    instead = ", ".join(robot.joints[k].name for k in replaced)
    return f"{what} of {body} ({axes}) for the rates of {instead}"


def _path(robot: Robot, link: int) -> list[int]:
    found = []
    while link != BASE:
        found.append(link)
        link = robot.links[link].parent
    return found[::-1]


def _parallel_sums(robot: Robot) -> Setup:
    """For runs of parallel turning axes the sum of the rates up to each."""
    one = parsed("1")
    speeds: list[Speed] = []
    run: dict[int, tuple[int, ...]] = {}
    for k, link in enumerate(robot.links):
        place = link.joint.placement
        parallel = (
            link.parent != BASE
            and link.joint.kind == "revolute"
            and robot.joints[link.parent].kind == "revolute"
            and place.alpha.is_zero
            and place.beta.is_zero
        )
        run[k] = (*run[link.parent], k) if parallel else (k,)
        speeds.append(LinearForm(tuple((j, one) for j in run[k])) if len(run[k]) > 1 else Rate(k))
    return Setup(tuple(speeds), title="sums of the rates about parallel axes")
