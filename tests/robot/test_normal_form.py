"""The normal form keeps every link where it was, and is as simple as the mechanism allows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.algebra import Angle, Exact
from emdeg.errors import RobotError
from emdeg.robot import BASE, Body, Draft, Inertia, Payload, Placement, Pose, Robot, assemble
from emdeg.robot.loading import load
from emdeg.robot.normal_form import normal_form
from emdeg.robot.toml_reader import read_toml
from emdeg.robot.toml_writer import to_toml
from emdeg.robot.transform import ExactTransform, of_placement, of_pose, to_placement, to_pose
from emdeg.robot.urdf_reader import read_urdf
from tests.plain_robots import PlainRobot, draft_of, for_emdeg, link_poses, names, plain_robots, rotation

FILES = Path(__file__).parents[1] / "data" / "robots"
settled = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOTHING = Angle()

angles = st.one_of(
    st.integers(-24, 24).map(lambda k: Angle(Fraction(k, 12))),
    st.fractions(-4, 4, max_denominator=10**6).map(lambda r: Angle(radians=r)),
    st.sampled_from(["1e-7", "1.5708", "3.14", "-0.04", "0.06", "1e-12"]).map(lambda t: Angle(radians=Fraction(t))),
)
lengths = st.one_of(st.just(Fraction(0)), st.fractions(-2, 2, max_denominator=10**4)).map(Exact.of)


@st.composite
def poses(draw: st.DrawFn) -> Pose:
    return Pose((draw(lengths), draw(lengths), draw(lengths)), (draw(angles), draw(angles), draw(angles)))


def matrix(pose: Pose) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = rotation(tuple(float(a) for a in pose.rpy))
    T[:3, 3] = [float(v) for v in pose.xyz]
    return T


def farthest(left: ExactTransform, right: ExactTransform) -> float:
    turned = max(abs(a - b) for r, s in zip(left.R, right.R) for a, b in zip(r, s))
    moved = max(abs((a - b).number) for a, b in zip(left.p, right.p))
    return float(max(turned, moved))


def frame_poses(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Every named frame in the base frame, through the normal form."""
    links = emdeg.link_transforms(robot, q)
    return {
        frame.name: (np.eye(4) if frame.link == BASE else links[frame.link]) @ matrix(frame.pose)
        for frame in robot.frames
    }


@settled
@given(poses())
def test_a_pose_survives_its_roll_pitch_and_yaw(pose: Pose) -> None:
    there = of_pose(pose)
    assert farthest(of_pose(to_pose(there)), there) < 1e-35


@settled
@given(poses())
def test_any_pose_is_a_placement(pose: Pose) -> None:
    there = of_pose(pose)
    assert farthest(of_placement(to_placement(there)), there) < 1e-35


def test_an_angle_too_small_to_tell_from_rounding_is_none() -> None:
    row = Placement(alpha=Angle(radians=Fraction(1, 10**25)), a=Exact.of(1))
    assert to_placement(of_placement(row)) == Placement(a=Exact.of(1))


@settled
@given(angles, lengths, angles, lengths)
def test_a_row_of_modified_parameters_comes_back_as_itself(alpha: Angle, a: Exact, theta: Angle, d: Exact) -> None:
    row = Placement(alpha=alpha, a=a, theta=theta, d=d)
    found = to_placement(of_placement(row))
    assert farthest(of_placement(found), of_placement(row)) < 1e-35
    assert abs(float(found.b)) < 1e-30


@settled
@given(plain_robots(), st.integers(0, 10**6))
def test_every_link_stays_where_the_file_has_it(plain: PlainRobot, seed: int) -> None:
    robot = for_emdeg(plain)
    assert [joint.name for joint in robot.joints] == names(plain)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.n)
    found = frame_poses(robot, q)
    for i, expected in enumerate(link_poses(plain, q)):
        assert np.abs(found[f"b{i}"] - expected).max() < 1e-12


