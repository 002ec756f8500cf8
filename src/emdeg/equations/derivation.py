"""From a robot to its explicit equations of motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import cast

from emdeg.algebra import DEFAULT_MAX_TERMS, TrigPoly
from emdeg.equations.model import DYNAMICS, MOST_ANGLES, Formulas, Matrix, Model, Triple, christoffel_symbols
from emdeg.errors import OverBudget, RobotError
from emdeg.mechanics import frames, mechanism_of
from emdeg.mechanics.formulations import mass_matrix, potential_energy
from emdeg.robot import Known, Robot, RobotLike, algebra_of, as_robot, positions, symbolize


def derive(
    robot: RobotLike,
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

    A robot of numbers is derived in symbols all the same, once: the reading form has its constants' formulas from
    that, and the formulas with numbers are those with the numbers put in (`Model.general`).

    >>> import emdeg
    >>> model = emdeg.derive("planar2r")
    >>> print(model.M[0][0])
    c2 + 5/3
    """
    robot = as_robot(robot)
    if not robot.is_tree:  # its links alone are a tree, which is another machine
        raise RobotError("it has closed loops: use emdeg.equations.loops.blocks.derive_loops", body=robot.name)
    parts = _parts(only)
    if symbolic:
        return _derived(*symbolize(robot), parts, rational_angles, budget)
    if rational_angles or robot.symbols:
        return _derived(robot, {}, parts, rational_angles, budget)
    own = algebra_of(robot, budget=budget)
    if len(own.constant_angles) > MOST_ANGLES:
        return _derived(robot, {}, parts, rational_angles, budget)
    try:
        general = _derived(*symbolize(robot), parts, rational_angles, budget)
    except OverBudget:  # with numbers there are fewer terms
        return _derived(robot, {}, parts, rational_angles, budget)
    return Model(robot, own, general.parts, general=general)


def _derived(
    robot: Robot, known: Mapping[str, Known], parts: frozenset[str], rational_angles: bool, budget: int
) -> Model:
    """The model in the robot's own letters: those of the parts that were asked for, and M for b and c."""
    algebra = algebra_of(robot, budget=budget, rational_angles=rational_angles)
    mech = mechanism_of(robot, algebra)
    try:
        frame = frames(mech, positions(robot, algebra))
        M: Matrix = ()
        drives: tuple[TrigPoly, ...] = ()
        beta: dict[Triple, TrigPoly] = {}
        g: tuple[TrigPoly, ...] = ()
        if parts & {"M", "b", "c"}:
            drives = cast("tuple[TrigPoly, ...]", mech.drive)
            links = cast(Matrix, mass_matrix(mech, frame))
            M = tuple(tuple(m - drives[i] if i == j else m for j, m in enumerate(row)) for i, row in enumerate(links))
            parts |= {"M"}
        if parts & {"b", "c"}:
            beta = christoffel_symbols(M, [link.parent for link in robot.links], algebra.zero)
            parts |= {"b", "c"}
        if "g" in parts:
            V = cast(TrigPoly, potential_energy(mech, frame))
            g = tuple(V.derivative(i + 1) for i in range(robot.n))
    except OverBudget as problem:
        raise OverBudget(f"{robot.name}: {problem} (budget=.. of derive, --budget)") from None
    formulas = Formulas(M, drives, MappingProxyType(beta), g)
    return Model(robot, algebra, parts, formulas, MappingProxyType(dict(known)))


def _parts(only: str | Iterable[str] | None) -> frozenset[str]:
    if only is None:
        return frozenset(DYNAMICS)
    wanted = [part.strip() for part in (only.split(",") if isinstance(only, str) else only)]
    for part in wanted:
        if part not in DYNAMICS:
            raise ValueError(f"there is no part {part!r}; the equations of motion have {', '.join(DYNAMICS)}")
    return frozenset(wanted)
