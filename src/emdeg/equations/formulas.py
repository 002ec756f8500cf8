"""The formulas of the equations of motion: M, Christoffel symbols and gravity of a robot in one algebra.

A parameter that is zero has no symbol, and a constant angle is none: they decide the form of the equations. Their
tolerances count all the same: to first order the entries gain d entry / d number times the deviation (`zero_slopes`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import cast

from emdeg.algebra import Angle, Generator, RationalAngles, TrigAlgebra, TrigPoly
from emdeg.dynamics import frames, mechanism_of, symbolic_positions
from emdeg.dynamics.formulations import mass_matrix, potential_energy
from emdeg.robot import BASE, Drive, Inertia, Robot, algebra_of, opened, stated_tolerances

HALF = Fraction(1, 2)

Row = tuple[TrigPoly, ...]
Matrix = tuple[Row, ...]
Triple = tuple[int, int, int]

DYNAMICS = ("M", "b", "c", "g")
"""The parts of the equations of motion."""


@dataclass(frozen=True)
class Formulas:
    """The formulas of the equations of motion in one algebra; parts that were left out are empty."""

    M_links: Matrix = ()
    drives: Row = ()
    beta: Mapping[Triple, TrigPoly] = field(default_factory=dict)
    g: Row = ()

    def put(self, images: Mapping[Generator, TrigPoly], algebra: TrigAlgebra, parents: Sequence[int]) -> Formulas:
        """The same in another algebra, formulas of that in place of some letters.

        The Christoffel symbols are those of the new M, which costs far less than to put something into each.
        """
        n = len(self.M_links)
        half = {(i, j): algebra.image(self.M_links[i][j], images) for i in range(n) for j in range(i, n)}
        M = tuple(tuple(half[min(i, j), max(i, j)] for j in range(n)) for i in range(n))
        return Formulas(
            M,
            tuple(algebra.image(drive, images) for drive in self.drives),
            MappingProxyType(christoffel_symbols(M, parents, algebra.zero) if self.beta else {}),
            tuple(algebra.image(g, images) for g in self.g),
        )


def formulas_of(robot: Robot, algebra: TrigAlgebra, parts: Collection[str]) -> Formulas:
    """The formulas of `parts` (of M, b, c, g) in the algebra's letters; M too where b or c are wanted."""
    mech = mechanism_of(robot, algebra)
    frame = frames(mech, symbolic_positions(mech, algebra))
    M: Matrix = ()
    drives: Row = ()
    beta: dict[Triple, TrigPoly] = {}
    g: Row = ()
    if {"M", "b", "c"}.intersection(parts):
        drives = cast(Row, mech.drive)
        links = cast(Matrix, mass_matrix(mech, frame))
        M = tuple(tuple(m - drives[i] if i == j else m for j, m in enumerate(row)) for i, row in enumerate(links))
    if {"b", "c"}.intersection(parts):
        beta = christoffel_symbols(M, [link.parent for link in robot.links], algebra.zero)
    if "g" in parts:
        V = cast(TrigPoly, potential_energy(mech, frame))
        g = tuple(V.derivative(i + 1) for i in range(robot.n))
    return Formulas(M, drives, MappingProxyType(beta), g)


def christoffel_symbols(M: Matrix, parents: Sequence[int], zero: TrigPoly) -> dict[Triple, TrigPoly]:
    """{(i, j, k): beta_ijk}, j <= k, numbered from 1: Armstrong et al., eq. 6.

    M_ij depends on q_k only if k lies beyond the inner of i and j (their eq. 8; Burdick, eq. 26, for a chain).
    """
    n = len(M)
    beyond = descendants(parents)
    dM: dict[Triple, TrigPoly] = {}
    for i in range(n):
        for j in range(i, n):
            for k in beyond[i] if M[i][j] else ():
                derivative = M[i][j].derivative(k + 1)
                if derivative:
                    dM[i, j, k] = dM[j, i, k] = derivative
    beta: dict[Triple, TrigPoly] = {}
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                terms = (dM.get((i, j, k)), dM.get((i, k, j)), dM.get((j, k, i)))
                total = zero
                for term, add in zip(terms, (True, True, False)):
                    if term is not None:
                        total = total + term if add else total - term
                beta[i + 1, j + 1, k + 1] = total * HALF
    return beta


