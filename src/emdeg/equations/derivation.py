"""From a robot to its explicit equations of motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from emdeg.algebra import DEFAULT_MAX_TERMS
from emdeg.equations.formulas import DYNAMICS, formulas_of
from emdeg.equations.model import MOST_ANGLES, Model
from emdeg.errors import OverBudget, RobotError
from emdeg.robot import Known, Robot, RobotLike, algebra_of, as_robot, symbolize


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

    A robot's numbers, all it has or some, are derived in symbols all the same, once: the reading form has its
    constants' formulas from that, and the formulas with numbers are those with the numbers put in (`Model.general`).

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
    if rational_angles:
        return _derived(robot, {}, parts, rational_angles, budget)
    own = algebra_of(robot, budget=budget)
    if len(own.constant_angles) > MOST_ANGLES:
        return _derived(robot, {}, parts, rational_angles, budget)
    symbols, known = symbolize(robot)
    try:
        general = _derived(symbols, known, parts, rational_angles, budget)
    except OverBudget:  # with numbers there are fewer terms
        return _derived(robot, {}, parts, rational_angles, budget)
    if not known:  # it has no number that could be a symbol
        return general
    return Model(robot, own, general.parts, general=general)


def _derived(
    robot: Robot, known: Mapping[str, Known], parts: frozenset[str], rational_angles: bool, budget: int
) -> Model:
    """The model in the robot's own letters: those of the parts that were asked for, and M for b and c."""
    algebra = algebra_of(robot, budget=budget, rational_angles=rational_angles)
    try:
        formulas = formulas_of(robot, algebra, parts)
    except OverBudget as problem:
        raise OverBudget(f"{robot.name}: {problem} (budget=.. of derive, --budget)") from None
    if parts & {"b", "c"}:
        parts |= {"M", "b", "c"}
    return Model(robot, algebra, parts, formulas, MappingProxyType(dict(known)))


def _parts(only: str | Iterable[str] | None) -> frozenset[str]:
    if only is None:
        return frozenset(DYNAMICS)
    wanted = [part.strip() for part in (only.split(",") if isinstance(only, str) else only)]
    for part in wanted:
        if part not in DYNAMICS:
            raise ValueError(f"there is no part {part!r}; the equations of motion have {', '.join(DYNAMICS)}")
    return frozenset(wanted)
