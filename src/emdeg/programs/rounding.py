"""What floating-point arithmetic makes of a program: measured, and held against an independent formulation.

Exact equality says nothing about rounding: x + 1e25 - 1e25 is x. So a program is also run, in doubles or as the text
that was emitted, at states where programs go wrong if they do, against the independent formulation in balls of 256
bits. Its error must be within `ALLOWED` times the one that the independent formulation's own steps may have, one
rounding each, propagated (running error analysis: Higham, Accuracy and Stability of Numerical Algorithms, 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from emdeg.documents import Shown
from emdeg.dynamics import ANYWHERE, Surroundings, kind_of
from emdeg.errors import Refuted
from emdeg.programs.ir import Kind, OutputGroup, Program, Ref
from emdeg.programs.values import ball_run, constants, evaluate, every_value
from emdeg.robot import Robot

Arrays = Mapping[str, NDArray]
"""Inputs or outputs by name, one row a state."""

ALLOWED = 32.0
"""How many times the error that the independent formulation's steps may add up to is a rounding error at most."""
MOST_STATES, FEWEST_STATES = 40, 12
WORK = 100_000
"""Operations on balls in one check, about; a long formulation is held against fewer states."""
NEAR_ZERO = 1e-2
"""A divisor that a certificate names is near zero below this share of its median."""
LARGEST = 1e250
AT_ONCE = 250
"""States at which a program's errors are measured together."""


@dataclass(frozen=True, slots=True)
class Rounding(Shown):
    """`states` were tried; the largest error, as a multiple of what may add up (`allowed` is the most)."""

    states: int
    largest: float
    allowed: float = ALLOWED


def check_rounding(
    program: Program,
    reference: Program,
    states: Arrays,
    *,
    run: Callable[[Arrays], Arrays] | None = None,
    others: Mapping[str, Callable[[Arrays], Arrays]] | None = None,
    single: bool = False,
    named: Sequence[int] = (),
) -> Rounding:
    """What rounding makes of a program at these states; Refuted where that is more than may be, no number, or nothing.

    `run` executes the program otherwise than in NumPy; `others`, by name, do so in further ways. `named` are divisors
    of the program that the independent formulation does not have: a state near a zero of theirs is left out, as is one
    where the independent formulation has no value.
    """
    dtype: Any = np.float32 if single else np.float64
    given = {name: np.asarray(array, dtype) for name, array in states.items()}
    with np.errstate(all="ignore"):
        found = {program.name: evaluate(program, given, dtype) if run is None else run(given)}
        found |= {name: other(given) for name, other in (others or {}).items()}
        may_add_up = _running_errors(reference, given, 2.0**-24 if single else 2.0**-53)
        regular = away_from_zeros(program, given, named)
    largest, tried = 0.0, 0
    in_balls = ball_run(reference)
    for row in np.flatnonzero(regular):
        slots = {(name, k): x for name, array in given.items() for k, x in enumerate(array[row].tolist())}
        exact = _exact(reference, in_balls(slots))
        compared = not program.outputs
        # Some languages raise an error where one output has no value: then there is nothing of the others to look at.
        silent = {
            name
            for name, outputs in found.items()
            if any(value is None for value in exact.values())
            and all(np.isnan(outputs[one.name][row]).all() for one in program.outputs)
        }
        for group in program.outputs:
            expected = exact[group.name]
            if expected is None or np.abs(expected).max(initial=0.0) > (1e30 if single else LARGEST):
                continue
            unit = may_add_up[group.name][row].max(initial=0.0)
            if not math.isfinite(unit):
                continue
            compared = True
            for name, outputs in found.items():
                if name in silent:
                    continue
                got = np.asarray(outputs[group.name][row], np.float64).reshape(-1)
                error = np.abs(got - expected).max(initial=0.0)
                ratio = 0.0 if error == 0 else error / max(unit, 1e-300)
                if not ratio <= ALLOWED:
                    raise Refuted(_told(name, group.name, {at: array[row] for at, array in given.items()}, error))
                largest = max(largest, ratio)
        tried += compared
    if not tried:
        raise Refuted(f"{program.name}: at none of the states tried has the independent formulation a value")
    return Rounding(tried, float(f"{largest:.2g}"))


