"""The robot in space: what the page's script needs to draw and move it, and one view drawn beforehand.

A link's frame in its parent's is a constant transform followed by its joint's own motion along or about z, so the
script needs no more than these transforms to show any configuration. It draws the line figure of
`emdeg.simulation.pictures`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import BLUE, FAINT, GREEN, INK, ORANGE, SOFT, Drawing, Figure, canvas, name_text, shortened
from emdeg.dynamics.functions import forward_kinematics, link_transforms
from emdeg.reports.items import Scene
from emdeg.reports.subject import Subject
from emdeg.robot import Inertia, Robot, by_kind
from emdeg.simulation.pictures import joined, line_figure

AZIMUTH, ELEVATION = 0.9, 0.42
"""The first view [rad]."""
DIGITS = 6


def robot_scene(subject: Subject, module: str = "") -> Scene:
    """The scene of a robot; symbols are drawn with a number, which the caption says."""
    robot = subject.drawable
    tree = robot.open_tree
    data = scene_data(subject, robot, tree)
    return Scene(data, Figure("frames", still(tree, robot, data), ""), module)


def scene_data(subject: Subject, robot: Robot, tree: Robot) -> dict[str, Any]:
    """Constant transforms, ends of rods, joints' ranges and the sample motion, as plain numbers."""
    n = tree.n
    world = np.concatenate([link_transforms(tree, np.zeros(n)), np.eye(4)[None]])  # world[BASE] is the base
    # A coordinate without a motor of its own says where a platform is; there is no such body.
    virtual = {k for k, joint in enumerate(robot.joints) if joint in robot.coordinates and joint not in robot.driven}
    links = []
    for i, link in enumerate(tree.links):
        place = link.joint.placement
        links.append(
            {
                "name": link.joint.name,
                "parent": link.parent,
                "slides": link.joint.kind == "prismatic",
                "T": _rounded(np.linalg.inv(world[link.parent]) @ world[i]),
                "b": number(float(place.b)),
                "d": number(float(place.d)),
                "virtual": i in virtual,
                **_body(link.inertia),
            }
        )
    tool = tree.tool.link
    data: dict[str, Any] = {
        "links": links,
        "tool": {"link": tool, "T": _rounded(np.linalg.inv(world[tool]) @ forward_kinematics(tree, np.zeros(n)))},
        "rods": [],
        "coordinates": [k for k, joint in enumerate(robot.joints) if joint in robot.coordinates],
        "driven": [{"name": joint.name, "slides": joint.kind == "prismatic"} for joint in robot.driven],
        "heaviest": max((link.get("mass", 0.0) for link in links), default=0.0) or 1.0,
        "bounded": [j.limits.lower is not None and j.limits.upper is not None for j in robot.joints],
        "gravity": [number(float(g)) for g in tree.gravity],
    }
    data["rods"] = rods(robot)
    if subject.symbolic:
        data |= {
            "ranges": [[-3.1416, 3.1416] if not link["slides"] else [0.0, 0.6] for link in links],
            "start": [0.0] * n,
            "free": True,
        }
    else:
        data |= sliders(subject)
    if not subject.symbolic:
        data["motion"] = [[number(v) for v in row] for row in subject.tree_motion[::2]]
        data["speeds"] = [[number(v) for v in row] for row in subject.motion.qd[::2]]
        data["accelerations"] = [[number(v) for v in row] for row in subject.motion.qdd[::2]]
        data["seconds"] = float(subject.motion.t[-1])
    data["extent"] = _extent(robot, data.get("motion") or [data["start"]])
    return data


@by_kind
def rods(robot: Robot) -> list[dict[str, Any]]:
    """Pairs of points on links that constraints join, as lines are drawn."""
    return []


