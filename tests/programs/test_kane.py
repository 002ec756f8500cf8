"""Kane's equations with generalized speeds of one's choice: the paper's arm, other robots, moving bases, bad files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact, PrimeColumns
from emdeg.dynamics.kane import AngularVelocity, PointVelocity, Rate, Setup, joint_rates, load_setup, read_setup
from emdeg.equations.speeds import speed_inverse
from emdeg.errors import Refuted, SingularSpeeds
from emdeg.programs.ir import Kind, count
from emdeg.programs.kane import INPUTS, METHODS, kane_program, verify_kane
from emdeg.programs.residues import fingerprints
from emdeg.programs.values import evaluate
from emdeg.robot.model import Frame
from emdeg.runtime.kane import KaneModel, NearlySingularSpeeds
from tests import kane_levinson
from tests.random_robots import random_robot

EXAMPLES = Path(__file__).parents[2] / "examples" / "speeds"
PAPER_ORDER = [0, 1, 3, 4, 5, 2]
"""Where q1..q6 of the paper stand along the chain."""


@pytest.fixture(scope="module")
def arm():
    return emdeg.load("stanford_arm")


@pytest.fixture(scope="module")
def papers(arm):
    return load_setup(EXAMPLES / "stanford_arm.toml", arm)


@pytest.fixture(scope="module")
def model(arm, papers):
    return KaneModel(arm, papers)


def states(n, count_, seed=0):
    return np.random.default_rng(seed).uniform(-1.3, 1.3, (3, count_, n))


# The Stanford Arm with the paper's speeds.


def test_the_papers_speeds_are_equations_5_to_7(arm, model):
    (q,), (qd,), _ = states(6, 1)
    s2, s3, c2, c3 = np.sin(q[1]), np.sin(q[3]), np.cos(q[1]), np.cos(q[3])
    u, _ = model.speeds(q, qd)
    expected = [qd[0] * s2 * s3 + qd[1] * c3, qd[0] * c2 + qd[3], -qd[0] * s2 * c3 + qd[1] * s3, qd[4], qd[5], qd[2]]
    np.testing.assert_allclose(u, expected, atol=1e-14)
    np.testing.assert_allclose(model.rates(q, u), qd, atol=1e-12)


def test_inverted_kinematic_equations_are_equations_8_to_11(arm, papers):
    W = speed_inverse(arm, papers).matrix
    assert [[str(entry) for entry in row] for row in W] == [
        ["(s3) / (s2)", "0", "(-c3) / (s2)", "0", "0", "0"],
        ["c3", "0", "s3", "0", "0", "0"],
        ["0", "0", "0", "0", "0", "1"],
        ["(-c2*s3) / (s2)", "1", "(c2*c3) / (s2)", "0", "0", "0"],
        ["0", "0", "0", "1", "0", "0"],
        ["0", "0", "0", "0", "1", "0"],
    ]


def test_X_and_right_hand_sides_equal_the_papers_corrected_appendices(model):
    q, u, tau = states(6, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearlySingularSpeeds)
        X, rhs = model.equations(q, u, 10 * tau)
    for i in range(40):
        paper = kane_levinson.values(kane_levinson.state(q[i], u[i], 10 * tau[i]))
        theirs = np.array([[paper[f"X{min(r, s)}{max(r, s)}"] for s in range(1, 7)] for r in range(1, 7)])
        right = np.array([paper[f"R{r}"] for r in range(1, 7)])
        np.testing.assert_allclose(X[i], -theirs, atol=1e-12 * max(1, np.abs(theirs).max()))
        np.testing.assert_allclose(rhs[i], -right, atol=1e-12 * max(1, np.abs(right).max()))


def test_torques_equal_the_papers_equations_119_to_126(model):
    """The paper's X, Z and ud give back the generalized force that our torques are."""
    q, u, ud = states(6, 20, seed=1)
    tau = model.torques(q, u, ud)
    for i in range(20):
        paper = kane_levinson.values(kane_levinson.state(q[i], u[i], tau[i]))
        X = np.array([[paper[f"X{min(r, s)}{max(r, s)}"] for s in range(1, 7)] for r in range(1, 7)])
        right = np.array([paper[f"R{r}"] for r in range(1, 7)])
        np.testing.assert_allclose(X @ ud[i], right, atol=1e-11 * max(1, np.abs(X).max()))


def test_fewer_operations_than_the_papers_646_multiplications_and_394_additions(model):
    found = count(model.program("torques"))
    assert found.mul + found.div < 646 / 4
    assert found.add < 394 / 4


