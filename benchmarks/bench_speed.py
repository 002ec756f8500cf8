"""How fast generated programs run, against Pinocchio's C++ routines in the same run.

    python benchmarks/bench_speed.py [--quick] [--robots puma560,panda] [--functions gravity,...] [--shift BYTES]

Contestants run interleaved in one process, pinned to one core, over the same random states, each twice in a row; the
second run is timed: its code and states are then where it left them itself. Each figure is the one that a tenth of
the repetitions stay below, of processor time (two cores: of the clock, the best), since other work on the machine, on
a shared core too, only ever lengthens a time. `--shift` puts so many idle bytes before a C function's code, which
should make no difference. Every contestant's result is compared first: all compute the same. It
prints the times a state and the ratios to Pinocchio's, and writes benchmarks/results/speed.json. Needs g++, the
packages `pin` and `cmeel-eigen` (pip install 'emdeg[bench]'); without them only our own times are given.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import emdeg
from emdeg.codegen.c import COptions, emit_c
from emdeg.codegen.c.template import parameters
from emdeg.programs.build import plain_program
from emdeg.programs.ir import count
from emdeg.runtime import cores
from peer import ROUTINES, NoPeer, Pinocchio, pointer, python_model
from record import record

STATES = 512
BATCH = 16_384
FLAGS = ["-O3", "-march=native", "-ffp-contract=fast", "-fPIC"]
COUNTS = ("operations", "sincos", "operations of the plain program")

Call = Callable[[], object]


def c_library(program, compiler: str, folder: Path, tag: str = "", shift: int = 0) -> ctypes.CDLL:
    """The emitted function with inlined trigonometry and, compiled apart, a loop that calls it state by state.

    `shift`: bytes of idle instructions before its code.
    """
    arrays = [(group.name, group.size) for group in program.inputs]
    arrays += [(group.name, len(group.entries)) for group in program.outputs]
    types = ", ".join(["const double *"] * len(program.inputs) + ["double *"] * len(program.outputs))
    given = ", ".join(f"{kind} {name}" for kind, (name, _) in zip(types.split(", "), arrays))
    passed = ", ".join(f"{name} + {size} * i" for name, size in arrays)
    name = f"{program.name}_{compiler}{tag}"
    text = emit_c(program, COptions(trig="inline"), name="f")
    if shift:
        head, signature, body = text.rpartition(f"void f({parameters(program)})\n{{\n")
        text = f'{head}{signature}    __asm__ volatile(".skip {shift}, 0x90");\n{body}'
    sources = {
        f"{name}.c": text,
        f"{name}_loop.c": f"#include <stddef.h>\nvoid f({types});\nvoid loop(size_t n, {given})\n"
        f"{{ for (size_t i = 0; i < n; ++i) f({passed}); }}\n",
    }
    objects = []
    for file, text in sources.items():
        (folder / file).write_text(text)
        objects.append(str(folder / f"{file}.o"))
        subprocess.run([compiler, *FLAGS, "-c", str(folder / file), "-o", objects[-1]], check=True)
    target = folder / f"{name}.so"
    subprocess.run([compiler, "-shared", *objects, "-o", str(target), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def typical_times(
    contestants: dict[str, tuple[Call, int]],
    repetitions: int,
    quantile: float = 0.1,
    clock: Callable[[], int] = time.thread_time_ns,
) -> dict[str, float]:
    """Nanoseconds a state of each call (a call, how many states it does), interleaved.

    Each runs once before it is timed: what the one before it left in the caches is not its own.
    """
    times: dict[str, list[int]] = {name: [] for name in contestants}
    for _ in range(repetitions):
        for name, (call, _) in contestants.items():
            call()
            start = clock()
            call()
            times[name].append(clock() - start)
    return {name: float(np.quantile(times[name], quantile)) / states for name, (_, states) in contestants.items()}


def repeated(call: Call, number: int) -> Call:
    def run() -> None:
        for _ in range(number):
            call()

    return run


def agree(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(
        found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max(), err_msg=f"{name} computes something else"
    )


def measure(
    robot, function: str, peer: Pinocchio | None, folder: Path, repetitions: int, shift: int = 0
) -> dict[str, float]:
    """Nanoseconds a state, by contestant."""
    program = emdeg.program(robot, function)
    rng = np.random.default_rng(1)
    inputs = {group.name: rng.uniform(-3, 3, (BATCH, group.size)) for group in program.inputs}
    few = {name: np.ascontiguousarray(array[:STATES]) for name, array in inputs.items()}
    exact = getattr(emdeg, function)(robot, **{name: array[STATES - 1] for name, array in few.items()})
    expected = np.concatenate([np.ravel(part) for part in (exact if isinstance(exact, tuple) else (exact,))])
    contestants: dict[str, tuple[Call, int]] = {}
    if peer is not None:
        filled = [few.get(name, few["q"]) for name in ("q", "qd")] + [few.get("qdd", few.get("tau", few["q"]))]
        peer.states(*filled)
        for routine in ROUTINES[function]:
            out = np.empty(robot.n + 3 * robot.n**2)
            peer.call(routine, out)()
            same = out[: expected.size]
            if function.endswith("_vjp"):
                same = adjoint(out, routine, next(few[name][-1] for name in few if name.endswith("_c")))
            agree(f"Pinocchio's {routine}", same, expected[: same.size])
            contestants[f"pinocchio {routine}"] = (peer.call(routine), STATES)
    plain = plain_program(robot, function)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for written, tag in ((program, ""), (plain, ", plain program")):
            loop = c_library(written, compiler, folder, "_plain" if tag else "", shift).loop
            loop.restype = None
            results = [np.empty((STATES, len(group.entries))) for group in written.outputs]
            pointers = [pointer(array) for array in [*few.values(), *results]]
            call = _called(loop, ctypes.c_size_t(STATES), *pointers)
            call()
            agree(f"C by {compiler}", np.concatenate([part[-1] for part in results]), expected)
            contestants[f"C, {compiler}{tag}"] = (call, STATES)
    compiled = emdeg.compile(program, threads=1)
    outs = [np.empty((BATCH, *group.shape)) for group in program.outputs]
    contestants["batch, 1 core"] = (lambda: compiled(**inputs, out=outs), BATCH)
    times = typical_times(contestants, repetitions)
    agree("the batch", np.concatenate([np.ravel(part[STATES - 1]) for part in outs]), expected)
    found = count(program)
    return times | dict(zip(COUNTS, (found.total, found.sincos, count(plain).total)))


def adjoint(out: np.ndarray, routine: str, weights: np.ndarray) -> np.ndarray:
    """The weights times the matrices that a routine for derivatives left: those by q and qd and, of aba, by tau."""
    n = weights.size
    matrices = out[n:] if routine == "aba_derivatives" else out[: 2 * n * n]
    return (weights @ matrices.reshape(-1, n, n)).ravel()


def _called(function, *args) -> Call:
    return lambda: function(*args)


def two_cores(robot, function: str, repetitions: int) -> dict[str, float]:
    """Batches on one core and on two, interleaved; the best times, at which both cores were free."""
    program = emdeg.program(robot, function)
    rng = np.random.default_rng(1)
    contestants: dict[str, tuple[Call, int]] = {}
    for states in (8 * BATCH, 64 * BATCH):
        inputs = {group.name: rng.uniform(-3, 3, (states, group.size)) for group in program.inputs}
        outs = [np.empty((states, *group.shape)) for group in program.outputs]
        for threads in (1, 2):
            compiled = emdeg.compile(program, threads=threads)
            contestants[f"batch of {states}, {threads} cores"] = (
                lambda compiled=compiled, inputs=inputs, outs=outs: compiled(**inputs, out=outs),
                states,
            )
    return typical_times(contestants, 3 * repetitions, quantile=0.0, clock=time.perf_counter_ns)


def from_python(robot, repetitions: int) -> dict[str, float]:
    """One state from Python: our bound call and Pinocchio's."""
    program = emdeg.program(robot, "inverse_dynamics")
    state = np.random.default_rng(2).uniform(-3, 3, (3, robot.n))
    bound = emdeg.compile(program).bind(*(row.copy() for row in state))
    contestants: dict[str, tuple[Call, int]] = {"bound call": (repeated(bound.run, 1000), 1000)}
    try:
        pin, model = python_model(robot)
        data = model.createData()
        agree("Pinocchio in Python", pin.rnea(model, data, *state), emdeg.inverse_dynamics(robot, *state))
        rnea, (q, qd, qdd) = pin.rnea, state
        contestants["pinocchio's Python call"] = (repeated(lambda: rnea(model, data, q, qd, qdd), 1000), 1000)
    except ImportError:
        pass
    return typical_times(contestants, repetitions)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of generated programs against Pinocchio's C++ routines.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--functions", default=",".join(ROUTINES), help="only these")
    parser.add_argument("--robots", default="puma560,panda")
    parser.add_argument("--shift", type=int, default=0, metavar="BYTES", help="idle bytes before the code of C")
    asked = parser.parse_args()
    repetitions = 60 if asked.quick else 300
    results: dict[str, object] = {}
    everywhere = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.robots.split(","):
            robot = emdeg.load(name)
            try:
                peer = Pinocchio(robot)
            except NoPeer as problem:
                print(f"without Pinocchio: {problem}")
                peer = None
            row: dict[str, object] = {}
            if everywhere:
                os.sched_setaffinity(0, {max(everywhere)})
            for function in asked.functions.split(","):
                Path(folder, name).mkdir(exist_ok=True)
                times = measure(robot, function, peer, Path(folder, name), repetitions, asked.shift)
                row[function] = with_ratios(f"{name} {function}", times)
            row["from_python"] = with_ratios(f"{name} from Python", from_python(robot, repetitions))
            if everywhere:
                os.sched_setaffinity(0, everywhere)
            if cores() > 1:
                row["two_cores"] = with_ratios(f"{name} batch", two_cores(robot, "inverse_dynamics", repetitions))
            results[name] = row
    record("speed", results)


def with_ratios(title: str, times: dict[str, float]) -> dict[str, object]:
    """The times and, where Pinocchio took part, how many times faster each contestant is; printed too."""
    times = dict(times)
    operations = {key: int(times.pop(key)) for key in COUNTS if key in times}
    peers = [value for name, value in times.items() if name.startswith("pinocchio")]
    print(f"\n{title}" + "".join(f"  {key} {value}" for key, value in operations.items()))
    ratios = {}
    for contestant, value in times.items():
        if peers:
            ratios[contestant] = round(min(peers) / value, 2)
        print(f"  {contestant:32} {value:9.1f} ns a state" + (f"  {ratios[contestant]:7.2f} x" if peers else ""))
    rounded = {name: round(value, 2) for name, value in times.items()}
    return {"ns_a_state": rounded, "times_faster": ratios, **operations}


if __name__ == "__main__":
    main()
