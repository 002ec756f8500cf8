"""Frozen dataclasses as JSON data and back, nothing lost: exact numbers are strings, field types say the rest."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from emdeg.algebra import Angle, Exact, parse_number
from emdeg.errors import BadData
from emdeg.robot import Constraints

MAX_DEPTH = 32


def encode(value: Any) -> Any:
    """Plain JSON data."""
    if isinstance(value, Exact):
        if value.is_number:
            return str(value.number)
        return [[str(c), dict(monomial)] for monomial, c in value.terms]
    if isinstance(value, Angle):
        return {"pi_times": str(value.pi_times), "radians": str(value.radians), "symbol": value.symbol}
    if isinstance(value, Fraction):
        return str(value)
    if type(value) is Constraints:  # of a tree: there are none
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {f.metadata.get("json", f.name): encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    return value


def decode(kind: Any, data: Any, where: str = "data", depth: int = 0) -> Any:
    """A value of the given type from what `encode` made of it; BadData says which entry is wrong."""
    if depth > MAX_DEPTH:
        raise BadData(f"{where} is nested too deeply")
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Exact:
        return _exact(data, where)
    if kind is Fraction:
        return fraction(data, where)
    if kind is Constraints:
        _need(data is None, where, "null")
        return Constraints()
    if kind is Angle:
        _need(isinstance(data, dict), where, "an angle")
        symbol = data.get("symbol")
        _need(symbol is None or isinstance(symbol, str), where, "an angle")
        return Angle(fraction(data.get("pi_times"), where), fraction(data.get("radians"), where), symbol)
    if origin in (Union, types.UnionType):
        if data is None and type(None) in inner:
            return None
        return decode(next(k for k in inner if k is not type(None)), data, where, depth + 1)
    if origin is Literal:
        _need(data in inner, where, " or ".join(map(repr, inner)))
        return data
    if origin is tuple:
        _need(isinstance(data, list), where, "a list")
        kinds = [inner[0]] * len(data) if inner[-1] is ... else list(inner)
        _need(len(kinds) == len(data), where, f"a list of {len(kinds)}")
        return tuple(decode(k, item, f"{where}[{i}]", depth + 1) for i, (k, item) in enumerate(zip(kinds, data)))
    if origin is not None and issubclass(origin, Mapping):
        _need(isinstance(data, dict), where, "an object")
        return {key: decode(inner[1], item, f"{where}.{key}", depth + 1) for key, item in data.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        _need(isinstance(data, dict), where, "an object")
        hints = get_type_hints(kind)
        names = {f.metadata.get("json", f.name): f.name for f in fields(kind)}
        _need(set(data) == set(names), where, f"an object with {', '.join(sorted(names))}")
        return kind(**{names[key]: decode(hints[names[key]], data[key], f"{where}.{key}", depth + 1) for key in data})
    _need(type(data) is kind, where, getattr(kind, "__name__", str(kind)))
    return data


def fraction(data: Any, where: str) -> Fraction:
    """A rational from its string."""
    _need(isinstance(data, str), where, "an exact number in quotes")
    try:
        return parse_number(data)
    except (ValueError, ZeroDivisionError) as problem:
        raise BadData(f"{where}: {problem}") from None


def _exact(data: Any, where: str) -> Exact:
    if isinstance(data, str):
        return Exact.of(fraction(data, where))
    _need(isinstance(data, list), where, "an exact number in quotes or a list of terms")
    total = Exact()
    for term in data:
        _need(isinstance(term, list) and len(term) == 2 and isinstance(term[1], dict), where, "terms")
        product = Exact.of(fraction(term[0], where))
        for name, power in term[1].items():
            _need(type(power) is int and 0 < power <= 100, where, "powers from 1 to 100")
            for _ in range(power):
                product = product * Exact.symbol(name)
        total = total + product
    return total


def _need(holds: bool, where: str, what: str) -> None:
    if not holds:
        raise BadData(f"{where} must be {what}")