@by_kind
def sliders(subject: Subject) -> dict[str, Any]:
    """What the page's sliders move: every joint in its range, from the first place of the sample motion."""
    ranges = [[number(v) for v in ends] for ends in subject.where.ranges]
    return {"ranges": ranges, "start": [number(v) for v in subject.motion.q[0]], "free": True}


def _body(inertia: Inertia) -> dict[str, Any]:
    """Mass [kg], centre of mass [m] and the half axes [m] of the ellipsoid of even density with the same inertia.

    Nothing for a link without mass, and no ellipsoid where no real body has such an inertia.
    """
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = map(float, inertia.parameters)
    if M <= 0:
        return {}
    com = np.array([MX, MY, MZ]) / M
    tensor = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
    tensor = tensor - M * (com @ com * np.eye(3) - np.outer(com, com))
    body: dict[str, Any] = {"mass": number(M), "com": [number(v) for v in com]}
    moments, axes = np.linalg.eigh(tensor)
    squares = 2.5 * (moments.sum() - 2 * moments) / M  # of a solid ellipsoid: I_x = M (b^2 + c^2) / 5
    if (squares >= -1e-9 * abs(squares).max()).all():
        half = np.sqrt(np.maximum(squares, 0.0)) * axes
        body["ellipsoid"] = [number(v) for v in half.T.reshape(-1)]
    return body


def _extent(tree: Robot, rows: list[list[float]]) -> dict[str, Any]:
    """The middle of what the motion sweeps and the radius about it."""
    points, _ = joined(line_figure(tree, np.array(rows[:: max(1, len(rows) // 8)])))
    cloud = np.array([*points.reshape(-1, 3), np.zeros(3)])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    return {"middle": [number(v) for v in (low + high) / 2], "radius": number(radius)}


def still(tree: Robot, robot: Robot, data: dict[str, Any], wide: float = 470.0, tall: float = 330.0) -> Drawing:
    """The first view as lines."""
    q = np.array(data["start"])
    middle, radius = np.array(data["extent"]["middle"]), data["extent"]["radius"]
    scale = 0.46 * min(wide, tall) / radius
    ca, sa, ce, se = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
    right, up = np.array([-sa, ca, 0.0]), np.array([-se * ca, -se * sa, ce])

    def at(point: Array) -> tuple[float, float]:
        p = point - middle
        return wide / 2 + scale * float(p @ right), tall / 2 - scale * float(p @ up)

    drawing, sheet = canvas(wide, tall, "The robot's frames in space")

    def line(points: Iterable[Array], colour: str, width: float) -> None:
        sheet.plot(*zip(*map(at, points)), color=colour, linewidth=width, solid_capstyle="round")

    strokes = line_figure(robot, q[None])
    step, floor = radius / 2, min(0.0, joined(strokes)[0][..., 2].min())
    for k in range(-2, 3):
        for a, b in (((k, -2), (k, 2)), ((-2, k), (2, k))):
            line([np.array([step * e[0], step * e[1], floor]) for e in (a, b)], FAINT, 1.0)
    looks = {"rod": (SOFT, 2.0), "tool": (SOFT, 3.0), "virtual": (FAINT, 1.5), "link": ("#7d8a97", 6.0)}
    for stroke in strokes:
        line(stroke.points[0], *looks[stroke.kind])
    for link, frame in zip(data["links"], link_transforms(tree, q)):
        if link["virtual"]:
            continue
        o = frame[:3, 3]
        for axis, colour in enumerate((ORANGE, GREEN, BLUE)):
            line((o, o + 0.16 * radius * frame[:3, axis]), colour, 1.6)
        line((o, o), INK, 7.0)
        x, y = at(o)
        sheet.text(x + 7, y - 6, name_text(shortened(link["name"], 30)), fontsize=10, color=INK)
    return drawing


def _rounded(T: Array) -> list[float]:
    return [number(v) for v in T[:3].reshape(-1)]


def number(value: float) -> float:
    """A number with as many digits as a picture needs."""
    return round(float(value), DIGITS) + 0.0
