"""Long programs on the GPU, whole and in two parts: million states a second.

    python benchmarks/bench_gpu_parts.py [--robots panda iiwa14 ...]

Needs a GPU, its driver and torch. Prints it all and writes benchmarks/results/gpu_parts.json.
"""

from __future__ import annotations

import argparse

import emdeg
from emdeg.runtime.cuda import device, kernel_parts
from gpu_rates import rate
from record import record

FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "regressor")
SIZES = (256, 4096, 16_384, 131_072, 1_048_576)


def compared(program: emdeg.Program, dtype: str) -> dict[str, object]:
    """Operations whole and of both parts together; for each number of states both rates."""
    bits = 32 if dtype == "float32" else 64
    again = sum(part.program.size for part in kernel_parts(program, bits, 2))
    found: dict[str, object] = {"operations": program.size, "in_parts": again}
    for states in SIZES:
        whole, parts = (round(rate(program, dtype, states, parts=count), 1) for count in (1, 2))
        found[str(states)] = {"whole": whole, "parts": parts}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=["panda", "iiwa14", "puma560", "rx90"])
    args = parser.parse_args()
    figures: dict = {"card": device().name, "rates": {}}
    for name in args.robots:
        for function in FUNCTIONS:
            program = emdeg.program(name, function)
            for dtype in ("float32", "float64"):
                figures["rates"][f"{name} {function} {dtype}"] = row = compared(program, dtype)
                print(name, function, dtype, row, flush=True)
                record("gpu_parts", figures)


if __name__ == "__main__":
    main()
