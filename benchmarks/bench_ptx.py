"""Registers and spills of every kernel, as NVIDIA's assembler finds them; no GPU is needed.

    python benchmarks/bench_ptx.py [--robots puma560 panda] [--sm 80] [--processes 2]

Needs `ptxas` (the path, or pip `nvidia-cuda-nvcc-cu12`). For every robot, function and precision: operations, registers
of a thread, bytes that it must spill into memory, threads of a block. Robots that are not named keep the figures that
benchmarks/results/ptx.json has. Prints it all and writes that file.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor, as_completed

import emdeg
from emdeg.mechanics.functions import functions_of
from emdeg.runtime import cores
from emdeg.runtime.cuda import ptx, register_use
from record import FOLDER, record


def of_robot(name: str, sm: int) -> dict:
    """function and precision -> operations, registers, bytes of spills, threads of a block."""
    found = {}
    for function in functions_of(emdeg.load(name)):
        program = emdeg.program(name, function)
        for bits in (32, 64):
            text, shape = ptx(program, "k", bits=bits, sm=sm)
            use = register_use(text, sm)
            found[f"{function} float{bits}"] = {
                "operations": len(program.ops),
                "registers": use.registers,
                "spill_bytes": use.spill_bytes,
                "threads": shape.threads,
            }
            print(f"{name:17s} {function:30s} float{bits} {found[f'{function} float{bits}']}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=list(emdeg.library_names()))
    parser.add_argument("--sm", type=int, default=80)
    parser.add_argument("--processes", type=int, default=cores())
    args = parser.parse_args()
    kept = FOLDER / "ptx.json"
    old = json.loads(kept.read_text(encoding="utf-8"))["figures"] if kept.exists() else {}
    robots = old.get("robots", {}) if old.get("sm") == args.sm else {}
    with ProcessPoolExecutor(args.processes) as pool:
        begun = {pool.submit(of_robot, name, args.sm): name for name in args.robots}
        for done in as_completed(begun):  # some take minutes: what is known is written
            robots[begun[done]] = done.result()
            record("ptx", {"sm": args.sm, "robots": dict(sorted(robots.items()))})


if __name__ == "__main__":
    main()
