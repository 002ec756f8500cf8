"""Lagrange's equations in standard Denavit-Hartenberg frames, against Bejczy's sums carried out in doubles here."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.documents import Equation, MatrixEquation
from emdeg.equations import document
from emdeg.errors import NotSerial

EXACT = [("0", 0.0), ("pi/2", np.pi / 2), ("-pi/3", -np.pi / 3), ("pi", np.pi)]


def about_z(theta, d):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])


def about_x(alpha, a):
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


class StandardArm:
    """A random chain after the standard convention: its file, and Bejczy (1) to (10) in doubles."""

    def __init__(self, seed, kinds):
        rng = np.random.default_rng(seed)
        self.kinds, self.n = kinds, len(kinds)
        self.rows = [(rng.choice(4), rng.choice(4), *np.round(rng.uniform(-0.5, 0.5, 2), 3)) for _ in kinds]
        self.bodies = [
            (
                round(rng.uniform(1, 5), 3),
                np.round(rng.uniform(-0.2, 0.2, 3), 3),
                np.round(rng.uniform(0.1, 0.12, 3), 4),
            )
            for _ in kinds
        ]
        self.q = rng.uniform(-2, 2, self.n)

    @property
    def text(self):
        lines = ['schema = 1\nname = "arm"\nconvention = "standard"']
        for k, ((theta, alpha, d, a), (m, com, moments)) in enumerate(zip(self.rows, self.bodies), 1):
            kind = {"R": "revolute", "P": "prismatic"}[self.kinds[k - 1]]
            place = f'theta = "{EXACT[theta][0]}", alpha = "{EXACT[alpha][0]}", d = {d}, a = {a}'
            tensor = ", ".join(f"{name} = {value}" for name, value in zip(("Ixx", "Iyy", "Izz"), moments))
            lines.append(f'[[link]]\nname = "l{k}"\njoint = {{ name = "j{k}", type = "{kind}", {place} }}')
            lines.append(f'inertia = {{ about = "com", mass = {m}, com = {list(map(float, com))}, {tensor} }}')
        return "\n".join(lines) + "\n"

    def moved(self, joints):
        """The derivative of T_0^j with respect to the listed joints, at [j]: dT/dq = Q T (Bejczy (5), (6))."""
        T, seen, found = np.eye(4), 0, []
        for k, (theta, alpha, d, a) in enumerate(self.rows):
            turns = self.kinds[k] == "R"
            Q = np.zeros((4, 4))
            if turns:
                Q[0, 1], Q[1, 0] = -1, 1
            else:
                Q[2, 3] = 1
            for _ in range(joints.count(k)):
                T, seen = T @ Q, seen + 1
            turn, shift = EXACT[theta][1] + turns * self.q[k], d + (not turns) * self.q[k]
            T = T @ about_z(turn, shift) @ about_x(EXACT[alpha][1], a)
            found.append(T if seen == len(joints) else np.zeros((4, 4)))
        return found

    @property
    def pseudo_inertias(self):
        found = []
        for m, com, moments in self.bodies:
            P = np.zeros((4, 4))
            P[:3, :3] = np.diag(sum(moments) / 2 - moments) + m * np.outer(com, com)
            P[:3, 3] = P[3, :3] = m * com
            P[3, 3] = m
            found.append(P)
        return found


def standard(robot):
    """{label: the matrix or formula} of the parts U and D in standard frames."""
    sections = document(emdeg.derive(robot), ["U", "D"], standard=True).sections
    items = [item for section in sections for item in section.items]
    found = {str(item.label): item.rows for item in items if isinstance(item, MatrixEquation)}
    return found | {str(item.label): item.value for item in items if isinstance(item, Equation)}


def numbers(matrix, q):
    return np.array([[float(entry.evaluate(q)) for entry in row] for row in matrix])


@pytest.mark.parametrize(("seed", "kinds"), [(1, "RPR"), (2, "PRP"), (3, "RRR")])
def test_u_p_and_d_of_a_chain_are_bejczys_sums(seed, kinds, tmp_path):
    arm = StandardArm(seed, kinds)
    file = tmp_path / "arm.toml"
    file.write_text(arm.text)
    found, q, links = standard(emdeg.load(file)), arm.q, range(arm.n)
    P = arm.pseudo_inertias
    for j in links:
        np.testing.assert_allclose(numbers(found[f"P_{j + 1}"], q), P[j], atol=1e-12)
    for i in links:
        U_i = arm.moved([i])
        for j in range(i, arm.n):
            np.testing.assert_allclose(numbers(found[f"U_{j + 1}_{i + 1}"], q), U_i[j], atol=1e-12)
        falling = -sum(p[:, 3] @ u.T @ [0, 0, -9.81, 0] for u, p in zip(U_i, P))
        assert float(_value(found, q, i)) == pytest.approx(falling, abs=1e-12)
        for j in links:
            if j >= i:
                D_ij = sum(np.trace(u @ p @ v.T) for u, p, v in zip(arm.moved([j]), P, U_i))
                assert float(_value(found, q, i, j)) == pytest.approx(D_ij, abs=1e-12)
            for k in range(j, arm.n):
                U_jk = arm.moved([j, k])
                D_ijk = sum(np.trace(u @ p @ v.T) for u, p, v in zip(U_jk, P, U_i))
                assert float(_value(found, q, i, j, k)) == pytest.approx(D_ijk, abs=1e-12)
                if k <= arm.n - 1 and i == 0:
                    np.testing.assert_allclose(numbers(found[f"U_{arm.n}_{j + 1}_{k + 1}"], q), U_jk[-1], atol=1e-12)


def _value(found, q, *of):
    """D at the indices, counted from 0; what is not listed is zero."""
    name = "D" + "".join(str(k + 1) for k in of)
    return found[name].evaluate(q) if name in found else 0.0


URDF = """<robot name="bent"><link name="base"/>
<link name="a"><inertial><mass value="1"/><origin xyz="0.1 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0"
 ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0"
 iyz="0"/></inertial></link>
