"""Sums of products as plain tables, {product of letters: coefficient}, and what factoring asks of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import Any, TypeVar

Number = int | Fraction
L = TypeVar("L")
Key = tuple[Any, ...]
"""A product of letters, sorted; a square has its letter twice. Letters are anything that has an order and a hash."""
Table = dict[Key, Fraction]
"""A sum of products; no coefficient is zero."""


def without(key: tuple[L, ...], letters: Iterable[L]) -> tuple[L, ...]:
    """The product divided by these letters, all of which it has."""
    rest = list(key)
    for letter in letters:
        rest.remove(letter)
    return tuple(rest)


def joined(key: Key, *letters: Any) -> Key:
    """The product times these letters."""
    return tuple(sorted((*key, *letters)))


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
    """The products of two letters that divide a product."""
    return set(combinations(key, 2))


def divisors(key: Key) -> set[Key]:
    """Every product that divides a product, 1 included."""
    found: set[Key] = {()}
    for letter in key:
        found |= {(*divisor, letter) for divisor in found}
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


def letters_of(tables: Iterable[Table]) -> Iterator[Any]:
    """Every letter, as often as it stands there."""
    return (letter for table in tables for key in table for letter in key)
