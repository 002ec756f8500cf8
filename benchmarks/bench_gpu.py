"""Programs on the GPU: million evaluations a second, rows as users have them, beside the card's own copying.

    python benchmarks/bench_gpu.py [--robots puma560 iiwa14 panda] [--quick] [--urdf ROBOT.urdf]

Needs a GPU, its driver and torch (for arrays, events and graphs). A kernel's rate is taken from a hundred launches of
one captured graph, so that the interpreter does not count; what a call from Python costs is measured apart. Peers that
are at hand are measured in the same run, on one URDF (`--urdf`, or the one that GRiD brings): GRiD's kernels (pip
`grid-rbd`, nvcc), MJX, and Pinocchio on all cores (`pin`, `cmeel-eigen`, g++). Prints it all and writes
benchmarks/results/gpu.json.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np

import emdeg
import gpu_peers
from emdeg.runtime.cuda import CudaProgram, RandomStates, StateStatistics, cuda_driver, device
from emdeg.simulation import pd
from gpu_rates import bound, rate, rows_over_entries
from long_arms import DYNAMICS, JOINTS, chain
from record import record

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives")
SIZES = (256, 1024, 16_384, 1_048_576, 16_777_216)


def copying() -> float:
    """Bytes read and written a second by a copy on the card [TB/s]."""
    import torch

    source = torch.empty(1 << 30, dtype=torch.float32, device="cuda")
    target = torch.empty_like(source)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    target.copy_(source)
    begin.record()
    for _ in range(10):
        target.copy_(source)
    end.record()
    torch.cuda.synchronize()
    return 10 * 2 * source.nbytes / (begin.elapsed_time(end) / 1e3) / 1e12


def from_python(program: emdeg.Program) -> dict[str, float]:
    """Microseconds of a bound call, of a call, and of the bare launch, from Python."""
    import torch

    def each(call, count: int = 2000) -> float:
        for _ in range(20):
            call()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            call()
        spent = time.perf_counter() - start
        torch.cuda.synchronize()
        return spent / count * 1e6

    inputs = [torch.rand((256, group.size), device="cuda") for group in program.inputs]
    run = bound(program, "float32", 256)
    whole = CudaProgram(program, np.dtype("float32"))
    return {
        "bound_call_us": each(run),
        "call_us": each(lambda: whole(*inputs)),
        "bare_launch_us": each(partial(cuda_launch(), *run.fixed)),
    }


def cuda_launch():
    """The driver's own function."""
    return cuda_driver()._launch


def first_call(name: str, function: str) -> float:
    """Seconds from a stored program's name to its first result."""
    import torch

    q = torch.rand((64, emdeg.load(name).n), device="cuda")
    start = time.perf_counter()
    program = emdeg.program(name, function)
    emdeg.compile(program, dtype="float32", backend="cuda")(*[q] * len(program.inputs))
    torch.cuda.synchronize()
    return time.perf_counter() - start


def rollouts(name: str, dtype: str, law: str) -> float:
    """Giga steps a second: four million trajectories, a hundred steps, semi-implicit, states in registers."""
    import torch

    robot, kind = emdeg.load(name), getattr(torch, dtype)
    n, trajectories, steps = robot.n, 1 << 22, 100
    q0, qd0 = (torch.rand((trajectories, n), dtype=kind, device="cuda") - 0.5 for _ in range(2))
    controller = pd(robot, [50.0] * n, [5.0] * n, np.zeros(n), gravity=False)
    if law.endswith("efforts"):
        controller = torch.rand((steps, n), dtype=kind, device="cuda")
    noise = {"deviation": [0.1] * n} if law == "noisy efforts" else {}
    run = partial(emdeg.rollout, robot, q0, qd0, controller, steps=steps, dt=1e-3, dtype=dtype, **noise)
    run()
    torch.cuda.synchronize()
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return trajectories * steps / min(seconds) / 1e9


