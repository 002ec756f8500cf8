"""The Jacobian's determinant and its analytic inverse, where it is square.

With a spherical wrist the last three axes meet in one point. Taken there, the Jacobian is [[A, 0], [B, C]]: two 3 x 3
determinants and adjugates are enough. Otherwise the 6 x 6 adjugate is formed, its minors shared. Entries are in lowest
terms, the determinant in factors: each names the configurations in which the arm is singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import cast

from emdeg.algebra import Factored, Quotient, TrigPoly, in_half_angles, linear, lowest_terms
from emdeg.documents import Shown
from emdeg.dynamics import skew
from emdeg.equations.kinematics import FrameName, Kinematics, Matrix
from emdeg.errors import NotInvertible


@dataclass(frozen=True, slots=True)
class Wrist:
    """The Jacobian at the point where the last three axes meet: [[A, 0], [B, C]] in the axes of `frame`."""

    frame: FrameName
    point: int
    """The number of the link whose origin is the wrist point."""
    A: Matrix
    B: Matrix
    C: Matrix


@dataclass(frozen=True, slots=True, repr=False)
class InverseJacobian(Shown):
    """J^-1 with qd = J^-1 (v, omega), v of the tool's origin, axes of `frame`."""

    frame: FrameName
    rows: tuple[int, ...]
    """Which of v_x, v_y, v_z, omega_x, omega_y, omega_z (1-6) the columns belong to."""
    entries: tuple[tuple[Quotient, ...], ...]
    determinant: tuple[TrigPoly, ...]
    """The Jacobian's determinant as a product of factors: a number or none, then those at which the arm is singular."""
    wrist: Wrist | None = None


def determinant(kinematics: Kinematics, rows: Sequence[int] | None = None) -> tuple[TrigPoly, ...]:
    """The factors whose product is det J, a number (where it is not 1) before those that vary; with multiplicity."""
    return _factors(parts_of_determinant(kinematics, rows))


def parts_of_determinant(kinematics: Kinematics, rows: Sequence[int] | None = None) -> tuple[TrigPoly, ...]:
    """det J; with a spherical wrist the arm's determinant and the wrist's, whose product it is."""
    _check_square(kinematics, rows)
    if rows is None and (wrist := spherical_wrist(kinematics)) is not None:
        return linear.determinant(wrist.A), linear.determinant(wrist.C)
    frame = kinematics.simplest_frame() if rows is None else "base"  # some rows only: it depends on the axes
    return (linear.determinant(_square(kinematics, frame, rows)),)


def factors_of(formula: TrigPoly) -> Factored:
    """Its factors; where it is too long for that, itself."""
    try:
        return in_half_angles(formula.algebra).factored(formula)
    except OverflowError:
        return Factored(Fraction(1), ((formula, 1),))


def _factors(parts: Sequence[TrigPoly]) -> tuple[TrigPoly, ...]:
    found = [factors_of(part) for part in parts]
    number = prod((one.number for one in found), start=Fraction(1))
    several = [factor for one in found for factor, power in one.factors for _ in range(power)]
    first = [] if number == 1 and several else [parts[0].algebra.number(number)]
    return (*first, *several)


def inverse_jacobian(
    kinematics: Kinematics, frame: FrameName | None = None, rows: Sequence[int] | None = None
) -> InverseJacobian:
    """The inverse of the tool's Jacobian in the axes of `frame`, by default where it is shortest.

    `rows` picks as many of the six rows (1-6) as there are joints, for arms with fewer than six.
    """
    _check_square(kinematics, rows)
    wrist = spherical_wrist(kinematics, frame) if rows is None else None
    if wrist is not None:
        return _by_blocks(kinematics, wrist)
    if frame is None:
        frame = kinematics.simplest_frame() if rows is None else "base"
    J = _square(kinematics, frame, rows)
    adjugate, det = linear.adjugate(J)
    if not det:
        raise singular_everywhere(kinematics, rows)
    entries = tuple(tuple(lowest_terms(entry, det) for entry in row) for row in adjugate)
    return InverseJacobian(frame, tuple(rows or range(1, 7)), entries, _factors([det]))


