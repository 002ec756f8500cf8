"""The letters in which the formulas of a mechanism with closed loops are read.

A slide that has a symbol's name is that letter (x, y, z for a platform), its rate xdot; turning joints have sines and
cosines by number, s1 and c1. Known angles are numbers and sqrt(3)/2. A polynomial has no quotients and no roots, so
what is divided by has a letter for its reciprocal, r1 = 1 / ..., and a root a letter h1. Sums of the robot's own
symbols that come back have a letter too, k1. More letters, for the entries of a matrix say, may be declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any, cast

from emdeg.algebra import DEFAULT_MAX_TERMS, Angle, Generator, KnownAngles, TrigAlgebra, TrigPoly, is_symbol_name
from emdeg.errors import RobotError
from emdeg.robot import Robot, algebra_of

MOST = 60
"""Letters of either kind, roots and reciprocals; a mechanism that needs more is better read as its blocks."""


class LetterEntry:
    """A polynomial that can be divided by another: the quotient is a product with the reciprocal's letter."""

    __slots__ = ("names", "poly")
    __array_ufunc__ = None

    def __init__(self, poly: TrigPoly, names: Names) -> None:
        self.poly, self.names = poly, names

    def _of(self, poly: TrigPoly) -> LetterEntry:
        return LetterEntry(poly, self.names)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, LetterEntry | int | Fraction):
            return NotImplemented
        return self._of(self.poly + _plain(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, LetterEntry | int | Fraction):
            return NotImplemented
        return self._of(self.poly - _plain(other))

    def __rsub__(self, other: Any) -> LetterEntry:
        return self._of(-self.poly + other)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, LetterEntry | int | Fraction):
            return NotImplemented
        return self._of(self.poly * _plain(other))

    __rmul__ = __mul__

    def __neg__(self) -> LetterEntry:
        return self._of(-self.poly)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, LetterEntry | int | Fraction):
            return NotImplemented
        below = _plain(other)
        if not isinstance(below, TrigPoly):
            return self._of(self.poly / below)
        if below.is_number:
            return self._of(self.poly / below.number)
        return self._of(self.poly * self.names.reciprocal(below))

    def __rtruediv__(self, other: int | Fraction) -> LetterEntry:
        return self._of(self.names.algebra.number(Fraction(other))) / self

    def __bool__(self) -> bool:
        return bool(self.poly)


def _plain(value: LetterEntry | int | Fraction) -> Any:
    return value.poly if isinstance(value, LetterEntry) else value


def formulas(matrix: Iterable[Iterable[Any]]) -> list[list[TrigPoly]]:
    """What the mechanics gave over `Names`, whose scalars are entries."""
    return [[cast(LetterEntry, x).poly for x in row] for row in matrix]


