"""Kane's equations under prescribed motions and outer forces, against mechanics written anew here."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.codegen.c import COptions, emit_c
from emdeg.dynamics.kane import Rate, Setup, joint_rates, load_setup, read_setup
from emdeg.errors import RobotError
from emdeg.programs.kane import INPUTS, kane_program, verify_kane
from emdeg.programs.values import evaluate
from emdeg.robot.model import Friction
from emdeg.runtime.kane import KaneModel
from tests.random_robots import random_robot

EXAMPLES = Path(__file__).parents[2] / "examples" / "speeds"
RATES = "".join(f"[[speed]]\nrate = '{name}'\n" for name in ("q1", "q2", "q6", "q3", "q4", "q5"))


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3, dtype=np.result_type(angle))
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def newton_euler_on_a_moving_base(robot, q, qd, qdd, base):
    """Luh, Walker and Paul at mass centres; `base`: its omega, omega-dot, acceleration and gravity in its own axes."""
    omega, omegad, a0, g = base
    n = robot.n
    R, p, w, wd, a = [], [], [], [], []
    for i, link in enumerate(robot.links):
        place, joint = link.joint.placement, link.joint
        theta, d = float(place.theta), float(place.d)
        theta, d = (theta + q[i], d) if joint.kind == "revolute" else (theta, d + q[i])
        outer = turn(2, float(place.gamma)) @ turn(0, float(place.alpha)) @ turn(1, float(place.beta))
        shift = turn(2, float(place.gamma)) @ np.array([0, 0, float(place.b)])
        shift = shift + turn(2, float(place.gamma)) @ turn(0, float(place.alpha)) @ np.array([float(place.a), 0, 0])
        R.append(outer @ turn(2, theta))
        p.append(shift + outer @ np.array([0, 0, d]))
        if link.parent < 0:
            before = omega, omegad, a0 - g
        else:
            before = w[link.parent], wd[link.parent], a[link.parent]
        carried = [R[i].T @ vector for vector in before]
        z = np.array([0, 0, 1.0])
        at = R[i].T @ (before[2] + np.cross(before[1], p[i]) + np.cross(before[0], np.cross(before[0], p[i])))
        if joint.kind == "revolute":
            w.append(carried[0] + qd[i] * z)
            wd.append(carried[1] + qdd[i] * z + np.cross(carried[0], qd[i] * z))
            a.append(at)
        else:
            w.append(carried[0])
            wd.append(carried[1])
            a.append(at + qdd[i] * z + 2 * np.cross(carried[0], qd[i] * z))
    f, m = np.zeros((n, 3)), np.zeros((n, 3))
    tau = np.zeros(n)
    for i in reversed(range(n)):
        inertia = robot.links[i].inertia
        mass = float(inertia.mass)
        c = np.array([float(v) for v in inertia.first_moment]) / mass
        xx, xy, xz, yy, yz, zz = (float(v) for v in inertia.tensor)
        central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - mass * (c @ c * np.eye(3) - np.outer(c, c))
        ac = a[i] + np.cross(wd[i], c) + np.cross(w[i], np.cross(w[i], c))
        f[i] += mass * ac
        m[i] += central @ wd[i] + np.cross(w[i], central @ w[i]) + np.cross(c, mass * ac)
        tau[i] = (m if robot.joints[i].kind == "revolute" else f)[i][2] + float(robot.joints[i].drive.inertia) * qdd[i]
        parent = robot.links[i].parent
        if parent >= 0:
            f[parent] += R[i] @ f[i]
            m[parent] += R[i] @ m[i] + np.cross(p[i], R[i] @ f[i])
    return tau


def vehicle(robot, p, pd, pdd):
    """omega, omega-dot, acceleration, gravity of a base with x, y, z, yaw, pitch, roll, in frame 0's axes."""

    def spin(t):
        _, theta, phi = (p + pd * t + pdd * t * t / 2)[3:]
        psi_, theta_, phi_ = (pd + pdd * t)[3:]
        return np.array(
            [
                phi_ - psi_ * np.sin(theta),
                theta_ * np.cos(phi) + psi_ * np.sin(phi) * np.cos(theta),
                -theta_ * np.sin(phi) + psi_ * np.cos(phi) * np.cos(theta),
            ]
        )

    step = 1e-30
    attitude = turn(2, p[3]) @ turn(1, p[4]) @ turn(0, p[5])
    g = attitude.T @ np.array([float(v) for v in robot.gravity])
    mount = turn(2, float(robot.base.rpy[2])) @ turn(1, float(robot.base.rpy[1])) @ turn(0, float(robot.base.rpy[0]))
    at = np.array([float(v) for v in robot.base.xyz])
    omega, omegad = spin(0.0), np.imag(spin(1j * step)) / step
    a = attitude.T @ pdd[:3] + np.cross(omegad, at) + np.cross(omega, np.cross(omega, at))
    return [mount.T @ v for v in (omega, omegad, a, g)]


