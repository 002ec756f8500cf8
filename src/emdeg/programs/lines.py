"""Derivatives along lines: a few numbers that every way of writing a program's derivatives can be held against.

A Jacobian J is right if J p is, for every p; a gradient J^T c if c . J p is; a Hessian if r . H p is. What the numbers
must be, a program that is known to be right says by itself: differences of its values at points of the lines that lie
2^-100 apart, in balls of 1024 bits, know nothing of any rule of differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from emdeg.errors import Refuted
from emdeg.programs.companions import Companion, matrix_shape
from emdeg.programs.differentiation import tangents
from emdeg.programs.ir import Dependence, Program, Slot
from emdeg.programs.rounding import Arrays, away_from_zeros, check_rounding
from emdeg.programs.simplification import retrace
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.values import ball_values

ALONG, ACROSS = "_along", "_across"
"""Behind an input's name: the directions p and r."""
WEIGHT, OTHER = "_weight", "_other_weight"
"""Behind an output's name: the weights c and k."""
SLOPE = "_slope"
"""Behind an output's name: D_p y."""
GRADIENT, CROSS, BENT = "gradient", "cross", "bent"
"""c . D_p y, k . D_p y and c . D_r D_p y."""
STEP = Fraction(1, 2**100)
BITS = 1024
AGREE = 1e-25
"""How near to the differences the slopes must be, of the largest of them."""
FEW = 8
"""States at which derivatives are looked at."""


def along_lines(program: Program) -> Program:
    """D_p y of every output, c . D_p y, k . D_p y and c . D_r D_p y; p, r, c and k are further inputs."""
    tracer = Tracer.like(program)
    entries = tracer.outputs_of(program, tracer.replay(program))
    sizes = {group.name: group.size for group in program.inputs}
    x = [tracer.entry(name, k) for name, size in sizes.items() for k in range(size)]

    def further(ending: str, of: Mapping[str, int]) -> list[Traced]:
        arrays = (tracer.inputs(name + ending, size, Dependence.RATES) for name, size in of.items())
        return [entry for array in arrays for entry in array]

    p, r = (further(ending, sizes) for ending in (ALONG, ACROSS))
    shapes = {group.name: len(group.entries) for group in program.outputs}
    c, k = (further(ending, shapes) for ending in (WEIGHT, OTHER))
    y = [value for name in shapes for value in entries[name]]
    slopes = tangents(tracer, zip(x, p), y)
    bends = tangents(tracer, zip(x, r), slopes)

    def weighed(weights: list[Traced], of: list[Traced]) -> list[Traced]:
        return [sum((a * b for a, b in zip(weights, of)), tracer.number(0))]

    left = iter(slopes)
    outputs = {name + SLOPE: [next(left) for _ in range(size)] for name, size in shapes.items()}
    outputs |= {GRADIENT: weighed(c, slopes), CROSS: weighed(k, slopes), BENT: weighed(c, bends)}
    return retrace(tracer.program(f"{program.name}_along_lines", outputs))


Contraction = Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
"""From the nonzeros of a companion's outputs, by name, to those outputs of `along_lines` that it has."""


def along_lines_of(one: Companion, program: Program, at: Arrays) -> tuple[dict[str, NDArray], Contraction]:
    """What a companion of `program` takes at a state of `along_lines`, and what its outputs mean along the lines."""
    # CasADi keeps matrices column by column.
    columns = {group.name: _by_columns(matrix_shape(group.shape)) for group in program.outputs}
    given: dict[str, NDArray] = {group.name: at[group.name] for group in program.inputs}
    given |= {f"fwd_{group.name}": at[group.name + ALONG] for group in program.inputs}
    for before in ("adj", "adj_fwd"):
        given |= {f"{before}_{name}": at[name + WEIGHT][order] for name, order in columns.items()}
    patterns = dict(one.outputs)

    def contracted(found: Mapping[str, NDArray]) -> dict[str, NDArray]:
        x, y = [group.name for group in program.inputs], list(columns)
        p, r = ({name: at[name + ending] for name in x} for ending in (ALONG, ACROSS))

        def times(name: str, right: NDArray, size: int) -> NDArray:
            product = np.zeros(size)
            for (i, j), value in zip(patterns[name].places, found[name], strict=True):
                product[i] += value * right[j]
            return product

        if one.prefix == "jac":
            slopes = {
                name: sum((times(f"jac_{name}_{by}", p[by], len(order)) for by in x), np.zeros(len(order)))
                for name, order in columns.items()
            }
            return {name + SLOPE: _by_rows(slopes[name], columns[name]) for name in y}
        if one.prefix == "fwd1":
            return {name + SLOPE: _by_rows(found[f"fwd_{name}"], columns[name]) for name in y}
        if one.prefix == "adj1":
            return {GRADIENT: np.array([sum(found[f"adj_{name}"] @ p[name] for name in x)])}
        if one.prefix == "adj1_fwd1":
            bent = sum(found[f"adj_{name}"] @ r[name] for name in x)
            gradient = sum(found[f"adj_fwd_{name}"] @ p[name] for name in x)
            return {BENT: np.array([bent]), GRADIENT: np.array([gradient])}
        if one.prefix == "fwd1_jac":
            c = {name: given[f"adj_{name}"] for name in y}
            bent = sum(c[name] @ times(f"fwd_jac_{name}_{by}", r[by], len(c[name])) for name in y for by in x)
            return {BENT: np.array([bent])}
        bent = sum(r[name] @ times(f"jac_adj_{name}_{by}", p[by], len(r[name])) for name in x for by in x)
        other = {name: at[name + OTHER][order] for name, order in columns.items()}
        cross = sum(p[name] @ times(f"jac_adj_{name}_adj_{by}", other[by], len(p[name])) for name in x for by in y)
        return {BENT: np.array([bent]), CROSS: np.array([cross])}

    return given, contracted


