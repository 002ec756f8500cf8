"""Small formulas in text, "sin(q2)*cos(q3) + 0.1*L": parsed by hand, never run.

An expression is inert data; what its names mean is decided when it is evaluated over some algebra.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra.angle import Angle
from emdeg.algebra.exact import parse_number, shown
from emdeg.algebra.scalar import sum_of_angles

MAX_LENGTH = 2000
MAX_DEPTH = 40
MAX_POWER = 12
MAX_PARTS = 360
MAX_DEGREE = 200
"""Factors that the longest product may have, powers multiplied out: what is worked out stays of a size that can be."""

_TOKEN = re.compile(r"\s*(?:([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+\.)|([A-Za-z][A-Za-z0-9_]*)|(.))")


@dataclass(frozen=True, slots=True)
class ParsedSum:
    terms: tuple[tuple[int, ParsedNode], ...]
    """(sign, term)."""


@dataclass(frozen=True, slots=True)
class ParsedProduct:
    factors: tuple[tuple[ParsedNode, int], ...]
    """(factor, exponent); a negative exponent divides."""


@dataclass(frozen=True, slots=True)
class ParsedName:
    name: str


@dataclass(frozen=True, slots=True)
class ParsedSine:
    """The sine or cosine of a sum of named angles with whole multiples, and of a multiple of pi."""

    cosine: bool
    angles: tuple[tuple[str, int], ...]
    half_turns: Fraction = Fraction(0)
    """The multiple of pi."""


ParsedNode = ParsedSum | ParsedProduct | ParsedName | ParsedSine | Fraction


@dataclass(frozen=True, slots=True)
class Expression:
    """A polynomial in names and in sines and cosines of named angles, or a quotient of such.

    >>> parsed("2*sin(q1 + q2) - L").names
    ('L', 'q1', 'q2')
    """

    text: str
    node: ParsedNode

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that occurs, sorted."""
        found = {node.name for node in _nodes(self.node) if isinstance(node, ParsedName)}
        sines = [node for node in _nodes(self.node) if isinstance(node, ParsedSine)]
        return tuple(sorted(found.union(name for sine in sines for name, _ in sine.angles)))

    @property
    def divides(self) -> bool:
        """Whether anything but numbers is divided by."""
        products = [node for node in _nodes(self.node) if isinstance(node, ParsedProduct)]
        return any(exponent < 0 for product in products for _, exponent in product.factors)

    def degree(self, of_name: Callable[[str], int] = lambda name: 1) -> int:
        """How many factors its longest product has, powers multiplied out and names taken for what they stand for.

        >>> parsed("2*(a + b^2)^3 + c").degree()
        7
        """
        return _degree(self.node, of_name)

    def evaluate(
        self,
        number: Callable[[Fraction], Any],
        value: Callable[[str], Any],
        sincos: Callable[[str], tuple[Any, Any]],
        constant: Callable[[Angle], tuple[Any, Any]] | None = None,
    ) -> Any:
        """The expression over an algebra: how it writes a number, a name's value, a named angle's (sine, cosine).

        `constant` is the (sine, cosine) of a constant angle; ValueError where there is one and none is given.
        """

        def of(node: ParsedNode) -> Any:
            if isinstance(node, Fraction):
                return number(node)
            if isinstance(node, ParsedName):
                return value(node.name)
            if isinstance(node, ParsedSine):
                parts = [(sincos(name), times) for name, times in node.angles]
                if node.half_turns:
                    if constant is None:
                        raise ValueError(f"no constant angle may stand here, in the formula {shown(self.text)}")
                    parts.insert(0, (constant(Angle(node.half_turns)), 1))
                return sum_of_angles(parts, number(Fraction(1)), number(Fraction(0)))[node.cosine]
            if isinstance(node, ParsedSum):
                total = number(Fraction(0))
                for sign, term in node.terms:
                    total = total + of(term) if sign > 0 else total - of(term)
                return total
            product = number(Fraction(1))
            for factor, exponent in node.factors:
                base = of(factor)
                for _ in range(abs(exponent)):
                    product = product * base if exponent > 0 else product / base
            return product

        return of(self.node)

    def __str__(self) -> str:
        return self.text


