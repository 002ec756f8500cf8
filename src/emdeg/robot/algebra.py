"""The algebra of a robot: which letters its formulas are written in, and its states among them."""

from __future__ import annotations

from typing import Any

from emdeg.algebra import DEFAULT_MAX_TERMS, Angle, JointAlgebra, RationalAngles, TrigAlgebra
from emdeg.errors import RobotError
from emdeg.robot.model import Robot, values


def algebra_of(
    robot: Robot,
    *,
    joints: bool = True,
    rates: bool = False,
    rational_angles: bool = False,
    budget: int = DEFAULT_MAX_TERMS,
) -> TrigAlgebra:
    """The trigonometric polynomials of `robot`: joints numbered from 1, its symbols, its constant angles.

    A link's symbols stand in the order of its geometry, inertia and drive; then come payloads and gravity. With
    `rates` the letters qd1, qdd1, ... exist too; without `joints` nothing moves, and symbols are in the alphabet's
    order; with `rational_angles` numeric constant angles are no letters. No formula may have more than `budget` terms.
    """
    names: dict[str, None] = {}
    angles: dict[Angle, None] = {}
    for value in values(robot):
        if isinstance(value, Angle):
            if value.symbol is not None or not rational_angles:
                angles[value] = None
        else:
            names.update(dict.fromkeys(sorted(value.symbols)))
    kinds = {i: joint.kind for i, joint in enumerate(robot.joints, 1) if joints}
    try:
        return (RationalAngles if rational_angles else TrigAlgebra)(
            revolute=[i for i, kind in kinds.items() if kind == "revolute"],
            prismatic=[i for i, kind in kinds.items() if kind != "revolute"],
            parameters=names if joints else sorted(names),
            constant_angles=angles,
            rates=rates,
            max_terms=budget,
        )
    except ValueError as problem:
        raise RobotError(str(problem), body=robot.name) from None


def positions(robot: Robot, algebra: JointAlgebra, of: str = "") -> list[Any]:
    """Every joint's (sine, cosine) or displacement, as the mechanics wants them; `of` names one state among several."""
    return [
        algebra.joint_sincos(name) if joint.kind == "revolute" else algebra.displacement(name)
        for name, joint in zip(_names(robot, of), robot.joints)
    ]


def state(robot: Robot, algebra: JointAlgebra, of: str = "") -> tuple[list[Any], list[Any], list[Any]]:
    """(positions, qd, qdd) as the algebra's letters."""
    names = _names(robot, of)
    rates, accelerations = [algebra.rate(name) for name in names], [algebra.acceleration(name) for name in names]
    return positions(robot, algebra, of), rates, accelerations


def _names(robot: Robot, of: str) -> list[int | str]:
    return [f"{i}{of}" if of else i for i in range(1, robot.n + 1)]
