"""Running what was emitted: C through ctypes, Python modules from their files; what must come out, from the numbers."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np

import emdeg
from emdeg.codegen.artefact import Request
from emdeg.dynamics import TREE, kind_of
from emdeg.dynamics import functions as catalogue
from emdeg.programs import Program
from emdeg.robot import Robot

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


JOINT = ["mass_matrix+bias", "regressor --base"]
STEWARTS = ["inverse_dynamics", "gravity", "jacobian"]
"""Of the largest mechanism: a proof takes a minute, and tests/program proves every function."""


def functions_of(name: str) -> list[str]:
    """The functions of a library robot that are emitted in every language, two of them joined ones."""
    robot = emdeg.load(name)
    known = catalogue.functions_of(robot)
    if kind_of(robot) is TREE:
        return [*known, *JOINT]
    return STEWARTS if name == "stewart" else [*known, "mass_matrix+bias"]


def request_of(name: str, function: str, **options) -> Request:
    words = function.split()
    return Request(tuple(words[0].split("+")), robot_name=name, base="--base" in words, **options)


def with_numbers(robot: Robot) -> tuple[Robot, list[float]]:
    """(the robot with a number for every symbol, the numbers in the order of the input `parameters`)."""
    names = sorted(robot.symbols)
    rng = np.random.default_rng(3)
    # Moments of inertia well above products and first moments, so that the mass matrix is far from singular.
    scale = {"XX": 4, "YY": 4, "ZZ": 4, "Ixx": 4, "Iyy": 4, "Izz": 4}
    meant = kind_of(robot).surroundings(robot).symbols  # lengths with which loops close
    values = [
        Fraction(int(k), 64) * scale.get(name.rstrip("0123456789"), Fraction(1, 4))
        if name not in meant
        else Fraction(meant[name]) * (1 + Fraction(int(k) - 52, 1000))
        for k, name in zip(rng.integers(40, 64, len(names)), names)
    ]
    return emdeg.substitute(robot, dict(zip(names, values))) if names else robot, [float(v) for v in values]


def expected_of(robot, request: Request, inputs) -> list[np.ndarray]:
    results: list[np.ndarray] = []
    for function in request.functions:
        needed = {name: inputs[name] for name in catalogue.FUNCTIONS[function].inputs}
        if request.base:
            found = emdeg.regressor(robot, **needed, base=emdeg.base_parameters(robot))
        else:
            found = catalogue.evaluate(function, robot, needed)
        results += found if isinstance(found, tuple) else [found]
    return results


def close(found, expected, what, rounding=1e-12) -> None:
    assert np.shape(found) == expected.shape, what
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding * scale, err_msg=what)


def states_of(robot: Robot, program: Program, many: int) -> tuple[dict[str, np.ndarray], float]:
    """Random inputs where the robot can be, and how exactly results must be found there."""
    rng = np.random.default_rng(7)
    inputs = {g.name: rng.uniform(-2, 2, (many, g.size)) for g in program.inputs if g.name != "parameters"}
    kind = kind_of(robot)
    if not kind.is_everywhere(robot):
        inputs["q"] = kind.home(robot) + inputs["q"] / 50
    return inputs, 1e-12 if kind is TREE else 1e-10  # eliminations with fixed pivots lose a digit or two
