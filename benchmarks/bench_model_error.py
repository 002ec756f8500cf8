"""Certified errors against ten million random states a robot; writes benchmarks/results/model_error.json.

The bound of each joint must never be beaten, by more than doubles round: ROUNDING of the largest effort, which shows
where a joint's row was kept whole and the bound is 0. Run:
python benchmarks/bench_model_error.py [STATES [ROBOT ...]]
"""

from __future__ import annotations

import math
import sys

import numpy as np

import emdeg
from emdeg.approximation import significant
from emdeg.approximation.row_error import certified_errors
from emdeg.equations import lumped_model
from emdeg.programs import explicit_program as program
from emdeg.robot.workspaces import workspace
from record import record

ROBOTS = ("puma560", "stanford_arm", "jpl_rrp", "panda")
CHUNK = 250_000
ROUNDING = 1e-13


def main(states: int = 10_000_000, *robots: str) -> None:
    results = {}
    for name in robots or ROBOTS:
        robot = emdeg.load(name)
        region = workspace(robot, {joint.name: _range(joint) for joint in robot.joints})
        full = lumped_model(robot)
        short, dropped = significant(full, region)
        errors = certified_errors(full, short, region, seconds=8.0)
        exact = emdeg.compile(emdeg.program(robot, "inverse_dynamics"))
        brief = emdeg.compile(program(short))
        random = np.random.default_rng(0)
        worst, peak = np.zeros(robot.n), np.zeros(robot.n)
        for _ in range(math.ceil(states / CHUNK)):
            q, qd, qdd = region.sample_states(CHUNK, random)
            tau = exact(q, qd, qdd)
            peak = np.maximum(peak, np.abs(tau).max(axis=0))
            worst = np.maximum(worst, np.abs(tau - brief(q, qd, qdd)).max(axis=0))
        rows = [
            {
                "certified": e.bound,
                "found": e.value,
                "ratio": e.ratio if e.value else None,
                "largest_of_random_states": float(w),
                "inside": bool(w <= e.bound + ROUNDING * peak.max()),
            }
            for e, w in zip(errors, worst)
        ]
        results[name] = {"states": states, "terms_dropped": len(dropped), "joints": rows}
        record("model_error", results)
        print(name, "inside" if all(row["inside"] for row in rows) else "BEATEN", flush=True)
        for row in rows:
            shown = {k: v if v is None or isinstance(v, bool) else float(f"{v:.4g}") for k, v in row.items()}
            print("  ", shown, flush=True)


def _range(joint) -> tuple[float, float]:
    """The joint's own limits, else a whole turn, else a metre either way."""
    limits = joint.limits
    if limits.lower is not None and limits.upper is not None:
        return float(limits.lower), float(limits.upper)
    return (-math.pi, math.pi) if joint.kind == "revolute" else (-1.0, 1.0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
