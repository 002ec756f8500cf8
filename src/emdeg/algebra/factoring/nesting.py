"""Factoring for print: one expanded sum as nested brackets, without names for common parts.

Where no part may have a name (a formula in print), what two brackets share cannot be computed once, and taking one
symbol out of some terms decides what can be taken out of the others. So this is a search over the orders in which
symbols are taken out, complete for short sums, and not the greedy choice among shared parts of `SharedParts`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import Any, TypeVar

from emdeg.algebra.expression import Atom, Product, Sum, count

Number = int | Fraction
Polynomial = Mapping[tuple[Atom, ...], Number]
"""{product of atoms, sorted: coefficient}."""

THOROUGH, LONG = 6, 12
"""Terms up to which every common factor is tried, above which the most frequent one is taken; and terms of the whole
from which on this holds for every part of it."""


def nested(polynomial: Polynomial) -> Sum:
    """An equal expression with common factors taken out so that few operations remain."""
    return Nester()(polynomial)


Codes = tuple[str, ...]
"""A product of atoms as strings that sort like them: to compare and to hash these takes no Python code."""
Node = tuple[int, tuple["Term", ...]]
"""(operations, terms) of a sum."""
Term = tuple[int, Codes, tuple[Any, ...]]
"""Coefficient, atoms, and brackets, which are nodes."""
Whole = dict[Codes, int]


class Nester:
    """Takes common factors out of polynomials and remembers what it found for parts that recur."""

    def __init__(self) -> None:
        self._code: dict[Atom, str] = {}
        self._atom: dict[str, Atom] = {}
        self._known: dict[int, dict[frozenset[tuple[Codes, int]], Node]] = {}

    def __call__(self, polynomial: Polynomial) -> Sum:
        """An equal expression with common factors taken out so that few operations remain."""
        if not polynomial:
            return Sum()
        thorough = THOROUGH if len(polynomial) < LONG else 2
        known = self._known.setdefault(thorough, {})
        scale = (
            Fraction(1)
            if all(c.denominator == 1 for c in polynomial.values())
            else Fraction(content(polynomial.values()))
        )
        whole = {tuple(map(self._coded, key)): (c / scale).numerator for key, c in polynomial.items()}
        found = self._sum(_nest(whole, known, thorough))
        if scale == 1:
            return found
        spread = Sum(tuple(Product(scale * term.coefficient, term.factors) for term in found.terms))
        bracketed = Sum((Product(scale, (found,)),))
        return spread if count(spread).total <= count(bracketed).total else bracketed

    def _coded(self, atom: Atom) -> str:
        if atom not in self._code:
            angle = "".join(chr(joint + 1) + chr(times + 100) for joint, times in atom.angle)
            self._code[atom] = code = f"{angle}\0{atom.kind}"
            self._atom[code] = atom
        return self._code[atom]

    def _sum(self, node: Node) -> Sum:
        return Sum(
            tuple(
                Product(Fraction(c), (*(self._atom[code] for code in codes), *(self._sum(b) for b in brackets)))
                for c, codes, brackets in node[1]
            )
        )


def _nest(polynomial: Whole, known: dict[frozenset[tuple[Codes, int]], Node], thorough: int) -> Node:
    key = frozenset(polynomial.items())
    if key not in known:
        known[key] = min(_candidates(polynomial, known, thorough), key=_cost)
    return known[key]


def _cost(node: Node) -> tuple[int, int]:
    return node[0], len(node[1])


def _node(terms: tuple[Term, ...]) -> Node:
    """A sum with its operations counted as `expression.count` does."""
    operations = len(terms) - 1
    for c, codes, brackets in terms:
        factors = len(codes) + len(brackets)
        if factors:
            operations += factors - 1 + (c != 1 and c != -1)
        for bracket in brackets:
            operations += bracket[0]
    return operations, terms


def _candidates(polynomial: Whole, known: dict[frozenset[tuple[Codes, int]], Node], thorough: int) -> Iterator[Node]:
    if len(polynomial) <= 1:
        yield _node(tuple((c, key, ()) for key, c in polynomial.items()))
        return
    common = common_to_all(polynomial)
    scale = int(content(polynomial.values()))
    if common or abs(scale) != 1:
        rest = {without(key, common): c // scale for key, c in polynomial.items()}
        yield _node((_multiplied(scale, common, _nest(rest, known, thorough)),))
        if common or len(polynomial) > thorough:
            return
    frequent: dict[str, int] = {}
    for key in polynomial:
        for code in set(key):
            frequent[code] = frequent.get(code, 0) + 1
    chosen = sorted(code for code, times in frequent.items() if times > 1)
    if len(polynomial) > thorough and chosen:
        chosen = [max(chosen, key=lambda code: (frequent[code], code))]
    for code in chosen:
        inside = {without(key, (code,)): c for key, c in polynomial.items() if code in key}
        outside = {key: c for key, c in polynomial.items() if code not in key}
        scale = int(content(inside.values()))
        inner = _nest({key: c // scale for key, c in inside.items()}, known, thorough)
        factored = _multiplied(scale, (code,), inner)
        rest = _nest(outside, known, thorough)[1] if outside else ()
        yield _node(_positive_first(_combined((factored, *rest))))
    if not chosen or len(polynomial) <= thorough:
        ordered = sorted(polynomial.items(), key=lambda item: (-len(item[0]), item[0]))
        yield _node(_positive_first(tuple((c, key, ()) for key, c in ordered)))


def _combined(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Terms with the same bracket as one factor put together: x*(...) + y*(...) is (x + y)*(...)."""
    if sum(len(brackets) == 1 for _, _, brackets in terms) < 2:
        return terms
    by_bracket: dict[Node | None, list[Term]] = {}
    for term in terms:
        by_bracket.setdefault(term[2][0] if len(term[2]) == 1 else None, []).append(term)
    found: list[Term] = []
    for bracket, members in by_bracket.items():
        if bracket is None or len(members) == 1:
            found += members
            continue
        inner = _node(_positive_first(tuple((c, codes, ()) for c, codes, _ in members)))
        found.append((1, (), (inner, bracket)))
    return tuple(found)


