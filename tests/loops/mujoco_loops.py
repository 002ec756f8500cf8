"""A mechanism with closed loops in MuJoCo: every link and every rod a body, loops closed by stiff equality constraints.

Frames come from the independent transforms of `mechanics.kkt`; nothing else of emdeg's mechanics is used.
"""

from __future__ import annotations

import numpy as np

from emdeg.robot.assembly import loaded_inertias
from emdeg.robot.model import BASE
from tests.loops.kkt import Bodies, end_point

TINY = 1e-9
"""Mass [kg] of links that have none: MuJoCo wants some."""


def quaternion(R) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return np.array([w, x, y, z])


def _text(values) -> str:
    return " ".join(repr(float(v)) for v in np.ravel(values))


def document(robot, step: float) -> str:
    """The MJCF; joints keep their names, the rod r hangs by a ball joint called r on the link of its first end."""
    rest = Bodies(robot, np.zeros(robot.n)).T
    inertias = loaded_inertias(robot)

    def site(name, end):
        return f'<site name="{name}" pos="{_text(end_point(robot, end))}"/>'

    def sites(k):
        found = [
            site(f"{c.name}_{i}", e)
            for c in robot.loops.closures
            for i, e in enumerate((c.first, c.second))
            if e.link == k
        ]
        found += [site(f"{rod.name}_1", rod.second) for rod in robot.loops.rods if rod.second.link == k]
        return "".join(found)

    def rods(k):
        text = ""
        for rod in robot.loops.rods:
            if rod.first.link == k:
                l, across = float(rod.length), float(rod.inertia)
                text += (
                    f'<body pos="{_text(end_point(robot, rod.first))}"><joint name="{rod.name}" type="ball"/>'
                    f'<inertial pos="{l * float(rod.com)!r} 0 0" mass="{max(float(rod.mass), TINY)!r}" '
                    f'diaginertia="1e-6 {across!r} {across!r}"/><site name="{rod.name}_0" pos="{l!r} 0 0"/></body>'
                )
        return text

    def body(k):
        link = robot.links[k]
        before = np.eye(4) if link.parent == BASE else rest[link.parent]
        T = np.linalg.inv(before) @ rest[k]
        inertia = inertias[k]
        m = float(inertia.mass)
        c = np.array([float(v) for v in inertia.first_moment]) / (m or 1)
        xx, xy, xz, yy, yz, zz = (float(v) for v in inertia.tensor)
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c))
        J = J + 1e-12 * np.eye(3)
        kind = "hinge" if link.joint.kind == "revolute" else "slide"
        armature = float(link.joint.drive.inertia)
        full = _text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        children = "".join(body(j) for j, other in enumerate(robot.links) if other.parent == k)
        return (
            f'<body pos="{_text(T[:3, 3])}" quat="{_text(quaternion(T[:3, :3]))}">'
            f'<joint name="{link.joint.name}" type="{kind}" axis="0 0 1" armature="{armature!r}"/>'
            f'<inertial pos="{_text(c)}" mass="{max(m, TINY)!r}" fullinertia="{full}"/>'
            f"{sites(k)}{rods(k)}{children}</body>"
        )

    loops = [*(rod.name for rod in robot.loops.rods), *(c.name for c in robot.loops.closures)]
    equalities = "".join(
        f'<connect site1="{name}_0" site2="{name}_1" solref="{20 * step!r} 1" solimp="0.9999 0.9999 0.001 0.5 2"/>'
        for name in loops
    )
    trees = "".join(body(k) for k, link in enumerate(robot.links) if link.parent == BASE)
    return (
        f'<mujoco><compiler angle="radian" balanceinertia="false" boundmass="0" inertiafromgeom="false"/>'
        f'<option timestep="{step!r}" gravity="{_text([float(g) for g in robot.gravity])}" integrator="RK4" '
        f'tolerance="1e-14" iterations="200"/>'
        f"<worldbody>{sites(BASE)}{rods(BASE)}{trees}</worldbody><equality>{equalities}</equality></mujoco>"
    )


def run(robot, joints, tau, duration: float, step: float = 1e-4) -> np.ndarray:
    """Every joint's position after `duration` seconds from rest at `joints` under constant efforts of the motors."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(document(robot, step))
    data = mujoco.MjData(model)
    places = [model.joint(joint.name).qposadr[0] for joint in robot.joints]
    data.qpos[places] = joints
    bodies = Bodies(robot, joints)
    for rod in robot.loops.rods:
        along = bodies.point(rod.second) - bodies.point(rod.first)
        x = along / np.linalg.norm(along)
        y = np.cross([0.3, -0.5, 0.8], x)
        y /= np.linalg.norm(y)
        R = np.stack([x, y, np.cross(x, y)], 1)
        held = np.eye(3) if rod.first.link == BASE else bodies.T[rod.first.link][:3, :3]
        at = model.joint(rod.name).qposadr[0]
        data.qpos[at : at + 4] = quaternion(held.T @ R)
    for k, effort in zip(robot.loops.driven, tau):
        data.qfrc_applied[model.joint(robot.joints[k].name).dofadr[0]] = effort
    for _ in range(round(duration / step)):
        mujoco.mj_step(model, data)
    return data.qpos[places].copy()