def descendants(parents: Sequence[int]) -> list[list[int]]:
    """For each link the links beyond it, itself not included; a chain's are all later ones."""
    beyond: list[list[int]] = [[] for _ in parents]
    for k, parent in enumerate(parents):
        while parent != BASE:
            beyond[parent].append(k)
            parent = parents[parent]
    return beyond


def zero_slopes(robot: Robot, algebra: TrigAlgebra, parts: Collection[str]) -> Iterator[tuple[str, Formulas]]:
    """(path, d formulas / d number) in `algebra`, for every stated tolerance of a number that is no symbol."""
    for path in stated_tolerances(robot):
        found = opened(robot, [path])
        yield path, _slopes(_concerned(robot, found.robot), robot, found.symbols[path], algebra, parts)


def _slopes(varied: Robot, nominal: Robot, name: str, algebra: TrigAlgebra, parts: Collection[str]) -> Formulas:
    """The derivatives by the symbol `name` of `varied`, at the number it has in `nominal`."""
    own = algebra_of(varied, budget=algebra.max_terms, rational_angles=isinstance(algebra, RationalAngles))
    # A letter for the deviation: it is zero in `nominal`.
    around = type(algebra)(algebra.revolute, algebra.prismatic, (*algebra.parameters, name), algebra.constant_angles)
    d, by = around.symbol(name), Generator("parameter", name)
    images = {g: d for g in own.generators if g == by}
    turned = Angle(symbol=name)
    if turned in own.constant_angles:
        s, c = around.sincos(_angle_at(varied, nominal, name))
        images |= {Generator("sine", turned): s + c * d, Generator("cosine", turned): c - s * d}

    def slope(formula: TrigPoly) -> TrigPoly:
        return algebra.lifted(around.image(formula, images).derivative_by(by).substitute({name: 0}))

    at = formulas_of(varied, own, {"M", "g"}.intersection(parts) | ({"M"} if {"b", "c"}.intersection(parts) else set()))
    n = len(at.M_links)
    half = {(i, j): slope(at.M_links[i][j]) for i in range(n) for j in range(i, n)}
    M = tuple(tuple(half[min(i, j), max(i, j)] for j in range(n)) for i in range(n))
    parents = [link.parent for link in nominal.links]
    beta = christoffel_symbols(M, parents, algebra.zero) if {"b", "c"}.intersection(parts) else {}
    return Formulas(M, tuple(map(slope, at.drives)), MappingProxyType(beta), tuple(map(slope, at.g)))


def _angle_at(varied: Robot, nominal: Robot, name: str) -> Angle:
    """The constant angle in whose place the symbol stands."""
    for link, old in zip(varied.links, nominal.links):
        for angle in ("gamma", "alpha", "beta", "theta"):
            if getattr(link.joint.placement, angle) == Angle(symbol=name):
                return getattr(old.joint.placement, angle)
    raise ValueError(f"there is no angle {name}")


def _concerned(nominal: Robot, varied: Robot) -> Robot:
    """`varied` with those bodies alone whose share of the equations the number changes: the rest has no slope."""
    pairs = list(zip(nominal.links, varied.links))
    moved = [i for i, (old, new) in enumerate(pairs) if old.joint.placement != new.joint.placement]
    bodies = [i for i, (old, new) in enumerate(pairs) if old.inertia != new.inertia]
    driven = [i for i, (old, new) in enumerate(pairs) if old.joint.drive != new.joint.drive]
    if not (moved or bodies or driven):
        return varied
    beyond = descendants([link.parent for link in nominal.links])
    kept = {*bodies, *(k for i in moved for k in (i, *beyond[i]))}
    links = tuple(
        replace(
            link,
            inertia=link.inertia if i in kept else Inertia(),
            stated=None,
            joint=replace(link.joint, drive=link.joint.drive if i in driven else Drive()),
        )
        for i, link in enumerate(varied.links)
    )
    return replace(varied, links=links, payloads=varied.payloads if moved else ())
