"""Base parameters and friction from samples: generalised least squares with intervals that hold what they promise.

What is left of the efforts is correlated: between samples, because positions are smoothed and differentiated, and
between joints, because a position's noise reaches all of them. So a first fit shows what the noise is like, the rows
are made white, and they are fitted again, far rows counting less. The intervals come from the white fit, or from how
far whole stretches of the log pull each parameter (a sandwich), whichever are wider: what the model lacks is no
noise, and pulls stretch by stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.identification.evening import Mask
from emdeg.identification.friction_choice import FrictionChoice, choose_friction
from emdeg.identification.friction_terms import LEVELS, interpolated_peak
from emdeg.identification.linear_model import (
    HUBER,
    BodyRows,
    FrictionColumn,
    LinearModel,
    NoiseModel,
    Solution,
    noise_by_size,
    noise_model,
    solve,
    stretches,
    triangle,
    white_residuals,
    white_rows,
)
from emdeg.identification.samples import LogSamples

ROUNDS = 3
"""Fits behind the choice of terms: each makes the noise, the weights and the Stribeck velocities better."""
STRETCHES = 100
"""Into so many parts a log is cut to see how far each pulls the parameters."""

Told = Callable[[str], None]


@dataclass(frozen=True)
class Fit:
    """What least squares found: theta with its covariance, in the order of the model's columns.

    `levels`: the Stribeck velocity of each joint that has one, of its fastest speed; the last columns of the covariance
    belong to them, in order.
    """

    model: LinearModel
    theta: Array
    covariance: Array
    """Scaled so that 1.96 standard deviations are a 95% interval."""
    told: Mask
    hidden: Array
    levels: dict[int, float]
    noise: tuple[NoiseModel, ...]
    """Of each log."""
    variance: float
    """Of the white rows: one where the noise model holds."""
    model_error: Array
    """(size) the variance that stretches show, over that of the white fit."""
    rows: int
    far: int
    """Rows that count less than the others."""


def estimate(
    bodies: BodyRows,
    base: int,
    logs: Sequence[LogSamples],
    prior: Array,
    friction: FrictionChoice = "auto",
    progress: Told = lambda text: None,
) -> Fit:
    """Base parameters (`base` of them, near `prior` where the logs do not show them) and friction of every joint."""
    progress("choosing terms of friction")
    columns, levels, logs = choose_friction(bodies, base, logs, prior, friction)
    model = LinearModel(bodies, base, columns)
    theta = np.concatenate([prior, np.zeros(len(columns))])
    noise = [noise_by_size(one) for one in logs]
    weights = [
        [np.ones((len(w), w.shape[1])) for _, w in white_residuals(one, one.tau, n)] for one, n in zip(logs, noise)
    ]
    wide, solution = model, Solution(theta, np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, dtype=bool), 0.0, 0)
    for turn in range(ROUNDS + 1):
        progress(f"fit {turn + 1} of {ROUNDS + 1}")
        slopes = _slopes(model, theta, levels)
        wide = replace(model, friction=(*model.friction, *slopes))
        start = np.concatenate([prior, np.zeros(wide.size - base)])
        blocks = (block for one, n, w in zip(logs, noise, weights) for block in white_rows(wide, one, n, w))
        solution = solve(*triangle(blocks, wide.size), start)
        theta = solution.theta[: model.size]
        moved = dict(zip(levels, solution.theta[model.size :]))
        if turn == ROUNDS:
            break
        levels = {joint: _kept_between(level, moved[joint]) for joint, level in levels.items()}
        model = replace(model, friction=tuple(_with_level(column, levels) for column in model.friction))
        logs = [model.with_loads(theta, one) for one in logs]
        left = [one.tau - model.predicted(theta, one) for one in logs]
        noise = [noise_model(one, r) for one, r in zip(logs, left)]
        weights = [_weights(one, r, n) for one, r, n in zip(logs, left, noise)]
    progress("intervals")
    covariance, ratio = _covariance(wide, logs, noise, weights, solution)
    far = sum(int(np.count_nonzero((w > 0) & (w < 1))) for of_log in weights for w in of_log)
    return Fit(
        model,
        theta,
        covariance,
        solution.told,
        solution.hidden,
        levels,
        tuple(noise),
        solution.variance,
        ratio,
        solution.rows,
        far,
    )


def _weights(one: LogSamples, residual: Array, noise: NoiseModel) -> list[Array]:
    """Huber's, of every white row; zero where an effort is known to be wrong."""
    found = []
    for _, white in white_residuals(one, residual, noise):
        away = np.abs(white)
        weight = np.minimum(1.0, HUBER / np.maximum(away, 1e-300))
        found.append(np.where(np.isfinite(away), weight, 0.0))
    return found


