"""What `emdeg.reports.kane.describe` finds: as a document, and as plain data for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from emdeg.documents import (
    Document,
    Equation,
    Facts,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Paragraph,
    Section,
    Statement,
    Written,
    latex,
    mathml,
    text,
)
from emdeg.equations.reading import own_letter
from emdeg.reports.kane import BodyMotion, Description, Dynamics, Velocities

LETTERS = "XTHGER"
"""Kane's letters for what the equations consist of; a robot's symbol may look like one of their entries."""
NOT_CLOSED = "straight-line solution"
"""What stands for the formula of a rate that has none of sensible length."""


def kane_document(found: Description) -> Document:
    """Everything that was asked for, in Kane's order: speeds, rates, velocities, partials, forces, equations."""
    sections = [_speeds(found), _kinematics(found)]
    if "velocities" in found.show:
        sections += [_velocities(body) for body in found.bodies]
    if "partials" in found.show:
        sections += [_partials(body) for body in found.bodies]
    if found.dynamics is not None:
        steps = tuple(Equation(*step) for step in found.dynamics.steps)
        sections.append(Section("Z", "Intermediate quantities", steps))
        if "forces" in found.show:
            sections.append(_forces(found.dynamics, with_X="equations" not in found.show))
        if "equations" in found.show:
            own = _own_letters(found.dynamics)
            X, R = own["X"], own["R"]
            right = _entries(R, found.dynamics.right, zeros=True)
            shown = f"{_sum_over('s')}{_math(X, 'rs')}{_UD}<mo>=</mo>{_math(R, 'r')}"
            statement = Written(f"{X} ud = {R}", rf"\sum_s {_tex(X, 'rs')}\dot u_s = {_tex(R, 'r')}", shown)
            items = (Statement(statement), *_matrix(X, found.dynamics.X), *right, *_renamed(own, "XR"))
            sections.append(Section("equations", "Equations of motion", items))
    return Document(f"{found.robot}: {found.title or 'generalized speeds'}", tuple(sections))


def _speeds(found: Description) -> Section:
    items: list[Item] = [Equation(speed.name, speed.formula) for speed in found.speeds]
    items.append(Facts(tuple((str(speed.name), speed.words) for speed in found.speeds)))
    foreign = [f"{letter} = {name}" for letter, name in found.letters if str(letter) != name]
    if foreign:
        items.append(Paragraph("Letters: " + ", ".join(foreign)))
    return Section("speeds", "Generalized speeds", tuple(items))


def _kinematics(found: Description) -> Section:
    items: list[Item] = [Equation(rate, formula) for rate, _, formula in found.rates if formula is not None]
    if len(items) < len(found.rates):
        items.append(Paragraph(f"The rates are known by a {NOT_CLOSED} only."))
    if isinstance(found.determinant, str):
        items.append(Paragraph(f"The determinant of A: {found.determinant}."))
    else:
        items.append(Equation(Label("detA"), found.determinant))
    where = "; ".join(found.singular)
    items.append(Paragraph(f"Singular where {where}." if where else "Never singular."))
    return Section("rates", "Kinematic equations", tuple(items))


def _velocities(body: BodyMotion) -> Section:
    items: list[Item] = []
    for letter, of in (("omega", body.omega), ("v", body.v)):
        for form, vector in (("implicit", of.implicit), ("explicit", of.explicit)):
            items.append(Paragraph(f"{letter}, {form}{': straight-line solution only' if vector is None else ':'}"))
            items += [Equation(Label(letter, f"_{axis}"), value) for axis, value in zip("xyz", vector or ())]
    title = f"{body.body}: angular velocity, and velocity of its {body.point}, in its own axes"
    return Section(f"velocities of {body.body}", title, tuple(items))


def _partials(body: BodyMotion) -> Section:
    items = tuple(
        MatrixEquation(Label(letter, f"_{name}"), (vector,))
        for letter, of in (("omega", body.omega), ("v", body.v))
        for name, vector in of.partials or ()
        if any(entry.rest for entry in vector)
    )
    title = f"{body.body}: partial angular velocities, and partial velocities of its {body.point}"
    return Section(f"partials of {body.body}", title, items)


def _forces(found: Dynamics, with_X: bool) -> Section:
    own = _own_letters(found)
    items: list[Item] = [Statement(_meaning(own)), *_matrix(own["T"], found.T, symmetric=False)]
    for letter, values in (("H", found.H), ("G", found.G), ("E", found.E)):
        items += _entries(own[letter], values)
    items += _matrix(own["X"], found.X) if with_X else []
    return Section("forces", "Generalized forces", (*items, *_renamed(own, "XTHGE")))


