"""Mechanisms with closed loops in motion: the paper's circle, drift over ten seconds, free bodies with multipliers."""

from __future__ import annotations

import json
import re
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import emdeg
from emdeg.errors import ClosureError, ScenarioError, SimulationError
from emdeg.loops.choose import with_coordinates
from emdeg.robot.assembly import assemble
from emdeg.robot.toml_reader import read_toml
from emdeg.robot.toml_writer import to_toml
from emdeg.simulation import (
    DriftWarning,
    computed_torque,
    cycloidal,
    load_scenario,
    load_trajectory,
    need_within_limits,
    pd,
    perform,
    simulate,
    summary,
)
from emdeg.simulation.pictures.figures import outcome_figure
from emdeg.simulation.plant.loops import all_joints
from emdeg.simulation.scenarios.scenario import read_scenario
from tests.loops.kkt import Bodies, constrained_accelerations
from tests.loops.linkages import CUSPIDAL, SLIDER_CRANK, built
from tests.loops.test_loops import PLACES, robot_of

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delta_reference.json").read_text())
MOVES = {
    "delta": ([0.05, -0.08, -0.45], [-0.1, 0.1, -0.4]),
    "delta_lumped": ([0.05, -0.08, -0.45], [-0.1, 0.1, -0.4]),
    "fivebar": ([2.1, 1.05], [1.8, 1.2]),
    "fourbar": ([1.0], [6.0]),
    "palletiser": ([0.0, 1.57, 3.14], [0.6, 1.3, 3.0]),
    "rrr3": ([0.0, 0.0, 0.0], [0.05, -0.04, 0.1]),
    "stewart": ([0, 0, 0.6, 0, 0, 0], [0.05, -0.05, 0.65, 0.1, -0.1, 0.1]),
}


def test_torques_along_the_papers_circle_equal_the_checked_values():
    way, _ = load_trajectory("delta_circle", robot_of("delta"))
    tau = emdeg.simulation.torques(robot_of("delta"), way, np.array(REFERENCE["times"])).tau
    np.testing.assert_allclose(tau, REFERENCE["tau_z-0.45_g-z"], atol=1e-9)


def test_ten_seconds_of_swinging_keep_loops_and_energy():
    outcome = perform(load_scenario("delta_swing", robot_of("delta")))
    motion = outcome.motion
    assert motion is not None
    assert motion.t[-1] == 10.0
    assert not outcome.warnings
    assert motion.drift["closure"] < 1e-10
    assert motion.drift["energy_relative"] < 1e-8
    joints = emdeg.loops.joint_positions(motion.robot, motion.q)
    assert emdeg.loops.closure_error(motion.robot, joints) < 1e-10
    # The forearms' lengths, from the links' frames and the file's numbers.
    T = emdeg.link_transforms(motion.robot, motion.q)
    tip = T[:, 0, :3, :3] @ [0.2, 0, 0] + T[:, 0, :3, 3]
    held = T[:, 5, :3, 3] + [0, -0.2, 0]
    np.testing.assert_allclose(np.linalg.norm(held - tip, axis=-1), 0.52, atol=1e-10)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "stewart" else []) for name in MOVES]
)
@pytest.mark.long
def test_computed_torque_leads_every_mechanism_along_a_move(name):
    robot = robot_of(name)
    way = cycloidal(*MOVES[name], duration=1.0)
    motion = simulate(robot, computed_torque(robot, kp=400, kd=40, target=way), way(0.0)[0], duration=1.0)
    np.testing.assert_allclose(motion.q, way(motion.t)[0], atol=1e-8)
    np.testing.assert_allclose(motion.tau, emdeg.inverse_dynamics(robot, *way(motion.t)), rtol=1e-5, atol=1e-4)
    assert motion.drift["closure"] < 1e-10
    assert motion.drift["energy_relative"] < 1e-8


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "stewart" else [])
        for name in MOVES
        if name != "delta_lumped"
    ],
)
@pytest.mark.parametrize("seconds", [2.0, pytest.param(10.0, marks=pytest.mark.slow)])
@pytest.mark.long
def test_every_mechanism_on_springs(name, seconds):
    robot = robot_of(name)
    start, target = MOVES[name]
    stiff = np.diag(emdeg.mass_matrix(robot, target)) * 25.0
    motion = simulate(robot, pd(robot, stiff, 0, np.array(start)), target, duration=seconds)
    assert motion.drift["closure"] < 1e-10
    assert motion.drift["energy_relative"] < 1e-7


