"""Ratios of terms: coupling against own inertia, gravity against inertia, velocity terms against both.

Bejczy's R and K (JPL TM 33-669, eqs. 104-107 and 133-136) for any robot: M_ij/M_ii says what an acceleration of
joint j costs at joint i beside joint i's own; g_i/M_ii is the acceleration whose inertia torque equals gravity's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from emdeg.algebra import Array, Generator, TrigPoly
from emdeg.analysis.extremes import gravity_strength, moment_square, subtree
from emdeg.bounds import Bounded, SearchLimits, largest_ratio
from emdeg.documents import Shown
from emdeg.equations import Model, derive, entry_name
from emdeg.errors import UnknownEntry
from emdeg.robot import Range, Workspace


@dataclass(frozen=True)
class Ratio(Shown):
    """|above / below| as formulas, `below` positive; `unit` is the ratio's own."""

    name: str
    above: TrigPoly
    below: TrigPoly
    unit: str

    def values(self, q: Array, parameters: Mapping[str, float] | None = None) -> Array:
        """|above / below| at q (..., n)."""
        numbers = dict(parameters or {})
        return np.abs(self.above.evaluate(q, parameters=numbers) / self.below.evaluate(q, parameters=numbers))


def ratio(model: Model, above: str, below: str, *, drives: bool = True) -> Ratio:
    """The ratio of two entries of the equations by their names: M12 over M11, g2 over M22, c21 over M22."""
    entries = model.entries(model.parts, drives=drives)
    for name in (above, below):
        if name not in entries:
            raise UnknownEntry(f"the equations have no entry {name!r}")
    return Ratio(f"{above}/{below}", entries[above], entries[below], _unit(model, above, below))


def coupling_ratios(model: Model) -> list[Ratio]:
    """|M_ij / M_ii| for every pair of joints that are coupled."""
    pairs = [(i, j) for i in range(1, model.n + 1) for j in range(1, model.n + 1) if i != j]
    return [
        ratio(model, entry_name("M", *sorted((i, j))), entry_name("M", i, i)) for i, j in pairs if model.M[i - 1][j - 1]
    ]


def gravity_ratios(model: Model) -> list[Ratio]:
    """|g_i / M_ii| for every joint that gravity loads."""
    return [ratio(model, entry_name("g", i), entry_name("M", i, i)) for i in range(1, model.n + 1) if model.g[i - 1]]


def against_gravity(model: Model, term: str, i: int, load: float) -> Ratio:
    """|term| at unit speeds over the joint's largest gravity load, i from 1: the load itself passes through zero."""
    entries = model.entries(["b", "c"])
    return Ratio(f"{term}/g{i}max", entries[term], model.algebra.number(Fraction(load)), "1")


def positive(one: Ratio, where: Workspace, parameters: Mapping[str, float] | None = None) -> Ratio | None:
    """The ratio with a denominator that is positive on random configurations; None if it passes through zero there."""
    below = np.asarray(one.below.evaluate(where.sample(512, seed=13), parameters=dict(parameters or {})))
    if below.min() > 0:
        return one
    return replace(one, below=-one.below) if below.max() < 0 else None


def largest_of(
    one: Ratio,
    where: Workspace,
    *,
    gap: float = 1e-3,
    seconds: float = 10.0,
    floor: float | None = None,
    ceiling: float = math.inf,
    parameters: Mapping[str, float] | None = None,
) -> Bounded:
    """The ratio's largest value over the workspace, certified; `floor` and `ceiling` if they are known."""
    return largest_ratio(
        one.above,
        one.below,
        where.box,
        gap=gap,
        effort=SearchLimits(seconds=seconds / 2),
        floor=floor,
        ceiling=ceiling,
        parameters=parameters,
    )


def gravity_ratio_ceiling(
    model: Model, i: int, where: Workspace, floor: float, *, gap: float = 1e-3, seconds: float = 4.0
) -> float:
    """An upper bound of |g_i / M_ii|, i from 1, wherever gravity points; exact if the inner joints can turn to it.

    `floor` is a positive lower bound of M_ii.

    Both the first moment across the axis and M_ii depend on the outer joints alone, which makes the search small.
    """
    robot = model.robot
    weight = gravity_strength(robot) ** 2
    moment, places = moment_square(robot, i - 1)
    box: dict[Generator | int, Range] = {place: where.ranges[k] for place, k in enumerate(places, 1)}
    # The same M_ii, in the outer joints' own numbering.
    own = derive(subtree(robot, i - 1)[0], "M", rational_angles=True).M[0][0]
    found = largest_ratio(moment, own * own, box, gap=gap, effort=SearchLimits(seconds=seconds / 2), floor=floor**2)
    return math.sqrt(weight * found.bound) * (1 + 1e-12)


