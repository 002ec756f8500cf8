"""The algebra of a robot: which letters its formulas are written in."""

from __future__ import annotations

from collections.abc import Iterator

from emdeg.algebra import Angle, Exact, TrigAlgebra, TrigPoly
from emdeg.algebra.budget import DEFAULT_MAX_TERMS
from emdeg.errors import RobotError
from emdeg.robot import Robot
from emdeg.robot.loops import values as loop_values

SHORT = 10**10
"""The largest denominator of the tangent of half a constant angle; its error is below one over the square."""


class _RationalAngles(TrigAlgebra):
    """Constant angles have numbers for sine and cosine: the nearest of the circle's points with short fractions."""

    def sincos(self, angle: Angle) -> tuple[TrigPoly, TrigPoly]:
        if angle.symbol is not None or angle.quarter_turns is not None:
            return super().sincos(angle)
        quarters, rest = angle.split()
        s, c = rest.sincos()
        half = (s / (1 + c)).limit_denominator(SHORT)  # tan(rest / 2)
        s, c = 2 * half / (1 + half * half), (1 - half * half) / (1 + half * half)
        turned = ((s, c), (c, -s), (-s, -c), (-c, s))[quarters]
        return self.number(turned[0]), self.number(turned[1])


def letters(
    robot: Robot, *, rates: bool = False, rational_angles: bool = False, budget: int = DEFAULT_MAX_TERMS
) -> TrigAlgebra:
    """The trigonometric polynomials of `robot`: joints numbered from 1, its symbols, its constant angles.

    A link's symbols stand in the order of its geometry, inertia and drive; then come payloads and gravity. With
    `rates` the letters qd1, qdd1, ... exist too; with `rational_angles` numeric constant angles are no letters. No
    formula may have more than `budget` terms.
    """
    names: dict[str, None] = {}
    angles: dict[Angle, None] = {}
    for value in values(robot):
        if isinstance(value, Angle):
            if value.symbol is not None or not rational_angles:
                angles[value] = None
        else:
            names.update(dict.fromkeys(sorted(value.symbols)))
    try:
        return (_RationalAngles if rational_angles else TrigAlgebra)(
            revolute=[i for i, joint in enumerate(robot.joints, 1) if joint.kind == "revolute"],
            prismatic=[i for i, joint in enumerate(robot.joints, 1) if joint.kind != "revolute"],
            parameters=names,
            constant_angles=angles,
            rates=rates,
            max_terms=budget,
        )
    except ValueError as problem:
        raise RobotError(str(problem), body=robot.name) from None


def values(robot: Robot) -> Iterator[Exact | Angle]:
    """Every value the equations of motion and the kinematics depend on, base to tip."""
    yield from (*robot.base.xyz, *robot.base.rpy)
    for link in robot.links:
        place = link.joint.placement
        yield from (place.gamma, place.b, place.alpha, place.a, place.beta, place.theta, place.d)
        yield from (link.inertia.mass, *link.inertia.first_moment, *link.inertia.tensor)
        yield link.joint.drive.inertia
    yield from (*robot.tool.pose.xyz, *robot.tool.pose.rpy)
    carriers = {frame.name: frame for frame in robot.frames}
    for payload in robot.payloads:
        yield from carriers[payload.link].pose.xyz
        yield from (payload.mass, *payload.com, *payload.tensor)
    yield from robot.gravity
    if robot.loops is not None:
        yield from loop_values(robot.loops)


def positions(robot: Robot, algebra: TrigAlgebra) -> list[TrigPoly | tuple[TrigPoly, TrigPoly]]:
    """Every joint's (sine, cosine) or displacement, as the mechanics wants them."""
    return [
        algebra.joint_sincos(i) if joint.kind == "revolute" else algebra.displacement(i)
        for i, joint in enumerate(robot.joints, 1)
    ]


def with_rates(algebra: TrigAlgebra) -> TrigAlgebra:
    """The same letters and the joints' rates and accelerations besides."""
    return TrigAlgebra(
        algebra.revolute,
        algebra.prismatic,
        algebra.parameters,
        algebra.constant_angles,
        rates=True,
        max_terms=algebra.max_terms,
    )


def lifted(formula: TrigPoly, algebra: TrigAlgebra) -> TrigPoly:
    """`formula` in an algebra that has all its letters."""
    return algebra.from_terms(formula.terms())
