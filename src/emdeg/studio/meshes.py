"""Meshes of a URDF's links for the picture, thinned to what a page paints at every frame.

Only files below the studio's folder are opened, whatever a name in the URDF says, and only as numbers: STL, OBJ and
COLLADA. They have no part in the dynamics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import ParseError

import numpy as np
from defusedxml.ElementTree import fromstring
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from emdeg.algebra import Array, Floats
from emdeg.dynamics import pose_matrices
from emdeg.robot import Element, Robot, parse_xml

MOST_FACES = 300
"""Triangles of a link's mesh on the page."""
MOST_BYTES, MOST_IN_ALL = 32 * 2**20, 256 * 2**20
MOST_MESHES = 200
FINEST = 28
"""Cells along a mesh's longest side in which its corners are merged, at most."""

_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
_SCHEME = re.compile(r"(package|file|model):/*", re.IGNORECASE)
Faces = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkMesh:
    """Corners [m] (k, 3) and triangles (f, 3) in the frame of the `link`-th link."""

    link: int
    points: Array
    faces: Faces

    def as_data(self) -> dict[str, object]:
        """Plain data for the page, to a tenth of a millimetre."""
        points = [float(v) + 0.0 for v in np.round(self.points, 4).reshape(-1)]
        return {"link": self.link, "points": points, "faces": self.faces.reshape(-1).tolist()}


def link_meshes(robot: Robot, urdf: str, folder: Path) -> tuple[list[LinkMesh], list[str]]:
    """(the meshes that are at hand below `folder`, the names of those that are not or cannot be read)."""
    places = {frame.name: frame for frame in robot.frames}
    found: list[LinkMesh] = []
    missing: list[str] = []
    read = 0
    for name, filename, scale, R, p in _named(parse_xml(urdf)):
        path = _below(folder, filename)
        frame = places.get(name)
        if path is None or frame is None or len(found) >= MOST_MESHES:
            missing.append(filename[:200])
            continue
        read += (size := path.stat().st_size)
        try:
            if size > MOST_BYTES or read > MOST_IN_ALL:
                raise ValueError("too large")
            points, faces = _thinned(*_read(path))
        except (ValueError, OSError, IndexError, KeyError, StopIteration):
            missing.append(filename[:200])
            continue
        turn, shift = (np.array(part, dtype=float) for part in pose_matrices(frame.pose, Floats()))
        points = (points * scale @ R.T + p) @ turn.T + shift
        found.append(LinkMesh(frame.link, points, faces))
    return found, missing


def _named(root: Element) -> Iterator[tuple[str, str, Array, Array, Array]]:
    """(link, file name, scale, rotation, shift) of every visual mesh."""
    for link in root.all("link"):
        for visual in link.all("visual"):
            for geometry in visual.all("geometry"):
                for mesh in geometry.all("mesh"):
                    origin = visual.only("origin")
                    told = {} if origin is None else origin.attributes
                    try:
                        scale = _three(mesh.attributes.get("scale", "1 1 1"))
                        R = Rotation.from_euler("xyz", _three(told.get("rpy", "0 0 0"))).as_matrix()
                        p = _three(told.get("xyz", "0 0 0"))
                    except ValueError:
                        continue
                    yield link.attributes.get("name", ""), mesh.attributes.get("filename", ""), scale, R, p


def _three(text: str) -> Array:
    found = np.array([float(word) for word in text.split()])
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ValueError(text)
    return found


def _below(folder: Path, filename: str) -> Path | None:
    """The file of that name below the folder, with as many of its leading directories as are there."""
    parts = [part for part in PurePosixPath(_SCHEME.sub("", filename).replace("\\", "/")).parts if part != "/"]
    if ".." in parts or "\0" in filename:
        return None
    home = folder.resolve()
    for k in range(len(parts)):
        try:
            path = folder.joinpath(*parts[k:]).resolve()
            if path.is_relative_to(home) and path.is_file():
                return path
        except OSError:
            continue
    return None


def _read(path: Path) -> tuple[Array, Faces]:
    content = path.read_bytes()
    match path.suffix.lower():
        case ".stl":
            return _stl(content)
        case ".obj":
            return _obj(content.decode("utf-8", "replace"))
        case ".dae":
            return _dae(content)
    raise ValueError(f"no reader for {path.suffix}")


def _stl(content: bytes) -> tuple[Array, Faces]:
    count = int.from_bytes(content[80:84], "little")
    if len(content) >= 84 and len(content) == 84 + 50 * count:
        rows = np.frombuffer(content, dtype=np.dtype([("numbers", "<f4", 12), ("rest", "<u2")]), offset=84)
        corners = rows["numbers"][:, 3:].reshape(-1, 3).astype(float)
    else:
        corners = np.array(_VERTEX.findall(content), dtype=float).reshape(-1, 3)
    return corners, np.arange(len(corners) - len(corners) % 3).reshape(-1, 3)


