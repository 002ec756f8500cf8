"""Sweeps: 100 million inverse dynamics of the PUMA 560 over random states, with peak torque statistics.

    python benchmarks/bench_sweep.py [--states 1e8] [--rounds 3]

Measured: states per second and core, sampling and statistics included; the scaling from one process to two; the memory
of the processes from their first chunk to their last; and, in a run of its own with chunks of about a second, the
engine's overhead: the share of a process's time that is not computing. One process and two take turns, medians are
stated. A process's first chunk, which holds its start and its compilation, and the last ones, after which another may
have nothing left to do, do not count for rates. The statistics are compared with NumPy's of the numeric mechanics'
torques over a part of the same states. Writes benchmarks/results/sweep.json.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import emdeg
from emdeg.runtime import cores
from emdeg.sweeps import Compute, States, Study
from emdeg.sweeps.chunk import compute_chunk
from emdeg.sweeps.folder import open_folder
from emdeg.sweeps.local import local_chunks
from emdeg.sweeps.prepare import prepare
from record import record

TARGETS = {"scaling": 1.8, "overhead": 0.05}
CHUNK_SECONDS = 1.0


def study(states: int, chunk_states: int | None = None) -> Study:
    return Study(
        "puma560 peak torques",
        ("puma560",),
        (Compute(function="inverse_dynamics", statistics=("max_abs", "rms", "at")),),
        states=States(count=states, speed=2.0, acceleration=5.0),
        chunk_states=chunk_states,
        seed=560,
    )


def rate_of_one_core() -> float:
    """States per second inside a chunk, compiled and warm."""
    plan = prepare(study(4_096_000, 1_024_000))
    text = plan.to_json()
    compute_chunk(text, 0)
    return 1_024_000 / min(compute_chunk(text, chunk)[1] for chunk in range(1, 4))


def children_memory() -> int:
    """Resident bytes of this process's children."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            try:
                total += int(Path(f"/proc/{child}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except OSError:
                continue
    return total


class Memory(threading.Thread):
    """Samples the workers' memory until stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples: list[tuple[float, int]] = []
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            self.samples.append((time.perf_counter(), children_memory()))

    def stop(self) -> None:
        self._ended.set()
        self.join()


def run(states: int, chunk_states: int, workers: int) -> dict[str, Any]:
    """One sweep as `emdeg sweep` does it; times count from the first chunk of each process on."""
    plan = prepare(study(states, chunk_states))
    place = Path(tempfile.mkdtemp(prefix="bench_sweep"))
    memory = Memory()
    memory.start()
    start = time.perf_counter()
    try:
        with open_folder(place / "out", plan) as folder:
            arrived, seconds = [], []
            for one in local_chunks(folder.plan_text, range(plan.work.chunks), workers):
                folder.keep(one.chunk, one.data)
                arrived.append(time.perf_counter())
                seconds.append(one.seconds)
            folder.finish()
            whole = time.perf_counter() - start
    finally:
        memory.stop()
        shutil.rmtree(place)
    first, last = workers - 1, plan.work.chunks - workers
    steady = arrived[last] - arrived[first]
    busy = sum(seconds[first + 1 : last + 1])
    used = [size / 1e6 for when, size in memory.samples if arrived[first] < when < arrived[last]] or [0.0]
    half = len(used) // 2
    return {
        "workers": workers,
        "chunks": plan.work.chunks,
        "seconds": whole,
        "rate": (last - first) * chunk_states / steady,
        "whole_rate": states / whole,
        "chunk_seconds": statistics.median(seconds[workers:]),
        "overhead": 1 - busy / (steady * workers),
        "memory_mb": [max(used[: half + 1]), max(used[half:])],
    }


def check() -> float:
    """Largest relative difference of the sweep's statistics from NumPy's of Newton-Euler's torques, same states."""
    from emdeg.sweeps.bench import Bench
    from emdeg.sweeps.chunk import chunk_rows
    from emdeg.sweeps.sampling import samples

    plan = prepare(study(20_000, 20_000))
    bench = Bench(plan)
    (row,) = chunk_rows(bench, 0)
    states = bench.source(samples(plan, 0, 1))(0, 20_000)
    tau = emdeg.inverse_dynamics(emdeg.load("puma560"), states["q"], states["qd"], states["qdd"])
    worst = 0.0
    for j in range(6):
        for name, value in (("greatest", tau[:, j].max()), ("squares", (tau[:, j] ** 2).sum())):
            worst = max(worst, abs(row[f"tau{j + 1}:{name}"][0] / value - 1))
    return worst


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--states", type=float, default=1e8)
    words.add_argument("--rounds", type=int, default=3)
    asked = words.parse_args()
    difference = check()
    assert difference < 1e-9, f"the statistics differ by {difference}"
    rate = rate_of_one_core()
    states = int(asked.states)
    second = int(rate * CHUNK_SECONDS) // 4096 * 4096
    chunk = max(4096, min(second, states // 40 // 4096 * 4096))
    print(f"{cores()} cores, {states:.3g} states, chunks of {chunk:.3g} states; statistics within {difference:.1e}")
    print(f"inside a chunk: {rate / 1e6:.2f} million states per second and core")
    rows: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for _ in range(asked.rounds):
        for workers in (1, 2):
            row = run(states, chunk, workers)
            rows[workers].append(row)
            print(
                f"{workers} process{'es' * (workers > 1):3}{row['seconds']:8.2f} s{row['rate'] / 1e6:9.2f} M/s"
                f"   chunk {row['chunk_seconds']:.2f} s   overhead {100 * row['overhead']:5.2f} %"
                f"   memory {row['memory_mb'][0]:.0f}-{row['memory_mb'][1]:.0f} MB"
            )
    middle = {
        workers: {key: statistics.median(row[key] for row in some) for key in ("rate", "overhead", "seconds")}
        for workers, some in rows.items()
    }
    long = run(10 * second, second, 1)
    scaling = middle[2]["rate"] / middle[1]["rate"]
    growth = max(row["memory_mb"][1] / max(row["memory_mb"][0], 1.0) for some in rows.values() for row in some)
    result = {
        "states": states,
        "chunk_states": chunk,
        "rate_inside_a_chunk": rate,
        "rate_per_core": middle[1]["rate"],
        "rate_two_cores": middle[2]["rate"],
        "scaling": scaling,
        "overhead_of_chunks_of_a_second": long["overhead"],
        "overhead_one": middle[1]["overhead"],
        "overhead_two": middle[2]["overhead"],
        "seconds_one": middle[1]["seconds"],
        "seconds_two": middle[2]["seconds"],
        "memory_growth": growth,
        "statistics_difference": difference,
        "targets": TARGETS,
        "rows": [*rows[1], *rows[2], long],
    }
    print(f"rate per core {middle[1]['rate'] / 1e6:.2f} M/s; scaling {scaling:.2f} (target {TARGETS['scaling']})")
    print(f"overhead of chunks of {long['chunk_seconds']:.2f} s: {100 * long['overhead']:.2f} % (target below 5 %)")
    print(f"largest memory of the second half over that of the first: {growth:.3f}")
    record("sweep", result)


if __name__ == "__main__":
    main()
