"""How freely a mechanism with loops moves: the rank of its constraints at a generic point where the loops close."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

import numpy as np

from emdeg.algebra import Array, Residue
from emdeg.algebra.linear import Matrix, eliminate, independent_rows
from emdeg.dynamics.spatial import Scalar
from emdeg.errors import ClosureError, RobotError
from emdeg.loops.analytic_closure import Plan
from emdeg.loops.levels import LevelStep, Tie
from emdeg.loops.linkage import Linkage, Pivots, loops_of
from emdeg.loops.newton import MORE_DIGITS, closed_by_newton, evaluated, row_sizes
from emdeg.loops.rational import places_modulo_a_prime
from emdeg.loops.reduction import constraint_jacobian
from emdeg.robot import Robot

GAP = 1e-8
"""Singular values below this share of the largest count as zero."""
ALMOST = 1e-3
"""Equations that are dependent up to this share may be so by sizes that were rounded."""
FADING = 1e-6
"""A closure equation whose derivatives are below this share of the mechanism's size does not count as a whole one."""


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
    pivots: Pivots | None = None

    @property
    def freedoms(self) -> int:
        return self.joints - self.rank

    def __str__(self) -> str:
        text = f"{self.joints} joints, {self.equations} closure equations of rank {self.rank}: mobility {self.freedoms}"
        if self.redundant:
            text += f"; redundant equations in {', '.join(self.redundant)}"
        return text


def mobility(robot: Robot, link: Linkage, start: Array, plan: Plan | None, special: bool = False) -> Mobility:
    """The rank at random places near the closed configuration `start`, in doubles and, with a plan, modulo a prime.

    Of a `special` geometry the pivots are looked for, too.
    """
    names, _, J = evaluated(link, generic_places(link, start))
    weights = np.linalg.norm(J, axis=-1, keepdims=True)
    # A row of rounding alone, such as what lies across the plane of a linkage that is tilted anyhow, stays small.
    scaled = J / np.maximum(weights, FADING * row_sizes(link)[:, None])
    ranks = [int(np.linalg.matrix_rank(one, tol=GAP * max(1.0, np.linalg.norm(one, 2)))) for one in scaled]
    rank = max(ranks)
    rows = _independent_rows(scaled[int(np.argmax(ranks))], rank)
    exact, pivots = False, None
    if plan is not None:
        for over, position, prime in islice(places_modulo_a_prime(robot, plan), 1):
            residues = [[cast(Residue, x).value for x in row] for row in constraint_jacobian(over, position)]
            exact = len(independent_rows(residues, prime)) == rank
            if exact and special:
                with suppress(ZeroDivisionError):
                    pivots = _pivots(over, constraint_jacobian(replace(over, rows=rows), position))
    redundant = dict.fromkeys(name for i, name in enumerate(names) if i not in rows)
    return Mobility(link.n, len(names), rank, rows, tuple(redundant), exact, pivots)


def is_special(plan: Plan | None) -> bool:
    """Whether a plan rests on what joints have in common: then entries of the equations may be zero unseen."""
    return plan is not None and any(isinstance(step, LevelStep | Tie) for step in plan)


def _pivots(link: Linkage, Phi: Matrix) -> Pivots:
    """The pivots that serve at a random place modulo a prime, where what is zero by the special geometry is zero."""
    nothing: list[list[Scalar]] = [[] for _ in Phi]
    dependent = eliminate([[cast(Residue, row[k]) for k in link.dependent] for row in Phi], nothing).places
    square = len(link.passive) == len(Phi)
    passive = [[cast(Residue, row[k]) for row in Phi] for k in link.passive]
    return Pivots(dependent, eliminate(passive, nothing).places if square else None)


def _if_rounded(link: Linkage, start: Array) -> str:
    """What to add where the equations are nearly dependent: words on digits, or nothing."""
    _, _, J = evaluated(link, start)
    J = J / np.maximum(np.linalg.norm(J, axis=-1, keepdims=True), FADING * row_sizes(link)[:, None])
    sizes = np.linalg.svd(J, compute_uv=False)
    if sizes[-1] > ALMOST * sizes[0]:
        return ""
    return f"; it all but moves (its equations are independent by {sizes[-1] / sizes[0]:.1g} only): {MORE_DIGITS}"


def generic_places(link: Linkage, start: Array) -> Array:
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


def check(robot: Robot, link: Linkage, found: Mobility, start: Array) -> None:
    """RobotError unless coordinates and driven joints are as many as the freedoms and describe and hold them."""
    freedoms, names = found.freedoms, [joint.name for joint in robot.joints]
    loops = ", ".join(dict.fromkeys(x.name for x in (*link.bars, *link.meetings)))
    if freedoms == 0:
        raise RobotError(
            f"it is over-constrained: the loops {loops} leave no motion ({found}){_if_rounded(link, start)}",
            body=robot.name,
        )
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
    _, _, J = evaluated(link, generic_places(link, start))
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
