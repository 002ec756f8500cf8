"""Logs of robots that Pinocchio moves: what identification is tested against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pinocchio as pin

import emdeg
from emdeg.dynamics.parameters import base_values
from emdeg.robot import Robot
from tests.oracles import Pinocchio

ARM = """<robot name="arm"><link name="base"/>{links}{joints}</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="{com}"/><mass value="{m}"/>
<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/><origin xyz="{xyz}"/>
<axis xyz="{axis}"/><limit lower="-3" upper="3" velocity="4" effort="80"/></joint>"""


def arm_text(mass: float = 1.0) -> str:
    """Three joints; `mass` scales every body."""
    links = "".join(
        LINK.format(k=k, com=com, m=m * mass, xx=0.03 * mass, yy=0.05 * mass, zz=0.04 * mass, xy=0.004 * mass)
        for k, com, m in ((1, "0.02 0.01 0.1", 4.0), (2, "0.15 0.02 0.01", 3.0), (3, "0.1 -0.02 0.03", 1.5))
    )
    places = ((1, "base", "0 0 0.3", "0 0 1"), (2, "l1", "0.05 0 0.2", "0 1 0"), (3, "l2", "0.4 0 0", "0 1 0"))
    joints = "".join(JOINT.format(k=k, parent=p, xyz=xyz, axis=axis) for k, p, xyz, axis in places)
    return ARM.format(links=links, joints=joints)


def coulomb(qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    return 0.5 * qd + 1.2 * np.sign(qd)


def stribeck(qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    return 0.5 * qd + (1.2 + 0.9 * np.exp(-((qd / 0.15) ** 2))) * np.sign(qd)


def foreign(qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """No law of ours: a thin film, a direction that fades at rest, gears that rub with what they carry."""
    return 1.5 * np.sign(qd) * np.abs(qd) ** 0.33 + (0.4 + 0.03 * np.abs(tau)) * np.tanh(qd / 0.02)


Rub = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass
class RecordedRun:
    """Measured positions and efforts, and the motion without noise."""

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    tau: np.ndarray
    truth: tuple[np.ndarray, np.ndarray, np.ndarray]

    def write(self, path: Path, **changes: np.ndarray) -> Path:
        """The log as a file; `changes` replace q and tau, or add qd, qdd, current."""
        values = {"q": self.q, "tau": self.tau} | changes
        if "current" in values:
            del values["tau"]
        t = values.pop("t", self.t)
        names = ["t", *(f"{what}_{joint.name}" for what in values for joint in self.robot.coordinates)]
        rows = np.column_stack([t, *values.values()])
        np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="", fmt="%.9g")
        return path


def oracle(text: str, robot: Robot) -> Pinocchio:
    return Pinocchio(pin.buildModelFromXML(text), [joint.name for joint in robot.joints])


def recorded(
    text: str,
    folder: Path,
    seed: int = 0,
    *,
    rub: Rub = coulomb,
    rate: float = 100.0,
    seconds: float = 20.0,
    noise: float = 0.02,
    position_noise: float = 1e-5,
    harmonics: int = 5,
    held: Mapping[int, float] = MappingProxyType({}),
) -> RecordedRun:
    """A robot along a random Fourier series of 10 s, some joints held where they are; its efforts are Pinocchio's."""
    path = folder / "arm.urdf"
    path.write_text(text)
    robot = emdeg.load(str(path))
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    w = 2 * np.pi / 10 * np.arange(1, harmonics + 1)
    a, b = 0.8 * rng.normal(size=(2, harmonics, robot.n)) / np.sqrt(np.arange(1, harmonics + 1))[:, None]
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    q, qd, qdd = (s / w) @ a - (c / w) @ b, c @ a + s @ b, -(s * w) @ a + (c * w) @ b
    for joint, place in held.items():
        q[:, joint], qd[:, joint], qdd[:, joint] = place, 0.0, 0.0
    known = oracle(text, robot)
    bodies = np.array([known.inverse_dynamics(*state) for state in zip(q, qd, qdd)])
    tau = bodies + rub(qd, bodies)
    tau += noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return RecordedRun(robot, t, q + position_noise * rng.normal(size=q.shape), tau, (q, qd, qdd))


def true_values(text: str, folder: Path) -> dict[str, float]:
    """The base parameters of a robot's text, by name."""
    path = folder / "truth.urdf"
    path.write_text(text)
    robot = emdeg.load(str(path))
    return dict(zip(map(str, emdeg.base_parameters(robot).kept), map(float, base_values(robot))))
