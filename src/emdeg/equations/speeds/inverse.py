"""The kinematic equations solved for the rates: block by block, in formulas where a block is small.

A is permuted to block triangular form, so that a rate that is a speed costs nothing and one that follows from others
is found by substitution (q3-dot = u2 - c2 q1-dot in Kane and Levinson (10)). A block of up to three rates is inverted
by cofactors over its determinant, common factors cancelled; a larger one is eliminated in straight-line code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.algebra import PrimeField, Quotient, Residue, Scalar, TrigPoly
from emdeg.algebra.linear import (
    Elimination,
    adjugate,
    determinant,
    eliminate,
    first_dependent_row,
    triangular_blocks,
)
from emdeg.dynamics.kane import Setup, System
from emdeg.equations.speeds.matrix import (
    Matrix,
    SpeedAlgebra,
    SpeedSingularity,
    letter_values,
    singularities,
    speed_algebra,
    symbolic_speed_matrix,
)
from emdeg.errors import OverBudget, RobotError
from emdeg.robot import Robot

LARGEST_CLOSED = 3
"""Rates in a block that is inverted in closed form."""
MAX_TERMS = 300
"""Terms in such an inverse; beyond, elimination is cheaper."""
MAX_DETERMINANT = 8
"""Terms of a determinant by which cofactors are divided in closed form."""
MAX_SINES = 2
"""Sines in such a determinant: each doubles the work of finding the shortest quotient."""


@dataclass(frozen=True, slots=True)
class Block:
    """Speeds `rows` that determine the rates `columns`, once earlier blocks' rates are known."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    det: TrigPoly | None
    """None where it has more terms than the budget."""
    inverse: tuple[tuple[Quotient, ...], ...] | None
    """Columns x rows; None where the block is to be eliminated instead, pivots in the order of rows and columns."""


@dataclass(frozen=True, slots=True)
class SpeedInverse:
    """A, in block triangular form, ready to be solved in any algebra."""

    letters: SpeedAlgebra
    A: Matrix
    blocks: tuple[Block, ...]
    sign: int
    """Of the permutation to blocks: det A is this times the blocks' determinants."""

    @property
    def det(self) -> TrigPoly | None:
        """det A; None where it is too large to be written out."""
        product = self.letters.algebra.one * self.sign
        try:
            for block in self.blocks:
                if block.det is None:
                    return None
                product = product * block.det
        except OverBudget:
            return None
        return product

    @property
    def is_constant(self) -> bool:
        """Whether det A is a number, so that the speeds never fail."""
        return all(block.det is not None and block.det.is_number for block in self.blocks)

    @property
    def singular(self) -> tuple[SpeedSingularity, ...]:
        """Where the speeds do not determine the rates."""
        found: dict[TrigPoly, SpeedSingularity] = {}
        for block in self.blocks:
            for one in () if block.det is None else singularities(block.det, self.letters.names):
                found.setdefault(one.factor, one)
        return tuple(found.values())

    @property
    def matrix(self) -> tuple[tuple[Quotient, ...], ...]:
        """W = A^-1 (rates x speeds) in formulas; ValueError where a block is too large for that."""
        if any(block.inverse is None for block in self.blocks):
            raise ValueError("the kinematic equations are solved in straight-line code, not in closed form")
        algebra = self.letters.algebra
        W = Solver(self, Quotient, Quotient(algebra.zero), Quotient(algebra.one)).columns()
        return tuple(tuple(row) for row in W)


def speed_inverse(robot: Robot, setup: Setup, parameters: Sequence[str] = ()) -> SpeedInverse:
    """The kinematic equations of a setup, solved; RobotError if the speeds do not determine the rates."""
    of = speed_algebra(robot, setup, parameters)
    A = symbolic_speed_matrix(robot, setup, of)
    names = setup.names or tuple(f"u{i + 1}" for i in range(len(A)))
    field = PrimeField.fresh()
    values = [[entry.map(field.letter, field.number).value if entry else 0 for entry in row] for row in A]
    dependent = first_dependent_row(values, field.prime)
    if dependent is not None:
        row, others = dependent
        among = f"follows from {', '.join(names[i] for i in others)}" if others else "is no function of the rates"
        raise RobotError(
            f"the speeds do not determine the joints' rates in any configuration: {names[row]} {among}", body=robot.name
        )
    apart = triangular_blocks(A, lambda entry: (not entry.is_number, len(entry)))
    blocks = tuple(_block(A, values, field.prime, rows, columns) for rows, columns in apart)
    permutation = [c for _, c in sorted((r, c) for block in blocks for r, c in zip(block.rows, block.columns))]
    return SpeedInverse(of, A, blocks, _sign(permutation))


def _sign(permutation: list[int]) -> int:
    swaps = sum(a > b for i, a in enumerate(permutation) for b in permutation[i + 1 :])
    return -1 if swaps % 2 else 1


