"""The samples of a plan: from a sample's number to its case, its workspace and its parameters' values.

Everything is a function of the study, its seed and the number, so that samples can be made anywhere in any order.
Random dimension d of draw k is number k of stream d. A Latin hypercube puts draw k into the stratum p_d(k) of N, p_d a
permutation of its own: a Feistel network (Luby and Rackoff) on numbers of an even count of bits, walked along its
cycle until the result is below N, so that no table of N numbers is kept. All points of the grids see the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.runtime import mixed, stream_key, uniform_at
from emdeg.sweeps.plan import Case, Parameter, Plan

Whole = NDArray[np.uint64]
ROUNDS = 8


@dataclass(frozen=True)
class Samples:
    """Some samples of one case in one workspace; `values` (samples, parameters) in the case's order."""

    case: int
    workspace: int
    numbers: NDArray[np.int64]
    scale: Array
    values: Array


def runs(plan: Plan, first: int, last: int) -> list[tuple[int, int]]:
    """Samples first..last cut where the case or the workspace changes."""
    size = plan.work.samples // (plan.shape[0] * plan.shape[1])
    edges = sorted({first, last, *range(-(-first // size) * size, last, size)})
    return [(a, b) for a, b in pairwise(edges) if a < b]


def samples(plan: Plan, first: int, last: int) -> Samples:
    """Samples first..last, which lie in one run."""
    numbers = np.arange(first, last, dtype=np.int64)
    case, where, scale, *rest = np.unravel_index(numbers, plan.shape)
    grid, draw = rest[:-1], rest[-1].astype(np.uint64)
    scales = np.asarray(plan.scales)[scale]
    one = plan.cases[int(case[0])]
    columns = [_values(plan, p, grid, draw, scales) for p in one.parameters]
    values = np.stack(columns, axis=1) if columns else np.empty((len(numbers), 0))
    return Samples(int(case[0]), int(where[0]), numbers, scales, values)


def _values(plan: Plan, parameter: Parameter, grid: list[NDArray], draw: Whole, scale: Array) -> Array:
    if parameter.rule == "grid":
        return np.asarray(plan.grids[parameter.axis])[grid[parameter.axis]]
    u = unit_draws(plan, parameter.axis, draw)
    middle, width = parameter.numbers
    if parameter.rule == "uniform":
        return middle + (width - middle) * u
    if parameter.rule == "normal":
        return middle + width * _normal(u)
    tolerances = plan.study.tolerances
    assert tolerances is not None
    spread = _normal(u) if tolerances.distribution == "normal" else 2 * u - 1
    return middle + scale * width * spread


def _normal(u: Array) -> Array:
    """Standard normal numbers from uniform ones."""
    from scipy.special import ndtri  # half a second to import, and not every study needs it

    return ndtri(u)


def unit_draws(plan: Plan, dimension: int, draw: Whole) -> Array:
    """Random numbers of (0, 1), one a draw, of one dimension."""
    study = plan.study
    # Half a unit in the last place up, so that none is 0, where a normal number is infinite.
    u = uniform_at(stream_key(study.seed, "draws", dimension), draw) + 2.0**-54
    if study.method == "monte_carlo":
        return u
    stratum = permuted(draw, study.draws, stream_key(study.seed, "strata", dimension))
    return (stratum.astype(float) + u) / study.draws


def permuted(numbers: Whole, size: int, key: int) -> Whole:
    """Where a random permutation of 0..size-1, chosen by `key`, takes these numbers."""
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    found = np.array(numbers, dtype=np.uint64)
    outside = np.ones(found.shape, bool)
    while outside.any():
        found[outside] = _feistel(found[outside], half, key)
        outside = found >= np.uint64(size)
    return found


def _feistel(x: Whole, half: int, key: int) -> Whole:
    shift, mask = np.uint64(half), np.uint64(2**half - 1)
    left, right = x >> shift, x & mask
    with np.errstate(over="ignore"):
        for k in range(ROUNDS):
            turned = mixed(right + np.uint64(stream_key(key, k)))
            left, right = right, left ^ (turned & mask)
    return (left << shift) | right


def input_order(case: Case, labels: tuple[str, ...]) -> list[int]:
    """The places of a program's parameters among the case's."""
    place = {parameter.symbol: k for k, parameter in enumerate(case.parameters)}
    return [place[label] for label in labels]
