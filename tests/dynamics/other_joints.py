"""Kinds of joints that only tests register: they pass through the algorithms, programs and C as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pinocchio as pin

from emdeg.algebra import Angle, Dual, Exact
from emdeg.dynamics import joints
from emdeg.dynamics.joints import JointKind, register_joint_kind, rotations
from emdeg.dynamics.spatial import Spatial
from emdeg.robot import JOINT_TYPES, Drive, Joint, JointType, Link, Placement, Robot
from tests.random_robots import random_inertia

PITCH = Fraction(1, 8)
"""[m/rad]"""


class Helical(JointKind[tuple[Any, Any, Any]]):
    """Rotates about z and translates along it; its position is (sine, cosine, angle)."""

    type = JointType("helical", ("rad",), ("rad/s",))

    def position(self, entry, circle):
        return (*circle(0), entry(0))

    def at_zero(self, zero, one):
        return zero, one, zero

    def parts(self, at):
        return at

    def motion(self, at, zero, one):
        s, c, angle = at
        return rotations((("z", (s, c)),), zero, one), (zero, zero, angle * (one * PITCH))

    def axes(self, zero, one):
        return (Spatial((zero, zero, one), (zero, zero, one * PITCH)),)

    def lift(self, at, rates, level=0):
        s, c, angle = at
        (along,) = rates
        return (*joints.REVOLUTE.lift((s, c), rates, level), Dual(angle, dict(along), level))

    def conditions(self, at, one):
        return joints.REVOLUTE.conditions(at[:2], one)


class Planar(JointKind[tuple[Any, Any, Any, Any]]):
    """Translates along x and y, rotates about z; its speeds are in the outer link's frame."""

    type = JointType("planar", ("m", "m", "rad"), ("m/s", "m/s", "rad/s"))

    def position(self, entry, circle):
        return (entry(0), entry(1), *circle(2))

    def at_zero(self, zero, one):
        return zero, zero, zero, one

    def parts(self, at):
        return at

    def motion(self, at, zero, one):
        x, y, s, c = at
        return rotations((("z", (s, c)),), zero, one), (x, y, zero)

    def axes(self, zero, one):
        none = (zero, zero, zero)
        return Spatial(none, (one, zero, zero)), Spatial(none, (zero, one, zero)), Spatial((zero, zero, one), none)

    def lift(self, at, rates, level=0):
        x, y, s, c = at
        ahead, left, turn = rates

        def moved(at: Any, u: Any, v: Any) -> Dual:
            zero = x * 0
            both = {k: u * ahead.get(k, zero) + v * left.get(k, zero) for k in (*ahead, *left)}
            return Dual(at, both, level)

        return (moved(x, c, -s), moved(y, s, c), *joints.REVOLUTE.lift((s, c), [turn], level))

    def conditions(self, at, one):
        return joints.REVOLUTE.conditions(at[2:], one)


@contextmanager
def registered(*kinds: JointKind[Any]) -> Iterator[None]:
    """The kinds are known inside the block."""
    known, types = dict(joints._KINDS), dict(JOINT_TYPES)
    for kind in kinds:
        register_joint_kind(kind)
    try:
        yield
    finally:
        for now, before in ((joints._KINDS, known), (JOINT_TYPES, types)):
            now.clear()
            now.update(before)


def chain(kinds: Sequence[str], seed: int = 0) -> Robot:
    """A chain with these kinds of joints, gravity along -z of the base."""
    rng = np.random.default_rng(seed)

    def length() -> Exact:
        return Exact.of(round(rng.uniform(-0.5, 0.5), 2))

    links = []
    for i, kind in enumerate(kinds):
        twist, offset = (Angle(radians=Fraction(int(rng.integers(-3000, 3000)), 1000)) for _ in range(2))
        place = Placement(alpha=twist, a=length(), theta=offset, d=length())
        drive = Drive(inertia=Exact.of(round(rng.uniform(0, 1), 2)))
        links.append(Link(f"link{i}", i - 1, Joint(f"joint{i}", kind, place, drive=drive), random_inertia(rng)))
    return Robot("chain", tuple(links), gravity=tuple(map(Exact.of, (0, 0, Fraction(-981, 100)))))


_OURS = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ, "planar": pin.JointModelPlanar}


class Pinocchio:
    """The same chain in Pinocchio, without armatures: each kind is a joint of Pinocchio's own."""

    def __init__(self, robot: Robot) -> None:
        self.kinds, model = [joint.kind for joint in robot.joints], pin.Model()
        for i, link in enumerate(robot.links):
            kind, place = link.joint.kind, link.joint.placement
            joint = pin.JointModelHZ(float(PITCH)) if kind == "helical" else _OURS[kind]()
            alpha, theta = (np.arctan2(*map(float, angle.sincos())) for angle in (place.alpha, place.theta))
            tilt = pin.SE3(pin.utils.rotate("x", alpha), np.array([float(place.a), 0.0, 0.0]))
            own = pin.SE3(pin.utils.rotate("z", theta), np.array([0.0, 0.0, float(place.d)]))
            model.addJoint(i, joint, tilt * own, link.joint.name)
            xx, xy, xz, yy, yz, zz, mx, my, mz, m = map(float, link.inertia.parameters)
            com = np.array([mx, my, mz]) / m
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            about -= m * (com @ com * np.eye(3) - np.outer(com, com))
            model.appendBodyToJoint(i + 1, pin.Inertia(m, com, about), pin.SE3.Identity())
        model.gravity.linear = np.array([0, 0, -9.81])
        self.model, self.data = model, model.createData()
        self.armature = np.concatenate([[float(link.joint.drive.inertia)] * link.joint.type.nv for link in robot.links])

    def place(self, q: np.ndarray) -> np.ndarray:
        """q in Pinocchio's coordinates: a planar joint's angle is (cosine, sine) there."""
        found: list[float] = []
        rest = list(q)
        for kind in self.kinds:
            if kind == "planar":
                found += [rest.pop(0), rest.pop(0)]
                angle = rest.pop(0)
                found += [np.cos(angle), np.sin(angle)]
            else:
                found.append(rest.pop(0))
        return np.array(found)

    def inverse_dynamics(self, q, qd, qdd) -> np.ndarray:
        return pin.rnea(self.model, self.data, self.place(q), qd, qdd) + self.armature * qdd

    def mass_matrix(self, q) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.data, self.place(q)))
        return upper + np.triu(upper, 1).T + np.diag(self.armature)

    def energies(self, q, qd) -> tuple[float, float]:
        kinetic = pin.computeKineticEnergy(self.model, self.data, self.place(q), qd)
        potential = pin.computePotentialEnergy(self.model, self.data, self.place(q))
        return kinetic + float(self.armature @ qd**2) / 2, potential

    def tool(self, q, qd) -> tuple[np.ndarray, np.ndarray]:
        """(T, velocity of the last link's frame, linear part first, base axes)."""
        pin.forwardKinematics(self.model, self.data, self.place(q), qd)
        last = self.model.njoints - 1
        move = pin.getVelocity(self.model, self.data, last, pin.LOCAL_WORLD_ALIGNED)
        return self.data.oMi[last].homogeneous, np.concatenate([move.linear, move.angular])
