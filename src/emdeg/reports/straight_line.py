"""A program as a list of named intermediate quantities, Z1, Z2, ..., in text or LaTeX, as a paper prints them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from emdeg.codegen.infix import Text
from emdeg.programs.evaluate import constants
from emdeg.programs.ir import Kind, Op, Program, Slot, live, uses

LONGEST = 72
"""Characters of an expression that may stand inside another."""


@dataclass(frozen=True, slots=True)
class Style:
    """How values are written. `letter` names an input's entry, `wave` the sine or cosine of one."""

    letter: Callable[[Slot], str]
    wave: Callable[[str, str], str]
    intermediate: Callable[[int], str]
    number: Callable[[Fraction], str]
    times: str
    fraction: Callable[[str, str], str] | None = None
    root: Callable[[str], str] = "sqrt({})".format


@dataclass(frozen=True, slots=True)
class StraightLine:
    """Intermediate quantities in order, and each output's entries, row by row."""

    intermediates: tuple[tuple[str, str], ...]
    outputs: dict[str, tuple[str, ...]]


def straight_line(program: Program, style: Style) -> StraightLine:
    """What a program computes; a value read once stands where it is read, the others get a name."""
    needed, times, numbers = live(program), uses(program), constants(program)
    texts: dict[int, Text] = {}
    named: list[tuple[str, str]] = []
    for index, op in enumerate(program.ops):
        if not needed[index]:
            continue
        if index in numbers and op.kind not in (Kind.SIN, Kind.COS):
            value = numbers[index]
            texts[index] = Text(style.number(value), 0 if value >= 0 else 3)
        elif op.kind is Kind.INPUT:
            texts[index] = Text(style.letter(op.slot))
        elif op.kind is Kind.ANGLE:
            texts[index] = Text(str(op.angle))
        elif op.kind in (Kind.SIN, Kind.COS):
            texts[index] = Text(style.wave("s" if op.kind is Kind.SIN else "c", texts[op.args[0]].text))
        else:
            expression = _expression(op, texts, style)
            if times[index] > 1 or len(expression.text) > LONGEST:
                name = style.intermediate(len(named) + 1)
                named.append((name, expression.text))
                expression = Text(name)
            texts[index] = expression
    outputs = {
        group.name: tuple(
            "0" if not ref.sign else texts[ref.value].text if ref.sign > 0 else "-" + texts[ref.value].at(1)
            for ref in group.entries
        )
        for group in program.outputs
    }
    return StraightLine(tuple(named), outputs)


def _expression(op: Op, texts: dict[int, Text], style: Style) -> Text:
    args = [texts[arg] for arg in op.args]
    match op.kind:
        case Kind.ADD:
            return Text(f"{args[0].at(2)} + {args[1].at(1)}", 2)
        case Kind.SUB:
            return Text(f"{args[0].at(2)} - {args[1].at(1)}", 2)
        case Kind.MUL:
            if args[1].text[0].isdigit():
                args.reverse()
            return Text(f"{args[0].at(1)}{style.times}{args[1].at(1)}", 1)
        case Kind.DIV:
            if style.fraction is not None:
                return Text(style.fraction(args[0].text, args[1].text))
            return Text(f"{args[0].at(1)}/{args[1].at(0)}", 1)
        case Kind.NEG:
            return Text(f"-{args[0].at(1)}", 3)
        case _:
            return Text(style.root(args[0].text))
