"""Mechanisms with closed loops over their workspace: reach, singularities of both kinds, what the motors feel.

A pose is a value of the independent coordinates. It is reached where the loops close in the robot's mode and no joint
passes a limit of the file; it is usable where, besides, both distances from a singularity (`emdeg.loops.singularity`,
zero is singular, one is far) are at least `margin` and it lies on the start's side of the second kind. All is sampled,
and extremes are sought from the best samples on: a largest value is one that is attained, not a bound.

A motor's inertia with the others held is (J^-T M J^-1)_ii, what it feels if it alone turns; with the others free it
is 1 / (J M^-1 J^T)_ii, what it feels if they give way. The load of gravity is J^-T g.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.dynamics.functions import drive_jacobian, gravity, mass_matrix
from emdeg.errors import RobotError
from emdeg.loops import joint_positions, loops_of, reachable, ready, singularity_figures
from emdeg.programs import plain_program
from emdeg.robot import Range, Robot, Workspace, joint_number, workspace
from emdeg.runtime import compile

Bools = NDArray[np.bool_]

MARGIN = 0.05
SAMPLES = 20_000
NUMERIC_SAMPLES = 100
"""Of a mechanism whose loops close numerically only, which takes a thousand times as long."""
SAMPLES_OF_BOX = 1000
RAYS, MARCH, NUMERIC_MARCH = 400, 200, 25
ROUNDS, CROWD, CROSSED = 100, 48, 0.9
PAD = 0.02
"""How much wider than what rays reach the workspace is taken, as a share of it."""


@dataclass(frozen=True)
class Poses:
    """Samples q (k, n) of a workspace: where they are reached, how far from singular (NaN elsewhere), where usable."""

    where: Workspace
    q: Array
    reached: Bools
    first: Array
    second: Array
    usable: Bools

    @property
    def volume(self) -> tuple[float, float]:
        """(of the reached part of the box, its standard error) in the product of the coordinates' units."""
        share, whole = float(self.reached.mean()), float(np.prod(np.diff(self.where.ranges)))
        return whole * share, whole * math.sqrt(share * (1 - share) / len(self.q))


@dataclass(frozen=True)
class Extreme:
    value: float
    at: tuple[float, ...]


@dataclass(frozen=True)
class MotorLoad:
    """What one motor feels over the usable poses: least and largest."""

    motor: str
    unit: str
    held: tuple[Extreme, Extreme]
    free: tuple[Extreme, Extreme]
    gravity: tuple[Extreme, Extreme]
    usual: tuple[float, float, float]
    """Of the inertia with the others held: what 5, 50 and 95 per cent of the usable samples stay below."""


def home(robot: Robot) -> Array:
    """The coordinates of the closed start."""
    return ready(robot).start[list(loops_of(robot).coordinates)]


def reached(robot: Robot, q: Array) -> Bools:
    """Where the loops close and every joint of the tree keeps its limits, (k) of q (k, n)."""
    there = reachable(robot, q)
    limited = [
        (k, low, high)
        for k, joint in enumerate(robot.joints)
        for low, high in [(joint.limits.lower, joint.limits.upper)]
        if low is not None or high is not None
    ]
    if limited and there.any():
        joints = joint_positions(robot, q[there])
        kept = np.ones(len(joints), dtype=bool)
        for k, low, high in limited:
            kept &= joints[:, k] >= (-math.inf if low is None else float(low))
            kept &= joints[:, k] <= (math.inf if high is None else float(high))
        there[there] = kept
    return there


def closed_workspace(robot: Robot, ranges: Mapping[str, Sequence[float]] | None = None) -> Workspace:
    """The workspace of a mechanism with loops: where nobody bounds a coordinate, rays out of the start do."""
    return workspace(robot, {**ray_ranges(robot, ranges or {}), **(ranges or {})})


