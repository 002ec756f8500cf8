"""A model cut into its smallest summands: number * product of sines, cosines and displacements, as printed.

A piece has a size over the box and a mean; dropping it leaves its mean behind where that helps (Bejczy's merging of
near-equal moments: a s^2 + b c^2 is about (a + b) / 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from emdeg.algebra import TrigPoly
from emdeg.equations.lumped import indices
from emdeg.equations.nesting import Key, terms_of
from emdeg.equations.waves import Layout, Writer
from emdeg.reduce.short_model import FullModel


@dataclass(frozen=True)
class Piece:
    """One summand of an entry: `function` times the constant's value."""

    entry: str
    constant: str
    function: TrigPoly
    value: Fraction

    @property
    def formula(self) -> TrigPoly:
        return self.function * self.value

    @property
    def rows(self) -> tuple[int, ...]:
        """The joints whose efforts it contributes to."""
        letter, of = indices(self.entry)
        return tuple(sorted(set(of))) if letter == "M" else of[:1]


def pieces(full: FullModel) -> list[Piece]:
    """All pieces of a model, entries in order; squares as sines or cosines, whichever makes fewer terms."""
    writer = Writer(Layout(full.lumped.algebra), full.lumped.groups)
    known: dict[TrigPoly, list[TrigPoly]] = {}
    found = []
    for entry, terms in full.lumped.expansions.items():
        for constant, function in terms:
            if function not in known:
                known[function] = _parts(function, writer)
            found += [Piece(entry, constant, part, full.values[constant]) for part in known[function]]
    return found


def _parts(function: TrigPoly, writer: Writer) -> list[TrigPoly]:
    forms = sorted(writer.forms(writer.views(function)), key=lambda form: form.size)
    algebra = function.algebra
    parts = [_product(algebra, key, c) for key, c in terms_of(forms[0], algebra.prismatic).items()]
    if sum(parts, algebra.zero) != function:
        raise ArithmeticError("a function's terms do not add up to it")
    return parts


def _product(algebra, key: Key, coefficient: Fraction) -> TrigPoly:
    product = algebra.one * coefficient
    for atom in key:
        if atom.kind == "q":
            product = product * algebra.displacement(atom.angle[0][0])
            continue
        s, c = algebra.sum_sincos(dict(atom.angle))
        for letter in atom.kind:
            product = product * (s if letter == "S" else c)
    return product


def mean(function: TrigPoly) -> Fraction:
    """The mean over whole turns of every angle; 0 where a displacement is left in it."""
    still = function.to_fourier().get((0,) * len(function.algebra.revolute))
    return still[0].number if still is not None and still[0].is_number else Fraction(0)
