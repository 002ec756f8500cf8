"""Formulas from their values: a trigonometric polynomial of known degrees is known everywhere from enough nodes.

An angle's nodes are 2D + 1, evenly round the circle; a displacement's D + 1, Chebyshev's on its range. What rounding
has done to the values comes back larger by at most Lebesgue's constant of each variable's nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from emdeg.algebra import Array
from emdeg.bounds.formulas import FormulaVector, Variable, basis, transformed


def nodes(variable: Variable, degree: int) -> Array:
    """Where a variable's values decide a formula of this degree, in the search's coordinate."""
    if variable.is_angle:
        size = 2 * degree + 1
        return np.array(variable.middle + np.arange(size) * (2 * math.pi / size), dtype=np.float64)
    return np.array(np.cos((np.arange(degree + 1) + 0.5) * math.pi / (degree + 1)), dtype=np.float64)


def interpolated(
    variables: Sequence[Variable], degrees: Sequence[int], values: Array, rounding: Array
) -> FormulaVector:
    """The formulas with these values, one axis a variable and the last over the formulas.

    `rounding` (F,): how far off each formula's values may be.
    """
    growth = 1.0
    for axis, (variable, degree) in enumerate(zip(variables, degrees)):
        table = basis(variable, degree, np.cos, np.sin, nodes(variable, degree))
        inverse = np.array(np.linalg.inv(table), dtype=np.float64)
        growth *= _lebesgue(variable, degree, inverse)
        values = transformed(inverse, values, axis)
    return FormulaVector(tuple(variables), tuple(degrees), values, 2 * growth * rounding)


def _lebesgue(variable: Variable, degree: int, inverse: Array) -> float:
    """At least the largest sum of magnitudes of the variable's interpolating functions."""
    fine = (
        np.linspace(-math.pi, math.pi, 64 * (degree + 1))
        if variable.is_angle
        else np.linspace(-1, 1, 64 * (degree + 1))
    )
    return 1.02 * float(np.abs(basis(variable, degree, np.cos, np.sin, fine) @ inverse).sum(axis=1).max())


def trimmed(formulas: FormulaVector, weights: Array, allowed: float) -> FormulaVector:
    """The formulas without their smallest harmonics and powers, which move into the rounding.

    What moves is at most `allowed`, each formula counted with its weight. Fewer degrees and fewer variables make a grid
    small: what costs least goes first.
    """
    kept, degrees, rounding = formulas.coefficients, list(formulas.degrees), formulas.rounding.copy()
    angles = [v.is_angle for v in formulas.variables]
    spent = 0.0
    while True:
        choices = []
        for axis, degree in enumerate(degrees):
            if not degree:
                continue
            size = 2 if angles[axis] else 1
            lost = _bound(np.take(kept, range(kept.shape[axis] - size, kept.shape[axis]), axis), axis, size)
            choices.append((float(lost @ weights), axis, lost, size))
        if not choices or spent + min(choices, key=lambda c: c[0])[0] > allowed:
            break
        price, axis, lost, size = min(choices, key=lambda c: c[0])
        spent += price
        rounding += lost
        kept = np.take(kept, range(kept.shape[axis] - size), axis)
        degrees[axis] -= 1
    left = [axis for axis, degree in enumerate(degrees) if degree]
    shape = [kept.shape[axis] for axis in left]
    return FormulaVector(
        tuple(formulas.variables[axis] for axis in left),
        tuple(degrees[axis] for axis in left),
        kept.reshape(*shape, kept.shape[-1]),
        rounding,
    )


def _bound(part: Array, axis: int, size: int) -> Array:
    """(F,): at least the largest magnitude of each formula's part; a cosine and a sine together are one wave."""
    waves = np.sqrt((part * part).sum(axis=axis)) if size == 2 else np.abs(part).sum(axis=axis)
    return waves.reshape(-1, waves.shape[-1]).sum(axis=0) * (1 + 1e-9)


def node_states(variables: Sequence[Variable], degrees: Sequence[int], rest: Array) -> Array:
    """(nodes, joints): joints' values at every node, the last variable's fastest; the other joints' are `rest`."""
    tables = []
    for variable, degree in zip(variables, degrees):
        at = nodes(variable, degree)
        tables.append(at if variable.is_angle else variable.outside(at))
    found = np.tile(np.asarray(rest, dtype=float), (math.prod(map(len, tables)), 1))
    grid = np.meshgrid(*tables, indexing="ij")
    for variable, values in zip(variables, grid):
        assert isinstance(variable.letter.of, int)
        found[:, variable.letter.of - 1] = values.reshape(-1)
    return found
