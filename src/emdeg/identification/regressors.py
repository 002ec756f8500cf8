"""The base regressor by the motors' motion, whatever closes a robot's loops.

Where the loops close by steps from the motors' positions, it is one compiled program. Where they do so from other
coordinates only, a platform's pose say, the motors are followed to these numerically, on the branch on which the robot
starts, and programs do the rest. Where no coordinates are known from which they do, the mechanics in doubles serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import drive_rates, evaluate
from emdeg.dynamics.parameters import BaseParameters, base_parameters, base_values
from emdeg.errors import EmdegError
from emdeg.identification.linear_model import Evaluate
from emdeg.loops import choose, march, ready
from emdeg.programs import program
from emdeg.robot import BASE, Robot, geometry, need_numbers, remembered
from emdeg.runtime import compile

BLOCKS = 512
"""Blocks of positions whose closing is remembered: the same rows are asked for again and again."""
ROUNDS, STARTS = 8, 256
"""How often, and from how many places that were reached, ways to others are looked for."""

State = tuple[Array, Array, Array]
"""q, qd, qdd (m, n)."""
Slopes = Callable[..., tuple[Array, ...]]
"""q, qd, qdd (m, n), weights of Y's entries (m, n p) -> the gradients of their sum by q, qd and qdd (m, n)."""


def by_motors(robot: Robot) -> Robot:
    """The robot, its loops described by the positions of its driven joints: what a motor's encoder shows."""
    if robot.loops is None:
        return robot
    found = choose.with_coordinates(robot, [joint.name for joint in robot.driven])
    kind_of(found).home(found)  # says what is wrong with motors that do not place it
    return found


def described(robot: Robot) -> Robot:
    """The robot in coordinates from which its loops close by steps, so that programs run.

    They are its motors' positions if these do, else the file's own, else those of the joints that lead to its tool; its
    motors' once more where none do.
    """
    motors = by_motors(robot)
    return next((one for one in _descriptions(motors, robot) if has_programs(one)), motors)


def has_programs(robot: Robot) -> bool:
    """Whether its functions can be compiled; trees' always can."""
    return kind_of(robot).has_programs(robot)


def _descriptions(motors: Robot, robot: Robot) -> Iterator[Robot]:
    """One after the other, the likeliest first; by the joints between base and tool only where these place it."""
    yield from (motors, robot)
    link, joints = robot.tool.link, []
    while link != BASE:
        joints.append(robot.links[link].joint.name)
        link = robot.links[link].parent
    if len(joints) != robot.freedoms:
        return
    found = choose.with_coordinates(robot, joints[::-1])
    try:
        kind_of(found).home(found)
    except EmdegError:
        return
    yield found


def base_regressor(robot: Robot) -> Evaluate:
    """The base regressor by its motors' motion: q, qd, qdd (m, n) -> Y (m, n, p); NaN where they cannot stand so."""
    own = described(robot)
    evaluate_own = own_regressor(own)
    if moves_by_motors(own):
        return evaluate_own
    motion = coordinate_motion(robot)
    return lambda q, qd, qdd: evaluate_own(*motion(q, qd, qdd))


def moves_by_motors(robot: Robot) -> bool:
    """Whether its coordinates are its motors' positions."""
    return robot.is_tree or robot.coordinates == robot.driven


@remembered(4)
def own_regressor(robot: Robot) -> Evaluate:
    """The same by the robot's own coordinates."""
    shape = geometry(robot) if robot.is_tree else robot
    need_numbers(shape)
    if has_programs(robot):
        return compile(program(shape, "regressor", base=True, effort=0))
    return partial(_regressor_in_doubles, robot, [column.place for column in base_parameters(robot).kept])


def regressor_slopes(robot: Robot) -> Slopes:
    """The adjoint of the whole regressor by the robot's own coordinates."""
    if has_programs(robot):
        return compile(program(geometry(robot) if robot.is_tree else robot, "regressor_vjp", effort=0))
    return partial(_slopes_in_doubles, robot)


