"""From a robot to its explicit equations of motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType

from emdeg.algebra import TrigPoly
from emdeg.algebra.budget import DEFAULT_MAX_TERMS
from emdeg.equations.model import DYNAMICS, Matrix, Model, Triple
from emdeg.errors import OverBudget, RobotError
from emdeg.mechanics.formulations.composite_body import mass_matrix
from emdeg.mechanics.formulations.energy import potential_energy
from emdeg.mechanics.mechanism import frames, mechanism
from emdeg.robot import BASE, Robot
from emdeg.robot.algebra import algebra_of, positions
from emdeg.robot.symbols import Known, symbolize

HALF = Fraction(1, 2)


def derive(
    robot: Robot,
    only: str | Iterable[str] | None = None,
    *,
    symbolic: bool = False,
    rational_angles: bool = False,
    budget: int = DEFAULT_MAX_TERMS,
) -> Model:
    """The explicit equations of motion of `robot`, exact: M, b_ijk, c_ij and g as trigonometric polynomials.

    Numbers are exact rationals, symbols stay symbols; with `symbolic` every number becomes a symbol (m2, rx2,
    Ixx2, a2, ...) that remembers its value and tolerance. `only`, say "M,g", leaves the other parts out. A formula
    of more than `budget` terms is an error (`OverBudget`). Friction and rotors' gyroscopic terms are not in it.

    Constant angles that are no multiples of a right angle are letters of their own; with `rational_angles` their
    sines and cosines are numbers, exact for an angle within 1e-19 rad, and the formulas far shorter.
    """
    if robot.loops is not None:  # its links alone are a tree, which is another machine
        raise RobotError("it has closed loops: use emdeg.equations.loops.blocks.derive_loops", body=robot.name)
    parts = _parts(only)
    known: Mapping[str, Known] = {}
    if symbolic:
        robot, known = symbolize(robot)
    algebra = algebra_of(robot, budget=budget, rational_angles=rational_angles)
    mech = mechanism(robot, algebra)
    try:
        frame = frames(mech, positions(robot, algebra))
        M: Matrix = ()
        drives: tuple[TrigPoly, ...] = ()
        beta: dict[Triple, TrigPoly] = {}
        g: tuple[TrigPoly, ...] = ()
        if parts & {"M", "b", "c"}:
            drives = mech.drive
            M = tuple(
                tuple(m - drives[i] if i == j else m for j, m in enumerate(row))
                for i, row in enumerate(mass_matrix(mech, frame))
            )
            parts |= {"M"}
        if parts & {"b", "c"}:
            beta = christoffel_symbols(M, [link.parent for link in robot.links], algebra.zero)
            parts |= {"b", "c"}
        if "g" in parts:
            V = potential_energy(mech, frame)
            g = tuple(V.derivative(i + 1) for i in range(robot.n))
    except OverBudget as problem:
        raise OverBudget(f"{robot.name}: {problem} (budget=.. of derive, --budget)") from None
    return Model(robot, algebra, parts, M, drives, MappingProxyType(beta), g, MappingProxyType(dict(known)))


def _parts(only: str | Iterable[str] | None) -> frozenset[str]:
    if only is None:
        return frozenset(DYNAMICS)
    wanted = [part.strip() for part in (only.split(",") if isinstance(only, str) else only)]
    for part in wanted:
        if part not in DYNAMICS:
            raise ValueError(f"there is no part {part!r}; the equations of motion have {', '.join(DYNAMICS)}")
    return frozenset(wanted)


def christoffel_symbols(M: Matrix, parents: list[int], zero: TrigPoly) -> dict[Triple, TrigPoly]:
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


def descendants(parents: list[int]) -> list[list[int]]:
    """For each link the links beyond it, itself not included; a chain's are all later ones."""
    beyond: list[list[int]] = [[] for _ in parents]
    for k, parent in enumerate(parents):
        while parent != BASE:
            beyond[parent].append(k)
            parent = parents[parent]
    return beyond
