"""A C file: header comment, helpers, functions. The same program and options give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from emdeg.codegen.c.casadi import entry_point
from emdeg.codegen.c.printer import body, of_many, one_state, parameters, unused
from emdeg.codegen.c.trigonometry import PRECISION, inline, library
from emdeg.codegen.header import header
from emdeg.codegen.infix import identifier
from emdeg.programs.ir import Program
from emdeg.programs.split import split_constants, split_rates


@dataclass(frozen=True, slots=True)
class COptions:
    """What to emit beside the function itself. `robot` and `command` appear in the header comment only."""

    trig: Literal["libm", "inline"] = "libm"
    batch: bool = False
    casadi: bool = False
    multirate: bool = False
    single: bool = False
    """Float unless the compiler is told otherwise, instead of double."""
    robot: str = ""
    command: str = ""


def emit_c(program: Program, options: COptions | None = None, *, name: str | None = None) -> str:
    """The text of `<name>.c`; `name` defaults to the program's and is made an identifier.

    Where parameters are inputs, `<name>_constants` computes the constants once and the function takes them
    after its other inputs.
    """
    options = options or COptions()
    name = identifier(name or program.name)
    constants, main = split_constants(replace(program, name=name))
    rates = split_rates(main) if options.multirate else ()
    handed = rates[1].inputs[-1].size if rates else 0
    together = options.trig == "inline"
    parts = [] if constants is None else [_function(constants, together)]
    parts.append(_function(main, together))
    parts += [_function(part, together) for part in rates]
    if options.batch:
        parts.append(_batch(main))
    if options.casadi:
        parts.append(entry_point(main, name, constants))
    code = "\n".join(parts)
    trigonometry = inline(code) if options.trig == "inline" else library(code)
    precision = _SINGLE + PRECISION if options.single else PRECISION
    return "\n".join(filter(None, [_header(program, name, options, handed), precision, trigonometry, code]))


_SINGLE = """\
/* float; compile with -DEMDEG_DOUBLE for double */
#ifndef EMDEG_DOUBLE
#define EMDEG_FLOAT
#endif
"""


def _header(program: Program, name: str, options: COptions, handed: int) -> str:
    lines = header(program, name, options.robot, options.command)
    if options.multirate:
        lines += ["", f"{name}_rates takes x[{handed}], which {name}_configuration computes."]
    if options.batch:
        lines += ["", f"{name}_batch takes arrays component by component: entry j of state i at [j*count + i]."]
    return "/* " + "\n".join(f"   {line}" if line else "" for line in lines)[3:] + " */\n"


def _function(program: Program, together: bool) -> str:
    signature = f"void {program.name}({parameters(program)})"
    lines = [f"{signature};", signature, "{"]
    lines += ["    " + line for line in unused(program) + body(program, one_state, together)]
    return "\n".join([*lines, "}"]) + "\n"


def _batch(program: Program) -> str:
    """A loop over states that compilers turn into vector instructions."""
    signature = f"void {program.name}_batch(size_t count, {parameters(program, 'restrict ')})"
    lines = [*_NO_COMPLAINT, f"{signature};", signature, "{"]
    lines += ["    " + line for line in unused(program)]
    constant = next((group.name for group in program.inputs if group.name == "constants"), None)

    def element(name: str, place: int) -> str:
        return one_state(name, place) if name == constant else of_many(name, place)

    lines += [*_INDEPENDENT, "    for (size_t i = 0; i < count; ++i) {"]
    lines += ["        " + line for line in body(program, element)]
    return "\n".join([*lines, "    }", "}"]) + "\n"


# Components of one array never overlap, which a compiler cannot see from a stride that is a variable.
_INDEPENDENT = (
    "#if defined(__clang__)",
    "#pragma clang loop vectorize(assume_safety)",
    "#elif defined(__GNUC__)",
    "#pragma GCC ivdep",
    "#endif",
)
# Without optimisation, or with the library's sine, nothing is vectorised, and that is no error.
_NO_COMPLAINT = (
    "#if defined(__clang__)",
    '#pragma clang diagnostic ignored "-Wpass-failed"',
    "#endif",
)
