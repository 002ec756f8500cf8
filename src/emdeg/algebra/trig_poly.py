"""Trigonometric polynomials in canonical form: the formulas of the explicit equations.

A formula is a polynomial with rational coefficients in the sines and cosines of the joint angles, prismatic
displacements, rates, accelerations and parameters. Every sine occurs at most linearly (s^2 becomes 1 - c^2),
which makes the form unique: two formulas are equal exactly if their terms are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from flint import fmpq

from emdeg.algebra.angle import THIRD, Angle

if TYPE_CHECKING:
    import numpy as np

    from emdeg.algebra.trig_algebra import TrigAlgebra

S = TypeVar("S")


class TrigPoly:
    """A trigonometric polynomial of one `TrigAlgebra`; immutable, hashable, always canonical.

    +, - and * take other polynomials of the same algebra, int and Fraction; / takes int and Fraction.
    """

    __slots__ = ("_hash", "_poly", "_sines", "algebra")

    algebra: TrigAlgebra

    def __init__(self, algebra: TrigAlgebra, poly: Any, sines: int) -> None:
        """Made by the algebra only: `poly` canonical, `sines` a bit for each sine that may occur in it.

        The bits make the reduction cheap: only a sine on both sides of a product can come out squared.
        """
        self.algebra = algebra
        self._poly = poly
        self._sines = sines
        self._hash: int | None = None

    def _same(self, other: TrigPoly) -> None:
        if self.algebra is not other.algebra and self.algebra != other.algebra:
            raise ValueError(
                "these formulas belong to different algebras: "
                f"[{self.algebra.describe()}] and [{other.algebra.describe()}]"
            )

    def __add__(self, other: TrigPoly | Rational | int) -> TrigPoly:
        if isinstance(other, TrigPoly):
            self._same(other)
            return self.algebra._checked(self._poly + other._poly, self._sines | other._sines)
        if isinstance(other, Rational):
            return TrigPoly(self.algebra, self._poly + _fmpq(other), self._sines)
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: TrigPoly | Rational | int) -> TrigPoly:
        if isinstance(other, TrigPoly):
            self._same(other)
            return self.algebra._checked(self._poly - other._poly, self._sines | other._sines)
        if isinstance(other, Rational):
            return TrigPoly(self.algebra, self._poly - _fmpq(other), self._sines)
        return NotImplemented

    def __rsub__(self, other: Rational | int) -> TrigPoly:
        if isinstance(other, Rational):
            return TrigPoly(self.algebra, _fmpq(other) - self._poly, self._sines)
        return NotImplemented

    def __neg__(self) -> TrigPoly:
        return TrigPoly(self.algebra, -self._poly, self._sines)

    def __pos__(self) -> TrigPoly:
        return self

    def __mul__(self, other: TrigPoly | Rational | int) -> TrigPoly:
        if isinstance(other, TrigPoly):
            self._same(other)
            return self.algebra._product(self, other)
        if isinstance(other, Rational):
            return TrigPoly(self.algebra, self._poly * _fmpq(other), self._sines)
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: TrigPoly | Rational | int) -> TrigPoly:
        if isinstance(other, TrigPoly):
            return self.algebra.divided(self, other)
        if isinstance(other, Rational):
            if not other:
                raise ZeroDivisionError("a formula was divided by zero")
            return TrigPoly(self.algebra, self._poly * _fmpq(1 / Fraction(other)), self._sines)
        return NotImplemented

    def __rtruediv__(self, other: Rational | int) -> TrigPoly:
        return self.algebra.divided(self.algebra.one * other, self) if isinstance(other, Rational) else NotImplemented

    def __pow__(self, exponent: int) -> TrigPoly:
        if not isinstance(exponent, int) or exponent < 0:
            raise ValueError(f"a formula can be raised to 0, 1, 2, ..., not to {exponent!r}")
        power = self.algebra.one
        for bit in bin(exponent)[2:]:
            power = power * power
            if bit == "1":
                power = power * self
        return power

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TrigPoly):
            return self.algebra == other.algebra and bool(self._poly == other._poly)
        if isinstance(other, Rational):
            return bool(self._poly == _fmpq(other))
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            if self.is_number:
                self._hash = hash(self.number)
            else:
                exponents = tuple(int(e) for e in self._poly.monomial(0))
                self._hash = hash((exponents, tuple((int(c.p), int(c.q)) for c in self._poly.coeffs())))
        return self._hash

    def __bool__(self) -> bool:
        return bool(self._poly)

    def __len__(self) -> int:
        """The number of terms."""
        return len(self._poly)

    @property
    def is_number(self) -> bool:
        return len(self._poly) == 0 or (len(self._poly) == 1 and bool(self._poly.is_constant()))

    @property
    def number(self) -> Fraction:
        """The rational value; ValueError if any symbol occurs."""
        if not self.is_number:
            raise ValueError(f"{self} is not a number")
        return _fraction(self._poly.leading_coefficient()) if self._poly else Fraction(0)

    @property
    def leading_coefficient(self) -> Fraction:
        """The coefficient of the first term; 0 for the zero formula."""
        return _fraction(self._poly.leading_coefficient()) if self._poly else Fraction(0)

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The symbols that occur, in the algebra's order."""
        return tuple(g for g, d in zip(self.algebra.generators, self._poly.degrees()) if d > 0)

    @property
    def total_degree(self) -> int:
        """The largest sum of exponents in a term; 0 for the zero formula."""
        return max(0, int(self._poly.total_degree()))

    def degree(self, generator: Generator) -> int:
        """The largest exponent of one symbol; 0 for the zero formula."""
        return max(0, int(self._poly.degrees()[self.algebra.index(generator)]))

    def terms(self) -> Iterator[tuple[Fraction, dict[Generator, int]]]:
        """Each term as (coefficient, exponents by symbol), in the algebra's lexicographic order."""
        generators = self.algebra.generators
        for monomial, coefficient in self._poly.to_dict().items():
            yield _fraction(coefficient), {g: int(e) for g, e in zip(generators, monomial) if e}

    def derivative(self, joint: int) -> TrigPoly:
        """The partial derivative by a joint's variable (angle or displacement)."""
        return self.algebra._joint_derivative(self, joint)

    def derivative_by(self, generator: Generator) -> TrigPoly:
        """The partial derivative by a displacement, rate, acceleration or parameter."""
        if generator.kind in ("sine", "cosine"):
            raise ValueError(f"{generator} is no variable of its own: take the derivative by the joint's angle")
        return TrigPoly(self.algebra, self._poly.derivative(self.algebra.index(generator)), self._sines)

    def substitute(self, values: Mapping[Generator | str | int, Substitute]) -> TrigPoly:
        """This formula with values or formulas in place of parameters (by name) and joints (by number).

        A revolute joint takes an `Angle` or a pair (sine, cosine); a prismatic joint and a parameter take
        a number or a formula; rates and accelerations are addressed by their `Generator`.
        """
        return self.algebra._substitute(self, values)

    def map(self, letter: Callable[[Generator], S], number: Callable[[Fraction], S]) -> S:
        """This formula in another algebra, given how that one writes a symbol and a rational.

        >>> from emdeg.algebra.trig_algebra import TrigAlgebra
        >>> algebra = TrigAlgebra(parameters=["a", "b"])
        >>> p = 2 * algebra.symbol("a") * algebra.symbol("b") + 1
        >>> p.map(lambda g: {"a": 3.0, "b": 0.5}[g.of], float)
        4.0
        """
        powers: dict[tuple[Generator, int], Any] = {}

        def power(generator: Generator, exponent: int) -> Any:
            key = generator, exponent
            if key not in powers:
                powers[key] = (
                    letter(generator) if exponent == 1 else power(generator, exponent - 1) * power(generator, 1)
                )
            return powers[key]

        total: Any = None
        for coefficient, monomial in self.terms():
            term: Any = None if coefficient == 1 and monomial else number(coefficient)
            for generator, exponent in monomial.items():
                factor = power(generator, exponent)
                term = factor if term is None else term * factor
            total = term if total is None else total + term
        return number(Fraction(0)) if total is None else total

    def evaluate(
        self,
        q: Any = None,
        qd: Any = None,
        qdd: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> np.ndarray:
        """Its value in doubles: arrays (..., n) over `algebra.joints` give an array (...).

        q in rad or m; a parameter may itself be an array that broadcasts against (...).
        """
        from emdeg.algebra.floats import evaluate

        return evaluate(self, q, qd, qdd, parameters or {})

    def to_fourier(self) -> dict[tuple[int, ...], tuple[TrigPoly, TrigPoly]]:
        """{m: (a, b)} with this formula = sum of a cos(m.q) + b sin(m.q), over `algebra.revolute`.

        The first nonzero entry of each m is positive; a and b are free of joint angles.
        """
        from emdeg.algebra.fourier import to_fourier

        return to_fourier(self)

    def to_sympy(self) -> Any:
        """The SymPy expression, in sin(q1), cos(q1), q2, qd1, qdd1 and the parameters' names."""
        from emdeg.algebra.sympy_border import to_sympy

        return to_sympy(self)

    def __str__(self) -> str:
        return _written(self, self.algebra.letter, "*", "^{}", str)

    def __repr__(self) -> str:
        text = str(self)
        return f"TrigPoly('{text}')" if len(text) <= 300 else f"TrigPoly({len(self)} terms: {text[:240]} ...)"

    @property
    def latex(self) -> str:
        """LaTeX of the expanded form."""
        return _written(self, self.algebra.latex_letter, " ", "^{{{}}}", _fraction_latex)

    def _repr_latex_(self) -> str:
        if len(self) > 200:
            return rf"$\text{{a formula of {len(self)} terms}}$"
        return f"${self.latex}$"


Substitute = TrigPoly | Rational | int | Angle | tuple[Any, Any]


def _fmpq(value: Rational | int) -> fmpq:
    if isinstance(value, int):
        return fmpq(int(value))
    return fmpq(int(value.numerator), int(value.denominator))


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _fraction_latex(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _written(
    formula: TrigPoly,
    letter: Callable[[Generator], str],
    times: str,
    exponent: str,
    number: Callable[[Fraction], str],
) -> str:
    parts: list[str] = []
    for coefficient, monomial in formula.terms():
        factors = [letter(g) + ("" if e == 1 else exponent.format(e)) for g, e in monomial.items()]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, number(abs(coefficient)))
        parts.append((" - " if coefficient < 0 else " + ") + times.join(factors))
    text = "".join(parts)
    return "0" if not text else text[3:] if text.startswith(" + ") else "-" + text[3:]


Kind = Literal["sine", "cosine", "displacement", "rate", "acceleration", "parameter"]

GREEK = frozenset(
    re.findall(
        "[A-Za-z]+",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon"
        " phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega",
    )
)
_HEAD = re.compile(r"([A-Za-z]+)_*(.*)\Z")


@dataclass(frozen=True, slots=True)
class Generator:
    """One letter: `kind` says what it measures, `of` whose it is.

    `of` is a joint's number, a parameter's name, or the constant angle whose sine or cosine it is.

    >>> print(Generator("sine", 2), Generator("rate", 1), Generator("parameter", "m3"))
    s2 qd1 m3
    """

    kind: Kind
    of: int | str | Angle

    @property
    def is_joint_angle(self) -> bool:
        """Whether this is the sine or cosine of a joint's angle."""
        return self.kind in ("sine", "cosine") and isinstance(self.of, int)

    def __str__(self) -> str:
        if self.kind in ("sine", "cosine"):
            if isinstance(self.of, int):
                return f"{self.kind[0]}{self.of}"
            return "sqrt(3)/2" if self == _HALF_ROOT else f"{self.kind[:3]}({self.of})"
        prefix = {"displacement": "q", "rate": "qd", "acceleration": "qdd", "parameter": ""}[self.kind]
        return f"{prefix}{self.of}"

    @property
    def latex(self) -> str:
        """LaTeX for this symbol; every character of a parameter's name is a symbol, a digit or _."""
        if self.kind in ("sine", "cosine"):
            if isinstance(self.of, int):
                return f"{self.kind[0]}_{{{self.of}}}"
            if self == _HALF_ROOT:
                return r"\tfrac{\sqrt{3}}{2}"
            return rf"\{self.kind[:3]}\left({_angle_latex(self.of)}\right)"
        if self.kind == "parameter":
            return name_latex(str(self.of))
        dots = {"displacement": "q", "rate": r"\dot{q}", "acceleration": r"\ddot{q}"}[self.kind]
        return f"{dots}_{{{self.of}}}"


_HALF_ROOT = Generator("sine", THIRD)

Look = tuple[str, str]
"""What a name looks like where it is typeset: its first letters, and what stands below them."""


def look(name: str) -> Look:
    """How a symbol's name looks: names with the same look are told apart in text alone.

    >>> look("m2"), look("m_2"), look("M_1_12")
    (('m', '2'), ('m', '2'), ('M', '1,12'))
    """
    match = _HEAD.match(name)
    return (name, "") if match is None else (match[1], match[2].strip("_").replace("_", ","))


ABBREVIATION = re.compile(r"(S|C|SS|CC|SC)_*[0-9][0-9m_]*\Z")
"""What the abbreviation of a sine or cosine of a sum of angles looks like (`Atom`)."""


def verbatim_latex(name: str) -> str:
    """LaTeX for a name letter by letter, where another one looks the same as it."""
    plain = name.replace("_", r"\_")
    return rf"\mathtt{{{plain}}}"


def name_latex(name: str) -> str:
    """LaTeX for a symbol's name: what follows its first letters becomes a subscript, a final "dot" a dot.

    >>> print(name_latex("m2"), name_latex("Ixx_3"), name_latex("alpha"), name_latex("xdot"))
    m_{2} \\mathrm{Ixx}_{3} \\alpha \\dot{x}
    """
    match = _HEAD.match(name)
    if match is None:
        raise ValueError(f"{name!r} is not a symbol's name (a letter, then letters, digits or _)")
    head, tail = match[1], match[2].strip("_").replace("_", ",")
    if len(head) > 3 and head.endswith("dot"):
        head = rf"\dot{{{name_latex(head[:-3])}}}"
        return f"{head}_{{{tail}}}" if tail else head
    if head in GREEK:
        head = f"\\{head}"
    elif len(head) > 1:
        head = rf"\mathrm{{{head}}}"
    return f"{head}_{{{tail}}}" if tail else head


def _angle_latex(angle: str | Angle) -> str:
    if isinstance(angle, str):
        return name_latex(angle)
    parts = []
    if angle.pi_times:
        p, q = angle.pi_times.numerator, angle.pi_times.denominator
        multiple = {1: "", -1: "-"}.get(p, str(p)) + r"\pi"
        parts.append(multiple if q == 1 else rf"\frac{{{multiple}}}{{{q}}}")
    if angle.radians:
        parts.append(repr(float(angle.radians)))
    if angle.symbol is not None:
        parts.append(name_latex(angle.symbol))
    return " + ".join(parts)