AXES = ("x", "y", "z", "yaw", "pitch", "roll")


@pytest.mark.parametrize("name", ["stanford_arm", "planar3r", "random", "tree"])
def test_a_moving_base_equals_newton_euler_on_a_moving_base(name):
    named = {"random": lambda: random_robot(3, 5), "tree": lambda: random_robot(8, 5, tree=True)}
    robot = named.get(name, lambda: emdeg.load(name))()
    setup = replace(joint_rates(robot), base=AXES)
    model = KaneModel(robot, setup)
    rng = np.random.default_rng(7)
    for _ in range(5):
        q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
        p, pd, pdd = rng.uniform(-1, 1, (3, 6))
        expected = newton_euler_on_a_moving_base(robot, q, qd, qdd, vehicle(robot, p, pd, pdd))
        tau = model.torques(q, qd, qdd, p=p, pd=pd, pdd=pdd)
        np.testing.assert_allclose(tau, expected, atol=1e-11 * max(1, np.abs(expected).max()))
        _, back = model.accelerations(q, qd, tau, p=p, pd=pd, pdd=pdd)
        np.testing.assert_allclose(back, qdd, atol=1e-7)


def test_the_papers_speeds_on_a_vehicle_equal_newton_euler_on_a_moving_base():
    robot = emdeg.load("stanford_arm")
    setup = replace(load_setup(EXAMPLES / "arm_on_vehicle.toml", robot), loads=(), joint_springs=())
    assert setup.base == ("x", "y", "yaw", "roll")
    model = KaneModel(robot, setup)
    rng = np.random.default_rng(8)
    for _ in range(5):
        q, qd, qdd = rng.uniform(0.3, 1, (3, 6))
        p, pd, pdd = rng.uniform(-1, 1, (3, 4))
        full = [np.array([v[0], v[1], 0, v[2], 0, v[3]]) for v in (p, pd, pdd)]
        expected = newton_euler_on_a_moving_base(robot, q, qd, qdd, vehicle(robot, *full))
        u, ud = model.speeds(q, qd, qdd, p=p, pd=pd, pdd=pdd)
        given = {"p": p, "pd": pd, "pdd": pdd}
        np.testing.assert_allclose(model.rates(q, u, **given), qd, atol=1e-12)
        np.testing.assert_allclose(model.torques(q, u, ud, **given), expected, atol=1e-11)
        np.testing.assert_allclose(model.accelerations(q, u, expected, **given)[1], ud, atol=1e-8)