def _told(program: str, output: str, inputs: Arrays, error: float) -> str:
    where = ", ".join(f"{name} = {[float(f'{x:.4g}') for x in array]}" for name, array in inputs.items())
    what = f"is off by {error:.2g}" if math.isfinite(error) else "is no number"
    return f"{program}: executed in floating point, {output} {what} at {where[:300]}"


def _exact(reference: Program, known: Sequence[arb]) -> dict[str, NDArray | None]:
    """The outputs among values at one state, rounded once; None where there is no value, or none that can be told."""
    outputs: dict[str, NDArray | None] = {}
    for group in reference.outputs:
        balls = [known[ref.value] if ref.sign else arb(0) for ref in group.entries]
        sharp = all(ball.is_finite() and float(ball.rad()) <= 1e-30 * (1 + abs(float(ball.mid()))) for ball in balls)
        signs = [ref.sign for ref in group.entries]
        outputs[group.name] = np.array([s * float(ball.mid()) for s, ball in zip(signs, balls)]) if sharp else None
    return outputs


Bounded = tuple[Any, Any]
"""A value and how far rounding may have led it astray, to first order."""


def _running_errors(program: Program, inputs: Arrays, unit: float) -> dict[str, NDArray]:
    """What one rounding an operation (and in every input) may add up to in each output; rows are states."""
    fixed = {index: float(value) for index, value in constants(program).items()}
    rows = len(next(iter(inputs.values())))

    def exact(value: Any) -> Bounded:
        return value, unit * np.abs(value)

    def rounded(value: Any, error: Any) -> Bounded:
        return value, error + unit * np.abs(value)

    def leaf(index: int) -> Bounded | None:
        op = program.ops[index]
        if op.kind is Kind.INPUT:
            return exact(np.asarray(inputs[op.slot[0]][:, op.slot[1]], np.float64))
        if op.kind is Kind.ANGLE:
            return exact(np.float64(float(op.angle)))
        return exact(np.float64(fixed[index])) if index in fixed else None

    found = every_value(
        program,
        leaf,
        {
            Kind.ADD: lambda a, b: rounded(a[0] + b[0], a[1] + b[1]),
            Kind.SUB: lambda a, b: rounded(a[0] - b[0], a[1] + b[1]),
            Kind.MUL: lambda a, b: rounded(a[0] * b[0], np.abs(a[0]) * b[1] + np.abs(b[0]) * a[1]),
            Kind.DIV: lambda a, b: rounded(a[0] / b[0], (a[1] + np.abs(a[0] / b[0]) * b[1]) / np.abs(b[0])),
            Kind.NEG: lambda a: (-a[0], a[1]),
            Kind.SQRT: lambda a: rounded(np.sqrt(a[0]), a[1] / np.sqrt(a[0])),
            # Sines of sums may come from products of sines: their error is one of the circle's radius.
            Kind.SIN: lambda a: (np.sin(a[0]), a[1] + unit),
            Kind.COS: lambda a: (np.cos(a[0]), a[1] + unit),
            Kind.SIGN: lambda a: (np.sign(a[0]), np.where(np.abs(a[0]) > 2 * a[1], 0.0, 2.0 * (a[1] > 0))),
            Kind.EXP: lambda a: rounded(np.exp(a[0]), np.exp(a[0]) * a[1]),
            Kind.TANH: lambda a: rounded(np.tanh(a[0]), a[1]),
        },
    )
    zero = np.zeros(rows)
    return {
        group.name: np.stack([zero + found[ref.value][1] if ref.sign else zero for ref in group.entries], -1)
        if group.entries
        else np.zeros((rows, 0))
        for group in program.outputs
    }


