"""The reduced model of a mechanism with closed loops, every entry expanded: M, C, G, J and J-dot in u and ud alone.

Quotients and square roots have no place in a polynomial. So whatever is divided by gets a letter for its reciprocal
(r1 = 1 / ...) and every root a letter of its own (h1 = sqrt ...), defined once and listed first; over these letters,
the sines and cosines of the tree's joints and the coordinates' rates each entry is one polynomial, in canonical form.
`solution` says what the dependent joints are: with it everything is explicit in u.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.algebra import DEFAULT_MAX_TERMS, TrigPoly, quotient
from emdeg.documents import Document, Equation, Item, Label, MatrixEquation, Paragraph, Section, SquareRoot, label
from emdeg.loops import Linkage, closing_of, equations_by_virtual_work, linkage_of, solve
from emdeg.loops import reduction as closed_loop
from emdeg.loops.equations.letters import LetterEntry, Names, formulas, names_of
from emdeg.robot import Robot


@dataclass(frozen=True)
class Expanded:
    """The reduced model, entry by entry. `solution`: every dependent joint's (sine, cosine), or displacement."""

    robot: Robot
    link: Linkage
    names: Names
    solution: dict[int, tuple[TrigPoly, ...]] | None
    M: list[list[TrigPoly]]
    C: list[list[TrigPoly]]
    G: list[TrigPoly]
    J: list[list[TrigPoly]]
    J_rate: list[list[TrigPoly]]

    def C_of_virtual_work(self) -> list[list[TrigPoly]]:
        """The other C, sum of J^T (m J-dot ...) over the bodies: the same C ud (Asadi and Heydari (41))."""
        at, ud = _state(self.names, self.link)
        return formulas(equations_by_virtual_work(self.link, at, closed_loop.tree_rates(self.link, at, ud)).C)


def _state(names: Names, link: Linkage) -> tuple[list[Any], list[LetterEntry]]:
    """Every joint's position, and the coordinates' rates, in letters."""
    return [names.position(k) for k in range(link.n)], [names.rate(k) for k in link.coordinates]


def expand_loops(robot: Robot, *, budget: int = DEFAULT_MAX_TERMS) -> Expanded:
    """Every entry of the reduced model of a robot with closed loops."""
    found = closing_of(robot)
    names = names_of(robot, budget=budget)
    link = linkage_of(robot, names, found.mobility.rows, found.mobility.pivots)
    at, ud = _state(names, link)
    solution = None
    if found.plan is not None:
        closed = solve(link, found.plan, {k: at[k] for k in link.coordinates}, names.root)
        solution = {k: _polys(closed[k]) for k in link.dependent}
    model = closed_loop.model(link, at, closed_loop.tree_rates(link, at, ud))
    M, C, J, J_rate, (G,) = map(formulas, (model.M, model.C, model.J, model.J_rate, [model.G]))
    return Expanded(robot, link, names, solution, M, C, G, J, J_rate)


def _polys(position: Any) -> tuple[TrigPoly, ...]:
    return tuple(x.poly for x in position) if isinstance(position, tuple) else (position.poly,)


def expanded_document(found: Expanded, parts: Iterable[str]) -> Document:
    """The parts asked for, in their order; the letters' definitions are complete whatever is asked."""
    wanted = list(parts)
    made = {part: EXPANDED_PARTS[part](found) for part in wanted if part != "letters"}
    if "letters" in wanted:  # last: other parts may have brought letters along
        made["letters"] = EXPANDED_PARTS["letters"](found)
    sections = [made[part] for part in wanted]
    return Document(f"Expanded equations of motion of {found.robot.title or found.robot.name}", tuple(sections))


def _overview(found: Expanded) -> Section:
    robot = found.robot

    def named(joints: Sequence[int]) -> str:
        return ", ".join(f"{k + 1} {robot.joints[k].name}" for k in joints)

    return Section(
        "model",
        "The model",
        (
            Paragraph(
                f"Joints of the tree: {named(range(robot.n))}. s, c: a turning joint's sine and cosine; a slide has "
                "its name, or q; qd, or dot: a rate."
            ),
            Paragraph(f"Independent coordinates u: {named(found.link.coordinates)}."),
            Paragraph(f"Driven joints: {named(found.link.driven)}."),
            Paragraph("M(u) udd + C(u, ud) ud + G(u) = J^T tau; J takes ud to the driven joints' rates."),
        ),
    )


def _letters(found: Expanded) -> Section:
    one = found.names.algebra.one
    items: list[Item] = [
        Equation(Label("h", str(i)), SquareRoot(radicand)) for i, radicand in enumerate(found.names.roots, 1)
    ]
    items += [Equation(Label("r", str(i)), quotient(one, below)) for i, below in enumerate(found.names.reciprocals, 1)]
    return Section("letters", "Roots and reciprocals", tuple(items))


def _solution(found: Expanded) -> Section:
    if found.solution is None:
        return Section("solution", "The dependent joints", (Paragraph("The loops close numerically only."),))
    items: list[Item] = []
    for k, parts in found.solution.items():
        names = [f"s{k + 1}", f"c{k + 1}"] if len(parts) == 2 else [found.names.slides.get(k, f"q{k + 1}")]
        items += [Equation(label(name), value) for name, value in zip(names, parts)]
    return Section("solution", "The dependent joints, from the coordinates", tuple(items))


def _matrix(part: str, title: str, of: Callable[[Expanded], list[list[TrigPoly]]]) -> Callable[[Expanded], Section]:
    def section(found: Expanded) -> Section:
        rows = tuple(tuple(row) for row in of(found))
        return Section(part, title, (MatrixEquation(Label(part), rows),))

    return section


def _state_space(found: Expanded) -> Section:
    return Section(
        "state",
        "State-space form",
        (
            Paragraph(
                "x = (u, ud);  x-dot = (ud, M^-1 (J^T tau - C ud - G + F)), F the generalized external force "
                "(Asadi and Heydari (43)). In Python: emdeg.loops.state_rate(robot, x, tau)."
            ),
        ),
    )


EXPANDED_PARTS: dict[str, Callable[[Expanded], Section]] = {
    "model": _overview,
    "letters": _letters,
    "solution": _solution,
    "M": _matrix("M", "Mass matrix", lambda e: e.M),
    "C": _matrix("C", "Coriolis matrix from Christoffel symbols: M-dot - 2C is skew", lambda e: e.C),
    "C_vw": _matrix(
        "C_vw",
        "Coriolis matrix of virtual work: the same C ud, skew only where no body turns in space",
        lambda e: e.C_of_virtual_work(),
    ),
    "G": _matrix("G", "Gravity", lambda e: [[x] for x in e.G]),
    "J": _matrix("J", "The driven joints' rates per rate of the coordinates", lambda e: e.J),
    "Jdot": _matrix("Jdot", "The rate of J", lambda e: e.J_rate),
    "state": _state_space,
}
"""Part name -> what makes its section."""
