"""Emitted C, compiled and called: what a machine makes of the text itself."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emdeg.programs import Program, split_constants

COMPILERS = ("cc", "gcc", "clang")
SECONDS = 60
"""A compiler that takes longer is not waited for."""
LONGEST = 2_000_000
"""Characters of a text that is compiled."""

Run = Callable[[Mapping[str, NDArray]], dict[str, NDArray]]


def compiled_c(text: str, name: str, program: Program, single: bool = False, **more: object) -> Run | None:
    """The function `name` of emitted C as a function of arrays, one row a state; None where no compiler is at hand.

    Options beside `single` add functions to the text and change none.
    """
    compiler = next((found for each in COMPILERS if (found := shutil.which(each))), None)
    if compiler is None or len(text) > LONGEST:
        return None
    with tempfile.TemporaryDirectory(prefix="emdeg-") as folder:
        source, library = Path(folder, "artefact.c"), Path(folder, "artefact.so")
        source.write_text(text)
        optimise = "-O1" if len(text) < LONGEST // 10 else "-O0"
        words = [compiler, "-std=c99", optimise, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        try:
            subprocess.run(words, check=True, capture_output=True, timeout=SECONDS, cwd=folder)
            loaded = ctypes.CDLL(str(library))
        except (OSError, subprocess.SubprocessError):
            return None
    if not hasattr(loaded, name):
        return None
    constants, _ = split_constants(program)
    dtype = np.float32 if single else np.float64

    def call(function: str, inputs: list[NDArray], shapes: list[tuple[int, ...]]) -> list[NDArray]:
        arrays = [np.ascontiguousarray(array, dtype) for array in inputs]
        outputs = [np.full(shape, np.nan, dtype) for shape in shapes]
        entry = getattr(loaded, function)
        entry.restype = None
        entry(*(array.ctypes.data_as(ctypes.c_void_p) for array in [*arrays, *outputs]))
        return outputs

    def run(states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        rows = len(next(iter(states.values())))
        shapes = [group.shape for group in program.outputs]
        found: list[list[NDArray]] = []
        for row in range(rows):
            at = {group: array[row] for group, array in states.items()}
            extra = []
            if constants is not None:
                extra = call(f"{name}_constants", [at["parameters"]], [constants.outputs[0].shape])
            own = [at[group.name] for group in program.inputs if constants is None or group.name != "parameters"]
            found.append(call(name, [*own, *extra], shapes))
        names = [group.name for group in program.outputs]
        return {group: np.stack([state[k] for state in found]) for k, group in enumerate(names)}

    return run
