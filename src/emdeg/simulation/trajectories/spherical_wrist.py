"""All joint positions for a pose, in closed form, of arms with a spherical wrist.

For six joints of which the last three turn about axes through one point, the first two turn, and the third turns or
slides (Pieper's case). Written with screws: at zero joint positions the axes are (w_i, p_i), and the motion of the tool
is the product of the joints' motions about them. The wrist's point gives the first three joints, as the roots of a
polynomial of fourth degree at most, the orientation the last three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from emdeg.algebra import Array
from emdeg.dynamics.functions import forward_kinematics, link_transforms
from emdeg.robot import Robot

NEAR = 1e-9
"""Axes that miss each other by less [m] meet; poses that differ by less [m, rad] are the same."""


@dataclass(frozen=True)
class WristArm:
    """Axes w (6, 3) through points p (6, 3) and the wrist's point, all at zero joint positions; the tool there."""

    w: Array
    p: Array
    wrist: Array
    tool: Array
    third_turns: bool


@lru_cache(maxsize=32)
def wrist_arm(robot: Robot) -> WristArm | None:
    """The arm's axes if its positions can be given in closed form, else None."""
    kinds = [joint.kind for joint in robot.joints]
    turning = [k for k in range(6) if k != 2]
    if robot.hidden or robot.n != 6 or not robot.is_serial or any(kinds[k] != "revolute" for k in turning):
        return None
    T = link_transforms(robot, np.zeros(6))
    w, p = T[:, :3, 2], T[:, :3, 3]
    # The point nearest to the last three axes: sum of the projections off each axis.
    off = [np.eye(3) - np.outer(w[k], w[k]) for k in (3, 4, 5)]
    total = np.sum(off, axis=0)
    if np.linalg.cond(total) > 1e8:
        return None
    wrist = np.linalg.solve(total, np.sum([o @ p[k] for o, k in zip(off, (3, 4, 5))], axis=0))
    if any(np.linalg.norm(o @ (wrist - p[k])) > NEAR for o, k in zip(off, (3, 4, 5))):
        return None
    if any(np.linalg.norm(np.cross(w[a], w[a + 1])) < 1e-6 for a in (3, 4)):
        return None
    return WristArm(w, p, wrist, forward_kinematics(robot, np.zeros(6)), kinds[2] == "revolute")


def all_positions(robot: Robot, pose: ArrayLike) -> Array | None:
    """(k, 6): every q whose tool is at `pose` (4 x 4), angles in (-pi, pi]; None if there is no closed form.

    At a singularity, where infinitely many lead there, none of them need be found.
    """
    arm = wrist_arm(robot)
    if arm is None:
        return None
    target = np.asarray(pose, dtype=np.float64)
    motion = target @ np.linalg.inv(arm.tool)
    found: list[Array] = []
    for first in _first_three(arm, motion[:3, :3] @ arm.wrist + motion[:3, 3]):
        turned = _turn(arm.w[0], first[0]) @ _turn(arm.w[1], first[1])
        if arm.third_turns:
            turned = turned @ _turn(arm.w[2], first[2])
        for last in _last_three(arm, turned.T @ motion[:3, :3]):
            q = np.concatenate([first, last])
            error = forward_kinematics(robot, q) - target
            if np.max(np.abs(error)) < 1e-7 and not any(np.max(np.abs(q - other)) < 1e-7 for other in found):
                found.append(q)
    return np.array(found).reshape(-1, 6)


def _first_three(arm: WristArm, d: Array) -> list[Array]:
    """Joint positions that bring the wrist's point to d.

    Let y(q3) be the wrist's point after joint 3 alone. Joint 2 carries it to a point x, joint 1 carries x to d. x lies
    on a circle about either axis: w1 x = w1 d, w2 x = w2 y, and |x - p|^2 is kept about both: three linear equations,
    whose right sides depend on q3, and one sphere.
    """
    (w1, w2), (p1, p2) = arm.w[:2], arm.p[:2]
    p1, p2 = _closest(p1, w1, p2, w2)
    rows = np.array([w1, w2, 2 * (p2 - p1)])

    def y(q3: float) -> Array:
        if not arm.third_turns:
            return arm.wrist + q3 * arm.w[2]
        return arm.p[2] + _turn(arm.w[2], q3) @ (arm.wrist - arm.p[2])

    A = d @ d - 2 * p1 @ d

    def right(q3: float) -> Array:
        at = y(q3)
        return np.array([w1 @ d, w2 @ at, A - (at @ at - 2 * p2 @ at)])

    U, S, Vt = np.linalg.svd(rows)
    solutions: list[Array] = []
    if S[2] > 1e-9 * S[0]:  # skew axes: x is known for each q3, and the sphere decides
        inverse = np.linalg.inv(rows)

        def residual(q3: float) -> float:
            x = inverse @ right(q3)
            return float(x @ x - 2 * p1 @ x - A)

        for q3 in _roots(residual, arm.third_turns):
            solutions.append(np.array([*_two(arm, inverse @ right(q3), y(q3), d), q3]))
        return solutions
    for q3 in _roots(lambda q3: float(U[:, 2] @ right(q3)), arm.third_turns):  # they meet, or are parallel
        foot = Vt[:2].T @ ((U[:, :2].T @ right(q3)) / S[:2])
        direction = Vt[2]
        half = direction @ (foot - p1)
        gap = half * half - (foot @ foot - 2 * p1 @ foot - A)
        if gap < -1e-9:
            continue
        for sign in (1, -1):
            x = foot + (-half + sign * np.sqrt(max(gap, 0.0))) * direction
            solutions.append(np.array([*_two(arm, x, y(q3), d), q3]))
    return solutions


