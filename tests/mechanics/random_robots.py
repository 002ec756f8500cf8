"""Robots for tests: random chains and trees with physical inertias, and small robots of the textbooks."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

from emdeg.algebra.angle import Angle
from emdeg.algebra.exact import Exact
from emdeg.mechanics.mechanism import Position
from emdeg.robot import BASE, Drive, Inertia, Joint, Link, Placement, Robot

QUARTER = Fraction(1, 2)


def value(rng: random.Random, low: float = -1.0, high: float = 1.0) -> Exact:
    return Exact.of(Fraction(round(rng.uniform(low, high) * 1000), 1000))


def physical_inertia(rng: random.Random) -> Inertia:
    """Of a handful of point masses, so that every physical rule holds."""
    total = Inertia()
    for _ in range(4):
        com = (value(rng), value(rng), value(rng))
        total = total + Inertia.about_mass_center(value(rng, 0.1, 1.0), com, (Exact.of(0),) * 6)
    return total


def random_angle(rng: random.Random) -> Angle:
    """Mostly any angle, sometimes a right one."""
    if rng.random() < 0.3:
        return Angle(QUARTER * rng.randrange(4))
    return Angle(radians=Fraction(round(rng.uniform(-3, 3) * 1000), 1000))


def random_robot(
    seed: int,
    n: int,
    *,
    tree: bool = False,
    kinds: str | None = None,
    parallel: Sequence[int] = (),
    drives: bool = True,
) -> Robot:
    """n joints of the kinds 'r' and 'p' (any, unless given), any twist; joint p in `parallel` is parallel to p + 1."""
    rng = random.Random(seed)
    links = []
    for i in range(n):
        parent = i - 1 if not tree else rng.choice([BASE, *range(i)])
        branching = tree and parent != i - 1
        must_turn = i in parallel or i - 1 in parallel
        kind = kinds[i] if kinds else "p" if rng.random() < 0.35 and not must_turn else "r"
        place = Placement(
            alpha=Angle() if i - 1 in parallel else random_angle(rng),
            a=value(rng),
            theta=random_angle(rng),
            d=value(rng),
            gamma=random_angle(rng) if branching else Angle(),
            b=value(rng) if branching else Exact.of(0),
            beta=random_angle(rng) if branching else Angle(),
        )
        drive = Drive(inertia=value(rng, 0.1, 1.0)) if drives else Drive()
        joint = Joint(f"q{i + 1}", "revolute" if kind == "r" else "prismatic", place, drive=drive)
        links.append(Link(f"link{i + 1}", parent, joint, physical_inertia(rng)))
    return Robot(f"random{seed}", tuple(links), gravity=(value(rng, -9, 9), value(rng, -9, 9), value(rng, -9, 9)))


def random_position(seed: int, robot: Robot) -> list[Position]:
    """(sine, cosine) or displacement of each joint."""
    rng = random.Random(seed)
    found: list[Position] = []
    for joint in robot.joints:
        q = rng.uniform(-3, 3)
        found.append((math.sin(q), math.cos(q)) if joint.kind == "revolute" else q)
    return found


def elbow_arm(symbolic: bool) -> Robot:
    """A six-joint arm with a shoulder offset, an elbow and a spherical wrist: joints 2 and 3 parallel."""
    rng = random.Random(560)
    rows = [(0, 0, 0), (-1, 0, "d2"), (0, "a2", "d3"), (1, "a3", "d4"), (-1, 0, 0), (1, 0, 0)]
    return _chain("elbow arm", rows, "rrrrrr", rng, symbolic)


def polar_arm(symbolic: bool) -> Robot:
    """Two turning joints, a sliding one, and a wrist."""
    rng = random.Random(174)
    rows = [(0, 0, 0), (-1, 0, "d2"), (1, 0, 0), (0, 0, 0), (-1, 0, 0), (1, 0, "d6")]
    return _chain("polar arm", rows, "rrprrr", rng, symbolic)


def planar_arm(symbolic: bool) -> Robot:
    """Three parallel joints in a vertical plane."""
    rng = random.Random(3)
    rows = [(1, 0, 0), (0, "a2", 0), (0, "a3", 0)]
    return _chain("planar arm", rows, "rrr", rng, symbolic)


def _chain(name: str, rows, kinds: str, rng: random.Random, symbolic: bool) -> Robot:
    links = []
    for i, (quarters, a, d) in enumerate(rows):
        numbers = iter([value(rng, 0.1, 0.9), value(rng, 0.1, 0.9)])
        a_, d_ = (
            Exact.of(0) if v == 0 else Exact.symbol(v) if symbolic else number for v, number in zip((a, d), numbers)
        )
        joint = Joint(
            f"q{i + 1}",
            "revolute" if kinds[i] == "r" else "prismatic",
            Placement(alpha=Angle(QUARTER * quarters), a=a_, d=d_),
            drive=Drive(inertia=Exact.symbol(f"Ia{i + 1}") if symbolic else value(rng, 0.1, 1.0)),
        )
        inertia = physical_inertia(rng)
        if symbolic:
            names = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
            inertia = Inertia.from_parameters(tuple(Exact.symbol(f"{v}{i + 1}") for v in names))
        links.append(Link(f"link{i + 1}", i - 1, joint, inertia))
    return Robot(name, tuple(links))
