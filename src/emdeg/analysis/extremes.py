"""Inertia and gravity loads over the workspace, certified, at the joint and at the motor's shaft."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from emdeg.algebra import ONE, ZERO, TrigPoly
from emdeg.analysis.shared_time import search_each
from emdeg.bounds import Bounded, Extremes, SearchLimits, Tensor, extreme, extremes, largest, tensor
from emdeg.documents import Shown
from emdeg.equations import Model, derive, descendants
from emdeg.errors import UnknownEntry
from emdeg.robot import BASE, Placement, Robot, Workspace, loaded_inertias, workspace

GAP = 1e-3
SECONDS = 45.0
LONGEST = 500
"""A gravity load of more terms than this is not squared for its second bound: general constant angles make it long."""


@dataclass(frozen=True)
class JointLoad(Shown):
    """What one joint carries over the workspace; kg m^2 (kg for a sliding joint), N m (N)."""

    joint: str
    kind: str
    inertia: Extremes
    gravity: Extremes
    gear_ratio: float | None
    torque_limit: float | None
    """At the joint: the drive's largest torque, the joint's effort limit, or stall torque times gear ratio."""
    stall_torque: float | None
    """At the motor's shaft, as stated."""

    @property
    def relative(self) -> float:
        """Largest over least inertia."""
        return self.inertia.high.value / self.inertia.low.value if self.inertia.low.value > 0 else math.inf

    @property
    def gravity_load(self) -> Bounded:
        """The largest absolute gravity torque or force."""
        return self.gravity.magnitude

    @property
    def at_motor(self) -> dict[str, float | None]:
        """Inertia (over the gear ratio squared) and gravity load (over the ratio) at the motor's shaft."""
        ratio = self.gear_ratio
        if not ratio:
            return {"inertia_min": None, "inertia_max": None, "gravity_max": None}
        return {
            "inertia_min": self.inertia.low.value / ratio**2,
            "inertia_max": self.inertia.high.value / ratio**2,
            "gravity_max": self.gravity_load.value / ratio,
        }

    @property
    def share_of_limit(self) -> float | None:
        """Largest gravity load over the torque limit: 1 or more cannot be held everywhere."""
        return None if not self.torque_limit else self.gravity_load.bound / self.torque_limit


def loads(
    robot: Robot, where: Workspace | None = None, *, gap: float = GAP, seconds: float = SECONDS
) -> tuple[JointLoad, ...]:
    """Every joint's inertia M_ii and gravity load over the workspace, certified to within `gap` of themselves.

    `seconds` bounds the whole; what it does not suffice for is stated with the wider gap it reached.
    """
    where = where or workspace(robot)
    model = derive(robot, "M,g", rational_angles=True)
    moments = search_each(
        [i for i in reversed(range(robot.n)) if 0 < len(model.g[i]) <= LONGEST],
        lambda i, effort: largest_moment(robot, i, where, gap, effort),
        0.3 * seconds,
        lambda one: one.gap <= gap,
    )
    ceilings = {i: _ceiling(robot, most) for i, most in moments.items()}
    formulas: dict[tuple[str, int], TrigPoly] = {("M", i): model.M[i][i] for i in range(robot.n)}
    formulas |= {("g", i): model.g[i] for i in range(robot.n)}

    tensors: dict[tuple[str, int], Tensor] = {}

    def search(key: tuple[str, int, int], effort: SearchLimits) -> Bounded:
        name, i, side = key
        ceiling = ceilings.get(i, math.inf) if name == "g" else math.inf
        if (name, i) not in tensors:
            tensors[name, i] = tensor(formulas[name, i], where.box)
        return extreme(tensors[name, i], where.box, side, gap, None, effort, ceiling)

    keys = [(*key, side) for key in formulas for side in (-1, 1)]
    keys.sort(key=lambda key: (len(formulas[key[:2]].generators), len(formulas[key[:2]])))
    found = search_each(keys, search, 0.7 * seconds, lambda one: one.gap <= gap)
    return tuple(
        JointLoad(
            joint.name,
            joint.kind,
            Extremes(found["M", i, -1], found["M", i, 1]),
            Extremes(found["g", i, -1], found["g", i, 1]),
            *_drive(robot, i),
        )
        for i, joint in enumerate(robot.joints)
    )