@pytest.mark.parametrize("name", ["delta", "fivebar"])
def test_motion_equals_that_of_free_bodies_with_multipliers(name):
    """Both from the same state under constant efforts: ours in coordinates, theirs with every joint's forces."""
    robot = robot_of(name)
    q, tau = np.array(PLACES[name][0]), np.linspace(0.4, 0.9, robot.freedoms)
    qd = np.linspace(-0.3, 0.4, robot.freedoms)
    n = len(q)

    def rate(t, x):
        return np.concatenate([x[n:], constrained_accelerations(robot, x[:n], x[n:], tau)])

    theirs = solve_ivp(rate, (0, 0.1), np.concatenate([q, qd]), method="DOP853", rtol=1e-9, atol=1e-11).y[:, -1]
    ours = simulate(robot, lambda t, a, b: tau, q, qd, duration=0.1)
    np.testing.assert_allclose(np.concatenate([ours.q[-1], ours.qd[-1]]), theirs, atol=1e-8)


@pytest.mark.parametrize("method", ["rk4", "gauss4"])
def test_a_compiled_batch_is_the_adaptive_run(method):
    robot = robot_of("delta")
    law = pd(robot, kp=100, kd=3, target=np.array([0, 0, -0.45]))
    starts = np.array([0.0, 0.0, -0.45]) + np.random.default_rng(0).uniform(-0.1, 0.1, (5, 3))
    many = simulate(robot, law, starts, duration=0.5, method=method, step=0.0005, output_step=0.05)
    assert many.drift["closure"] < 1e-10
    for k, start in enumerate(starts):
        one = simulate(robot, law, start, duration=0.5, output_step=0.05)
        np.testing.assert_allclose(many.q[k], one.q, atol=1e-9)
        np.testing.assert_allclose(many.tau[k], one.tau, atol=1e-7)


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
def test_the_motors_friction_takes_its_power(method):
    """Energy gained is the work of motors and friction at the motors' own speeds, which are not the coordinates'."""
    robot = with_coordinates(robot_of("fivebar"), ["p1", "p2"])
    options = {} if method == "DOP853" else {"step": 0.0002, "output_step": 0.003}
    start = emdeg.loops.joint_positions(robot_of("fivebar"), [2.1, 1.05])[[1, 3]]
    motion = simulate(robot, None, start, [0.5, -0.3], 0.15, method=method, friction=True, **options)
    assert motion.drift["energy_relative"] < 1e-6
    free = simulate(robot, None, start, [0.5, -0.3], 0.15, method=method, **options)
    lost = [m.invariants.energy[-1] - m.invariants.energy[0] for m in (motion, free)]
    assert lost[0] < -1e-3
    assert abs(lost[1]) < 1e-8
    # The law of the file: friction's power at the end, from the drives' rates.
    v = emdeg.loops.drive_jacobian(robot, motion.q) @ motion.qd[..., None]
    power = -np.sum(emdeg.loops.drive_friction(robot, motion.q, motion.qd) * v[..., 0], axis=-1)
    work = np.sum((power[1:] + power[:-1]) / 2 * np.diff(motion.t))
    assert work == pytest.approx(lost[0], rel=0.02)


