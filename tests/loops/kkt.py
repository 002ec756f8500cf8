"""An independent solution of constrained motion: free bodies in space, forces of all joints as multipliers.

Every link is a rigid body of its own with six coordinates; every joint of the tree, every closing joint and every rod
is a set of constraint equations on the bodies' twists; rods are three point masses whose equations are written on the
bodies they hang on. Nothing of emdeg's mechanics is used but where the links are.
"""

from __future__ import annotations

import numpy as np

from emdeg.loops.views import joint_positions
from emdeg.robot.assembly import loaded_inertias
from emdeg.robot.model import BASE


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rpy_matrix(rpy):
    r, p, y = (float(a) for a in rpy)
    cr, sr, cp, sp, cy, sy = np.cos(r), np.sin(r), np.cos(p), np.sin(p), np.cos(y), np.sin(y)
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return Rz @ Ry @ Rx


def end_point(robot, end):
    t = float(end.turn)
    Rz = np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
    return Rz @ np.array([float(v) for v in end.xyz])


def end_axes(end):
    """The axes of an end in its link, as columns."""
    t = float(end.turn)
    Rz = np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
    return Rz @ rpy_matrix(end.rpy)


class Bodies:
    """Positions of the links by transforms multiplied here, from the joints' values."""

    def __init__(self, robot, q):
        self.robot = robot
        base = np.eye(4)
        base[:3, :3] = rpy_matrix(robot.base.rpy)
        base[:3, 3] = [float(v) for v in robot.base.xyz]
        self.T = []
        for link, value in zip(robot.links, q):
            place = link.joint.placement
            theta, d = float(place.theta), float(place.d)
            if link.joint.kind == "revolute":
                theta += value
            else:
                d += value
            before = base if link.parent == BASE else self.T[link.parent]
            self.T.append(
                before
                @ _rot("z", float(place.gamma))
                @ _move(0, 0, float(place.b))
                @ _rot("x", float(place.alpha))
                @ _move(float(place.a), 0, 0)
                @ _rot("y", float(place.beta))
                @ _rot("z", theta)
                @ _move(0, 0, d)
            )

    def point(self, end):
        local = end_point(self.robot, end)
        if end.link == BASE:
            return local
        return self.T[end.link][:3, :3] @ local + self.T[end.link][:3, 3]

    def axes(self, end):
        """An end's axes in the base, as rows."""
        local = end_axes(end)
        return (local if end.link == BASE else self.T[end.link][:3, :3] @ local).T


def _rot(axis, a):
    c, s = np.cos(a), np.sin(a)
    T = np.eye(4, dtype=np.result_type(c, float))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def _move(x, y, z):
    T = np.eye(4, dtype=np.result_type(x, y, z, float))
    T[:3, 3] = x, y, z
    return T


