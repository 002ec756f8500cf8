"""The explicit equations of a mechanism with closed loops, its blocks kept by name: closure, Phi, W, J, M, C, g.

The reduced model is W^T M W udd + W^T (M W-dot + C W) ud + W^T g = J^T tau. The blocks are what is read: exact formulas
in the tree's joint variables, W and J as quotients. `emdeg.equations.loops.expanded` multiplies them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from emdeg.algebra import DEFAULT_MAX_TERMS, Quotient, TrigAlgebra, TrigPoly, quotient
from emdeg.algebra.linear import blocks, determinant
from emdeg.mechanics.loops import Linkage, constraints, jacobian_matrix, linkage_of, ready, world_frames
from emdeg.mechanics.loops import reduction as closed_loop
from emdeg.robot import Robot, algebra_of, positions
from emdeg.writing import Document, Equation, Formula, Item, Label, MatrixEquation, Paragraph, Section

Formulas = tuple[tuple[TrigPoly, ...], ...]
Quotients = tuple[tuple[Quotient, ...], ...]

LARGEST_BLOCK = 3
"""Dependent joints that move together and are still solved for by determinants."""


@dataclass(frozen=True, slots=True)
class LoopModel:
    """The blocks. `closure`: (loop, expression that is zero); `W` and `J` are None where blocks are too large."""

    robot: Robot
    algebra: TrigAlgebra
    link: Linkage
    closure: tuple[tuple[str, TrigPoly], ...]
    Phi: Formulas
    W: Quotients | None

    @property
    def J(self) -> Quotients | None:
        """The driven joints' rates per rate of the coordinates."""
        return None if self.W is None else tuple(self.W[k] for k in self.link.driven)

    def M(self) -> Formulas:
        """The tree's mass matrix, rods included."""
        return _frozen(closed_loop.tree_mass_matrix(self.link, positions(self.robot, self.algebra)))

    def C(self) -> Formulas:
        """The tree's Coriolis matrix from Christoffel symbols, rods included."""
        rates = [self.algebra.rate(i) for i in range(1, self.robot.n + 1)]
        return _frozen(closed_loop.tree_coriolis(self.link, positions(self.robot, self.algebra), rates))

    def g(self) -> tuple[TrigPoly, ...]:
        """The tree's gravity efforts, rods included."""
        efforts = closed_loop.tree_gravity(self.link, positions(self.robot, self.algebra))
        return cast("tuple[TrigPoly, ...]", tuple(efforts))


def derive_loops(robot: Robot, *, budget: int = DEFAULT_MAX_TERMS) -> LoopModel:
    """The explicit blocks of a robot with closed loops, exact. Its loops must have numbers: mobility is checked."""
    algebra = algebra_of(robot, rates=True, budget=budget)
    link = linkage_of(robot, algebra, ready(robot).mobility.rows)
    rows = constraints(link, world_frames(link, positions(robot, algebra)))
    closure = tuple((row.name, cast(TrigPoly, row.value)) for row in rows)
    Phi = _frozen(jacobian_matrix(link, rows))
    return LoopModel(robot, algebra, link, closure, Phi, _velocity_map(link, algebra, Phi))


def _frozen(matrix: closed_loop.Matrix) -> Formulas:
    """What the mechanics gave over an algebra of formulas."""
    return cast(Formulas, tuple(tuple(row) for row in matrix))


def _velocity_map(link: Linkage, algebra: TrigAlgebra, Phi: Formulas) -> Quotients | None:
    """W with Phi W = 0 by Cramer's rule, block by block."""
    zero, one = algebra.zero, algebra.one
    dependent, own = link.dependent, link.coordinates
    A = [[row[k] for k in dependent] for row in Phi]
    W: list[list[Quotient]] = [[Quotient(zero)] * len(own) for _ in range(link.n)]
    for place, k in enumerate(own):
        W[k][place] = Quotient(one)
    for rows, columns in blocks(A):
        if len(rows) != len(columns) or len(rows) > LARGEST_BLOCK:
            return None
        inner = [[A[i][j] for j in columns] for i in rows]
        det = determinant(inner)
        for place, u in enumerate(own):
            right = [-Phi[i][u] for i in rows]
            for at, j in enumerate(columns):
                swapped = [[right[r] if c == at else x for c, x in enumerate(row)] for r, row in enumerate(inner)]
                top = determinant(swapped)
                W[dependent[j]][place] = quotient(top, det)
    return tuple(tuple(row) for row in W)


def loop_document(model: LoopModel, parts: Iterable[str]) -> Document:
    """The parts asked for, in their order; ValueError for an unknown one."""
    sections = []
    for part in parts:
        if part not in LOOP_PARTS:
            raise ValueError(f"there is no part {part!r} of closed loops; parts: {', '.join(LOOP_PARTS)}")
        sections.append(LOOP_PARTS[part](model))
    return Document(f"Equations of motion of {model.robot.title or model.robot.name}", tuple(sections))


def _names(model: LoopModel, joints: Iterable[int]) -> str:
    return ", ".join(f"{k + 1} {model.robot.joints[k].name}" for k in joints)


def _overview(model: LoopModel) -> Section:
    robot = model.robot
    items: list[Item] = [
        Paragraph(f"Joints of the tree: {_names(model, range(robot.n))}."),
        Paragraph(f"Independent coordinates u: {_names(model, model.link.coordinates)}."),
        Paragraph(f"Driven joints: {_names(model, model.link.driven)}."),
        Paragraph(f"{ready(robot).mobility}."),
        Paragraph("W^T M W udd + W^T (M W-dot + C W) ud + W^T g = J^T tau with qd = W ud, J the driven rows of W."),
    ]
    return Section("model", "The model", tuple(items))


def _closure(model: LoopModel) -> Section:
    items: list[Item] = []
    for i, (name, value) in enumerate(model.closure, 1):
        items += [Paragraph(f"{i}: {name}"), Equation(Label("phi", str(i)), value)]
    return Section("closure", "Closure: each expression is zero", tuple(items))


def _matrix(part: str, title: str, of: Callable[[LoopModel], Formulas | Quotients | None]) -> Callable:
    def section(model: LoopModel) -> Section:
        found = of(model)
        if found is None:
            block = Paragraph("Its blocks are too large to be inverted to formulas: W_d = -Phi_d^-1 Phi_u.")
            return Section(part, title, (block,))
        rows: tuple[tuple[Formula, ...], ...] = tuple(tuple(row) for row in found)
        return Section(part, title, (MatrixEquation(Label(part), rows),))

    return section


LOOP_PARTS: dict[str, Callable[[LoopModel], Section]] = {
    "model": _overview,
    "closure": _closure,
    "Phi": _matrix("Phi", "The closure equations' derivatives by the tree's joints", lambda m: m.Phi),
    "W": _matrix("W", "Every joint's rate per rate of the coordinates", lambda m: m.W),
    "J": _matrix("J", "The driven joints' rates per rate of the coordinates", lambda m: m.J),
    "M": _matrix("M", "Mass matrix of the tree with its rods", lambda m: m.M()),
    "C": _matrix("C", "Coriolis matrix of the tree with its rods, from Christoffel symbols", lambda m: m.C()),
    "g": _matrix("g", "Gravity of the tree with its rods", lambda m: tuple((x,) for x in m.g())),
}
"""Part name -> what makes its section."""
