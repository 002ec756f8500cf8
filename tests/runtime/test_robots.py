"""Every function of library robots, compiled in process and emitted as C, against the numeric mechanics."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import emdeg
from emdeg.codegen.c import COptions, emit_c
from emdeg.program.build import program
from emdeg.program.functions import FUNCTIONS
from emdeg.runtime import compile

COMPILER = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC"]
NUMERIC = [name for name in emdeg.library_names() if not emdeg.load(name).symbols]
QUICK = ["planar2r", "scara", "stanford_arm"]
CASES = [
    pytest.param(name, function, marks=() if name in QUICK else pytest.mark.slow)
    for name in NUMERIC
    for function in FUNCTIONS
]


def expected_of(robot, function, inputs):
    result = getattr(emdeg, function)(robot, **inputs)
    return result if isinstance(result, tuple) else (result,)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(("name", "function"), CASES)
def test_compiled_and_emitted_functions_equal_the_numeric_mechanics(name, function, tmp_path):
    robot = emdeg.load(name)
    built = program(robot, function)
    rng = np.random.default_rng(7)
    inputs = {group.name: rng.uniform(-2, 2, (11, group.size)) for group in built.inputs}
    expected = expected_of(robot, function, inputs)
    results = compile(built)(**inputs)
    for found, wanted in zip(results if isinstance(results, tuple) else (results,), expected):
        close(found, wanted)
    if COMPILER is None:
        pytest.skip("no C compiler on this machine: only the function compiled in process was checked")
    source, library = tmp_path / "f.c", tmp_path / f"{name}_{function}.so"
    source.write_text(emit_c(built, COptions(trig="inline"), name=f"{name}_{function}"))
    done = subprocess.run([COMPILER, *FLAGS, str(source), "-o", str(library), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    emitted = getattr(ctypes.CDLL(str(library)), f"{name}_{function}")
    emitted.restype = None
    state = [np.ascontiguousarray(array[3]) for array in inputs.values()]
    outputs = [np.full(group.shape, np.nan) for group in built.outputs]
    emitted(*(array.ctypes.data_as(ctypes.c_void_p) for array in [*state, *outputs]))
    for found, wanted in zip(outputs, expected):
        close(found, wanted[3])


def test_a_payload_left_symbolic_is_an_input():
    robot = emdeg.load("planar2r", payload="mass=m,com=x:0:0@link2")
    compiled = compile(program(robot, "inverse_dynamics"))
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 20, 2))
    loaded = emdeg.load("planar2r", payload="mass=1.5,com=0.25:0:0@link2")
    assert compiled.program.inputs[-1].labels == ("m", "x")
    close(compiled(q, qd, qdd, [1.5, 0.25]), emdeg.inverse_dynamics(loaded, q, qd, qdd))