@settled
@given(plain_robots())
def test_a_chain_needs_neither_gamma_nor_b(plain: PlainRobot) -> None:
    robot = for_emdeg(plain)
    if robot.is_serial:
        for link in robot.links:
            place = link.joint.placement
            assert place.gamma == NOTHING
            assert not place.b
        assert robot.links[0].joint.placement == Placement()


@settled
@given(plain_robots())
def test_mass_is_kept(plain: PlainRobot) -> None:
    robot = for_emdeg(plain)
    carried = sum((Exact.of(link.mass) for i, link in enumerate(plain) if _moves(plain, i)), start=Exact())
    assert sum((link.inertia.mass for link in robot.links), start=Exact()) == carried


def _moves(plain: PlainRobot, i: int) -> bool:
    while i >= 0:
        if plain[i].kind != "fixed":
            return True
        i = plain[i].parent
    return False


@settled
@given(plain_robots(most_joints=4), st.integers(0, 10**6))
def test_a_locked_joint_is_a_joint_that_stands_still(plain: PlainRobot, seed: int) -> None:
    joints = names(plain)
    if len(joints) < 2:
        return
    rng = np.random.default_rng(seed)
    k = int(rng.integers(len(joints)))
    keep = [i for i in range(len(joints)) if i != k]
    q, qd, qdd = rng.uniform(-1, 1, (3, len(joints))).round(3)
    qd[k] = qdd[k] = 0
    free = for_emdeg(plain)
    locked = assemble(draft_of(plain), locks={joints[k]: Exact.of(float(q[k]))})
    expected = emdeg.inverse_dynamics(free, q, qd, qdd)[keep]
    found = emdeg.inverse_dynamics(locked, q[keep], qd[keep], qdd[keep])
    assert np.abs(found - expected).max() < 1e-10 * (1 + np.abs(expected).max())


@pytest.mark.parametrize("file", sorted(FILES.glob("*.urdf")), ids=lambda file: file.stem)
def test_snapping_moves_a_link_by_no_more_than_the_angles_it_changed(file: Path) -> None:
    text = file.read_text()
    exact, stated = (assemble(read_urdf(text, file.name, snap)) for snap in (1e-5, 0))
    q = np.linspace(-1, 1, exact.n)
    left, right = frame_poses(exact, q), frame_poses(stated, q)
    assert left.keys() == right.keys()
    assert max(np.abs(left[name] - right[name]).max() for name in left) < 1e-4


@pytest.mark.parametrize("snap", [0, 1e-5])
@pytest.mark.parametrize("file", sorted(FILES.iterdir()), ids=lambda file: file.name)
def test_written_as_a_robot_file_and_read_again_it_is_the_same_robot(file: Path, snap: float) -> None:
    robot = load(file, snap=snap)
    again = assemble(read_toml(to_toml(robot), "again.toml"))
    assert again.links == robot.links
    assert (again.base, again.tool, again.gravity) == (robot.base, robot.tool, robot.gravity)
    assert set(again.frames) == set(robot.frames)


def test_right_angles_keep_short_decimals() -> None:
    """An arm drawn with right angles and decimals has those decimals as its parameters, nothing else."""
    robot = assemble(read_urdf((FILES / "two_arms.urdf").read_text(), "two_arms.urdf", 1e-5))
    lengths_found = [v for link in robot.links[:3] for v in (link.joint.placement.a, link.joint.placement.d)]
    assert all(v.number.denominator <= 10 for v in lengths_found)
    assert robot.links[2].joint.placement.alpha == NOTHING
    assert robot.links[2].joint.placement.a.number in (Fraction(3, 10), Fraction(-3, 10))
    assert robot.links[0].inertia.tensor[5] == Exact.of(0.3)


