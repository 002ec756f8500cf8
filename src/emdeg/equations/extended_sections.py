"""Burdick's extended bodies in print: U, K and I_ij in his letters, each in those before it; M from them.

His three recursions differ in how they reach the dyadics I_ij off the diagonal (19): each from extended body j, across
a row from the tip inwards, or down a column from the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

from emdeg.algebra import TrigAlgebra, TrigPoly
from emdeg.documents import Equation, Item, Label, MatrixEquation, Paragraph, Section
from emdeg.dynamics import frames, mechanism_of, symbolic_positions
from emdeg.dynamics.formulations import Extended, Scheme, dyadic_entry, dyadics, extended_bodies
from emdeg.equations.kinematic_sections import Choice
from emdeg.equations.model import Model
from emdeg.equations.reading import own_letter

AXES = "xyz"
WAYS: dict[Scheme, str] = {
    "diagonal": "each from extended body j: I_ij = I_jj less a product of L_ij and U_j (19, third line)",
    "across": "across a row, from the tip inwards (19, second line; 21, first line)",
    "down": "down a column, from the diagonal (19, fourth line; 21, second line)",
}


class _Names:
    """Letters for what has been computed: a formula of several terms gets one, what is shorter stays."""

    def __init__(self, model: Model) -> None:
        n, own = model.n, model.algebra
        joints = range(1, n + 1)
        self.apart = "_" if n > 9 else ""
        vectors = [f"{j}{a}" for j in joints for a in AXES]
        tensors = [f"{j}{a}{b}" for j in joints for a in AXES for b in AXES]
        pairs = [f"{i}{self.apart}{j}{a}{b}" for j in joints for i in range(1, j + 1) for a in AXES for b in AXES]
        parts = {"U": vectors, "K": tensors, "I": pairs}
        self.letter = {key: own_letter(key, numbers, own.parameters) for key, numbers in parts.items()}
        self.algebra = TrigAlgebra(
            own.revolute,
            own.prismatic,
            (*own.parameters, *(self.letter[key] + number for key, numbers in parts.items() for number in numbers)),
            own.constant_angles,
            max_terms=own.max_terms,
        )

    def entry(self, key: str, number: str, value: TrigPoly) -> TrigPoly:
        return value if len(value) < 2 else self.algebra.symbol(self.letter[key] + number)

    def vector(self, key: str, j: int, value: Sequence[TrigPoly]) -> tuple[TrigPoly, ...]:
        return tuple(self.entry(key, f"{j + 1}{a}", v) for a, v in zip(AXES, value))

    def matrix(self, key: str, of: str, rows: Sequence[Sequence[TrigPoly]]) -> tuple[tuple[TrigPoly, ...], ...]:
        """One name for two entries that are equal, as of a symmetric tensor."""
        known: dict[TrigPoly, TrigPoly] = {}
        return tuple(
            tuple(known.setdefault(v, self.entry(key, f"{of}{AXES[a]}{AXES[b]}", v)) for b, v in enumerate(row))
            for a, row in enumerate(rows)
        )


def extended(model: Model, choice: Choice) -> Section:
    """U_j, K_j and I_ij of every extended body, by the recursion that was chosen, and M from them."""
    scheme = cast(Scheme, choice.scheme)
    names = _Names(model)
    mech = mechanism_of(model.robot, names.algebra)
    items: list[Item] = []

    def shown(letter: str, number: str, rows: Sequence[Sequence[TrigPoly]]) -> None:
        items.append(MatrixEquation(Label(names.letter[letter], number), tuple(map(tuple, rows))))

    def named_body(j: int, body: Extended) -> Extended:
        shown("U", f"{j + 1}", [[value] for value in cast(Sequence[TrigPoly], body.U)])
        K, inertia = (cast(Sequence[Sequence[TrigPoly]], rows) for rows in (body.K, body.I))
        number = f"{j + 1}{names.apart}{j + 1}"
        if j < model.n - 1:
            shown("K", f"{j + 1}", K)
        shown("I", number, inertia)
        return replace(
            body,
            U=names.vector("U", j, cast(Sequence[TrigPoly], body.U)),
            K=names.matrix("K", f"{j + 1}", K),
            I=names.matrix("I", number, inertia),
        )

    def named_dyadic(i: int, j: int, rows: Sequence[Sequence[TrigPoly]]) -> tuple[tuple[TrigPoly, ...], ...]:
        number = f"{i + 1}{names.apart}{j + 1}"
        if i == j and mech.revolute[j]:  # I_jj stands with its body
            return names.matrix("I", number, rows) if scheme == "across" else tuple(map(tuple, rows))
        shown("I", number, rows)
        return names.matrix("I", number, rows)

    chain = extended_bodies(mech, frames(mech, symbolic_positions(mech, names.algebra)), named_body)
    found = dyadics(chain, scheme, named_dyadic)  # type: ignore[arg-type]
    for i, j in sorted(found):
        value = dyadic_entry(chain, found[i, j], i, j)
        drive = mech.drive[i] if i == j else mech.zero
        items.append(Equation(Label("M", f"{i + 1}{names.apart}{j + 1}"), cast(TrigPoly, value + drive)))
    U, K, I = (names.letter[key] for key in "UKI")
    head = Paragraph(
        f"From the tip inwards, in link j's frame: {U}j is the first moment of link j and all beyond it, {K}j the part "
        f"of {I}jj that no joint beyond j moves. {I}ij, i < j, {WAYS[scheme]}. {U}3x is the first entry of {U}3, "
        f"{I}23xy that of {I}23 in row x and column y. --scheme takes {', '.join(get_args(Scheme))}."
    )
    return Section("extended", f"Extended bodies after Burdick: {U}, {K}, {I}, M", (head, *items))
