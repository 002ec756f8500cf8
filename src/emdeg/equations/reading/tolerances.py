"""Tolerances of lumped constants that come from numbers without a symbol: zeros and constant angles.

Such a number's deviation changes the entries by functions of the configuration. Product by product of the parameters,
what lies in the span of the constants' own functions is a change of constants; the rest is a function that the
equations have not, and no constant's affair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import hypot

from emdeg.algebra import ExponentLayout, Exponents, TrigPoly
from emdeg.algebra.factoring import Number
from emdeg.algebra.linear import rational_echelon
from emdeg.equations.reading.lumped import Constant, Lumped, evaluated

Place = tuple[str, Exponents]
"""An entry and a product of sines and cosines in it."""
Vector = dict[Place, Number]


def widened(
    lumped: Lumped,
    slopes: Iterable[tuple[str, Mapping[str, TrigPoly]]],
    tolerances: Mapping[str, Fraction],
    values: Mapping[str, Fraction],
) -> Lumped:
    """`lumped` with the tolerances of numbers without a symbol in those of its constants.

    `slopes`: (path, {entry: d entry / d number}); `tolerances` by path; `values` those of the parameters.
    """
    layout = ExponentLayout(lumped.algebra)
    slopes = list(slopes)
    span = _Span(lumped, layout, {entry for _, entries in slopes for entry in entries})
    gained: dict[str, dict[str, TrigPoly]] = {}
    for path, entries in slopes:
        by_product: dict[tuple, Vector] = {}
        for entry, formula in entries.items():
            for key, poly in layout.split(formula).items():
                by_product.setdefault(key, {}).update({(entry, exponents): c for exponents, c in poly.items()})
        for key, vector in by_product.items():
            for name, share in span.shares(vector).items():
                term = lumped.algebra.from_terms([(share, dict(key))])
                mine = gained.setdefault(name, {})
                mine[path] = mine[path] + term if path in mine else term
    constants = tuple(_widened(c, gained.get(c.name, {}), tolerances, values) for c in lumped.constants)
    return replace(lumped, constants=constants)


def _widened(
    constant: Constant, slopes: Mapping[str, TrigPoly], tolerances: Mapping[str, Fraction], values: Mapping
) -> Constant:
    slopes = {path: slope for path, slope in slopes.items() if slope}
    if constant.tolerance is None or not slopes:
        return constant
    shares = [float(evaluated(slope, values) or 0) * float(tolerances[path]) for path, slope in slopes.items()]
    return replace(constant, tolerance=hypot(constant.tolerance, *shares), zero_slopes=slopes)


class _Span:
    """The functions that multiply the constants in some entries, over the rationals; drives' constants have none."""

    def __init__(self, lumped: Lumped, layout: ExponentLayout, entries: Collection[str]) -> None:
        vectors: dict[str, Vector] = {c.name: {} for c in lumped.constants if not c.is_drive}
        for entry, terms in lumped.expansions.items():
            for name, function in terms:
                if name in vectors and entry in entries:
                    for poly in layout.split(function).values():
                        vectors[name].update({(entry, exponents): c for exponents, c in poly.items()})
        self.names = list(vectors)
        self.place = {place: k for k, place in enumerate(sorted({p for v in vectors.values() for p in v}))}
        self.width = len(self.place)
        rows = [
            {self.place[p]: c for p, c in vector.items()} | {self.width + i: 1}
            for i, vector in enumerate(vectors.values())
        ]
        reduced = rational_echelon(rows, self.width + len(rows))
        self.rows = {min(row): row for row in reduced if min(row) < self.width}

    def shares(self, vector: Vector) -> dict[str, Fraction]:
        """{constant: factor} with vector = sum of factor * its functions; empty if it is no such sum."""
        if not vector.keys() <= self.place.keys():
            return {}
        left = {self.place[p]: Fraction(c) for p, c in vector.items()}
        total: dict[int, Fraction] = {}
        for pivot, row in self.rows.items():
            if factor := left.get(pivot):
                for k, c in row.items():
                    into = left if k < self.width else total
                    into[k] = into.get(k, Fraction(0)) + (-factor if k < self.width else factor) * c
        if any(left.values()):
            return {}
        return {self.names[k - self.width]: c for k, c in total.items() if c}
