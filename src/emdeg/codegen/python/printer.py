"""A program as a Python module that needs nothing but the standard library."""

from __future__ import annotations

from fractions import Fraction

from emdeg.codegen.infix import Language, header, identifier, listing, parts
from emdeg.programs import Kind, Program


def number(value: Fraction) -> str:
    return repr(float(value))


def sincos_with(prefix: str):
    """Statements for a sine and a cosine, from the module `prefix`."""

    def statements(sine: str | None, cosine: str | None, angle: str) -> list[str]:
        lines = [f"{sine} = {prefix}sin({angle})"] if sine else []
        return lines + ([f"{cosine} = {prefix}cos({angle})"] if cosine else [])

    return statements


LANGUAGE = Language(
    number=number,
    element=lambda name, place: f"{name}[{place}]",
    declare=lambda name, text: f"{name} = {text}",
    sincos=sincos_with(""),
    sqrt=lambda text: f"sqrt({text})",
)


def emit_python(program: Program, *, name: str | None = None, robot: str = "", command: str = "") -> str:
    """The text of `<name>.py`: a function from sequences of floats to nested lists, a tuple if several.

    Where parameters are inputs, `<name>_constants` computes the constants once and the function takes them.
    """
    name = identifier(name or program.name)
    lines = [f"# {line}".rstrip() for line in header(program, name, robot, command)]
    used = {op.kind for op in program.ops}
    names = ["cos", *(law.value for law in (Kind.EXP,) if law in used), "sin", "sqrt"]
    names += [law.value for law in (Kind.TANH,) if law in used]
    lines += ["", f"from math import {', '.join(names)}  # noqa: F401", ""]
    if Kind.SIGN in used:
        lines += ["", "def sign(x):", "    return float(x > 0) - float(x < 0)", ""]
    for part in parts(program, name):
        lines += ["", *_function(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def _function(program: Program) -> list[str]:
    code = listing(program, LANGUAGE)
    results = [_nested(group.shape, list(code.outputs[group.name])) for group in program.outputs]
    return [
        f"def {program.name}({', '.join(group.name for group in program.inputs)}):",
        *(f"    {line}" for line in code.statements),
        f"    return {', '.join(results)}",
    ]


def _nested(shape: tuple[int, ...], entries: list[str]) -> str:
    if not shape:
        return entries[0]
    step = len(entries) // shape[0] if shape[0] else 0
    rows = [_nested(shape[1:], entries[i * step : (i + 1) * step]) for i in range(shape[0])]
    return "[" + ", ".join(rows) + "]"