def spherical_wrist(kinematics: Kinematics, frame: FrameName | None = None) -> Wrist | None:
    """The blocks of the Jacobian at the wrist point, or None if the last three axes do not meet in one point.

    In the axes of `frame`, by default of the one where the blocks are shortest.
    """
    n = kinematics.robot.n
    if n != 6 or not all(kinematics.mechanism.revolute[3:]):
        return None
    for point in (n - 1, n - 2, n):
        J = kinematics.jacobian("base", point)
        if not any(entry for row in J[:3] for entry in row[3:]):
            chosen = kinematics.simplest_frame(point) if frame is None else frame
            J = kinematics.jacobian(chosen, point)
            A, B, C = (
                tuple(row[columns] for row in J[part])
                for part, columns in (
                    (slice(0, 3), slice(0, 3)),
                    (slice(3, 6), slice(0, 3)),
                    (slice(3, 6), slice(3, 6)),
                )
            )
            return Wrist(chosen, point, A, B, C)
    return None


def _by_blocks(kinematics: Kinematics, wrist: Wrist) -> InverseJacobian:
    """[[A, 0], [B, C]]^-1 = [[A^-1, 0], [-C^-1 B A^-1, C^-1]], then from the wrist point to the tool's origin."""
    (adj_A, det_A), (adj_C, det_C) = linear.adjugate(wrist.A), linear.adjugate(wrist.C)
    if not det_A or not det_C:
        raise singular_everywhere(kinematics)
    lower = [[-entry for entry in row] for row in _product(_product(adj_C, wrist.B), adj_A)]
    # v_wrist = v_tool + r x omega with r from the wrist point to the tool.
    lever = cast(Matrix, skew(kinematics.lever(wrist.frame, wrist.point, "tool")))
    both = det_A * det_C
    entries = []
    for left, right in zip(adj_A, _product(adj_A, lever)):
        entries.append(tuple(lowest_terms(entry, det_A) for entry in (*left, *right)))
    for left, carried, own in zip(lower, _product(lower, lever), adj_C):
        right = [a + b * det_A for a, b in zip(carried, own)]
        entries.append(tuple(lowest_terms(entry, both) for entry in (*left, *right)))
    return InverseJacobian(wrist.frame, tuple(range(1, 7)), tuple(entries), _factors([det_A, det_C]), wrist)


def _check_square(kinematics: Kinematics, rows: Sequence[int] | None) -> None:
    n, name = kinematics.robot.n, kinematics.robot.name
    if rows is not None:
        if len(set(rows)) != len(rows) or not all(1 <= row <= 6 for row in rows):
            raise NotInvertible(f"rows must be different numbers from 1 to 6, not {tuple(rows)}")
        if len(rows) != n:
            raise NotInvertible(f"{name} has {n} joints and {len(rows)} rows were picked: pick {n}")
        return
    if n > 6:
        raise NotInvertible(
            f"{name} has {n} joints: it is redundant, its Jacobian is 6 x {n} and has no inverse. Lock "
            f"{'a joint' if n == 7 else f'{n - 6} joints'} (--lock JOINT=VALUE), or use a pseudo-inverse, "
            "numpy.linalg.pinv(emdeg.jacobian(robot, q))"
        )
    if n < 6:
        raise NotInvertible(
            f"{name} has {n} joints: its Jacobian is 6 x {n} and has no inverse. Pick {n} of its six rows "
            "(--rows 1,2,.., rows= of inverse_jacobian; 1-3 linear, 4-6 angular), or use a pseudo-inverse"
        )


def singular_everywhere(kinematics: Kinematics, rows: Sequence[int] | None = None) -> NotInvertible:
    """What to raise where the determinant is zero; says which rows would do."""
    hint = "is the tool on the last link (--tip)?"
    if rows is not None:
        J = kinematics.jacobian("base")
        some = (pick for pick in combinations(range(1, 7), len(rows)) if linear.determinant([J[k - 1] for k in pick]))
        if (others := next(some, None)) is not None:
            hint = f"rows {','.join(map(str, others))} have one (--rows)"
    which = "" if rows is None else f"its rows {','.join(map(str, rows))}, "
    name = kinematics.robot.name
    return NotInvertible(
        f"the Jacobian of {name} is singular in every configuration, {which}so it has no inverse; {hint}"
    )


def _square(kinematics: Kinematics, frame: FrameName, rows: Sequence[int] | None) -> Matrix:
    J = kinematics.jacobian(frame)
    return J if rows is None else tuple(J[row - 1] for row in rows)


def _product(A: Sequence[Sequence[TrigPoly]], B: Sequence[Sequence[TrigPoly]]) -> list[list[TrigPoly]]:
    algebra = A[0][0].algebra
    columns = list(zip(*B))
    return [[algebra.sum_of_products(zip(row, column)) for column in columns] for row in A]
