"""Meshes stand where the URDF puts them, in every format, and nothing outside the folder is opened."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from emdeg.dynamics.functions import link_transforms
from emdeg.robot import load_text
from emdeg.studio.meshes import MOST_FACES, link_meshes

CORNERS = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0], [0, 0, 0.4]])
FACES = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]


def stl(corners: np.ndarray = CORNERS) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *(float(v) for k in face for v in corners[k]), 0) for face in FACES)
    return b"solid by chance".ljust(80) + struct.pack("<I", len(FACES)) + rows


def ascii_stl() -> bytes:
    loops = ("".join(f"vertex {' '.join(map(str, CORNERS[k]))}\n" for k in face) for face in FACES)
    return (
        "solid x\n" + "".join(f"facet normal 0 0 0\nouter loop\n{one}endloop\nendfacet\n" for one in loops)
    ).encode()


def obj() -> bytes:
    lines = [f"v {' '.join(map(str, p))}" for p in CORNERS] + [f"f {a + 1}/1 {b + 1}//2 {c - 4}" for a, b, c in FACES]
    return "\n".join(lines).encode()


def dae() -> bytes:
    numbers = " ".join(str(1000 * v) for p in CORNERS for v in p)
    indices = " ".join(f"{k} 0" for face in FACES for k in face)
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset>
      <unit meter="0.001"/></asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array>{numbers}
      </float_array></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles>
      <input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/><p>{indices}</p>
      </triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene><node><matrix>
      1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#g"/></node></visual_scene>
      </library_visual_scenes></COLLADA>""".encode()


def urdf(name: str) -> str:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    visual = f"""<visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry>
      <mesh filename="{name}" scale="2 2 2"/></geometry></visual>"""
    return f"""<robot name="one"><link name="base"/><link name="arm">{inertial}{visual}</link>
      <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.5" rpy="1.2 0.3 0"/>
      <axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize(("suffix", "content"), [("stl", stl()), ("STL", ascii_stl()), ("obj", obj()), ("dae", dae())])
def test_a_mesh_stands_in_space_where_the_urdf_puts_it(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / f"arm.{suffix}").write_bytes(content)
    text = urdf(f"package://my_robot/meshes/arm.{suffix}")
    robot = load_text(text, "one.urdf", allow_nonphysical=True)
    (found,), missing = link_meshes(robot, text, tmp_path)
    assert missing == []
    T = link_transforms(robot, np.zeros(1))[found.link]
    space = found.points @ T[:3, :3].T + T[:3, 3]
    # By hand: scaled, turned by a right angle about z, moved, then placed by the joint's origin.
    own = 2 * CORNERS[:, [1, 0, 2]] * [-1, 1, 1] + [0, 0, 1]
    (a, b), (s, t) = np.cos([1.2, 0.3]), np.sin([1.2, 0.3])
    pitch, roll = np.array([[b, 0, t], [0, 1, 0], [-t, 0, b]]), np.array([[1, 0, 0], [0, a, -s], [0, s, a]])
    wanted = own @ (pitch @ roll).T + [0, 0, 0.5]
    order = [np.lexsort(np.round(p, 6).T) for p in (space, wanted)]
    np.testing.assert_allclose(space[order[0]], wanted[order[1]], atol=1e-6)
    assert len(found.faces) == 4


def test_a_fine_mesh_is_thinned_and_keeps_its_size(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(3 * 4_000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    rows = np.zeros(4_000, dtype=[("n", "<f4", 3), ("p", "<f4", (3, 3)), ("rest", "<u2")])
    rows["p"] = points.reshape(-1, 3, 3)
    (tmp_path / "ball.stl").write_bytes(b" " * 80 + struct.pack("<I", len(rows)) + rows.tobytes())
    text = urdf("ball.stl")
    (found,), _ = link_meshes(load_text(text, "one.urdf", allow_nonphysical=True), text, tmp_path)
    assert 0 < len(found.faces) <= MOST_FACES


@pytest.mark.parametrize("name", ["../secret.stl", "/etc/passwd", "file:///etc/hostname", "link.stl", "none.stl", ""])
def test_nothing_outside_the_folder_is_opened(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.stl").write_bytes(stl())
    (home / "link.stl").symlink_to(tmp_path / "secret.stl")
    text = urdf(name)
    found, missing = link_meshes(load_text(text, "one.urdf", allow_nonphysical=True), text, home)
    assert found == []
    assert len(missing) == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"solid", b"\xff" * 200, stl(CORNERS * np.nan), b"f 1 2 3", b"v 0 0 0\nf 1 2 9"],
)
@pytest.mark.parametrize("suffix", ["stl", "obj", "dae"])
def test_what_is_no_mesh_is_named_and_nothing_more(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"bad.{suffix}").write_bytes(content)
    text = urdf(f"bad.{suffix}")
    found, missing = link_meshes(load_text(text, "one.urdf", allow_nonphysical=True), text, tmp_path)
    assert (found, missing) == ([], [f"bad.{suffix}"])


def test_a_mesh_with_entities_is_refused(tmp_path: Path) -> None:
    bomb = b'<!DOCTYPE r [<!ENTITY a "aaaa">]><COLLADA>&a;</COLLADA>'
    (tmp_path / "bomb.dae").write_bytes(bomb)
    text = urdf("bomb.dae")
    assert link_meshes(load_text(text, "one.urdf", allow_nonphysical=True), text, tmp_path) == ([], ["bomb.dae"])
