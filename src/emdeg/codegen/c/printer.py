"""A program as the body of a C function."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from emdeg.codegen.infix import Language, listing
from emdeg.programs.ir import Kind, Program, live
from emdeg.programs.schedule import angles_first

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


def _together(angles: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    many = len(angles)
    lines = [
        f"const {REAL} angles[{many}] = {{{', '.join(angles)}}};",
        f"{REAL} sines[{many}], cosines[{many}];",
        f"SINCOS_MANY({many}, angles, sines, cosines);",
    ]
    return lines, [(f"sines[{place}]", f"cosines[{place}]") for place in range(many)]


def _language(element: Callable[[str, int], str], together: bool) -> Language:
    return Language(
        number=number,
        element=element,
        declare=lambda name, text: f"const {REAL} {name} = {text};",
        sincos=_sincos,
        sqrt=lambda text: f"SQRT({text})",
        together=_together if together else None,
    )


def body(program: Program, element: Callable[[str, int], str], together: bool = False) -> list[str]:
    """Statements that compute and store; `element` writes an entry of an array, input or output.

    `together`: sines and cosines of all angles in one call, whose loop becomes vector instructions.
    """
    lines = listing(angles_first(program) if together else program, _language(element, together))
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
    """Statements that silence a warning about inputs that are not read and outputs that have no entry."""
    read = {op.slot[0] for op, needed in zip(program.ops, live(program)) if needed and op.kind is Kind.INPUT}
    names = [group.name for group in program.inputs if group.name not in read]
    names += [group.name for group in program.outputs if not group.entries]
    return [f"(void){name};" for name in names]