def _multiplied(scale: int, codes: Codes, inner: Node) -> Term:
    """scale * atoms * inner; an inner single product is not put in brackets."""
    if len(inner[1]) == 1:
        c, own, brackets = inner[1][0]
        return scale * c, codes + own, brackets
    return scale, codes, (inner,)


def _positive_first(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(sorted(terms, key=lambda term: term[0] < 0))


L = TypeVar("L")
Key = tuple[Any, ...]
"""A product of symbols, sorted; a square has its symbol twice. Symbols are anything that has an order and a hash."""
Table = dict[Key, Fraction]
"""A sum of products; no coefficient is zero."""


def without(key: tuple[L, ...], symbols: Iterable[L]) -> tuple[L, ...]:
    """The product divided by these symbols, all of which it has."""
    rest = list(key)
    for symbol in symbols:
        rest.remove(symbol)
    return tuple(rest)


def joined(key: Key, *symbols: Any) -> Key:
    """The product times these symbols."""
    return tuple(sorted((*key, *symbols)))


def common(a: Key, b: Key) -> Key:
    """The greatest product that divides both."""
    found = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            found.append(a[i])
            i, j = i + 1, j + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return tuple(found)


def common_to_all(keys: Iterable[tuple[L, ...]]) -> tuple[L, ...]:
    """The greatest product that divides them all."""
    left = iter(keys)
    found = next(left, ())
    for key in left:
        if not found:
            break
        found = common(found, key)
    return found


def pairs(key: tuple[L, ...]) -> set[tuple[L, L]]:
    """The products of two symbols that divide a product."""
    return set(combinations(key, 2))


def divisors(key: Key) -> set[Key]:
    """Every product that divides a product, 1 included."""
    found: set[Key] = {()}
    for symbol in key:
        found |= {(*divisor, symbol) for divisor in found}
    return found


def content(coefficients: Collection[Number]) -> Number:
    """The number by which they become whole, without a common factor and most of them positive; whole if they are."""
    values = list(coefficients)
    top, bottom = gcd(*(v.numerator for v in values)), lcm(*(v.denominator for v in values))
    signs = sum(1 if v > 0 else -1 for v in values) or values[0]
    size = top if bottom == 1 else Fraction(top, bottom)
    return size if signs > 0 else -size


def shared(owners: Iterable[tuple[Any, Iterable[L]]]) -> dict[L, list[Any]]:
    """What two owners or more hold -> its owners."""
    found: dict[L, list[Any]] = {}
    for owner, held in owners:
        for one in held:
            found.setdefault(one, []).append(owner)
    return {one: by for one, by in found.items() if len(by) > 1}


def symbols_of(tables: Iterable[Table]) -> Iterator[Any]:
    """Every symbol, as often as it stands there."""
    return (symbol for table in tables for key in table for symbol in key)
