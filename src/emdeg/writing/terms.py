"""A formula as a list of signed products, the shape every format writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from emdeg.algebra import Generator, TrigPoly


def signed_products(
    formula: TrigPoly,
    letter: Callable[[Generator, int], str],
    number: Callable[[Fraction], str],
    times: str,
) -> Iterator[tuple[str, str]]:
    """("+" or "-", product) for each term; nothing for the zero formula. `letter` writes a power of a letter."""
    for coefficient, monomial in formula.terms():
        factors = [letter(generator, exponent) for generator, exponent in monomial.items()]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, number(abs(coefficient)))
        yield ("-" if coefficient < 0 else "+"), times.join(factors)


def joined(products: Iterator[tuple[str, str]], minus: str = "-") -> list[str]:
    """The products with their signs, the first "+" left out; ["0"] for none."""
    parts = [f"{minus if sign == '-' else '+'} {product}" for sign, product in products]
    if not parts:
        return ["0"]
    first = parts[0]
    parts[0] = first[2:] if first.startswith("+ ") else minus + first[len(minus) + 1 :]
    return parts


def lines(parts: list[str], width: int) -> list[str]:
    """The parts put together in lines of about `width` characters."""
    found: list[str] = []
    for part in parts:
        if found and len(found[-1]) + len(part) < width:
            found[-1] += " " + part
        else:
            found.append(part)
    return found
