"""The Delta: full against lumped forearms, and the paper's procedure against ours.

    python benchmarks/bench_delta.py

Operations are counted by the project's convention; times are of compiled batches in this process, one core, the
median of several runs measured side by side. Torque errors are of the lumped model against the full one, along the
paper's circle, over random states about it, and over everything the robot reaches. Prints it all and writes
benchmarks/results/delta.json.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import emdeg
from emdeg.analysis.loops import closed_workspace, poses
from emdeg.loops.views import singularity_map
from emdeg.programs.ir import Dependence, Program, count
from emdeg.programs.simplification import retrace, simplify
from emdeg.programs.trace import Tracer
from emdeg.runtime import compile as compile_program

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.asadi_heydari import torques

from record import record

STATES = 100_000
ROUNDS = 15


def papers(lumped: bool = False) -> Program:
    """Steps 1-7 of Asadi and Heydari, traced as they stand."""
    tracer = Tracer()
    X = tracer.inputs("q", 3, Dependence.CONFIGURATION)
    Xd, Xdd = (tracer.inputs(name, 3, Dependence.RATES) for name in ("qd", "qdd"))
    return tracer.program("papers", {"tau": torques(tracer, X, Xd, Xdd, tracer.sqrt, lumped=lumped)})


def circle(states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t = np.linspace(0, 2 * np.pi, states)
    zero = np.zeros_like(t)
    X = np.stack([0.25 * np.cos(t), 0.25 * np.sin(t), zero - 0.45], -1)
    Xd = np.stack([-0.25 * np.sin(t), 0.25 * np.cos(t), zero], -1)
    return X, Xd, np.stack([-0.25 * np.cos(t), -0.25 * np.sin(t), zero], -1)


def workspace(states: int, speed: float, acceleration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random states within 0.25 m of the axis, between 0.35 and 0.55 m below the base, away from singularities."""
    rng = np.random.default_rng(0)
    X = np.empty((0, 3))
    while len(X) < states:
        draw = rng.uniform([-0.25, -0.25, -0.55], [0.25, 0.25, -0.35], (states, 3))
        draw = draw[np.hypot(draw[:, 0], draw[:, 1]) < 0.25]
        first, second = singularity_map(emdeg.load("delta"), draw)
        X = np.vstack([X, draw[(first > 0.05) & (second > 0.05)]])
    return X[:states], rng.uniform(-speed, speed, (states, 3)), rng.uniform(-acceleration, acceleration, (states, 3))


def whole_workspace(states: int, speed: float, acceleration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random states wherever the robot reaches, 0.05 away from either kind of singularity."""
    robot, rng = emdeg.load("delta"), np.random.default_rng(1)
    found = poses(robot, closed_workspace(robot), 4 * states)
    X = found.q[found.usable][:states]
    return X, rng.uniform(-speed, speed, X.shape), rng.uniform(-acceleration, acceleration, X.shape)


def torque_error(X: np.ndarray, Xd: np.ndarray, Xdd: np.ndarray) -> dict[str, float]:
    full, lumped = (emdeg.inverse_dynamics(emdeg.load(name), X, Xd, Xdd) for name in ("delta", "delta_lumped"))
    error = np.abs(lumped - full)
    return {
        "max_abs_Nm": float(error.max()),
        "max_over_max_percent": float(100 * error.max() / np.abs(full).max()),
        "rms_over_rms_percent": float(100 * np.sqrt(np.mean(error**2) / np.mean(full**2))),
    }


def times(programs: dict[str, Program]) -> dict[str, float]:
    """Nanoseconds a state, each the median of rounds in which all are run in turn."""
    X, Xd, Xdd = circle(STATES)
    compiled = {name: compile_program(program, threads=1) for name, program in programs.items()}
    measured: dict[str, list[float]] = {name: [] for name in compiled}
    for _ in range(ROUNDS):
        for name, function in compiled.items():
            begin = time.perf_counter()
            function(X, Xd, Xdd)
            measured[name].append((time.perf_counter() - begin) / STATES * 1e9)
    return {name: float(np.median(values)) for name, values in measured.items()}


def main() -> None:
    programs = {
        "full": emdeg.program(emdeg.load("delta"), "inverse_dynamics"),
        "lumped": emdeg.program(emdeg.load("delta_lumped"), "inverse_dynamics"),
        "paper_as_printed": retrace(papers()),
        "paper_factored": simplify(papers()),
        "paper_lumped_as_printed": retrace(papers(lumped=True)),
    }
    counts = {name: count(program).as_dict() for name, program in programs.items()}
    totals = {name: c["mul"] + c["add"] + c["div"] for name, c in counts.items()}
    measured = times(programs)
    result = {
        "operations": counts,
        "operations_besides_roots": totals,
        "nanoseconds_a_state": measured,
        "full_over_lumped": {
            "operations": totals["full"] / totals["lumped"],
            "time": measured["full"] / measured["lumped"],
        },
        "paper_over_ours": {
            "operations": totals["paper_as_printed"] / totals["full"],
            "time": measured["paper_as_printed"] / measured["full"],
        },
        "lumped_torque_error": {
            "circle": torque_error(*circle(629)),
            "circle_ten_times_as_fast": torque_error(*(v * 10**k for k, v in enumerate(circle(629)))),
            "workspace_1_m_s_10_m_s2": torque_error(*workspace(500, 1, 10)),
            "workspace_3_m_s_50_m_s2": torque_error(*workspace(500, 3, 50)),
            "whole_workspace_1_m_s_10_m_s2": torque_error(*whole_workspace(2000, 1, 10)),
        },
    }
    print(json.dumps(result, indent=2))
    record("delta", result)


if __name__ == "__main__":
    main()
