"""Random physical robots, for properties that must hold for every robot."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from emdeg.algebra import Angle, Exact
from emdeg.robot import Body, Draft, Drive, Inertia, Placement, Robot, assemble


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A body made of a few point masses: physical by construction."""
    points = rng.uniform(-0.4, 0.4, (5, 3)).round(3)
    masses = rng.uniform(0.1, 2.0, 5).round(3)
    total = Inertia()
    for point, mass in zip(points, masses):
        x, y, z = (Exact.of(float(v)) for v in point)
        total = total + Inertia.about_mass_center(Exact.of(float(mass)), (x, y, z), (Exact(),) * 6)
    return total


def random_angle(rng: np.random.Generator) -> Angle:
    """A right angle as often as any other."""
    if rng.random() < 0.5:
        return Angle(Fraction(int(rng.integers(-1, 3)), 2))
    return Angle(radians=Fraction(int(rng.integers(-3000, 3000)), 1000))


def random_robot(seed: int, n: int, tree: bool = False, drives: bool = True) -> Robot:
    """A robot of n joints, revolute or prismatic, any twist, gravity in any direction."""
    rng = np.random.default_rng(seed)

    def length() -> Exact:
        return Exact.of(float(rng.choice([0.0, round(rng.uniform(-0.6, 0.6), 3)])))

    bodies = []
    for i in range(n):
        parent = i - 1 if not tree else int(rng.integers(-1, i))
        branch = {"gamma": random_angle(rng), "b": length()} if tree else {}
        bodies.append(
            Body(
                name=f"link{i}",
                parent=None if parent < 0 else f"link{parent}",
                joint=f"joint{i}",
                kind="revolute" if rng.random() < 0.7 else "prismatic",
                inertia=random_inertia(rng),
                row=Placement(alpha=random_angle(rng), a=length(), theta=random_angle(rng), d=length(), **branch),
                drive=Drive(
                    inertia=Exact.of(round(rng.uniform(0, 1), 3)) if drives else Exact(),
                    gear_ratio=Exact.of(float(rng.integers(1, 90))),
                ),
            )
        )
    gravity = tuple(Exact.of(float(v)) for v in rng.uniform(-10, 10, 3).round(2))
    return assemble(Draft(f"random{seed}", tuple(bodies), gravity=gravity))  # type: ignore[arg-type]


def robots(max_joints: int = 7, tree: bool = False) -> st.SearchStrategy[Robot]:
    return st.builds(random_robot, st.integers(0, 2**31), st.integers(1, max_joints), st.just(tree))


def random_state(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, qd, qdd), speeds and accelerations of a lively motion."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, robot.n), rng.uniform(-2, 2, robot.n), rng.uniform(-5, 5, robot.n)
