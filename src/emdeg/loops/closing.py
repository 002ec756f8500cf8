"""How a robot's loops close, looked at once in doubles: analytic steps where there are any, a start, mobility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array, Floats
from emdeg.dynamics.arrays import Surroundings
from emdeg.errors import ClosureError, RobotError
from emdeg.loops.analytic_closure import Plan, solve
from emdeg.loops.continuation import follow, followed, march
from emdeg.loops.description import Loops
from emdeg.loops.linkage import Linkage, constraints, linkage_of, loops_of, world_frames
from emdeg.loops.mobility import Mobility, check, generic_places, is_special, mobility
from emdeg.loops.newton import MORE_DIGITS, closed_by_newton, open_rows, positions_of, size_of, whole
from emdeg.loops.plan import find_plan, moded, settled
from emdeg.robot import Robot, massless, need_numbers, remembered, substitute

REACHED = 1e-13
"""A radicand above minus this may be zero with rounding: whether it is, the closure equations say."""
OPEN = 1e-9
"""What a closure equation, redundant or not, may miss at run time, over the mechanism's size."""
A_LITTLE = 1e-3
"""How far [rad, m] a mechanism with redundant equations is moved to see that it does move."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A robot's loops: in doubles, its plan (None: Newton), a closed start, its mobility."""

    link: Linkage
    plan: Plan | None
    start: Array
    mobility: Mobility
    steps: Plan | None = None
    """The plan before formulas were written out and modes chosen."""

    @property
    def why_numeric(self) -> str:
        """Why there is no plan: what a refusal has to say."""
        if self.steps is None:
            return "no steps of one square root each lead through them"
        named = ", ".join(self.mobility.redundant) or "its loops"
        return f"the steps meet the equations of {named} up to rounding, and not exactly"

    @property
    def home(self) -> Array:
        """The independent coordinates at the start."""
        return self.start[list(self.link.coordinates)]


@remembered(32)
def ready(robot: Robot) -> Ready:
    """What evaluation needs; RobotError or ClosureError for a description that cannot move as it says."""
    loops = loops_of(robot)
    if loops.modes:
        return _in_modes(robot, loops)
    need_numbers(robot)
    link = linkage_of(robot, Floats())
    given = np.array([float(v) for v in loops.start])
    try:
        start = closed_by_newton(link, given, link.dependent)
    except ClosureError:
        start = closed_by_newton(link, given, range(link.n))
    steps = find_plan(link, start, generic_places(link, start))
    special = is_special(steps)
    found = mobility(robot, link, start, None, special)
    plan = None
    # With another number of coordinates no formula says where the others are, however long it is looked for.
    if steps is not None and found.freedoms == len(link.coordinates):
        plan = settled(link, robot, steps, start)
        found = mobility(robot, link, start, plan, special)
    check(robot, link, found, start)
    if special and found.pivots is None:  # a program's divisors could be zero unseen
        plan = None
    link = linkage_of(robot, Floats(), found.rows)
    if plan is None and found.redundant:
        _need_moving(robot, link, start, found)
    return Ready(link, plan, start, found, steps)


def _need_moving(robot: Robot, link: Linkage, start: Array, found: Mobility) -> None:
    """RobotError where the loops close at the start alone: a rank in doubles does not tell special from rounded."""
    n = len(link.coordinates)
    ways = A_LITTLE * np.concatenate([np.eye(n), -np.eye(n)])
    moved = march(link, np.broadcast_to(start, (2 * n, link.n)), ways).arrived
    if not (moved[:n] | moved[n:]).all():
        raise RobotError(f"its loops close at the start and nowhere near it ({found}); {MORE_DIGITS}", body=robot.name)


def _in_modes(robot: Robot, loops: Loops) -> Ready:
    """The same with other signs."""
    found = ready(replace(robot, constraints=replace(loops, modes=())))
    if found.plan is None:
        raise RobotError(
            "its loops close numerically: say which way is meant by where they start, not by modes", body=robot.name
        )
    return replace(found, plan=moded(found.plan, dict(loops.modes)))


def closing_of(robot: Robot) -> Ready:
    """How the loops close, which is a matter of geometry: masses, inertias, loads and gravity may be symbols.

    Lengths and angles may be, too, where the file says near which numbers they are meant and the analytic steps that
    close the loops there do so for all numbers.
    """
    if not robot.symbols:
        return ready(robot)
    shape = massless(robot)
    return ready(shape) if not shape.symbols else _closing_for_all(shape)


