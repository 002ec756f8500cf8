"""Many trajectories with a cost on the way, against the mechanics stepped by hand and against `simulate`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.errors import RobotError, ScenarioError
from emdeg.robot import Limits
from emdeg.simulation import effort_noise, pd
from tests.paper_device import use_threads_here

STEPS, DT, N = 60, 1e-3, 11


def starts(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.5, 0.5, (N, n)), rng.uniform(-0.5, 0.5, (N, n)), rng.uniform(-3, 3, (N, STEPS, n))


def cost_rate(q, qd, tau, p):
    return (p[0] - 0.3) * (p[0] - 0.3) + 0.01 * tau[0] * tau[0] + q[1] * qd[1]


def by_hand(robot, q, qd, tau):
    cost = np.zeros(len(q))
    for k in range(STEPS):
        p = emdeg.forward_kinematics(robot, q)[..., :3, 3]
        cost += DT * cost_rate(q.T, qd.T, tau[:, k].T, p.T)
        qd_next = qd + DT * emdeg.forward_dynamics(robot, q, qd, tau[:, k])
        q, qd = q + DT * qd_next, qd_next
    return q, qd, cost


@pytest.mark.parametrize("name", ["planar2r", "scara"])
def test_efforts_of_each_trajectory_and_their_cost(name):
    robot = emdeg.load(name)
    q0, qd0, tau = starts(robot.n)
    found = emdeg.rollout(robot, q0, qd0, tau, steps=STEPS, dt=DT, every=20, cost=cost_rate)
    q, qd, cost = by_hand(robot, q0, qd0, tau)
    assert found.q.shape == (N, 3, robot.n)
    np.testing.assert_allclose(found.q[:, -1], q, atol=1e-12)
    np.testing.assert_allclose(found.qd[:, -1], qd, atol=1e-12)
    np.testing.assert_allclose(found.cost, cost, atol=1e-12)
    np.testing.assert_allclose(found.times, [0.02, 0.04, 0.06])
    shared = emdeg.rollout(robot, q0, qd0, tau[0], steps=STEPS, dt=DT)
    np.testing.assert_allclose(shared.q[0, -1], q[0], atol=1e-12)


@pytest.mark.parametrize("method", ["semi_implicit", "midpoint", "rk4"])
def test_a_law_moves_as_it_does_in_a_simulation(method):
    robot = emdeg.load("planar3r")
    q0, qd0, _ = starts(3)
    law = pd(robot, [30.0] * 3, [5.0] * 3, np.zeros(3))
    found = emdeg.rollout(robot, q0, qd0, law, steps=STEPS, dt=DT, method=method, every=1)
    motion = emdeg.simulate(
        robot, law, q0, qd0, STEPS * DT, method=method, step=DT, stops="ignore", drift_tolerance=1e9
    )
    np.testing.assert_allclose(found.q, motion.q[:, 1:], atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_a_gpu_runs_is_what_this_processor_runs(dtype, monkeypatch):
    """The whole way of a call, with the kernel's inner function run here, one trajectory at a time."""
    use_threads_here(monkeypatch)
    robot = emdeg.load("planar2r")
    q0, qd0, tau = starts(2)
    found = emdeg.rollout(
        robot, q0, qd0, tau, steps=STEPS, dt=DT, every=30, cost=cost_rate, backend="cuda", dtype=dtype
    )
    q, _, cost = by_hand(robot, q0, qd0, tau)
    within = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(found.q[:, -1], q, atol=within)
    np.testing.assert_allclose(found.cost, cost, atol=within)


