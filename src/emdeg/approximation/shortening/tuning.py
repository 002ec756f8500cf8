"""The numbers of an approximate program, moved to where its errors are smallest.

What is left out of a program leaves an error that other numbers can take up in part: a moment that has lost a small
product of inertia is best a little larger, a mass point best moves onto its axis. To first order the errors are linear
in all numbers, so the best change is a least-squares fit, weighted to the errors' highest; a few such steps make a fit
of the largest error. It costs no operation. The numbers need not be those of any body.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.approximation.shortening.tape import Tape
from emdeg.programs import Kind, Op, OutputGroup, Program, Ref, constants

Errors = NDArray[np.float32]

MOST = 0.2
"""The largest part of itself by which a number moves in one step: what is linear is so for small changes."""
STIFFNESS = 0.1
"""What holds numbers where they are: one that moves by all of itself counts as that part of a limit at every state."""
FLOOR = np.float32(0.5)
"""Errors weigh by their size and that part of the largest: a state where the error is small may become a bad one."""


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
    """Changes of a program's numbers, from slopes and errors (over limits) at states; `sizes`: what they are now."""

    def __init__(
        self, tape: Tape, slopes: NDArray[np.float32], error: Errors, sizes: Array | None = None, power: int = 2
    ) -> None:
        self.place = {index: place for place, index in enumerate(tape.numbers)}
        self.sizes = tape.sizes if sizes is None else sizes
        self.rows = slopes[tape.numbers].reshape(len(self.sizes), error.size)
        self.rows *= self.sizes[:, None].astype(np.float32)
        flat = error.reshape(-1)
        weights = (np.abs(flat) / max(float(np.abs(flat).max()), 1e-30) + FLOOR) ** power
        self.weighted = self.rows * (weights / max(weights.mean(), 1e-30))
        square = (self.weighted @ self.rows.T).astype(np.float64)
        square[np.diag_indices_from(square)] += STIFFNESS**2 * len(flat)
        self.inverse = _inverse(square)

    def changes(self, errors: Errors, gone: Sequence[Iterable[int]] = ()) -> NDArray[np.float32]:
        """(errors, numbers): the relative changes of numbers that take up most of each of some errors.

        `gone`: for each of the errors the values that the program no longer has, numbers among them: these take up
        nothing.
        """
        if self.inverse is None:
            return np.zeros((len(errors), len(self.sizes)), np.float32)
        found = -(self.weighted @ errors.reshape(len(errors), -1).T).T.astype(np.float64) @ self.inverse
        for change, values in zip(found, gone):
            without = [self.place[index] for index in values if index in self.place]
            if without:
                rows = self.inverse[without]
                change -= np.linalg.solve(rows[:, without], change[without]) @ rows
                change[without] = 0.0
        found /= np.maximum(1, np.abs(found).max(axis=1, keepdims=True, initial=0.0) / MOST)
        return found.astype(np.float32)

    def absorbed(self, errors: Errors, gone: Sequence[Iterable[int]] = ()) -> Errors:
        """Some errors (..., outputs, states), to first order, after the numbers have taken up what they can."""
        if self.inverse is None:
            return errors
        return np.asarray(errors + (self.changes(errors, gone) @ self.rows).reshape(errors.shape), np.float32)

    def moved(self, error: Errors, gone: Iterable[int] = ()) -> Array:
        """The numbers after the best change for an error."""
        return self.sizes * (1 + self.changes(error[None], [gone])[0].astype(np.float64))


def _inverse(square: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Of a positive definite matrix; None where there is nothing, or single precision leaves nothing to be solved."""
    from scipy.linalg import cho_factor, cho_solve  # half a second to import, and who writes C need not have it

    try:
        return cho_solve(cho_factor(square), np.eye(len(square))) if len(square) else None
    except ValueError:  # not definite or not finite: a limit of nearly nothing makes slopes too large for their digits
        return None