def _two(arm: WristArm, x: Array, y: Array, d: Array) -> tuple[float, float]:
    return _angle(arm.w[0], x - arm.p[0], d - arm.p[0]), _angle(arm.w[1], y - arm.p[1], x - arm.p[1])


def _last_three(arm: WristArm, R: Array) -> list[Array]:
    """Angles of the last three joints that turn by R: the last axis first, then what is left about it."""
    w4, w5, w6 = arm.w[3:]
    v = R @ w6
    c = w4 @ w5
    a, b = w4 @ v, w5 @ w6
    alpha, beta = (a - c * b) / (1 - c * c), (b - c * a) / (1 - c * c)
    normal = np.cross(w4, w5)
    rest = (1 - alpha * alpha - beta * beta - 2 * alpha * beta * c) / (normal @ normal)
    if rest < -1e-9:
        return []
    solutions = []
    for sign in (1, -1):
        x = alpha * w4 + beta * w5 + sign * np.sqrt(max(rest, 0.0)) * normal
        q4, q5 = _angle(w4, x, v), _angle(w5, w6, x)
        left = (_turn(w4, q4) @ _turn(w5, q5)).T @ R
        across = np.cross(w6, np.eye(3)[0 if abs(w6[0]) < 0.7 else 1])
        solutions.append(np.array([q4, q5, _angle(w6, across, left @ across)]))
    return solutions


def _roots(function: Callable[[float], float], turning: bool) -> list[float]:
    """The real zeros of a trigonometric polynomial of degree 2, or of a polynomial of degree 4, given as a function."""
    if not turning:
        at = np.linspace(-1, 1, 5)
        found = np.roots(_trimmed(np.polyfit(at, [function(x) for x in at], 4)))
        return [float(z.real) for z in found if abs(z.imag) < 1e-6 * max(1.0, abs(z))]
    count = 8
    waves = np.fft.fft([function(2 * np.pi * k / count) for k in range(count)]) / count
    # sum_{-2..2} c_k z^k times z^2, with z = exp(i q)
    found = np.roots(_trimmed(np.array([waves[2], waves[1], waves[0], waves[-1], waves[-2]])))
    return [float(np.angle(z)) for z in found if abs(abs(z) - 1) < 1e-5]


def _trimmed(coefficients: Array) -> Array:
    """Without the ends that are only rounding."""
    scale = np.max(np.abs(coefficients)) if np.any(coefficients) else 1.0
    kept = np.flatnonzero(np.abs(coefficients) > 1e-12 * scale)
    return coefficients[kept[0] : kept[-1] + 1] if kept.size else np.zeros(1)


def _closest(p1: Array, w1: Array, p2: Array, w2: Array) -> tuple[Array, Array]:
    """The points of two axes that are nearest to each other."""
    c = w1 @ w2
    if 1 - c * c < 1e-12:
        return p1, p2 - w2 * (w2 @ (p2 - p1))
    gap = p2 - p1
    s = (gap @ w1 - c * (gap @ w2)) / (1 - c * c)
    t = (c * (gap @ w1) - gap @ w2) / (1 - c * c)
    first, second = p1 + s * w1, p2 + t * w2
    return (first, first) if np.linalg.norm(first - second) < NEAR else (first, second)


def _turn(axis: Array, angle: float) -> Array:
    return Rotation.from_rotvec(axis * angle).as_matrix()


def _angle(axis: Array, before: Array, after: Array) -> float:
    """By how much `axis` turns one vector into the direction of another."""
    u, v = before - axis * (axis @ before), after - axis * (axis @ after)
    return float(np.arctan2(axis @ np.cross(u, v), u @ v))
