"""Printed models of mechanisms with closed loops: proved equal modulo primes, or bounded box by box.

Entries are of the independent coordinates; expressions may have every joint of the tree in them, since the loops say
where it is. Printed and exact entries are traced into one program. Two that are equal are proved so; the error of the
others is bounded by enclosures over boxes of coordinates, where the loops close and no loop is nearer to a dead point
than `margin` says (the function `closure`: the sine squared of the angle at which links meet).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, cast

import numpy as np

from emdeg.algebra import Array, PrimeField
from emdeg.approximation import enclosed, of_rates, unit_rates
from emdeg.bounds import Bounded, Boxes, BoxValues, Enclosure, SearchLimits, largest_values
from emdeg.dynamics import Outputs
from emdeg.dynamics.functions import ways_of
from emdeg.errors import NotBounded, NotProvable, RobotError
from emdeg.loops import LoopState, functions, reduction
from emdeg.papers.validation.entries import COEFFICIENTS, Asked
from emdeg.papers.validation.file import PrintedModel
from emdeg.papers.validation.meaning import Letters, Meaning
from emdeg.papers.validation.verdict import NOTHING, JudgedOver, Judgement, judged_by_size, judged_entry, unjudged
from emdeg.programs import (
    Program,
    Trace,
    Traced,
    evaluate,
    evaluate_residues,
    open_trace,
    prune,
    verify,
)
from emdeg.robot import Robot, Workspace

SAMPLES = 4096
SIZE_GAP = 0.1
"""How near the bounds of entries themselves shall come: errors are what is asked for."""
MOST_POINTS = 1 << 14
"""Tried until one is found at which every root exists."""
Parts = Mapping[tuple, Any]
"""An entry's coefficients in one algebra, by the products of rates that they belong to."""


def judge_loops(printed: PrintedModel, robot: Robot, search: JudgedOver) -> list[Judgement]:
    """The printed entries against the exact ones of a mechanism, dead points left out by the search's margin."""
    bench = _LoopBench(printed, robot, search)
    compared: list[_Compared] = []

    def pending(name: str, text: str, asked: Asked) -> Judgement:
        compared.append(bench.compared(name, text, asked))
        return Judgement(name, text, True, NOTHING, NOTHING, NOTHING, False, 0.0)

    first = [judged_entry(printed, name, robot, pending) for name in printed.entries]
    done = {one.name: one for one in bench.judged(compared)}
    return [done.get(one.name, one) for one in first]


@dataclass(frozen=True)
class _Compared:
    """An entry as printed and as it is, in one trace."""

    name: str
    text: str
    asked: Asked
    theirs: Parts
    exact: Parts

    def wrong(self, keys: Iterable[tuple]) -> Parts:
        """By how much some coefficients are off."""
        return {key: self.theirs[key] - self.exact[key] for key in keys}

    @property
    def positive(self) -> bool:
        """Whether the exact entry is positive everywhere: a diagonal of M."""
        return self.asked.letter == "M" and self.asked.of[0] == self.asked.of[1]


