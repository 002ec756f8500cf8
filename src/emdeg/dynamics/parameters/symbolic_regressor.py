"""The regressor Y with tau = Y pi, as formulas and in doubles, for all parameters or for the base parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import DEFAULT_MAX_TERMS, Array, TrigAlgebra, TrigPoly
from emdeg.dynamics.mechanism import frames, mechanism_of, symbolic_state
from emdeg.dynamics.parameters.base import BaseParameters, Column, base_parameters, bodies_of
from emdeg.dynamics.parameters.regressor import COLUMNS
from emdeg.dynamics.parameters.regressor import regressor as over_any_scalar
from emdeg.robot import Robot, algebra_of, geometry


@dataclass(frozen=True, slots=True)
class Regressor:
    """Y, n x p, as formulas in the joints' variables and the geometry; tau = Y pi."""

    algebra: TrigAlgebra
    columns: tuple[Column, ...]
    """Whose parameter each column of Y belongs to."""
    Y: tuple[tuple[TrigPoly, ...], ...]

    def evaluate(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Y (..., n, p) in doubles, for a geometry without symbols."""
        rows = [np.stack([y.evaluate(q, qd, qdd) for y in row], axis=-1) for row in self.Y]
        return np.stack(rows, axis=-2)


def regressor_formulas(
    robot: Robot, base: BaseParameters | bool = False, max_terms: int = DEFAULT_MAX_TERMS
) -> Regressor:
    """Y as formulas: of all eleven parameters a link, or (True, or a set of your own) of the base parameters."""
    columns = chosen_columns(robot, base)
    shape = geometry(robot.open_tree)
    algebra = algebra_of(shape, rates=True, budget=max_terms)
    mech = mechanism_of(shape, algebra)
    positions, qd, qdd = symbolic_state(mech, algebra)
    Y = cast("list[list[TrigPoly]]", over_any_scalar(mech, frames(mech, positions), qd, qdd))
    return Regressor(algebra, columns, tuple(tuple(row[column.place] for column in columns) for row in Y))


def chosen_columns(robot: Robot, base: BaseParameters | bool) -> tuple[Column, ...]:
    """Whose parameters a regressor's columns belong to: all, the base parameters', or a set of your own."""
    if isinstance(base, BaseParameters):
        return base.kept
    if base:
        return base_parameters(robot).kept
    return tuple(Column(i, name) for i in range(bodies_of(robot)) for name in COLUMNS)