def _obj(content: str) -> tuple[Array, Faces]:
    points: list[list[float]] = []
    faces: list[list[int]] = []
    for line in content.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(word.partition("/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(points) + k for k in corners]
            faces += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(points, dtype=float).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _dae(content: bytes) -> tuple[Array, Faces]:
    """Every geometry where its nodes put it, in metres."""
    root = _elements(content)
    shapes = {one.attributes.get("id", ""): _collada(one) for one in root.walk() if one.tag == "geometry"}
    points: list[Array] = []
    faces: list[Faces] = []
    scenes = [one for one in root.walk() if one.tag == "visual_scene"]
    stack = [(node, np.eye(4)) for scene in scenes for node in scene.all("node")]
    while stack:
        node, before = stack.pop()
        here = before
        for matrix in node.all("matrix"):
            here = here @ np.array([float(word) for word in matrix.text.split()]).reshape(4, 4)
        stack += [(child, here) for child in node.all("node")]
        for use in node.all("instance_geometry"):
            own, triangles = shapes[use.attributes.get("url", "").removeprefix("#")]
            faces.append(triangles + sum(map(len, points)))
            points.append(own @ here[:3, :3].T + here[:3, 3])
    unit = next((float(one.attributes.get("meter", "1")) for one in root.walk() if one.tag == "unit"), 1.0)
    return np.concatenate(points) * unit, np.concatenate(faces)


def _elements(content: bytes) -> Element:
    """A COLLADA file's elements without their name space; ValueError where it is no XML, or has a document type.

    (A robot's reader keeps less of a text than a mesh has.)
    """
    try:
        root = fromstring(content, forbid_dtd=True)
    except ParseError as problem:
        raise ValueError(str(problem)) from None
    found = {one: Element(one.tag.rpartition("}")[2], one.attrib, 0, [], one.text or "") for one in root.iter()}
    for one, element in found.items():
        element.children = [found[child] for child in one]
    return found[root]


def _collada(geometry: Element) -> tuple[Array, Faces]:
    arrays: dict[str, Array] = {}
    for source in (one for one in geometry.walk() if one.tag in ("source", "vertices")):
        if source.tag == "vertices":
            at = next(one for one in source.all("input") if one.attributes.get("semantic") == "POSITION")
            arrays[source.attributes["id"]] = arrays[at.attributes["source"].removeprefix("#")]
        elif found := source.all("float_array"):
            values = np.array(found[0].text.split(), dtype=float)
            arrays[source.attributes["id"]] = values[: len(values) - len(values) % 3].reshape(-1, 3)
    points, faces = np.zeros((0, 3)), [np.zeros((0, 3), dtype=np.int64)]
    for group in (one for one in geometry.walk() if one.tag in ("triangles", "polylist")):
        inputs = group.all("input")
        own = next(one for one in inputs if one.attributes.get("semantic") == "VERTEX")
        stride = 1 + max(int(one.attributes.get("offset", "0")) for one in inputs)
        numbers = np.array([word for p in group.all("p") for word in p.text.split()], dtype=np.int64)
        corners = numbers.reshape(-1, stride)[:, int(own.attributes.get("offset", "0"))]
        sizes = [int(word) for count in group.all("vcount") for word in count.text.split()] or [3] * (len(corners) // 3)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        fans = [[s, s + k, s + k + 1] for s, n in zip(starts, sizes) for k in range(1, n - 1)]
        points = arrays[own.attributes["source"].removeprefix("#")]
        faces.append(corners[np.array(fans, dtype=np.int64).reshape(-1, 3)])
    return points, np.concatenate(faces)


def _thinned(points: Array, faces: Faces) -> tuple[Array, Faces]:
    """The mesh with corners merged in cells, as fine as few triangles allow; ValueError where there is none."""
    if not len(faces) or not np.isfinite(points).all() or faces.min() < 0 or faces.max() >= len(points):
        raise ValueError("it is no mesh")
    low = points.min(axis=0)
    size = float((points.max(axis=0) - low).max()) or 1.0
    for cells in range(FINEST, 0, -1):
        place = np.floor((points - low) / size * cells).astype(np.int64)
        _, cell = np.unique(place @ [1, cells + 1, (cells + 1) ** 2], return_inverse=True)
        fewer = np.sort(cell[faces], axis=1)
        fewer = fewer[(fewer[:, 0] < fewer[:, 1]) & (fewer[:, 1] < fewer[:, 2])]
        most = len(points)
        _, first = np.unique(fewer @ [1, most, most**2], return_index=True)
        if len(first) <= MOST_FACES or cells == 1:
            count = np.bincount(cell)
            merged = np.stack([np.bincount(cell, points[:, k]) / count for k in range(3)], axis=1)
            return merged, fewer[first[:MOST_FACES]]
    raise ValueError("it is no mesh")