<joint name="one" type="continuous"><parent link="base"/><child link="a"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/>
 <axis xyz="0 1 0"/></joint>
<joint name="two" type="{kind}"><parent link="{parent}"/><child link="b"/><origin xyz="0.4 0.1 0.2" rpy="{rpy}"/>
 <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>
"""


@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
def test_a_urdf_whose_frames_are_no_denavit_hartenberg_frames_gets_some(kind, tmp_path):
    """Every step from frame to frame is Rz Tz Rx Tx: x crosses the axis before it at a right angle; and U is dT/dq."""
    file = tmp_path / "bent.urdf"
    file.write_text(URDF.format(kind=kind, parent="a", rpy="0.5 0.4 0.3"))
    found = standard(emdeg.load(file))
    q = np.array([0.3, 0.7])
    first = numbers(found["U_1_1"], q)
    # U_11 = Q T_1 for a turning joint: T_1's columns are those of -Q U_11, and z_0 is frame 0's own z
    assert np.abs(first[2]).max() < 1e-12
    x, p = first[:3, 0], first[:3, 3]
    assert np.linalg.norm(x) == pytest.approx(1)  # x_1 is across z_0, so that nothing of it is lost in Q
    assert np.linalg.norm(np.cross(x, p)) < 1e-12  # and the way from z_0 to the origin is along x_1
    step = numbers(found["U_2_2"], q)
    if kind == "prismatic":
        assert np.linalg.norm(step[:3, 3]) == pytest.approx(1)
        assert np.abs(step[:3, :3]).max() < 1e-12
    else:  # the last frame is the joint's own: its z is joint 2's axis, which the joint does not turn
        assert np.abs(step[:, 2:]).max() < 1e-12


def test_a_branching_robot_and_almost_parallel_axes_are_refused_in_words(tmp_path):
    tree = tmp_path / "tree.urdf"
    tree.write_text(URDF.format(kind="continuous", parent="base", rpy="0 0 0"))
    with pytest.raises(NotSerial, match="this one branches"):
        standard(emdeg.load(tree))
    skew = tmp_path / "skew.urdf"
    skew.write_text(URDF.format(kind="continuous", parent="a", rpy="0 0 1.5708963"))
    robot = emdeg.load(skew)
    assert not robot.links[1].joint.placement.beta.is_zero
    with pytest.raises(NotSerial, match="almost parallel"):
        standard(robot)


def test_a_chain_placed_with_gamma_and_b_and_a_first_joint_off_the_base(tmp_path):
    """gamma and b are the standard convention's theta and d; frame 0 lies on joint 1's axis."""
    file = tmp_path / "arm.toml"
    file.write_text(
        'schema = 1\nname = "arm"\nconvention = "modified"\n'
        '[[link]]\nname = "l1"\ninertia = { mass = 1, com = [0.1, 0, 0] }\n'
        'joint = { name = "j1", type = "revolute", alpha = "pi/2", a = 0.3, theta = "pi/6", d = 0.1 }\n'
        '[[link]]\nname = "l2"\ninertia = { mass = 1, com = [0, 0.1, 0] }\n'
        'joint = { name = "j2", type = "prismatic", gamma = "pi/3", b = 0.2, '
        'alpha = "-pi/2", a = 0.4, theta = 0, d = 0 }\n'
    )
    found, q = standard(emdeg.load(file)), np.array([0.4, -0.3])
    Q = np.zeros((4, 4))
    Q[0, 1], Q[1, 0] = -1, 1
    T_1 = about_z(np.pi / 6 + np.pi / 3 + q[0], 0.1 + 0.2) @ about_x(-np.pi / 2, 0.4)
    np.testing.assert_allclose(numbers(found["U_1_1"], q), Q @ T_1, atol=1e-12)
    np.testing.assert_allclose(numbers(found["U_2_1"], q), Q @ T_1 @ about_z(0, q[1]), atol=1e-12)
