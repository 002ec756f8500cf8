"""A program as statements of a language with infix operators; what differs between languages is data.

A product or a sum that is read once stands inside the expression that reads it: a reader sees formulas and a
compiler may fuse a multiplication with an addition. Operators in the text are exactly the operations
of the program: negations appear only in front of a stored output and under a root.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from emdeg.programs.evaluate import constants
from emdeg.programs.ir import Kind, Op, Program, live, uses

_LONGEST = 88


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes what programs are made of."""

    number: Callable[[Fraction], str]
    element: Callable[[str, int], str]
    declare: Callable[[str, str], str]
    sincos: Callable[[str | None, str | None, str], list[str]]
    sqrt: Callable[[str], str]
    together: Callable[[list[str]], tuple[list[str], list[tuple[str, str]]]] | None = None
    """Statements for the sines and cosines of several angles at once, and the pairs' names."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Statements in order, and the expression of every output entry, row by row, by output name."""

    statements: tuple[str, ...]
    outputs: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Text:
    """An expression. `level`: 0 an atom, 1 a product, 2 a sum, 3 a negative, in the order in which they bind."""

    text: str
    level: int = 0

    def at(self, level: int) -> str:
        """The text as it may stand where `level` binds: in brackets if it binds less."""
        return self.text if self.level <= level else f"({self.text})"


def listing(program: Program, language: Language) -> Listing:
    """The program's statements and outputs in `language`."""
    needed, times, numbers = live(program), uses(program), constants(program)
    texts: dict[int, Text] = {}
    statements: list[str] = []
    angles: dict[int, int] = {}
    pairs: dict[int, tuple[str, str]] = {}
    fresh = count(1)
    rooted = set(program.roots())
    wanted = {
        (op.kind, op.args[0])
        for index, op in enumerate(program.ops)
        if needed[index] and op.kind in _TRIG and index not in numbers
    }

    def declared(expression: Text) -> Text:
        name = f"t{next(fresh)}"
        statements.append(language.declare(name, expression.text))
        return Text(name)

    for index, op in enumerate(program.ops):
        if not needed[index]:
            continue
        if index in numbers:
            texts[index] = _literal(language.number, numbers[index])
        elif op.kind is Kind.INPUT:
            texts[index] = Text(language.element(*op.slot))
        elif op.kind is Kind.ANGLE:
            texts[index] = _literal(language.number, Fraction(float(op.angle)))
        elif op.kind in _TRIG:
            angle = op.args[0]
            if not pairs and language.together and all(place in texts for _, place in wanted):
                places = sorted({place for _, place in wanted})
                if len(places) > 1:
                    lines, names = language.together([texts[place].text for place in places])
                    statements += lines
                    pairs = dict(zip(places, names))
            if angle in pairs:
                texts[index] = Text(pairs[angle][op.kind is Kind.COS])
                continue
            if angle not in angles:
                angles[angle] = len(angles) + 1
                sine = f"s{angles[angle]}" if (Kind.SIN, angle) in wanted else None
                cosine = f"c{angles[angle]}" if (Kind.COS, angle) in wanted else None
                statements += language.sincos(sine, cosine, texts[angle].text)
            texts[index] = Text(f"{'s' if op.kind is Kind.SIN else 'c'}{angles[angle]}")
        else:
            expression = _expression(op, texts, language)
            if times[index] == 1 and index not in rooted and len(expression.text) < _LONGEST:
                texts[index] = expression
            else:
                texts[index] = declared(expression)
    # Inputs handed through are read before anything is stored, so that an output may overwrite an input.
    for index in sorted(rooted):
        if program.ops[index].kind is Kind.INPUT:
            texts[index] = declared(texts[index])
    zero = language.number(Fraction(0))
    outputs = {
        group.name: tuple(
            zero if not ref.sign else texts[ref.value].text if ref.sign > 0 else "-" + texts[ref.value].at(0)
            for ref in group.entries
        )
        for group in program.outputs
    }
    return Listing(tuple(statements), outputs)


_TRIG = (Kind.SIN, Kind.COS)


def _literal(number: Callable[[Fraction], str], value: Fraction) -> Text:
    return Text(number(value), 0 if value >= 0 else 3)


def _expression(op: Op, texts: dict[int, Text], language: Language) -> Text:
    args = [texts[arg] for arg in op.args]
    match op.kind:
        case Kind.ADD:
            return Text(f"{args[0].at(2)} + {args[1].at(1)}", 2)
        case Kind.SUB:
            return Text(f"{args[0].at(2)} - {args[1].at(1)}", 2)
        case Kind.MUL:
            return Text(f"{args[0].at(1)} * {args[1].at(0)}", 1)
        case Kind.DIV:
            return Text(f"{args[0].at(1)} / {args[1].at(0)}", 1)
        case Kind.NEG:
            return Text(f"-{args[0].at(0)}", 3)
        case _:
            return Text(language.sqrt(args[0].text))


def identifier(name: str) -> str:
    """`name` in lower case, every character outside [a-z0-9_] made an underscore; starts with a letter."""
    text = re.sub(r"[^a-z0-9_]", "_", name.lower())
    return text if re.match(r"[a-z]", text) else f"robot_{text}"


def escaped(name: str) -> str:
    """A name from a file as it may stand in any language's comment: everything unusual percent-encoded.

    Neither a comment's end, nor a line's end, nor a continuation survives.
    """
    return "".join(
        char if char in _PLAIN else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace")) for char in name
    )


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:=+@()[]/'")