def _drive(robot: Robot, i: int) -> tuple[float | None, float | None, float | None]:
    joint = robot.joints[i]
    drive = joint.drive
    ratio = None if drive.gear_ratio is None else abs(float(drive.gear_ratio))
    stall = None if drive.stall_torque is None else float(drive.stall_torque)
    limits = [float(value) for value in (drive.max_torque, joint.limits.effort) if value is not None]
    if not limits and stall is not None and ratio is not None:
        limits = [stall * ratio]
    return ratio, min(limits) if limits else None, stall


def gravity_ceiling(
    robot: Robot, i: int, where: Workspace, gap: float = GAP, effort: SearchLimits = SearchLimits()
) -> float:
    """An upper bound of joint i's (from 0) gravity load: |gravity| times what it carries, wherever gravity points.

    A revolute joint's load is gravity's part across the axis times the first moment's part across the axis, which
    depends on the outer joints only; a sliding joint's is gravity's part along the axis times the mass.
    """
    return _ceiling(robot, largest_moment(robot, i, where, gap, effort))


def largest_moment(
    robot: Robot, i: int, where: Workspace, gap: float = GAP, effort: SearchLimits = SearchLimits()
) -> Bounded:
    """The largest `moment_square` over the workspace, certified."""
    square, places = moment_square(robot, i)
    return largest(square, {place: where.ranges[k] for place, k in enumerate(places, 1)}, gap=gap, effort=effort)


def _ceiling(robot: Robot, most: Bounded) -> float:
    return gravity_strength(robot) * math.sqrt(max(0.0, most.bound)) * (1 + 1e-12)


def gravity_strength(robot: Robot) -> float:
    """|gravity| [m/s^2], rounded up."""
    return math.sqrt(sum(float(x) ** 2 for x in robot.gravity)) * (1 + 1e-12)


def moment_square(robot: Robot, i: int) -> tuple[TrigPoly, list[int]]:
    """(the square of the first moment across joint i's axis [kg^2 m^2], or of the mass it lifts; places in `robot`).

    The formula's joints are those of `subtree(robot, i)`, numbered from 1.
    """
    part, places = subtree(robot, i)
    axes = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO)) if robot.joints[i].kind == "revolute" else ((ZERO, ZERO, ONE),)
    across = [derive(part.with_gravity(axis), "g", rational_angles=True).g[0] for axis in axes]
    total = across[0].algebra.zero
    for one in across:
        total = total + one * one
    return total, places


def subtree(robot: Robot, i: int) -> tuple[Robot, list[int]]:
    """(the robot made of link i and all beyond it, its first joint's axis the base's z; their places in `robot`)."""
    places = [i, *descendants([link.parent for link in robot.links])[i]]
    inertias = loaded_inertias(robot)
    links = []
    for k in places:
        link = robot.links[k]
        joint = link.joint if k != i else replace(link.joint, placement=Placement())
        parent = BASE if k == i else places.index(link.parent)
        links.append(replace(link, parent=parent, joint=joint, inertia=inertias[k]))
    bare = Robot(f"{robot.name} from {robot.joints[i].name}", tuple(links), gravity=robot.gravity)
    return bare, places


def unloaded(robot: Robot) -> Robot:
    """The robot without its payloads."""
    return replace(robot, payloads=())


def formula_extremes(model: Model, name: str, where: Workspace, *, gap: float = GAP, seconds: float = 20.0) -> Extremes:
    """The certified range of any entry of the equations: M12, b112, c21, g3."""
    entries = model.entries(model.parts)
    if name not in entries:
        raise UnknownEntry(f"there is no formula {name!r}; there are M11, M12, ..., b112, ..., c12, ..., g1, ...")
    return extremes(
        entries[name], where.box, gap=gap, parameters=model.numbers, effort=SearchLimits(seconds=seconds / 2)
    )