def _by_columns(shape: tuple[int, int]) -> NDArray:
    """Which entry, row by row, comes where column by column."""
    return np.arange(shape[0] * shape[1]).reshape(shape).T.reshape(-1)


def _by_rows(values: NDArray, order: NDArray) -> NDArray:
    found = np.empty(len(order))
    found[order] = np.reshape(values, -1)
    return found


def check_slopes(
    program: Program,
    states: Arrays,
    slopes: Mapping[str, Callable[[Arrays], Arrays]],
    named: Sequence[int] = (),
    held: Sequence[str] = (),
) -> None:
    """Refuted where rounding makes more of derivatives of a program than it may; the program itself must be right.

    `slopes` compute them, by name. `states` are the program's, directions and weights are drawn here. `named` are its
    divisors: a derivative grows faster near a zero of theirs than the function, and such a state is left out. `held`
    are inputs by which nothing is differentiated: the lines leave them as they are.
    """
    lines = along_lines(program)
    regular = np.flatnonzero(away_from_zeros(program, states, named))
    rows = regular[np.unique(np.linspace(0, len(regular) - 1, FEW, dtype=int))]
    rng = np.random.default_rng()
    given = {
        group.name: states[group.name][rows] if group.name in states else rng.uniform(-1, 1, (len(rows), group.size))
        for group in lines.inputs
    }
    for name in (one + ending for one in held for ending in (ALONG, ACROSS) if one + ending in given):
        given[name] = np.zeros_like(given[name])
    check_differences(program, lines, {name: array[-1] for name, array in given.items()})
    for name, run in slopes.items():
        found = run(given)
        part = replace(lines, name=name, outputs=tuple(group for group in lines.outputs if group.name in found))
        check_rounding(part, part, given, run=lambda _, found=found: found)


def check_differences(program: Program, lines: Program, at: Arrays) -> None:
    """Refuted where the program's `lines` are not what differences of its values along them are."""
    exact = {(name, k): Fraction(float(value)) for name, array in at.items() for k, value in enumerate(array)}
    slots = [(group.name, k) for group in program.inputs for k in range(group.size)]

    def values(a: int, b: int) -> list[arb]:
        moved: dict[Slot, Fraction | float | arb] = {
            (name, k): exact[name, k] + STEP * (a * exact[name + ALONG, k] + b * exact[name + ACROSS, k])
            for name, k in slots
        }
        return outputs(program, ball_values(program, moved, BITS))

    def outputs(of: Program, known: Sequence[arb]) -> list[arb]:
        entries = (ref for group in of.outputs for ref in group.entries)
        return [ref.sign * known[ref.value] if ref.sign else arb(0) for ref in entries]

    names = [(group.name, k) for group in program.outputs for k in range(len(group.entries))]
    with ctx.workprec(BITS):
        stated = outputs(lines, ball_values(lines, dict(exact), BITS))
        step = arb(STEP.numerator) / STEP.denominator
        slopes = [(after - before) / (2 * step) for after, before in zip(values(1, 0), values(-1, 0))]
        corners = zip(values(1, 1), values(1, -1), values(-1, 1), values(-1, -1))
        bends = [(a - b - c + d) / (4 * step**2) for a, b, c, d in corners]
        weights = {
            ending: [arb(exact[name + ending, k].numerator) / exact[name + ending, k].denominator for name, k in names]
            for ending in (WEIGHT, OTHER)
        }
        pairs = ((WEIGHT, slopes), (OTHER, slopes), (WEIGHT, bends))
        sums = [sum((a * b for a, b in zip(weights[ending], of)), arb(0)) for ending, of in pairs]
        differences = [float((a - b).abs_upper()) for a, b in zip(stated, [*slopes, *sums], strict=True)]
        largest = max((float(abs(one).mid()) for one in (*slopes, *bends, *sums)), default=0.0)
    if not all(one <= AGREE * (largest + 1e-200) for one in differences if np.isfinite(one)):
        raise Refuted(f"{program.name}: its derivatives are not what differences of its values say")
