"""A mechanism with closed loops as a document, part by part, in the order and the form of Asadi and Heydari."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from emdeg.algebra import TrigPoly, quotient
from emdeg.documents import (
    Document,
    Equation,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Paragraph,
    Section,
    Statement,
    Written,
    latex,
    line,
    mathml,
)
from emdeg.loops import closing_of
from emdeg.loops.equations.blocks import Formulas, LoopModel, NamedBlock, Quotients, centre
from emdeg.loops.equations.letters import LetterEntry

NOTHING_BETWEEN = Written("", "")


def loop_document(model: LoopModel, parts: Iterable[str]) -> Document:
    """The parts asked for, in their order; ValueError for an unknown one."""
    sections = []
    for part in parts:
        if part not in LOOP_PARTS:
            raise ValueError(f"there is no part {part!r} of closed loops; parts: {', '.join(LOOP_PARTS)}")
        sections.append(LOOP_PARTS[part](model))
    return Document(f"Equations of motion of {model.robot.title or model.robot.name}", tuple(sections))


def _named(model: LoopModel, joints: Iterable[int]) -> str:
    return ", ".join(f"{k + 1} {model.robot.joints[k].name}" for k in joints)


def _overview(model: LoopModel) -> Section:
    robot, link = model.robot, model.link
    slides = ", ".join(model.names.slides.values())
    letters = "s1, c1: sine and cosine of joint 1; qd1: its rate"
    letters += f"; {slides}: slides, xdot the rate of x" if slides else ""
    items: list[Item] = [
        Paragraph(f"Joints of the tree: {_named(model, range(robot.n))}."),
        Paragraph(f"Independent coordinates X: {_named(model, link.coordinates)}."),
        Paragraph(f"Driven joints: {_named(model, link.driven)}."),
        Paragraph(f"{closing_of(robot).mobility}."),
        Paragraph(f"{letters}; J_12: the first driven joint's rate per rate of the second coordinate."),
        Statement(
            Written(
                "M(X) Xdd + C(X, Xd) Xd + G(X) = J^T tau",
                r"M(X)\,\ddot{X} + C(X, \dot{X})\,\dot{X} + G(X) = J^{T} \tau",
                f"<mi>M</mi><mo>(</mo><mi>X</mi><mo>)</mo>{_dotted(2)}<mo>+</mo><mi>C</mi><mo>(</mo><mi>X</mi><mo>,</mo>"
                f"{_dotted(1)}<mo>)</mo>{_dotted(1)}<mo>+</mo><mi>G</mi><mo>(</mo><mi>X</mi><mo>)</mo><mo>=</mo>"
                "<msup><mi>J</mi><mi>T</mi></msup><mi>&#x3C4;</mi>",
            )
        ),
    ]
    return Section("model", "The model", tuple(items))


def _dotted(dots: int) -> str:
    return mathml.label(Label("X", dots=dots))


def _closure(model: LoopModel) -> Section:
    items: list[Item] = []
    if model.rods:
        items.append(Paragraph("U1, U2, ..: the rods from end to end, base axes; phi = (U.U - length^2) / 2."))
        items += [MatrixEquation(Label("U", str(k)), U) for k, U in enumerate(model.rods, 1)]
    for i, (name, value) in enumerate(model.closure, 1):
        items += [Paragraph(f"{i}: {name}"), Equation(Label("phi", str(i)), value)]
    return Section("closure", "Closure: each expression is zero", tuple(items))


def _matrix(
    part: str, title: str, of: Callable[[LoopModel], Formulas | Quotients | None], label: Label | None = None
) -> Callable[[LoopModel], Section]:
    def section(model: LoopModel) -> Section:
        found = of(model)
        if found is None:
            block = Paragraph("Its blocks are too large to be inverted to formulas: W_d = -Phi_d^-1 Phi_u.")
            return Section(part, title, (block,))
        rows: tuple[tuple[Formula, ...], ...] = tuple(tuple(row) for row in found)
        return Section(part, title, (MatrixEquation(label or Label(part), rows),))

    return section


def _blocks(model: LoopModel) -> Section:
    items: list[Item] = []
    axial = _axial(model)
    for block in model.blocks:
        if block.symbol == "w" and block.number - 1 in axial:  # its joint's own row of J
            continue
        items.append(Paragraph(f"{block.about}:"))
        items.append(MatrixEquation(_label(block), block.here))
        if any(x for row in block.later for x in row):
            items.append(MatrixEquation(_label(block, dots=1), block.later))
    title = "Named Jacobians: partial velocities, and their rates in the same axes"
    return Section("blocks", title, tuple(items))


def _label(block: NamedBlock, dots: int = 0) -> Label:
    return Label("J", f"_{block.symbol}{block.number}", dots)


def _terms(model: LoopModel, dotted: bool) -> list[Written]:
    """The products whose sum M is, or C; none where a mass centre is no formula."""
    link, found = model.link, []
    if any(block.symbol == "O" for block in model.blocks):
        return []
    axial = _axial(model)
    for k in range(link.n):
        factor = _poly(link.bare.drive[k]) + (_about_centre(model, k)[2][2] if k in axial else 0)
        if factor:
            head, row = ("J", link.driven.index(k) + 1) if k in link.driven else ("W", k + 1)
            found.append(_product(factor, Label(head, f"_{row}"), Label(head, f"_{row}", dots=int(dotted))))
    for block in model.blocks:
        own, other = _label(block), _label(block, dots=int(dotted))
        if block.symbol != "w" and not (dotted and not any(x for row in block.later for x in row)):
            found += [_product(mass, own, other)] if (mass := _mass(model, block)) else []
        elif block.symbol == "w" and block.number - 1 not in axial:
            tensor = Label("I", f"_{block.number}")
            right, right_latex = f"{tensor} {other}", f"{tensor.latex} {other.latex}"
            right_math = mathml.label(tensor) + mathml.label(other)
            if dotted:
                right = f"({right} + w x {tensor} {own})"
                right_latex = rf"\bigl({right_latex} + \omega \times {tensor.latex} {own.latex}\bigr)"
                turned = f"<mo>+</mo><mi>&#x3C9;</mi><mo>&#xD7;</mo>{mathml.label(tensor)}{mathml.label(own)}"
                right_math = f"<mo>(</mo>{right_math}{turned}<mo>)</mo>"
            found.append(Written(f"{own}^T {right}", f"{own.latex}^{{T}} {right_latex}", _transposed(own) + right_math))
    return found


def _product(factor: TrigPoly, left: Label, right: Label, turned: Written = NOTHING_BETWEEN) -> Written:
    """factor left^T right, with what turns the right one between them."""
    text, shown, math = line(factor), latex.line(factor), mathml.formula(factor)
    if len(factor) > 1:
        text, shown, math = f"({text})", rf"\bigl({shown}\bigr)", f"<mo>(</mo>{math}<mo>)</mo>"
    return Written(
        f"{text} {left}^T {turned.text}{right}",
        rf"{shown}\,{left.latex}^{{T}} {turned.latex}{right.latex}",
        f"{math}<mspace width='.17em'/>{_transposed(left)}{turned.mathml}{mathml.label(right)}",
    )


def _transposed(of: Label) -> str:
    return f"<msup><mrow>{mathml.label(of)}</mrow><mi>T</mi></msup>"


def _sum(head: str, terms: Sequence[Written], sign: str = "") -> list[Item]:
    """head = sum of terms, as it is read beside a paper: five in a line, on a page two."""
    if not terms:
        return []
    rows = [f" {sign or '+'} ".join(one.latex for one in terms[i : i + 5]) for i in range(0, len(terms), 5)]
    aligned = rf" \\ & {sign or '+'} ".join(rows)
    shown = rf"\begin{{aligned}} {head} ={{}}& {sign}{aligned} \end{{aligned}}"
    minus = f"<mo>{'&#x2212;' if sign else '+'}</mo>"
    lines = [minus.join(one.mathml for one in terms[i : i + 2]) for i in range(0, len(terms), 2)]
    cells = [f"<mi>{head}</mi><mo>=</mo>{minus if sign else ''}{lines[0]}", *(minus + one for one in lines[1:])]
    math = f'<mtable class="rows">{"".join(f"<mtr><mtd>{cell}</mtd></mtr>" for cell in cells)}</mtable>'
    text = f"{head} = {sign}" + f" {sign or '+'} ".join(one.text for one in terms)
    return [Statement(Written(text, shown, math))]


def _poly(value: object) -> TrigPoly:
    """What the mechanics gave over `Names`."""
    return cast(LetterEntry, value).poly


def _mass(model: LoopModel, block: NamedBlock) -> TrigPoly:
    """What a point's Jacobian is weighed with."""
    if block.symbol in ("L", "O"):
        return _poly(model.link.bare.inertia[block.number - 1].m)
    return _poly(model.link.bars[block.number - 1].masses["CAK".index(block.symbol)])


