"""A program as a module of array operations, for NumPy and for libraries with NumPy's names."""

from __future__ import annotations

from emdeg.codegen.infix import Language, header, identifier, listing, parts
from emdeg.codegen.python.printer import number, sincos_with
from emdeg.programs import OutputGroup, Program


def emit_numpy(program: Program, *, name: str | None = None, robot: str = "", command: str = "") -> str:
    """The text of `<name>.py`: arrays (..., size) in, arrays (..., *shape) out, a tuple if several."""
    return array_module(program, "import numpy as np", "np", name=name, robot=robot, command=command)


def array_module(program: Program, imports: str, module: str, *, name: str | None, robot: str, command: str) -> str:
    """The module's text with array functions taken from `module`, which `imports` provides."""
    name = identifier(name or program.name)
    lines = [f"# {line}".rstrip() for line in header(program, name, robot, command)]
    lines += ["", imports, ""]
    for part in parts(program, name):
        lines += ["", *_function(part, module), ""]
    return "\n".join(lines).rstrip() + "\n"


def _function(program: Program, module: str) -> list[str]:
    language = Language(
        number=number,
        element=lambda name, place: f"{name}[..., {place}]",
        declare=lambda name, text: f"{name} = {text}",
        sincos=sincos_with(f"{module}."),
        sqrt=lambda text: f"{module}.sqrt({text})",
        law=lambda name, text: f"{module}.{name}({text})",
    )
    code = listing(program, language)
    names = [group.name for group in program.inputs]
    shapes = ", ".join(f"{name}.shape[:-1]" for name in names)
    return [
        f"def {program.name}({', '.join(names)}):",
        *(f"    {name} = {module}.asarray({name})" for name in names),
        f"    batch = {module}.broadcast_shapes({shapes})",
        *(f"    {line}" for line in code.statements),
        *(f"    {line}" for group in program.outputs for line in _gather(group, code.outputs[group.name], module)),
        f"    return {', '.join(group.name for group in program.outputs)}",
    ]


def _gather(group: OutputGroup, entries: tuple[str, ...], module: str) -> list[str]:
    """Statements that lay the entries out in one array, states first."""
    shape = ", ".join(map(str, group.shape)) + ("," if len(group.shape) == 1 else "")
    if not entries:
        return [f"{group.name} = {module}.zeros((*batch, {shape}))"]
    parts = ", ".join(f"{module}.broadcast_to({entry}, batch)" for entry in entries)
    return [f"{group.name} = {module}.stack([{parts}], axis=-1).reshape((*batch, {shape}))"]