@pytest.mark.parametrize("backend", ["llvm", "cuda"])
def test_noise_is_the_same_wherever_it_is_drawn(backend, monkeypatch):
    """Drawn in the loop, with a trajectory in each lane or alone, it is what `effort_noise` says it was."""
    use_threads_here(monkeypatch)
    robot = emdeg.load("planar2r")
    q0, qd0, tau = starts(2)
    deviation, seed = [3.0, 0.5], 11
    noise = effort_noise(deviation, N, STEPS, seed)
    q, _, cost = by_hand(robot, q0, qd0, tau[0] + noise)
    given = {"steps": STEPS, "dt": DT, "cost": cost_rate, "backend": backend}
    for efforts in (tau[0], np.broadcast_to(tau[0], tau.shape)):
        found = emdeg.rollout(robot, q0, qd0, efforts, deviation=deviation, seed=seed, **given)
        np.testing.assert_allclose(found.q[:, -1], q, atol=1e-12)
        np.testing.assert_allclose(found.cost, cost, atol=1e-12)
    free = emdeg.rollout(robot, q0, qd0, None, deviation=deviation, seed=seed, **given)
    np.testing.assert_allclose(free.q[:, -1], by_hand(robot, q0, qd0, noise)[0], atol=1e-12)
    other = emdeg.rollout(robot, q0, qd0, tau[0], deviation=deviation, seed=seed + 1, **given)
    assert np.abs(other.q[:, -1] - q).max() > 1e-4


def test_noise_is_normal():
    from scipy.stats import kstest

    noise = effort_noise([2.0, 0.0], 400, 50, seed=3)
    assert not noise[..., 1].any()
    drawn = noise[..., 0].ravel() / 2
    assert kstest(drawn, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.03
    with pytest.raises(ScenarioError, match="not negative"):
        effort_noise([-1.0], 2, 2)


def test_limits_act():
    bare = emdeg.load("planar2r")
    limits = Limits(lower=Fraction(-1, 2), upper=Fraction(1, 2))
    links = tuple(replace(link, joint=replace(link.joint, limits=limits)) for link in bare.links)
    robot = replace(bare, links=links)
    rest = np.zeros((1, 2))
    free = emdeg.rollout(robot, rest, rest, steps=1000, dt=1e-3, every=1).q
    held = emdeg.rollout(robot, rest, rest, steps=1000, dt=1e-3, every=1, limits=True, stiffness=1e4, damping=1e2).q
    assert np.abs(free).max() > 1.0
    assert 0.5 < np.abs(held).max() < 0.6


def test_what_cannot_be_is_said():
    q = np.zeros((3, 2))
    for wrong in (
        {"steps": 0, "dt": DT},
        {"steps": 10, "dt": DT, "every": 3},
        {"steps": 10, "dt": -1.0},
        {"steps": 10, "dt": DT, "method": "gauss2"},
        {"steps": 10, "dt": DT, "controller": np.zeros((9, 2))},
        {"steps": 10, "dt": DT, "cost": lambda q, qd, tau: 1.0},
        {"steps": 10, "dt": DT, "dtype": np.float32},
        {"steps": 10, "dt": DT, "friction": True},
    ):
        with pytest.raises(RobotError):
            emdeg.rollout("planar2r", q, q, **wrong)
    with pytest.raises(ScenarioError, match="expected"):
        emdeg.rollout("planar2r", q, q[:2], steps=1, dt=DT)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["numpy", "torch", "cupy", "jax"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_on_a_gpu(library, dtype):
    if library == "jax" and dtype == "float64":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    robot = emdeg.load("puma560")
    q0, qd0, tau = starts(6)
    q, _, cost = by_hand(robot, q0, qd0, tau)
    given = [array.astype(dtype) for array in (q0, qd0, tau)]
    if library == "torch":
        torch = pytest.importorskip("torch")
        given = [torch.from_numpy(array).cuda() for array in given]
    elif library != "numpy":
        given = [pytest.importorskip("cupy" if library == "cupy" else "jax.numpy").asarray(a) for a in given]
    backend = "cuda" if library == "numpy" else "auto"
    found = emdeg.rollout(robot, *given, steps=STEPS, dt=DT, cost=cost_rate, dtype=dtype, backend=backend)
    last = found.q[:, -1]
    last = last.cpu().numpy() if library == "torch" else last.get() if library == "cupy" else np.asarray(last)
    np.testing.assert_allclose(last, q, atol=1e-11 if dtype == "float64" else 1e-4)
    assert cost.shape == tuple(found.cost.shape)