def _block(A: Matrix, values: list[list[int]], prime: int, rows: tuple[int, ...], columns: tuple[int, ...]) -> Block:
    inner = _part(A, rows, columns)
    if len(rows) <= LARGEST_CLOSED:
        det = determinant(inner)
        if _short(det):
            closed = _inverted(inner, det)
            if closed is not None:
                return Block(rows, columns, det, closed)
    residues = [[Residue(values[r][c], prime) for c in columns] for r in rows]
    pivots = eliminate(residues, [[] for _ in rows]).places
    rows, columns = tuple(rows[i] for i, _ in pivots), tuple(columns[j] for _, j in pivots)
    try:
        return Block(rows, columns, determinant(_part(A, rows, columns)), None)
    except OverBudget:
        return Block(rows, columns, None, None)


def _short(det: TrigPoly) -> bool:
    """Whether formulas may be divided by it: a product of letters, or a sum of a few terms in few sines."""
    sines = sum(g.kind == "sine" for g in det.generators)
    return len(det) == 1 or (len(det) <= MAX_DETERMINANT and sines <= MAX_SINES)


def _part(A: Matrix, rows: tuple[int, ...], columns: tuple[int, ...]) -> Matrix:
    return tuple(tuple(A[r][c] for c in columns) for r in rows)


def _inverted(A: Matrix, det: TrigPoly) -> tuple[tuple[Quotient, ...], ...] | None:
    """The inverse by cofactors; None where it is too long."""
    cofactors, _ = adjugate(A)
    if len(A) > 1 and sum(len(entry) for row in cofactors for entry in row) > MAX_TERMS:
        return None
    return tuple(tuple(Quotient(entry, det) for entry in row) for row in cofactors)


class Solver:
    """The kinematic equations among any scalars: A, and A^-1 applied to whatever is asked for."""

    def __init__(
        self,
        kinematics: SpeedInverse,
        write: Callable[[TrigPoly], Scalar | Quotient],
        zero: Scalar | Quotient,
        one: Scalar | Quotient,
    ) -> None:
        """`write` makes a formula of the configuration a scalar, or a quotient, which meets its own kind alone."""
        self.kinematics = kinematics
        self.zero, self.one = zero, one
        self._known: dict[TrigPoly, Scalar | Quotient] = {}
        self._write = write
        self.A: list[list[Any]] = [[self._value(entry) if entry else zero for entry in row] for row in kinematics.A]

    def _value(self, formula: TrigPoly) -> Any:
        if formula not in self._known:
            self._known[formula] = self._write(formula)
        return self._known[formula]

    @property
    def det(self) -> Any:
        """det A, written as the product of the blocks' determinants; of pivots where a block is eliminated."""
        product = self.one if self.kinematics.sign > 0 else -self.one
        for block in self.kinematics.blocks:
            if block.inverse is not None and block.det is not None:
                product = product * self._value(block.det)
                continue
            for pivot in self._eliminated(block, [self.zero] * len(block.rows)).pivots:
                product = product * pivot
        return product

    def rates(self, right: Sequence[Any]) -> list[Any]:
        """x with A x = right, one entry a free joint."""
        x: list[Any] = [self.zero] * len(self.A)
        for block in self.kinematics.blocks:
            local = []
            for r in block.rows:
                value = right[r]
                for c in range(len(x)):
                    if c not in block.columns and self.kinematics.A[r][c]:
                        value = value - self.A[r][c] * x[c]
                local.append(value)
            if block.inverse is None:
                found = [value for (value,) in self._eliminated(block, local).X]
            else:
                found = [self._combined(row, local) for row in block.inverse]
            for c, value in zip(block.columns, found):
                x[c] = value
        return x

    def _combined(self, row: Sequence[Quotient], values: Sequence[Any]) -> Any:
        """The sum of ratio * value, what has one denominator divided once."""
        groups: dict[TrigPoly, Any] = {}
        for ratio, value in zip(row, values):
            if ratio and value is not self.zero:
                term = self._value(ratio.numerator) * value
                known = groups.get(ratio.denominator)
                groups[ratio.denominator] = term if known is None else known + term
        total = self.zero
        for denominator, value in groups.items():
            total = total + (value if denominator == 1 else value * self._inverse(denominator))
        return total

    def _inverse(self, denominator: TrigPoly) -> Any:
        return self.one / self._value(denominator)

    def _eliminated(self, block: Block, right: list[Any]) -> Elimination:
        """Its pivots as `Block` has them, in order; zero is what the formulas say is zero."""
        formulas = self.kinematics.A
        A = [[self.A[r][c] for c in block.columns] for r in block.rows]
        pattern = [[bool(formulas[r][c]) for c in block.columns] for r in block.rows]
        diagonal = [(k, k) for k in range(len(A))]
        return eliminate(A, [[value] for value in right], diagonal, pattern)

    def columns(self) -> list[list[Any]]:
        """W = A^-1 (rates x speeds)."""
        n = len(self.A)
        found = [self.rates([self.one if i == r else self.zero for i in range(n)]) for r in range(n)]
        return [[found[r][k] for r in range(n)] for k in range(n)]


def solver(kinematics: SpeedInverse, sys: System) -> Solver:
    """The kinematic equations among the scalars of one system."""
    letter, number = letter_values(kinematics.letters, sys), sys.mech.algebra.number
    return Solver(kinematics, lambda formula: formula.map(letter, number), sys.mech.zero, sys.mech.one)
