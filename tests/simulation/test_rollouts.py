"""Many trajectories with a cost on the way, against the mechanics stepped by hand and against `simulate`."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.errors import RobotError, ScenarioError
from emdeg.robot import Limits
from emdeg.runtime.cuda import assembled
from emdeg.runtime.engine import machine_engine
from emdeg.simulation import pd
from emdeg.simulation.integrators.device_rollout import device_kernel_text
from emdeg.simulation.integrators.methods import METHODS
from emdeg.simulation.integrators.step_text import kernel_text
from emdeg.simulation.rollouts import _cost, _loop

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


@pytest.mark.parametrize("bits", [32, 64])
def test_what_a_gpu_runs_is_what_this_processor_runs(bits):
    """The kernel's inner function in both precisions, one trajectory at a time."""
    robot, dtype = emdeg.load("planar2r"), np.dtype(f"f{bits // 8}")
    q0, qd0, tau = (array.astype(dtype) for array in starts(2))
    loop = _loop(robot, tau, _cost(robot, cost_rate), False, False, 1.0, 1.0)
    text = device_kernel_text(loop, "semi_implicit", None, bits)
    assert ".visible .entry rollout" in assembled(text, 128, 80)
    engine = machine_engine(kernel_text(loop, METHODS["semi_implicit"], None, 1, bits))
    initial = np.concatenate([q0, qd0, np.zeros((N, 1), dtype)], axis=1)
    out, length = np.empty((N, 1, loop.size), dtype), np.array([DT], dtype)
    places = [initial.ctypes.data, out.ctypes.data, tau.ctypes.data, loop.size, loop.size, 2, STEPS, 1]
    words = (ctypes.c_int64 * 10)(*places, length.ctypes.data, STEPS * 2)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    kind(engine.get_function_address("one"))(words, 0, N)
    q, _, cost = by_hand(robot, *(array.astype(float) for array in (q0, qd0, tau)))
    np.testing.assert_allclose(out[:, 0, :2], q, atol=1e-12 if bits == 64 else 1e-5)
    np.testing.assert_allclose(out[:, 0, -1], cost, atol=1e-12 if bits == 64 else 1e-5)


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
