"""The reduced model of a mechanism with closed loops, every entry expanded: M, C, G, J and J-dot in u and ud alone.

Quotients and square roots have no place in a polynomial. So whatever is divided by gets a symbol for its reciprocal
(r1 = 1 / ...) and every root a symbol of its own (h1 = sqrt ...), defined once and listed first; over these symbols,
the sines and cosines of the tree's joints and the coordinates' rates each entry is one polynomial, in canonical form.
`solution` says what the dependent joints are: with it everything is explicit in u.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from emdeg.algebra import DEFAULT_MAX_TERMS, TrigPoly, quotient
from emdeg.documents import Document, Equation, Item, Label, Paragraph, Section, SquareRoot, label
from emdeg.loops import Linkage, closing_of, equations_by_virtual_work, linkage_of, solve
from emdeg.loops import reduction as closed_loop
from emdeg.loops.equations.sections import matrix_section, numbered_joints
from emdeg.loops.equations.symbols import LoopSymbols, symbols_of
from emdeg.robot import Robot


@dataclass(frozen=True)
class Expanded:
    """The reduced model, entry by entry. `solution`: every dependent joint's (sine, cosine), or displacement."""

    robot: Robot
    link: Linkage
    symbols: LoopSymbols
    solution: dict[int, tuple[TrigPoly, ...]] | None
    M: list[list[TrigPoly]]
    C: list[list[TrigPoly]]
    G: list[TrigPoly]
    J: list[list[TrigPoly]]
    J_rate: list[list[TrigPoly]]

    def C_of_virtual_work(self) -> list[list[TrigPoly]]:
        """The other C, sum of J^T (m J-dot ...) over the bodies: the same C ud (Asadi and Heydari (41))."""
        at, move = _state(self.symbols, self.link)
        return cast(Any, equations_by_virtual_work(self.link, at, move).C)


def _state(symbols: LoopSymbols, link: Linkage) -> tuple[list[Any], closed_loop.TreeRates]:
    """Every joint's position and the tree's rates in symbols."""
    at = [symbols.joint_position(k) for k in range(link.n)]
    return at, closed_loop.tree_rates(link, at, [symbols.joint_rate(k) for k in link.coordinates])


def expand_loops(robot: Robot, *, budget: int = DEFAULT_MAX_TERMS) -> Expanded:
    """Every entry of the reduced model of a robot with closed loops."""
    found = closing_of(robot)
    symbols = symbols_of(robot, budget=budget)
    link = linkage_of(robot, symbols, found.mobility.rows, found.mobility.pivots)
    solution = None
    if found.plan is not None:
        own = {k: symbols.joint_position(k) for k in link.coordinates}
        closed: list[Any] = solve(link, found.plan, own, symbols.root)
        solution = {k: closed[k] if isinstance(closed[k], tuple) else (closed[k],) for k in link.dependent}
    model: Any = closed_loop.model(link, *_state(symbols, link))
    return Expanded(robot, link, symbols, solution, model.M, model.C, model.G, model.J, model.J_rate)


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
    told = [
        f"Joints of the tree: {numbered_joints(robot, range(robot.n))}. s, c: a turning joint's sine and cosine; a "
        "slide has its name, or q; qd, or dot: a rate.",
        f"Independent coordinates u: {numbered_joints(robot, found.link.coordinates)}.",
        f"Driven joints: {numbered_joints(robot, found.link.driven)}.",
        "M(u) udd + C(u, ud) ud + G(u) = J^T tau; J takes ud to the driven joints' rates.",
    ]
    return Section("model", "The model", tuple(map(Paragraph, told)))


def _letters(found: Expanded) -> Section:
    one = found.symbols.one
    items: list[Item] = [
        Equation(Label("h", str(i)), SquareRoot(radicand)) for i, radicand in enumerate(found.symbols.roots, 1)
    ]
    items += [
        Equation(Label("r", str(i)), quotient(one, below)) for i, below in enumerate(found.symbols.reciprocals, 1)
    ]
    return Section("letters", "Roots and reciprocals", tuple(items))


def _solution(found: Expanded) -> Section:
    if found.solution is None:
        return Section("solution", "The dependent joints", (Paragraph("The loops close numerically only."),))
    items: list[Item] = []
    for k, parts in found.solution.items():
        names = [f"s{k + 1}", f"c{k + 1}"] if len(parts) == 2 else [found.symbols.slides.get(k, f"q{k + 1}")]
        items += [Equation(label(name), value) for name, value in zip(names, parts)]
    return Section("solution", "The dependent joints, from the coordinates", tuple(items))


def _state_space(found: Expanded) -> Section:
    told = (
        "x = (u, ud);  x-dot = (ud, M^-1 (J^T tau - C ud - G + F)), F the generalized external force "
        "(Asadi and Heydari (43)). In Python: emdeg.loops.state_rate(robot, x, tau)."
    )
    return Section("state", "State-space form", (Paragraph(told),))


EXPANDED_PARTS: dict[str, Callable[[Expanded], Section]] = {
    "model": _overview,
    "letters": _letters,
    "solution": _solution,
    "M": matrix_section("M", "Mass matrix", lambda e: e.M),
    "C": matrix_section("C", "Coriolis matrix from Christoffel symbols: M-dot - 2C is skew", lambda e: e.C),
    "C_vw": matrix_section(
        "C_vw",
        "Coriolis matrix of virtual work: the same C ud, skew only where no body turns in space",
        lambda e: e.C_of_virtual_work(),
    ),
    "G": matrix_section("G", "Gravity", lambda e: [[x] for x in e.G]),
    "J": matrix_section("J", "The driven joints' rates per rate of the coordinates", lambda e: e.J),
    "Jdot": matrix_section("Jdot", "The rate of J", lambda e: e.J_rate),
    "state": _state_space,
}
"""Part name -> what makes its section."""
