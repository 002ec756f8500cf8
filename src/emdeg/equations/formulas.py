"""The formulas of the equations of motion: M, Christoffel symbols and gravity of a robot in one algebra."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import cast

from emdeg.algebra import Generator, TrigAlgebra, TrigPoly
from emdeg.mechanics import frames, mechanism_of
from emdeg.mechanics.formulations import mass_matrix, potential_energy
from emdeg.robot import BASE, Robot, positions

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
    frame = frames(mech, positions(robot, algebra))
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
