"""Registers and spills of every kernel, as NVIDIA's assembler finds them; no GPU is needed.

    python benchmarks/bench_ptx.py [--robots puma560 panda] [--sm 80] [--processes 2]

Needs `ptxas` (the path, or pip `nvidia-cuda-nvcc-cu12`). For every robot, function and precision: operations, registers
of a thread, bytes that it must spill into memory, threads of a block; the dynamics of arms of 12 and 30 joints, too.
Programs of more than `--longest` operations are not assembled: NVIDIA's assembler takes very long for them. Robots that
are not named keep the figures that benchmarks/results/ptx.json has. Prints it all and writes that file.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor, as_completed

import emdeg
from emdeg.dynamics.functions import functions_of
from emdeg.runtime import cores
from emdeg.runtime.cuda import ptx, register_use
from long_arms import DYNAMICS, JOINTS, chain
from record import FOLDER, record

LONG = {f"chain{joints}": joints for joints in JOINTS}
LONGEST = 100_000


def of_robot(name: str, sm: int, longest: int = LONGEST) -> dict:
    """function and precision -> operations, registers, bytes of spills, threads of a block; of long ones the first."""
    found = {}
    robot = chain(LONG[name]) if name in LONG else emdeg.load(name)
    for function in DYNAMICS if name in LONG else functions_of(robot):
        program = emdeg.program(robot, function)
        for bits in (32, 64):
            if len(program.ops) > longest:
                found[f"{function} float{bits}"] = {"operations": len(program.ops)}
                continue
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
    parser.add_argument("--robots", nargs="+", default=[*emdeg.library_names(), *LONG])
    parser.add_argument("--sm", type=int, default=80)
    parser.add_argument("--processes", type=int, default=cores())
    parser.add_argument("--longest", type=int, default=LONGEST, help="operations of a program that is assembled")
    args = parser.parse_args()
    kept = FOLDER / "ptx.json"
    old = json.loads(kept.read_text(encoding="utf-8"))["figures"] if kept.exists() else {}
    robots = old.get("robots", {}) if old.get("sm") == args.sm else {}
    with ProcessPoolExecutor(args.processes) as pool:
        begun = {pool.submit(of_robot, name, args.sm, args.longest): name for name in args.robots}
        for done in as_completed(begun):  # some take minutes: what is known is written
            robots[begun[done]] = done.result()
            record("ptx", {"sm": args.sm, "robots": dict(sorted(robots.items()))})


if __name__ == "__main__":
    main()
