"""The explicit equations of a mechanism with closed loops as one reads them: J, J-dot, named blocks, then M, C and G.

The entries of W, which takes the coordinates' rates to every joint's, are symbols (its actuated rows are the J of Asadi
and Heydari), defined once as quotients; so are their rates. Over these symbols the partial velocities of mass centres
and of rods' ends are short, M = sum of m J^T J and the other terms follow as in (23)-(42), and every entry is one
polynomial. `emdeg.loops.equations.expanded` has no such symbols and is explicit in the coordinates alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from emdeg.algebra import DEFAULT_MAX_TERMS, Quotient, TrigPoly, quotient
from emdeg.algebra.linear import blocks, determinant, product
from emdeg.dynamics import Frames, Vec3, path, tmul
from emdeg.dynamics.mechanism import BodyInertia
from emdeg.errors import RobotError
from emdeg.loops import (
    Linkage,
    anchor_point,
    closing_of,
    constraints,
    equations_by_virtual_work,
    in_motion,
    linkage_of,
    named_partials,
    world_frames,
)
from emdeg.loops import rate_of as time_rate_of
from emdeg.loops import reduction as closed_loop
from emdeg.loops.equations.symbols import LoopSymbols, rate_of, symbols_of
from emdeg.robot import BASE, Robot

Formulas = tuple[tuple[TrigPoly, ...], ...]
Quotients = tuple[tuple[Quotient, ...], ...]

ABOUT = {
    "L": "mass centre",
    "O": "origin",
    "w": "turning",
    "C": "first end",
    "A": "second end",
    "K": "mass centre",
}
"""Symbol of a named block -> what moves so."""
LARGEST_BLOCK = 3
"""Dependent joints that move together and are still solved for by determinants."""


@dataclass(frozen=True, slots=True)
class NamedBlock:
    """Partial velocities, 3 x nu, in the axes of a link, and their rates there: `symbol` L with number 1 is J_L1."""

    symbol: str
    number: int
    about: str
    axes: int | None
    """The number of the link whose axes are meant; None: the base's."""
    here: Formulas
    later: Formulas


@dataclass(frozen=True)
class LoopModel:
    """The model in symbols. `closure`: (loop, expression that is zero); `entries`: the names of W's entries."""

    robot: Robot
    symbols: LoopSymbols
    link: Linkage
    closure: tuple[tuple[str, TrigPoly], ...]
    Phi: Formulas
    entries: tuple[tuple[str, ...], ...]
    """Of every joint of the tree, one a coordinate; empty for the coordinates' own rows."""

    @cached_property
    def W(self) -> Quotients | None:
        """Every joint's rate per rate of the coordinates; None where blocks are too large for formulas."""
        return self._solved([[-row[k] for k in self.link.coordinates] for row in self.Phi], self.symbols.one)

    @cached_property
    def W_rate(self) -> Quotients | None:
        """The rates of W's entries, from Phi_d W_d-dot = -(Phi-dot W)."""
        right = product(self._move.Phi_rate, self._move.W, self.link.tree.zero)
        return self._solved([[-x for x in row] for row in right], self.symbols.zero)

    def driven(self, W: Quotients | None) -> Quotients | None:
        """The driven joints' rows."""
        return None if W is None else tuple(W[k] for k in self.link.driven)

    @property
    def J(self) -> Quotients | None:
        """The driven joints' rates per rate of the coordinates."""
        return self.driven(self.W)

    @cached_property
    def is_of_virtual_work(self) -> bool:
        """Whether virtual work's own C, sum of J^T (m J-dot ...), is the one from Christoffel symbols.

        So where every body with inertia turns about a direction that stays: its axes hold no joint's symbol.
        """
        parts = [part for at in self._at for part in (at if isinstance(at, tuple) else (at,))]
        joints = {str(g) for part in parts for g in part.generators}
        tree, world = self.link.tree, cast(Any, self._world)
        return not any(
            tree.revolute[k] and any(str(g) in joints for row in world.R[k] for g in row[2].generators)
            for i, body in enumerate(self.link.bare.inertia)
            if any(x for row in (*body.J, body.mr) for x in row)
            for k in path(tree, i)
        )

    @cached_property
    def model(self) -> tuple[Formulas, Formulas, tuple[TrigPoly, ...]]:
        """M, C and G, sums of symbols as one symbol. C is Christoffel's, by virtual work where that is the same."""
        work = equations_by_virtual_work(self.link, self._at, self._move)
        C = work.C if self.is_of_virtual_work else closed_loop.model(self.link, self._at, self._move).C
        matrices: Any = work.M, C, [work.G]
        M_, C_, (G_,) = (_frozen([[self.symbols.collected(x) for x in row] for row in matrix]) for matrix in matrices)
        return M_, C_, G_

    @cached_property
    def rods(self) -> tuple[Formulas, ...]:
        """U of every rod, from its first end to its second, base axes."""
        ends = [[anchor_point(end, self._world) for end in (bar.first, bar.second)] for bar in self.link.bars]
        return tuple(_frozen([[a - c] for a, c in zip(A, C)]) for C, A in ends)

    @cached_property
    def blocks(self) -> tuple[NamedBlock, ...]:
        """J_L of mass centres, J_w of turning; J_C, J_A, J_K of a rod's first end, second end and mass centre.

        J_O is of a link's origin, where its mass centre is no formula.
        """
        found: list[NamedBlock] = []
        for symbol, k, partials in named_partials(self.link, self._at, self._move, centre):
            name, axes = self.robot.links[k].name if symbol in "LOw" else self.link.bars[k].name, k
            if symbol in "CAK":
                axes = (self.link.bars[k].second if symbol == "A" else self.link.bars[k].first).link
            of = "the base" if axes == BASE else self.robot.links[axes].name
            turned = [v if axes == BASE else [tmul(self._world.R[axes], x) for x in v] for v in partials]
            here, later = (_frozen(list(zip(*columns))) for columns in turned)
            about = f"{ABOUT[symbol]} of {name}, axes of {of}"
            found.append(NamedBlock(symbol, k + 1, about, None if axes == BASE else axes + 1, here, later))
        return tuple(found)

    def _solved(self, right: Sequence[Sequence[TrigPoly]], own: TrigPoly) -> Quotients | None:
        """The rows X of all joints with Phi_d X_d = right by Cramer's rule, the coordinates' own ones `own` times 1."""
        zero = self.symbols.zero
        dependent, coordinates = self.link.dependent, self.link.coordinates
        A = [[row[k] for k in dependent] for row in self.Phi]
        X: list[list[Quotient]] = [[Quotient(zero)] * len(coordinates) for _ in range(self.link.n)]
        for place, k in enumerate(coordinates):
            X[k][place] = Quotient(own)
        for rows, columns in blocks(A):
            if len(rows) != len(columns) or len(rows) > LARGEST_BLOCK:
                return None
            inner = [[A[i][j] for j in columns] for i in rows]
            det = determinant(inner)
            for place in range(len(coordinates)):
                for at, j in enumerate(columns):
                    sides = [right[i][place] for i in rows]
                    swapped = [[b if c == at else x for c, x in enumerate(row)] for b, row in zip(sides, inner)]
                    X[dependent[j]][place] = _upright(determinant(swapped), det)
        return tuple(tuple(row) for row in X)

    @cached_property
    def _at(self) -> list[Any]:
        return [self.symbols.joint_position(k) for k in range(self.link.n)]

    @cached_property
    def _world(self) -> Frames:
        return world_frames(self.link, self._at)

    @cached_property
    def _move(self) -> closed_loop.TreeRates:
        """The tree's rates in symbols: every joint's qd, the entries of W and of its rate."""
        link, symbols = self.link, self.symbols
        zero, one = link.tree.zero, link.tree.one
        qd: list[Any] = [symbols.joint_rate(k) for k in range(link.n)]
        W: list[list[Any]] = [[zero] * len(link.coordinates) for _ in range(link.n)]
        W_rate = [list(row) for row in W]
        for place, k in enumerate(link.coordinates):
            W[k][place] = one
        for k in link.dependent:
            for place, entry in enumerate(self.entries[k]):
                if entry:
                    W[k][place], W_rate[k][place] = symbols.symbol(entry), symbols.symbol(rate_of(entry))
        moving = in_motion(link.tree, self._at, qd)
        Phi_rate = time_rate_of(closed_loop.constraint_jacobian(link, moving), zero)
        Phi: Any = self.Phi
        return closed_loop.TreeRates([qd[k] for k in link.coordinates], qd, W, Phi, Phi_rate, W_rate)


