"""An entry cut into its smallest summands, number * product of sines, cosines and displacements; and their means."""

from __future__ import annotations

from fractions import Fraction

from emdeg.algebra import TrigAlgebra, TrigPoly
from emdeg.approximation.efforts import Forms, Product
from emdeg.approximation.short_model import FullModel


def mean(function: TrigPoly) -> Fraction:
    """The mean over whole turns of every angle; 0 where a displacement is left in it."""
    still = function.to_fourier().get((0,) * len(function.algebra.revolute))
    return still[0].number if still is not None and still[0].is_number else Fraction(0)


def summands(full: FullModel, entry: str) -> list[tuple[str, TrigPoly]]:
    """(constant, product) for each summand of one entry as printed."""
    forms = Forms(full.lumped.algebra, full.lumped.groups)
    return [
        (constant, _printed(full.lumped.algebra, product) * c)
        for constant, function in full.lumped.expansions[entry]
        for product, c in forms(function).items()
    ]


def _printed(algebra: TrigAlgebra, product: Product) -> TrigPoly:
    found = algebra.one
    for atom in product:
        if atom.kind == "q":
            found = found * algebra.displacement(atom.angle[0][0])
        else:
            s, c = algebra.sum_sincos(dict(atom.angle))
            found = found * (s if atom.kind == "S" else c)
    return found
