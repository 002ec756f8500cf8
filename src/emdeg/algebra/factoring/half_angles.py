"""Factors of trigonometric polynomials, by the tangents of half the angles.

With x = sin(q/2) and y = cos(q/2) a formula of degree d in the sine and cosine of q is a form of degree 2d in x and y:
s = 2xy, c = y^2 - x^2, 1 = x^2 + y^2. Forms factor uniquely, as polynomials in t = x/y do; sines and cosines do not
(s^2 = (1 - c)(1 + c)). A factor of even degree in every angle's x and y is a formula again; those of odd degree are
formulas only together: x y is half a sine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import gcd, lcm, prod
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx
from flint.utils.flint_exceptions import DomainError

from emdeg.algebra.angle import HALF_RIGHT, Angle
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import Generator, TrigPoly

LONG = 60_000
"""Terms of a form beyond which nothing is factored: what takes minutes helps nobody to read."""


@dataclass(frozen=True, slots=True)
class Form:
    """A polynomial in the tangents t, of degree `degree[k]` in the x and y of angle k: y is where t's power is less."""

    poly: Any
    degree: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Factored:
    """number * product of factor^power; the factors irreducible as far as formulas are."""

    number: Fraction
    factors: tuple[tuple[TrigPoly, int], ...]

    def product(self, one: TrigPoly) -> TrigPoly:
        """Multiplied out; `one` is the algebra's."""
        return prod((factor**power for factor, power in self.factors), start=one * self.number)


@lru_cache(maxsize=32)
def in_half_angles(algebra: TrigAlgebra) -> HalfAngles:
    return HalfAngles(algebra)