def statistics(name: str, function: str) -> float:
    """Giga states a second, drawn, computed in float64 and folded on the card, as sweeps do: 2^32 random states."""
    program, on = emdeg.program(name, function), device()
    columns = tuple((group.name, group.size) for group in program.inputs)
    width, states = sum(size for _, size in columns), 1 << 32
    fold = StateStatistics(program, RandomStates(columns), peaks=False)
    low, high = -np.ones(width), np.ones(width)
    fold(on, 1, low, high, np.empty((1, 0)), 0, 0, 1 << 20)
    start = time.perf_counter()
    fold(on, 1, low, high, np.empty((1, 0)), 0, 0, states)
    return states / (time.perf_counter() - start) / 1e9


def long_arms() -> dict[str, dict[str, float]]:
    """Million states a second of arms of 12 and 30 joints in float32; one thread a state spills there."""
    found: dict[str, dict[str, float]] = {}
    for joints in JOINTS:
        robot = chain(joints)
        for function in DYNAMICS:
            program = emdeg.program(robot, function)
            row = {str(states): round(rate(program, "float32", states), 1) for states in (1024, 16_384, 1_048_576)}
            found[f"{joints} joints {function}"] = {"operations": len(program.ops), **row}
            print(joints, function, found[f"{joints} joints {function}"], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=["puma560", "iiwa14", "panda"])
    parser.add_argument("--quick", action="store_true", help="float32 and three sizes alone")
    parser.add_argument("--urdf", type=Path, help="the robot that peers are compared on")
    args = parser.parse_args()
    card = device()
    found: dict = {"card": card.name, "sm": card.sm, "copying_TB_per_s": round(copying(), 2)}
    found["first_call_s"] = round(first_call("panda", "forward_dynamics"), 3)
    found["from_python"] = {
        k: round(v, 2) for k, v in from_python(emdeg.program("puma560", "inverse_dynamics")).items()
    }
    print(found, flush=True)
    sizes = SIZES[::2] if args.quick else SIZES
    rates: dict = {}
    for name in args.robots:
        for function in FUNCTIONS:
            program = emdeg.program(name, function)
            for dtype in ("float32",) if args.quick else ("float32", "float64"):
                row = {str(states): round(rate(program, dtype, states), 1) for states in sizes}
                most = states_bytes(program, dtype) * row[str(sizes[-1])] * 1e6 / 1e12
                rates[f"{name} {function} {dtype}"] = {**row, "memory_TB_per_s": round(most, 2)}
                print(f"{name:8s} {function:30s} {dtype}", row, f"{most:.2f} TB/s", flush=True)
    found["million_states_per_s"] = rates
    found["rows_over_entries"] = {
        name: round(rows_over_entries(emdeg.program(*name.split()[:2]), name.split()[2], 1 << 20), 2) for name in rates
    }
    print(found["rows_over_entries"], flush=True)
    found["giga_steps_per_s"] = {
        f"{name} {law} {dtype}": round(rollouts(name, dtype, law), 2)
        for name in args.robots
        for law in ("pd", "efforts", "noisy efforts")
        for dtype in ("float32", "float64")
    }
    print(found["giga_steps_per_s"], flush=True)
    found["folded_giga_states_per_s"] = {
        f"{name} {function}": round(statistics(name, function), 2)
        for name in args.robots
        for function in ("inverse_dynamics", "mass_matrix")
    }
    print(found["folded_giga_states_per_s"], flush=True)
    found["long_arms"] = long_arms()
    record("gpu", found)  # peers may take minutes, and may fail
    urdf = args.urdf or gpu_peers.grid_urdf()
    found["peers"] = "not measured: no URDF was given and GRiD, which brings one, is not installed"
    if urdf is not None:
        found["peers"] = gpu_peers.compared(urdf)
    record("gpu", found)


def states_bytes(program: emdeg.Program, dtype: str) -> int:
    entries = sum(g.size for g in program.inputs) + sum(len(g.entries) for g in program.outputs)
    return entries * np.dtype(dtype).itemsize


if __name__ == "__main__":
    main()
