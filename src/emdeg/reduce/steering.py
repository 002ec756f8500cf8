"""States that a search for a short program steers by: random ones, and the worst that climbs find.

The error of a short program is largest at corners of accelerations, and most often of speeds; so most of the states
have their rates there. What steers proves nothing: `program_error` certifies what a search ends with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.robot import Workspace

States = Mapping[str, Array]
"""Inputs by name, (states, size) each."""
Errors = Callable[[States], Array]
"""States -> (states, outputs)."""

MOTION = ("q", "qd", "qdd")
"""The arrays of a state of inverse dynamics."""
INSIDE = 0.3
"""The share of states whose speeds lie within their box instead of at a corner."""
POINTS, STARTS, TRIES, ROUNDS = 20_000, 12, 12, 24
"""Random states an adversary looks at, how many it climbs from for each output, and how."""


def random_states(where: Workspace, names: Sequence[str], count: int, random: np.random.Generator) -> dict[str, Array]:
    """`count` states over the box: positions uniform, rates at corners, some speeds within."""
    found = {"q": where.sample(count, random)}
    for name, most in (("qd", where.speed), ("qdd", where.acceleration)):
        if name in names:
            found[name] = random.choice((-1.0, 1.0), (count, len(most))) * most
    if "qd" in found:
        some = int(INSIDE * count)
        found["qd"][:some] *= random.uniform(0, 1, (some, len(where.speed)))
    return found


def joined(*parts: States) -> dict[str, Array]:
    """Several sets of states as one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def taken(states: States, rows: NDArray[np.intp] | slice) -> dict[str, Array]:
    """Some of the states."""
    return {name: array[rows] for name, array in states.items()}


def worst_states(
    errors: Errors,
    where: Workspace,
    names: Sequence[str],
    random: np.random.Generator,
    points: int = POINTS,
    starts: int = STARTS,
    kept: int = 1,
) -> tuple[Array, dict[str, Array]]:
    """(the largest error found of each output, the states where: so many an output), by climbs from random states."""
    start = random_states(where, names, points, random)
    sizes = np.abs(errors(start))
    found, at = [], []
    for output in range(sizes.shape[1]):
        best = taken(start, np.argsort(-sizes[:, output])[:starts])
        value, state = climbed(lambda some, k=output: np.abs(errors(some)[:, k]), best, where, random, kept)
        found.append(value)
        at.append(state)
    return np.array(found), joined(*at)


def climbed(
    size: Callable[[States], Array],
    states: dict[str, Array],
    where: Workspace,
    random: np.random.Generator,
    kept: int = 1,
) -> tuple[float, dict[str, Array]]:
    """(the largest size reached, the states where most was) from some states: steps of positions, turns of rates."""
    lower, upper = np.array(where.ranges).T
    reached, step = size(states), 0.25
    count = len(reached)
    for _ in range(ROUNDS):
        tried = {name: np.repeat(array, TRIES, axis=0) for name, array in states.items()}
        moved = step * (upper - lower) * random.normal(size=tried["q"].shape)
        moved *= random.uniform(size=moved.shape) < 0.5
        tried["q"] = np.clip(tried["q"] + moved, lower, upper)
        for name, most in (("qd", where.speed), ("qdd", where.acceleration)):
            if name in tried:
                chance = random.uniform(size=tried[name].shape)
                corner = np.where(chance < 0.04, np.array(most), np.where(chance < 0.08, -np.array(most), np.nan))
                tried[name] = np.where(np.isnan(corner), tried[name], corner)
        got = size(tried).reshape(count, TRIES)
        top = got.argmax(axis=1)
        better = got[np.arange(count), top] > reached
        rows = np.arange(count) * TRIES + top
        for name in states:
            states[name] = np.where(better[:, None], tried[name][rows], states[name])
        reached = np.maximum(reached, got.max(axis=1))
        step *= 0.95 if better.mean() > 0.3 else 0.8
    top = np.argsort(-reached, kind="stable")[:kept]
    return float(reached[top[0]]), taken(states, top)
