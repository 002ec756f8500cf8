"""Steps per second of a simulated robot, beside MuJoCo in the same run.

    python benchmarks/bench_simulation.py [robot ...]

The same robot (MuJoCo's built from the same numbers, the accelerations compared first), the same integrators (MuJoCo's
RK4 and semi-implicit Euler), the same step, gravity, no effort, no contacts, one core, double precision, every state
recorded. MuJoCo steps in its own C++ rollout, with everything it does not need here switched off. Prints medians and
the ratio of steps per second (above 1: emdeg is faster); writes benchmarks/results/simulation.json.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import emdeg
from emdeg.robot.assembly import loaded_inertias
from emdeg.robot.model import BASE, Robot
from emdeg.simulation.integrators.control_loop import Loop
from emdeg.simulation.integrators.rollout import compiled_rollout
from emdeg.simulation.plant.programs import accelerations
from record import record

STEP = 1e-3
ONE_STEPS, BATCH, BATCH_STEPS, ROUNDS = 1000, 1000, 20, 7
INTEGRATORS = {"rk4": mujoco.mjtIntegrator.mjINT_RK4, "semi_implicit": mujoco.mjtIntegrator.mjINT_EULER}
TARGETS = {"one": 8, "batch": 40}


def mujoco_model(robot: Robot) -> mujoco.MjModel:
    """The same tree in MuJoCo; inertias are set after compilation, which would refuse published data."""
    spec = mujoco.MjSpec()
    place = emdeg.link_transforms(robot, np.zeros(robot.n))
    bodies: list[Any] = []
    for k, link in enumerate(robot.links):
        parent = spec.worldbody if link.parent == BASE else bodies[link.parent]
        before = np.eye(4) if link.parent == BASE else place[link.parent]
        T = np.linalg.inv(before) @ place[k]
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, T[:3, :3].reshape(-1))
        body = parent.add_body(name=f"b{k}", pos=T[:3, 3], quat=quat, mass=1, inertia=[1, 1, 1], explicitinertial=True)
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.joint.kind == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=f"j{k}", type=kind, axis=[0, 0, 1], armature=float(link.joint.drive.inertia))
        bodies.append(body)
    model = spec.compile()
    for k, inertia in enumerate(loaded_inertias(robot)):
        m, h = float(inertia.mass), np.array([float(v) for v in inertia.first_moment])
        com = h / m if m else np.zeros(3)
        xx, xy, xz, yy, yz, zz = (float(v) for v in inertia.tensor)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (com @ com * np.eye(3) - np.outer(com, com))
        moments, axes = np.linalg.eigh(tensor)
        axes[:, 2] *= np.linalg.det(axes)
        body = model.body(f"b{k}").id
        model.body_mass[body], model.body_ipos[body], model.body_inertia[body] = m, com, moments
        mujoco.mju_mat2Quat(model.body_iquat[body], axes.reshape(-1))
    # Compiled with placeholders, the bodies were taken to have their mass centre and axes at the frame.
    model.body_sameframe[:] = 0
    model.body_simple[:] = 0
    model.dof_simplenum[:] = 0
    model.opt.gravity[:] = [float(v) for v in robot.gravity]
    model.opt.timestep = STEP
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(
        off.mjDSBL_CONSTRAINT
        | off.mjDSBL_CONTACT
        | off.mjDSBL_LIMIT
        | off.mjDSBL_EQUALITY
        | off.mjDSBL_FRICTIONLOSS
        | off.mjDSBL_ACTUATION
        | off.mjDSBL_SENSOR
        | off.mjDSBL_WARMSTART
        | off.mjDSBL_EULERDAMP
    )
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def largest_difference(robot: Robot, model: mujoco.MjModel, rng: np.random.Generator) -> float:
    """Between the two programs' accelerations at random states, relative."""
    data, worst = mujoco.MjData(model), 0.0
    for _ in range(20):
        q, qd = rng.uniform(-1, 1, (2, robot.n))
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        ours = emdeg.forward_dynamics(robot, q, qd, np.zeros(robot.n))
        worst = max(worst, float(np.max(np.abs(ours - data.qacc)) / np.max(np.abs(ours))))
    return worst


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(robot: Robot, method: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    model = mujoco_model(robot)
    model.opt.integrator = INTEGRATORS[method]
    difference = largest_difference(robot, model, rng)
    assert difference < 1e-9, f"the models differ by {difference}"
    data = mujoco.MjData(model)
    n = robot.n
    ours = compiled_rollout(Loop(n, accelerations(robot), work=False), method)
    rows = []
    for kind, count, steps in (("one", 1, ONE_STEPS), ("batch", BATCH, BATCH_STEPS)):
        x = np.concatenate([rng.uniform(-1, 1, (count, n)), rng.uniform(-0.5, 0.5, (count, n))], axis=1)
        state = np.concatenate([np.zeros((count, 1)), x], axis=1)
        record = np.zeros((count, steps, 2 * n))
        theirs_out = np.zeros((count, steps, 1 + 2 * n))
        sensors = np.zeros((count, steps, 0))

        def mujoco_run(state=state, steps=steps, out=theirs_out, sensors=sensors) -> None:
            rollout.rollout(model, data, state, nstep=steps, state=out, sensordata=sensors, skip_checks=False)

        def emdeg_run(x=x, steps=steps, out=record) -> None:
            ours(x, STEP, 1, steps, out=out, threads=1)

        mujoco_run(), emdeg_run()
        apart = float(np.max(np.abs(theirs_out[:, :, 1:] - record)))
        pairs = [(seconds(mujoco_run), _mean_of(emdeg_run)) for _ in range(ROUNDS)]
        theirs, mine = (statistics.median(column) / count / steps for column in zip(*pairs))
        rows.append(
            {
                "robot": robot.name,
                "method": method,
                "kind": kind,
                "trajectories": count,
                "steps": steps,
                "mujoco_ns_per_step": theirs * 1e9,
                "emdeg_ns_per_step": mine * 1e9,
                "ratio": theirs / mine,
                "ratios": [a / b for a, b in pairs],
                "target": TARGETS[kind],
                "trajectories_apart": apart,
            }
        )
    return rows


def _mean_of(call: Callable[[], object], times: int = 10) -> float:
    """The mean time of several calls: ours are too short to be timed one by one."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(1)
    rows = []
    print(f"MuJoCo {mujoco.__version__}, one core, step {STEP:g} s, {ROUNDS} rounds, medians")
    print(f"{'robot':14}{'method':14}{'':7}{'MuJoCo [ns]':>13}{'emdeg [ns]':>12}{'ratio':>8}{'target':>8}{'apart':>10}")
    for name in sys.argv[1:] or ("puma560", "panda"):
        for method in INTEGRATORS:
            for row in compare(emdeg.load(name), method, rng):
                rows.append(row)
                print(
                    f"{name:14}{method:14}{row['kind']:7}{row['mujoco_ns_per_step']:13.0f}"
                    f"{row['emdeg_ns_per_step']:12.1f}{row['ratio']:8.1f}{row['target']:8}"
                    f"{row['trajectories_apart']:10.1e}"
                )
    record("simulation", {"mujoco": mujoco.__version__, "step": STEP, "rows": rows})


if __name__ == "__main__":
    main()