def test_a_prescribed_joint_moves_as_told_and_its_holding_effort_comes_out():
    robot = emdeg.load("stanford_arm")
    setup = joint_rates(robot, prescribed=(1, 3))
    rng = np.random.default_rng(9)
    q, qd, qdd = rng.uniform(-1, 1, (3, 6))
    free, told = [0, 2, 4, 5], [1, 3]
    inputs = {"q": q[free], "u": qd[free], "ud": qdd[free], "p": q[told], "pd": qd[told], "pdd": qdd[told]}
    found = evaluate(kane_program(robot, setup, "torques"), inputs)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(found["tau"], tau[free], atol=1e-12)
    np.testing.assert_allclose(found["held"], tau[told], atol=1e-12)
    back = evaluate(kane_program(robot, setup, "accelerations"), inputs | {"tau": tau[free]})
    np.testing.assert_allclose(back["ud"], qdd[free], atol=1e-9)


def test_a_force_at_the_tool_asks_for_minus_the_transposed_jacobian():
    robot = emdeg.load("stanford_arm")
    text = RATES + "[[force]]\nbody = 'tool'\n[[torque]]\nbody = 'F'\nframe = 'base'\nvalue = [0.3, -0.2, 0.5]\n"
    model = KaneModel(robot, read_setup(text, robot))
    rng = np.random.default_rng(10)
    q, qd, qdd = rng.uniform(-1, 1, (3, 6))
    f = rng.uniform(-5, 5, 3)
    J = emdeg.jacobian(robot, q)
    expected = emdeg.inverse_dynamics(robot, q, qd, qdd) - J.T @ np.concatenate([f, [0.3, -0.2, 0.5]])
    np.testing.assert_allclose(model.torques(q, qd, qdd, loads=f), expected, atol=1e-12)


def test_springs_and_dampers_are_gradients_of_their_potential_and_dissipation():
    robot = emdeg.load("planar3r")
    text = "".join(f"[[speed]]\nrate = 'q{k}'\n" for k in (1, 2, 3))
    text += "[[joint_spring]]\njoint = 'q2'\nstiffness = 3\nrest = 0.5\ndamping = 0.1\n"
    text += "[[point_spring]]\nbody = 'tool'\nto = 'world'\nto_point = [1, 2, 0.5]\nstiffness = 7\nlength = 0.3\n"
    model = KaneModel(robot, read_setup(text, robot))
    rng = np.random.default_rng(11)
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))

    def potential(q):
        d = emdeg.forward_kinematics(robot, q)[:3, 3] - np.array([1, 2, 0.5])
        return 3 * (q[1] - 0.5) ** 2 / 2 + 7 * (np.linalg.norm(d) - 0.3) ** 2 / 2

    h = 1e-6
    gradient = np.array([(potential(q + h * e) - potential(q - h * e)) / (2 * h) for e in np.eye(3)])
    expected = emdeg.inverse_dynamics(robot, q, qd, qdd) + gradient + np.array([0, 0.1 * qd[1], 0])
    np.testing.assert_allclose(model.torques(q, qd, qdd), expected, atol=1e-7)


@pytest.mark.parametrize("name", ["planar2r", "fivebar"])
def test_a_prescribed_joint_is_held_against_its_dry_friction_too(name):
    """Held with and without friction differ by the law's own value, q / sqrt(q^2 + smoothing^2) for the sign."""
    robot = emdeg.load(name)
    law = Friction(viscous=Exact.of(Fraction(1, 10)), coulomb=Exact.of(2))
    one = next(k for k, link in enumerate(robot.links) if link.joint.name == "q1")
    link = robot.links[one]
    rubbing = replace(link, joint=replace(link.joint, drive=replace(link.joint.drive, friction=law)))
    robot = replace(robot, links=(*robot.links[:one], rubbing, *robot.links[one + 1 :]))
    text = "[[prescribed]]\njoint = 'q1'\n[[speed]]\nrate = 'q2'\n"
    inputs = {"q": [1.05], "u": [-0.3], "ud": [1.7], "p": [2.1], "pd": [0.4], "pdd": [-0.8]}
    held = []
    for drives in ("", "[drives]\nfriction = true\nsmoothing = 0.3\n"):
        program = kane_program(robot, read_setup(text + drives, robot), "torques")
        held.append(evaluate(program, {key: np.array(value) for key, value in inputs.items()})["held"][0])
    assert held[1] - held[0] == pytest.approx(0.1 * 0.4 + 2 * 0.4 / 0.5, rel=1e-12)
    with pytest.raises(RobotError, match=r"q1.* have Coulomb friction, which jumps at rest"):
        read_setup(text + "[drives]\nfriction = true\n", robot)