@remembered(32)
def _closing_for_all(shape: Robot) -> Ready:
    """The closing of a geometry in letters; RobotError where a number to begin with is missing, or steps that hold."""
    numbers = {name: value for name, value in loops_of(shape).values if name in shape.symbols}
    if missing := sorted(shape.symbols - numbers.keys()):
        raise RobotError(
            f"its geometry has symbols without a number: {', '.join(missing[:6])}; say near which numbers the loops "
            f"close, [loops] values = {{ {missing[0]} = .. }}, or set them (--set {missing[0]}=VALUE)",
            body=shape.name,
        )
    found = ready(substitute(shape, numbers))
    near = {name: float(value) for name, value in numbers.items()}
    plan = None if found.steps is None else settled(found.link, shape, found.steps, found.start, near)
    if plan is None:
        raise RobotError(
            "its loops do not close by the same analytic steps for all numbers of its symbols "
            f"({', '.join(sorted(shape.symbols))}): give these numbers (--set NAME=VALUE, or emdeg.substitute)",
            body=shape.name,
        )
    return replace(found, plan=moded(plan, dict(loops_of(shape).modes)))


def numbered(robot: Robot) -> Ready:
    """The closing of the geometry with the file's own numbers for its letters."""
    shape = massless(robot) if robot.symbols else robot
    given = {name: value for name, value in loops_of(shape).values if name in shape.symbols}
    closing_of(robot)  # says which number is missing
    return ready(substitute(shape, given) if given else shape)


NEAR = 0.05
"""How far [rad, or a share of the mechanism's size] from home states are drawn at most."""


@remembered(32)
def surroundings(robot: Robot) -> Surroundings:
    """The start, and as much room about it as keeps every loop closed whichever way the coordinates go."""
    found = numbered(robot)
    own = list(found.link.coordinates)
    room = NEAR * np.where(np.array(found.link.tree.revolute)[own], 1.0, size_of(found.link))
    ways = np.random.default_rng(0).uniform(-1, 1, (64, len(own)))
    ways[:32] = np.sign(ways[:32])
    while room.min() > 1e-9 and not reached(found, found.home + room * ways).all():
        room = room / 2
    return Surroundings(found.home, room, {name: float(value) for name, value in loops_of(robot).values})


def reached(found: Ready, q: Array) -> NDArray[np.bool_]:
    """(...): at which poses q (..., n) the loops close."""
    if found.plan is None:
        return followed(found.link, found.start, q)[1]

    def root(radicand: Array, _: str) -> Array:
        return np.sqrt(np.where(radicand > -REACHED, np.maximum(radicand, 0), radicand))

    with np.errstate(invalid="ignore", divide="ignore"):
        position = solve(found.link, found.plan, coordinate_positions(found.link, q), root)
        return np.array(np.broadcast_to((open_rows(found.link, position) < OPEN).all(axis=-1), q.shape[:-1]))


def coordinate_positions(link: Linkage, q: Array) -> dict[int, Any]:
    """The independent joints' positions at q (..., n)."""
    full = np.zeros((*q.shape[:-1], link.n))
    full[..., list(link.coordinates)] = q
    at = positions_of(link, full)
    return {k: at[k] for k in link.coordinates}


def positions(found: Ready, q: Array) -> list[Any]:
    """Every joint's position with the coordinates at q (..., n); ClosureError where any closure equation is not met."""
    link = found.link
    if found.plan is None:
        return positions_of(link, follow(link, found.start, q))
    with np.errstate(invalid="ignore", divide="ignore"):
        position = solve(link, found.plan, coordinate_positions(link, q), reach_root)
    missed = open_rows(link, position)
    if not np.all(missed < OPEN):
        rows = constraints(whole(link), world_frames(link, position))
        worst = np.nan_to_num(missed, nan=np.inf).reshape(-1, missed.shape[-1]).max(axis=0)
        place = int(np.argmax(worst))
        count = int(np.count_nonzero(~(missed < OPEN).all(axis=-1)))
        where = "the pose" if missed.ndim == 1 else f"{count} of {missed[..., 0].size} poses"
        loop = rows[place].name if place < len(rows) else rows[0].name
        raise ClosureError(loop, f"{where} cannot be reached: the loop stays open by {worst[place]:.3g} of its size")
    return position


def reach_root(radicand: Any, loop: str) -> Any:
    """The root, ClosureError where there is none: rods and links are too short or too long."""
    values = np.asarray(radicand)
    if not np.all(values >= -REACHED):
        count = int(np.count_nonzero(~(values >= -REACHED)))
        where = "the pose" if values.ndim == 0 else f"{count} of {values.size} poses"
        raise ClosureError(loop, f"{where} cannot be reached: the loop does not close there")
    return np.sqrt(np.maximum(values, 0.0))