@dataclass
class Names:
    """An algebra of entries; `reciprocals` and `roots` are what its letters stand for, in order.

    `position` and `rate` hold every joint's letters, as the mechanics wants them.
    """

    algebra: TrigAlgebra
    slides: dict[int, str]
    """Prismatic joint, from 0 -> its letter, where its name is one."""
    symbols: frozenset[str] = frozenset()
    """The robot's own."""
    reciprocals: list[TrigPoly] = field(default_factory=list)
    constants: list[TrigPoly] = field(default_factory=list)
    roots: list[TrigPoly] = field(default_factory=list)

    def number(self, value: Fraction) -> LetterEntry:
        return LetterEntry(self.algebra.number(value), self)

    def symbol(self, name: str) -> LetterEntry:
        return LetterEntry(self.algebra.symbol(name), self)

    def sincos(self, angle: Angle) -> tuple[LetterEntry, LetterEntry]:
        s, c = self.algebra.sincos(angle)
        return LetterEntry(s, self), LetterEntry(c, self)

    def position(self, k: int) -> LetterEntry | tuple[LetterEntry, LetterEntry]:
        """Joint k's sine and cosine, or its displacement."""
        if k in self.slides:
            return self.symbol(self.slides[k])
        if k + 1 in self.algebra.revolute:
            s, c = self.algebra.joint_sincos(k + 1)
            return LetterEntry(s, self), LetterEntry(c, self)
        return LetterEntry(self.algebra.displacement(k + 1), self)

    def rate(self, k: int) -> LetterEntry:
        """Joint k's rate."""
        if k in self.slides:
            return self.symbol(rate_of(self.slides[k]))
        return LetterEntry(self.algebra.rate(k + 1), self)

    def reciprocal(self, below: TrigPoly) -> TrigPoly:
        """The letter of 1 / below, times the number that was taken out."""
        scale = below.leading_coefficient
        return self._letter("r", self.reciprocals, below / scale) / scale

    def root(self, radicand: LetterEntry, loop: str) -> LetterEntry:
        return LetterEntry(self._letter("h", self.roots, radicand.poly), self)

    def collected(self, formula: TrigPoly) -> TrigPoly:
        """The formula with a letter for every sum of the robot's symbols that is a coefficient in it."""
        groups: dict[tuple[tuple[Generator, int], ...], list[tuple[Fraction, dict[Generator, int]]]] = {}
        for coefficient, monomial in formula.terms():
            own = {g: e for g, e in monomial.items() if g.kind == "parameter" and g.of in self.symbols}
            rest = tuple((g, e) for g, e in monomial.items() if g not in own)
            groups.setdefault(rest, []).append((coefficient, own))
        found = self.algebra.zero
        for rest, terms in groups.items():
            factor = self.algebra.from_terms([(Fraction(1), dict(rest))])
            found = found + factor * self._constant(self.algebra.from_terms(terms))
        return found

    def _constant(self, value: TrigPoly) -> TrigPoly:
        if len(value) < 2:
            return value
        numbers = [abs(c) for c, _ in value.terms()]
        content = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
        scale = content if value.leading_coefficient > 0 else -content
        plain = value / scale
        if plain not in self.constants and len(self.constants) == MOST:
            return value
        return self._letter("k", self.constants, plain) * scale

    def _letter(self, prefix: str, known: list[TrigPoly], formula: TrigPoly) -> TrigPoly:
        if formula not in known:
            if len(known) == MOST:
                raise RobotError(f"it needs more than {MOST} letters to be expanded; read its blocks instead")
            known.append(formula)
        return self.algebra.symbol(f"{prefix}{known.index(formula) + 1}")


def rate_of(letter: str) -> str:
    """The letter of another's rate: xdot, Jdot_12."""
    head, _, tail = letter.partition("_")
    return f"{head}dot_{tail}" if tail else f"{head}dot"


def names_of(robot: Robot, more: Iterable[str] = (), budget: int = DEFAULT_MAX_TERMS) -> Names:
    """The letters of `robot` and `more` besides; RobotError where one of its symbols has such a letter's name."""
    plain = algebra_of(robot, budget=budget)
    taken = set(plain.parameters)
    other = [*more, *(f"{prefix}{k}" for prefix in "hkr" for k in range(1, MOST + 1))]
    slides = {
        k: joint.name
        for k, joint in enumerate(robot.joints)
        if joint.kind != "revolute" and _is_letter(joint.name)
        if not {joint.name, rate_of(joint.name)} & {*taken, *other}
    }
    extra = [*slides.values(), *map(rate_of, slides.values()), *other]
    clash = set(extra) & taken
    if clash:
        raise RobotError(f"its symbol {min(clash)} has the name of a letter of these formulas", body=robot.name)
    algebra = KnownAngles(
        plain.revolute,
        [k for k in plain.prismatic if k - 1 not in slides],
        [*plain.parameters, *extra],
        plain.constant_angles,
        rates=True,
        max_terms=budget,
    )
    return Names(algebra, slides, robot.symbols)


def _is_letter(name: str) -> bool:
    """Whether a joint's name can stand in a formula: a symbol's, and none that means something else there."""
    return is_symbol_name(name) and not (name[0] in "qschkr" and name[1:].lstrip("d").isdigit())
