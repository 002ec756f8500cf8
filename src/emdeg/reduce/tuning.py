"""The numbers of a short program, moved to where its errors are smallest.

What is left out of a program leaves an error that other numbers can take up in part: a moment that has lost a small
product of inertia is best a little larger, a mass point best moves onto its axis. To first order the errors are linear
in all numbers, so the best change is a least-squares fit, weighted to the errors' highest; a few such steps make a fit
of the largest error. It costs no operation. The numbers need not be those of any body.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from emdeg.programs import Kind, Op, OutputGroup, Program, Ref, constants

Errors = NDArray[np.float32]

MOST = 0.2
"""The largest part of itself by which a number moves in one step: what is linear is so for small changes."""
STIFFNESS = 0.1
"""What holds numbers where they are: one that moves by all of itself counts as that part of a limit at every state."""
FLOOR = np.float32(0.5)
"""Errors weigh by their size and that part of the largest: a state where the error is small may become a bad one."""
DIGITS = 8


def with_own_numbers(program: Program) -> Program:
    """The same program, every use of a number a number of its own."""
    known = constants(program)
    ops: list[Op] = []
    place: dict[int, int] = {}

    def put(op: Op) -> int:
        ops.append(op)
        return len(ops) - 1

    for index, op in enumerate(program.ops):
        if index in known:
            continue
        if op.kind in (Kind.SIN, Kind.COS):
            place[index] = put(Op(op.kind, tuple(place[arg] for arg in op.args)))
            continue
        args = [put(Op(Kind.NUMBER, payload=known[arg])) if arg in known else place[arg] for arg in op.args]
        place[index] = put(Op(op.kind, tuple(args), op.payload))
    groups = []
    for group in program.outputs:
        entries = []
        for ref in group.entries:
            at = put(Op(Kind.NUMBER, payload=known[ref.value])) if ref.sign and ref.value in known else None
            entries.append(Ref(place.get(ref.value, 0) if at is None else at, ref.sign))
        groups.append(OutputGroup(group.name, group.shape, tuple(entries)))
    return Program(program.name, program.inputs, tuple(ops), tuple(groups))


class Tuning:
    """Changes of a program's numbers, from its values, slopes and errors (over limits) at states."""

    def __init__(self, program: Program, slopes: NDArray[np.float32], error: Errors, power: int = 2) -> None:
        self.program = program
        ops = program.ops
        self.numbers = [
            index for index, op in enumerate(ops) if op.kind is Kind.NUMBER and slopes[index].any() and op.number
        ]
        sizes = np.array([float(ops[index].number) for index in self.numbers], np.float32)
        self.rows = (slopes[self.numbers] * sizes[:, None, None]).reshape(len(sizes), error.size)
        flat = error.reshape(-1)
        weights = (np.abs(flat) / max(float(np.abs(flat).max()), 1e-30) + FLOOR) ** power
        self.weighted = self.rows * (weights / max(weights.mean(), 1e-30))
        square = (self.weighted @ self.rows.T).astype(np.float64)
        square[np.diag_indices_from(square)] += STIFFNESS**2 * len(flat)
        self.factor = _factor(square)

    def changes(self, error: Errors) -> NDArray[np.float32]:
        """(errors, numbers): the relative changes of numbers that take up most of each of some errors."""
        if self.factor is None:
            return np.zeros((len(error), 0), np.float32)
        right = self.weighted @ error.reshape(len(error), -1).T
        from scipy.linalg import cho_solve  # half a second to import, and who writes C need not have it

        found = -cho_solve(self.factor, right.astype(np.float64)).T
        found /= np.maximum(1, np.abs(found).max(axis=1, keepdims=True) / MOST)
        return found.astype(np.float32)

    def absorbed(self, errors: Errors) -> Errors:
        """Some errors (..., outputs, states), to first order, after the numbers have taken up what they can."""
        if self.factor is None:
            return errors
        return np.asarray(errors + (self.changes(errors) @ self.rows).reshape(errors.shape), np.float32)

    def changed(self, error: Errors, share: float) -> Program:
        """The program with a share of the best change made."""
        each = self.changes(error[None])[0]
        ops = list(self.program.ops)
        for index, change in zip(self.numbers, each):
            number = float(ops[index].number) * (1 + share * float(change))
            ops[index] = Op(Kind.NUMBER, payload=Fraction(f"{number:.{DIGITS}g}"))
        return Program(self.program.name, self.program.inputs, tuple(ops), self.program.outputs)


def _factor(square: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool] | None:
    """Cholesky's factor; None where there is nothing to solve, or single precision leaves nothing that can be."""
    from scipy.linalg import cho_factor

    try:
        return cho_factor(square) if len(square) else None
    except ValueError:  # not definite or not finite: a limit of nearly nothing makes slopes too large for their digits
        return None
