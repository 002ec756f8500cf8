"""What identification does otherwise with mechanisms with closed loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.dynamics.parameters import COLUMNS
from emdeg.errors import ClosureError, RobotError
from emdeg.identification.consistency import LIGHTEST, Bodies
from emdeg.identification.excitation import reach_about
from emdeg.identification.identifying import Identification
from emdeg.identification.linear_model import BLOCK, Evaluate
from emdeg.identification.motion_search import OtherLimits, inside
from emdeg.identification.regressors import moves_by_motors
from emdeg.identification.samples import LogSamples
from emdeg.loops import Rod, choose, loops_of, singularity_figures
from emdeg.papers.bench.formulas import Measured
from emdeg.papers.bench.measuring import nine_digits
from emdeg.robot import Link, Robot, remembered


def check_campaign(robot: Robot) -> None:
    """RobotError: a campaign takes a robot to its links."""
    raise RobotError("a campaign is about an open chain or tree of links", body=robot.name)


def massless_links(robot: Robot) -> tuple[int, ...]:
    """Links that have no mass in their file: they carry a coordinate, no body."""
    if robot.symbols:
        return ()
    return tuple(k for k, link in enumerate(robot.links) if not any(map(float, link.inertia.parameters)))


def places_seen(found: Identification, q: Array) -> Array:
    """Configurations of the logs: there the loops close."""
    been = found.logs[0].q
    return been[np.linspace(0, len(been) - 1, len(q)).astype(int)]


def carriers(robot: Robot) -> Sequence[Link]:
    """No link: a load is looked for at the tool alone."""
    return ()


def poses_kept(others: OtherLimits, q: Array) -> bool:
    """Whether the loops close at all poses q (m, n), on the robot's branch, and no other joint is at its end."""
    robot = others.robot
    try:
        joints = kind_of(robot).joint_positions(robot, q)
        if not np.all(_sides(robot, q) == _sides_at_home(robot)):
            return False
    except ClosureError:
        return False
    return all(inside(joint, at, others.ranges) for joint, at in zip(robot.joints, joints.T))


@remembered(8)
def _sides_at_home(robot: Robot) -> Array:
    return _sides(robot, kind_of(robot).home(robot)[None])[0]


def _sides(robot: Robot, q: Array) -> Array:
    return np.sign(np.stack(singularity_figures(robot, q)[2:], axis=-1))


def spread_of_offsets(robot: Robot) -> float:
    """Motions are about the middle."""
    return 0.0


def closing_ranges(robot: Robot, others: OtherLimits, notes: list[str]) -> dict[str, tuple[float, float]]:
    """A box about where the loops are closed first in which they close everywhere."""
    middle = kind_of(robot).home(robot)
    reach = reach_about(robot, middle, others)
    names = [joint.name for joint in robot.coordinates]
    units = ["rad" if joint.kind == "revolute" else "m" for joint in robot.coordinates]
    far = ", ".join(f"{r:.3g} {unit}" for r, unit in sorted(set(zip(reach.tolist(), units))))
    notes.append(f"its loops close {far} about where they are closed first: the motion stays there")
    if not moves_by_motors(robot):
        words = "from its motors' positions its loops close numerically only: the motion is that of "
        notes.append(f"{words}{', '.join(names)}, and the table holds what the motors do then")
    return {name: (at - r, at + r) for name, at, r in zip(names, middle, reach)}


def option_of_coordinates(robot: Robot) -> str:
    """The option that chooses the same coordinates."""
    return " --coordinates " + ",".join(joint.name for joint in robot.coordinates)


def with_identified_bodies(found: Identification, new: Robot, bodies: Bodies) -> Robot:
    """The robot with the identified rods, in the file's coordinates."""
    loops, n = loops_of(found.robot), found.robot.n
    rods = tuple(_identified_rod(rod, bodies.values[n + k]) for k, rod in enumerate(loops.rods))
    return choose.with_coordinates(replace(new, constraints=replace(loops, rods=rods)), found.coordinates)


def _identified_rod(rod: Rod, own: Array) -> Rod:
    """The rod with other masses along it; a robot file has no place for their tolerances."""
    zz, mx, m = (float(own[COLUMNS.index(name)]) for name in ("ZZ", "MX", "M"))
    numbers = (m, mx / (m * float(rod.length)), max(0.0, zz - mx * mx / m))
    mass, com, inertia = (nine_digits(Measured(value)) for value in numbers)
    return replace(rod, mass=mass, com=com, inertia=inertia, points=None)


def need_closed(robot: Robot, regressor: Evaluate, samples: LogSamples) -> None:
    """RobotError where the robot cannot be as its motors stand: of that nothing can be computed."""
    parts = [slice(a, a + BLOCK) for a in range(0, len(samples), BLOCK)]
    rows = [regressor(samples.q[part], samples.qd[part], samples.qdd[part]) for part in parts]
    open_ = np.concatenate([~np.isfinite(Y).all(axis=(1, 2)) for Y in rows])
    if open_.any():
        first, count = float(samples.t[int(np.argmax(open_))]), int(open_.sum())
        words = (
            f"its loops do not close at {count} of {len(samples)} samples, first at t = {first:.6g} s, on the way of"
        )
        words += " closing in which the robot starts: is an encoder's zero, its sign or its unit another, or a length?"
        raise RobotError(f"{words} Nothing is identified", file=samples.file)


def further_body(robot: Robot, k: int, cvxpy: Any, body: Any, unit: float) -> list[Any]:
    """Masses along the k-th rod: ZZ and MX about its first end and M, all else nothing; `unit`: a metre in theirs."""
    length = float(loops_of(robot).rods[k].length) * unit
    zz, mx, m = (body[COLUMNS.index(name)] for name in ("ZZ", "MX", "M"))
    others = [k for k, name in enumerate(COLUMNS) if name not in ("ZZ", "MX", "M")]
    moments = cvxpy.bmat([[zz, mx], [mx, m]])
    return [moments >> LIGHTEST * np.eye(2), body[others] == 0, mx >= 0, mx <= length * m]