class _LoopBench:
    """One trace with a mechanism's state in it, and what is asked of it."""

    def __init__(self, printed: PrintedModel, robot: Robot, search: JudgedOver) -> None:
        self.printed, self.robot, self.search = printed, robot, search
        self.trace: Trace = open_trace(robot, ["mass_matrix"])
        self.tracer = self.trace.tracer
        self.state = cast(LoopState, self.trace.state())
        self.meaning = Meaning(
            printed, robot, Letters(self.tracer.number, self.tracer.sincos, lambda k: self.state.position[k])
        )
        self._moved: dict[tuple, Meaning] = {}

    # What is compared.

    def compared(self, name: str, text: str, asked: Asked) -> _Compared:
        """The entry's coefficients as printed and as they are; UnreadableEntry where it cannot be read."""
        degrees = self.meaning.degrees(name)
        asked.need_degrees(degrees, name, self.printed.file)
        n, none = self.state.n, (0,) * self.state.n

        def at(qd: Sequence[int], qdd: Sequence[int]) -> Any:
            return self._at(tuple(qd), tuple(qdd)).entry(name)

        def speed(k: int, way: int = 1) -> Any:
            return at([way * int(k == j) for j in range(n)], none)

        if asked.letter in COEFFICIENTS:
            return _Compared(name, text, asked, {("g",): at(none, none)}, {("g",): self._coefficient(asked)})
        if asked.letter == "C":
            i, j = (k - 1 for k in asked.of)
            exact = {("v", k): self._christoffel[k][i][j] for k in range(n)}
            return _Compared(name, text, asked, {("v", k): speed(k) for k in range(n)}, exact)
        theirs = of_rates([at(qd, qdd) for qd, qdd in unit_rates(n)], n)
        exact = of_rates([self._efforts(qd, qdd)[asked.of[0] - 1] for qd, qdd in unit_rates(n)], n)
        for k in range(n) if (1, 0) in degrees else ():
            theirs["v", k] = (speed(k) - speed(k, -1)) * Fraction(1, 2)
            theirs["c", k] = theirs["c", k] - theirs["v", k]
            exact["v", k] = self.tracer.number(0)
        return _Compared(name, text, asked, theirs, exact)

    def _at(self, qd: tuple[int, ...], qdd: tuple[int, ...]) -> Meaning:
        """The expressions' meaning at rates of the coordinates: every joint's follow."""
        if (qd, qdd) not in self._moved:
            s, (speed, push) = self.state, self._numbers(qd, qdd)
            move = s.motion(speed)
            self._moved[qd, qdd] = self.meaning.at(move.qd, reduction.accelerations(s.link, move, speed, push))
        return self._moved[qd, qdd]

    def _numbers(self, *rates: Sequence[int]) -> list[list[Traced]]:
        return [[self.tracer.number(Fraction(x)) for x in each] for each in rates]

    def _efforts(self, qd: tuple[int, ...], qdd: tuple[int, ...]) -> Sequence[Any]:
        speed, push = self._numbers(qd, qdd)
        return functions.inverse_dynamics(replace(self.state, qd=speed, qdd=push))["tau"]

    def _coefficient(self, asked: Asked) -> Any:
        of = [k - 1 for k in asked.of]
        if asked.letter == "M":
            return self._mass_matrix[of[0]][of[1]]
        if asked.letter == "g":
            return self._gravity[of[0]]
        beta = self._christoffel[of[-1]][of[0]][of[1]]
        return beta * 2 if asked.letter == "b" else beta

    @cached_property
    def _mass_matrix(self) -> Any:
        return functions.mass_matrix(self.state)["M"]

    @cached_property
    def _margins(self) -> Any:
        ((_, run),) = ways_of("closure", self.robot).formulations.items()
        return cast(Outputs, run(self.state))["closure"]

    @cached_property
    def _gravity(self) -> Any:
        return functions.gravity(self.state)["g"]

    @cached_property
    def _christoffel(self) -> list[Any]:
        """beta_ijk = C_ij at a unit speed of coordinate k, by k, i, j."""
        s = self.state
        return [reduction.model(s.link, s.position, s.motion(s.unit(k))).C for k in range(s.n)]

    # How it is judged.

    def judged(self, compared: Sequence[_Compared]) -> list[Judgement]:
        """Those that are equal proved so, the errors of the others bounded."""
        apart = self._apart(compared)
        wrong = {one.name: one.wrong(apart[one.name]) for one in compared if apart[one.name]}
        goals = [_Goal(one.asked, one.exact, SIZE_GAP) for one in compared]
        goals += [_Goal(one.asked, wrong[one.name], self.search.gap) for one in compared if one.name in wrong]
        shares = [one for one in compared if one.name in wrong and one.positive]
        goals += [_Goal(one.asked, wrong[one.name], self.search.gap, one.exact["g",]) for one in shares]
        limits = SearchLimits(seconds=self.search.seconds * len(compared))
        reached = self._sampled(goals)
        bounded = iter(map(_raised, self._bounded(goals, limits), reached))
        sizes = {one.name: next(bounded) for one in compared}
        errors = {name: next(bounded) for name in wrong}
        ratios = {one.name: next(bounded) for one in shares}
        seen = {one.name: sample.largest for one, sample in zip(compared, reached)}
        means = {name: sample.mean / (seen[name] or 1.0) for name, sample in zip(wrong, reached[len(compared) :])}
        means |= {one.name: sample.mean for one, sample in zip(shares, reached[len(compared) + len(wrong) :])}
        found = []
        for one in compared:
            if one.name not in wrong:
                found.append(Judgement(one.name, one.text, True, NOTHING, sizes[one.name], NOTHING, False, 0.0))
                continue
            try:
                found.append(self._judgement(one, sizes, errors, ratios, means[one.name], apart[one.name]))
            except NotBounded as problem:
                found.append(unjudged(one.name, one.text, str(problem)))
        return found

    def _judgement(
        self,
        one: _Compared,
        sizes: Mapping[str, Bounded],
        errors: Mapping[str, Bounded],
        ratios: Mapping[str, Bounded],
        mean: float,
        parts: Iterable[tuple],
    ) -> Judgement:
        name, error, size = one.name, errors[one.name], sizes[one.name]
        if not np.isfinite(error.bound):
            at = ", ".join(f"{name} = {x:.4g}" for name, x in zip(self.search.where.joints, error.at.values()))
            raise NotBounded(f"its error has no bound over the workspace as far as was looked (see {at})")
        off = () if one.asked.letter in COEFFICIENTS else tuple(map(one.asked.coefficient, parts))
        ratio = ratios.get(name)
        found = replace(judged_by_size(name, one.text, error, size, 0.0, off), average=mean)
        if ratio is None or not np.isfinite(ratio.bound):
            return found
        return replace(found, relative=ratio, pointwise=True)

    def _apart(self, compared: Sequence[_Compared]) -> dict[str, list[tuple]]:
        """By entry, the coefficients that are off; that the others are as printed is proved modulo random primes."""
        apart = self._differing(compared)
        same = [(one, key) for one in compared for key in one.theirs if key not in apart[one.name]]
        if same:
            theirs, exact = (
                prune(self.tracer.program(what, {"value": [getattr(one, side)[key] for one, key in same]}))
                for what, side in (("printed", "theirs"), ("exact", "exact"))
            )
            try:
                verify(theirs, exact)
            except NotProvable:  # then they are bounded, too
                return {one.name: list(one.theirs) for one in compared}
        return apart

    def _differing(self, compared: Sequence[_Compared]) -> dict[str, list[tuple]]:
        """By entry, the coefficients that differ at some point modulo a prime."""
        program = prune(
            self.tracer.program(
                "both",
                {
                    f"{side}{k}": list(getattr(one, side).values())
                    for k, one in enumerate(compared)
                    for side in ("theirs", "exact")
                },
            )
        )
        for _ in range(MOST_POINTS):
            try:
                found = evaluate_residues(program, PrimeField.fresh())
                break
            except ZeroDivisionError:  # half of all radicands have no root: another point
                continue
        else:
            raise RobotError("it divides by what is zero everywhere", file=self.printed.file)
        return {
            one.name: [key for key, a, b in zip(one.theirs, found[f"theirs{k}"], found[f"exact{k}"]) if a != b]
            for k, one in enumerate(compared)
        }

    def _program(self, goals: Sequence[_Goal]) -> Program:
        """Every part of every goal, divisors of ratios, and the loops' margins, simplified together."""
        outputs = {f"goal{k}": [*goal.parts.values(), *goal.divisors] for k, goal in enumerate(goals)}
        return prune(self.tracer.program("judged", {**outputs, "closure": self._margins}))

    def _bounded(self, goals: Sequence[_Goal], limits: SearchLimits) -> list[Bounded]:
        program = self._program(goals)
        where, margin = self.search.where, self.search.margin

        def look(boxes: Boxes) -> BoxValues:
            groups = enclosed(program, boxes)
            inside, there = ~boxes.empty, np.ones(len(boxes.empty), bool)
            for one in groups["closure"]:
                inside &= np.broadcast_to(one.ends[1] >= margin, inside.shape)
                there &= np.broadcast_to(one.middle[0] >= margin, inside.shape)
            looked = [goal.looked(groups[f"goal{k}"], where) for k, goal in enumerate(goals)]
            upper = np.stack([one[0] for one in looked])
            value = np.where(there[None, :], np.stack([one[1] for one in looked]), -np.inf)
            value = np.where(np.isfinite(value), value, -np.inf)
            weight = np.stack([one[2] for one in looked])
            with np.errstate(invalid="ignore", divide="ignore"):
                share = weight / np.maximum(np.abs(value).max(axis=1), 1e-300)[:, None, None]
            return BoxValues(upper, value, inside, np.where(np.isnan(share), np.inf, share).sum(axis=0).T)

        return largest_values(look, where.ranges, [goal.gap for goal in goals], limits)

    def _sampled(self, goals: Sequence[_Goal]) -> list[_Sample]:
        """Every goal over random states at which the loops close."""
        program = self._program(goals)
        where = self.search.where
        q, qd, qdd = where.sample_states(SAMPLES, self.search.seed)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = evaluate(program, {"q": q})
        there = (np.reshape(found["closure"], (len(q), -1)) >= self.search.margin).all(axis=1)
        if not there.any():
            return [_Sample(0.0, 0.0, ())] * len(goals)
        states = (q[there], qd[there], qdd[there])
        return [goal.sampled(found[f"goal{k}"][there], *states, where) for k, goal in enumerate(goals)]


