"""Constants of motion, evaluated along a run: what must not change tells how far the numbers can be trusted.

Energy changes by the work of the joints alone; the momentum of a free joint (one on whose position neither inertia
nor gravity depends: the vertical axis of an arm, for instance) by the impulse of its effort alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics.functions import gravity, inverse_dynamics_derivatives
from emdeg.robot import Robot
from emdeg.runtime import CompiledProgram
from emdeg.runtime import compile as compile_program
from emdeg.simulation.plant.loops import all_joints, followed_energies, is_analytic, open_by
from emdeg.simulation.plant.programs import energies

STATES, NOTHING = 5, 1e-11


class StiffWarning(UserWarning):
    """A loop has poles that the run's method, or its sampling period, cannot follow."""


class DriftWarning(UserWarning):
    """A constant of motion drifted by more than the tolerance."""


@dataclass(frozen=True)
class Invariants(Shown):
    """Along a run, arrays (..., k): energies [J], momenta of free joints (..., k, m) [kg m^2/s, kg m/s].

    `power_balance` [J] is the energy gained less the work of the joints; `momentum_balance` the momentum gained
    less the impulse of the joint's effort. Both are zero in exact arithmetic.
    """

    kinetic: Array
    potential: Array
    momentum: Array
    power_balance: Array
    momentum_balance: Array
    joints: tuple[int, ...]
    closure: Array | None = None
    """Of closed loops, (..., k) [m, m^2, 1]: by how much the worst loop's equation misses zero."""

    @property
    def energy(self) -> Array:
        return self.kinetic + self.potential

    @property
    def energy_scale(self) -> float:
        """The largest energy that moved: drift is judged against it (but not below the rounding of all there is)."""
        moved = self.potential - self.potential[..., :1]
        there = 1e-8 * float(np.max(np.abs(self.energy)))
        return float(max(np.max(np.abs(self.kinetic)), np.max(np.abs(moved)), there, 1e-12))

    @property
    def momentum_scale(self) -> float:
        """[kg m^2/s]: the momentum that the moving masses could carry."""
        return float(max(np.max(np.abs(self.momentum)), self.energy_scale)) if self.joints else 1.0

    def drift(self) -> dict[str, float]:
        """The largest |balance| of each kind, absolute, and relative to what moved."""
        power = float(np.max(np.abs(self.power_balance)))
        report = {"energy": power, "energy_relative": power / self.energy_scale}
        if self.joints:
            momentum = float(np.max(np.abs(self.momentum_balance)))
            report |= {"momentum": momentum, "momentum_relative": momentum / self.momentum_scale}
        if self.closure is not None:
            report["closure"] = float(np.max(self.closure))
        return report


@lru_cache(maxsize=64)
def free_joints(robot: Robot) -> tuple[int, ...]:
    """The joints on whose position the Lagrangian does not depend.

    M and g do not depend on q_k where no derivative of the inverse dynamics by q_k is left at random states; the
    potential itself does not where gravity asks no effort of the joint. Of closed loops none is known.
    """
    if not robot.is_tree:
        return ()
    rng = np.random.default_rng(1)
    q, qd, qdd = (rng.uniform(-2, 2, (STATES, robot.freedoms)) for _ in range(3))
    by_q, _ = inverse_dynamics_derivatives(robot, q, qd, qdd)
    scale = max(float(np.max(np.abs(by_q))), 1e-300)
    weight = np.abs(gravity(robot, q))
    heavy = max(float(np.max(weight)), 1e-300)
    return tuple(
        k
        for k in range(robot.freedoms)
        if np.max(np.abs(by_q[:, :, k])) <= NOTHING * scale and np.max(weight[:, k]) <= NOTHING * heavy
    )


@lru_cache(maxsize=16)
def _compiled_energies(robot: Robot) -> CompiledProgram:
    return compile_program(energies(robot))


def invariants(robot: Robot, q: Array, qd: Array, work: Array, impulse: Array) -> Invariants:
    """From a run's states (..., k, n), the joints' work (..., k) and the free joints' impulses (..., k, m)."""
    joints = free_joints(robot)
    if is_analytic(robot):
        kinetic, potential, p = _compiled_energies(robot)(q, qd)
    else:
        kinetic, potential, p = followed_energies(robot, q, qd)
    momentum = p[..., list(joints)]
    energy = kinetic + potential
    return Invariants(
        kinetic,
        potential,
        momentum,
        energy - energy[..., :1] - work,
        momentum - momentum[..., :1, :] - impulse,
        joints,
        open_by(robot, all_joints(robot, q)) if robot.hidden else None,
    )