def parsed(text: str, *, quotients: bool = False) -> Expression:
    """The expression that `text` writes: numbers, names, + - *, powers, parentheses, sin(...) and cos(...).

    Inside sin and cos stand sums of names with whole multiples. Only numbers may be divided by, unless `quotients`
    are asked for, which allow constant angles as well: sin(q1 + pi/3). ValueError says what is wrong.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the formula {shown(text)} has more than {MAX_LENGTH} characters")
    reader = _Reader(text, quotients)
    node = reader.sum(0)
    if reader.token is not None:
        raise ValueError(f"unexpected {reader.token!r} in the formula {shown(text)}")
    found = Expression(text.strip(), node)
    if found.degree() > MAX_DEGREE:
        raise ValueError(f"the formula {shown(text)} has a product of more than {MAX_DEGREE} factors")
    return found


class _Reader:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str, quotients: bool) -> None:
        self.text, self.quotients = text, quotients
        self.tokens = [match[1] or match[2] or match[3] for match in _TOKEN.finditer(text.rstrip())]
        self.place = 0

    @property
    def token(self) -> str | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> str:
        token = self.token
        if token is None:
            raise ValueError(f"the formula {shown(self.text)} ends too early")
        self.place += 1
        return token

    def expect(self, wanted: str) -> None:
        if self.token != wanted:
            raise ValueError(f"{wanted!r} is missing in the formula {shown(self.text)}")
        self.place += 1

    def sum(self, depth: int) -> ParsedNode:
        if depth > MAX_DEPTH:
            raise ValueError(f"the formula {shown(self.text)} is nested more than {MAX_DEPTH} deep")
        terms = [(self.sign(), self.product(depth))]
        while self.token in ("+", "-"):
            terms.append((self.sign(), self.product(depth)))
        return terms[0][1] if len(terms) == 1 and terms[0][0] > 0 else ParsedSum(tuple(terms))

    def sign(self) -> int:
        sign = 1
        while self.token in ("+", "-"):
            sign = -sign if self.take() == "-" else sign
        return sign

    def product(self, depth: int) -> ParsedNode:
        factors = [self.power(depth)]
        while self.token in ("*", "/"):
            if self.take() == "/":
                divisor, exponent = self.power(depth)
                if isinstance(divisor, Fraction) and divisor:
                    factors.append((1 / divisor, exponent))
                elif self.quotients and not isinstance(divisor, Fraction):
                    factors.append((divisor, -exponent))
                else:
                    what = "nothing may be divided by zero" if self.quotients else "only a number may be divided by"
                    raise ValueError(f"{what}, in the formula {shown(self.text)}")
            else:
                factors.append(self.power(depth))
        return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else ParsedProduct(tuple(factors))

    def power(self, depth: int) -> tuple[ParsedNode, int]:
        base = self.atom(depth)
        if self.token != "^":
            return base, 1
        self.take()
        exponent = self.take()
        if not exponent.isdecimal() or not 1 <= int(exponent) <= MAX_POWER:
            raise ValueError(f"an exponent must be 1 to {MAX_POWER}, in the formula {shown(self.text)}")
        return base, int(exponent)

    def atom(self, depth: int) -> ParsedNode:
        token = self.take()
        if token == "(":
            inner = self.sum(depth + 1)
            self.expect(")")
            return inner
        if token in ("sin", "cos"):
            self.expect("(")
            wave = ParsedSine(token == "cos", *self.angles())
            self.expect(")")
            return wave
        if token[0].isalpha():
            return ParsedName(token)
        try:
            return parse_number(token)
        except ValueError:
            raise ValueError(f"unexpected {token!r} in the formula {shown(self.text)}") from None

    def angles(self) -> tuple[tuple[tuple[str, int], ...], Fraction]:
        """(names with their multiples, the multiple of pi)."""
        found: dict[str, int] = {}
        half_turns = Fraction(0)
        while True:
            times = self.sign()
            if self.token is not None and self.token.isdecimal():
                times *= int(self.take())
                self.expect("*")
            name = self.take()
            if not name[0].isalpha() or name in ("sin", "cos") or abs(times) > MAX_POWER:
                raise ValueError(
                    f"inside sin and cos stand joints' names with whole multiples, in the formula {shown(self.text)}"
                )
            if name == "pi" and self.quotients:
                half_turns += Fraction(times, self.parts())
            else:
                found[name] = found.get(name, 0) + times
            if self.token not in ("+", "-"):
                return tuple(found.items()), half_turns

    def parts(self) -> int:
        """The whole number that pi is divided by; 1 where it is not."""
        if self.token != "/":
            return 1
        self.take()
        number = self.take()
        if not number.isdecimal() or not 1 <= int(number) <= MAX_PARTS:
            raise ValueError(f"pi is divided by 1 to {MAX_PARTS}, in the formula {shown(self.text)}")
        return int(number)


def _degree(node: ParsedNode, of_name: Callable[[str], int]) -> int:
    if isinstance(node, ParsedName):
        return of_name(node.name)
    if isinstance(node, ParsedSine):
        return sum(abs(times) for _, times in node.angles)
    if isinstance(node, ParsedSum):
        return max(_degree(term, of_name) for _, term in node.terms)
    if isinstance(node, ParsedProduct):
        return sum(abs(exponent) * _degree(factor, of_name) for factor, exponent in node.factors)
    return 1


def _nodes(node: ParsedNode) -> Iterator[ParsedNode]:
    """Every node of an expression."""
    yield node
    if isinstance(node, ParsedSum):
        inner = [term for _, term in node.terms]
    else:
        inner = [factor for factor, _ in node.factors] if isinstance(node, ParsedProduct) else []
    for one in inner:
        yield from _nodes(one)
