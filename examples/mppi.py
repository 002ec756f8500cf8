"""Model-predictive path integral control: a Panda swings its hand past an obstacle to a target.

    python examples/mppi.py [--rollouts 2000] [--seconds 1.4] [--cuda] [--gif swing.gif] [--figure swing.png]

Every 20 ms the controller tries many effort sequences at once in one call of `emdeg.rollout`, robot, integrator and
cost being one compiled function, and takes their mean, weighted by how little each costs. Without `--cuda` it runs on
this processor's cores; with it, in torch on a GPU, where 100,000 rollouts a step are one kernel.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import emdeg

ROBOT = emdeg.load("panda")
START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.9, 0.8])
TARGET = np.array([-0.25, -0.39, 0.40])
"""Where the hand shall be [m]."""
OBSTACLE, RADIUS = np.array([-0.41, -0.22, 0.38]), 0.08
"""A ball that the hand must not touch [m]."""
STEP, HORIZON, HELD = 0.02, 32, 4
"""A sample's length [s], how many samples are looked ahead, and how many each effort is held."""
SPREAD = 2.0
"""Standard deviation of the accelerations that are tried [rad/s^2]; the mass matrix makes efforts of them."""
LIMIT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])


def cost(q, qd, tau, tool):
    """The rate of what shall be small: way to the target, nearness to the ball, speed."""
    away = sum((tool[k] - TARGET_EXACT[k]) * (tool[k] - TARGET_EXACT[k]) for k in range(3))
    off = sum((tool[k] - OBSTACLE_EXACT[k]) * (tool[k] - OBSTACLE_EXACT[k]) for k in range(3))
    near = off * SHARP
    wall = 40 / (1 + near * near * near * near)
    speed = sum(x * x for x in qd)
    return 60 * away + wall + speed * WEIGHT


TARGET_EXACT, OBSTACLE_EXACT = ([round(float(x), 3) for x in place] for place in (TARGET, OBSTACLE))
SHARP, WEIGHT = round(1 / (1.25 * RADIUS) ** 2), 0.05


def tried(xp: Any, plan: Any, M: Any, rollouts: int, draw: Any) -> Any:
    """(rollouts, HORIZON, 7) efforts [N m] around the plan; each deviation is held for a while, the first is none."""
    noise = SPREAD * draw((rollouts, HORIZON // HELD, len(M)))
    noise[0] = 0
    steps = noise @ M
    held = steps[:, :, None, :] + 0 * plan.reshape(1, HORIZON // HELD, HELD, -1)
    efforts = plan + held.reshape(rollouts, HORIZON, -1)
    limit = as_array(xp, LIMIT, noise)
    return xp.minimum(xp.maximum(efforts, -limit), limit)


def as_array(xp: Any, values: np.ndarray, like: Any) -> Any:
    return values if xp is np else xp.as_tensor(values, dtype=like.dtype, device=like.device)


def improved(xp: Any, q: Any, qd: Any, M: Any, plan: Any, rollouts: int, draw: Any, dtype: str) -> Any:
    """The plan after one look ahead: the mean of what was tried, weighted by exp(-cost / temperature)."""
    efforts = tried(xp, plan, M, rollouts, draw)
    q0, qd0 = (x + 0 * efforts[:, 0] for x in (q, qd))
    found = emdeg.rollout(ROBOT, q0, qd0, efforts, steps=HORIZON, dt=STEP, cost=cost, dtype=dtype)
    price = xp.nan_to_num(found.cost, nan=1e9, posinf=1e9)
    weight = xp.exp(-(price - price.min()) / (0.05 * (price.min() + 0.02)))
    return xp.tensordot(weight / weight.sum(), efforts, 1)


def swing(rollouts: int = 2000, seconds: float = 1.4, cuda: bool = False, seed: int = 0) -> dict[str, Any]:
    """The motion under control: times [s], q [rad], the hand's places [m], and seconds each look ahead took."""
    if cuda:
        import torch

        xp, dtype = torch, "float32"
        torch.manual_seed(seed)
        draw = lambda shape: torch.randn(shape, device="cuda")  # noqa: E731
        put = lambda array: torch.as_tensor(array, dtype=torch.float32, device="cuda")  # noqa: E731
        back = lambda array: array.cpu().numpy().astype(float)  # noqa: E731
    else:
        xp, dtype = np, "float64"
        draw = np.random.default_rng(seed).standard_normal
        put = back = np.asarray
    q, qd = START.copy(), np.zeros(7)
    plan = put(np.tile(emdeg.gravity(ROBOT, q), (HORIZON, 1)))
    states, looks = [q], []
    for _ in range(round(seconds / STEP)):
        begin = time.perf_counter()
        M = put(emdeg.mass_matrix(ROBOT, q))
        plan = improved(xp, put(q), put(qd), M, plan, rollouts, draw, dtype)
        tau = back(plan[0])
        looks.append(time.perf_counter() - begin)
        # The robot itself moves in finer steps than the controller thinks in.
        moved = emdeg.rollout(ROBOT, q[None], qd[None], np.tile(tau, (20, 1)), steps=20, dt=STEP / 20, method="rk4")
        q, qd = moved.q[0, -1], moved.qd[0, -1]
        states.append(q)
        # What was planned moves up; the end is held, with gravity where the arm is now.
        plan = xp.concatenate([plan[1:], put(emdeg.gravity(ROBOT, q)[None])])
    path = np.array(states)
    hand = emdeg.forward_kinematics(ROBOT, path)[:, :3, 3]
    return {"t": STEP * np.arange(len(path)), "q": path, "hand": hand, "looks": np.array(looks)}


def figure(found: dict[str, Any]) -> Any:
    """The hand's way from above, past the obstacle, and its distance from the target over time."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    drawn = Figure(figsize=(9, 3.6), layout="constrained")
    above, over_time = drawn.subplots(1, 2)
    hand = found["hand"]
    above.plot(hand[:, 0], hand[:, 1], label="hand")
    above.add_patch(Circle((OBSTACLE[0], OBSTACLE[1]), RADIUS, alpha=0.3, label="obstacle"))
    above.plot(*TARGET[:2], "x", label="target")
    above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    above.legend()
    over_time.plot(found["t"], np.linalg.norm(hand - TARGET, axis=1), label="to the target")
    over_time.plot(found["t"], np.linalg.norm(hand - OBSTACLE, axis=1) - RADIUS, label="clear of the obstacle")
    over_time.set(xlabel="t [s]", ylabel="distance [m]", ylim=(0, None))
    over_time.legend()
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rollouts", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=1.4)
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--gif", type=Path)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    found = swing(given.rollouts, given.seconds, given.cuda)
    left = np.linalg.norm(found["hand"][-1] - TARGET)
    clear = np.linalg.norm(found["hand"] - OBSTACLE, axis=1).min() - RADIUS
    looks = found["looks"][1:]  # the first one compiles
    print(f"{1000 * left:.0f} mm from the target, {1000 * clear:.0f} mm clear of the obstacle")
    usual, most = 1000 * np.median(looks), 1000 * looks.max()
    print(f"a look ahead of {given.rollouts} rollouts: {usual:.1f} ms, at most {most:.1f} ms")
    if given.figure:
        figure(found).savefig(given.figure, dpi=110)
    if given.gif:
        from emdeg.simulation.pictures.stick_figures import animate

        animate(ROBOT, found["t"], found["q"], given.gif, "MPPI: past an obstacle to a target")


if __name__ == "__main__":
    main()