def test_drive_friction_opposes_the_rates():
    robot = emdeg.load("planar2r")
    laws = (Friction(viscous=Exact.of(0.4)), Friction(viscous=Exact.of(0.1), coulomb=Exact.of(2)))
    links = tuple(
        replace(link, joint=replace(link.joint, drive=replace(link.joint.drive, friction=law)))
        for link, law in zip(robot.links, laws)
    )
    robot = replace(robot, links=links)
    setup = Setup((Rate(0), Rate(1)), friction=True, smoothing=Exact.of(Exact.of(1) / 1000))
    q, qd, qdd = np.random.default_rng(12).uniform(-1, 1, (3, 2))
    smooth = 2 * qd[1] / np.hypot(qd[1], 1e-3)
    expected = emdeg.inverse_dynamics(robot, q, qd, qdd) + np.array([0.4 * qd[0], 0.1 * qd[1] + smooth])
    np.testing.assert_allclose(KaneModel(robot, setup).torques(q, qd, qdd), expected, atol=1e-12)


def test_friction_has_stribecks_peak_and_fades_at_rest_where_the_file_says_so():
    """The law as the page on robot files prints it; a rest speed needs no smoothing."""
    robot = emdeg.load("planar2r")
    peak = {"coulomb": Exact.of(2), "stribeck": Exact.of(3), "stribeck_velocity": Exact.of(0.2)}
    law = Friction(viscous=Exact.of(0.1), rest_speed=Exact.of(0.05), **peak)
    links = [replace(k, joint=replace(k.joint, drive=replace(k.joint.drive, friction=law))) for k in robot.links]
    robot = replace(robot, links=tuple(links))
    setup = read_setup("[[speed]]\nrate='q1'\n[[speed]]\nrate='q2'\n[drives]\nfriction = true\n", robot)
    q, qd, qdd = np.random.default_rng(14).uniform(-0.3, 0.3, (3, 2))
    rubbed = 0.1 * qd + (2 + np.exp(-((qd / 0.2) ** 2))) * np.tanh(qd / 0.05)
    model = KaneModel(robot, setup)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd) + rubbed
    np.testing.assert_allclose(model.torques(q, qd, qdd), tau, atol=1e-12)
    np.testing.assert_allclose(model.accelerations(q, qd, tau)[1], qdd, atol=1e-10)
    for function in ("torques", "accelerations"):
        verify_kane(kane_program(robot, setup, function), robot, setup, function)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
@pytest.mark.parametrize("function", INPUTS)
def test_emitted_c_computes_what_the_program_computes(function, tmp_path):
    robot = emdeg.load("stanford_arm")
    program = kane_program(robot, load_setup(EXAMPLES / "arm_on_vehicle.toml", robot), function)
    source, library = tmp_path / "kane.c", tmp_path / f"{function}.so"
    source.write_text(emit_c(program, COptions(robot=robot.name)))
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
    subprocess.run(["gcc", *strict, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    rng = np.random.default_rng(13)
    inputs = {group.name: rng.uniform(0.3, 1, group.size) for group in program.inputs}
    outputs = {group.name: np.zeros(group.shape) for group in program.outputs}
    arrays = [*inputs.values(), *outputs.values()]
    entry = getattr(ctypes.CDLL(str(library)), program.name)
    entry.restype = None
    entry(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays))
    for name, expected in evaluate(program, inputs).items():
        np.testing.assert_allclose(outputs[name], expected, rtol=1e-11, atol=1e-11)