def _axial(model: LoopModel) -> dict[int, int]:
    """Body -> the one joint whose axis it turns about, where its angular velocity is that joint's rate alone."""
    found = {}
    for block in model.blocks:
        i = block.number - 1
        if block.symbol == "w":
            own = [str(x) if x else "" for x in block.here[2]]
            if not any(x for row in block.here[:2] for x in row) and own == list(model.letters[i]):
                found[i] = i
    return found


def _about_centre(model: LoopModel, i: int) -> list[list[TrigPoly]]:
    """The tensor about the mass centre, where that is a formula; about the frame's origin elsewhere."""
    body = model.link.bare.inertia[i]
    c = centre(cast("tuple[LetterEntry, ...]", body.mr), cast(LetterEntry, body.m))
    J = [[_poly(x) for x in row] for row in body.J]
    if c is None:
        return J
    m, r = _poly(body.m), [_poly(x) for x in c]
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    for a in range(3):
        for b in range(3):
            J[a][b] = J[a][b] - m * ((square if a == b else square * 0) - r[a] * r[b])
    return J


def _mass_matrix(model: LoopModel) -> Section:
    return Section("M", "Mass matrix", (*_sum("M", _terms(model, False)), MatrixEquation(Label("M"), model.model[0])))


def _coriolis(model: LoopModel) -> Section:
    told = _sum("C", _terms(model, True)) if model.is_of_virtual_work else []
    title = "Coriolis matrix: M-dot - 2C is skew"
    return Section("C", title, (*told, MatrixEquation(Label("C"), model.model[1])))