def _meaning(own: Mapping[str, str]) -> Written:
    """What the generalized forces consist of, in these letters."""
    X, T, H, G, E = (own[letter] for letter in "XTHGE")
    tex = {letter: _tex(own[letter], {"X": "rs", "T": "rk"}.get(letter, "r")) for letter in LETTERS}
    return Written(
        f"K*_r = -sum {X}_rs ud_s - {H}_r; K_r = sum {T}_rk tau_k + {G}_r (gravity) + {E}_r (other forces)",
        rf"K^*_r = -\sum_s {tex['X']}\dot u_s - {tex['H']},\qquad "
        rf"K_r = \sum_k {tex['T']}\tau_k + {tex['G']} + {tex['E']}",
        f"<msubsup><mi>K</mi><mi>r</mi><mo>*</mo></msubsup><mo>=</mo><mo>&#x2212;</mo>{_sum_over('s')}{_math(X, 'rs')}"
        f"{_UD}<mo>&#x2212;</mo>{_math(H, 'r')}<mo>,</mo><mspace width='2em'/>{_math('K', 'r')}<mo>=</mo>"
        f"{_sum_over('k')}{_math(T, 'rk')}{_math('tau', 'k')}<mo>+</mo>{_math(G, 'r')}<mo>+</mo>{_math(E, 'r')}",
    )


def _own_letters(found: Dynamics) -> dict[str, str]:
    """Kane's letters, or longer ones where an entry would look like a symbol of the robot or like a speed."""
    one = [str(r) for r in range(1, max(map(len, (found.X, found.T))) + 1)]
    apart = "_" if len(found.X) > 9 else ""
    two = [f"{r}{apart}{s}" for r in one for s in one]
    return {letter: own_letter(letter, two if letter in "XT" else one, found.symbols) for letter in LETTERS}


def _renamed(own: dict[str, str], letters: str) -> list[Paragraph]:
    """A word on the letters that are not Kane's."""
    changed = [f"{letter} is written {own[letter]}" for letter in letters if own[letter] != letter]
    why = "because a symbol of the robot looks like one of its entries"
    return [Paragraph(f"{', '.join(changed)}, {why}.")] if changed else []


def _tex(letter: str, subscript: str) -> str:
    return f"{Label(letter).latex}_{{{subscript}}}"


def _math(letter: str, subscript: str, dots: int = 0) -> str:
    return mathml.label(Label(letter, f"_{subscript}", dots))


_UD = _math("u", "s", dots=1)


def _sum_over(index: str) -> str:
    return f"<munder><mo>&#x2211;</mo><mi>{index}</mi></munder>"


def _entries(name: str, values: Sequence[Written], zeros: bool = False) -> list[Equation]:
    return [Equation(Label(name, str(r)), value) for r, value in enumerate(values, 1) if zeros or value.text != "0"]


def _matrix(name: str, rows: Sequence[Sequence[Written]], symmetric: bool = True) -> list[Equation]:
    """What does not vanish, of a symmetric matrix above the diagonal."""
    apart = "_" if len(rows) > 9 else ""
    return [
        Equation(Label(name, f"{r}{apart}{s}"), value)
        for r, row in enumerate(rows, 1)
        for s, value in enumerate(row, 1)
        if (s >= r or not symmetric) and value.text != "0"
    ]


def kane_data(found: Description, as_latex: bool = False) -> dict[str, Any]:
    """The same as strings, lists and mappings that JSON can hold; one string a formula, in exact text or in LaTeX."""
    write: Callable[[Formula], str] = latex.line if as_latex else lambda value: text.line(value, text.EXACT)
    name: Callable[[Label], str] = (lambda one: one.latex) if as_latex else str

    def vector(values: Sequence[Formula] | None) -> list[str] | None:
        return None if values is None else [write(value) for value in values]

    def partials(of: Velocities) -> dict[str, Any] | None:
        return None if of.partials is None else {name(speed): vector(values) for speed, values in of.partials}

    data: dict[str, Any] = {
        "robot": found.robot,
        "title": found.title,
        "letters": {str(letter): joint for letter, joint in found.letters},
        "speeds": [{"name": name(s.name), "is": s.words, "formula": write(s.formula)} for s in found.speeds],
        "rates": [
            {"rate": name(rate), "joint": joint, "formula": NOT_CLOSED if formula is None else write(formula)}
            for rate, joint, formula in found.rates
        ],
        "determinant": found.determinant if isinstance(found.determinant, str) else write(found.determinant),
        "singular": list(found.singular),
    }
    if "velocities" in found.show:
        data["velocities"] = [
            {
                "body": body.body,
                "point": body.point,
                "omega": {"implicit": vector(body.omega.implicit), "explicit": vector(body.omega.explicit)},
                "v": {"implicit": vector(body.v.implicit), "explicit": vector(body.v.explicit)},
            }
            for body in found.bodies
        ]
    if "partials" in found.show:
        data["partials"] = [
            {"body": body.body, "point": body.point, "omega": partials(body.omega), "v": partials(body.v)}
            for body in found.bodies
        ]
    if (dynamics := found.dynamics) is not None:
        data["Z"] = [{"name": name(step), "value": write(value)} for step, value in dynamics.steps]
        X = [vector(row) for row in dynamics.X]
        if "forces" in found.show:
            data["forces"] = {
                "meaning": _meaning({letter: letter for letter in LETTERS}).text,
                "X": X,
                "H": vector(dynamics.H),
                "T": [vector(row) for row in dynamics.T],
                "G": vector(dynamics.G),
                "E": vector(dynamics.E),
            }
        if "equations" in found.show:
            data["equations"] = {"X": X, "rhs": vector(dynamics.right)}
    return data
