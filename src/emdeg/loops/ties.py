"""Finds what closes loops that distances do not: equations linear in one joint, joints that turn together or never.

All is looked for in doubles, at a few closed configurations. What is found here is a guess: it stays in a plan only if
every closure equation then holds, exactly modulo primes and in doubles all over the coordinates' range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any, cast

import numpy as np

from emdeg.algebra import Angle, Array
from emdeg.dynamics.mechanism import path
from emdeg.dynamics.spatial import column
from emdeg.loops.levels import LevelStep, Tie, level_of, missed
from emdeg.loops.linkage import CLOSING_ROWS, Bar, Linkage, Meeting, world_frames
from emdeg.loops.newton import positions_of, size_of
from emdeg.loops.place import Place

SAME = 1e-8
"""Angles, and lengths over the mechanism's size, that differ by less are the same."""
TWELFTH = 12
"""Constants of joints that turn are multiples of pi over this."""
DENOMINATOR = 10**6


class ClosedPlaces:
    """A mechanism at closed configurations (k, n): which joints are tied, which equations place one joint."""

    def __init__(self, link: Linkage, places: Array) -> None:
        self.link, self.places = link, places
        self.size = size_of(link)
        world = world_frames(link, positions_of(link, places[0]))
        self.axes = np.array([cast(Any, column(R, 2)) for R in world.R], dtype=np.float64)

    def tie(self, joint: int, loop: str, others: Sequence[int]) -> Tie | None:
        """How a joint follows from some of the others, if it does."""
        turns = self.link.tree.revolute
        alike = [k for k in others if turns[k] == turns[joint]]
        parallel = [k for k in alike if np.linalg.norm(np.cross(self.axes[k], self.axes[joint])) < SAME]
        for size, among in ((0, alike), (1, alike), (2, parallel), (3, parallel)):
            for some in combinations(among, size):
                for times in product((1, -1, 2, -2) if size == 1 else (1, -1), repeat=size):
                    terms = tuple(zip(some, times))
                    rest = self.places[:, joint] - sum(n * self.places[:, k] for k, n in terms)
                    found = self._constant(np.asarray(rest), turns[joint])
                    if found is not None:
                        turn, shift = found
                        return Tie(joint, loop, terms, turn, shift)
        return None

    def _constant(self, values: Array, turning: bool) -> tuple[Angle, Fraction] | None:
        if not turning:
            near = Fraction(float(values[0])).limit_denominator(DENOMINATOR)
            return (Angle(), near) if np.abs(values - float(near)).max() < SAME * self.size else None
        twelfths = round(float(values[0]) * TWELFTH / np.pi)
        off = np.remainder(values - twelfths * np.pi / TWELFTH + np.pi, 2 * np.pi) - np.pi
        return (Angle(Fraction(twelfths % 24, TWELFTH)), Fraction(0)) if np.abs(off).max() < SAME else None

    def levels(self, loop: Meeting, unknown: Sequence[int], known: set[int]) -> Iterator[tuple[LevelStep, ...]]:
        """Equations of a loop that place one of its unknown joints; what is tied to it follows."""
        turns = self.link.tree.revolute
        for joint in unknown:
            others = [k for k in unknown if k != joint]
            ties = {k: self.tie(k, loop.name, [*sorted(known), joint]) for k in others}
            followers = tuple(tie for tie in ties.values() if tie is not None)
            idle = tuple(k for k in others if ties[k] is None)
            rows: list[tuple[int, int | None]] = [(row, None) for row in range(len(CLOSING_ROWS[loop.kind]))]
            rows += [(0, k) for k in others if turns[k]]
            for row, along in rows:
                step = LevelStep(joint, loop.name, row, along, followers, idle, turns[joint])
                if self._places_it(step, loop):
                    yield step, *followers  # type: ignore[misc]

    def _places_it(self, step: LevelStep, loop: Bar | Meeting) -> bool:
        """Whether the equation is linear in the joint, says something of it, and does not depend on idle joints."""
        at = positions_of(self.link, self.places)
        moved = {k: p for k, p in enumerate(at) if k not in step.idle}
        place = Place(self.link, moved)
        with np.errstate(all="ignore"):
            u, v, w = (np.asarray(x, dtype=np.float64) for x in level_of(place, step, loop))
            scale = self.size if step.turns else 1.0
            if not np.all(np.hypot(u, v) > 1e-6 * min(scale, 1.0)):
                return False
            rng = np.random.default_rng(0)
            for q in (self.places[:, step.joint], *rng.uniform(-1, 1, 3)):
                where: Any = (np.sin(q), np.cos(q)) if step.turns else q
                expected = u * np.cos(q) + v * np.sin(q) + w if step.turns else u * q + w
                for stray in (0.0, 0.7):
                    loose = {k: self._strayed(k, stray) for k in step.idle}
                    value = np.asarray(missed(place, step, loop, where, loose), dtype=np.float64)
                    if not np.all(np.abs(value - expected) < SAME * max(self.size, 1.0)):
                        return False
        own = self.places[:, step.joint]
        here = u * np.cos(own) + v * np.sin(own) + w if step.turns else u * own + w
        return bool(np.abs(here).max() < SAME * max(self.size, 1.0))

    def _strayed(self, k: int, by: float) -> Any:
        return (np.sin(by), np.cos(by)) if self.link.tree.revolute[k] else by


def further_steps(
    looked: ClosedPlaces, loops: Sequence[Bar | Meeting], known: set[int]
) -> Iterator[tuple[tuple[LevelStep | Tie, ...], set[int]]]:
    """(steps, the joints they find): an equation that is linear in one joint; else a joint tied to known ones."""
    mech = looked.link.tree
    unknown = {
        loop.name: sorted(({*path(mech, loop.first.link)} ^ {*path(mech, loop.second.link)}) - known) for loop in loops
    }
    for loop in loops:
        if isinstance(loop, Meeting) and unknown[loop.name]:
            for steps in looked.levels(loop, unknown[loop.name], known):
                yield steps, {step.joint for step in steps}
    for loop in loops:
        for joint in unknown[loop.name]:
            tie = looked.tie(joint, loop.name, sorted(known))
            if tie is not None:
                yield (tie,), {joint}
