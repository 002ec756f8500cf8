"""a sin x + b cos x as r sin(x + p): one product for two, an addition inside the sine for the one outside.

It is what turning a link's frame about its joint's axis does to the equations. An operation is saved wherever a and b
stand in no other product; the price is another sine, which is no operation by the project's count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from emdeg.algebra import Angle, AngleSum, Atom, Product, Sum, direction_angle, square_root

CLOSE = Fraction(1, 10**30)
"""How well r cos p must be a, and r sin p be b, in units of r: sines have 60 digits, angles 40."""


@dataclass(frozen=True, slots=True)
class Phase:
    """`first` sin x + `ratio` `second` cos x = `norm` sin(x + `angle`); `joint` is the number its angle goes by."""

    first: str
    second: str
    ratio: Fraction
    norm: Fraction
    angle: Angle
    joint: int

    @property
    def name(self) -> str:
        """The norm's, among the constants' names."""
        return f"norm of {self.first} and {self.ratio} {self.second}"


@dataclass(frozen=True, slots=True)
class _Part:
    """A term as coefficient * constant * (sine or cosine of `angle`) * others."""

    term: Product
    constant: str
    kind: str
    angle: AngleSum
    others: tuple[Atom | Sum, ...]


def phases(expressions: Iterable[Sum], numbers: Mapping[str, Fraction], joints: int) -> list[Phase]:
    """Every pair of constants that one of the sums offers; their angles are numbered on from the joints."""
    found: dict[tuple[str, str, Fraction], None] = {}
    for expression in expressions:
        for one, other in _pairs(expression.terms):
            found[one.constant, other.constant, _ratio(one, other)] = None
    return [_phase(*key, numbers, joints + i) for i, key in enumerate(found, start=1)]


def _phase(first: str, second: str, ratio: Fraction, numbers: Mapping[str, Fraction], joint: int) -> Phase:
    a, b = numbers[first], ratio * numbers[second]
    norm, angle = square_root(a * a + b * b), direction_angle(b, a)
    s, c = angle.sincos()
    if max(abs(norm * c - a), abs(norm * s - b)) > CLOSE * norm:
        raise ArithmeticError(f"the angle between {first} and {second} is not good to 30 digits")
    return Phase(first, second, ratio, norm, angle, joint)


def folded(expression: Sum, using: Sequence[Phase]) -> Sum:
    """The expression with each pair of terms that a phase makes one; sines of x + p have the phase's joint in them."""
    terms = list(expression.terms)
    for phase in using:
        for one, other in _pairs(terms):
            mine = (one.constant, other.constant, _ratio(one, other)) == (phase.first, phase.second, phase.ratio)
            if mine and one.term in terms and other.term in terms:
                angle = (*one.angle, (phase.joint, 1))
                terms.remove(other.term)
                terms[terms.index(one.term)] = Product(
                    one.term.coefficient, (Atom(phase.name), Atom(one.kind, angle), *one.others)
                )
    return Sum(tuple(terms))


def _pairs(terms: Sequence[Product]) -> Iterator[tuple[_Part, _Part]]:
    """Parts that are alike but for the constant, and for a sine in one where the other has a cosine."""
    parts = [part for term in terms for part in _parts(term)]
    for one, other in permutations(parts, 2):
        alike = (one.angle, one.others) == (other.angle, other.others)
        if alike and one.kind != other.kind and one.constant != other.constant:
            yield one, other


def _parts(term: Product) -> Iterator[_Part]:
    constants = [factor for factor in term.factors if isinstance(factor, Atom) and not factor.angle]
    if len(constants) != 1:
        return
    moving = [factor for factor in term.factors if factor is not constants[0]]
    for place, factor in enumerate(moving):
        if isinstance(factor, Atom) and factor.kind in ("S", "C"):
            others = (*moving[:place], *moving[place + 1 :])
            yield _Part(term, constants[0].kind, factor.kind, factor.angle, others)


def _ratio(one: _Part, other: _Part) -> Fraction:
    """a sin x + b cos x turns by the angle of (a, b), a cos x + b sin x by that of (a, -b)."""
    ratio = other.term.coefficient / one.term.coefficient
    return ratio if one.kind == "S" else -ratio