@dataclass(frozen=True)
class _Sample:
    """The mean magnitude over random states, and the largest that rates reach at their positions."""

    mean: float
    largest: float
    at: tuple[float, ...]


def _raised(bounded: Bounded, sample: _Sample) -> Bounded:
    """The bounds with what a random state reached, where that is more than the search came upon in its time."""
    if sample.largest <= bounded.value:
        return bounded
    return replace(bounded, value=min(sample.largest, bounded.bound), at=dict(zip(bounded.at, sample.at)))


@dataclass(frozen=True)
class _Goal:
    """Whose largest magnitude is looked for, over positions and rates; over `by`, if that is given."""

    asked: Asked
    parts: Parts
    gap: float
    by: Any = None

    @property
    def divisors(self) -> list[Any]:
        return [] if self.by is None else [self.by]

    def sampled(self, found: Array, q: Array, qd: Array, qdd: Array, where: Workspace) -> _Sample:
        """Over states: the parts' values, and the divisor's behind them, at each."""
        parts = {key: found[:, place] for place, key in enumerate(self.parts)}
        by = np.abs(found[:, -1]) if self.by is not None else 1.0
        mean = sum(value * self.asked.product(key, qd, qdd) for key, value in parts.items())
        reached = _reached(self.asked, parts, where) / by
        best = int(np.argmax(reached))
        return _Sample(
            float((np.abs(mean) / by).mean()), float(reached[best]) * (1 - 1e-12), tuple(map(float, q[best]))
        )

    def looked(self, found: Sequence[Enclosure], where: Workspace) -> tuple[Array, Array, Array]:
        """(bounds, values at the centres, what each variable adds (variables, boxes))."""
        boxes = found[0].boxes
        count = len(boxes.empty)
        products = [self.asked.largest_product(key, where) for key in self.parts]
        each = [(one, most) for one, most in zip(found, products) if most]
        upper = sum((np.broadcast_to(one.magnitude, count) * most for one, most in each), np.zeros(count))
        change = sum((one.change * most for one, most in each), np.zeros_like(boxes.half))
        middles = {key: np.broadcast_to(one.middle.mean(axis=0), count) for key, one in zip(self.parts, found)}
        value = _reached(self.asked, middles, where)
        upper = np.asarray(upper) * (1 + 1e-12)
        if self.by is None:
            return upper, value * (1 - 1e-12), change
        by = found[-1]
        least, middle = np.broadcast_to(by.ends[0], count), np.broadcast_to(by.middle.mean(axis=0), count)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(least > 0, upper / least, np.inf)
            return ratio * (1 + 1e-12), np.abs(value / middle) * (1 - 1e-12), change + by.change


def _reached(asked: Asked, of: Mapping[tuple, Array], where: Workspace) -> Array:
    """A magnitude that the coefficients reach at some rates: the best of the corners of the speeds' box."""
    n = len(where.speed)
    still = sum((np.abs(x) * where.acceleration[key[1]] for key, x in of.items() if key[0] == "M"), 0.0)
    moving = {key: x for key, x in of.items() if key[0] != "M"}
    corners = [(0,) * n] if set(moving) == {("g",)} else [(0,) * n, *product((1, -1), repeat=n)]
    best: Any = 0.0
    for signs in corners:
        qd = np.array([where.speed]) * np.array([signs])
        best = np.maximum(best, np.abs(sum(x * asked.product(key, qd, qd)[0] for key, x in moving.items())))
    return np.asarray(still + best)
