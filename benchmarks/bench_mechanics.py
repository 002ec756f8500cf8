"""Numeric mechanics, per call and per batch, beside Pinocchio's Python calls in the same run.

    python benchmarks/bench_mechanics.py

Prints microseconds a state and the ratio Pinocchio / emdeg (above 1: emdeg is faster); writes
benchmarks/results/mechanics.json. Pinocchio has no batched Python call, so its loop over states is the peer of a batch.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import emdeg
from emdeg.robot.model import Robot
from record import record

STATES = 10_000


def pinocchio_model(robot: Robot) -> pin.Model:
    """The same chain in Pinocchio, built joint by joint; drive inertias as armature."""
    model = pin.Model()
    parent, still = 0, np.zeros(robot.n)
    zero = emdeg.link_transforms(robot, still)
    before = np.eye(4)
    for k, link in enumerate(robot.links):
        place = pin.SE3(np.linalg.inv(before) @ zero[k])
        joint = pin.JointModelRZ() if link.joint.kind == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, place, link.joint.name)
        xx, xy, xz, yy, yz, zz = (float(v) for v in link.inertia.tensor)
        h, m = np.array([float(v) for v in link.inertia.first_moment]), float(link.inertia.mass)
        com = h / m if m else np.zeros(3)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (com @ com * np.eye(3) - np.outer(com, com))
        model.appendBodyToJoint(parent, pin.Inertia(m, com, tensor), pin.SE3.Identity())
        before = zero[k]
    model.armature = np.array([float(link.joint.drive.inertia) for link in robot.links])
    return model


def microseconds(call: Callable[[], object], states: int = 1, least: float = 0.2) -> float:
    """The median time of a call over several runs, per state."""
    call()
    times = []
    spent = 0.0
    while spent < least or len(times) < 5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        spent += times[-1]
    return statistics.median(times) / states * 1e6


def main() -> None:
    rng = np.random.default_rng(1)
    rows = []
    print(f"{'robot':14}{'function':20}{'peer [us]':>10}{'call [us]':>10}{'ratio':>8}{'batch [us]':>11}{'ratio':>8}")
    for name in ("puma560", "ur5e", "panda"):
        robot = emdeg.load(name)
        model = pinocchio_model(robot)
        data = model.createData()
        q, qd, x = (rng.uniform(-2, 2, (STATES, robot.n)) for _ in range(3))
        peers = {
            "inverse_dynamics": lambda k: pin.rnea(model, data, q[k], qd[k], x[k]),  # noqa: B023
            "mass_matrix": lambda k: pin.crba(model, data, q[k]),  # noqa: B023
            "forward_dynamics": lambda k: pin.aba(model, data, q[k], qd[k], x[k]),  # noqa: B023
        }
        for function, peer in peers.items():
            ours = getattr(emdeg, function)
            arguments = (q,) if function == "mass_matrix" else (q, qd, x)
            first = tuple(a[0] for a in arguments)
            assert np.allclose(_full(peer(0)), ours(robot, *first), rtol=1e-9, atol=1e-9), (name, function)
            row = {
                "robot": name,
                "function": function,
                "pinocchio_us": microseconds(lambda: [peer(k) for k in range(1000)], 1000),  # noqa: B023
                "call_us": microseconds(lambda: ours(robot, *first)),  # noqa: B023
                "batch_us": microseconds(lambda: ours(robot, *arguments), STATES),  # noqa: B023
            }
            row["call_ratio"] = row["pinocchio_us"] / row["call_us"]
            row["batch_ratio"] = row["pinocchio_us"] / row["batch_us"]
            rows.append(row)
            print(
                f"{name:14}{function:20}{row['pinocchio_us']:10.2f}{row['call_us']:10.1f}{row['call_ratio']:8.3f}"
                f"{row['batch_us']:11.3f}{row['batch_ratio']:8.2f}"
            )
    record("mechanics", {"states": STATES, "rows": rows})


def _full(value: np.ndarray) -> np.ndarray:
    """Pinocchio fills one triangle of a mass matrix."""
    return np.triu(value) + np.triu(value, 1).T if value.ndim == 2 else value


if __name__ == "__main__":
    main()
