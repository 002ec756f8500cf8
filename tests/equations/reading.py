"""A reader for printed formulas: numbers, names, + - * / ^ and brackets; so that what is printed can be evaluated."""

from __future__ import annotations

import re

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:e-?\d+)?)|([A-Za-z]\w*)|([-+*()/^]))")


def value(text: str, names) -> float:
    """The number a printed formula stands for, each name looked up in `names`."""
    tokens = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"unreadable at {text[at:]!r}"
        tokens.append(match[0].strip())
        at = match.end()
    result, rest = _sum(tokens, names)
    assert not rest, rest
    return result


def _sum(tokens, names):
    sign = 1.0
    if tokens[0] in "+-":
        sign, tokens = (-1.0 if tokens[0] == "-" else 1.0), tokens[1:]
    total, tokens = _product(tokens, names)
    total = total * sign
    while tokens and tokens[0] in "+-":
        term, rest = _product(tokens[1:], names)
        total = total + term if tokens[0] == "+" else total - term
        tokens = rest
    return total, tokens


def _product(tokens, names):
    total, tokens = _power(tokens, names)
    while tokens and tokens[0] in "*/":
        factor, rest = _power(tokens[1:], names)
        total = total * factor if tokens[0] == "*" else total / factor
        tokens = rest
    return total, tokens


def _power(tokens, names):
    base, tokens = _factor(tokens, names)
    if tokens and tokens[0] == "^":
        return base ** int(tokens[1]), tokens[2:]
    return base, tokens


def _factor(tokens, names):
    if tokens[0] == "(":
        inner, rest = _sum(tokens[1:], names)
        assert rest[0] == ")"
        return inner, rest[1:]
    if tokens[0][0].isdigit():
        return float(tokens[0]), tokens[1:]
    return names[tokens[0]], tokens[1:]
