"""States that a search for an approximate program steers by: random ones, and the worst that climbs find.

Its error is largest at corners of accelerations, and most often of speeds; so most states have their rates there. What
steers proves nothing: `program_error` certifies what a search ends with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.approximation.shortening.rates import Corners, ErrorsAt, States
from emdeg.bounds import basis, joint_variable
from emdeg.robot import Workspace

MOTION = ("q", "qd", "qdd")
"""The arrays of a state of inverse dynamics."""
INSIDE = 0.3
"""The share of states whose speeds lie within their box instead of at a corner."""
WAVES, PLACES = 3, 73
"""The degree of a wave through errors along a joint, and at how many places its largest value is looked for."""


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


@dataclass(frozen=True)
class Climbs:
    """How the states of largest errors are searched for."""

    points: int = 20_000
    """States at which errors are computed before any climb."""
    starts: int = 12
    """Configurations that are climbed from, for each output."""
    kept: int = 1
    """Worst states that are returned, for each output."""
    sweeps: int = 3
    """How often all joints are moved."""
    besides: int = 0
    """Further bad states that are returned for each output, not climbed from."""


DEFAULT_CLIMBS = Climbs()


def worst_states(
    errors: ErrorsAt,
    where: Workspace,
    names: Sequence[str],
    random: np.random.Generator,
    climbs: Climbs = DEFAULT_CLIMBS,
    also: States | None = None,
) -> tuple[Array, dict[str, Array]]:
    """(the largest error found of each output, the states where), by climbs from the worst of some configurations.

    `also`: states to climb from, equally many an output, the first output's first. A climb moves one joint after the
    other to where the error is largest, and then the rates.
    """
    starts = climbs.starts
    corners = Corners(where, names, random)
    sizes, at = corners.worst(errors, where.sample(max(starts, climbs.points // len(corners.units)), random))
    outputs = sizes.shape[1]
    ranked = np.argsort(-sizes, axis=0, kind="stable").T * outputs + np.arange(outputs)[:, None]
    rows, more = ranked[:, :starts].reshape(-1), ranked[:, starts::2][:, : climbs.besides].reshape(-1)
    own = np.repeat(np.arange(outputs), len(rows) // outputs)
    states, other = taken(at, rows), taken(at, more)
    if also is not None:
        own = np.concatenate([own, np.repeat(np.arange(outputs), len(also["q"]) // outputs)])
        states = joined(states, also)
    climb = _Climb(errors, own, states)
    tables = [_along(low, high) for low, high in where.ranges]
    for _ in range(climbs.sweeps):
        for joint in random.permutation(len(tables)):
            climb.move(joint, *tables[joint])
        if len(corners.units) > 1:
            sizes, at = corners.worst(errors, climb.states["q"])
            rows = np.arange(len(own)) * outputs + own
            climb.take(sizes.reshape(-1)[rows], taken(at, rows))
    best = [np.flatnonzero(own == k)[np.argsort(-climb.reached[own == k], kind="stable")] for k in range(outputs)]
    found = np.array([climb.reached[each[0]] for each in best])
    return found, joined(taken(climb.states, np.concatenate([each[: climbs.kept] for each in best])), other)


class _Climb:
    """States on their way to where an output of theirs errs most; `own`: which, by state."""

    def __init__(self, errors: ErrorsAt, own: NDArray[np.intp], states: dict[str, Array]) -> None:
        self.errors, self.own, self.states = errors, own, states
        self.reached = np.abs(self._of_own(states))

    def _of_own(self, states: States) -> Array:
        """(states,): each one's error of its output."""
        mine = np.repeat(self.own, len(states["q"]) // len(self.own))
        return self.errors(states)[np.arange(len(mine)), mine]

    def take(self, sizes: Array, states: States) -> None:
        """Goes where the error is larger."""
        better = sizes > self.reached
        self.states = {name: np.where(better[:, None], states[name], old) for name, old in self.states.items()}
        self.reached = np.where(better, sizes, self.reached)

    def move(self, joint: int, nodes: Array, places: Array, table: Array) -> None:
        """Moves a joint to where a wave through the errors at nodes is largest, or to a node."""
        at_nodes = {name: np.repeat(array, len(nodes), axis=0) for name, array in self.states.items()}
        at_nodes["q"][:, joint] = np.tile(nodes, len(self.own))
        got = self._of_own(at_nodes).reshape(-1, len(nodes))
        node = np.abs(got).argmax(axis=1)
        self.take(np.abs(got)[np.arange(len(node)), node], self._with(joint, nodes[node]))
        moved = self._with(joint, places[np.abs(got @ table.T).argmax(axis=1)])
        self.take(np.abs(self._of_own(moved)), moved)

    def _with(self, joint: int, positions: Array) -> dict[str, Array]:
        q = self.states["q"].copy()
        q[:, joint] = positions
        return {**self.states, "q": q}


def _along(low: float, high: float) -> tuple[Array, Array, Array]:
    """(nodes of a joint's range, places of it, values at nodes -> those of the wave through them at the places)."""

    def waves(x: Array) -> Array:
        return basis(joint_variable(1, True, (low, high)), WAVES, np.cos, np.sin, x - 0.5 * (low + high))

    nodes, places = np.linspace(low, high, 2 * WAVES + 2)[:-1], np.linspace(low, high, PLACES)
    if high - low < 2 * math.pi * (1 - 1e-9):
        nodes = np.linspace(low, high, 2 * WAVES + 1)
    return nodes, places, waves(places) @ np.linalg.pinv(waves(nodes))
