"""The sections of the reading form: lumped constants, entries in them, and the hierarchical form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from emdeg.algebra import Sum, written_out
from emdeg.equations.model import Model
from emdeg.equations.reading.lumped import Constant
from emdeg.writing import Equation, Item, Paragraph, Reference, Section, Table, Zeros, label, line, terms_data

USES = 5
"""Entries that a table names before it says how many more there are; JSON has them all."""
ABBREVIATIONS = (
    "S and C are sine and cosine of the sum of the joint angles that follow: S2 = sin q2, C23 = cos(q2 + q3), "
    "C223 = cos(2 q2 + q3), S2m3 = sin(q2 - q3); SS, CC and SC their squares and their product."
)


def constants(model: Model) -> Section:
    """Every lumped constant: its formula, then its value, tolerance, unit and where it is used."""
    found = model.constants
    letters = model.lumped.algebra
    items: list[Item] = [
        Equation(label(c.name), c.formula if letters.alike or c.formula.is_number else c.expression) for c in found
    ]
    head = ("constant", "value", "+-", "unit", "used in")
    items.append(Table(head, tuple((c.name, _value(c), _tolerance(c), c.unit, _uses(c)) for c in found)))
    abbreviated = (ABBREVIATIONS,) if letters.short else ()
    items += [Paragraph(text) for text in (*_zeros(found), *abbreviated)]
    heads = {c.unit.startswith("N"): label(c.name).letter for c in found if not c.is_drive}
    drives = next((label(c.name).letter for c in found if c.is_drive), "Im")
    names = f"{heads.get(False, 'I')} inertial, {heads.get(True, 'G')} gravitational, {drives} of the drives"
    title = f"Constants of the mechanism: {names}"
    return Section("constants", title, tuple(items))


def _zeros(constants: Iterable[Constant]) -> Iterable[str]:
    """A word on the tolerances that hold more than the formulas show."""
    paths = list(dict.fromkeys(path for c in constants for path in c.zero_slopes))
    if paths:
        names = ", ".join(c.name for c in constants if c.zero_slopes)
        more = f" and {len(paths) - USES} more" if len(paths) > USES else ""
        yield (
            f"The +- of {names} also holds what numbers add that no formula shows, because they are zero or constant "
            f"angles: {', '.join(paths[:USES])}{more}."
        )


def entries(model: Model, part: str) -> Iterable[Item]:
    """A part's equations in lumped constants; one that repeats another up to a factor refers to it."""
    zeros = []
    for name, entry in model.compact().entries.items():
        if name[0] != part:
            continue
        if not entry.expression.terms:
            zeros.append(label(name))
        elif entry.alias is not None:
            factor, other = entry.alias
            full = replace(entry, alias=None).shown
            yield Equation(label(name), Reference(label(other), factor, full))
        else:
            yield Equation(label(name), entry.shown)
    if zeros:
        yield Zeros(tuple(zeros))


def hierarchy(model: Model) -> Section:
    """Burdick's form: entries in brackets V and products T, and what those and the constants K are."""
    form = model.hierarchy()
    total = form.count
    blocks = (form.brackets, form.products, form.constants)
    V, T, K = (next((label(name).letter for name in block), own) for block, own in zip(blocks, "VTK"))
    in_full = not model.lumped.algebra.short
    sums = "" if in_full else "; S23 is sin(q2 + q3), S2m3 sin(q2 - q3)"
    items: list[Item] = [
        Paragraph(
            f"{total.mul} multiplications and {total.add} additions at one configuration. {K} are constants, {T} "
            f"products of sines and cosines, {V} brackets that recur{sums}. The {K} stand in lumped constants."
        )
    ]
    for names in (form.entries, form.brackets):
        items += _equations({name: form.steps[name] for name in names}, in_full)
    for definitions in (form.products, form.constants):
        items += _equations(definitions, in_full)
    return Section("hierarchy", f"Hierarchical form: entries, {V}, {T}, {K}", tuple(items))


def constants_data(model: Model) -> list[dict[str, Any]]:
    """The constants as JSON data; a formula as terms with exact rationals and as text."""
    return [
        {
            "name": c.name,
            "formula": terms_data(c.formula),
            "text": line(c.expression),
            "value": c.value,
            "tolerance": c.tolerance,
            "unit": c.unit,
            "uses": list(c.uses),
        }
        for c in model.constants
    ]


def compact_data(model: Model, parts: Iterable[str]) -> dict[str, str]:
    """{entry: its reading form}."""
    wanted = set(parts)
    return {name: entry.text for name, entry in model.compact().entries.items() if name[0] in wanted}


def hierarchy_data(model: Model) -> dict[str, Any]:
    """The definitions as text, each block in the order of evaluation."""
    form = model.hierarchy()

    in_full = not model.lumped.algebra.short

    def block(definitions: Mapping[str, Sum]) -> dict[str, str]:
        return {name: line(written_out(e) if in_full else e) for name, e in definitions.items()}

    count = {"mul": form.count.mul, "add": form.count.add}
    return {"K": block(form.constants), "T": block(form.products), "steps": block(form.steps), "count": count}


def _equations(definitions: Mapping[str, Sum], in_full: bool) -> list[Item]:
    written = written_out if in_full else lambda expression: expression
    items: list[Item] = [Equation(label(name), written(e)) for name, e in definitions.items() if e.terms]
    zeros = tuple(label(name) for name, e in definitions.items() if not e.terms)
    return [*items, Zeros(zeros)] if zeros else items


def _value(constant: Constant) -> str:
    return "" if constant.value is None else f"{constant.value:.10g}"


def _tolerance(constant: Constant) -> str:
    return f"{constant.tolerance:.3g}" if constant.tolerance else ""


def _uses(constant: Constant) -> str:
    more = len(constant.uses) - USES
    return ", ".join(constant.uses[:USES]) + (f" and {more} more" if more > 0 else "")
