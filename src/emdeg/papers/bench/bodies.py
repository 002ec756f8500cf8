"""Measured bodies: about their mass centre and about a frame's origin, in other frames, from their shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np

from emdeg.algebra import Array, Exact
from emdeg.dynamics import BodyInertia, Transform, identity
from emdeg.dynamics.functions import link_transforms
from emdeg.papers.bench import formulas as bench
from emdeg.papers.bench.campaign import AXES, Campaign, Solid
from emdeg.papers.bench.formulas import Measured, square
from emdeg.robot import BASE, Robot

ZERO = Measured(0.0)
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""The entries of a symmetric tensor: xx, xy, xz, yy, yz, zz."""


def in_link_frame(campaign: Campaign, name: str, bodies: Mapping[str, BodyInertia]) -> BodyInertia:
    """A body that is a link, in the frame in which the equations of motion see the link."""
    plan = next(one for one in campaign.bodies if one.name == name)
    robot = campaign.robot
    k = [link.name for link in robot.links].index(name)
    links = link_transforms(robot, plan.pose)
    placed = np.linalg.inv(links[k]) @ place(robot, plan.frame, plan.pose)
    if np.allclose(placed, np.eye(4), rtol=0, atol=1e-12):
        return bodies[name]
    return bodies[name].to_parent(transform_of(placed))


def place(robot: Robot, frame: str, q: Array) -> Array:
    """4 x 4: the pose of a link's or frame's own frame in the base, at q."""
    links = link_transforms(robot, q)
    for one in robot.frames:
        if one.name == frame:
            on = np.eye(4) if one.link == BASE else links[one.link]
            return on @ _matrix(one.pose.xyz, one.pose.rpy)
    return links[[link.name for link in robot.links].index(frame)]


def _matrix(xyz: tuple[Exact, ...], rpy: tuple[object, ...]) -> Array:
    from scipy.spatial.transform import Rotation

    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("xyz", [float(angle) for angle in rpy]).as_matrix()  # type: ignore[arg-type]
    found[:3, 3] = [float(v) for v in xyz]
    return found


def transform_of(T: Array) -> Transform:
    R = tuple(tuple(float(v) for v in row) for row in T[:3, :3])
    return Transform(R, tuple(float(v) for v in T[:3, 3]))  # type: ignore[arg-type]


def about_origin(m: Measured, com: tuple[Measured, ...], tensor: tuple[Measured, ...]) -> BodyInertia:
    """A body about its frame's origin, from its mass centre and the tensor about it."""
    xx, xy, xz, yy, yz, zz = tensor
    J = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    central_ = BodyInertia(m, (ZERO, ZERO, ZERO), J)
    return central_.to_parent(Transform(identity(ZERO, Measured(1.0)), com))  # type: ignore[arg-type]


def central(body: BodyInertia) -> tuple[Measured, tuple[Measured, ...], tuple[Measured, ...]]:
    """(mass, mass centre, Ixx Ixy Ixz Iyy Iyz Izz about it)."""
    m, mr = cast(Measured, body.m), cast(tuple[Measured, Measured, Measured], body.mr)
    J = cast(tuple[tuple[Measured, ...], ...], body.J)
    com = tuple(moment / m if m.value else ZERO for moment in mr)
    cc = [[moment * x for x in com] for moment in mr]
    square_ = sum((cc[k][k] for k in range(3)), ZERO)
    moments = []
    for i, j in PAIRS:
        moments.append(J[i][j] + cc[i][j] - (square_ if i == j else 0.0))
    return m, com, tuple(moments)


def extent(solid: Solid, at: Mapping[str, Measured]) -> tuple[Measured, str]:
    """(volume [m^3], or area [m^2] of a shell; mass in words)."""
    s = {key: at[name] for key, name in solid.sizes.items()}
    if solid.kind == "sphere":
        if solid.shell:
            return 4 * math.pi * square(s["radius"]), "density 4 pi r^2"
        return 4 / 3 * math.pi * square(s["radius"]) * s["radius"], "density 4/3 pi r^3"
    if solid.kind == "cylinder":
        if solid.shell:
            return 2 * math.pi * s["radius"] * s["length"], "density 2 pi r l"
        ring = square(s["radius"]) - square(s.get("inner_radius", ZERO))
        return math.pi * ring * s["length"], "density pi (r^2 - r_i^2) l"
    x, y, z = s["x"], s["y"], s["z"]
    return (2 * (x * y + y * z + z * x), "density 2 (xy + yz + zx)") if solid.shell else (x * y * z, "density x y z")


def solid_moments(solid: Solid, m: Measured, at: Mapping[str, Measured]) -> bench.Moments:
    """(Ixx, Iyy, Izz) about its centre."""
    s = {key: at[name] for key, name in solid.sizes.items()}
    if solid.kind == "box":
        return (bench.thin_box if solid.shell else bench.box)(m, s["x"], s["y"], s["z"])
    if solid.kind == "sphere":
        return (bench.thin_sphere if solid.shell else bench.sphere)(m, s["radius"])
    if solid.shell:
        across, _, along = bench.thin_cylinder(m, s["radius"], s["length"])
    else:
        across, _, along = bench.cylinder(m, s["radius"], s["length"], s.get("inner_radius", ZERO))
    one, two, three = (along if axis == solid.along else across for axis in AXES)
    return one, two, three
