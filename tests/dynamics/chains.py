"""Serial arms for tests: random ones with joints of given kinds, and the arms of the textbooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from emdeg.algebra import ZERO, Angle, Exact
from emdeg.robot import Drive, Inertia, Joint, Link, Placement, Robot
from tests.random_robots import random_angle, random_inertia

PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


def random_chain(seed: int, kinds: str, parallel: Sequence[int] = (), drives: bool = True) -> Robot:
    """One joint for each 'r' or 'p', any twist; joint p (from 0) of `parallel` is parallel to the next."""
    rng = np.random.default_rng(seed)

    def value(low: float, high: float) -> Exact:
        return Exact.of(round(float(rng.uniform(low, high)), 3))

    links = []
    for i, kind in enumerate(kinds):
        place = Placement(
            alpha=Angle() if i - 1 in parallel else random_angle(rng),
            a=value(-0.8, 0.8),
            theta=random_angle(rng),
            d=value(-0.8, 0.8),
        )
        drive = Drive(inertia=value(0.1, 1.0) if drives else ZERO)
        joint = Joint(f"q{i + 1}", "revolute" if kind == "r" else "prismatic", place, drive=drive)
        links.append(Link(f"link{i + 1}", i - 1, joint, random_inertia(rng)))
    return Robot(f"chain{seed}", tuple(links), gravity=(value(-9, 9), value(-9, 9), value(-9, 9)))


def elbow_arm() -> Robot:
    """Six revolute joints, the second and third parallel, a spherical wrist."""
    rows = [(0, 0, 0), (-1, 0, 0.2), (0, 0.43, 0.1), (1, -0.02, 0.43), (-1, 0, 0), (1, 0, 0)]
    return _arm("elbow arm", rows, "rrrrrr")


def polar_arm() -> Robot:
    """Two revolute joints, a prismatic one, and a wrist."""
    rows = [(0, 0, 0), (-1, 0, 0.16), (1, 0, 0), (0, 0, 0), (-1, 0, 0), (1, 0, 0.25)]
    return _arm("polar arm", rows, "rrprrr")


def planar_arm() -> Robot:
    """Three parallel joints in a vertical plane."""
    return _arm("planar arm", [(1, 0, 0), (0, 0.5, 0), (0, 0.4, 0)], "rrr")


def seven_joint_arm() -> Robot:
    """Seven revolute joints, every neighbour at a right angle."""
    rows = [(0, 0, 0.33), (-1, 0, 0), (1, 0, 0.32), (1, 0.08, 0), (-1, -0.08, 0.38), (1, 0, 0), (1, 0.09, 0)]
    return _arm("seven-joint arm", rows, "rrrrrrr")


def _arm(name: str, rows, kinds: str) -> Robot:
    plain = random_chain(len(name), kinds)
    links = []
    for link, (quarters, a, d) in zip(plain.links, rows):
        place = Placement(alpha=Angle(Fraction(quarters, 2)), a=Exact.of(a), d=Exact.of(d))
        links.append(replace(link, joint=replace(link.joint, placement=place)))
    return replace(plain, name=name, links=tuple(links))


def with_letters(robot: Robot) -> Robot:
    """The robot with a symbol for every inertial parameter and every drive's inertia."""
    links = []
    for i, link in enumerate(robot.links, 1):
        inertia = Inertia.from_parameters(tuple(Exact.symbol(f"{p}{i}") for p in PARAMETERS))
        joint = replace(link.joint, drive=Drive(inertia=Exact.symbol(f"Ia{i}")))
        links.append(replace(link, inertia=inertia, joint=joint))
    return replace(robot, links=tuple(links))