class HalfAngles:
    """Formulas of one algebra as forms in the half angles, and back."""

    def __init__(self, algebra: TrigAlgebra) -> None:
        self.algebra = algebra
        # The sine and cosine of an eighth turn are one letter, which is no circle.
        self.angles: tuple[int | Angle, ...] = (
            *algebra.revolute,
            *(angle for angle in algebra.constant_angles if angle != HALF_RIGHT),
        )
        self._place = {angle: k for k, angle in enumerate(self.angles)}
        self._others = [g for g in algebra.generators if g.kind not in ("sine", "cosine") or g.of not in self._place]
        names = [f"t{k}" for k in range(len(self.angles))] + [f"x{k}" for k in range(len(self._others))] or ["x"]
        self.context = fmpq_mpoly_ctx.get(names, Ordering.lex)
        letters = self.context.gens()
        self.tangents = letters[: len(self.angles)]
        self._letter = dict(zip(self._others, letters[len(self.angles) :]))

    @cached_property
    def units(self) -> list[Any]:
        """1 + t^2 of each angle: x^2 + y^2, which is 1."""
        return [t * t + 1 for t in self.tangents]

    def form(self, formula: TrigPoly) -> Form:
        """The formula in half angles."""
        terms = list(formula.terms())
        powers = [self._powers(monomial) for _, monomial in terms]
        depth = [max((sum(pair) for pair in column), default=0) for column in zip(*powers)] or [0] * len(self.angles)
        parts: dict[tuple[tuple[int, int], ...], Any] = {}
        for (coefficient, monomial), pairs in zip(terms, powers):
            rest = self.context.constant(fmpq(coefficient.numerator, coefficient.denominator))
            for generator, exponent in monomial.items():
                if generator in self._letter:
                    rest = rest * self._letter[generator] ** exponent
            parts[pairs] = parts[pairs] + rest if pairs in parts else rest
        waves: dict[tuple[int, int, int], Any] = {}

        def wave(k: int, sines: int, cosines: int) -> Any:
            key = k, sines, cosines
            if key not in waves:
                t = self.tangents[k]
                waves[key] = (2 * t) ** sines * (1 - t * t) ** cosines * self.units[k] ** (depth[k] - sines - cosines)
            return waves[key]

        total = self.context.constant(0)
        for pairs, rest in parts.items():
            for k, pair in enumerate(pairs):
                if depth[k]:
                    rest = rest * wave(k, *pair)
            total = total + rest
            if len(total) > LONG:
                raise OverflowError(f"a form of more than {LONG} terms is not factored")
        return Form(total, tuple(2 * d for d in depth))

    def _degrees(self, poly: Any) -> tuple[int, ...]:
        """In each tangent."""
        return tuple(int(d) for d in poly.degrees()[: len(self.angles)])

    def _powers(self, monomial: Mapping[Generator, int]) -> tuple[tuple[int, int], ...]:
        """(of the sine, of the cosine) of every angle."""
        found = [[0, 0] for _ in self.angles]
        for generator, exponent in monomial.items():
            if generator.kind in ("sine", "cosine") and generator.of in self._place:
                found[self._place[generator.of]][generator.kind == "cosine"] = exponent
        return tuple((s, c) for s, c in found)

    def formula(self, form: Form) -> TrigPoly:
        """A form of even degrees as a formula."""
        algebra = self.algebra
        waves: dict[tuple[int, int], TrigPoly] = {}

        def wave(k: int, power: int) -> TrigPoly:
            """x^power y^(degree - power): x^2 = (1 - c) / 2, y^2 = (1 + c) / 2, xy = s / 2."""
            if (k, power) not in waves:
                s, c = algebra._pair(self.angles[k])
                rest = form.degree[k] - power
                value = ((1 - c) / 2) ** (power // 2) * ((1 + c) / 2) ** (rest // 2)
                waves[k, power] = value * (s / 2) if power % 2 else value
            return waves[k, power]

        groups: dict[tuple[int, ...], TrigPoly] = {}
        for exponents, coefficient in form.poly.to_dict().items():
            whole = tuple(int(e) for e in exponents)
            tangents, others = whole[: len(self.angles)], whole[len(self.angles) :]
            rest = {g: e for g, e in zip(self._others, others) if e}
            term = algebra.from_terms([(Fraction(int(coefficient.p), int(coefficient.q)), rest)])
            groups[tangents] = groups[tangents] + term if tangents in groups else term
        total = algebra.zero
        for tangents, rest in groups.items():
            for k, power in enumerate(tangents):
                if form.degree[k]:
                    rest = rest * wave(k, power)
            total = total + rest
        return total

    def factored(self, formula: TrigPoly) -> Factored:
        """The formula's factors, each with coefficients that are read easily; what is left over is the number."""
        if formula.is_number:
            return Factored(formula.number, ())
        form = self.form(formula)
        _, found = form.poly.factor()
        odd: dict[int, Odd] = {}
        factors: list[tuple[TrigPoly, int]] = []
        left = list(form.degree)
        for number, (poly, power) in enumerate(found):
            power, degree = int(power), self._degrees(poly)
            left = [a - b * power for a, b in zip(left, degree)]
            if len(poly) == 2 and any(poly / poly.leading_coefficient() == unit for unit in self.units):
                continue
            if any(d % 2 for d in degree):
                odd[number] = Odd(Form(poly, degree), power)
            else:
                factors.append((self.formula(Form(poly, degree)), power))
        for k, power in enumerate(left):  # y itself, where t has no room for it
            if power:
                alone = tuple(int(j == k) for j in range(len(self.angles)))
                odd[len(found) + k] = Odd(Form(self.context.constant(1), alone), power)
        factors += self._together(list(odd.values()))
        plain = [(_plain(factor), power) for factor, power in factors]
        product = Factored(Fraction(1), tuple(plain)).product(self.algebra.one)
        return Factored(formula.leading_coefficient / product.leading_coefficient, tuple(plain))

    def _together(self, odd: Sequence[Odd]) -> Iterator[tuple[TrigPoly, int]]:
        """Products of odd factors that are formulas: few different ones, the shortest first; then squares; the rest."""
        for size in (2, 3, 4):
            some = [group for group in combinations(odd, size) if not any(map(_odd_sum, _columns(group)))]
            formed = [(self.formula(_product(group)), group) for group in some]
            for formula, group in sorted(formed, key=lambda pair: len(pair[0])):
                if power := min(one.power for one in group):
                    yield formula, power
                    for one in group:
                        one.power -= power
        for one in odd:
            if one.power // 2:
                yield self.formula(_product([one, one])), one.power // 2
                one.power %= 2
        if rest := [one for one in odd if one.power]:
            yield self.formula(_product(rest)), 1

    def lowest(self, numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
        """Both without whatever divides both as forms; the denominator with coefficients that are read easily."""
        above, below = self.form(numerator), self.form(denominator)
        common = above.poly.gcd(below.poly)
        taken = self._degrees(common)
        reduced = []
        for form in (above, below):
            poly = form.poly / common
            reduced.append(Form(poly, tuple(a - b for a, b in zip(form.degree, taken))))
        above, below = self._without_cosines(*reduced)
        top, bottom = self.formula(above), self.formula(below)
        shown = _plain(bottom)
        return top * (shown.leading_coefficient / bottom.leading_coefficient), shown

    def square_root(self, numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly] | None:
        """(a, b) with (a / b)^2 = numerator / denominator; None where there is none."""
        above, below = self.form(numerator), self.form(denominator)
        pairs = (above, below), (below, above)
        top: Any
        bottom: Any
        top, bottom = (
            prod((u ** (d // 2) for u, d in zip(self.units, other.degree)), start=form.poly) for form, other in pairs
        )
        common = top.gcd(bottom)
        top, bottom = top / common, bottom / common
        try:
            root = (top * bottom).sqrt()
        except DomainError:
            return None
        common = root.gcd(bottom)
        root, bottom = root / common, bottom / common
        highest = [max(pair) for pair in zip(self._degrees(root), self._degrees(bottom))]
        even = tuple(d + d % 2 for d in highest)
        return self.formula(Form(root, even)), self.formula(Form(bottom, even))

    def _without_cosines(self, above: Form, below: Form) -> tuple[Form, Form]:
        """Without the y that both have; one of them stays where the degree would be odd, a half angle's."""
        degrees: list[tuple[int, int]] = []
        spare = [[d - p for d, p in zip(form.degree, self._degrees(form.poly))] for form in (above, below)]
        for k, (a, b) in enumerate(zip(above.degree, below.degree)):
            both = min(spare[0][k], spare[1][k])
            both -= (a - both) % 2
            degrees.append((a - both, b - both))
        first, second = zip(*degrees) if degrees else ((), ())
        return Form(above.poly, first), Form(below.poly, second)


@dataclass(slots=True)
class Odd:
    """A factor that is no formula by itself, and how many of it are left."""

    form: Form
    power: int


def _columns(some: Sequence[Odd]) -> Iterator[tuple[int, ...]]:
    """Angle by angle, the degrees of these factors."""
    return zip(*(one.form.degree for one in some))


def _odd_sum(degrees: tuple[int, ...]) -> bool:
    return bool(sum(degrees) % 2)


def _product(some: Sequence[Odd]) -> Form:
    return Form(prod(one.form.poly for one in some), tuple(map(sum, _columns(some))))


def _plain(formula: TrigPoly) -> TrigPoly:
    """A multiple with whole coefficients, or decimals below 1 where those would be large; most of them positive."""
    coefficients = [c for c, _ in formula.terms()]
    scale = Fraction(lcm(*(c.denominator for c in coefficients)), gcd(*(c.numerator for c in coefficients)))
    largest = max(abs(c) for c in coefficients) * scale
    if largest > 9:
        scale /= 10 ** len(str(int(largest)))
    positive = sum(c > 0 for c in coefficients) - sum(c < 0 for c in coefficients)
    return formula * (scale if (positive, coefficients[0]) > (0, 0) else -scale)
