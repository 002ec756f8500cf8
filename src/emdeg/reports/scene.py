"""The robot in space: what the page's script needs to draw and move it, and one view drawn beforehand.

A link's frame in its parent's is a constant transform followed by its joint's own motion along or about z, so the
script needs no more than these transforms to show any configuration. Links are drawn along their Denavit-Hartenberg
offsets: from the parent's origin along its z (b), along the common normal (a), along the own z (d).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from emdeg.algebra import Array, Floats
from emdeg.documents import BLUE, FAINT, GREEN, INK, ORANGE, SOFT, Dot, Drawing, Figure, Line, Shape, Text, shortened
from emdeg.dynamics.functions import forward_kinematics, link_transforms
from emdeg.loops import Anchor, linkage_of
from emdeg.reports.items import Scene
from emdeg.reports.subject import Subject
from emdeg.robot import BASE, Inertia, Robot

AZIMUTH, ELEVATION = 0.9, 0.42
"""The first view [rad]."""
DIGITS = 6
SLIDING = 0.5
"""How far [m] about its sample motion a platform without limits is moved."""


def scene(subject: Subject, module: str = "") -> Scene:
    """The scene of a robot; symbols are drawn with a number, which the caption says."""
    robot = subject.drawable
    tree = robot.open_tree
    data = scene_data(subject, robot, tree)
    return Scene(data, Figure("frames", still(data), ""), module)


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
                "b": _number(float(place.b)),
                "d": _number(float(place.d)),
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
        "gravity": [_number(float(g)) for g in tree.gravity],
    }
    if robot.rods or robot.closures:
        data["rods"] = _rods(robot)
    if subject.symbolic:
        data |= {
            "ranges": [[-3.1416, 3.1416] if not link["slides"] else [0.0, 0.6] for link in links],
            "start": [0.0] * n,
            "free": True,
        }
    elif not robot.hidden:
        ranges = [[_number(v) for v in ends] for ends in subject.where.ranges]
        data |= {"ranges": ranges, "start": [_number(v) for v in subject.motion.q[0]], "free": True}
    else:
        data |= {"ranges": [], "start": [_number(v) for v in subject.tree_motion[0]], "free": False}
        data["reach"] = [[_number(v) for v in ends] for ends in reach(subject)]
    if not subject.symbolic:
        data["motion"] = [[_number(v) for v in row] for row in subject.tree_motion[::2]]
        data["speeds"] = [[_number(v) for v in row] for row in subject.motion.qd[::2]]
        data["accelerations"] = [[_number(v) for v in row] for row in subject.motion.qdd[::2]]
        data["seconds"] = float(subject.motion.t[-1])
    data["extent"] = _extent(data)
    return data


def reach(subject: Subject) -> Iterator[tuple[float, float]]:
    """The coordinates' ranges of a mechanism with loops: their limits, or about where the sample motion is."""
    for k, joint in enumerate(subject.robot.coordinates):
        low, high = joint.limits.lower, joint.limits.upper
        middle, half = float(subject.motion.q[:, k].mean()), np.pi if joint.kind == "revolute" else SLIDING
        yield (
            middle - half if low is None else float(low),
            middle + half if high is None else float(high),
        )


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
    body: dict[str, Any] = {"mass": _number(M), "com": [_number(v) for v in com]}
    moments, axes = np.linalg.eigh(tensor)
    squares = 2.5 * (moments.sum() - 2 * moments) / M  # of a solid ellipsoid: I_x = M (b^2 + c^2) / 5
    if (squares >= -1e-9 * abs(squares).max()).all():
        half = np.sqrt(np.maximum(squares, 0.0)) * axes
        body["ellipsoid"] = [_number(v) for v in half.T.reshape(-1)]
    return body


def _rods(robot: Robot) -> list[dict[str, Any]]:
    """The rods' ends, and pairs of points that closing joints bring together, on their links."""
    link = linkage_of(robot, Floats())

    def end(anchor: Anchor) -> dict[str, Any]:
        return {"link": anchor.link, "p": [_number(cast(float, v)) for v in anchor.p]}

    found = [{"a": end(bar.first), "b": end(bar.second), "rod": True} for bar in link.bars]
    return found + [{"a": end(m.first), "b": end(m.second), "rod": False} for m in link.meetings]


