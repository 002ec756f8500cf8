"""Random robots as plain numbers, and the same robot for emdeg, for Pinocchio and for MuJoCo.

Chains and trees of 1 to 7 moving joints, revolute and prismatic, with fixed links among them, any twist (right
angles, awkward ones, almost parallel axes), any physical inertia.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from hypothesis import strategies as st

from emdeg.algebra import Angle, Exact
from emdeg.robot.assembly import Draft, assemble
from emdeg.robot.model import Drive, Inertia, Pose, Robot
from emdeg.robot.normal_form import Body
from emdeg.robot.transform import of_pose, unit
from tests.oracles import Mujoco, Pinocchio


@dataclass(frozen=True)
class PlainLink:
    """A link in URDF's terms; `parent` is an index, -1 the base."""

    parent: int
    kind: str
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]
    axis: tuple[float, ...]
    mass: float
    com: tuple[float, ...]
    tensor: np.ndarray
    armature: float

    @property
    def unit_axis(self) -> np.ndarray:
        return np.array(self.axis) / np.linalg.norm(self.axis)


PlainRobot = tuple[PlainLink, ...]

_ANGLES = st.one_of(
    st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi, math.pi / 4, 1.5708, 3.14, 1e-7, -0.02, 0.06]),
    st.floats(-3.2, 3.2).map(lambda x: round(x, 6)),
)
_LENGTHS = st.one_of(st.sampled_from([0.0, 0.0, 0.4318, -0.1]), st.floats(-1, 1).map(lambda x: round(x, 5)))
_AXES = st.one_of(
    st.sampled_from([(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (1.0, 1.0, 0.0)]),
    st.tuples(*[st.floats(-1, 1).map(lambda x: round(x, 3))] * 3).filter(lambda v: sum(map(abs, v)) > 0.1),
)


def _triple(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(values, values, values)


@st.composite
def plain_robots(draw: st.DrawFn, most_joints: int = 7) -> PlainRobot:
    """A random tree; every moving link has a mass that its own joint moves."""
    joints = draw(st.integers(1, most_joints))
    branching = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links: list[PlainLink] = []
    moving = 0
    while moving < joints:
        kinds = ["revolute", "revolute", "prismatic"] + ["fixed"] * (len(links) < 2 * joints)
        kind = draw(st.sampled_from(kinds))
        parent = draw(st.integers(-1, len(links) - 1)) if branching else len(links) - 1
        links.append(
            PlainLink(
                parent,
                kind,
                draw(_triple(_LENGTHS)),
                draw(_triple(_ANGLES)),
                draw(_AXES),
                *_random_inertia(rng),
                armature=draw(st.sampled_from([0.0, 0.0, 0.25])) if kind != "fixed" else 0.0,
            )
        )
        moving += kind != "fixed"
    return tuple(links)


def _random_inertia(rng: np.random.Generator) -> tuple[float, tuple[float, ...], np.ndarray]:
    """(mass, mass centre, tensor about it): second moments along random axes make any physical tensor."""
    mass = round(float(10 ** rng.uniform(-1, 1)), 4)
    com = tuple(round(float(v), 4) for v in rng.uniform(-0.3, 0.3, 3))
    spread = mass * 10 ** rng.uniform(-3, -1, 3)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    second = axes @ np.diag(spread) @ axes.T
    return mass, com, np.trace(second) * np.eye(3) - second


def depth_first(robot: PlainRobot, parent: int = -1) -> list[int]:
    found: list[int] = []
    for i, link in enumerate(robot):
        if link.parent == parent:
            found += [i, *depth_first(robot, i)]
    return found


def names(robot: PlainRobot) -> list[str]:
    """The moving joints' names in emdeg's order: depth first."""
    return [f"j{i}" for i in depth_first(robot) if robot[i].kind != "fixed"]


def rotation(rpy: tuple[float, ...]) -> np.ndarray:
    r, p, y = rpy
    cr, sr, cp, sp, cy, sy = (f(a) for a in (r, p, y) for f in (math.cos, math.sin))
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def _exact_vector(values: Any) -> Any:
    return tuple(Exact.of(float(v)) for v in values)


def _exact_angles(values: tuple[float, ...]) -> Any:
    return tuple(Angle(radians=Exact.of(v).number) for v in values)


def for_emdeg(robot: PlainRobot) -> Robot:
    """The robot in normal form, from the plain numbers taken as exact decimals."""
    return assemble(draft_of(robot))


def draft_of(robot: PlainRobot) -> Draft:
    bodies = []
    for i, link in enumerate(robot):
        t = link.tensor
        tensor = tuple(Exact.of(float(t[a, b])) for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        bodies.append(
            Body(
                name=f"b{i}",
                parent=f"b{link.parent}" if link.parent >= 0 else None,
                joint=f"j{i}",
                kind=link.kind,  # type: ignore[arg-type]
                inertia=Inertia.about_mass_center(Exact.of(link.mass), _exact_vector(link.com), tensor),
                pose=of_pose(Pose(_exact_vector(link.xyz), _exact_angles(link.rpy))),
                axis=unit(tuple(Exact.of(v).number for v in link.axis)),  # type: ignore[arg-type]
                drive=Drive(inertia=Exact.of(link.armature)),
            )
        )
    return Draft(name="random", bodies=tuple(bodies))


def for_pinocchio(robot: PlainRobot) -> Pinocchio:
    model = pin.Model()
    home: dict[int, tuple[int, Any]] = {}  # link -> (joint's number, link frame in the joint's frame)
    armature: dict[str, float] = {}
    for i in depth_first(robot):  # Pinocchio's composite-body algorithm wants a subtree's joints in one block
        link = robot[i]
        joint, offset = home[link.parent] if link.parent >= 0 else (0, pin.SE3.Identity())
        placed = offset * pin.SE3(rotation(link.rpy), np.array(link.xyz))
        if link.kind != "fixed":
            kind = pin.JointModelRevoluteUnaligned if link.kind == "revolute" else pin.JointModelPrismaticUnaligned
            joint, placed = model.addJoint(joint, kind(link.unit_axis), placed, f"j{i}"), pin.SE3.Identity()
            armature[f"j{i}"] = link.armature
        home[i] = (joint, placed)
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, np.array(link.com), link.tensor), placed)
    for name, value in armature.items():
        model.armature[model.joints[model.getJointId(name)].idx_v] = value
    return Pinocchio(model, names(robot))


def mjcf_of(robot: PlainRobot) -> str:
    """The robot as an MJCF document."""

    def said(values: Any) -> str:
        return " ".join(repr(float(v)) for v in values)

    def quaternion(rpy: tuple[float, ...]) -> str:
        x, y, z, w = pin.Quaternion(rotation(rpy)).coeffs()
        return said((w, x, y, z))

    def below(parent: int) -> str:
        text = ""
        for i, link in enumerate(robot):
            if link.parent != parent:
                continue
            t = link.tensor
            full = said((t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]))
            kind = "hinge" if link.kind == "revolute" else "slide"
            joint = (
                f'<joint name="j{i}" type="{kind}" axis="{said(link.axis)}" armature="{link.armature!r}"/>'
                if link.kind != "fixed"
                else ""
            )
            text += (
                f'<body name="b{i}" pos="{said(link.xyz)}" quat="{quaternion(link.rpy)}">'
                f'<inertial pos="{said(link.com)}" mass="{link.mass!r}" fullinertia="{full}"/>'
                f"{joint}{below(i)}</body>"
            )
        return text

    return f'<mujoco><compiler angle="radian"/><worldbody>{below(-1)}</worldbody></mujoco>'


def for_mujoco(robot: PlainRobot) -> Mujoco:
    return Mujoco(mujoco.MjModel.from_xml_string(mjcf_of(robot)), names(robot))


def link_poses(robot: PlainRobot, q: np.ndarray) -> list[np.ndarray]:
    """Every link's frame in the base frame, by multiplying out the plain numbers."""
    value = dict(zip(names(robot), q))
    poses: list[np.ndarray] = []
    for i, link in enumerate(robot):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = rotation(link.rpy), link.xyz
        M = np.eye(4)
        if link.kind == "revolute":
            M[:3, :3] = pin.exp3(link.unit_axis * value[f"j{i}"])
        elif link.kind == "prismatic":
            M[:3, 3] = link.unit_axis * value[f"j{i}"]
        above = poses[link.parent] if link.parent >= 0 else np.eye(4)
        poses.append(above @ T @ M)
    return poses