def _constants(model: LoopModel) -> Section:
    _ = model.model  # whose sums they are
    items: list[Item] = [Equation(Label("k", str(i)), value) for i, value in enumerate(model.names.constants, 1)]
    if model.names.reciprocals:
        one = model.names.algebra.one
        items += [Equation(Label("r", str(i)), quotient(one, x)) for i, x in enumerate(model.names.reciprocals, 1)]
    return Section("constants", "Constants", tuple(items or [Paragraph("None.")]))


def _gravity(model: LoopModel) -> Section:
    terms = []
    if all(block.symbol != "O" for block in model.blocks):
        for block in model.blocks:
            if block.symbol != "w" and (mass := _mass(model, block)):
                turned = NOTHING_BETWEEN
                if block.axes is not None:
                    axes = _transposed(Label("R", f"_{block.axes}"))
                    turned = Written(f"R_{block.axes}^T ", rf"R_{{{block.axes}}}^{{T}} ", axes)
                terms.append(_product(mass, _label(block), Label("g"), turned))
    told = _sum("G", terms, sign="-")
    if told:
        told.append(Paragraph("g: the acceleration of gravity; R_1: the axes of link 1 in the base."))
    return Section(
        "G",
        "Gravity",
        (
            *told,
            MatrixEquation(Label("G"), tuple((x,) for x in model.model[2])),
        ),
    )


LOOP_PARTS: dict[str, Callable[[LoopModel], Section]] = {
    "model": _overview,
    "closure": _closure,
    "Phi": _matrix("Phi", "The closure equations' derivatives by the tree's joints", lambda m: m.Phi),
    "W": _matrix("W", "Every joint's rate per rate of the coordinates", lambda m: m.W),
    "J": _matrix("J", "The driven joints' rates per rate of the coordinates", lambda m: m.J),
    "Jdot": _matrix("Jdot", "The rate of J", lambda m: m.driven(m.W_rate), Label("J", dots=1)),
    "Wdot": _matrix("Wdot", "The rate of W", lambda m: m.W_rate, Label("W", dots=1)),
    "blocks": _blocks,
    "constants": _constants,
    "M": _mass_matrix,
    "C": _coriolis,
    "G": _gravity,
}
"""Part name -> what makes its section."""


def default_parts(model: LoopModel) -> Sequence[str]:
    """What is read: W and its rate where joints have no drive, constants where there are symbols, Phi not at all."""
    undriven = any(k not in model.link.driven for k in model.link.dependent)
    needless = {"Phi", *(() if undriven else ("W", "Wdot")), *(() if model.robot.symbols else ("constants",))}
    return [part for part in LOOP_PARTS if part not in needless]