def test_the_papers_speeds_and_joint_rates_give_the_same_accelerations(arm, model):
    q, qd, tau = states(6, 30, seed=2)
    q[:, 1] = np.where(np.abs(q[:, 1]) < 0.1, 0.5, q[:, 1])
    u, held = model.speeds(q, qd)
    rates, ud = model.accelerations(q, u, tau)
    plain = KaneModel(arm, joint_rates(arm))
    _, qdd = plain.accelerations(q, qd, tau)
    np.testing.assert_allclose(rates, qd, atol=1e-11)
    np.testing.assert_allclose(qdd, emdeg.forward_dynamics(arm, q, qd, tau), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ud, model.speeds(q, qd, qdd)[1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(held, model.speeds(q, qd, 0 * qd)[1])


def test_the_singular_configuration_is_named(model):
    assert [str(one) for one in model.singular] == ["q2 = 0 or 180 deg"]
    q = np.array([0.3, 0.0, 0.1, 0.2, 0.4, 0.5])
    for at in (0.0, np.pi, -np.pi):
        q[1] = at
        with pytest.raises(SingularSpeeds, match="q2 = 0 or 180 deg"):
            model.accelerations(q, np.ones(6), np.ones(6))
    q[1] = 0.003
    with pytest.warns(NearlySingularSpeeds, match="close to q2 = 0 or 180 deg"):
        model.rates(q, np.ones(6))


def test_arrays_of_another_length_are_named(model):
    with pytest.raises(ValueError, match="q has the shape"):
        model.rates(np.ones(5), np.ones(6))
    with pytest.raises(ValueError, match="u has shape"):
        model.rates(np.ones(6), np.ones(5))


def test_programs_hand_out_the_determinant(model):
    q, u, tau = states(6, 5)
    found = evaluate(model.program("accelerations"), {"q": q, "u": u, "tau": tau})
    A = np.stack([model.speeds(q, np.broadcast_to(unit, q.shape))[0] for unit in np.eye(6)], axis=-1)
    np.testing.assert_allclose(found["det"][:, 0], np.linalg.det(A), atol=1e-13)
    np.testing.assert_allclose(np.abs(found["det"][:, 0]), np.abs(np.sin(q[:, 1])), atol=1e-15)


# Any robot, any speeds: exact identities.


def body_speeds(robot, seed):
    """Random speeds: a body's angular velocity or a point's velocity, rates for the rest."""
    rng = np.random.default_rng(seed)
    speeds = [Rate(k) for k in range(robot.n)]
    link = int(rng.integers(robot.n))
    body, frame = robot.frames[link], robot.frames[int(rng.integers(robot.n))]
    assert body.link == link
    direction = tuple(Exact.of(int(v)) for v in rng.integers(1, 4, 3))
    path = {link}
    while robot.links[min(path)].parent >= 0:
        path.add(robot.links[min(path)].parent)
    turning = [k for k in path if robot.joints[k].kind == "revolute"]
    if turning and rng.random() < 0.5:
        speeds[turning[-1]] = AngularVelocity(body, frame, direction)
    else:
        point = tuple(Exact.of(int(v)) for v in rng.integers(1, 4, 3))
        speeds[max(path)] = PointVelocity(body, point, Frame("world", -2), direction)
    return Setup(tuple(speeds))


@pytest.mark.parametrize("function", INPUTS)
@pytest.mark.parametrize("seed", range(4))
def test_every_method_is_verified_for_random_robots_and_speeds(function, seed):
    robot = random_robot(seed + 100, 4, tree=seed % 2 == 1)
    setup = body_speeds(robot, seed)
    for method in METHODS[function]:
        program = kane_program(robot, setup, function, method=method)
        assert verify_kane(program, robot, setup, function).false_pass_probability < 1e-15


EVERYTHING = """
[[prescribed]]
base = ["x", "yaw", "roll"]
[[prescribed]]
joint = "q6"
[[speed]]
angular_velocity = "D"
components = ["y", "z", "x"]
[[speed]]
form = { q4 = "1", q5 = "cos(q4)*q6", q2 = "sin(q1 + q2)" }
constant = "0.3*sin(q1)"
[[speed]]
velocity = "F"
point = [0.1, 0, 0.2]
frame = "world"
components = ["z"]
[[force]]
body = "F"
point = [0, 0, 0.2]
[[torque]]
body = "E"
frame = "D"
value = [0.1, 0.2, -0.3]
[[joint_spring]]
joint = "q2"
stiffness = 3
rest = 0.5
damping = 0.1
[[point_spring]]
body = "C"
point = [0, 0, 0.1]
to = "world"
to_point = [1, 0, 1]
stiffness = 20
length = 0.4
damping = 2
[[point_spring]]
body = "F"
to = "A"
stiffness = 20
damping = 2
"""


@pytest.mark.parametrize("function", INPUTS)
@pytest.mark.long
def test_everything_at_once_is_verified(arm, function):
    setup = read_setup(EVERYTHING, arm)
    program = kane_program(arm, setup, function)
    verify_kane(program, arm, setup, function)
    other = read_setup(EVERYTHING.replace("stiffness = 3", "stiffness = 3.5").replace("0.3*sin", "0.4*sin"), arm)
    with pytest.raises(Refuted):
        verify_kane(program, arm, other, function)


def test_symbols_become_parameters():
    robot = emdeg.load("puma560_symbolic")
    text = "".join(f"[[speed]]\nrate = 'q{k}'\n" for k in range(2, 7))
    setup = read_setup("[[speed]]\nangular_velocity = 'link3'\ncomponents = ['x']\n" + text, robot)
    program = kane_program(robot, setup, "torques", factored=False)
    verify_kane(program, robot, setup, "torques")
    assert [str(s) for s in speed_inverse(robot, setup).singular] == ["q2 + q3 = 0 or 180 deg"]
    with pytest.raises(TypeError, match="give parameters, the numbers of"):
        KaneModel(robot, setup).rates(np.ones(6), np.ones(6))


@pytest.mark.parametrize("function", ["torques", "accelerations", "equations"])
def test_no_program_of_the_stanford_arm_makes_a_speed_again_from_the_rates(function):
    """The recursions' angular velocity of D has the speeds as components: inputs, which cost nothing."""
    robot = emdeg.load("stanford_arm")
    program = kane_program(robot, load_setup(EXAMPLES / "stanford_arm.toml", robot), function)
    points = PrimeColumns(1)
    prints = fingerprints(program, points)
    seen: set[bytes] = set()
    for op, residues in zip(program.ops, prints):
        both = {residues.tobytes(), ((points.prime - residues) % points.prime).tobytes()}
        assert op.kind is Kind.NUMBER or not both & seen, op
        seen |= both
