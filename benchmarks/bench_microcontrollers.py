"""Inverse dynamics on small processors: instructions of a call, stack and code, on QEMU's boards and on x86-64.

    python benchmarks/bench_microcontrollers.py

Objects are made by LLVM for each core, linked with a loop over states and nothing else, and executed one instruction at
a time; every one is compared with the program first. A straight-line program has no branches, so the count is the
same for every state: it is the worst case. The short models are `emdeg.approximation.shortest`'s with a certified
error of one hundredth of each joint's largest effort over the workspace. The Delta has its authors' short model, with
the forearms' masses at their ends (`emdeg abbreviate delta --tradeoff curve.png --beside delta_lumped` certifies it).
Prints it all and writes benchmarks/results/microcontrollers.json.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import emdeg
from emdeg.approximation import shortest
from emdeg.codegen import TARGETS
from emdeg.programs import Effort, Program, count, evaluate
from record import record

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.qemu import run_object

CORES = (("cortex-m4f", True), ("cortex-m7", True), ("cortex-m7", False), ("x86-64", True), ("x86-64", False))
ROBOTS = ("puma560", "panda", "ur5e", "delta")
ERROR, EFFORT, SECONDS = 0.01, 0.3, 60.0
"""Of the short models: parts of the largest effort; nominal seconds; processor's seconds, at most."""


def models(name: str) -> dict[str, Program]:
    """The exact inverse dynamics, and the short one; of the Delta, the one with its forearms lumped."""
    robot = emdeg.load(name)
    exact = emdeg.program(robot, "inverse_dynamics")
    if not robot.is_tree:
        return {"exact": exact, "forearms lumped": emdeg.program(f"{name}_lumped", "inverse_dynamics")}
    return {
        "exact": exact,
        "short": shortest(robot, worst_error=ERROR, exact=exact, effort=EFFORT, time=Effort(SECONDS)).program(),
    }


def flown(name: str, program: Program, cpu: str, single: bool, folder: Path):
    """A run on the board at three states, its results compared with the program's."""
    words = {"name": f"{name}_inverse_dynamics", "cpu": cpu, "single": single}
    made = TARGETS["object"].emit(program, **words)
    (header,) = TARGETS["object"].beside(made, program, meaning="", units={}, **words).values()
    robot, rng = emdeg.load(name), np.random.default_rng(1)
    states = [{g.name: rng.uniform(-1, 1, g.size) for g in program.inputs} for _ in range(3)]
    if not robot.is_tree:
        home = emdeg.dynamics.kind_of(robot).home(robot)
        states = [state | {"q": home + state["q"] / 50} for state in states]
    found = run_object(program, words["name"], made, header, cpu, single, states, folder)
    for state, outputs in zip(states, found.outputs):
        wanted = evaluate(program, state)["tau"]
        np.testing.assert_allclose(outputs["tau"], wanted, atol=(2e-4 if single else 1e-12) * np.abs(wanted).max())
    return found


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ROBOTS:
            for model, program in models(name).items():
                row = {"robot": name, "model": model, "operations": count(program).as_dict(), "cores": {}}
                for cpu, single in CORES:
                    found = flown(name, program, cpu, single, Path(folder, f"{name}{model}{cpu}{single}"))
                    core = f"{cpu} {'float' if single else 'double'}"
                    row["cores"][core] = [found.instructions, found.stack, found.code]
                    print(name, model, core, *row["cores"][core], flush=True)
                rows.append(row)
    record("microcontrollers", rows)


if __name__ == "__main__":
    main()
