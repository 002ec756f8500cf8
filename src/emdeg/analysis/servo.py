"""The servo's view of a motion: effective inertia, damping gain, and where reaction torques begin to matter.

Bejczy, section II: with the position gain fixed, a servo's damping varies as one over the root of the inertia; a
velocity gain that follows the root of the inertia keeps it critical. A motion is dynamically slow while the torques
that other joints' accelerations and all speeds cause stay below a stated share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis.motion import SampledMotion
from emdeg.documents import Shown
from emdeg.dynamics.functions import gravity, inverse_dynamics, mass_matrix
from emdeg.robot import Robot


@dataclass(frozen=True)
class ServoView(Shown):
    """Along a motion; arrays (m, n)."""

    inertia: Array
    """M_ii: the total effective inertia [kg m^2, kg]."""
    nominal: Array
    """(n) the inertia at which the servo was tuned."""
    own: Array
    """M_ii qdd_i [N m, N]."""
    reaction: Array
    """Torque from the other joints' accelerations and from all speeds."""
    gravity: Array

    @property
    def velocity_gain(self) -> Array:
        """The velocity-feedback gain that keeps critical damping, relative to the nominal one: sqrt(J / J_nominal)."""
        return np.sqrt(self.inertia / self.nominal)

    @property
    def damping_ratio(self) -> Array:
        """The damping ratio with the nominal gains kept: sqrt(J_nominal / J), 1 is critical."""
        return np.sqrt(self.nominal / self.inertia)

    @property
    def torque(self) -> Array:
        return self.own + self.reaction + self.gravity

    @property
    def reaction_share(self) -> Array:
        """(n) peak reaction torque over peak torque."""
        return _share(self.reaction, self.torque)


def servo_view(robot: Robot, motion: SampledMotion, nominal: Sequence[float] | Array | None = None) -> ServoView:
    """The torques of a motion as a servo sees them; tuned at the motion's largest inertia unless `nominal` says."""
    M = mass_matrix(robot, motion.q)
    inertia = np.einsum("tii->ti", M).copy()
    load = gravity(robot, motion.q)
    own = inertia * motion.qdd
    total = inverse_dynamics(robot, motion.q, motion.qd, motion.qdd)
    J = inertia.max(axis=0) if nominal is None else np.asarray(nominal, float)
    return ServoView(inertia, J, own, total - own - load, load)


def slow_fast_boundary(robot: Robot, motion: SampledMotion, share: float = 0.1) -> list[float | None]:
    """For each joint the factor on the motion's speed from which the reaction torque exceeds `share` of the torque.

    Below the factor the motion is dynamically slow for that joint. None: it never becomes fast, or (for a joint
    without gravity and own motion) it always is, where 0.0 is returned.
    """
    from scipy.optimize import brentq

    view = servo_view(robot, motion)

    def excess(k: int, factor: float) -> float:
        reaction = factor**2 * view.reaction[:, k]
        total = factor**2 * (view.own[:, k] + view.reaction[:, k]) + view.gravity[:, k]
        return float(np.abs(reaction).max() - share * np.abs(total).max())

    found: list[float | None] = []
    for k in range(robot.n):
        grid = np.geomspace(1e-3, 1e3, 121)
        signs = np.array([excess(k, factor) > 0 for factor in grid])
        if not signs.any() or float(np.abs(view.reaction[:, k]).max()) < 1e-12:
            found.append(None)
        elif signs[0]:
            found.append(0.0)
        else:
            first = int(np.argmax(signs))
            found.append(float(brentq(lambda s, k=k: excess(k, s), grid[first - 1], grid[first], xtol=1e-9)))  # type: ignore[arg-type]
    return found


def _share(part: Array, whole: Array) -> Array:
    peak = np.abs(whole).max(axis=0)
    return np.divide(np.abs(part).max(axis=0), peak, out=np.zeros_like(peak), where=peak > 0)
