"""Short programs of real arms: length against the exact program, certified error against ten million random states.

Writes benchmarks/results/short_programs.json. URDF files come from the package example-robot-data. Run:
python benchmarks/bench_short_programs.py [STATES [PART_OF_EFFORT [ROBOT ...]]]
"""

from __future__ import annotations

import math
import sys
import time
from importlib.metadata import files
from pathlib import Path

import numpy as np

import emdeg
from emdeg.programs import count
from emdeg.reduce import shortest
from emdeg.reduce.steering import random_states
from record import record

ROBOTS = ("xarm7.urdf", "z1.urdf", "kinova.urdf", "panda", "iiwa14", "ur5e", "puma560")
CHUNK = 250_000
ROUNDING = 1e-9


def main(states: int = 10_000_000, worst_error: float = 0.02, *robots: str) -> None:
    results = {}
    for name in robots or ROBOTS:
        start = time.process_time()
        found = shortest(_file(name), worst_error=worst_error, effort=3.0)
        seconds = time.process_time() - start
        worst = _worst(found, states)
        peak = max(found.largest)
        rows = [
            {
                "certified": part,
                "ratio": e.ratio if e.bound > ROUNDING * peak else None,
                "largest_of_random_states": float(w) / p if p else 0.0,
                "inside": bool(w <= e.bound + ROUNDING * peak),
            }
            for e, p, part, w in zip(found.errors, found.largest, found.relative, worst)
        ]
        short, exact = count(found.program).total, count(found.exact).total
        results[name] = {
            "worst_error": worst_error,
            "operations": short,
            "exact_operations": exact,
            "share": short / exact,
            "processor_seconds": round(seconds, 1),
            "states": states,
            "joints": rows,
        }
        record("short_programs", results)
        ratios = [row["ratio"] for row in rows if row["ratio"]]
        verdict = "inside" if all(row["inside"] for row in rows) else "BEATEN"
        figures = f"{short} of {exact} = {short / exact:.3f}, ratio {max(ratios, default=1.0):.2f}"
        print(f"{name}: {figures}, {verdict}, {seconds:.0f} s", flush=True)


def _worst(found, states: int) -> np.ndarray:
    """The largest error of each output over random states, rates mostly at corners of their box."""
    exact, short = (emdeg.compile(program) for program in (found.exact, found.program))
    random = np.random.default_rng(1)
    worst = np.zeros(len(found.errors))
    for _ in range(math.ceil(states / CHUNK)):
        some = random_states(found.where, ("q", "qd", "qdd"), CHUNK, random)
        worst = np.maximum(worst, np.abs(exact(**some) - short(**some)).max(axis=0))
    return worst


def _file(name: str) -> str:
    """A library's robot by name, or the file of example-robot-data."""
    if not name.endswith(".urdf"):
        return name
    found = [Path(str(f.locate())) for f in files("example-robot-data") or () if f.name == name]
    return str(sorted(found)[0])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3]), *sys.argv[3:])
