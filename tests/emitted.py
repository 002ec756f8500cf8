"""Running what was emitted: C through ctypes, Python modules from their files."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]


def c_library(text: str, folder: Path, compiler: str, *flags: str) -> Path:
    """The compiled library; its name carries the content, because a process never loads a second one from a path."""
    stem = hashlib.sha256(" ".join([text, compiler, *flags]).encode()).hexdigest()[:16]
    source, library = folder / f"{stem}.c", folder / f"{stem}.so"
    source.write_text(text)
    command = [compiler, *STRICT, *flags, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return library


def run_c(library: ctypes.CDLL, name: str, inputs: list[np.ndarray], shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """The outputs of the function `name`, NaN where it stored nothing."""
    arrays = [np.ascontiguousarray(array, np.float64) for array in inputs]
    outputs = [np.full(shape, np.nan) for shape in shapes]
    function = getattr(library, name)
    function.restype = None
    function(*(array.ctypes.data_as(ctypes.c_void_p) for array in [*arrays, *outputs]))
    return outputs


def python_module(text: str, folder: Path) -> ModuleType:
    path = folder / f"emitted_{hashlib.sha256(text.encode()).hexdigest()[:16]}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