def closing_workspace(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]] | None = None,
    *,
    speed: Sequence[float] | float | None = None,
    acceleration: Sequence[float] | float | None = None,
    margin: float = MARGIN,
) -> Workspace:
    """A box about the start all of whose poses are usable, as far as samples tell, and no loop near a dead point.

    Coordinates that `ranges` has keep theirs; the others' are the largest part of the whole workspace that does.
    """
    whole, start = closed_workspace(robot, ranges), home(robot)
    fixed = {joint_number(robot, name) - 1 for name in ranges or {}}
    low, high = np.array(whole.ranges).T
    call = compile(plain_program(robot, "closure"))
    unit = np.random.default_rng(0).uniform(0, 1, (SAMPLES_OF_BOX, robot.freedoms))
    unit = np.vstack([unit, list(product((0.0, 1.0), repeat=robot.freedoms))])

    def part(share: float) -> tuple[Array, Array]:
        free = np.array([k not in fixed for k in range(robot.freedoms)])
        ends = [np.where(free, start + share * (end - start), end) for end in (low, high)]
        return ends[0], ends[1]

    def closes(share: float) -> bool:
        a, b = part(share)
        q = a + unit * (b - a)
        with np.errstate(invalid="ignore", divide="ignore"):
            dead = ~(call(q).reshape(len(q), -1) >= margin)
        return not dead.any() and bool(looked_at(robot, q, margin)[3].all())

    least, most = 0.0, 1.0
    if len(fixed) < robot.freedoms and not closes(most):
        for _ in range(12):
            middle = 0.5 * (least + most)
            least, most = (middle, most) if closes(middle) else (least, middle)
        if not least:
            raise RobotError("no box about its start keeps its loops away from dead points", body=robot.name)
        most = least
    short = [np.clip([float(f"{x:.3g}") for x in ends], low, high) for ends in part(most)]
    box = {joint.name: (a, b) for joint, a, b in zip(robot.coordinates, *short)}
    return workspace(robot, {**box, **(ranges or {})}, speed=speed, acceleration=acceleration)


def ray_ranges(robot: Robot, ranges: Mapping[str, Sequence[float]]) -> dict[str, Range]:
    """{coordinate: how far rays out of the start reach}, of those that neither `ranges` nor the file bounds."""
    given = {joint_number(robot, name) for name in ranges}
    open_ = [
        k
        for k, joint in enumerate(robot.coordinates)
        if k + 1 not in given and None in (joint.limits.lower, joint.limits.upper)
    ]
    if not open_:
        return {}
    ends, start = _ray_ends(robot), home(robot)
    low, high = ends.min(axis=0), ends.max(axis=0)
    low, high = low - PAD * (high - low), high + PAD * (high - low)
    turns = np.array([joint.kind == "revolute" for joint in robot.coordinates])
    low = np.where(turns, np.maximum(low, start - math.pi), low)
    high = np.where(turns, np.minimum(high, start + math.pi), high)
    return {robot.coordinates[k].name: (float(low[k]), float(high[k])) for k in open_}


def _ray_ends(robot: Robot) -> Array:
    """The last reached points of rays out of the start, in all directions."""
    start, n = home(robot), robot.freedoms
    turns = np.array([joint.kind == "revolute" for joint in robot.coordinates])
    furthest = np.where(turns, math.pi, _size(robot))
    count = RAYS if ready(robot).plan is not None else 2 * n
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(count, n))
    directions = np.vstack([np.eye(n), -np.eye(n), directions])[:count]
    directions = furthest * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    at = np.ones(len(directions), dtype=bool)
    ends = np.tile(start, (len(directions), 1))
    march = MARCH if ready(robot).plan is not None else NUMERIC_MARCH
    for step in range(1, march + 1):
        q = start + directions[at] * (step / march)
        there = reached(robot, q)
        places = np.flatnonzero(at)
        ends[places[there]] = q[there]
        at[places[~there]] = False
        if not at.any():
            break
    return ends


def _size(robot: Robot) -> float:
    """[m]: no tool is further from the base than all lengths of the file together."""
    loops = loops_of(robot)
    places = [joint.placement for joint in robot.joints]
    lengths = [abs(float(v)) for place in places for v in (place.a, place.b, place.d)]
    lengths += [float(rod.length) for rod in loops.rods]
    lengths += [
        abs(float(v)) for loop in (*loops.rods, *loops.closures) for end in (loop.first, loop.second) for v in end.xyz
    ]
    return max(sum(lengths) / 2, 1e-3)


@lru_cache(maxsize=8)
def _side(robot: Robot) -> float:
    """The sign of the second kind's determinant at the start."""
    return float(np.sign(singularity_figures(robot, home(robot))[3]))


def looked_at(robot: Robot, q: Array, margin: float = MARGIN) -> tuple[Bools, Array, Array, Bools]:
    """(reached, first, second, usable) at poses (k, n); distances are NaN where a pose is not reached."""
    there = reached(robot, q)
    first, second = np.full(len(q), np.nan), np.full(len(q), np.nan)
    usable = there.copy()
    if there.any():
        first[there], second[there], _, turned = singularity_figures(robot, q[there])
        same = np.sign(turned) == _side(robot)
        usable[there] = same & (first[there] >= margin) & (second[there] >= margin)
    return there, first, second, usable


