"""What a model can show: part name -> section. The command line and the notebook take theirs from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from emdeg.algebra import Sum, written_out
from emdeg.equations.coefficient_relations import EntryRelation, compare, relations
from emdeg.equations.formulas import DYNAMICS
from emdeg.equations.json_form import to_data
from emdeg.equations.kinematic_sections import (
    Choice,
    base,
    coriolis_matrix,
    found_relations,
    inverse,
    jacobian,
    regressor,
    singular,
    transforms,
    uicker,
)
from emdeg.equations.kinematics import FrameName
from emdeg.equations.labels import unmistakable
from emdeg.equations.model import Model
from emdeg.equations.reading import ABBREVIATIONS
from emdeg.equations.reading.lumped import Constant
from emdeg.writing import (
    WRITERS,
    Document,
    Equation,
    Format,
    Item,
    Label,
    Paragraph,
    Reference,
    Section,
    Table,
    Zeros,
    label,
    line,
    resolved,
    sections_data,
    terms_data,
)

USES = 5
"""Entries that a table names before it says how many more there are; JSON has them all."""

Builder = Callable[[Model, Choice], Section]
DEFAULT_PARTS = ("constants", "M", "b", "c", "g")


def document(
    model: Model,
    parts: Iterable[str],
    *,
    frame: FrameName | None = None,
    rows: Sequence[int] | None = None,
    standard: bool = False,
    tell: Callable[[str], None] = lambda part: None,
) -> Document:
    """The parts asked for, in their order; ValueError for an unknown one.

    With "constants" among them M, b, c and g are written in those constants, otherwise as expanded formulas.
    `frame` and `rows` are for J and Jinv, `standard` frames for U. `tell` is told each part when it begins; an
    interrupt leaves the parts that are ready, if there are any.
    """
    parts = tuple(parts)
    choice = Choice("constants" in parts, frame, None if rows is None else tuple(rows), standard)
    sections = []
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"there is no part {part!r}; parts: {', '.join(PARTS)}")
        tell(part)
        try:
            sections.append(PARTS[part](model, choice))
        except KeyboardInterrupt:
            if not sections:
                raise
            break
    title = f"Equations of motion of {model.robot.title or model.robot.name}"
    return unmistakable(resolved(Document(title, tuple(sections))), model)


def write(
    model: Model,
    format: Format = "text",
    parts: Iterable[str] = DEFAULT_PARTS,
    *,
    frame: FrameName | None = None,
    rows: Sequence[int] | None = None,
) -> str:
    """The model's parts in a format; what `parts`, `frame` and `rows` mean says `document`.

    >>> import emdeg
    >>> from emdeg.equations import derive
    >>> print(write(derive(emdeg.load("planar2r")), parts=["M"]).splitlines()[-1])
    M22 = 1/3
    """
    return WRITERS[format](document(model, parts, frame=frame, rows=rows))


def model_data(
    model: Model,
    parts: Iterable[str] = DEFAULT_PARTS,
    *,
    frame: FrameName | None = None,
    rows: Sequence[int] | None = None,
    standard: bool = False,
) -> dict[str, Any]:
    """The model as `emdeg.equations.from_json` reads it, and the other parts asked for beside it."""
    parts = tuple(parts)
    data = to_data(model)
    if "constants" in parts:
        data["constants"] = constants_data(model)
        data["compact"] = compact_data(model, parts)
    if "hierarchy" in parts:
        data["hierarchy"] = hierarchy_data(model)
    others = [part for part in parts if part not in ("constants", "hierarchy", *DYNAMICS)]
    if others:
        data["sections"] = sections_data(document(model, others, frame=frame, rows=rows, standard=standard))
    return data


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


def mass_matrix(model: Model, choice: Choice) -> Section:
    """M's upper triangle."""
    return Section("M", "Mass matrix M [kg m^2, kg m, kg], symmetric", _entries(model, "M", choice))


def coriolis(model: Model, choice: Choice) -> Section:
    """The coefficients of products of two rates."""
    return Section("b", "Coriolis coefficients b_ijk of qd_j qd_k", _entries(model, "b", choice))


def centrifugal(model: Model, choice: Choice) -> Section:
    """The coefficients of squared rates."""
    return Section("c", "Centrifugal coefficients c_ij of qd_j^2", _entries(model, "c", choice))


def gravity(model: Model, choice: Choice) -> Section:
    """The efforts that hold the robot still."""
    return Section("g", "Gravity g [N m, N]", _entries(model, "g", choice))


def hierarchical(model: Model, choice: Choice) -> Section:
    """Burdick's form: entries in brackets V and products T, and what those and the constants K are.

    The lumped constants that K consist of are defined here too, unless they have a section of their own.
    """
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
    if not choice.compact:
        items += [item for item in constants(model).items if isinstance(item, Equation)]
    return Section("hierarchy", f"Hierarchical form: entries, {V}, {T}, {K}", tuple(items))


PARTS: dict[str, Builder] = {
    "constants": lambda model, _: constants(model),
    "M": mass_matrix,
    "b": coriolis,
    "c": centrifugal,
    "g": gravity,
    "hierarchy": hierarchical,
    "C": coriolis_matrix,
    "T": transforms,
    "J": jacobian,
    "Jinv": inverse,
    "singularities": singular,
    "U": uicker,
    "relations": found_relations,
    "base": base,
    "regressor": regressor,
}
"""Part name -> what makes its section."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "constants": ("M", "b", "c", "g"),
    "hierarchy": ("M", "b", "c", "g"),
    "M": ("M",),
    "b": ("M", "b", "c"),
    "c": ("M", "b", "c"),
    "g": ("g",),
    "C": ("M", "b", "c"),
    "relations": ("M", "b", "c", "g"),
}
"""Part name -> what of the dynamics must be derived for it; none for the others."""


def _entries(model: Model, part: str, choice: Choice) -> tuple[Item, ...]:
    return tuple(_in_constants(model, part) if choice.compact else _expanded(model, part))


def _in_constants(model: Model, part: str) -> Iterable[Item]:
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


def _expanded(model: Model, part: str) -> Iterable[Item]:
    """Equations; one that repeats another up to a factor refers to it, and the zeros stand in one line."""
    entries = model.entries([part])
    aliases = _aliases(model, part)
    zeros = []
    for name, value in entries.items():
        if not value:
            zeros.append(_label(name))
        elif name in aliases:
            relation = aliases[name]
            yield Equation(_label(name), Reference(_label(relation.of or ""), relation.factor, value))
        else:
            yield Equation(_label(name), value)
    if zeros:
        yield Zeros(tuple(zeros))


def _aliases(model: Model, part: str) -> dict[str, EntryRelation]:
    if part in ("b", "c"):
        found = relations(model).coefficients
    else:
        found = compare(model.entries([part]))[0]
    return {relation.name: relation for relation in found if relation.of is not None}


def _label(name: str) -> Label:
    return Label(name[0], name[1:])


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