def frames_at(data: dict[str, Any], q: Array) -> list[Array]:
    """Every link's 4 x 4 frame in the base at joint positions q: what the page's script computes, too."""
    found: list[Array] = []
    for link, x in zip(data["links"], q):
        before = np.eye(4) if link["parent"] == BASE else found[link["parent"]]
        own = np.eye(4)
        if link["slides"]:
            own[2, 3] = x
        else:
            own[:2, :2] = [[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]
        found.append(before @ _matrix(link["T"]) @ own)
    return found


def skeleton(data: dict[str, Any], q: Array) -> list[tuple[str, list[Array]]]:
    """(kind, points in the base frame): "link" for each link, "rod" for what closes loops, "tool"."""
    frames = frames_at(data, q)
    found: list[tuple[str, list[Array]]] = []
    for link, frame, x in zip(data["links"], frames, q):
        parent = np.eye(4) if link["parent"] == BASE else frames[link["parent"]]
        d = link["d"] + (x if link["slides"] else 0.0)
        start = parent[:3, 3]
        path = [start, start + link["b"] * parent[:3, 2], frame[:3, 3] - d * frame[:3, 2], frame[:3, 3]]
        found.append(("virtual" if link["virtual"] else "link", path))
    for rod in data["rods"]:
        ends = []
        for key in ("a", "b"):
            frame = np.eye(4) if rod[key]["link"] == BASE else frames[rod[key]["link"]]
            ends.append(frame[:3, :3] @ np.array(rod[key]["p"]) + frame[:3, 3])
        # From the link's origin to the rod's end: the arm that carries it.
        for key, end in zip(("a", "b"), ends):
            if rod[key]["link"] != BASE:
                found.append(("link", [frames[rod[key]["link"]][:3, 3], end]))
        found.append(("rod", ends))
    tool = data["tool"]
    if tool["link"] != BASE:
        last = frames[tool["link"]]
        found.append(("tool", [last[:3, 3], (last @ _matrix(tool["T"]))[:3, 3]]))
    return found


def _extent(data: dict[str, Any]) -> dict[str, Any]:
    """The middle of what the motion sweeps and the radius about it."""
    rows = data.get("motion") or [data["start"]]
    points = [p for q in rows[:: max(1, len(rows) // 8)] for _, path in skeleton(data, np.array(q)) for p in path]
    cloud = np.array([*points, np.zeros(3)])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    return {"middle": [_number(v) for v in (low + high) / 2], "radius": _number(radius)}


def still(data: dict[str, Any], wide: float = 470.0, tall: float = 330.0) -> Drawing:
    """The first view as lines."""
    q = np.array(data["start"])
    middle, radius = np.array(data["extent"]["middle"]), data["extent"]["radius"]
    scale = 0.46 * min(wide, tall) / radius
    ca, sa, ce, se = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
    right, up = np.array([-sa, ca, 0.0]), np.array([-se * ca, -se * sa, ce])

    def at(point: Array) -> tuple[float, float]:
        p = point - middle
        return wide / 2 + scale * float(p @ right), tall / 2 - scale * float(p @ up)

    shapes: list[Shape] = []
    step, floor = radius / 2, min(0.0, *(p[2] for _, path in skeleton(data, q) for p in path))
    for k in range(-2, 3):
        for a, b in (((k, -2), (k, 2)), ((-2, k), (2, k))):
            ends = [np.array([step * e[0], step * e[1], floor]) for e in (a, b)]
            shapes.append(Line(tuple(at(e) for e in ends), FAINT))
    for kind, path in skeleton(data, q):
        colour, width = {"rod": (SOFT, 2.0), "tool": (SOFT, 3.0), "virtual": (FAINT, 1.5)}.get(kind, ("#7d8a97", 6.0))
        shapes.append(Line(tuple(at(p) for p in path), colour, width))
    for link, frame in zip(data["links"], frames_at(data, q)):
        if link["virtual"]:
            continue
        o = frame[:3, 3]
        for axis, colour in enumerate((ORANGE, GREEN, BLUE)):
            shapes.append(Line((at(o), at(o + 0.16 * radius * frame[:3, axis])), colour, 1.6))
        shapes.append(Dot(*at(o), 3.5, INK))
        x, y = at(o)
        shapes.append(Text(x + 7, y - 6, shortened(link["name"], 30), 10))
    return Drawing(wide, tall, tuple(shapes), "The robot's frames in space")


def _matrix(rows: list[float]) -> Array:
    return np.array([*rows, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)


def _rounded(T: Array) -> list[float]:
    return [_number(v) for v in T[:3].reshape(-1)]


def _number(value: float) -> float:
    return round(float(value), DIGITS) + 0.0
