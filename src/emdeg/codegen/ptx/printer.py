"""A program as a PTX module with one kernel: pointers to inputs and outputs in order, then the number of states."""

from __future__ import annotations

from typing import Literal

from emdeg.codegen.infix import header, identifier
from emdeg.errors import BadRequest
from emdeg.programs import Program
from emdeg.runtime import machine_available

OLDEST = 75
"""The default architecture: its PTX is taken by every GPU since Turing."""


Layout = Literal["rows", "entries"]


def emit_ptx(
    program: Program,
    *,
    name: str | None = None,
    robot: str = "",
    command: str = "",
    single: bool = False,
    layout: Layout = "rows",
    sm: int = OLDEST,
    loader: bool = False,
) -> str:
    """The text of `<name>.ptx`; arrays (states, size) row by row, or (size, states) with the layout "entries".

    `sm` is the compute capability times ten; `single`: float32 instead of float64; `loader`: `<name>.py` loads it.
    """
    if not machine_available():
        raise BadRequest("--target ptx is printed by llvmlite, which is not installed")
    from emdeg.runtime.cuda import ptx  # needs llvmlite

    name, bits = identifier(name or program.name), 32 if single else 64
    text, shape = ptx(program, name, bits=bits, layout=layout, sm=sm)
    lie = "(states, size), row by row" if layout == "rows" else "(size, states), entry by entry"
    lines = [
        *header(program, name, robot, command, split=False),
        "",
        f"arrays of float{bits}, {lie}; after their pointers the number of states, 64 bits",
        f"one thread a state, blocks of {shape.threads} threads: states / {shape.threads} of them, rounded up",
        *([f"{name}.py, beside this file, loads it: NumPy and the driver are all that it needs"] if loader else []),
    ]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + text.rstrip() + "\n"