def _slopes(model: LinearModel, theta: Array, levels: dict[int, float]) -> list[FrictionColumn]:
    """How the efforts change with each joint's Stribeck level, at the peaks found so far."""
    found = []
    for joint, level in levels.items():
        at = next(k for k, c in enumerate(model.friction) if c.joint == joint and c.name == "stribeck")
        mix = np.zeros_like(model.friction[at].mix)
        mix[-len(LEVELS) :] = interpolated_peak(level)[1] * theta[model.base + at]
        found.append(FrictionColumn(joint, "stribeck_velocity", mix))
    return found


def _kept_between(level: float, step: float) -> float:
    """The next level: a step that does not leave what can be interpolated, nor more than halves or doubles it."""
    return float(np.clip(np.clip(level + step, 0.5 * level, 2 * level), LEVELS[0], LEVELS[-1]))


def _with_level(column: FrictionColumn, levels: dict[int, float]) -> FrictionColumn:
    if column.name != "stribeck":
        return column
    mix = np.zeros_like(column.mix)
    mix[-len(LEVELS) :] = interpolated_peak(levels[column.joint])[0]
    return replace(column, mix=mix)


def _covariance(
    model: LinearModel,
    logs: Sequence[LogSamples],
    noise: Sequence[NoiseModel],
    weights: Sequence[Sequence[Array]],
    solution: Solution,
) -> tuple[Array, Array]:
    """(the covariance, by how much stretches make each variance larger)."""
    pulls = []
    for one, n, w in zip(logs, noise, weights):
        parts = _stretch_numbers(one, n.order)
        sums = np.zeros((int(parts.max(initial=0)) + 1, model.size))
        at = 0
        for X, y in white_rows(model, one, n, w):
            rest = y - X @ solution.theta
            np.add.at(sums, parts[at : at + len(X)], np.einsum("tip,ti->tp", X, rest))
            at += len(X)
        pulls.append(sums)
    g = np.concatenate(pulls)
    few, many = len(g), max(1, solution.rows - solution.rank)
    plain = solution.covariance * solution.variance * _student(many)
    spread = solution.covariance @ (g.T @ g) @ solution.covariance
    spread *= few / max(1, few - 1) * solution.rows / many * _student(max(2, few - 1))
    ratio = np.diag(spread) / np.maximum(np.diag(plain), 1e-300)
    # Correlations stay as the white fit has them.
    wider = np.sqrt(np.maximum(ratio, 1.0))
    return plain * np.outer(wider, wider), ratio


def _student(freedom: int) -> float:
    """By how much few degrees of freedom make a variance larger, for 95% intervals."""
    from scipy.stats import t

    return (float(t.ppf(0.975, freedom)) / NORMAL) ** 2


NORMAL = 1.959964
"""Standard deviations of a normal distribution that hold 95%."""


def _stretch_numbers(one: LogSamples, order: int) -> NDArray[np.intp]:
    """Which stretch every white row belongs to; of a periodic motion the same phases are one stretch."""
    rows = np.concatenate([np.arange(first + order, last) for first, last in stretches(one) if last - first > order])
    count = int(np.clip(len(rows) // 20, 4, STRETCHES))
    period = period_of(one)
    if period is None:
        return np.minimum(np.arange(len(rows)) * count // len(rows), count - 1)
    phase = (one.t[rows] - one.t[0]) / period % 1.0
    return np.minimum((phase * count).astype(int), count - 1)


REPEATED = 2e-3
"""A motion repeats itself if it comes back to within this share of its size."""


def period_of(one: LogSamples) -> float | None:
    """The time [s] after which the motion repeats itself; None where it does not within the log."""
    first, last = max(stretches(one), key=lambda ends: ends[1] - ends[0])
    q = one.q[first:last] - one.q[first:last].mean(axis=0)
    m = len(q)
    size = float(np.sum(q * q))
    if m < 50 or size <= 0:
        return None
    many = 1 << (2 * m - 1).bit_length()
    spectrum = np.fft.rfft(q, many, axis=0)
    same = np.fft.irfft(np.sum(np.abs(spectrum) ** 2, axis=1), many)[:m]
    squares = np.concatenate([[0.0], np.cumsum(np.sum(q * q, axis=1))])
    lags = np.arange(m)
    away = (squares[m] - squares[lags]) + squares[m - lags] - 2 * same
    share = away / np.maximum(squares[m - lags] + squares[m] - squares[lags], 1e-300)
    # Beyond the first moments, in which every motion is like itself, and with half a period left to compare.
    begin = int(np.argmax(share > 0.1)) if (share > 0.1).any() else m
    lag = begin + int(np.argmax(share[begin : (2 * m) // 3] < REPEATED)) if begin < (2 * m) // 3 else 0
    if not lag or share[lag] >= REPEATED:
        return None
    near = slice(lag, min(m, lag + max(2, lag // 10)))
    return float(lag + int(np.argmin(share[near]))) * one.step
