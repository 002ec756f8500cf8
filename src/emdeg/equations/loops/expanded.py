"""The reduced model of a mechanism with closed loops, every entry expanded: M, C, G, J and J-dot in u and ud alone.

Quotients and square roots have no place in a polynomial. So whatever is divided by gets a letter for its reciprocal
(r1 = 1 / ...) and every root a letter of its own (h1 = sqrt ...), defined once and listed first; over these letters,
the sines and cosines of the tree's joints and the coordinates' rates each entry is one polynomial, in canonical form.
`solution` says what the dependent joints are: with it everything is explicit in u.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from emdeg.algebra import DEFAULT_MAX_TERMS, Angle, TrigAlgebra, TrigPoly, quotient
from emdeg.errors import RobotError
from emdeg.mechanics.formulations import equations_by_virtual_work
from emdeg.mechanics.loops import Linkage, linkage_of, ready, solve
from emdeg.mechanics.loops import reduction as closed_loop
from emdeg.robot import Robot, algebra_of, positions
from emdeg.writing import Document, Equation, Item, Label, MatrixEquation, Paragraph, Section, SquareRoot

MOST = 60
"""Letters of either kind; a mechanism that needs more is better read as its blocks."""


class Entry:
    """A polynomial that can be divided by another: the quotient is a product with the reciprocal's letter."""

    __slots__ = ("names", "poly")
    __array_ufunc__ = None

    def __init__(self, poly: TrigPoly, names: Names) -> None:
        self.poly, self.names = poly, names

    def _of(self, poly: TrigPoly) -> Entry:
        return Entry(poly, self.names)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Entry | int | Fraction):
            return NotImplemented
        return self._of(self.poly + _plain(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, Entry | int | Fraction):
            return NotImplemented
        return self._of(self.poly - _plain(other))

    def __rsub__(self, other: Any) -> Entry:
        return self._of(-self.poly + other)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Entry | int | Fraction):
            return NotImplemented
        return self._of(self.poly * _plain(other))

    __rmul__ = __mul__

    def __neg__(self) -> Entry:
        return self._of(-self.poly)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, Entry | int | Fraction):
            return NotImplemented
        below = _plain(other)
        if not isinstance(below, TrigPoly):
            return self._of(self.poly / below)
        if below.is_number:
            return self._of(self.poly / below.number)
        return self._of(self.poly * self.names.reciprocal(below))

    def __rtruediv__(self, other: int | Fraction) -> Entry:
        return self._of(self.names.algebra.number(Fraction(other))) / self

    def __bool__(self) -> bool:
        return bool(self.poly)


def _plain(value: Entry | int | Fraction) -> Any:
    return value.poly if isinstance(value, Entry) else value


@dataclass
class Names:
    """An algebra of entries; `reciprocals` and `roots` are what its letters stand for, in order."""

    algebra: TrigAlgebra
    reciprocals: list[TrigPoly] = field(default_factory=list)
    roots: list[TrigPoly] = field(default_factory=list)

    def number(self, value: Fraction) -> Entry:
        return Entry(self.algebra.number(value), self)

    def symbol(self, name: str) -> Entry:
        return Entry(self.algebra.symbol(name), self)

    def sincos(self, angle: Angle) -> tuple[Entry, Entry]:
        s, c = self.algebra.sincos(angle)
        return Entry(s, self), Entry(c, self)

    def entry(self, at: Any) -> Any:
        return tuple(Entry(part, self) for part in at) if isinstance(at, tuple) else Entry(at, self)

    def reciprocal(self, below: TrigPoly) -> TrigPoly:
        """The letter of 1 / below, times the number that was taken out."""
        scale = below.leading_coefficient
        return self._letter("r", self.reciprocals, below / scale) / scale

    def root(self, radicand: Entry, loop: str) -> Entry:
        return Entry(self._letter("h", self.roots, radicand.poly), self)

    def _letter(self, prefix: str, known: list[TrigPoly], formula: TrigPoly) -> TrigPoly:
        if formula not in known:
            if len(known) == MOST:
                raise RobotError(f"it needs more than {MOST} letters to be expanded; read its blocks instead")
            known.append(formula)
        return self.algebra.symbol(f"{prefix}{known.index(formula) + 1}")


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
        at = [self.names.entry(place) for place in positions(self.robot, self.names.algebra)]
        ud = [Entry(self.names.algebra.rate(k + 1), self.names) for k in self.link.coordinates]
        return _formulas(equations_by_virtual_work(self.link, at, closed_loop.tree_rates(self.link, at, ud)).C)


def _formulas(matrix: closed_loop.Matrix) -> list[list[TrigPoly]]:
    """What the mechanics gave over `Names`, whose scalars are entries."""
    return [[cast(Entry, x).poly for x in row] for row in matrix]


def _names(robot: Robot, budget: int) -> Names:
    plain = algebra_of(robot, rates=True, budget=budget)
    extra = [f"{prefix}{k}" for prefix in "hr" for k in range(1, MOST + 1)]
    clash = set(extra) & set(plain.parameters)
    if clash:
        raise RobotError(f"its symbol {min(clash)} has the name of a letter of the expansion", body=robot.name)
    return Names(
        TrigAlgebra(
            plain.revolute,
            plain.prismatic,
            [*plain.parameters, *extra],
            plain.constant_angles,
            rates=True,
            max_terms=budget,
        )
    )


def expand_loops(robot: Robot, *, budget: int = DEFAULT_MAX_TERMS) -> Expanded:
    """Every entry of the reduced model of a robot with closed loops."""
    found = ready(robot)
    names = _names(robot, budget)
    link = linkage_of(robot, names, found.mobility.rows)
    letters_ = [names.entry(at) for at in positions(robot, names.algebra)]
    solution = None
    if found.plan is not None:
        known = {k: letters_[k] for k in link.coordinates}
        closed = solve(link, found.plan, known, names.root)
        solution = {k: _polys(closed[k]) for k in link.dependent}
    ud = [Entry(names.algebra.rate(k + 1), names) for k in link.coordinates]
    model = closed_loop.model(link, letters_, closed_loop.tree_rates(link, letters_, ud))
    M, C, J, J_rate, (G,) = map(_formulas, (model.M, model.C, model.J, model.J_rate, [model.G]))
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
                f"Joints of the tree: {named(range(robot.n))}. s, c: a turning joint's sine and cosine; q: a shift."
            ),
            Paragraph(f"Independent coordinates u: {named(found.link.coordinates)}; qd: their rates."),
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
        labels = [f"s{k + 1}", f"c{k + 1}"] if len(parts) == 2 else [f"q{k + 1}"]
        items += [Equation(Label(label[0], label[1:]), value) for label, value in zip(labels, parts)]
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
