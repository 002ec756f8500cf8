"""A program as an ES module: functions on arrays, in C's order, that need nothing but `Math`."""

from __future__ import annotations

from emdeg.codegen.infix import Language, body, header, identifier, parts
from emdeg.codegen.python.printer import number
from emdeg.programs import Program

LANGUAGE = Language(
    number=number,
    element=lambda name, place: f"{name}[{place}]",
    declare=lambda name, text: f"const {name} = {text};",
    sincos=lambda sine, cosine, angle: [
        *([f"const {sine} = Math.sin({angle});"] if sine else []),
        *([f"const {cosine} = Math.cos({angle});"] if cosine else []),
    ],
    sqrt=lambda text: f"Math.sqrt({text})",
    law=lambda name, text: f"Math.{name}({text})",
)


def emit_js(
    program: Program, *, name: str | None = None, robot: str = "", command: str = "", multirate: bool = False
) -> str:
    """The text of `<name>.mjs`: inputs, then outputs, are arrays of numbers row by row; those left out are made.

    What comes back is the output, or an array of them if there are several.
    """
    name = identifier(name or program.name)
    lines = [f"// {line}".rstrip() for line in header(program, name, robot, command, multirate)]
    for part in parts(program, name, multirate):
        lines += ["", *_function(part)]
    return "\n".join(lines) + "\n"


def _function(program: Program) -> list[str]:
    inputs = [group.name for group in program.inputs]
    outputs = [f"{group.name} = new Float64Array({len(group.entries)})" for group in program.outputs]
    names = ", ".join(group.name for group in program.outputs)
    return [
        f"export function {program.name}({', '.join(inputs + outputs)}) {{",
        *(f"  {line}" for line in body(program, LANGUAGE)),
        f"  return {names if len(outputs) == 1 else f'[{names}]'};",
        "}",
    ]
