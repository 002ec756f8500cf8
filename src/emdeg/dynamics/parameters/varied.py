"""How efforts and mass matrices vary as a robot's stated numbers do by their tolerances.

What varies are the numbers of the robot's source, whatever symbols its equations have. Numbers may be dual, for
derivatives, or arrays, for many robots at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Angle, Dual, Floats, derivative
from emdeg.dynamics.arrays import stacked
from emdeg.dynamics.formulations import efforts_by_newton_euler, mass_matrix
from emdeg.dynamics.mechanism import frames, joint_positions, mechanism_of
from emdeg.robot import Opened, Robot, opened, stated_tolerances


class VariedRobot:
    """A robot with a symbol for every number whose tolerance is stated."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.stated = stated_tolerances(robot)
        self.deviation = np.array([float(v) for v in self.stated.values()])

    @cached_property
    def opened(self) -> Opened:
        """The robot with its symbols."""
        return opened(self.robot, list(self.stated))

    @property
    def seeded(self) -> dict[str, Any]:
        """Symbol -> its number, varying by its tolerance in a direction of its own."""
        nominal, symbols = self.opened.nominal, self.opened.symbols
        return {symbols[p]: Dual(nominal[p], {k: self.deviation[k]}) for k, p in enumerate(self.stated)}

    def drawn(self, drawn: NDArray, axes: int) -> dict[str, Any]:
        """Symbol -> numbers of random robots (draws x numbers, in units of tolerances), draws x 1 x .. over `axes`."""
        nominal, symbols = self.opened.nominal, self.opened.symbols
        deviations = (drawn * self.deviation).reshape(len(drawn), *(1,) * axes, len(self.stated))
        return {symbols[p]: nominal[p] + deviations[..., k] for k, p in enumerate(self.stated)}

    def efforts(self, values: Mapping[str, Any], *states: NDArray) -> list[Any]:
        """tau by joint at states T x n of q, qd and qdd, with these numbers for the symbols."""
        q, qd, qdd = (np.moveaxis(np.asarray(x, float), -1, 0) for x in states)
        mech = mechanism_of(self.opened.robot, _Drawn(values))
        position = joint_positions(mech, q.__getitem__, lambda k: _turned(q[k]))
        return list(efforts_by_newton_euler(mech, frames(mech, position), list(qd), list(qdd)))

    def masses(self, values: Mapping[str, Any], q: NDArray) -> list[list[Any]]:
        """M at configurations T x n, with these numbers for the symbols."""
        at = np.moveaxis(np.asarray(q, float), -1, 0)
        mech = mechanism_of(self.opened.robot, _Drawn(values))
        return mass_matrix(mech, frames(mech, joint_positions(mech, at.__getitem__, lambda k: _turned(at[k]))))

    def effort_changes(self, q: NDArray, qd: NDArray, qdd: NDArray) -> tuple[NDArray, NDArray]:
        """(efforts T x n, how each changes as each number does by its tolerance: numbers x T x n), to first order."""
        shape = np.shape(q)[:-1]
        exact = self.efforts(self.seeded, q, qd, qdd)
        value = stacked([value_of(x) for x in exact], shape)
        changes = [stacked([derivative(x, k, 0.0) for x in exact], shape) for k in range(len(self.stated))]
        return value, np.array(changes).reshape(-1, *value.shape)


class _Drawn(Floats):
    """Doubles whose symbols are arrays or dual numbers."""

    def sincos(self, angle: Angle) -> tuple[Any, Any]:
        if angle.symbol is None:
            return super().sincos(angle)
        turned: Any = self.symbol(angle.symbol) + float(Angle(angle.pi_times, angle.radians))
        if isinstance(turned, Dual):
            s, c = _turned(turned.value)
            return Dual(s, {k: c * x for k, x in turned.d.items()}), Dual(c, {k: -s * x for k, x in turned.d.items()})
        return _turned(turned)


def _turned(angle: Any) -> tuple[Any, Any]:
    return np.sin(angle), np.cos(angle)


def value_of(x: Any) -> Any:
    """A number itself, without its derivatives."""
    return x.value if isinstance(x, Dual) else x
