"""A program as a module of Fortran 2008: pure subroutines, matrices as matrices, no allocation."""

from __future__ import annotations

import re
from itertools import product

from emdeg.codegen.infix import Language, body, header, identifier, parts, unused
from emdeg.errors import BadRequest
from emdeg.programs import Program

LONGEST_LINE = 132
LONGEST_NAME = 63
"""Of a line and a name, in Fortran."""


def _language(program: Program) -> Language:
    shapes = {group.name: group.shape for group in program.outputs if group.shape}

    def element(name: str, place: int) -> str:
        index = list(product(*(range(1, size + 1) for size in shapes[name])))[place] if name in shapes else (place + 1,)
        return f"{name}({', '.join(map(str, index))})"

    return Language(
        number=lambda value: f"{float(value)!r}_wp",
        element=element,
        declare=lambda name, text: f"{name} = {text}",
        sincos=lambda sine, cosine, angle: [
            *([f"{sine} = sin({angle})"] if sine else []),
            *([f"{cosine} = cos({angle})"] if cosine else []),
        ],
        sqrt=lambda text: f"sqrt({text})",
        store="{} = {}".format,
        law=lambda name, text: f"{'sign_of' if name == 'sign' else name}({text})",
    )


def emit_fortran(
    program: Program,
    *,
    name: str | None = None,
    robot: str = "",
    command: str = "",
    multirate: bool = False,
    single: bool = False,
) -> str:
    """The text of `<name>.f90`: the module `<name>_module` with `<name>(inputs, outputs)` in real64, or real32.

    A matrix is one, M(i, j); outputs must not overlap inputs.
    """
    name = identifier(name or program.name)
    functions = parts(program, name, multirate)
    long = max((f"{name}_module", *(part.name for part in functions)), key=len)
    if len(long) > LONGEST_NAME:
        raise BadRequest(f"{long[:40]}... has more than the {LONGEST_NAME} characters that Fortran allows: give --name")
    code = [line for part in functions for line in ("", *_subroutine(part))]
    if any("sign_of(" in line for line in code):
        code += ["", *_SIGN]
    lines = [f"! {line}".rstrip() for line in header(program, name, robot, command, multirate)]
    lines = [part for line in lines for part in _comment(line)]
    lines += [
        f"module {name}_module",
        f"  use, intrinsic :: iso_fortran_env, only: wp => {'real32' if single else 'real64'}",
        "  implicit none",
        "  private",
        *(f"  public :: {part.name}" for part in functions),
        "contains",
        *(f"  {piece}" if piece else "" for line in code for piece in _wrapped(line)),
        f"end module {name}_module",
        "",
    ]
    return "\n".join(lines)


_SIGN = (
    "elemental function sign_of(x) result(s)",
    "  real(wp), intent(in) :: x",
    "  real(wp) :: s",
    "  s = merge(1.0_wp, merge(-1.0_wp, x, x < 0.0_wp), x > 0.0_wp)",
    "end function sign_of",
)


def _subroutine(program: Program) -> list[str]:
    arrays = [*program.inputs, *program.outputs]
    statements = body(program, _language(program))
    local = list(dict.fromkeys(found[1] for line in statements if (found := re.match(r"([tsc]\d+) = ", line))))
    lines = [f"pure subroutine {program.name}({', '.join(group.name for group in arrays)})"]
    lines += [f"  real(wp), intent(in) :: {group.name}({group.size})" for group in program.inputs]
    shapes = {group.name: ", ".join(map(str, group.shape)) or "1" for group in program.outputs}
    lines += [f"  real(wp), intent(out) :: {name}({shape})" for name, shape in shapes.items()]
    lines += [f"  real(wp) :: {', '.join(local[k : k + 12])}" for k in range(0, len(local), 12)]
    # Compilers warn of arguments that nothing mentions, arrays without entries among them.
    lines += [f"  if (size({name}) < 0) return" for name in unused(program) if name not in shapes]
    lines += [f"  {name} = 0.0_wp" for name in unused(program) if name in shapes]
    return [*lines, *(f"  {line}" for line in statements), f"end subroutine {program.name}"]


def _wrapped(line: str) -> list[str]:
    """The line in pieces that Fortran takes, cut at spaces."""
    pieces, room = [], LONGEST_LINE - 6
    while len(line) > room:
        cut = line.rfind(" ", 20, room)
        pieces.append(line[:cut] + " &")
        line = "      " + line[cut + 1 :]
    return [*pieces, line]


def _comment(line: str) -> list[str]:
    """A comment in pieces that fit."""
    pieces = [line[k : k + LONGEST_LINE - 4] for k in range(0, len(line), LONGEST_LINE - 4)] or [line]
    return [pieces[0], *(f"!   {piece}" for piece in pieces[1:])]