def poses(robot: Robot, where: Workspace, samples: int | None = None, margin: float = MARGIN, seed: int = 0) -> Poses:
    """Samples of the box, the start among them."""
    count = samples or (SAMPLES if ready(robot).plan is not None else NUMERIC_SAMPLES)
    q = where.sample(count, seed)
    start = home(robot)
    if np.all((where.lower <= start) & (start <= where.upper)):
        q[0] = start
    return Poses(where, q, *looked_at(robot, q, margin))


def motor_figures(robot: Robot, q: Array) -> dict[str, Array]:
    """ "held", "free" and "gravity" of every motor, each (k, n), at poses (k, n) that are not singular."""
    J, M, g = drive_jacobian(robot, q), mass_matrix(robot, q), gravity(robot, q)
    back = np.linalg.inv(J)
    held = np.einsum("kji,kjl,kli->ki", back, M, back)
    free = 1 / np.einsum("kij,kjl,kil->ki", J, np.linalg.inv(M), J)
    return {"held": held, "free": free, "gravity": np.einsum("kji,kj->ki", back, g)}


def motor_loads(robot: Robot, found: Poses, margin: float = MARGIN) -> list[MotorLoad]:
    """Every motor's inertia and load of gravity over the usable poses."""
    at = found.q[found.usable]
    if not len(at):
        raise RobotError(
            f"no usable pose was found in its workspace: {int(found.reached.sum())} of {len(found.q)} samples are "
            f"reached, none of them {margin:g} away from a singularity; look at other ranges or a smaller margin",
            body=robot.name,
        )
    best, places = _sought(robot, found.where, at, margin)
    shares = np.percentile(motor_figures(robot, at)["held"], (5, 50, 95), axis=0)
    n = robot.freedoms
    loads = []
    for i, joint in enumerate(robot.driven):
        pairs = []
        for sort in range(3):
            low, high = sort * n + i, (3 + sort) * n + i
            pairs.append(
                (
                    Extreme(-float(best[low]), tuple(places[low].tolist())),
                    Extreme(float(best[high]), tuple(places[high].tolist())),
                )
            )
        held, free, weight = pairs
        p5, median, p95 = shares[:, i].tolist()
        unit = "kg m^2" if joint.kind == "revolute" else "kg"
        loads.append(MotorLoad(joint.name, unit, held, free, weight, (p5, median, p95)))
    return loads


def _aims(robot: Robot, q: Array) -> Array:
    """(k, 6 n): what is to be made large: held, free, gravity of every motor, first with the sign turned."""
    figures = motor_figures(robot, q)
    values = np.concatenate([figures["held"], figures["free"], figures["gravity"]], axis=1)
    return np.concatenate([-values, values], axis=1)


def _sought(robot: Robot, where: Workspace, start: Array, margin: float) -> tuple[Array, Array]:
    """(largest values (aims), where (aims, n)): differential evolution of the best samples, all aims side by side.

    Storn and Price's schemes best/1 and rand/1 in turn, with binomial crossover; only usable poses survive.
    """
    rng = np.random.default_rng(1)
    crowd, rounds = (CROWD, ROUNDS) if ready(robot).plan is not None else (4, 3)
    values = _aims(robot, start)
    order = np.argsort(-values, axis=0)[:crowd].T  # (aims, crowd)
    q, best = start[order], np.take_along_axis(values.T, order, axis=1)
    aims, count, n = q.shape
    if count < 3:
        return best[:, 0], q[:, 0]
    rows = np.arange(aims)[:, None]
    for _ in range(rounds):
        lead = q[np.arange(aims), np.argmax(best, axis=1)][:, None]
        base, one, other = (rng.integers(count, size=(aims, count)) for _ in range(3))
        lead = np.where(rng.uniform(size=(aims, count, 1)) < 0.5, lead, q[rows, base])
        step = rng.uniform(0.3, 0.9, (aims, count, 1)) * (q[rows, one] - q[rows, other])
        moved = rng.uniform(size=q.shape) < CROSSED
        moved[np.arange(aims)[:, None], np.arange(count)[None], rng.integers(n, size=(aims, count))] = True
        trial = np.clip(np.where(moved, lead + step, q), where.lower, where.upper)
        flat = trial.reshape(-1, n)
        usable = looked_at(robot, flat, margin)[3]
        gained = np.full(best.shape, -np.inf).reshape(-1)
        if usable.any():
            which = np.repeat(np.arange(aims), count)[usable]
            gained[usable] = _aims(robot, flat[usable])[np.arange(len(which)), which]
        better = gained.reshape(best.shape) > best
        q[better], best[better] = trial[better], gained.reshape(best.shape)[better]
    top = np.argmax(best, axis=1)
    return best[np.arange(aims), top], q[np.arange(aims), top]
