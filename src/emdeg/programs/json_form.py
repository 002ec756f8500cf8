"""A program as plain data and back, number for number: what a certificate stores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra import Angle, is_symbol_name
from emdeg.errors import NotAProgram
from emdeg.programs.ir import NOTHING, Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref

MOST_OPS = 1_000_000
LONGEST_NUMBER = 2_000
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?\Z")


def to_data(program: Program) -> dict[str, Any]:
    """The program as lists, texts and whole numbers: one text an operation, +3, -3 or 0 an output's entry.

    Values are numbered from 1 here, so that a sign can stand before each.
    """
    return {
        "name": program.name,
        "inputs": [[g.name, g.size, g.depends.name.lower(), list(g.labels)] for g in program.inputs],
        "ops": [_op_text(op) for op in program.ops],
        "outputs": [
            [g.name, list(g.shape), [ref.sign * (ref.value + 1) for ref in g.entries]] for g in program.outputs
        ],
    }


def from_data(data: Any) -> Program:
    """The program that `to_data` wrote; NotAProgram where the data is something else."""
    try:
        return _program(data)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise NotAProgram(f"this is no stored program: {problem}") from None


def _program(data: Mapping[str, Any]) -> Program:
    if len(data["ops"]) > MOST_OPS:
        raise ValueError(f"it has more than {MOST_OPS} operations")
    inputs = tuple(
        InputGroup(name, _whole(size), Dependence[depends.upper()], tuple(map(str, labels)))
        for name, size, depends, labels in data["inputs"]
    )
    ops = tuple(_op(text.split()) for text in data["ops"])
    outputs = tuple(
        OutputGroup(name, tuple(map(_whole, shape)), tuple(map(_ref, entries)))
        for name, shape, entries in data["outputs"]
    )
    return Program(data["name"], inputs, ops, outputs)


def _op_text(op: Op) -> str:
    match op.kind:
        case Kind.INPUT:
            words: Sequence[object] = op.slot
        case Kind.NUMBER:
            words = (op.number,)
        case Kind.ANGLE:
            words = (op.angle.pi_times, op.angle.radians, op.angle.symbol or "")
        case _:
            words = tuple(arg + 1 for arg in op.args)
    return " ".join([op.kind.value, *map(str, words)]).rstrip()


def _op(words: list[str]) -> Op:
    kind, rest = Kind(words[0]), words[1:]
    match kind:
        case Kind.INPUT:
            name, place = rest
            return Op(kind, payload=(name, int(place)))
        case Kind.NUMBER:
            (number,) = rest
            return Op(kind, payload=_number(number))
        case Kind.ANGLE:
            symbol = rest[2] if len(rest) > 2 else None
            if len(rest) > 3 or (symbol is not None and not is_symbol_name(symbol)):
                raise ValueError(f"{' '.join(words)[:80]!r} is no angle")
            return Op(kind, payload=Angle(_number(rest[0]), _number(rest[1]), symbol))
        case _:
            return Op(kind, tuple(int(word) - 1 for word in rest))


def _number(text: str) -> Fraction:
    if len(text) > LONGEST_NUMBER or not _NUMBER.match(text):
        raise ValueError(f"{text[:40]!r} is no number")
    return Fraction(text)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no size")
    return value


def _ref(value: int) -> Ref:
    return Ref(abs(value) - 1, 1 if value > 0 else -1) if value else NOTHING
