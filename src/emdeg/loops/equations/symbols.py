"""The symbols in which the formulas of a mechanism with closed loops are read.

A prismatic joint that has a symbol's name is that symbol (x, y, z for a platform), its rate xdot; revolute joints have
sines and cosines by number, s1 and c1. Known angles are numbers and sqrt(3)/2. A polynomial has no quotients and no
roots, so what is divided by has a symbol for its reciprocal, r1 = 1 / ..., and a root a symbol h1. Sums of the robot's
own symbols that come back have a symbol too, k1. More symbols, for the entries of a matrix say, may be declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm

from emdeg.algebra import DEFAULT_MAX_TERMS, Generator, KnownAngles, TrigAlgebra, TrigPoly, is_symbol_name
from emdeg.errors import RobotError
from emdeg.robot import Robot, algebra_of

MOST = 60
"""Symbols of either kind, roots and reciprocals; a mechanism that needs more is better read as its blocks."""


class LoopSymbols(KnownAngles):
    """Formulas in these symbols; `reciprocals`, `roots` and `constants` are what symbols stand for, in order.

    `slides`: prismatic joint, from 0 -> its symbol, where its name is one. `own`: the robot's own symbols.
    """

    def __init__(
        self, plain: TrigAlgebra, slides: Mapping[int, str], more: Iterable[str], own: frozenset[str], budget: int
    ) -> None:
        super().__init__(
            plain.revolute,
            [k for k in plain.prismatic if k - 1 not in slides],
            [*plain.parameters, *more],
            plain.constant_angles,
            rates=True,
            max_terms=budget,
        )
        self.slides, self.own = slides, own
        self.reciprocals: list[TrigPoly] = []
        self.constants: list[TrigPoly] = []
        self.roots: list[TrigPoly] = []

    def joint_position(self, k: int) -> TrigPoly | tuple[TrigPoly, TrigPoly]:
        """The sine and cosine of joint k, from 0, or its displacement."""
        if k in self.slides:
            return self.symbol(self.slides[k])
        return self.joint_sincos(k + 1) if k + 1 in self.revolute else self.displacement(k + 1)

    def joint_rate(self, k: int) -> TrigPoly:
        """The rate of joint k, from 0."""
        return self.symbol(rate_of(self.slides[k])) if k in self.slides else self.rate(k + 1)

    def divided(self, numerator: TrigPoly, denominator: TrigPoly) -> TrigPoly:
        """The numerator times the symbol of a reciprocal, and the number that was taken out of it."""
        if denominator.is_number:
            return numerator / denominator.number
        scale = denominator.leading_coefficient
        return numerator * (self._named("r", self.reciprocals, denominator / scale) / scale)

    def root(self, radicand: TrigPoly, loop: str) -> TrigPoly:
        return self._named("h", self.roots, radicand)

    def collected(self, formula: TrigPoly) -> TrigPoly:
        """The formula with a symbol for every sum of the robot's symbols that is a coefficient in it."""
        groups: dict[tuple[tuple[Generator, int], ...], list[tuple[Fraction, dict[Generator, int]]]] = {}
        for coefficient, monomial in formula.terms():
            own = {g: e for g, e in monomial.items() if g.kind == "parameter" and g.of in self.own}
            rest = tuple((g, e) for g, e in monomial.items() if g not in own)
            groups.setdefault(rest, []).append((coefficient, own))
        found = self.zero
        for rest, terms in groups.items():
            found = found + self.from_terms([(Fraction(1), dict(rest))]) * self._constant(self.from_terms(terms))
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
        return self._named("k", self.constants, plain) * scale

    def _named(self, prefix: str, known: list[TrigPoly], formula: TrigPoly) -> TrigPoly:
        if formula not in known:
            if len(known) == MOST:
                raise RobotError(f"it needs more than {MOST} letters to be expanded; read its blocks instead")
            known.append(formula)
        return self.symbol(f"{prefix}{known.index(formula) + 1}")


def rate_of(symbol: str) -> str:
    """The symbol of another's rate: xdot, Jdot_12."""
    head, _, tail = symbol.partition("_")
    return f"{head}dot_{tail}" if tail else f"{head}dot"


def symbols_of(robot: Robot, more: Iterable[str] = (), budget: int = DEFAULT_MAX_TERMS) -> LoopSymbols:
    """The symbols of `robot` and `more` besides; RobotError where one of its own has such a symbol's name."""
    plain = algebra_of(robot, budget=budget)
    taken = set(plain.parameters)
    other = [*more, *(f"{prefix}{k}" for prefix in "hkr" for k in range(1, MOST + 1))]
    slides = {
        k: joint.name
        for k, joint in enumerate(robot.joints)
        if joint.kind != "revolute" and _is_clear(joint.name)
        if not {joint.name, rate_of(joint.name)} & {*taken, *other}
    }
    extra = [*slides.values(), *map(rate_of, slides.values()), *other]
    clash = set(extra) & taken
    if clash:
        raise RobotError(f"its symbol {min(clash)} has the name of a letter of these formulas", body=robot.name)
    return LoopSymbols(plain, slides, extra, robot.symbols, budget)


def _is_clear(name: str) -> bool:
    """Whether a joint's name can stand in a formula: a symbol's, and none that means something else there."""
    return is_symbol_name(name) and not (name[0] in "qschkr" and name[1:].lstrip("d").isdigit())