@dataclass(frozen=True)
class Curves(Shown):
    """A ratio along one joint, for some values of another; `values` is (len(family), len(x))."""

    ratio: Ratio
    joint: int
    x: Array
    family_joint: int | None
    family: Array
    values: Array


def curves(
    one: Ratio,
    where: Workspace,
    joint: int,
    family_joint: int | None = None,
    family: Sequence[float] = (),
    *,
    ends: tuple[float, float] | None = None,
    at: Mapping[int, float] | None = None,
    points: int = 181,
) -> Curves:
    """The ratio along joint number `joint`, the others at `at` (zero, or the range's middle where zero is outside)."""
    low, high = ends or where.ranges[joint - 1]
    x = np.linspace(low, high, points)
    q0 = rest(where, at)
    values = []
    for member in family if family_joint else (None,):
        q = np.tile(q0, (points, 1))
        q[:, joint - 1] = x
        if family_joint and member is not None:
            q[:, family_joint - 1] = member
        values.append(one.values(q))
    return Curves(one, joint, x, family_joint, np.array(list(family), dtype=float), np.array(values))


@dataclass(frozen=True)
class RatioMap(Shown):
    """A ratio over two joints; `values` is (len(y), len(x))."""

    ratio: Ratio
    joints: tuple[int, int]
    x: Array
    y: Array
    values: Array


def ratio_map(
    one: Ratio, where: Workspace, joints: tuple[int, int], *, at: Mapping[int, float] | None = None, points: int = 91
) -> RatioMap:
    """The ratio over the ranges of two joints, the others at `at`."""
    x, y = (np.linspace(*where.ranges[j - 1], points) for j in joints)
    q = np.tile(rest(where, at), (points, points, 1))
    q[..., joints[0] - 1] = x[None, :]
    q[..., joints[1] - 1] = y[:, None]
    return RatioMap(one, joints, x, y, one.values(q))


def rest(where: Workspace, at: Mapping[int, float] | None = None) -> Array:
    """A configuration: zero where that is within the range, else the range's middle; `at` replaces joints."""
    q = np.array([0.0 if low <= 0 <= high else 0.5 * (low + high) for low, high in where.ranges])
    for joint, value in (at or {}).items():
        q[joint - 1] = value
    return q


def most_influential(one: Ratio, where: Workspace, count: int = 2) -> list[int]:
    """The joints that change the ratio most, the largest effect first, on random configurations."""
    q = where.sample(64, seed=7)
    effect = {}
    letters = {g.of for formula in (one.above, one.below) for g in formula.generators if isinstance(g.of, int)}
    for joint in sorted(letters):
        sweep = np.repeat(q[:, None, :], 17, axis=1)
        sweep[..., joint - 1] = np.linspace(*where.ranges[joint - 1], 17)
        effect[joint] = float(np.ptp(one.values(sweep), axis=1).mean())
    return sorted(effect, key=lambda j: -effect[j])[:count]


def _unit(model: Model, above: str, below: str) -> str:
    """The unit of above/below, from the joints' kinds."""
    kinds = [joint.kind for joint in model.robot.joints]

    def places(name: str) -> list[int]:
        digits = name[1:].strip("_")
        return [int(part) for part in (digits.split("_") if "_" in digits else digits)]

    if below[0] != "M":
        k = kinds[places(below)[0] - 1]
        if above[0] == "M":
            (j,) = [p for p in places(above) if p != places(below)[0]] or [places(below)[0]]
            return "s²/rad" if kinds[j - 1] == "revolute" else "s²/m"
        i = kinds[places(above)[0] - 1]
        return "1" if i == k else "m" if i == "revolute" else "1/m"
    if above[0] == "g":
        return "rad/s²" if kinds[places(above)[0] - 1] == "revolute" else "m/s²"
    if above[0] == "M":
        i = places(below)[0]
        if below != entry_name("M", i, i) or i not in places(above):
            turning = [sum(kinds[p - 1] == "revolute" for p in places(name)) for name in (above, below)]
            return {0: "1", 1: "m", 2: "m²", -1: "1/m", -2: "1/m²"}[turning[0] - turning[1]]
        (j,) = [p for p in places(above) if p != i] or [i]
        pair = kinds[i - 1], kinds[j - 1]
        return {("revolute", "prismatic"): "rad/m", ("prismatic", "revolute"): "m/rad"}.get(pair, "1")  # type: ignore[arg-type]
    # A velocity term at unit speeds.
    return "rad/s²" if kinds[places(below)[0] - 1] == "revolute" else "m/s²"
