"""What the drives can still do: torque after gravity, acceleration, the tool's inertia and ellipsoids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics.functions import gravity, jacobian, mass_matrix
from emdeg.errors import RobotError
from emdeg.robot import Robot


@dataclass(frozen=True)
class Capability(Shown):
    """At one configuration or many; leading axes as in q."""

    gravity: Array
    """(..., n) the torque that holds the robot still [N m, N]."""
    left: Array
    """(..., n, 2) the torque left in the negative and in the positive direction."""
    acceleration: Array
    """(..., n, 2) the least and greatest acceleration of each joint alone, the others held still by their drives."""

    @property
    def holds(self) -> NDArray[np.bool_]:
        """(..., n) whether the drive can hold the joint against gravity."""
        return (self.left[..., 0] <= 0) & (self.left[..., 1] >= 0)


def torque_limits(robot: Robot) -> Array:
    """(n) [N m, N] at the joint; RobotError where the robot's file states none."""
    limits = []
    for joint in robot.joints:
        drive = joint.drive
        stated = [float(v) for v in (drive.max_torque, joint.limits.effort) if v is not None]
        if not stated and drive.stall_torque is not None and drive.gear_ratio is not None:
            stated = [float(drive.stall_torque) * abs(float(drive.gear_ratio))]
        if not stated:
            raise RobotError("it has no torque limit (drive.max_torque, or the joint's effort)", body=joint.name)
        limits.append(min(stated))
    return np.array(limits)


def capability(robot: Robot, q: ArrayLike, limits: ArrayLike | None = None) -> Capability:
    """Torque left after gravity and the accelerations it gives, from rest at q (..., n)."""
    tau = torque_limits(robot) if limits is None else np.asarray(limits, float)
    return capability_from(gravity(robot, q), mass_matrix(robot, q), tau)


def capability_from(load: Array, M: Array, limits: Array) -> Capability:
    """The same from gravity torques (..., n), mass matrices (..., n, n) and torque limits (n)."""
    own = np.einsum("...ii->...i", M)
    left = np.stack([-limits - load, limits - load], axis=-1)
    return Capability(load, left, left / own[..., None])


def steady_speed(robot: Robot, load: ArrayLike, limits: ArrayLike | None = None) -> Array:
    """(..., n) the speed [rad/s, m/s] each drive can hold against the gravity torques `load` (..., n).

    The drive's torque falls on a straight line from its limit at rest to zero at the joint's velocity limit, as a
    motor's with constant voltage does; gravity at its worst, Coulomb and viscous friction take their part of it. Zero
    where the drive cannot hold the load, infinite where the file states neither a velocity limit nor viscous friction.
    """
    tau = torque_limits(robot) if limits is None else np.asarray(limits, float)
    fastest = np.array([float(j.limits.velocity) if j.limits.velocity else np.inf for j in robot.joints])
    dry, viscous = np.array([[float(f.coulomb), float(f.viscous)] for f in (j.drive.friction for j in robot.joints)]).T
    left = np.maximum(tau - np.abs(np.asarray(load, float)) - dry, 0.0)
    slope = np.broadcast_to(tau / fastest + viscous, left.shape)
    unbounded = np.where(left > 0, np.inf, 0.0)
    return np.divide(left, slope, out=unbounded, where=slope > 0)


@dataclass(frozen=True)
class Ellipsoid(Shown):
    """Half axes: `directions` (..., 3, 3) has them as columns, `lengths` (..., 3) largest first."""

    lengths: Array
    directions: Array
    centre: Array

    @property
    def manipulability(self) -> Array:
        """The product of the half axes (Yoshikawa's dynamic manipulability measure, up to the ball's volume)."""
        return np.prod(self.lengths, axis=-1)


def dynamic_manipulability(robot: Robot, q: ArrayLike, limits: ArrayLike | None = None) -> Ellipsoid:
    """The tool's linear accelerations [m/s^2] from rest under torques with |tau / limit| <= 1 (Yoshikawa 1985).

    The centre is where gravity alone takes the tool: -J M^-1 g.
    """
    tau = torque_limits(robot) if limits is None else np.asarray(limits, float)
    return ellipsoid_from(jacobian(robot, q), mass_matrix(robot, q), gravity(robot, q), tau)


def ellipsoid_from(J: Array, M: Array, load: Array, limits: Array) -> Ellipsoid:
    """The same from Jacobians (..., 6, n), mass matrices, gravity torques and torque limits."""
    per_torque = J[..., :3, :] @ np.linalg.inv(M)
    U, s, _ = np.linalg.svd(per_torque * limits, full_matrices=True)
    lengths = np.zeros((*s.shape[:-1], 3))
    lengths[..., : s.shape[-1]] = s
    return Ellipsoid(lengths, U, -np.einsum("...ij,...j->...i", per_torque, load))


def operational_inertia(robot: Robot, q: ArrayLike) -> Array:
    """Lambda (..., 3, 3) [kg]: the inertia felt when the tool's point is pushed, base axes.

    RobotError at a singular configuration, where the tool cannot move in every direction.
    """
    inverse = mobility(jacobian(robot, q), mass_matrix(robot, q))
    if np.any(np.linalg.cond(inverse) > 1e12):
        raise RobotError("the tool cannot move in every direction at this configuration (singular)", body=robot.name)
    return np.asarray(np.linalg.inv(inverse), dtype=np.float64)


def mobility(J: Array, M: Array) -> Array:
    """J M^-1 J^T (..., 3, 3) [1/kg] of the tool's point: the inverse of the inertia felt there."""
    linear = J[..., :3, :]
    return linear @ np.linalg.solve(M, np.swapaxes(linear, -1, -2))
