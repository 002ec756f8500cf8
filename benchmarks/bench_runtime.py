"""How fast programs run: one bound state and batches from Python, emitted C one state at a time.

    python benchmarks/bench_runtime.py

Peers in the same run: Pinocchio's rnea called from Python, where the package `pin` is installed. It prints the
figures and writes them to benchmarks/results/runtime.json.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import timeit
from functools import partial
from pathlib import Path

import numpy as np

import emdeg
from emdeg.codegen.c import COptions, emit_c
from emdeg.programs.ir import count
from emdeg.runtime import cores
from record import record

STATES = 100_000
LOOP = """
void loop(size_t n, const double *q, const double *qd, const double *qdd, double *tau);
void loop(size_t n, const double *q, const double *qd, const double *qdd, double *tau)
{ for (size_t i = 0; i < n; ++i) f(q + N * i, qd + N * i, qdd + N * i, tau + N * i); }
"""


def best(call, number: int, repeat: int = 7) -> float:
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


def emitted_c(program, compiler: str, inputs, n: int) -> float:
    """Seconds a state, one state at a time, inlined trigonometry."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "f.c", Path(folder) / "f.so"
        text = emit_c(program, COptions(trig="inline"), name="f")
        source.write_text(text + LOOP.replace("N *", f"{n} *"))
        flags = ["-std=c99", "-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
        loop = ctypes.CDLL(str(library)).loop
        few = [np.ascontiguousarray(array[:512]) for array in inputs.values()]
        arrays = [*few, np.empty((512, n))]
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
        return best(lambda: loop(ctypes.c_size_t(512), *pointers), 20, 30) / 512


def pinocchio_call() -> float | None:
    """Seconds of one call of Pinocchio's rnea from Python, on a six-joint arm."""
    try:
        import pinocchio
    except ImportError:
        return None
    model = pinocchio.buildSampleModelManipulator()
    data = model.createData()
    q, v = pinocchio.randomConfiguration(model), np.ones(model.nv)
    return best(lambda: pinocchio.rnea(model, data, q, v, v), 20000)


def main() -> None:
    results: dict[str, object] = {"cores": cores(), "pinocchio_python_call_ns": None}
    peer = pinocchio_call()
    if peer is not None:
        results["pinocchio_python_call_ns"] = round(peer * 1e9)
        print(f"Pinocchio rnea from Python, six joints: {peer * 1e9:.0f} ns a call")
    for name in ("puma560", "panda"):
        robot = emdeg.load(name)
        program = emdeg.program(robot, "inverse_dynamics")
        rng = np.random.default_rng(0)
        inputs = {group.name: rng.uniform(-3, 3, (STATES, group.size)) for group in program.inputs}
        row: dict[str, float] = {"operations": count(program).total}
        row["compile_ms"] = 1e3 * best(partial(emdeg.compile, program), 1, 3)
        bound = emdeg.compile(program).bind(**{k: v[0].copy() for k, v in inputs.items()})
        row["bound_call_ns"] = 1e9 * best(bound.run, 100_000)
        out = np.empty((STATES, robot.n))
        for threads in sorted({1, cores()}):
            compiled = emdeg.compile(program, threads=threads)
            row[f"batch_{threads}_cores_ns"] = 1e9 * best(partial(compiled, **inputs, out=out), 3) / STATES
        for compiler in filter(shutil.which, ("gcc", "clang")):
            row[f"c_one_state_{compiler}_ns"] = 1e9 * emitted_c(program, compiler, inputs, robot.n)
        results[name] = row
        print(name, ", ".join(f"{key} {value:.1f}" for key, value in row.items()))
    record("runtime", results)


if __name__ == "__main__":
    main()