@pytest.mark.long
def test_numeric_closure_moves_as_the_analytic_one_does():
    platform = robot_of("rrr3")
    motors = with_coordinates(platform, ["q1", "q2", "q3"])
    places = [[joint.name for joint in platform.joints].index(name) for name in ("q1", "q2", "q3")]
    X, Xd, tau = np.array([0.02, -0.01, 0.05]), np.array([0.1, 0.2, -0.3]), np.array([0.3, -0.2, 0.1])
    q, qd = emdeg.loops.joint_positions(platform, X)[places], emdeg.loops.drive_jacobian(platform, X) @ Xd
    one = simulate(platform, lambda t, a, b: tau, X, Xd, 0.3, output_step=0.05)
    other = simulate(motors, lambda t, a, b: tau, q, qd, 0.3, output_step=0.05)
    expected = emdeg.loops.joint_positions(platform, one.q)[:, places]
    np.testing.assert_allclose(np.unwrap(other.q - expected, period=2 * np.pi, axis=0), 0, atol=1e-8)
    assert other.drift["closure"] < 1e-10
    with pytest.raises(ScenarioError, match="close numerically, so it cannot be compiled for rk4"):
        simulate(motors, None, q, qd, 0.3, method="rk4", step=0.001)


@pytest.mark.long
def test_a_fast_motion_past_a_fold_stays_on_its_branch(tmp_path):
    """Coarse steps throw the hand far beyond where another posture begins: a jump there would show in the energy."""
    robot = built(CUSPIDAL, tmp_path)
    arm = np.array([2.16, -0.477, 3.014])
    T = Bodies(robot, [*arm, 0, 0, 0]).T[2]
    hand = T[:3, :3] @ [1.5, 0, 0] + T[:3, 3]
    robot = emdeg.loops.with_start(robot, dict(zip((j.name for j in robot.joints), [*arm, *hand])))
    with pytest.warns(DriftWarning):
        motion = simulate(robot, None, hand, [28.45, 0.2, 15.2], 0.02, rtol=1e-3, atol=1e-3)
    assert motion.drift["energy_relative"] < 0.05


