"""How freely a mechanism with loops moves: the rank of its constraints at a generic point where the loops close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from emdeg.algebra import Array, PrimeField, Residue
from emdeg.algebra.linear import independent_rows
from emdeg.errors import ClosureError, RobotError
from emdeg.mechanics.loops.closure import Plan, solve
from emdeg.mechanics.loops.linkage import Linkage, constraints, linkage_of, loops_of, world_frames
from emdeg.mechanics.loops.newton import closed_by_newton, evaluated
from emdeg.mechanics.loops.reduction import constraint_jacobian
from emdeg.mechanics.mechanism import Position
from emdeg.robot import Robot

GAP = 1e-8
"""Singular values below this share of the largest count as zero."""
DRAWS = 64
"""Points tried modulo the prime: half of them fail at each square root."""


@dataclass(frozen=True, slots=True)
class Mobility:
    """`joints` of the tree, `equations` of the loops, how many of them are independent, and the freedoms left.

    `rows` are the independent equations; `redundant` names the loops that have dependent ones. `exact`: the rank
    was found modulo a prime at a point of the constraint variety, too, and not in doubles alone.
    """

    joints: int
    equations: int
    rank: int
    rows: tuple[int, ...]
    redundant: tuple[str, ...]
    exact: bool

    @property
    def freedoms(self) -> int:
        return self.joints - self.rank

    def __str__(self) -> str:
        text = f"{self.joints} joints, {self.equations} closure equations of rank {self.rank}: mobility {self.freedoms}"
        if self.redundant:
            text += f"; redundant equations in {', '.join(self.redundant)}"
        return text


def mobility(robot: Robot, link: Linkage, start: Array, plan: Plan | None) -> Mobility:
    """The rank at random places near the closed configuration `start`, in doubles and, with a plan, modulo a prime."""
    names, _, J = evaluated(link, _generic_places(link, start))
    weights = np.linalg.norm(J, axis=-1, keepdims=True)
    scaled = J / np.where(weights > 0, weights, 1.0)
    ranks = [int(np.linalg.matrix_rank(one, tol=GAP * max(1.0, np.linalg.norm(one, 2)))) for one in scaled]
    rank = max(ranks)
    rows = _independent_rows(scaled[int(np.argmax(ranks))], rank)
    exact = False
    if plan is not None:
        drawn = _residue_matrix(robot, plan)
        if drawn is not None:
            exact = len(independent_rows(*drawn)) == rank
    redundant = dict.fromkeys(name for i, name in enumerate(names) if i not in rows)
    return Mobility(link.n, len(names), rank, rows, tuple(redundant), exact)


def _generic_places(link: Linkage, start: Array) -> Array:
    rng = np.random.default_rng(0)
    places = []
    for reach in (0.1, 0.05, 0.02, 0.01, 0.005):
        try:
            places.append(closed_by_newton(link, start + reach * rng.uniform(-1, 1, start.shape), range(link.n)))
        except ClosureError:
            continue
    return np.array(places or [start])


def _independent_rows(J: Array, rank: int) -> tuple[int, ...]:
    """The first rows that raise the rank, each by more than rounding."""
    rows: list[int] = []
    basis = np.zeros((0, J.shape[1]))
    for i, row in enumerate(J):
        left = row - basis.T @ (basis @ row)
        left = left - basis.T @ (basis @ left)
        size = np.linalg.norm(left)
        if size > 10 * GAP and len(rows) < rank:
            rows.append(i)
            basis = np.vstack([basis, left / size])
    return tuple(rows)


def _residue_matrix(robot: Robot, plan: Plan) -> tuple[list[list[int]], int] | None:
    """(the constraints' Jacobian at a random point of their variety modulo a prime, the prime)."""
    found = _residue_position(robot, plan)
    if found is None:
        return None
    link, position, prime = found
    return [[cast(Residue, x).value for x in row] for row in constraint_jacobian(link, position)], prime


def closes_everywhere(robot: Robot, plan: Plan) -> bool:
    """Whether the steps close every loop at random places, with random numbers for the robot's symbols."""
    return _residue_position(robot, plan) is not None


def _residue_position(robot: Robot, plan: Plan) -> tuple[Linkage, list[Position], int] | None:
    """Every joint's position modulo a prime at a random place; None where the steps leave a loop open."""
    for _ in range(DRAWS):
        field = PrimeField.fresh()
        link = linkage_of(robot, field)
        try:
            known = field_coordinates(link, field)
            position = solve(link, plan, known, lambda value, _, field=field: field.sqrt(value))
        except ZeroDivisionError:
            continue
        if any(row.value for row in constraints(link, world_frames(link, position))):
            return None
        return link, position, field.prime
    return None


def field_coordinates(link: Linkage, field: PrimeField) -> Mapping[int, object]:
    """Random residues for the independent coordinates: numbered by their place among them, as a program's q is."""
    return {
        k: field.joint_sincos(i) if link.tree.revolute[k] else field.displacement(i)
        for i, k in enumerate(link.coordinates)
    }


def check(robot: Robot, link: Linkage, found: Mobility, start: Array) -> None:
    """RobotError unless coordinates and driven joints are as many as the freedoms and describe and hold them."""
    freedoms, names = found.freedoms, [joint.name for joint in robot.joints]
    loops = ", ".join(dict.fromkeys(x.name for x in (*link.bars, *link.meetings)))
    if freedoms == 0:
        raise RobotError(f"it is over-constrained: the loops {loops} leave no motion ({found})", body=robot.name)
    for what, joints in (("coordinates", link.coordinates), ("driven joints", link.driven)):
        if len(joints) == freedoms or (joints is link.driven and len(joints) > freedoms):
            continue  # motors more than the freedoms share the efforts
        named = ", ".join(names[k] for k in joints)
        side = "under" if len(joints) < freedoms else "over"
        hint = "close another loop or name more" if side == "under" else "name fewer or open a loop"
        raise RobotError(
            f"it is {side}-constrained: its mobility is {freedoms} but its {what} are {len(joints)} ({named}); "
            f"{hint} ({found})",
            body=robot.name,
        )
    shares = [share for share in loops_of(robot).allocation if share]
    if loops_of(robot).allocation and len(shares) < freedoms:
        raise RobotError(
            f"its allocation leaves {len(shares)} driven joints for {freedoms} freedoms: give more of them a share",
            body=robot.name,
        )
    _, _, J = evaluated(link, _generic_places(link, start))
    for what, others, joints in (
        ("coordinates", link.dependent, link.coordinates),
        ("driven joints", link.passive, link.driven),
    ):
        block = J[..., list(found.rows), :][..., list(others)]
        ranks = [int(np.linalg.matrix_rank(one, tol=GAP * max(1.0, float(np.linalg.norm(one, 2))))) for one in block]
        if max(ranks) < min(found.rank, len(others)):
            raise RobotError(
                f"its {what} ({', '.join(names[k] for k in joints)}) do not determine how it moves: choose others",
                body=robot.name,
            )
