"""What floating-point arithmetic makes of a program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from emdeg.programs.ir import Program
from emdeg.programs.values import evaluate


def ulps(found: NDArray, exact: NDArray, scale: NDArray | float | None = None) -> NDArray:
    """|found - exact| in units in the last place of `scale`, by default of `exact` itself.

    A component that is small because large terms cancel is fairly measured at the scale of its output, as a
    relative error of a vector is.
    """
    size = np.abs(exact if scale is None else scale).astype(found.dtype)
    return np.abs(found - exact) / np.spacing(np.maximum(size, np.finfo(found.dtype).tiny))


def float_error(
    program: Program, states: int = 1000, seed: int = 0, reach: float = 3.0, near: NDArray | None = None
) -> dict[str, float]:
    """The largest error of double arithmetic in each output, in ulps of that output's largest entry.

    Measured against the same program in extended precision, at random inputs within `reach`; with `near` q lies within
    0.05 of it, where a program whose loops close only in a part of space is defined.
    """
    rng = np.random.default_rng(seed)
    inputs = {group.name: rng.uniform(-reach, reach, (states, group.size)) for group in program.inputs}
    if near is not None:
        inputs["q"] = near + 0.05 / reach * inputs["q"]
    found, exact = evaluate(program, inputs), evaluate(program, inputs, np.longdouble)
    errors = {}
    for group in program.outputs:
        shape = (states, len(group.entries))
        a, b = found[group.name].reshape(shape), exact[group.name].reshape(shape)
        scale = np.abs(b).max(axis=1, keepdims=True, initial=0.0)
        errors[group.name] = float(ulps(a, b, scale).max(initial=0.0))
    return errors