def away_from_zeros(program: Program, inputs: Arrays, named: Sequence[int]) -> NDArray:
    """Which states keep these values of the program away from zero."""
    regular = np.ones(len(next(iter(inputs.values()))), bool)
    if named:
        arrays = {name: np.asarray(array, np.float64) for name, array in inputs.items()}
        watch = OutputGroup("watched", (len(named),), tuple(map(Ref, named)))
        watched = Program(program.name, program.inputs, program.ops, (watch,))
        sizes = np.abs(evaluate(watched, arrays)["watched"])
        regular &= (sizes > NEAR_ZERO * np.nanmedian(sizes, axis=0)).all(axis=1)
    return regular


def states_of(program: Program, robot: Robot, seed: int, length: int) -> dict[str, NDArray]:
    """Where programs go wrong if they do, and anywhere: fewer states for a longer formulation (`length` operations).

    Nothing moves; the limits; multiples of right angles; slow and fast motion; random states. Loops stay near home.
    """
    rng = np.random.default_rng(seed)
    rows = int(np.clip(WORK // max(length, 1), FEWEST_STATES, MOST_STATES))
    third = rows // 4
    about = kind_of(robot).surroundings(robot)
    arrays = {}
    for group in program.inputs:
        drawn = rng.uniform(-3, 3, (rows, group.size))
        if group.name == "parameters":
            drawn = about.spread_numbers(group.labels, drawn / 3)
        elif group.name == "q":
            drawn[3 : 3 + third] = np.pi / 2 * rng.integers(-4, 5, (third, group.size))
            drawn[:3] = _ends(robot, group.size)
            drawn = about.configurations(drawn)
        else:
            drawn[:3] = 0
            drawn[3 : 3 + third] = np.rint(drawn[3 : 3 + third])
            drawn[3 + third : 3 + 2 * third : 2] *= 1e-9
            drawn[4 + third : 3 + 2 * third : 2] *= 1e4
        arrays[group.name] = drawn
    return arrays


def _ends(robot: Robot, size: int) -> NDArray:
    """Zero, the lower and the upper limits; a half turn where there are none."""
    ends = np.zeros((3, size))
    for k, joint in enumerate(robot.coordinates[:size]):
        for row, limit in ((1, joint.limits.lower), (2, joint.limits.upper)):
            ends[row, k] = math.pi * (2 * row - 3) if limit is None else np.clip(float(limit), -100, 100)
    return ends


def ulps(found: NDArray, exact: NDArray, scale: NDArray | float | None = None) -> NDArray:
    """|found - exact| in units in the last place of `scale`, by default of `exact` itself.

    A component that is small because large terms cancel is fairly measured at the scale of its output, as a
    relative error of a vector is.
    """
    size = np.abs(exact if scale is None else scale).astype(found.dtype)
    return np.abs(found - exact) / np.spacing(np.maximum(size, np.finfo(found.dtype).tiny))


def float_error(
    program: Program, states: int = 1000, seed: int = 0, reach: float = 3.0, near: Surroundings = ANYWHERE
) -> dict[str, float]:
    """The largest error of double arithmetic in each output, in ulps of that output's largest entry.

    Measured against the same program in extended precision, at random inputs within `reach`; with `near` q and the
    symbols' numbers lie there, where a program whose loops close only in a part of space is defined.
    """
    rng = np.random.default_rng(seed)
    inputs = {
        group.name: near.inputs(group.name, group.labels, rng.uniform(-reach, reach, (states, group.size)), reach)
        for group in program.inputs
    }
    errors = dict.fromkeys((group.name for group in program.outputs), 0.0)
    for start in range(
        0, states, AT_ONCE
    ):  # every value of all states at once would be most of a small command's memory
        part = {name: array[start : start + AT_ONCE] for name, array in inputs.items()}
        found, exact = evaluate(program, part), evaluate(program, part, np.longdouble)
        for group in program.outputs:
            shape = (min(AT_ONCE, states - start), len(group.entries))
            a, b = found[group.name].reshape(shape), exact[group.name].reshape(shape)
            scale = np.abs(b).max(axis=1, keepdims=True, initial=0.0)
            there = np.isfinite(b).all(axis=1)
            largest = float(ulps(a[there], b[there], scale[there]).max(initial=0.0))
            errors[group.name] = max(errors[group.name], largest)
    return errors
