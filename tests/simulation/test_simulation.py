"""Theorems of motion on many robots, by every integrator."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import emdeg
from emdeg.dynamics.formulations.friction import FrictionLaw
from emdeg.programs.best import program
from emdeg.programs.ir import count
from emdeg.robot.model import Inertia
from emdeg.runtime.llvm_writer import PRECISIONS, Writer
from emdeg.simulation import (
    Conditioning,
    DriftWarning,
    Passive,
    StiffWarning,
    closed_loop,
    computed_torque,
    cycloidal,
    free_joints,
    pd,
    sampled_poles,
    simulate,
)
from emdeg.simulation.controllers.laws import MultiRate, UserLaw
from emdeg.simulation.integrators.control_loop import Real
from emdeg.simulation.plant.passive import Stop
from tests.random_robots import random_robot

FIXED = ["rk4", "semi_implicit", "midpoint", "gauss2", "gauss4"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["rk4", "gauss4", "DOP853"])
def test_energy_and_momentum_of_a_robot_left_alone(seed, method):
    robot = random_robot(seed, 3, tree=seed % 2 == 1)
    step = {} if method == "DOP853" else {"step": 2e-4, "output_step": 0.01}
    motion = simulate(robot, None, np.full(3, 0.3), np.full(3, 0.2), 0.2, method=method, **step)
    energy = emdeg.kinetic_energy(robot, motion.q, motion.qd) + emdeg.potential_energy(robot, motion.q)
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-8 * max(1, motion.invariants.energy_scale))
    assert motion.drift["energy_relative"] < 1e-8


@pytest.mark.parametrize("method", FIXED)
def test_compiled_methods_converge_with_their_order(method):
    """Against SciPy on equations that were not compiled."""
    robot = emdeg.load("planar2r")
    q0, qd0 = np.array([0.4, -0.9]), np.array([1.0, -0.5])

    def rates(t, x):
        return np.concatenate([x[2:], emdeg.forward_dynamics(robot, x[:2], x[2:], np.zeros(2))])

    exact = solve_ivp(rates, (0, 0.5), [*q0, *qd0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for step in (0.01, 0.005):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DriftWarning)
            motion = simulate(robot, None, q0, qd0, 0.5, method=method, step=step)
        errors.append(np.max(np.abs(np.concatenate([motion.q[-1], motion.qd[-1]]) - exact)))
    order = {"rk4": 4, "semi_implicit": 1, "midpoint": 2, "gauss2": 2, "gauss4": 4}[method]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_a_symplectic_method_keeps_the_energy_for_long_where_runge_kutta_loses_it():
    robot = emdeg.load("planar2r")
    runs = {}
    for method in ("gauss4", "rk4"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DriftWarning)
            motion = simulate(robot, None, [-1.2, 0.3], None, 100.0, method=method, step=0.02, output_step=0.2)
        balance = np.abs(motion.invariants.power_balance)
        runs[method] = balance[-100:].max() / balance[:100].max()
    assert runs["gauss4"] < 1.1
    assert runs["rk4"] > 4


def test_going_back_in_time_a_gauss_method_returns_to_its_start():
    robot = emdeg.load("planar3r")
    start = np.array([0.3, 0.5, -0.4])
    there = simulate(robot, None, start, None, 0.5, method="gauss4", step=1e-3)
    back = simulate(robot, None, there.q[-1], -there.qd[-1], 0.5, method="gauss4", step=1e-3)
    np.testing.assert_allclose(back.q[-1], start, atol=1e-12)


@pytest.mark.parametrize("name", ["scara", pytest.param("puma560", marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", FIXED)
def test_a_batch_is_its_trajectories_one_by_one(method, name):
    robot = emdeg.load(name)
    rng = np.random.default_rng(3)
    q, qd = rng.uniform(-0.5, 0.5, (11, robot.n)), rng.uniform(-0.5, 0.5, (11, robot.n))
    law = pd(robot, 200, 20, np.zeros(robot.n))
    options = {"method": method, "step": 1e-3, "stops": "ignore", "drift_tolerance": 1, "check_step": False}
    together = simulate(robot, law, q, qd, 0.05, output_step=0.01, **options)
    assert together.q.shape == (11, 6, robot.n)
    for k in (0, 10):
        alone = simulate(robot, law, q[k], qd[k], 0.05, output_step=0.01, **options)
        np.testing.assert_allclose(together.q[k], alone.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(together.tau[k], alone.tau, rtol=0, atol=1e-9)


def test_threads_change_nothing():
    robot = emdeg.load("planar2r")
    q = np.random.default_rng(0).uniform(-1, 1, (37, 2))
    runs = [simulate(robot, None, q, None, 0.1, method="rk4", step=1e-3, threads=k) for k in (1, 2)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


@pytest.mark.parametrize(("method", "step"), [("DOP853", None), ("rk4", 1e-3)])
def test_computed_torque_with_the_exact_model_tracks_to_the_integrators_accuracy(method, step):
    robot = emdeg.load("puma560")
    way = cycloidal([0.0, -0.5, 0.5, 0.0, 0.4, 0.0], [0.8, -1.0, 1.0, 0.7, -0.4, 0.9], 1.5)
    law = computed_torque(robot, 400, 40, way)
    motion = simulate(robot, law, way(0.0)[0], None, 1.5, method=method, step=step)
    assert np.max(np.abs(motion.q - way(motion.t)[0])) < 1e-9
    assert motion.drift["energy_relative"] < 1e-7


def test_a_shorter_model_tracks_worse_but_tracks():
    """The controller believes in a PUMA whose wrist weighs nothing; the real one follows all the same."""
    robot = emdeg.load("puma560")
    light = replace(
        robot, links=tuple(replace(link, inertia=Inertia()) if k > 2 else link for k, link in enumerate(robot.links))
    )
    way = cycloidal([0.0, -0.5, 0.5, 0.0, 0.4, 0.0], [0.8, -1.0, 1.0, 0.7, -0.4, 0.9], 1.0)
    short = program(light, "inverse_dynamics")
    assert count(short).total < count(program(robot, "inverse_dynamics")).total
    laws = [computed_torque(robot, 400, 40, way, model=model) for model in (None, light, short)]
    runs = [simulate(robot, law, way(0.0)[0], None, 1.0, method="rk4", step=1e-3) for law in laws]
    errors = [float(np.max(np.abs(run.q - way(run.t)[0]))) for run in runs]
    assert errors[0] < 1e-9
    assert 1e-4 < errors[1] < 0.1
    assert errors[2] == pytest.approx(errors[1], rel=1e-9)


def test_sampled_control_is_the_same_compiled_and_in_python():
    """Period, delay and both converters: the compiled loop, the loop of Python laws, and the adaptive one."""
    robot = emdeg.load("planar2r")
    law = pd(robot, 30, 6, [0.5, -0.3])
    rules = Conditioning((25.0, 25.0), (0.01, 0.01), (1e-4, 1e-4), period=0.004, delay=0.006)
    asked = UserLaw(lambda t, q, qd: law(t, q, qd), 2)
    runs = [
        simulate(robot, law, [0.1, 0.2], None, 0.4, method="rk4", step=1e-3, output_step=0.01, conditioning=rules),
        simulate(robot, asked, [0.1, 0.2], None, 0.4, method="rk4", step=1e-3, output_step=0.01, conditioning=rules),
        simulate(robot, law, [0.1, 0.2], None, 0.4, output_step=0.01, conditioning=rules),
    ]
    assert np.max(np.abs(runs[0].tau)) <= 25
    assert np.all(runs[0].tau[0] == 0)  # nothing acts before the delay is over
    counts = runs[0].tau / 0.01
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    for other in runs[1:]:
        np.testing.assert_allclose(other.q, runs[0].q, atol=2e-5)
        np.testing.assert_allclose(other.tau, runs[0].tau, atol=0.05)


def test_a_held_effort_without_delay_is_recorded_as_it_acts():
    robot = emdeg.load("planar2r")
    law = pd(robot, 30, 6, [0.5, -0.3])
    rules = Conditioning(period=0.005)
    motion = simulate(robot, law, [0.1, 0.2], None, 0.1, method="rk4", step=1e-3, conditioning=rules)
    due = np.arange(0, 101, 5)
    np.testing.assert_allclose(motion.tau[due], law(motion.t[due], motion.q[due], motion.qd[due]), atol=1e-11)
    np.testing.assert_array_equal(motion.tau[1], motion.tau[0])
    np.testing.assert_array_equal(motion.tau[8], motion.tau[5])


def test_multi_rate_control_renews_its_configuration_part_slowly():
    robot = emdeg.load("puma560")
    way = cycloidal(np.zeros(6), [0.5, -0.5, 0.5, 0.3, -0.2, 0.4], 0.5)
    errors = []
    for slow in (0.001, 0.02):
        law = MultiRate(robot, np.full(6, 900.0), np.full(6, 60.0), way, slow)
        rules = Conditioning(period=0.001)
        motion = simulate(
            robot,
            law,
            np.zeros(6),
            None,
            0.5,
            method="rk4",
            step=5e-4,
            output_step=0.01,
            conditioning=rules,
            stops="ignore",
            drift_tolerance=1,
        )
        errors.append(np.max(np.abs(motion.q - way(motion.t)[0])))
    assert errors[0] < errors[1] < 0.01


@pytest.mark.parametrize(("method", "step"), [("DOP853", None), ("rk4", 1e-4)])
def test_friction_takes_energy_and_the_balance_still_closes(method, step):
    robot = emdeg.load("planar2r")
    rub = Passive((FrictionLaw(0.3, 0.2, 0.1, 0.05), FrictionLaw(0.1)))
    motion = simulate(robot, None, [0.4, 0.3], [0.5, 0.0], 0.5, method=method, step=step, friction=rub)
    energy = motion.invariants.energy
    assert np.all(np.diff(energy) < 0)
    assert motion.drift["energy_relative"] < 1e-6


def test_a_spring_stop_holds_a_joint_in_both_kinds_of_run():
    robot = emdeg.load("planar2r")
    wall = Passive(stops=(Stop(0, -0.5, 0.5, 1e4, 50.0),))
    free = simulate(robot, None, [0.4, 0.0], [3.0, 0.0], 0.3)
    held = [
        simulate(robot, None, [0.4, 0.0], [3.0, 0.0], 0.3, friction=wall, output_step=0.003, **options)
        for options in ({}, {"method": "rk4", "step": 1e-4})
    ]
    assert np.max(free.q[:, 0]) > 0.8
    assert np.max(held[0].q[:, 0]) < 0.62
    np.testing.assert_allclose(held[0].q, held[1].q, atol=1e-3)


def limited():
    """A robot whose file gives limits, and a joint that has one."""
    robot = emdeg.load("scara")
    joint = next(k for k, j in enumerate(robot.joints) if j.limits.upper is not None)
    q, qd = np.zeros(robot.n), np.zeros(robot.n)
    q[joint], qd[joint] = float(robot.joints[joint].limits.upper) - 0.05, 1.0
    return robot, joint, float(robot.joints[joint].limits.upper), q, qd


def test_a_run_halts_where_a_joint_meets_its_limit():
    robot, k, upper, q, qd = limited()
    motion = simulate(robot, None, q, qd, 0.5, stops="halt", output_step=0.001)
    (event,) = [e for e in motion.events if e.joint == robot.joints[k].name]
    assert event.what == "upper limit"
    assert motion.t[-1] <= event.t < 0.5
    assert motion.dense(event.t)[k] == pytest.approx(upper, abs=1e-10)


def test_a_bounce_turns_the_joint_round_and_the_balances_still_close():
    robot, k, upper, q, qd = limited()
    motion = simulate(robot, None, q, qd, 0.2, stops="bounce", restitution=0.5, output_step=0.001)
    assert np.max(motion.q[:, k]) <= upper + 1e-9
    assert motion.qd[-1, k] < 0
    assert motion.drift["energy_relative"] < 1e-9
    assert motion.drift["momentum_relative"] < 1e-9


def test_free_joints_are_found():
    assert 0 in free_joints(emdeg.load("puma560"))  # the vertical axis
    assert free_joints(emdeg.load("planar2r")) == ()


def test_a_coarse_run_warns_of_its_drift():
    with pytest.warns(DriftWarning, match=r"planar2r: the energy drifts by .* too coarse"):
        simulate(emdeg.load("planar2r"), None, [0.4, 0.3], None, 2.0, method="semi_implicit", step=0.01)


def test_progress_is_told():
    shares: list[float] = []
    for options in ({"method": "rk4", "step": 1e-3}, {}):
        shares.clear()
        simulate(emdeg.load("planar2r"), None, [0.4, 0.3], None, 0.5, progress=shares.append, **options)
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(1)


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 1e-3, "output_step": 0.01}, {}])
def test_a_run_that_is_told_to_stop_is_the_beginning_of_the_whole_run(options):
    given = (emdeg.load("planar2r"), None, [0.4, 0.3], None, 0.5)
    whole = simulate(*given, **options)
    part = simulate(*given, progress=lambda share: share > 0.4, **options)
    assert (whole.interrupted, part.interrupted) == (False, True)
    records = len(part.t)
    assert 1 < records < len(whole.t)
    for name in ("t", "q", "qd", "tau"):
        np.testing.assert_allclose(getattr(part, name), getattr(whole, name)[:records], rtol=0, atol=1e-9)
    assert not simulate(*given, progress=lambda share: share == 1, **options).interrupted


def test_a_law_in_python_that_is_told_to_stop_keeps_what_it_did():
    robot = emdeg.load("planar2r")
    conditioning = Conditioning(period=0.01)
    options = {"method": "rk4", "step": 1e-3, "conditioning": conditioning, "output_step": 0.01}
    part = simulate(robot, lambda t, q, qd: -q, [0.4, 0.3], None, 0.5, progress=lambda share: share > 0.4, **options)
    assert part.interrupted
    assert part.tau.shape == part.q.shape
    assert part.t[-1] == pytest.approx(0.2)


def test_the_old_spelling_of_the_semi_implicit_method_is_still_understood():
    robot = emdeg.load("planar2r")
    runs = [
        simulate(robot, None, [0.1, 0.2], None, 0.1, method=name, step=0.001, drift_tolerance=1.0)
        for name in ("euler", "semi_implicit")
    ]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert runs[0].method == "semi_implicit"


def test_a_number_less_a_compiled_value_is_the_value_negated_plus_the_number():
    out = Writer(PRECISIONS[64], 1)
    difference = 2.0 - Real(out, "%x")
    assert difference.text == "%v2"
    assert out.lines == ["  %v1 = fneg double %x", f"  %v2 = fadd contract double %v1, {out.constant(2.0)}"]


ARM = Path(__file__).parents[2] / "examples" / "arm.urdf"


@pytest.mark.long
def test_a_stiff_loop_is_noticed_and_keeps_what_the_drives_can_give():
    robot = emdeg.load(str(ARM))
    law = pd(robot, [400.0] * 6, [40.0] * 6, [0.5] * 6)
    with pytest.warns(StiffWarning, match="integrated by Radau"):
        motion = simulate(robot, law, duration=0.05)
    limits = [float(joint.limits.effort) for joint in robot.joints]
    assert motion.method == "Radau"
    assert (np.abs(motion.tau).max(axis=0) <= limits).all()
    assert {event.joint for event in motion.events if event.what.startswith("effort limit")} == {
        joint.name for joint in robot.joints
    }
    with pytest.warns(StiffWarning):
        free = simulate(robot, law, duration=0.05, effort_limits=False)
    assert np.abs(free.tau).max() > max(limits)


def test_the_poles_of_a_sampled_loop_tell_whether_it_is_stable():
    robot = emdeg.load("planar2r")
    law, q, rest = pd(robot, [100.0, 100.0], [20.0, 10.0], [0.3, 0.4]), [0.3, 0.4], [0.0, 0.0]
    fast, slow = (np.abs(sampled_poles(robot, law, q, rest, period)).max() for period in (1e-3, 0.5))
    assert fast < 1 < slow
    s = np.linalg.eigvals(closed_loop(robot, law, q, rest).A)
    z = sampled_poles(robot, law, q, rest, 1e-5)
    np.testing.assert_allclose(np.sort(np.log(z).real / 1e-5), np.sort(s.real), rtol=1e-2, atol=1e-2)
    with pytest.warns(StiffWarning, match="the loop is unstable"):
        simulate(robot, law, q, rest, 1.0, conditioning=Conditioning(period=0.5), stops="ignore")
