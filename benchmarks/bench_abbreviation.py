"""Short programs of arms: length against the exact program, certified error against random states and climbs from them.

Writes benchmarks/results/abbreviation.json; what stands there of other robots, functions and errors stays, so the table
can be made in pieces. URDF files come from the package example-robot-data. The bounds must hold at STATES random
states, rates mostly at corners of their box, and where climbs from the worst thousand of these end. Run:
python benchmarks/bench_abbreviation.py [STATES [ERRORS [FUNCTION [ROBOT ...]]]]
for instance python benchmarks/bench_abbreviation.py 10000000 0.02,0.05 inverse_dynamics ur5e z1.urdf
or, within the paper's errors, python benchmarks/bench_abbreviation.py 10000000 paper inverse_dynamics puma560
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np

import emdeg
from emdeg.approximation import SECONDS, Approximation
from emdeg.approximation.program_error import difference
from emdeg.approximation.shortening.adversary import joined, random_states, taken
from emdeg.approximation.shortening.rates import States
from emdeg.programs import Effort, count
from emdeg.robot import Workspace
from record import FOLDER, record

ROBOTS = ("xarm7.urdf", "z1.urdf", "kinova.urdf", "panda", "iiwa14", "ur5e")
UNTUNED = ("ur10_robot.urdf", "talos_left_arm.urdf")
"""Arms that nothing of the search was chosen for."""
PAPER = (0.03, 0.03, 0.03, 0.05, 0.05, 0.05)
"""How wrong the PUMA's short model in its paper is, joint by joint."""
CHUNK, WORST = 250_000, 1000
TRIES, ROUNDS = 12, 24
ROUNDING = 1e-9


def main(
    states: int = 10_000_000,
    errors: str = "0.02,0.05",
    function: str = "inverse_dynamics",
    *robots: str,
) -> None:
    there = FOLDER / "abbreviation.json"
    for name in robots or (*ROBOTS, *UNTUNED):
        for part in errors.split(","):
            found = measured(name, function, PAPER if part == "paper" else float(part), states)
            known = json.loads(there.read_text(encoding="utf-8"))["figures"] if there.exists() else {}
            record("abbreviation", known | {f"{name} {function} {part}": found})
            figures = f"{found['operations']} of {found['exact_operations']} = {found['share']:.3f}"
            verdict = "inside" if found["inside"] else "BEATEN"
            print(
                f"{name} {function} {part}: {figures}, ratio {found['ratio']:.2f}, {verdict}, "
                f"{found['processor_seconds']} s {found['why']}",
                flush=True,
            )


def measured(name: str, function: str, worst_error: float | Sequence[float], states: int) -> dict[str, Any]:
    """What `emdeg abbreviate NAME --function FUNCTION --worst-error E` finds, and whether a state is outside."""
    start = time.process_time()
    found = emdeg.abbreviate(_file(name), function=function, worst_error=worst_error, effort=Effort(SECONDS))
    seconds = time.process_time() - start
    assert isinstance(found, Approximation)
    peak = max(found.largest)
    bounds = np.array([e.bound for e in found.errors])
    worst = _worst(found, states) if states else np.zeros(len(bounds))
    ratios = [e.ratio for e in found.errors if e.bound > ROUNDING * peak and e.value]
    short, exact = count(found.program()).total, count(found.exact).total
    return {
        "robot": name,
        "function": function,
        "worst_error": worst_error,
        "joints": found.robot.freedoms,
        "operations": short,
        "exact_operations": exact,
        "share": short / exact,
        "certified": max(found.certified_error),
        "ratio": max(ratios, default=1.0),
        "processor_seconds": round(seconds, 1),
        "states": states,
        "largest_of_states": [float(w) / p if p else 0.0 for w, p in zip(worst, found.largest)],
        "inside": bool((worst <= bounds + ROUNDING * peak).all()),
        "why": found.why,
        "ended_by_clock": found.cut,
    }


def _worst(found: Approximation, states: int) -> np.ndarray:
    """The largest error of each output over random states and climbs from the worst thousand of them."""
    errors = difference(found.exact, found.program())
    names = [group.name for group in found.exact.inputs]
    limits = np.array([max(e.bound, 1e-300) for e in found.errors])
    random = np.random.default_rng(1)
    worst, kept = np.zeros(len(limits)), None
    for _ in range(math.ceil(states / CHUNK)):
        some = random_states(found.where, names, CHUNK, random)
        sizes = np.abs(errors(some))
        worst = np.maximum(worst, sizes.max(axis=0))
        top = np.argsort(-(sizes / limits).max(axis=1))[:WORST]
        kept = taken(some, top) if kept is None else joined(kept, taken(some, top))
        near = (np.abs(errors(kept)) / limits).max(axis=1)
        kept = taken(kept, np.argsort(-near)[:WORST])
    if kept is not None:
        for output in range(len(limits)):
            reached = climbed(lambda s, k=output: np.abs(errors(s)[:, k]), kept, found.where, random)
            worst[output] = max(worst[output], reached)
    return worst


def climbed(
    size: Callable[[States], np.ndarray], states: States, where: Workspace, random: np.random.Generator
) -> float:
    """The largest size reached from some states: random steps of positions, turns of rates to their corners.

    It knows nothing of what the certificate and the search rest on: that errors are quadratic in the rates, and waves.
    """
    lower, upper = np.array(where.ranges).T
    states, step = dict(states), 0.25
    reached = size(states)
    count_ = len(reached)
    for _ in range(ROUNDS):
        tried = {name: np.repeat(array, TRIES, axis=0) for name, array in states.items()}
        moved = step * (upper - lower) * random.normal(size=tried["q"].shape)
        moved *= random.uniform(size=moved.shape) < 0.5
        tried["q"] = np.clip(tried["q"] + moved, lower, upper)
        for name, most in (("qd", where.speed), ("qdd", where.acceleration)):
            if name in tried:
                chance = random.uniform(size=tried[name].shape)
                corner = np.where(chance < 0.04, np.array(most), np.where(chance < 0.08, -np.array(most), np.nan))
                tried[name] = np.where(np.isnan(corner), tried[name], corner)
        got = size(tried).reshape(count_, TRIES)
        top = got.argmax(axis=1)
        better = got[np.arange(count_), top] > reached
        rows = np.arange(count_) * TRIES + top
        for name in states:
            states[name] = np.where(better[:, None], tried[name][rows], states[name])
        reached = np.maximum(reached, got.max(axis=1))
        step *= 0.95 if better.mean() > 0.3 else 0.8
    return float(reached.max())


def _file(name: str) -> str:
    """A library's robot by name, or the file of example-robot-data."""
    if not name.endswith(".urdf"):
        return name
    found = [Path(str(f.locate())) for f in files("example-robot-data") or () if f.name == name]
    return str(sorted(found)[0])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
