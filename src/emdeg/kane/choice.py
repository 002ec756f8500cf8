"""Which generalized speeds are best for a robot: the natural sets are tried, and the programs' operations counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import cast

from emdeg.algebra import PrimeField, Residue, parsed
from emdeg.algebra.linear import independent_rows
from emdeg.errors import OverBudget, RobotError
from emdeg.kane.inverse import SpeedInverse, speed_inverse
from emdeg.kane.motion import speed_matrix
from emdeg.kane.program import kane_program
from emdeg.kane.setup import (
    AXES,
    AngularVelocity,
    LinearForm,
    PointVelocity,
    Rate,
    Setup,
    Speed,
    coordinates_of,
    joint_rates,
)
from emdeg.kane.system import system
from emdeg.programs.ir import Count, count
from emdeg.robot import BASE, NOWHERE, Frame, Robot

FINALISTS = 4
"""Sets whose programs are simplified to the end; the others are counted as traced."""
DRAWS = 4096
"""Points tried modulo a prime: half of them fail at each square root of the closure."""
LARGEST = 600
"""Terms of det A beyond which a set is left out: no one would want those speeds."""

_BASE = Frame("base", BASE)


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

    `tell` receives the title of each set that is tried; where it returns True no further one is.
    """
    tried: list[tuple[Candidate, SpeedInverse | None]] = []
    for setup in natural_setups(robot) if setups is None else setups:
        if tell(setup.title) and tried:
            break
        try:
            kinematics = speed_inverse(robot, setup)
        except (RobotError, OverBudget):
            continue
        if kinematics is None or ((det := kinematics.det) is not None and len(det) <= LARGEST):
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
    """Whether the speeds determine the rates at a random point of a prime field at which the mechanism exists."""
    turns = setup.turning(robot)
    for _ in range(DRAWS):
        field = PrimeField.fresh()
        at = [field.joint_sincos(k) if turning else field.displacement(k) for k, turning in enumerate(turns)]
        try:
            A = speed_matrix(system(robot, setup, field, at))
        except ZeroDivisionError:
            continue
        residues = [[cast(Residue, entry).value for entry in row] for row in A]
        return len(independent_rows(residues, field.prime)) == len(A)
    return False


def _suggested_of_dependent_joints(robot: Robot) -> Iterator[Setup]:
    """The coordinates' and the actuators' rates; components of the tool's velocity and angular velocity."""
    yield replace(joint_rates(robot), title="the coordinates' rates")
    n, driven, tool = robot.freedoms, tuple(map(robot.joints.index, robot.driven)), robot.tool
    if len(driven) == n and driven != coordinates_of(robot):
        yield Setup(tuple(Rate(k) for k in driven), title="the driven joints' rates")
    for axes in combinations(AXES, n) if n <= 3 else ():
        velocity = tuple(PointVelocity(tool, NOWHERE, _BASE, AXES[axis]) for axis in axes)
        yield Setup(velocity, title=f"the tool's velocity, {', '.join(axes)} of the base")
        angular = tuple(AngularVelocity(tool, tool, AXES[axis]) for axis in axes)
        yield Setup(angular, title=f"the tool's angular velocity, its own {', '.join(axes)}")


def _suggested(robot: Robot) -> Iterator[Setup]:
    if robot.freedoms < robot.n:
        yield from _suggested_of_dependent_joints(robot)
        return
    rates = joint_rates(robot).speeds
    yield joint_rates(robot)
    own = [Frame(link.name, i) for i, link in enumerate(robot.links)]
    revolute = [joint.kind == "revolute" for joint in robot.joints]

    def instead(replaced: Sequence[int], speeds: Sequence[Speed], what: str) -> Setup:
        names = ", ".join(robot.joints[k].name for k in replaced)
        chosen = dict(enumerate(rates)) | dict(zip(replaced, speeds))
        return Setup(tuple(chosen.values()), title=f"{what} for the rates of {names}")

    yield Setup(
        tuple(AngularVelocity(own[k], own[k], AXES["z"]) if revolute[k] else rates[k] for k in range(robot.n)),
        title="each link's angular velocity about its own joint's axis",
    )
    yield _parallel_sums(robot)
    for link, body in enumerate(own):
        chain = _path(robot, link)
        turns = [k for k in chain if revolute[k]]
        for size in (3, 2):
            ends = (tuple(turns[-size:]), tuple(turns[:size])) if len(turns) >= size else ()
            for replaced, axes in product(dict.fromkeys(ends), combinations(AXES, size)):
                speeds = [AngularVelocity(body, body, AXES[axis]) for axis in axes]
                yield instead(replaced, speeds, f"angular velocity of {body.name} ({', '.join(axes)})")
        ends = (tuple(chain[-3:]), tuple(chain[:3])) if len(chain) >= 3 else ()
        for (frame, where), replaced in product(((body, ""), (_BASE, " of the base")), dict.fromkeys(ends)):
            velocity = [PointVelocity(body, NOWHERE, frame, axis) for axis in AXES.values()]
            yield instead(replaced, velocity, f"velocity of the origin of {body.name} (x, y, z{where})")


def _path(robot: Robot, link: int) -> list[int]:
    found = []
    while link != BASE:
        found.append(link)
        link = robot.links[link].parent
    return found[::-1]


def _parallel_sums(robot: Robot) -> Setup:
    """For runs of parallel revolute axes the sum of the rates up to each."""
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