def test_parallel_axes_have_no_twist_and_almost_parallel_ones_a_beta() -> None:
    robot = assemble(read_urdf((FILES / "gantry.urdf").read_text(), "gantry.urdf", 0))
    spin, tilt = robot.links[3].joint.placement, robot.links[4].joint.placement
    assert spin.alpha == NOTHING
    assert tilt.beta != NOTHING
    assert abs(float(tilt.a)) < 0.2  # the common normal, by contrast, is tens of metres away
    assert abs(float(tilt.d)) < 0.2


def test_a_robot_of_rows_keeps_its_rows() -> None:
    rows = [Placement(alpha=Angle(Fraction(k, 2)), a=Exact.symbol("L"), d=Exact.of(k)) for k in range(3)]
    bodies = [Body(f"b{k}", f"b{k - 1}" if k else None, f"j{k}", "revolute", row=row) for k, row in enumerate(rows)]
    assert [link.joint.placement for link in normal_form(bodies).links] == rows


def test_symbolic_lengths_pass_through_the_choice_of_frames() -> None:
    """Two upright axes at a symbolic distance along x: the distance is the parameter a."""
    x = (Fraction(1), Fraction(0), Fraction(0))
    L = Exact.symbol("L")
    pose = ExactTransform(p=(L, Exact(), Exact()))
    bodies = [
        Body("b0", None, "j0", "revolute", axis=x, pose=ExactTransform(p=(Exact(), Exact(), Exact.of(1)))),
        Body("b1", "b0", "j1", "revolute", pose=pose),
    ]
    place = normal_form(bodies).links[1].joint.placement
    assert place.alpha.quarter_turns in (1, 3)
    assert not place.a
    assert normal_form(bodies).links[0].joint.placement == Placement()


def test_a_payload_on_a_fixed_link_is_carried_by_the_link_that_carries_it() -> None:
    text = (FILES / "odd_arm.urdf").read_text()
    draft = read_urdf(text, "odd_arm.urdf", 0)
    bare = assemble(draft)
    payload = Payload("flange", Exact.of(2))
    loaded = assemble(draft, payloads=[payload])
    q = np.linspace(-1, 1, bare.n)
    added = emdeg.potential_energy(loaded, q) - emdeg.potential_energy(bare, q)
    assert added == pytest.approx(2 * 9.81 * frame_poses(bare, q)["flange"][2, 3])


def test_a_massive_fixed_base_does_not_move() -> None:
    heavy = Body("foot", None, "mount", "fixed", Inertia(mass=Exact.of(100)))
    arm = Body("arm", "foot", "j", "prismatic", Inertia(mass=Exact.of(3)))
    robot = assemble(Draft("r", (heavy, arm)))
    assert emdeg.mass_matrix(robot, [0.0])[0, 0] == 3


BAD = {
    "two links": ([Body("a", None, "j", "revolute"), Body("a", None, "k", "revolute")], "two links are called 'a'"),
    "two joints": ([Body("a", None, "j", "revolute"), Body("b", None, "j", "revolute")], "two joints are called 'j'"),
    "unknown parent": ([Body("a", "x", "j", "revolute")], "its parent 'x' does not exist"),
    "loop": ([Body("a", "b", "j", "revolute"), Body("b", "a", "k", "revolute")], "the links form a loop"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_trees_are_refused_in_words(name: str) -> None:
    bodies, words = BAD[name]
    with pytest.raises(RobotError, match=words):
        normal_form(bodies)


def test_locks_are_refused_in_words() -> None:
    arm = Body("arm", None, "slide", "prismatic", Inertia(mass=Exact.of(3)))
    draft = Draft("r", (arm, replace(arm, name="b", parent="arm", joint="weld", kind="fixed")))
    with pytest.raises(RobotError, match="no joint 'elbow' to lock; joints: slide, weld"):
        assemble(draft, locks={"elbow": Exact()})
    with pytest.raises(RobotError, match="'weld' is fixed already"):
        assemble(draft, locks={"weld": Exact()})
    with pytest.raises(RobotError, match="slide: a prismatic joint is locked at a length"):
        assemble(draft, locks={"slide": Angle(Fraction(1, 2))})
