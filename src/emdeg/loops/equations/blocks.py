"""The explicit equations of a mechanism with closed loops as one reads them: J, J-dot, named blocks, then M, C and G.

The entries of W, which takes the coordinates' rates to every joint's, are letters (its driven rows are the J of Asadi
and Heydari), defined once as quotients; so are their rates. Over these letters the partial velocities of mass centres
and of rods' ends are short, M = sum of m J^T J and its companions follow as in (23)-(42), and every entry is one
polynomial. `emdeg.loops.equations.expanded` has no such letters and is explicit in the coordinates alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from emdeg.algebra import DEFAULT_MAX_TERMS, Quotient, TrigPoly, quotient
from emdeg.algebra.linear import blocks, determinant, product
from emdeg.dynamics import Frames, Vec3, path, tmul
from emdeg.loops import (
    Anchor,
    Linkage,
    anchor_point,
    closing_of,
    constraints,
    equations_by_virtual_work,
    in_motion,
    linkage_of,
    point_partials,
    turning_partials,
    world_frames,
)
from emdeg.loops import rate_of as time_rate_of
from emdeg.loops import reduction as closed_loop
from emdeg.loops.equations.letters import LetterEntry, Names, formulas, names_of, rate_of
from emdeg.robot import BASE, Robot

Formulas = tuple[tuple[TrigPoly, ...], ...]
Quotients = tuple[tuple[Quotient, ...], ...]

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
    """The model in letters. `closure`: (loop, expression that is zero); `letters`: W as its letters, or 0 and 1."""

    robot: Robot
    names: Names
    link: Linkage
    closure: tuple[tuple[str, TrigPoly], ...]
    Phi: Formulas
    letters: tuple[tuple[str, ...], ...]
    """Of every joint of the tree, one a coordinate; empty for the coordinates' own rows."""

    @cached_property
    def W(self) -> Quotients | None:
        """Every joint's rate per rate of the coordinates; None where blocks are too large for formulas."""
        return self._solved([[-row[k] for k in self.link.coordinates] for row in self.Phi], self.names.algebra.one)

    @cached_property
    def W_rate(self) -> Quotients | None:
        """The rates of W's entries, from Phi_d W_d-dot = -(Phi-dot W)."""
        right = formulas(product(self._move.Phi_rate, self._move.W, self.link.tree.zero))
        return self._solved([[-x for x in row] for row in right], self.names.algebra.zero)

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

        So where every body with inertia turns about a direction that stays: its axes hold no joint's letter.
        """
        joints = {str(g) for k in range(self.link.n) for part in _parts(self._at[k]) for g in part.poly.generators}
        for i, body in enumerate(self.link.bare.inertia):
            if not any(cast(LetterEntry, x) for row in body.J for x in row) and not any(
                cast(LetterEntry, x) for x in body.mr
            ):
                continue
            for k in path(self.link.tree, i):
                axis = [cast(LetterEntry, self._world.R[k][row][2]).poly for row in range(3)]
                turns = self.link.tree.revolute[k]
                if turns and any(str(g) in joints for x in axis for g in x.generators):
                    return False
        return True

    @cached_property
    def model(self) -> tuple[Formulas, Formulas, tuple[TrigPoly, ...]]:
        """M, C and G, sums of symbols as letters. C is Christoffel's, by virtual work where that is the same."""
        work = equations_by_virtual_work(self.link, self._at, self._move)
        C = work.C if self.is_of_virtual_work else closed_loop.model(self.link, self._at, self._move).C
        M_, C_, (G_,) = (
            [[self.names.collected(x) for x in row] for row in formulas(matrix)] for matrix in (work.M, C, [work.G])
        )
        return _frozen(M_), _frozen(C_), tuple(G_)

    @cached_property
    def rods(self) -> tuple[Formulas, ...]:
        """U of every rod, from its first end to its second, base axes."""
        found = []
        for bar in self.link.bars:
            C, A = (anchor_point(end, self._world) for end in (bar.first, bar.second))
            found.append(tuple((cast(LetterEntry, a - c).poly,) for a, c in zip(A, C)))
        return tuple(found)

    @cached_property
    def blocks(self) -> tuple[NamedBlock, ...]:
        """J_L of mass centres, J_w of turning; J_C, J_A, J_K of a rod's first end, second end and mass centre.

        J_O is of a link's origin, where its mass centre is no formula.
        """
        found: list[NamedBlock] = []
        for i, body in enumerate(self.link.bare.inertia):
            name, zero = self.robot.links[i].name, self.link.tree.zero
            middle = centre(cast("tuple[LetterEntry, ...]", body.mr), cast(LetterEntry, body.m))
            if body.m:
                p: Vec3 = (zero, zero, zero) if middle is None else middle
                what = ("O", "origin") if middle is None else ("L", "mass centre")
                found.append(self._point(what[0], i + 1, f"{what[1]} of {name}", Anchor(i, self._world.R[i], p), i))
            if any(cast(LetterEntry, x) for row in body.J for x in row) and any(
                self.link.tree.revolute[k] for k in path(self.link.tree, i)
            ):
                turning = turning_partials(self.link, self._move, self._world, self._later, i)
                found.append(self._block("w", i + 1, f"turning of {name}", turning, i))
        for k, bar in enumerate(self.link.bars, 1):
            ends = [point_partials(self.link, self._move, self._world, self._later, e) for e in (bar.first, bar.second)]
            first, second = ends
            middle_ = tuple(
                [tuple(u + bar.com * (v - u) for u, v in zip(a, b)) for a, b in zip(one, other)]
                for one, other in zip(first, second)
            )
            inner, outer = bar.first.link, bar.second.link
            found.append(self._block("C", k, f"first end of {bar.name}", first, inner))
            found.append(self._block("A", k, f"second end of {bar.name}", second, outer))
            found.append(self._block("K", k, f"mass centre of {bar.name}", cast(Any, middle_), inner))
        return tuple(found)

    def _point(self, symbol: str, number: int, about: str, anchor: Anchor, axes: int) -> NamedBlock:
        partials = point_partials(self.link, self._move, self._world, self._later, anchor)
        return self._block(symbol, number, about, partials, axes)

    def _block(
        self, symbol: str, number: int, about: str, partials: tuple[list[Vec3], list[Vec3]], axes: int
    ) -> NamedBlock:
        told = f"{about}, axes of {'the base' if axes == BASE else self.robot.links[axes].name}"
        turned = [v if axes == BASE else [tmul(self._world.R[axes], x) for x in v] for v in partials]
        here, later = (_frozen(formulas(zip(*columns))) for columns in turned)
        return NamedBlock(symbol, number, told, None if axes == BASE else axes + 1, here, later)

    def _solved(self, right: Sequence[Sequence[TrigPoly]], own: TrigPoly) -> Quotients | None:
        """The rows X of all joints with Phi_d X_d = right by Cramer's rule, the coordinates' own ones `own` times 1."""
        zero = self.names.algebra.zero
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
        return [self.names.position(k) for k in range(self.link.n)]

    @cached_property
    def _world(self) -> Frames:
        return world_frames(self.link, self._at)

    @cached_property
    def _later(self) -> Frames:
        return world_frames(self.link, in_motion(self.link.tree, self._at, self._move.qd))

    @cached_property
    def _move(self) -> closed_loop.TreeRates:
        """The tree's rates in letters: every joint's qd, the entries of W and of its rate."""
        link, names = self.link, self.names
        zero, one = link.tree.zero, link.tree.one
        qd: list[Any] = [names.rate(k) for k in range(link.n)]
        W: list[list[Any]] = [[zero] * len(link.coordinates) for _ in range(link.n)]
        W_rate = [list(row) for row in W]
        for place, k in enumerate(link.coordinates):
            W[k][place] = one
        for k in link.dependent:
            for place, letter in enumerate(self.letters[k]):
                if letter:
                    W[k][place], W_rate[k][place] = names.symbol(letter), names.symbol(rate_of(letter))
        moving = in_motion(link.tree, self._at, qd)
        Phi_rate = time_rate_of(closed_loop.constraint_jacobian(link, moving), zero)
        Phi: list[list[Any]] = [[LetterEntry(x, names) for x in row] for row in self.Phi]
        return closed_loop.TreeRates([qd[k] for k in link.coordinates], qd, W, Phi, Phi_rate, W_rate)