@pytest.mark.slow
def test_a_run_whose_loops_close_numerically_ends_with_time_and_place(tmp_path):
    """The arm stretched out: poses beyond are out of reach, shorter steps are tried, and the run is given up."""
    robot = built(CUSPIDAL, tmp_path)
    with pytest.raises(SimulationError, match=r"gave up at t = 0\.[0-9]+ s: .*the loop hand is"):
        simulate(robot, None, [4.3, 0.0, 0.5], [30.0, 0.0, 0.0], 0.1, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_a_platform_thrown_at_the_fold_of_its_motors_angles_ends_soon_with_time_and_place():
    """Described by its motors the platform's way folds: steps shrink towards it, and noise would keep them so."""
    motors = with_coordinates(robot_of("rrr3"), ["q1", "q2", "q3"])
    with pytest.raises(
        SimulationError, match=r"gave up at t = 0\.046.*loop leg[123] .* first kind, .*q1 = 4\.236"
    ) as end:
        simulate(motors, None, [4.15] * 3, [3.0] * 3, 0.3, rtol=1e-5, atol=1e-5)
    assert float(re.search(r"too short, ([0-9.e-]+) s", str(end.value))[1]) > 1e-6


def test_a_run_is_looked_at_on_the_way_of_closing_that_it_is_on(tmp_path):
    """Another posture than the file's: looking closer at a piece of the run begins there, not at the file's start."""
    robot, pose = built(CUSPIDAL, tmp_path), np.array([2.5, 0.0, 0.5])
    run = pose + 0.01 * np.arange(3)[:, None]
    for one in emdeg.loops.branches(robot, pose):
        joints = all_joints(robot, run, one.joints)
        np.testing.assert_allclose(joints[0], one.joints, atol=1e-12)
        assert np.abs(np.diff(joints, axis=0)).max() < 0.1


def test_a_crank_may_turn_round_and_round():
    motion = simulate(robot_of("fourbar"), None, [1.0], [8.0], 3.0)
    assert motion.q[-1, 0] > 4 * np.pi
    assert motion.drift["closure"] < 1e-10
    assert motion.drift["energy_relative"] < 1e-8


@pytest.mark.parametrize("name", ["delta", "fivebar", "palletiser"])
def test_linear_model_is_the_derivative_of_the_accelerations(name):
    robot = robot_of(name)
    q, rng = np.array(PLACES[name][0], dtype=float), np.random.default_rng(3)
    qd, tau, n = rng.normal(size=robot.freedoms), rng.normal(size=robot.freedoms), robot.freedoms
    found = emdeg.linearise(robot, q, qd, tau)
    h = 1e-5
    for k in range(n):
        e = h * np.eye(n)[k]
        for block, sides in (
            (found.A[n:, k], [emdeg.forward_dynamics(robot, q + s * e, qd, tau) for s in (1, -1)]),
            (found.A[n:, n + k], [emdeg.forward_dynamics(robot, q, qd + s * e, tau) for s in (1, -1)]),
            (found.B[n:, k], [emdeg.forward_dynamics(robot, q, qd, tau + s * e) for s in (1, -1)]),
        ):
            np.testing.assert_allclose(block, (sides[0] - sides[1]) / (2 * h), rtol=1e-6, atol=1e-6)
    assert found.inputs == tuple(f"tau_{joint.name}" for joint in robot.driven)


def scenario(text, name="delta"):
    return read_scenario("schema = 1\nduration = 1\n" + text, "a.toml", None, robot_of(name))


def test_a_scenario_speaks_of_coordinates_and_motors():
    plan = scenario(
        '[initial]\nq = { x = 0.1 }\n[controller]\nkind = "pd"\nkp = 50\nkd = 5\ntarget = [0, 0, -0.45]\n'
        'max_effort = { q1 = 5, q2 = 5, q3 = 5 }\n[present]\nefforts = { q1 = "left" }'
    )
    np.testing.assert_allclose(plan.q0, [0.1, 0, -0.45])  # what is left out is where the file's start is
    result = summary(perform(plan))
    assert result["joints"] == ["x", "y", "z"]
    assert result["efforts"] == ["left", "tau.q2", "tau.q3"]
    assert result["drift"]["closure"] < 1e-10
    assert 0.1 < result["distance_from_singularity"]["first"] < 1
    with pytest.raises(emdeg.RobotError, match="max_effort: delta has no joint 'x'"):
        scenario('[controller]\nkind = "none"\nmax_effort = { x = 1 }')


def test_a_start_may_name_every_joint_and_must_then_be_closed():
    joints = emdeg.loops.joint_positions(robot_of("delta"), [0.05, 0, -0.45])
    text = "[initial.joints]\n" + "\n".join(
        f"{joint.name} = {value!r}" for joint, value in zip(robot_of("delta").joints, joints.tolist())
    )
    np.testing.assert_allclose(scenario(text).q0, [0.05, 0, -0.45])
    with pytest.raises(ClosureError, match="forearm3: the configuration is off the constraint: open by"):
        scenario(text.replace(f"q3 = {joints[2].item()!r}", "q3 = 0.9"))
    with pytest.raises(emdeg.RobotError, match="q1 is missing"):
        scenario("[initial.joints]\nx = 0")


def test_a_start_out_of_reach_or_singular_names_the_loop():
    with pytest.raises(ClosureError, match="forearm1: the pose cannot be reached"):
        simulate(robot_of("delta"), None, [0, 0, -0.9])
    with pytest.raises(ClosureError, match=r"forearm[123]: the pose is singular: .* first kind"):
        simulate(robot_of("delta"), None, [0, 0, -0.72])


@pytest.mark.parametrize("method", ["rk4", "DOP853"])
def test_a_run_into_a_singularity_says_which_loop(method):
    """Without motors the platform falls until arms and forearms are stretched."""
    options = {} if method == "DOP853" else {"step": 0.001}
    with pytest.raises(SimulationError, match=r"the loop forearm[123] is (out of reach|near a singularity)"):
        simulate(robot_of("delta"), None, [0.0, 0.02, -0.6], duration=2.0, method=method, **options)


def test_a_run_that_never_gets_past_a_singularity_is_given_up():
    """Steps that shrink without end are no answer: the falling five-bar stretches its loop."""
    with pytest.raises(SimulationError, match=r"steps have become too short.*the loop wrist is near a singularity"):
        simulate(robot_of("fivebar"), None, duration=0.5)


def linkage(folder, *, crank: float, coupler: float, rocker: float, ground: float, start: str) -> emdeg.Robot:
    """A planar four-bar without weight, its coordinate the crank's angle."""
    text = 'schema = 1\nname = "four"\nconvention = "modified"\ngravity = [0, 0, 0]\n'
    for name, parent, joint, a in (
        ("crank", "base", "q", 0.0),
        ("coupler", "crank", "p", crank),
        ("rocker", "base", "r", ground),
    ):
        text += f'[[link]]\nname = "{name}"\nparent = "{parent}"\n'
        text += f'joint = {{ name = "{joint}", type = "revolute", a = {a} }}\n'
        text += 'inertia = { about = "com", mass = 1, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }\n'
    text += '[[closure]]\nname = "pin"\ntype = "revolute"\n'
    text += (
        f'from = {{ link = "coupler", xyz = [{coupler}, 0, 0] }}\nto = {{ link = "rocker", xyz = [{rocker}, 0, 0] }}\n'
    )
    text += f'[loops]\ncoordinates = ["q"]\ndriven = ["q"]\nstart = {{ {start} }}\n'
    return assemble(read_toml(text, "four.toml"))


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_a_run_to_a_dead_point_ends_with_time_and_place(method, tmp_path):
    """Coupler and rocker in line: the crank turns back, and the coupler goes on to the other side."""
    robot = linkage(tmp_path, crank=0.5, coupler=0.3, rocker=0.3, ground=0.4, start="q = 0.8, p = 0.9, r = 2.6")
    edge = np.arccos((0.5**2 + 0.4**2 - 0.6**2) / (2 * 0.5 * 0.4))
    began = time.process_time()
    with pytest.raises(SimulationError, match=r"t = .* q = 1\.4") as problem:
        simulate(robot, None, [0.8], [2.0], 3.0, method=method)
    assert time.process_time() - began < 30
    assert float(re.search(r"q = ([0-9.]+)", str(problem.value))[1]) == pytest.approx(edge, abs=2e-3)


def test_a_parallelogram_swings_through_its_flat_place_and_the_run_says_so(tmp_path):
    robot = linkage(tmp_path, crank=0.2, coupler=0.4, rocker=0.2, ground=0.4, start="q = 1, p = -1, r = 1")
    motion = simulate(robot, None, [1.0], [3.0], 1.0)
    assert motion.q[-1, 0] > np.pi
    np.testing.assert_allclose(np.diff(motion.q[:, 0]), 0.03, rtol=1e-6)  # its cranks are alike: no torque, no change
    noted = [event for event in motion.events if "ways of closing meet" in event.what]
    assert [round(event.t, 2) for event in noted] == [round((np.pi - 1) / 3, 2)]


def limited(limits: str) -> emdeg.Robot:
    """The Delta with limits of its first arm."""
    text = resources.files("emdeg.robot.library").joinpath("delta.toml").read_text("utf-8")
    arm = 'joint = { name = "q1", type = "revolute", gamma = "270 deg", alpha = "90 deg", a = 0.2'
    assert arm in text
    return assemble(read_toml(text.replace(arm, f"{arm}, {limits}"), "delta.toml"))


def test_the_arms_limits_are_kept_too():
    """Limits of joints that are no coordinates: of a trajectory, of a start, and noted along a run."""
    way = cycloidal([0, 0, -0.45], [0.1, 0, -0.55], 1.0)
    q1 = emdeg.loops.joint_positions(robot_of("delta"), way(np.linspace(0, 1, 501))[0])[:, 0]
    middle = (q1.min() + q1.max()) / 2
    need_within_limits(limited(f"lower = {q1.min() - 0.01}, upper = {q1.max() + 0.01}"), way)
    high = limited(f"lower = -3, upper = {middle}")
    with pytest.raises(ScenarioError, match="the trajectory leaves the robot's limits: q1: position"):
        need_within_limits(high, way)
    fast = np.abs(np.diff(q1)).max() * 500
    with pytest.raises(ScenarioError, match="q1: speed"):
        need_within_limits(limited(f"velocity = {0.9 * fast}"), way)
    need_within_limits(limited(f"velocity = {1.1 * fast}"), way)
    ends = way(0.0)[0], way(1.0)[0]
    inside, outside = ends if q1[0] < q1[-1] else ends[::-1]
    with pytest.raises(ScenarioError, match="the run would start outside the robot's limits: q1: position"):
        simulate(high, None, outside, duration=0.1)
    law = computed_torque(high, 400, 40, cycloidal(inside, outside, 1.0))
    events = simulate(high, law, inside, duration=1.0).events
    assert [(event.joint, event.what) for event in events] == [("q1", "position beyond its limit")]


def test_a_trajectory_out_of_reach_names_the_loop():
    with pytest.raises(ClosureError, match=r"forearm[123]: \d+ of 101 poses cannot be reached"):
        emdeg.simulation.torques(robot_of("delta"), cycloidal([0, 0, -0.45], [0, 0, -0.9], 1.0), np.linspace(0, 1, 101))


@pytest.mark.parametrize("name", ["delta", "fivebar", pytest.param("stewart", marks=pytest.mark.slow)])
def test_motion_is_roughly_that_of_mujoco_with_stiff_constraints(name):
    """A third opinion: bodies for links and rods, loops held by equality constraints that give way a little."""
    pytest.importorskip("mujoco")
    from tests.loops.mujoco_loops import run

    robot = robot_of(name)
    q = np.array(PLACES[name][0], dtype=float)
    tau = emdeg.inverse_dynamics(robot, q, 0 * q, 0 * q) + np.linspace(0.5, 1.0, len(q)) * (20 if len(q) == 6 else 1)
    theirs = run(robot, emdeg.loops.joint_positions(robot, q), tau, 0.1)[list(robot.loops.coordinates)]
    ours = simulate(robot, lambda t, a, b: tau, q, duration=0.1).q[-1]
    moved = np.abs(ours - q).max()
    assert moved > 0.01
    np.testing.assert_allclose(theirs, ours, atol=0.005 * moved)


ROUGH = """
schema = 1
name = "rough"
convention = "modified"
[base]
rpy = ["90 deg", 0, 0]
[[link]]
name = "crank"
parent = "base"
joint = { name = "q", type = "revolute" }
inertia = { about = "com", mass = 1, com = [0.05, 0, 0], Izz = 0.002, Ixx = 0.002, Iyy = 0.002 }
[[link]]
name = "rocker"
parent = "base"
joint = { name = "p", type = "revolute", a = 0.4 }
inertia = { about = "com", mass = 2, com = [0.1, 0, 0], Izz = 0.02, Ixx = 0.02, Iyy = 0.02 }
drive = { viscous = 0.4 }
[[rod]]
name = "rod"
length = 0.4
from = { link = "crank", xyz = [0.1, 0, 0] }
to = { link = "rocker", xyz = [0.25, 0, 0] }
[loops]
coordinates = ["q"]
driven = ["q"]
start = { q = 1, p = 1.6 }
"""
ROUGH_PISTON = SLIDER_CRANK.replace(
    "Iyy = 0.006, Izz = 0.006 }", "Iyy = 0.006, Izz = 0.006 }\ndrive = { viscous = 0.5 }"
)
"""Its loop closes numerically."""


@pytest.mark.parametrize(("text", "duration"), [(ROUGH, 0.3), (ROUGH_PISTON, 0.04)], ids=["by a rod", "in a cylinder"])
def test_joints_that_nothing_drives_rub(text, duration):
    """Against the state-space form with every joint's friction, integrated by itself; and the power goes somewhere."""
    robot = assemble(read_toml(text, "rough.toml"))
    start = np.array([1.0, 0.5])
    motion = simulate(robot, None, start[:1], start[1:], duration, friction=True, rtol=1e-7, atol=1e-7)
    form = solve_ivp(
        lambda t, x: emdeg.loops.state_rate(robot, x, [0.0], friction=True), (0, duration), start, rtol=1e-7, atol=1e-7
    )
    np.testing.assert_allclose([motion.q[-1, 0], motion.qd[-1, 0]], form.y[:, -1], atol=1e-5)
    free = simulate(robot, None, start[:1], start[1:], duration, rtol=1e-7, atol=1e-7)
    assert abs(free.qd[-1, 0] - motion.qd[-1, 0]) > 0.01
    assert motion.tau.shape == (101, 1)
    balance = motion.invariants.power_balance
    assert np.abs(balance - balance[0]).max() < 1e-6
    assert motion.invariants.energy[-1] < free.invariants.energy[-1] - 1e-4


@pytest.mark.parametrize("shares", [{}, {"p1": 0.25}])
def test_more_motors_than_freedoms_move_as_their_forces_say(shares):
    """Three motors on a five-bar: laws move it as two would, each motor with its share; efforts of one's own add up."""
    two = emdeg.load("fivebar")
    three = emdeg.loops.with_allocation(emdeg.loops.with_driven(two, ["q1", "q2", "p1"]), shares)
    start, goal = np.array([2.1, 1.05]), np.array([1.9, 1.2])
    laws = [
        lambda robot: pd(robot, 8, 2, goal),
        lambda robot: computed_torque(robot, 80, 18, cycloidal(start, goal, 0.2)),
    ]
    for law in laws:
        one, other = (simulate(r, law(r), start, [0.2, -0.1], 0.1, rtol=1e-9, atol=1e-9) for r in (two, three))
        np.testing.assert_allclose(other.q, one.q, atol=1e-6)
        assert other.tau.shape == (101, 3)
        J = emdeg.loops.drive_jacobian(three, other.q)
        force = np.einsum("kji,kj->ki", emdeg.loops.drive_jacobian(two, one.q), one.tau)
        np.testing.assert_allclose(np.einsum("kji,kj->ki", J, other.tau), force, atol=1e-4)
        # The least sum of tau^2 / share: tau / share is made of J's columns.
        wanted = other.tau / [1, 1, shares.get("p1", 1.0)]
        left = wanted - np.einsum("kij,kj->ki", J, np.linalg.lstsq(J[0], wanted[0], rcond=None)[0][None])
        np.testing.assert_allclose(left[0], 0, atol=1e-9)
        assert np.abs(one.invariants.power_balance - one.invariants.power_balance[0]).max() < 1e-5
        assert np.abs(other.invariants.power_balance - other.invariants.power_balance[0]).max() < 1e-5


def rough_five_bar():
    """A five-bar whose undriven joint rubs, with one motor more than it has freedoms."""
    rubbing = emdeg.loops.with_driven(emdeg.loops.with_coordinates("fivebar", ["q1", "p1"]), ["q1", "p1"])
    return emdeg.loops.with_driven(rubbing, ["q1", "p1", "p2"]), emdeg.loops.joint_positions("fivebar", [2.1, 1.05])[:2]


@pytest.mark.parametrize("method", ["rk4", "gauss4"])
def test_a_run_of_fixed_step_knows_every_joints_friction_and_every_motor(method):
    """The compiled step does what the adaptive method does, whatever rubs and however many motors pull."""
    robot, q = rough_five_bar()
    law = pd(robot, 8, 2, q + np.array([0.1, -0.1]))
    fixed = simulate(robot, law, q, [0.5, -0.3], 0.1, friction=True, method=method, step=2.5e-4, output_step=0.001)
    free = simulate(robot, law, q, [0.5, -0.3], 0.1, friction=True, rtol=1e-9, atol=1e-10)
    smooth = simulate(robot, law, q, [0.5, -0.3], 0.1, rtol=1e-9, atol=1e-10)
    assert fixed.tau.shape == (101, 3)
    np.testing.assert_allclose(fixed.q, free.q, atol=1e-6)
    np.testing.assert_allclose(fixed.tau, free.tau, atol=1e-4)
    assert np.abs(fixed.q[-1] - smooth.q[-1]).max() > 1e-3
    balance = fixed.invariants.power_balance
    assert np.abs(balance - balance[0]).max() < 1e-6


def test_rollouts_take_an_effort_a_motor_and_rub():
    robot, q = rough_five_bar()
    efforts = np.random.default_rng(0).normal(size=(50, 3))
    start, speeds = np.tile(q, (2, 1)), np.tile([0.5, -0.3], (2, 1))
    found = emdeg.rollout(
        robot,
        start,
        speeds,
        efforts,
        steps=50,
        dt=1e-3,
        friction=True,
        method="rk4",
        cost=lambda q, qd, tau: tau[2],
    )
    asked = simulate(
        robot,
        lambda t, a, b: efforts[min(round(t / 1e-3), 49)],
        q,
        [0.5, -0.3],
        0.05,
        friction=True,
        method="rk4",
        step=1e-3,
        conditioning=emdeg.simulation.Conditioning(period=1e-3),
        effort_limits=False,
    )
    np.testing.assert_allclose(found.q[0, -1], asked.q[-1], atol=1e-12)
    np.testing.assert_allclose(found.cost, 1e-3 * efforts[:, 2].sum(), rtol=1e-9)


def test_a_scenario_takes_more_motors_than_freedoms(tmp_path):
    robot = emdeg.loops.with_driven("fivebar", ["q1", "q2", "p1"])
    (tmp_path / "five.toml").write_text(to_toml(robot))
    (tmp_path / "run.toml").write_text(
        'schema = 1\nname = "run"\nrobot = "five.toml"\nduration = 0.1\n[initial]\nq = { q1 = 2.1, q2 = 1.05 }\n'
        '[controller]\nkind = "pd"\nkp = 8\nkd = 2\ntarget = [1.9, 1.2]\nperiod = 0.01\nmax_effort = { p1 = 0.05 }\n'
        '[integration]\nmethod = "rk4"\nstep = 0.001\n[present]\ninner = ["p1"]\n'
    )
    outcome = perform(load_scenario(str(tmp_path / "run.toml"), emdeg.load(tmp_path / "five.toml")))
    result = summary(outcome)
    assert result["efforts"] == ["tau.q1", "tau.q2", "tau.p1"]
    assert result["efforts_on_inner_body"] == ["p1"]
    assert result["largest_effort"][2] == 0.05
    np.testing.assert_array_equal(outcome.shown()["tau"][:, 2], -outcome.motion.tau[:, 2])
    outcome_figure(outcome)


def test_efforts_of_ones_own_on_more_motors_than_freedoms():
    robot = emdeg.loops.with_driven("fivebar", ["q1", "q2", "p1"])
    tau = np.array([0.5, -0.3, 0.4])
    motion = simulate(robot, lambda t, q, qd: tau, [2.1, 1.05], [0.0, 0.0], 0.1, rtol=1e-9, atol=1e-9)

    def rates(t, x):
        return np.concatenate([x[2:], constrained_accelerations(robot, x[:2], x[2:], tau)])

    expected = solve_ivp(rates, (0, 0.1), [2.1, 1.05, 0, 0], rtol=1e-9, atol=1e-9).y[:2, -1]
    np.testing.assert_allclose(motion.q[-1], expected, atol=1e-7)
    with pytest.raises(ScenarioError, match=r"efforts of shape \(2,\); expected \(3,\)"):
        simulate(robot, lambda t, q, qd: tau[:2], [2.1, 1.05], [0.0, 0.0], 0.1)
