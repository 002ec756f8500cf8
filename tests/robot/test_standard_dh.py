"""The standard Denavit-Hartenberg convention becomes the modified one without moving anything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.errors import RobotError
from emdeg.robot.assembly import assemble
from emdeg.robot.toml_reader import read_toml

hundredths = st.integers(-150, 150).map(lambda n: n / 100)
rows = st.lists(
    st.tuples(st.sampled_from(["revolute", "prismatic"]), hundredths, hundredths, hundredths, hundredths),
    min_size=1,
    max_size=4,
)


def standard_file(table):
    text = 'schema = 1\nname = "arm"\nconvention = "standard"\n'
    for i, (kind, theta, d, a, alpha) in enumerate(table):
        text += f'[[link]]\nname = "link{i}"\n'
        text += f'joint = {{ name = "q{i}", type = "{kind}", theta = {theta}, d = {d}, a = {a}, alpha = {alpha} }}\n'
        text += f"inertia = {{ mass = {i + 1}, com = [0.{i + 1}, -0.2, 0.3] }}\n"
    return text


def pose(table, q):
    """The product of Rz(theta) Tz(d) Rx(alpha) Tx(a), frame by frame."""
    frames, T = [], np.eye(4)
    for (kind, theta, d, a, alpha), value in zip(table, q):
        theta, d = (theta + value, d) if kind == "revolute" else (theta, d + value)
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        T = T @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
        frames.append(T)
    return frames


@given(rows, st.lists(hundredths, min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_the_tool_is_the_last_frame_of_the_table(table, q):
    robot = assemble(read_toml(standard_file(table), "arm.toml"))
    q = q[: len(table)]
    np.testing.assert_allclose(emdeg.forward_kinematics(robot, q), pose(table, q)[-1], atol=1e-12)


@given(rows, st.lists(hundredths, min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_gravity_is_the_gradient_of_the_point_masses_height(table, q):
    """The masses stand where the file says, in the file's own link frames."""
    robot = assemble(read_toml(standard_file(table), "arm.toml"))
    q = np.array(q[: len(table)])

    def energy(x):
        centres = (T @ [0.1 * (i + 1), -0.2, 0.3, 1] for i, T in enumerate(pose(table, x)))
        return 9.81 * sum((i + 1) * centre[2] for i, centre in enumerate(centres))

    h = 1e-5
    slope = [(energy(q + h * e) - energy(q - h * e)) / (2 * h) for e in np.eye(len(q))]
    np.testing.assert_allclose(emdeg.gravity(robot, q), slope, atol=1e-6)


def test_quarter_turns_stay_exact():
    robot = emdeg.load("jpl_rrp")
    assert all(link.joint.placement.alpha.quarter_turns is not None for link in robot.links)
    assert [str(v) for v in robot.links[0].inertia.tensor] == ["69/250", "0", "0", "71/1000", "0", "51/200"]


def test_the_links_own_frame_goes_by_its_name():
    robot = emdeg.load("scara")
    tip = emdeg.load("scara", tip="link1")
    np.testing.assert_allclose(emdeg.forward_kinematics(tip, [0, 0, 0, 0])[:3, 3], [0.325, 0, 0.4], atol=1e-15)
    assert {frame.name for frame in robot.frames} >= {"link1", "link2", "link3", "link4", "base"}


def test_a_frame_may_hang_on_the_joint_instead():
    text = standard_file([("revolute", 0, 0.1, 0.5, 0)])
    frames = '[[frame]]\nname = "{}"\nlink = "{}"\n'
    robot = assemble(read_toml(text + frames.format("near", "q0") + frames.format("far", "link0"), "arm.toml"))
    x = {frame.name: float(frame.pose.xyz[0]) for frame in robot.frames}
    assert (x["near"], x["far"]) == (0, 0.5)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("a = 0.5", "a = 0.5, gamma = 0.1", "gamma belongs to the modified convention"),
        ("alpha = 0", 'alpha = "phi"', 'needs convention = "modified"'),
        ("inertia =", "frame = { xyz = [0, 0, 1] }\ninertia =", "itself says where the link's frame is"),
    ],
)
def test_what_the_standard_convention_cannot_say_is_refused(old, new, says):
    text = standard_file([("revolute", 0, 0.1, 0.5, 0)])
    with pytest.raises(RobotError) as caught:
        read_toml(text.replace(old, new, 1), "arm.toml")
    assert says in str(caught.value)