def derive_loops(robot: Robot, *, budget: int = DEFAULT_MAX_TERMS) -> LoopModel:
    """The equations of a robot with closed loops in letters, exact; its own symbols may stand for any number."""
    found = closing_of(robot)
    letters = tuple(tuple(row) for row in _letters(robot))
    more = [letter for row in letters for letter in row if letter]
    names = names_of(robot, [*more, *map(rate_of, more)], budget)
    link = linkage_of(robot, names, found.mobility.rows, found.mobility.pivots)
    at: list[Any] = [names.position(k) for k in range(link.n)]
    rows = constraints(link, world_frames(link, at))
    closure = tuple((row.name, cast(LetterEntry, row.value).poly) for row in rows)
    zero = names.algebra.zero
    Phi = tuple(
        tuple(cast(LetterEntry, row.by[k]).poly if k in row.by else zero for k in range(link.n)) for row in rows
    )
    model = LoopModel(robot, names, link, closure, Phi, letters)
    W = model.W
    if W is not None:  # what is zero needs no letter
        shown = tuple(tuple(x if W[k][r] else "" for r, x in enumerate(row)) for k, row in enumerate(letters))
        model = LoopModel(robot, names, link, closure, Phi, shown)
    return model


def _letters(robot: Robot) -> list[list[str]]:
    """J_12 for the first driven joint's rate per rate of the second coordinate, W_42 for the tree's fourth joint's."""
    loops = robot.loops
    assert loops is not None
    rows: list[list[str]] = []
    for k in range(robot.n):
        driven = k in loops.driven
        head, row = ("J", loops.driven.index(k) + 1) if driven else ("W", k + 1)
        own = k in loops.coordinates
        rows.append(["" if own else _indexed(head, row, r) for r in range(1, len(loops.coordinates) + 1)])
    return rows


def _indexed(head: str, i: int, j: int) -> str:
    return f"{head}_{i}{j}" if max(i, j) < 10 else f"{head}_{i}_{j}"


def _frozen(matrix: Sequence[Sequence[TrigPoly]]) -> Formulas:
    return tuple(tuple(row) for row in matrix)


def _upright(above: TrigPoly, below: TrigPoly) -> Quotient:
    """The quotient whose denominator's first term is not negative."""
    found = quotient(above, below)
    if found.is_formula or found.denominator.leading_coefficient > 0:
        return found
    return quotient(-found.numerator, -found.denominator)


def centre(mr: tuple[LetterEntry, ...], m: LetterEntry) -> Vec3 | None:
    """The mass centre, where it is a formula: first moments that hold the mass as a factor."""
    if not m:
        return None
    places = [Quotient(x.poly, m.poly) for x in mr]
    if not all(place.is_formula for place in places):
        return None
    x, y, z = (LetterEntry(place.numerator / place.denominator.number, m.names) for place in places)
    return x, y, z


def _parts(at: Any) -> tuple[LetterEntry, ...]:
    return at if isinstance(at, tuple) else (at,)
