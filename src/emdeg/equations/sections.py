"""What a model can show: part name -> section. The command line and the notebook take theirs from here.

No name of our own looks like a symbol of the robot: where one would, it has another letter, and a word says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from emdeg.algebra import Angle, Atom, Product, Sum, TrigAlgebra, look, written_out
from emdeg.documents import (
    WRITERS,
    AbbreviatedFormula,
    Document,
    Equation,
    Factor,
    FactoredFormula,
    Format,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Paragraph,
    Reference,
    Section,
    Table,
    Zeros,
    label,
    labels_of,
    resolved,
)
from emdeg.equations.coefficient_relations import EntryRelation, compare, relations
from emdeg.equations.extended_sections import extended
from emdeg.equations.jacobian_sections import inverse, jacobian, singular
from emdeg.equations.kinematic_sections import (
    Choice,
    base,
    coriolis_matrix,
    found_relations,
    lagrange,
    regressor,
    transforms,
    uicker,
)
from emdeg.equations.kinematics import FrameName
from emdeg.equations.model import Model
from emdeg.equations.reading import ABBREVIATIONS, own_letter
from emdeg.equations.reading.lumped import Constant

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
    scheme: str = "diagonal",
    tell: Callable[[str], None] = lambda part: None,
) -> Document:
    """The parts asked for, in their order; ValueError for an unknown one.

    With "constants" among them M, b, c and g are written in those constants, otherwise as expanded formulas.
    `frame` and `rows` are for J and Jinv, `standard` frames for U, `scheme` for extended. `tell` is told each part when
    it begins; an interrupt leaves the parts that are ready, if there are any.
    """
    parts = tuple(parts)
    choice = Choice("constants" in parts, frame, None if rows is None else tuple(rows), standard, scheme)
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


def constants(model: Model) -> Section:
    """Every lumped constant: its formula, then its value, tolerance, unit and where it is used."""
    found = model.constants
    letters = model.lumped.algebra
    items: list[Item] = [Equation(label(c.name), _formula(c, letters)) for c in found]
    head = ("constant", "value", "+-", "unit", "used in")
    items.append(Table(head, tuple((c.name, _value(c), _tolerance(c), c.unit, _uses(c)) for c in found)))
    abbreviated = (ABBREVIATIONS,) if letters.short else ()
    items += [Paragraph(text) for text in (*_zeros(found), *abbreviated)]
    return Section("constants", f"Constants of the mechanism: {kinds_of(found)}", tuple(items))


def _formula(constant: Constant, letters: TrigAlgebra) -> Formula:
    """What a constant is, in brackets where that is shorter and every letter can be told."""
    formula = constant.formula
    if letters.alike or formula.is_number:
        return formula
    if any(isinstance(letter.of, Angle) for letter in formula.generators):  # no program knows cos(0.2557) by its name
        return AbbreviatedFormula(constant.expression, formula)
    return constant.expression


def kinds_of(constants: Sequence[Constant]) -> str:
    """Which letters the kinds of constants have."""
    heads = {c.unit.startswith("N"): label(c.name).letter for c in constants if not c.is_drive}
    drives = next((label(c.name).letter for c in constants if c.is_drive), "Im")
    return f"{heads.get(False, 'I')} inertial, {heads.get(True, 'G')} gravitational, {drives} of the drives"


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
    "D": lagrange,
    "extended": extended,
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
    "D": ("M", "b", "c", "g"),
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


_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def unmistakable(document: Document, model: Model) -> Document:
    """The document with other letters for entries and matrices that look like a symbol of the robot, and a legend."""
    source = model.general or model
    letters, legend = letters_of(_labels(document), source.algebra, model.algebra.parameters)
    legend = (*_joints(model), *legend)
    if letters:
        sections = (replace(s, items=tuple(_items(s, letters))) for s in document.sections)
        document = replace(document, sections=tuple(sections))
    if not legend or not document.sections:
        return document
    first, *others = document.sections
    return replace(document, sections=(replace(first, items=(Paragraph(" ".join(legend)), *first.items)), *others))


def _joints(model: Model) -> Iterable[str]:
    """Which joint each variable belongs to, where the file has other names, or the same ones in another order."""
    named = {f"q{k}": joint.name for k, joint in enumerate(model.robot.joints, 1)}
    if any(variable != name for variable, name in named.items()):
        yield (
            "Variables number the joints in their order: "
            + ", ".join(f"{variable} of joint {name}" for variable, name in named.items())
            + "."
        )


def _labels(document: Document) -> list[Label]:
    return [one for item in document.items for one in labels_of(item)]


def letters_of(
    labels: Sequence[Label], algebra: TrigAlgebra, further: Iterable[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """(letter of ours -> the one to take its place, sentences that say so): no label looks like a symbol then."""
    angles = (angle.symbol for angle in algebra.constant_angles)
    letters = _letters(labels, {*further, *algebra.parameters, *(name for name in angles if name)})
    return letters, tuple(_legend(labels, letters, algebra))


def _letters(labels: Iterable[Label], symbols: Iterable[str]) -> dict[str, str]:
    """Letter of ours -> the one to take its place."""
    families: dict[str, list[str]] = {}
    for one in labels:
        families.setdefault(one.letter, []).append(one.subscript)
    chosen = {letter: own_letter(letter, subscripts, symbols) for letter, subscripts in families.items()}
    return {letter: new for letter, new in chosen.items() if new != letter}


def _items(section: Section, letters: Mapping[str, str]) -> Iterable[Item]:
    def renamed(one: Label) -> Label:
        return replace(one, letter=letters.get(one.letter, one.letter))

    def factors(some: tuple[Factor, ...]) -> tuple[Factor, ...]:
        return tuple((renamed(base) if isinstance(base, Label) else base, power) for base, power in some)

    def formula(value: Formula) -> Formula:
        if isinstance(value, Reference):
            return replace(value, of=renamed(value.of))
        if isinstance(value, FactoredFormula):
            return replace(value, above=factors(value.above), below=factors(value.below))
        # Entries stand in the hierarchical form's equations; no other section has both.
        return _renamed(value, letters) if isinstance(value, Sum) and section.key == "hierarchy" else value

    def text(value: str) -> str:
        return _WORD.sub(lambda word: str(renamed(label(word[0]))) if _is_entry(word[0]) else word[0], value)

    for item in section.items:
        if isinstance(item, Equation):
            yield Equation(renamed(item.label), formula(item.value))
        elif isinstance(item, MatrixEquation):
            yield MatrixEquation(renamed(item.label), tuple(tuple(map(formula, row)) for row in item.rows))
        elif isinstance(item, Zeros):
            yield Zeros(tuple(map(renamed, item.labels)))
        elif isinstance(item, Table):
            rows = (tuple(text(cell) if isinstance(cell, str) else cell for cell in row) for row in item.rows)
            yield replace(item, rows=tuple(rows))
        elif isinstance(item, Paragraph):
            yield Paragraph(text(item.text))
        else:
            yield item


def _is_entry(word: str) -> bool:
    """Whether a word is the name of an entry or matrix with indices: other words of a sentence stay."""
    tail = look(word)[1]
    return bool(tail) and tail.replace(",", "").isdigit()


def _renamed(expression: Sum, letters: Mapping[str, str]) -> Sum:
    def factor(one: Atom | Sum) -> Atom | Sum:
        if isinstance(one, Sum):
            return _renamed(one, letters)
        head = label(one.kind)
        return one if one.angle else Atom(str(replace(head, letter=letters.get(head.letter, head.letter))))

    return Sum(tuple(Product(t.coefficient, tuple(map(factor, t.factors))) for t in expression.terms))


def _legend(labels: Iterable[Label], letters: Mapping[str, str], algebra: TrigAlgebra) -> Iterable[str]:
    """Sentences about letters that are not the usual ones."""
    own = [f"{new} stands for {old}" for old, new in letters.items()]
    heads = {one.letter for one in labels}
    own += [f"{head} stands for {head.rstrip('o')}" for head in sorted(heads) if _is_longer(head)]
    if own:
        yield f"{'; '.join(own)}, because symbols of the robot look like names with {_these(letters, heads)}."
    if not algebra.short:
        yield "Sines and cosines are written out, because abbreviations would look like other names."
    if alike := sorted(algebra.alike):
        yield f"Typeset, {', '.join(alike)} stand letter by letter, because other names look like them."


def _is_longer(head: str) -> bool:
    return re.fullmatch(r"(I|G|Im|K|T|V)o+", head) is not None


def _these(letters: Mapping[str, str], heads: Iterable[str]) -> str:
    old: Sequence[str] = sorted({*letters, *(head.rstrip("o") for head in heads if _is_longer(head))})
    return ", ".join(old)