def derive_loops(robot: Robot, *, budget: int = DEFAULT_MAX_TERMS) -> LoopModel:
    """The equations of a robot with closed loops in symbols, exact; its own symbols may stand for any number."""
    found = closing_of(robot)
    entries = _entries(found.link)
    more = [entry for row in entries for entry in row if entry]
    symbols = symbols_of(robot, [*more, *map(rate_of, more)], budget)
    link = linkage_of(robot, symbols, found.mobility.rows, found.mobility.pivots)
    at: list[Any] = [symbols.joint_position(k) for k in range(link.n)]
    rows: list[Any] = constraints(link, world_frames(link, at))
    closure = tuple((row.name, row.value) for row in rows)
    Phi = tuple(tuple(row.by.get(k, symbols.zero) for k in range(link.n)) for row in rows)
    model = LoopModel(robot, symbols, link, closure, Phi, entries)
    W = model.W
    if W is not None:  # what is zero needs no symbol
        shown = tuple(tuple(x if W[k][r] else "" for r, x in enumerate(row)) for k, row in enumerate(entries))
        model = replace(model, entries=shown)
    return model


def _entries(link: Linkage) -> tuple[tuple[str, ...], ...]:
    """J_12 for the first actuated joint's rate per rate of the second coordinate, W_42 for the fourth joint's."""

    def entry(k: int, j: int) -> str:
        head, i = ("J", link.driven.index(k) + 1) if k in link.driven else ("W", k + 1)
        return "" if k in link.coordinates else f"{head}_{i}{j}" if max(i, j) < 10 else f"{head}_{i}_{j}"

    return tuple(tuple(entry(k, j) for j in range(1, len(link.coordinates) + 1)) for k in range(link.n))


def _frozen(matrix: Sequence[Sequence[Any]]) -> Formulas:
    return tuple(tuple(row) for row in matrix)


def _upright(above: TrigPoly, below: TrigPoly) -> Quotient:
    """The quotient whose denominator's first term is not negative."""
    found = quotient(above, below)
    if found.is_formula or found.denominator.leading_coefficient > 0:
        return found
    return quotient(-found.numerator, -found.denominator)


def centre(body: BodyInertia) -> Vec3 | None:
    """The mass centre, where it is a formula: first moments that hold the mass as a factor."""
    if not body.m:
        return None
    places = [Quotient(cast(TrigPoly, x), cast(TrigPoly, body.m)) for x in body.mr]
    if not all(place.is_formula for place in places):
        return None
    x, y, z = (place.numerator / place.denominator.number for place in places)
    return x, y, z


def no_explicit_model(robot: Robot) -> None:
    """RobotError: the equations of a mechanism are named blocks."""
    raise RobotError("it has closed loops: use emdeg.loops.equations.blocks.derive_loops", body=robot.name)