def prior_values(robot: Robot, base: BaseParameters) -> Array:
    """(p) the base parameters of the robot's file; zero where its masses are symbols."""
    if robot.symbols:
        return np.zeros(len(base))
    return np.array([float(value) for value in base_values(robot, base)])


def _regressor_in_doubles(robot: Robot, columns: list[int], q: Array, qd: Array, qdd: Array) -> Array:
    there = np.isfinite(_joint_positions(robot, q)).all(axis=1)
    found = np.full((len(q), len(robot.driven), len(columns)), np.nan)
    if there.any():
        found[there] = evaluate("regressor", robot, {"q": q[there], "qd": qd[there], "qdd": qdd[there]})[..., columns]
    return found


def _slopes_in_doubles(robot: Robot, q: Array, qd: Array, qdd: Array, weights: Array) -> tuple[Array, ...]:
    return evaluate("regressor_vjp", robot, {"q": q, "qd": qd, "qdd": qdd, "Y_c": weights})


def coordinate_motion(robot: Robot) -> Callable[[Array, Array, Array], State]:
    """From its motors' motion to that of the coordinates of `described`, each q, qd, qdd (m, n)."""
    own = described(robot)
    if moves_by_motors(own):
        return lambda q, qd, qdd: (q, qd, qdd)
    jacobian, drift = (compile(program(own, name, effort=0)) for name in ("drive_jacobian", "drive_rates_jvp"))
    motors = by_motors(robot)
    places = [robot.joints.index(joint) for joint in own.coordinates]

    @lru_cache(maxsize=BLOCKS)
    def closed(rows: bytes) -> Array:
        return _joint_positions(motors, np.frombuffer(rows).reshape(-1, len(places)))[:, places]

    def motion(q: Array, qd: Array, qdd: Array) -> State:
        u = closed(np.ascontiguousarray(q, dtype=np.float64).tobytes())
        J = jacobian(u)
        ud = np.linalg.solve(J, qd[..., None])[..., 0]
        # v = J ud, so that vd = J udd + J-dot ud.
        udd = np.linalg.solve(J, (qdd - drift(u, ud, ud, np.zeros_like(ud)))[..., None])[..., 0]
        return u, ud, udd

    return motion


def _joint_positions(robot: Robot, q: Array) -> Array:
    """(m, joints) with the coordinates at q (m, n); NaN where the loops do not close on the branch of the start.

    Straight ways from the start lead to most places; to others, ways from places that were reached.
    """
    ways = ready(robot)
    link, own = ways.link, list(ways.link.coordinates)
    turning = np.array(link.tree.revolute)[own]
    found, reached, known = np.full((len(q), link.n), np.nan), np.zeros(len(q), dtype=bool), ways.start[None]
    for _ in range(ROUNDS):
        left = np.flatnonzero(~reached)
        way = q[left, None] - known[:, own]
        way = np.where(turning, (way + np.pi) % (2 * np.pi) - np.pi, way)
        nearest = np.abs(way).max(axis=2).argmin(axis=1)
        done = march(link, known[nearest], way[np.arange(len(left)), nearest])
        arrived = done.arrived.copy()
        arrived[[k for k, _ in done.crossings]] = False  # where branches cross, nobody knows which was taken
        found[left[arrived]] = done.q[arrived]
        reached[left[arrived]] = True
        if reached.all() or not arrived.any():
            break
        known = done.q[arrived][:: 1 + int(arrived.sum()) // STARTS]
    return found


def motor_motion(robot: Robot, q: Array, qd: Array, qdd: Array) -> State:
    """The motors' positions, speeds and accelerations (m, n) along a motion of the robot's own coordinates."""
    if moves_by_motors(robot):
        return q, qd, qdd
    places = [robot.joints.index(joint) for joint in robot.driven]
    at = kind_of(robot).joint_positions(robot, q)[:, places]
    turning = [joint.kind == "revolute" for joint in robot.driven]
    at = np.where(turning, np.unwrap(at, axis=0), at)
    drift = evaluate("drive_rates_jvp", robot, {"q": q, "qd": qd, "q_t": qd, "qd_t": qdd})
    return at, drive_rates(robot, q, qd), drift
