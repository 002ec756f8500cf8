"""The algebra of trigonometric polynomials: which symbols there are, and how they multiply.

Sines s with s^2 + c^2 = 1 are kept at most linear. A product of two canonical polynomials has degree at most
two in each sine, so with e the second derivative by s, p - e/2 (s^2 + c^2 - 1) is p reduced: two derivatives,
one product by three terms and one subtraction, for only those sines that occur in both factors. In a trial
on python-flint this took between a third and nine tenths of the time of a division with remainder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from emdeg.algebra.angle import HALF_RIGHT, SIXTH, THIRD, Angle
from emdeg.algebra.exact import is_symbol_name, shown
from emdeg.algebra.scalar import angle_pieces, sincos_from_pieces, sum_of_angles
from emdeg.algebra.trig_poly import ABBREVIATION, Generator, Kind, Substitute, TrigPoly, look, verbatim_latex
from emdeg.errors import OverBudget

_KINDS: tuple[Kind, ...] = ("sine", "cosine")
_SQUARES = {HALF_RIGHT: fmpq(1, 2), THIRD: fmpq(3, 4)}
"""Constant angles whose sine is the only symbol, and its square; their cosines are that symbol, or a number."""


FUNCTIONS = ("sin", "cos", "sqrt")
"""What formulas are written with besides symbols."""
DEFAULT_MAX_TERMS = 2_000_000
"""Terms one formula may have: a thousand times the longest element of a seven-joint mass matrix."""
SHORT = 10**10
"""The largest denominator of the tangent of half a constant angle; its error is below one over the square."""


class TrigAlgebra:
    """Formulas in the given joints and parameters; immutable, compared by its symbols.

    `revolute` and `prismatic` hold joint numbers (joint 3's variable is q3). `constant_angles` lists the
    angles that are no quarter turns; those equal up to quarter turns or sign share one pair of symbols.
    With `rates`, the symbols qd1, qdd1, ... exist too. No formula may have more than `max_terms` terms. `beside` are
    names that stand in print beside these formulas: no symbol is written so that it looks like one of them.

    >>> algebra = TrigAlgebra(revolute=[1, 2], parameters=["m"])
    >>> s1, c1 = algebra.joint_sincos(1)
    >>> algebra.symbol("m") * (s1 * s1 + c1 * c1)
    TrigPoly('m')
    """

    def __init__(
        self,
        revolute: Iterable[int] = (),
        prismatic: Iterable[int] = (),
        parameters: Iterable[str] = (),
        constant_angles: Iterable[Angle] = (),
        *,
        rates: bool = False,
        max_terms: int = DEFAULT_MAX_TERMS,
        beside: Iterable[str] = (),
    ) -> None:
        self.revolute = tuple(revolute)
        self.prismatic = tuple(prismatic)
        self.joints = tuple(sorted(self.revolute + self.prismatic))
        self.parameters = tuple(parameters)
        self.max_terms = max_terms
        pieces = dict.fromkeys(self._declared(piece) for angle in constant_angles for piece in angle_pieces(angle))
        self.constant_angles = tuple(pieces)
        self._check_names()
        of_angles: tuple[int | Angle, ...] = self.revolute + self.constant_angles
        # Sines lead the lexicographic order, each before its cosine, so that s^2 leads s^2 + c^2 - 1.
        self.generators: tuple[Generator, ...] = (
            *(Generator(kind, of) for of in of_angles for kind in _KINDS if kind == "sine" or of not in _SQUARES),
            *(Generator("displacement", k) for k in self.prismatic),
            *(Generator("rate", k) for k in self.joints if rates),
            *(Generator("acceleration", k) for k in self.joints if rates),
            *(Generator("parameter", name) for name in self.parameters),
        )
        self._index = {g: i for i, g in enumerate(self.generators)}
        if len(self._index) != len(self.generators):
            raise ValueError("a joint or a parameter was given twice")
        names = [f"x{i}" for i in range(len(self.generators))] or ["x0"]
        self._context = fmpq_mpoly_ctx.get(names, Ordering.lex)
        letters = self._context.gens()
        # Bit b of a formula's mask of sines stands for the symbol _sines[b].
        self._sines = [self._index[Generator("sine", of)] for of in of_angles]
        bits = {i: 1 << b for b, i in enumerate(self._sines)}
        self._letters = [TrigPoly(self, letters[i], bits.get(i, 0)) for i in range(len(self.generators))]
        self._identity = [self._circle(of) for of in of_angles]
        self._half_identity = [identity * fmpq(1, 2) for identity in self._identity]
        self.zero = self.number(Fraction(0))
        self.one = self.number(Fraction(1))
        own = (*self.parameters, *(angle.symbol for angle in self.constant_angles if angle.symbol))
        symbols = tuple(dict.fromkeys((*own, *beside)))
        looks = Counter(map(look, symbols))
        # c1 as a parameter's name leaves no room for c1 as joint 1's cosine in print; nor does c11, the coefficient.
        turning = {look(str(g)) for g in self.generators if g.is_joint_angle}
        clear = turning.isdisjoint(looks) and not any(map(ABBREVIATION.match, symbols))
        self.short = clear and max(self.joints, default=0) < 11
        """Whether joints' sines and cosines are written s1, c1, or S23 of a sum; else sin(q1), sin(q2 + q3)."""
        moving = {look(f"q{k}") for k in self.joints}
        self.alike = frozenset(
            n for n in symbols if n in FUNCTIONS or ("_" in n and (looks[look(n)] > 1 or look(n) in moving))
        )
        """Names that look like another symbol where underscores are not shown, or like a function."""

    def _declared(self, piece: Angle) -> Angle:
        """The constant angle whose symbols stand for a piece's."""
        return piece

    def _check_names(self) -> None:
        for joint in self.joints:
            if not isinstance(joint, int) or joint < 0:
                raise ValueError(f"joints are numbered 0, 1, 2, ...; {joint!r} is not such a number")
        taken = {f"{prefix}{k}" for k in self.joints for prefix in ("q", "qd", "qdd")}
        if len(set(self.joints)) != len(self.joints) or len(set(self.parameters)) != len(self.parameters):
            raise ValueError("a joint or a parameter was given twice")
        for name in self.parameters:
            if not is_symbol_name(name):
                raise ValueError(f"{shown(name)} is not a symbol's name (a letter, then letters, digits or _)")
            if name in taken:
                raise ValueError(f"the parameter {name} has the name of a joint's variable: rename it")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, TrigAlgebra) and self.generators == other.generators

    def __hash__(self) -> int:
        return hash(self.generators)

    def describe(self) -> str:
        """The symbols in one line, cut where it is long."""
        text = " ".join(self.letter(g) for g in self.generators)
        return text if len(text) <= 120 else text[:117] + "..."

    def __repr__(self) -> str:
        return f"<TrigAlgebra {self.describe()}>"

    def letter(self, generator: Generator) -> str:
        """How a symbol is written in text: s1, or sin(q1) if a parameter is called s1."""
        if generator.is_joint_angle and not self.short:
            return f"{generator.kind[:3]}(q{generator.of})"
        return str(generator)

    def latex_letter(self, generator: Generator) -> str:
        """The same in LaTeX, where m2 and m_2 would look alike."""
        if generator.is_joint_angle and not self.short:
            return rf"\{generator.kind[:3]}(q_{{{generator.of}}})"
        if generator.kind == "parameter" and generator.of in self.alike:
            return verbatim_latex(str(generator.of))
        return generator.latex

    def index(self, generator: Generator) -> int:
        """A symbol's place in `generators`; ValueError if this algebra does not have it."""
        try:
            return self._index[generator]
        except KeyError:
            raise ValueError(
                f"{generator} is not among this algebra's letters ({self.describe()}): declare it"
            ) from None

    # What the mechanics asks for.

    def number(self, value: Fraction | int) -> TrigPoly:
        """A rational constant."""
        return TrigPoly(self, self._context.constant(fmpq(value.numerator, value.denominator)), 0)

    def symbol(self, name: str) -> TrigPoly:
        """A parameter."""
        return self.generator(Generator("parameter", name))

    def generator(self, generator: Generator) -> TrigPoly:
        """One symbol as a formula."""
        return self._letters[self.index(generator)]

    def sincos(self, angle: Angle) -> tuple[TrigPoly, TrigPoly]:
        """(sine, cosine) of a constant angle: numbers for quarter turns, else declared symbols."""
        return sincos_from_pieces(angle, self.number, self._pair)

    def joint_sincos(self, joint: int) -> tuple[TrigPoly, TrigPoly]:
        """(sine, cosine) of a revolute joint's angle."""
        return self._pair(joint)

    def divided(self, numerator: TrigPoly, denominator: TrigPoly) -> TrigPoly:
        """What numerator / denominator is, in algebras that have it: a polynomial has no quotients."""
        return NotImplemented

    def _pair(self, of: int | Angle) -> tuple[TrigPoly, TrigPoly]:
        s = self.generator(Generator("sine", of))
        return s, s if of == HALF_RIGHT else self.generator(Generator("cosine", of))

    def _circle(self, of: int | Angle) -> Any:
        """What is zero of an angle's symbols, as a flint polynomial."""
        s = self.generator(Generator("sine", of))._poly
        if isinstance(of, Angle) and of in _SQUARES:
            return s**2 - _SQUARES[of]
        return s**2 + self.generator(Generator("cosine", of))._poly ** 2 - 1

    def sum_sincos(self, multiples: Mapping[int, int]) -> tuple[TrigPoly, TrigPoly]:
        """(sine, cosine) of an integer combination of revolute joints' angles, {joint: multiple}."""
        parts = ((self._pair(joint), times) for joint, times in multiples.items() if times)
        return sum_of_angles(parts, self.one, self.zero)

    def displacement(self, joint: int) -> TrigPoly:
        """A prismatic joint's variable, m."""
        return self.generator(Generator("displacement", joint))

    def rate(self, joint: int) -> TrigPoly:
        """A joint's velocity, rad/s or m/s."""
        return self.generator(Generator("rate", joint))

    def acceleration(self, joint: int) -> TrigPoly:
        """A joint's acceleration, rad/s^2 or m/s^2."""
        return self.generator(Generator("acceleration", joint))

    def sum_of_products(self, pairs: Iterable[tuple[TrigPoly, TrigPoly]]) -> TrigPoly:
        """The sum of the pairs' products, reduced once at the end; faster than term by term."""
        total = self._context.constant(0)
        sines = squared = 0
        for a, b in pairs:
            a._same(b)
            self.zero._same(a)
            if a and b:
                total = total + self._raw_product(a._poly, b._poly)
                _check_terms(len(total), self.max_terms)
                sines |= a._sines | b._sines
                squared |= a._sines & b._sines
        return TrigPoly(self, self._reduced(total, squared), sines)

    def with_rates(self) -> TrigAlgebra:
        """The same symbols and the joints' rates and accelerations besides."""
        return TrigAlgebra(
            self.revolute,
            self.prismatic,
            self.parameters,
            self.constant_angles,
            rates=True,
            max_terms=self.max_terms,
        )

    def lifted(self, formula: TrigPoly) -> TrigPoly:
        """A formula of an algebra with fewer symbols, in this one."""
        return self.from_terms(formula.terms())

    def from_terms(self, terms: Iterable[tuple[Rational | int, Mapping[Generator, int]]]) -> TrigPoly:
        """The formula with the given terms, as `TrigPoly.terms` yields them; reduced if need be."""
        collected: dict[tuple[int, ...], fmpq] = {}
        for coefficient, monomial in terms:
            exponents = [0] * max(1, len(self.generators))
            for generator, exponent in monomial.items():
                exponents[self.index(generator)] = exponent
            key = tuple(exponents)
            value = fmpq(int(coefficient.numerator), int(coefficient.denominator))
            collected[key] = collected.get(key, fmpq(0)) + value
        return self._canonical(self._context.from_dict(collected))

    def from_sympy(self, expression: Any) -> TrigPoly:
        """The formula of a SymPy expression; ValueError for what is no trigonometric polynomial."""
        from emdeg.algebra.sympy_border import from_sympy

        return from_sympy(self, expression)

    # Arithmetic on flint polynomials.

    def _checked(self, poly: Any, sines: int) -> TrigPoly:
        if len(poly) > self.max_terms:
            _check_terms(len(poly), self.max_terms)
        return TrigPoly(self, poly, sines)

    def _product(self, a: TrigPoly, b: TrigPoly) -> TrigPoly:
        poly = self._raw_product(a._poly, b._poly)
        if squared := a._sines & b._sines:
            poly = self._reduced(poly, squared)
        return TrigPoly(self, poly, a._sines | b._sines)

    def _raw_product(self, a: Any, b: Any) -> Any:
        """a * b; where that could overrun the budget, piece by piece so as to notice in time."""
        if len(a) * len(b) <= self.max_terms:
            return a * b
        if len(a) < len(b):
            a, b = b, a
        _check_terms(len(a), self.max_terms)
        total = self._context.constant(0)
        for piece in _pieces(self._context, b, max(1, self.max_terms // len(a))):
            total = total + a * piece
            _check_terms(len(total), self.max_terms)
        return total

    def _reduced(self, poly: Any, squared: int) -> Any:
        """`poly`, of degree two at most in the sines of the bits of `squared`, made linear in them."""
        while squared:
            bit = squared.bit_length() - 1
            squared ^= 1 << bit
            sine = self._sines[bit]
            second = poly.derivative(sine).derivative(sine)
            if second:
                poly = poly - second * self._half_identity[bit]
                _check_terms(len(poly), self.max_terms)
        return poly

    def _canonical(self, poly: Any) -> TrigPoly:
        """The formula of any polynomial in the symbols, of whatever degree in the sines."""
        sines = 0
        degrees = poly.degrees()
        for bit, (sine, identity) in enumerate(zip(self._sines, self._identity)):
            if degrees[sine] >= 2:
                poly = divmod(poly, identity)[1]
                _check_terms(len(poly), self.max_terms)
            if degrees[sine] >= 1:
                sines |= 1 << bit
        return self._checked(poly, sines)

    def _joint_derivative(self, formula: TrigPoly, joint: int) -> TrigPoly:
        if joint in self.prismatic:
            return formula.derivative_by(Generator("displacement", joint))
        i = self.index(Generator("sine", joint))
        s, c = self._letters[i]._poly, self._letters[i + 1]._poly
        poly = formula._poly.derivative(i) * c - formula._poly.derivative(i + 1) * s
        bit = self._letters[i]._sines
        if formula._sines & bit:
            poly = self._reduced(poly, bit)
        return self._checked(poly, formula._sines | bit)

    def _substitute(self, formula: TrigPoly, values: Mapping[Generator | str | int, Substitute]) -> TrigPoly:
        replaced: dict[int, Any] = {}
        for key, value in values.items():
            for generator, replacement in self._replacements(key, value):
                replaced[self.index(generator)] = replacement._poly
        numbers = {i: p.leading_coefficient() if p else fmpq(0) for i, p in replaced.items() if _is_number(p)}
        poly = formula._poly.subs(numbers) if numbers else formula._poly
        degrees = poly.degrees()
        if any(i not in numbers and degrees[i] > 0 for i in replaced):
            images = [replaced.get(i, letter._poly) for i, letter in enumerate(self._letters)]
            poly = poly.compose(*images, ctx=self._context)
        return self._canonical(poly)

    def image(self, formula: TrigPoly, letters: Mapping[Generator, TrigPoly]) -> TrigPoly:
        """`formula`, of another algebra, with formulas of this one for some symbols; the others are alike in both."""
        images = [(letters[g] if g in letters else self.generator(g))._poly for g in formula.algebra.generators]
        return self._canonical(formula._poly.compose(*(images or [self.zero._poly]), ctx=self._context))

    def _replacements(self, key: Generator | str | int, value: Substitute) -> Iterator[tuple[Generator, TrigPoly]]:
        if isinstance(key, str):
            key = Generator("parameter", key)
        if isinstance(key, int) and key not in self.revolute:
            key = Generator("displacement", key)
        if isinstance(key, Generator):
            if key.kind in ("sine", "cosine"):
                raise ValueError(f"{key} is bound to its angle: substitute for the joint, with its number as key")
            if isinstance(value, (Angle, tuple)):
                raise ValueError(f"{key} takes a number or a formula, not {value!r}")
            yield key, self._formula(value)
            return
        if isinstance(value, Angle):
            s, c = self.sincos(value)
        elif isinstance(value, tuple) and len(value) == 2:
            s, c = self._formula(value[0]), self._formula(value[1])
            if s * s + c * c != 1:
                raise ValueError(f"joint {key} was given a sine and a cosine whose squares do not add up to 1")
        else:
            raise ValueError(f"joint {key} is revolute: give an Angle or a pair (sine, cosine), not {value!r}")
        yield Generator("sine", key), s
        yield Generator("cosine", key), c

    def _formula(self, value: Any) -> TrigPoly:
        if isinstance(value, TrigPoly):
            self.zero._same(value)
            return value
        if isinstance(value, Rational):
            return self.zero + value
        raise ValueError(f"{value!r} is neither a formula nor an exact number (int or Fraction)")


def _is_number(poly: Any) -> bool:
    return len(poly) == 0 or (len(poly) == 1 and bool(poly.is_constant()))


def _pieces(context: Any, poly: Any, size: int) -> Iterator[Any]:
    terms: Sequence[tuple[Any, Any]] = list(poly.to_dict().items())
    for start in range(0, len(terms), size):
        yield context.from_dict(dict(terms[start : start + size]))


class KnownAngles(TrigAlgebra):
    """Of 30 and 60 degrees one sine is the number 1/2, the other the symbol sqrt(3)/2: formulas for people."""

    def _declared(self, piece: Angle) -> Angle:
        return THIRD if piece == SIXTH else piece

    def _pair(self, of: int | Angle) -> tuple[TrigPoly, TrigPoly]:
        if of == SIXTH:
            return self.number(Fraction(1, 2)), self.generator(Generator("sine", THIRD))
        return super()._pair(of)


class RationalAngles(TrigAlgebra):
    """Constant angles have numbers for sine and cosine: the nearest of the circle's points with short fractions."""

    def sincos(self, angle: Angle) -> tuple[TrigPoly, TrigPoly]:
        if angle.symbol is not None or angle.quarter_turns is not None:
            return super().sincos(angle)
        quarters, rest = angle.split()
        s, c = rest.sincos()
        half = (s / (1 + c)).limit_denominator(SHORT)  # tan(rest / 2)
        s, c = 2 * half / (1 + half * half), (1 - half * half) / (1 + half * half)
        turned = ((s, c), (c, -s), (-s, -c), (-c, s))[quarters]
        return self.number(turned[0]), self.number(turned[1])


def _check_terms(terms: int, max_terms: int) -> None:
    """Raise `OverBudget` if a formula of `terms` terms exceeds the limit."""
    if terms > max_terms:
        raise OverBudget(
            f"a formula grew to {terms} terms and the budget is {max_terms}: give numbers to some symbolic "
            "parameters, lock joints, ask for a program instead of expanded formulas, or raise max_terms"
        )
