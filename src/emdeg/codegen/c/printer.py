"""A program as the body of a C function."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from emdeg.codegen.infix import Language, listing
from emdeg.program.ir import Program

REAL = "emdeg_real"


def number(value: Fraction) -> str:
    """A literal that denotes the double nearest to `value`, in the chosen precision."""
    return f"R({float(value)!r})"


def _sincos(sine: str | None, cosine: str | None, angle: str) -> list[str]:
    if cosine is None:
        return [f"const {REAL} {sine} = SIN({angle});"]
    if sine is None:
        return [f"const {REAL} {cosine} = COS({angle});"]
    return [f"{REAL} {sine}, {cosine};", f"SINCOS({angle}, &{sine}, &{cosine});"]


def _language(element: Callable[[str, int], str]) -> Language:
    return Language(
        number=number,
        element=element,
        declare=lambda name, text: f"const {REAL} {name} = {text};",
        sincos=_sincos,
        sqrt=lambda text: f"SQRT({text})",
    )


def body(program: Program, element: Callable[[str, int], str]) -> list[str]:
    """Statements that compute and store; `element` writes an entry of an array, input or output."""
    lines = listing(program, _language(element))
    stores = [
        f"{element(name, place)} = {text};" for name, texts in lines.outputs.items() for place, text in enumerate(texts)
    ]
    return [*lines.statements, *stores]


def one_state(name: str, place: int) -> str:
    return f"{name}[{place}]"


def of_many(name: str, place: int) -> str:
    """An entry in structure-of-arrays order: component by component, each over all states."""
    return f"{name}[{place}*count + i]"


def parameters(program: Program, qualifier: str = "") -> str:
    """The parameter list: inputs, then outputs."""
    inputs = [f"const {REAL} *{qualifier}{group.name}" for group in program.inputs]
    outputs = [f"{REAL} *{qualifier}{group.name}" for group in program.outputs]
    return ", ".join(inputs + outputs)


def unused(program: Program) -> list[str]:
    """Statements that silence a warning about inputs that the function does not depend on."""
    read = {op.slot[0] for op in program.ops if op.kind == "input"}
    return [f"(void){group.name};" for group in program.inputs if group.name not in read]