def constrained_accelerations(robot, u, ud, tau):
    """The independent coordinates' accelerations under the driven joints' efforts, by Lagrange multipliers.

    Unknowns: the accelerations of all bodies as free twists (6 each), and a multiplier for each equation.
    """
    q = joint_positions(robot, u)
    loops = robot.loops
    n = len(robot.links)
    bodies = Bodies(robot, q)
    qd = _rates(robot, q, ud)
    v, w = _twists(robot, bodies, qd)
    # generalized mass and applied force of free bodies at their frames' origins, base axes
    M = np.zeros((6 * n, 6 * n))
    f = np.zeros(6 * n)
    g = np.array([float(x) for x in robot.gravity])
    for i, inertia in enumerate(loaded_inertias(robot)):
        R = bodies.T[i][:3, :3]
        m = float(inertia.mass)
        h = R @ np.array([float(x) for x in inertia.first_moment])
        xx, xy, xz, yy, yz, zz = (float(x) for x in inertia.tensor)
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        s = slice(6 * i, 6 * i + 6)
        M[s, s] += np.block([[m * np.eye(3), -skew(h)], [skew(h), J]])
        f[s] += np.concatenate([m * g - np.cross(w[i], np.cross(w[i], h)), np.cross(h, g) - np.cross(w[i], J @ w[i])])
    for rod in loops.rods:
        m1, m2, m3 = (float(x) for x in rod.three_masses)
        A, B = _point_map(robot, bodies, rod.first), _point_map(robot, bodies, rod.second)
        a0, b0 = _point_bias(robot, bodies, rod.first, w), _point_bias(robot, bodies, rod.second, w)
        r = float(rod.com)
        for P, bias, m in ((A, a0, m1), (B, b0, m2), ((1 - r) * A + r * B, (1 - r) * a0 + r * b0, m3)):
            M += m * P.T @ P
            f += P.T @ (m * (g - bias))
    rows, right = [], []
    drive = np.zeros((n, 6 * n))
    drive_bias = np.zeros(n)
    for i, link in enumerate(robot.links):
        R, p = bodies.T[i][:3, :3], bodies.T[i][:3, 3]
        z = R[:, 2]
        parent = link.parent
        wp = np.zeros(3) if parent == BASE else w[parent]
        arm = np.zeros(3) if parent == BASE else p - bodies.T[parent][:3, 3]
        shift = qd[i] * z if link.joint.kind == "prismatic" else np.zeros(3)
        turn = qd[i] * z if link.joint.kind == "revolute" else np.zeros(3)
        # relative acceleration of origin and of turning, child against parent, less their rate-dependent parts
        E = np.zeros((6, 6 * n))
        E[:, 6 * i : 6 * i + 6] = np.eye(6)
        if parent != BASE:
            E[:3, 6 * parent : 6 * parent + 3] -= np.eye(3)
            E[:3, 6 * parent + 3 : 6 * parent + 6] += skew(arm)
            E[3:, 6 * parent + 3 : 6 * parent + 6] -= np.eye(3)
        bias = np.concatenate([np.cross(wp, np.cross(wp, arm)) + 2 * np.cross(wp, shift), np.cross(wp, turn)])
        free = np.concatenate([z, np.zeros(3)] if link.joint.kind == "prismatic" else [np.zeros(3), z])
        drive[i], drive_bias[i] = free @ E, free @ bias
        basis = np.linalg.svd(free[None, :])[2][1:]
        rows.append(basis @ E)
        right.append(basis @ bias)
        inertia = float(link.joint.drive.inertia)
        M += inertia * np.outer(drive[i], drive[i])
        f += inertia * drive[i] * drive_bias[i]
    for rod in loops.rods:
        A, B = _point_map(robot, bodies, rod.first), _point_map(robot, bodies, rod.second)
        U = bodies.point(rod.second) - bodies.point(rod.first)
        Ud = B @ np.concatenate([np.concatenate(p) for p in zip(v, w)])
        Ud = Ud - A @ np.concatenate([np.concatenate(p) for p in zip(v, w)])
        bias = _point_bias(robot, bodies, rod.second, w) - _point_bias(robot, bodies, rod.first, w)
        rows.append((U @ (B - A))[None, :])
        right.append(np.array([-(Ud @ Ud) - U @ bias]))
    for closure in loops.closures:
        A, B = _point_map(robot, bodies, closure.first), _point_map(robot, bodies, closure.second)
        bias = _point_bias(robot, bodies, closure.second, w) - _point_bias(robot, bodies, closure.first, w)
        if closure.kind != "prismatic":
            rows.append(B - A)
            right.append(-bias)
        for row, value in _turning_rows(robot, bodies, closure, v, w, B - A, bias):
            rows.append(row[None, :])
            right.append(np.array([value]))
    f += sum(t * drive[k] for t, k in zip(tau, loops.driven))
    Phi, c = np.vstack(rows), np.concatenate(right)
    # The motions that the equations leave, and one that meets them: redundant equations do no harm.
    U, sizes, V = np.linalg.svd(Phi)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    free, met = V[rank:].T, V[:rank].T @ ((U[:, :rank].T @ c) / sizes[:rank])
    x = met + free @ np.linalg.solve(free.T @ M @ free, free.T @ (f - M @ met))
    qdd = drive @ x - drive_bias
    return qdd[list(loops.coordinates)]


