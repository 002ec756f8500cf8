"""Sums of products with common factors taken out: from an expanded polynomial to a nested expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from emdeg.equations.expression import Atom, Product, Sum, count
from emdeg.equations.waves import Form

Key = tuple[Atom, ...]
"""A product of atoms, sorted."""
Polynomial = Mapping[Key, Fraction]

THOROUGH, LONG = 6, 12
"""Terms up to which every common factor is tried, above which the most frequent one is taken; and terms of the whole
from which on this holds for every part of it."""


def nested(polynomial: Polynomial) -> Sum:
    """An equal expression with common factors taken out so that few operations remain."""
    return _nest(dict(polynomial), {}, THOROUGH if len(polynomial) < LONG else 2)


def content(polynomial: Mapping[Any, Fraction]) -> Fraction:
    """The rational by which the coefficients become whole numbers without a common factor, the first positive."""
    values = list(polynomial.values())
    common = Fraction(gcd(*(v.numerator for v in values)), lcm(*(v.denominator for v in values)))
    signs = sum(1 if v > 0 else -1 for v in values) or (1 if values[0] > 0 else -1)
    return common if signs > 0 else -common


def terms_of(form: Form, displacements: tuple[int, ...] = ()) -> dict[Key, Fraction]:
    """The terms of a wave's form as products of atoms; `displacements` number the prismatic joints."""
    angles = len(form.angles)
    found: dict[Key, Fraction] = {}
    for exponents, c in form.wave.items():
        factors: list[Atom] = []
        for k, angle in enumerate(form.angles):
            factors += _trigonometric(angle, exponents[2 * k], exponents[2 * k + 1])
        for joint, power in zip(displacements, exponents[2 * angles :]):
            factors += [Atom("q", ((joint, 1),))] * power
        found[tuple(sorted(factors))] = c
    return found


def _trigonometric(angle, sines: int, cosines: int) -> list[Atom]:
    if sines % 2 and cosines % 2:
        mixed = [Atom("SC", angle)]
    else:
        mixed = [Atom("S", angle)] * (sines % 2) + [Atom("C", angle)] * (cosines % 2)
    return mixed + [Atom("SS", angle)] * (sines // 2) + [Atom("CC", angle)] * (cosines // 2)


def _nest(polynomial: dict[Key, Fraction], memo: dict[frozenset, Sum], thorough: int) -> Sum:
    key = frozenset(polynomial.items())
    if key not in memo:
        memo[key] = min(_candidates(polynomial, memo, thorough), key=_cost)
    return memo[key]


def _cost(expression: Sum) -> tuple[int, int]:
    operations = count(expression)
    return operations.total, len(expression.terms)


def _candidates(polynomial: dict[Key, Fraction], memo: dict[frozenset, Sum], thorough: int) -> Iterator[Sum]:
    if len(polynomial) <= 1:
        yield Sum(tuple(Product(c, key) for key, c in polynomial.items()))
        return
    common = _common(polynomial)
    scale = content(polynomial)
    if common or abs(scale) != 1:
        rest = {_without(key, common): c / scale for key, c in polynomial.items()}
        yield Sum(_multiplied(scale, common, _nest(rest, memo, thorough)))
        if common or len(polynomial) > thorough:
            return
    frequent = Counter(atom for key in polynomial for atom in set(key))
    chosen = [atom for atom, times in sorted(frequent.items()) if times > 1]
    if len(polynomial) > thorough and chosen:
        chosen = [max(chosen, key=lambda atom: (frequent[atom], atom))]
    for atom in chosen:
        inside = {_without(key, (atom,)): c for key, c in polynomial.items() if atom in key}
        outside = {key: c for key, c in polynomial.items() if atom not in key}
        scale = content(inside)
        inner = _nest({key: c / scale for key, c in inside.items()}, memo, thorough)
        factored = _multiplied(scale, (atom,), inner)
        rest = _nest(outside, memo, thorough) if outside else Sum()
        yield Sum(_positive_first(_combined((*factored, *rest.terms))))
    if not chosen or len(polynomial) <= thorough:
        yield Sum(_positive_first(tuple(Product(c, key) for key, c in _ordered(polynomial))))


def _combined(terms: tuple[Product, ...]) -> tuple[Product, ...]:
    """Terms with the same bracket as one factor put together: x*(...) + y*(...) is (x + y)*(...)."""
    by_bracket: dict[Atom | Sum | None, list[Product]] = {}
    for term in terms:
        brackets = [factor for factor in term.factors if isinstance(factor, Sum)]
        by_bracket.setdefault(brackets[0] if len(brackets) == 1 else None, []).append(term)
    found: list[Product] = []
    for bracket, members in by_bracket.items():
        if bracket is None or len(members) == 1:
            found += members
            continue
        inner = tuple(
            Product(term.coefficient, tuple(factor for factor in term.factors if factor != bracket)) for term in members
        )
        found.append(Product(Fraction(1), (Sum(_positive_first(inner)), bracket)))
    return tuple(found)


def _multiplied(scale: Fraction, atoms: Key, inner: Sum) -> tuple[Product, ...]:
    """scale * atoms * inner; an inner single product is not put in brackets."""
    if len(inner.terms) == 1:
        only = inner.terms[0]
        return (Product(scale * only.coefficient, (*atoms, *only.factors)),)
    return (Product(scale, (*atoms, inner)),)


def _ordered(polynomial: Polynomial) -> list[tuple[Key, Fraction]]:
    return sorted(polynomial.items(), key=lambda item: (-len(item[0]), item[0]))


def _positive_first(terms: tuple[Product, ...]) -> tuple[Product, ...]:
    return tuple(sorted(terms, key=lambda term: term.coefficient < 0))


def _common(polynomial: Polynomial) -> Key:
    shared: Counter[Atom] | None = None
    for key in polynomial:
        counted = Counter(key)
        shared = counted if shared is None else shared & counted
    return tuple(sorted((shared or Counter()).elements()))


def _without(key: Key, factors: Key) -> Key:
    rest = list(key)
    for factor in factors:
        rest.remove(factor)
    return tuple(rest)
