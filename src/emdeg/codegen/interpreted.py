"""Emitted Python, run by an interpreter of its own: what the text itself computes, as plain Python, NumPy or JAX."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.codegen.execution import LONGEST, SECONDS, Executed
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import Program, split_constants

_CALLER = """
import runpy, sys
import numpy as np

target, name, parameters, *inputs = sys.argv[1:]
if target == "jax":
    import jax
functions = runpy.run_path("artefact.py")
compute = jax.jit(functions[name]) if target == "jax" else functions[name]
given = dict(np.load("inputs.npz"))
rows = len(next(iter(given.values())))
found = []
for row in range(rows):
    at = {group: array[row].tolist() if target == "python" else array[row] for group, array in given.items()}
    try:
        constants = [functions[name + "_constants"](at["parameters"])] if parameters else []
        with np.errstate(all="ignore"):
            result = compute(*(at[group] for group in inputs), *constants)
    except (ValueError, ZeroDivisionError, OverflowError):  # what math says where NumPy has no number
        result = None
    found.append(result if result is None or isinstance(result, tuple) else (result,))
shapes = [np.shape(part) for part in next((one for one in found if one is not None), ())]
columns = [[np.full(shape, np.nan) if one is None else one[k] for one in found] for k, shape in enumerate(shapes)]
results = [np.array(column, dtype=float) for column in columns]
if target == "numpy" and not parameters:  # all states at once
    with np.errstate(all="ignore"):
        result = compute(*(given[group] for group in inputs))
    results += [np.asarray(part, dtype=float) for part in (result if isinstance(result, tuple) else (result,))]
np.savez("outputs.npz", *results)
"""
"""Run in a folder with the text and the states: the function at each of them."""


def executed_python(text: str, name: str, program: Program, **more: object) -> Executed:
    """The function `name` of a module of plain Python."""
    return _executed("python", text, name, program)


def executed_numpy(text: str, name: str, program: Program, **more: object) -> Executed:
    """The function `name` of a NumPy module, at each state and at all of them."""
    run = _executed("numpy", text, name, program)
    if split_constants(program)[0] is not None:
        return run
    at_once = {f"{name} at all states": lambda states: _outputs("numpy", text, name, program, states)[1]}
    return Executed(run.main, at_once, run.by)


def executed_jax(text: str, name: str, program: Program, **more: object) -> Executed:
    """The function `name` of a JAX module in doubles; NotExecutable where JAX is not installed."""
    if not find_spec("jax"):
        raise NotExecutable("JAX is not installed")
    return _executed("jax", text, name, program)


def _executed(target: str, text: str, name: str, program: Program) -> Executed:
    if len(text) > LONGEST // 10 or not sys.executable:
        raise NotExecutable("it is too long for an interpreter" if sys.executable else "there is no interpreter")
    by = {"python": "Python", "numpy": "NumPy", "jax": "JAX in doubles"}[target]
    return Executed(lambda states: _outputs(target, text, name, program, states)[0], by=by)


def _outputs(
    target: str, text: str, name: str, program: Program, states: Mapping[str, NDArray]
) -> list[dict[str, NDArray]]:
    """The outputs at every state, in each way that the function is called; Refuted where the text fails."""
    constants, main = split_constants(program)
    inputs = [group.name for group in main.inputs if group.name != "constants"]
    words = [sys.executable, "-I", "-c", _CALLER, target, name, "" if constants is None else "parameters", *inputs]
    with tempfile.TemporaryDirectory(prefix="emdeg-") as folder:
        Path(folder, "artefact.py").write_text(text, encoding="utf-8")
        given: dict[str, Any] = {key: np.asarray(array, float) for key, array in states.items()}
        np.savez(Path(folder, "inputs.npz"), **given)
        environment = {**os.environ, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
        try:
            subprocess.run(words, check=True, capture_output=True, timeout=SECONDS, cwd=folder, env=environment)
        except subprocess.CalledProcessError:
            raise Refuted(f"{name}: executed, its text fails") from None
        except (OSError, subprocess.SubprocessError):
            raise NotExecutable("no interpreter can be started, or it takes too long") from None
        with np.load(Path(folder, "outputs.npz")) as stored:
            found = [stored[key] for key in stored.files]
    rows, groups = len(next(iter(states.values()))), program.outputs
    found = found or [np.full((rows, *group.shape), np.nan) for group in groups]  # nowhere a number
    return [
        {group.name: array.reshape(rows, *group.shape) for group, array in zip(groups, found[start:])}
        for start in range(0, len(found), len(groups))
    ]