def _turning_rows(robot, bodies, closure, v, w, relative, bias):
    """What a closing joint asks beyond points that meet: (row on the accelerations, value) of each equation."""
    one, two = closure.first.link, closure.second.link
    w1, w2 = (np.zeros(3) if k == BASE else w[k] for k in (one, two))
    n = 6 * len(robot.links)
    turn = np.zeros((2, 3, n))
    for k, link in enumerate((one, two)):
        if link != BASE:
            turn[k][:, 6 * link + 3 : 6 * link + 6] = np.eye(3)
    (x1, y1, z1), (_, _, z2) = bodies.axes(closure.first), bodies.axes(closure.second)
    if closure.kind == "universal":  # (w1 - w2) . (z1 x z2) = 0
        c = np.cross(z1, z2)
        rate = np.cross(np.cross(w1, z1), z2) + np.cross(z1, np.cross(w2, z2))
        return [(c @ (turn[0] - turn[1]), -(w1 - w2) @ rate)]
    if closure.kind == "revolute":  # x1 . (w2 - w1) = y1 . (w2 - w1) = 0
        return [(e @ (turn[1] - turn[0]), -np.cross(w1, e) @ (w2 - w1)) for e in (x1, y1)]
    if closure.kind == "spherical":
        return []
    rows = [(e @ (turn[1] - turn[0]), 0.0) for e in np.eye(3)]
    if closure.kind == "fixed":
        return rows
    U = bodies.point(closure.second) - bodies.point(closure.first)
    Ud = relative @ np.concatenate([np.concatenate(p) for p in zip(v, w)])
    # Seen from the first frame the second's origin accelerates along z1 alone.
    felt = 2 * np.cross(w1, Ud - np.cross(w1, U)) + np.cross(w1, np.cross(w1, U)) - bias
    return rows + [(e @ (relative + skew(U) @ turn[0]), e @ felt) for e in (x1, y1)]


def _point_map(robot, bodies, end):
    P = np.zeros((3, 6 * len(robot.links)))
    if end.link != BASE:
        arm = bodies.T[end.link][:3, :3] @ end_point(robot, end)
        P[:, 6 * end.link : 6 * end.link + 3] = np.eye(3)
        P[:, 6 * end.link + 3 : 6 * end.link + 6] = -skew(arm)
    return P


def _point_bias(robot, bodies, end, w):
    if end.link == BASE:
        return np.zeros(3)
    arm = bodies.T[end.link][:3, :3] @ end_point(robot, end)
    return np.cross(w[end.link], np.cross(w[end.link], arm))


def _twists(robot, bodies, qd):
    v, w = [], []
    for i, link in enumerate(robot.links):
        R, p = bodies.T[i][:3, :3], bodies.T[i][:3, 3]
        vp = wp = np.zeros(3)
        if link.parent != BASE:
            wp = w[link.parent]
            vp = v[link.parent] + np.cross(wp, p - bodies.T[link.parent][:3, 3])
        revolute = link.joint.kind == "revolute"
        w.append(wp + (qd[i] * R[:, 2] if revolute else 0))
        v.append(vp + (0 if revolute else qd[i] * R[:, 2]))
    return v, w


def openings(robot, q):
    """What every closure equation, redundant or not, lacks to being met at the joints' values."""
    loops, bodies, out = robot.loops, Bodies(robot, q), []
    for rod in loops.rods:
        U = bodies.point(rod.second) - bodies.point(rod.first)
        out.append([(U @ U - float(rod.length) ** 2) / 2])
    for c in loops.closures:
        U = bodies.point(c.second) - bodies.point(c.first)
        (x1, y1, z1), (x2, y2, z2) = bodies.axes(c.first), bodies.axes(c.second)
        out.append([x1 @ U, y1 @ U, x1 @ y2, y1 @ z2, z1 @ x2] if c.kind == "prismatic" else U)
        turned = {"universal": [z1 @ z2], "revolute": [x1 @ z2, y1 @ z2], "fixed": [x1 @ y2, y1 @ z2, z1 @ x2]}
        out += [turned[c.kind]] if c.kind in turned else []
    return np.concatenate(out)


def _rates(robot, q, ud):
    """Every joint's rate: the loops' equations on the rates, by the complex step through the loops' ends."""
    loops = robot.loops

    def slope(k):  # the complex step: no difference is taken, so nothing cancels
        x = np.array(q, dtype=complex)
        x[k] += 1e-30j
        return openings(robot, x).imag / 1e-30

    Phi = np.array([slope(k) for k in range(len(q))]).T
    own = list(loops.coordinates)
    rest = [k for k in range(len(q)) if k not in own]
    qd = np.zeros(len(q))
    qd[own] = ud
    qd[rest] = np.linalg.lstsq(Phi[:, rest], -Phi[:, own] @ ud, rcond=1e-10)[0]
    return qd
