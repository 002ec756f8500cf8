"""How far two programs can be apart over a box: certified, for programs that no formula was printed of.

Both are trigonometric polynomials of the joints' angles, and of the rates what inverse dynamics is: gravity, a linear
function of the accelerations, a quadratic one of the speeds. Of which degree in each joint is found modulo a prime,
where a polynomial of degree d is known from 2d + 1 points and must fit more. Values at as many nodes then give every
coefficient (`bounds.interpolated`), and the largest error follows as for formulas (`row_error`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array, P, PrimeField, Residue, residue_inverse
from emdeg.approximation.row_error import CornerReach, TorqueRow, torque_row
from emdeg.approximation.shortening import work
from emdeg.approximation.shortening.rates import States, of_rates, unit_rates
from emdeg.approximation.shortening.rewrites import rate_terms
from emdeg.bounds import CertifiedExtremum, NestedSupremum, Variable, interpolated, joint_variable, node_states, trimmed
from emdeg.errors import OverBudget
from emdeg.programs import Kind, Program, angle_atoms, constants, evaluate_residues
from emdeg.robot import Workspace
from emdeg.runtime import compile

MOST_VALUES = 24_000_000
"""Nodes times formulas of one joint: some hundred megabytes."""
MOST_COLUMNS = 2 * MOST_VALUES
"""Coefficients times columns of one output: each is a number twice and for a while thrice."""
POINTS = 2
"""Random lines modulo the prime on which a degree must hold."""
TRIMMED = 0.03
"""The share of an error found that harmonics left out of its bound may add to it."""


class OnLine(PrimeField):
    """The field with one joint at a chosen place of its circle, or of its slide."""

    def __init__(self, seed: int, joint: int, t: int) -> None:
        super().__init__(seed)
        self.joint, self.t = joint, t

    def joint_sincos(self, joint: int | str) -> tuple[Residue, Residue]:
        if joint != self.joint:
            return super().joint_sincos(joint)
        scale = residue_inverse(1 + self.t * self.t)
        return Residue(2 * self.t * scale), Residue((1 - self.t * self.t) * scale)

    def displacement(self, joint: int | str) -> Residue:
        return Residue(self.t) if joint == self.joint else super().displacement(joint)


def written_degrees(program: Program, revolute: Sequence[bool]) -> tuple[int, ...]:
    """By joint: the degree that the program's operations cannot exceed, whatever cancels.

    OverBudget where they are no polynomials of sines and cosines of turning joints, displacements of sliding ones and
    rates.
    """
    n = len(revolute)
    degrees: list[tuple[int, ...]] = []
    still = (0,) * n
    numbers = constants(program)
    for index, op in enumerate(program.ops):
        mine = still
        if op.kind in (Kind.SIN, Kind.COS):
            atoms = angle_atoms(program, op.args[0])
            mine = tuple(abs(atoms.get(("q", k), 0)) if revolute[k] else ("q", k) in atoms and NEVER for k in range(n))
        elif op.kind is Kind.INPUT and op.slot[0] == "q":
            mine = tuple((NEVER if revolute[k] else 1) if k == op.slot[1] else 0 for k in range(n))
        elif op.kind is Kind.MUL:
            mine = tuple(a + b for a, b in zip(*(degrees[arg] for arg in op.args)))
        elif op.args:
            mine = tuple(map(max, zip(*(degrees[arg] for arg in op.args))))
        if op.kind not in POLYNOMIAL and index not in numbers:
            raise OverBudget(f"{program.name} is no polynomial of sines, cosines and rates: its error is not bounded")
        degrees.append(mine)
    needed = [degrees[root] for root in program.roots()] or [still]
    found = tuple(map(max, zip(*needed)))
    if max(found, default=0) >= NEVER:
        raise OverBudget(f"{program.name} has an angle as a number or a displacement as an angle")
    return found


POLYNOMIAL = (Kind.INPUT, Kind.NUMBER, Kind.ANGLE, Kind.ADD, Kind.SUB, Kind.MUL, Kind.NEG, Kind.SIN, Kind.COS)
NEVER = 1 << 20
"""A degree that no polynomial of ours has."""


def degrees_of(programs: Sequence[Program], revolute: Sequence[bool]) -> Array:
    """(outputs, joints): the degree of the largest of the programs' outputs in each joint's variable."""
    n = len(revolute)
    found = np.zeros((sum(len(group.entries) for group in programs[0].outputs), n), int)
    for program in programs:
        most = written_degrees(program, revolute)
        for joint in range(n):
            if most[joint]:
                found[:, joint] = np.maximum(found[:, joint], _degrees_on_lines(program, joint, most[joint], revolute))
    return found


def _degrees_on_lines(program: Program, joint: int, most: int, revolute: Sequence[bool]) -> Array:
    """(outputs,): the least degrees in one joint that values modulo the prime fit."""
    turns = 2 if revolute[joint] else 1
    places = list(range(3, 3 + turns * most + 3))
    found = 0
    for seed in range(POINTS):
        values = []
        for t in places:
            groups = evaluate_residues(program, OnLine(seed, joint, t))
            values.append([x for group in program.outputs for x in groups[group.name]])
        columns = list(zip(*values))
        each = [_least_degree(column, places, most, turns) for column in columns]
        found = np.maximum(found, np.array(each))
    return np.asarray(found)


def _least_degree(values: Sequence[int], places: Sequence[int], most: int, turns: int) -> int:
    """The least d for which values times (1 + t^2)^d, or of a slide the values, fit a polynomial of degree turns d."""
    for degree in range(most):
        row = [x * pow(1 + t * t, degree if turns == 2 else 0, P) % P for x, t in zip(values, places)]
        for order in range(1, len(places)):
            row = [
                (b - a) * residue_inverse(places[k + order] - places[k]) % P for k, (a, b) in enumerate(pairwise(row))
            ]
            if order > turns * degree and any(row):
                break
        else:
            return degree
    return most


def written_rates(program: Program) -> set[tuple[int, int]]:
    """The degrees in (speeds, accelerations) of the terms that the outputs are written in."""
    found = rate_terms(program)
    return {term for root in program.roots() for term in found[root]}


Formulas = dict[tuple, Array]
"""An output's values at nodes by what they multiply: ("g",), ("M", j), ("c", j), ("b", j, k)."""
_OFF = {"M": 2.0, "c": 2.0, "b": 4.0, "g": 1.0}
"""How many values a coefficient is made of, each off by as much."""
TORQUE_DEGREES = {(0, 0), (0, 1), (2, 0)}
"""The terms of inverse dynamics: gravity, accelerations, products of speeds."""


def rounding_of(program: Program, where: Workspace, rates: Mapping[str, Sequence[float]] | None = None) -> Array:
    """(outputs,): what rounding in doubles can do to each output over the box, at rates of 2, or these, at most."""
    numbers = constants(program)
    reach = [max(1.0, abs(low), abs(high), math.pi) for low, high in where.ranges]
    size, off = [0.0] * program.size, [0.0] * program.size
    for index, op in enumerate(program.ops):
        first, second = (*op.args, *op.args, 0, 0)[:2]
        if index in numbers:
            size[index] = abs(float(numbers[index]))
        elif op.kind is Kind.INPUT:
            name, joint = op.slot
            size[index] = 2.0 * reach[joint] if name == "q" else rates[name][joint] if rates else 2.0
        elif op.kind is Kind.MUL:
            size[index] = size[first] * size[second]
            off[index] = size[first] * off[second] + size[second] * off[first]
        elif op.kind in (Kind.SIN, Kind.COS):
            size[index], off[index] = 1.0, off[first] + 4 * _UNIT * (1 + size[first])
        else:
            size[index], off[index] = sum(size[arg] for arg in op.args), sum(off[arg] for arg in op.args)
        off[index] += 1.01 * _UNIT * size[index]
    return np.array([off[ref.value] if ref.sign else 0.0 for group in program.outputs for ref in group.entries])


_UNIT = 2.0**-53


@dataclass(frozen=True)
class ProgramError:
    """The difference of a program and a shorter one over a domain, output by output."""

    exact: Program
    short: Program
    where: Workspace
    revolute: tuple[bool, ...]

    @property
    def rated(self) -> bool:
        """Whether the programs depend on rates."""
        return any(group.name != "q" for group in self.exact.inputs)

    def bounds(
        self,
        found: Sequence[float],
        *,
        enough: Sequence[float],
        until: Callable[[], bool] = lambda: False,
        over: Callable[[], bool] | None = None,
        spend: Callable[[float], None] = lambda seconds: None,
    ) -> tuple[CertifiedExtremum, ...]:
        """Output by output: the certified largest error, beside what a search has found.

        `enough`: bounds that need no betterment, where they are not far above what was found. OverBudget where `until`
        says stop before each has one that is enough, or shown not to be. Once all are, those far above what was found
        are made better until `over`, by default `until`, says stop. `spend` is told the nominal seconds of it all.
        """
        spend(work.degrees(self.exact) + work.degrees(self.short))
        degrees = degrees_of((self.exact, self.short), self.revolute)
        bounded: dict[int, CertifiedExtremum] = {}
        loose: dict[int, NestedSupremum] = {}

        def bound(
            output: int, nested: NestedSupremum, goals: Sequence[float], until: Callable[[], bool]
        ) -> CertifiedExtremum:
            def tick(points: int, values: int) -> None:
                spend(work.bounding(points, values))
                if until():
                    raise OverBudget("the time is over before the error is certified")

            shown = nested.bound(goals, found=found[output], tick=tick)
            return CertifiedExtremum(found[output], max(shown, found[output]), {}, nested.points)

        trimming = [0.5 * TRIMMED * f for f in found]
        same = same_outputs(self.exact, self.short)
        for output, (alike, off) in enumerate(zip(same, self._rounding)):
            if alike:
                bounded[output] = CertifiedExtremum(found[output], max(float(off), found[output]), {})
        for rows in _groups(degrees, np.flatnonzero(~same)):
            for output, row in self._rows(rows, degrees[rows].max(axis=0), trimming, spend):
                nested = _nested(row, 0.5 * TRIMMED * found[output], spend)
                bounded[output] = bound(output, nested, _goals(found[output], enough[output]), until)
                if bounded[output].bound > FAR * found[output]:
                    loose[output] = nested
        if any(b.bound > enough[output] for output, b in bounded.items()):
            loose.clear()  # a program whose errors are too large is not kept: how large they are is known well enough
        for output, nested in loose.items():
            first = bounded[output]
            goals = [found[output] * k for k in CLOSER if found[output] * k < first.bound]
            try:
                closer = bound(output, nested, goals, over or until)
            except OverBudget:
                break
            bounded[output] = replace(closer, bound=min(first.bound, closer.bound))
        return tuple(bounded[k] for k in range(len(degrees)))

    @property
    def _rounding(self) -> Array:
        """(outputs,): what rounding can do to the difference of outputs that are the same function."""
        rates = {"qd": self.where.speed, "qdd": self.where.acceleration}
        return 1.01 * (rounding_of(self.exact, self.where, rates) + rounding_of(self.short, self.where, rates))

    def _rows(
        self, outputs: list[int], degrees: Array, trimming: Sequence[float], spend: Callable[[float], None]
    ) -> Iterator[tuple[int, TorqueRow]]:
        """Each output's formulas over the box, from values at nodes."""
        joints = [k for k, degree in enumerate(degrees) if degree]
        variables = [joint_variable(k + 1, self.revolute[k], self.where.ranges[k]) for k in joints]
        each = [int(degrees[k]) for k in joints]
        sizes = [2 * d + 1 if v.is_angle else d + 1 for v, d in zip(variables, each)]
        rates = list(self._rates())
        if math.prod(sizes) * len(rates) > MOST_VALUES:
            raise OverBudget(f"{self.short.name} depends on {len(joints)} joints: its error is too much to be bounded")
        q = node_states(variables, each, self.where.middle)
        values = [self._difference(q, rate)[:, outputs] for rate in rates]
        off = 1.01 * (rounding_of(self.exact, self.where) + rounding_of(self.short, self.where))
        for place, output in enumerate(outputs):
            mine = [v[:, place] for v in values]
            formulas = of_rates(mine, len(self.where.ranges)) if self.rated else {("g",): mine[0]}
            shaped = {key: value.reshape(sizes) for key, value in formulas.items()}
            spend(work.interpolating(math.prod(sizes) * len(shaped)))
            yield output, self._row(shaped, variables, each, float(off[output]), trimming[output])

    def _rates(self) -> Iterator[dict[str, Array]]:
        """The rates at which values give every coefficient: none, each acceleration, each speed, pairs of speeds."""
        if not self.rated:
            yield {}
            return
        accelerations = "qdd" in {group.name for group in self.exact.inputs}
        for qd, qdd in unit_rates(len(self.where.ranges), accelerations):
            yield {"qd": np.array(qd, float), **({"qdd": np.array(qdd, float)} if accelerations else {})}

    def _difference(self, q: Array, rate: dict[str, Array]) -> Array:
        states = {"q": q} | {name: np.broadcast_to(value, q.shape) for name, value in rate.items()}
        return self.errors(states)

    @cached_property
    def errors(self) -> Callable[[States], Array]:
        """States -> (states, outputs): exact less short."""
        return difference(self.exact, self.short)

    def _row(
        self, formulas: Formulas, variables: Sequence[Variable], degrees: list[int], off: float, trimming: float
    ) -> TorqueRow:
        speed, acceleration = np.array(self.where.speed), np.array(self.where.acceleration)
        rounding = {key: off * _OFF[key[0]] for key in formulas}
        kept = [key for key, value in formulas.items() if np.abs(value).max() > off or key == ("g",)]
        for key in formulas.keys() - set(kept):  # it is nothing, as far as doubles tell
            most = {"M": acceleration, "b": speed, "c": speed}[key[0]]
            times = [most[j] for j in key[1:]] * (2 if key[0] == "c" else 1)
            rounding["g",] += 2 * rounding[key] * float(np.prod(times))
        keys = sorted(kept, key=lambda key: "Mbcg".index(key[0]))
        values = np.stack([formulas[key] for key in keys], axis=-1)
        family = interpolated(variables, degrees, values, np.array([rounding[key] for key in keys]))
        weights = torque_row(keys, family, self.where).weights
        return torque_row(keys, trimmed(family, weights, trimming), self.where)


def difference(exact: Program, short: Program) -> Callable[[States], Array]:
    """States -> (states, outputs): exact less short, both compiled."""
    calls = [_compiled(program) for program in (exact, short)]

    def errors(states: States) -> Array:
        one, other = (call(**{group.name: states[group.name] for group in exact.inputs}) for call in calls)
        return (one - other).reshape(len(states["q"]), -1)

    return errors


_compiled = lru_cache(maxsize=4)(compile)
"""Searches ask for the same exact program again and again."""


def same_outputs(exact: Program, short: Program) -> NDArray[np.bool_]:
    """(outputs,): which are the same function, as values modulo a prime tell."""
    found = []
    for seed in range(POINTS):
        values = [evaluate_residues(program, PrimeField(seed)) for program in (exact, short)]
        one, other = ([x for group in exact.outputs for x in each[group.name]] for each in values)
        found.append([a == b for a, b in zip(one, other)])
    return np.all(found, axis=0)


def _groups(degrees: Array, of: Iterable[int]) -> list[list[int]]:
    """Outputs that can share nodes: each with one of which no degree is lower, unless its own are much fewer."""
    nodes = {int(k): math.prod(2 * int(d) + 1 for d in degrees[k]) for k in of}
    left = sorted(nodes, key=lambda k: -nodes[k])
    found = []
    while left:
        top = left[0]
        mine = [k for k in left if (degrees[k] <= degrees[top]).all() and nodes[k] >= SHARED * nodes[top]]
        found.append(mine)
        left = [k for k in left if k not in mine]
    return found


SHARED = 0.6
"""The part of an output's nodes that another one at least has which shares them: interpolation takes time too."""


def _goals(found: float, enough: float) -> list[float]:
    """Bounds to be shown of an error, the first of them that can be: what is enough, or a rough one below that."""
    times = FAR if enough <= NEAR * found else ROUGH
    first = max(CLOSE * found, min(enough, max(times * found, _small(enough))))
    base = max(first, enough) if math.isfinite(enough) else first
    return [first, *(base * k for k in LADDER if base * k > first)]


def _nested(row: TorqueRow, trimming: float, spend: Callable[[float], None]) -> NestedSupremum:
    """What bounds of a row are shown by."""
    reach = CornerReach(row)
    if row.products * reach.columns.shape[1] > MOST_COLUMNS:
        raise OverBudget(f"an output depends on the speeds of {len(row.squares)} joints: too much to be bounded")
    spend(work.row(row.formulas.coefficients.size, row.products, reach.columns.size))
    return NestedSupremum(row.formulas, reach, trimming)


def _small(enough: float) -> float:
    """A bound that is enough for the time being, whatever was found."""
    return SMALL * enough if math.isfinite(enough) else 0.0


CLOSE, FAR, ROUGH = 1.06, 1.49, 2.5
"""Times the error found: bounds are no closer than the first, and at most the third if that can be shown; once all are
enough they are made at most the second, where there is time for that."""
LADDER = (1.0, 1.06, 1.15, 1.3, 1.6, 2.0, 3.0, 5.0)
"""Times what is enough: bounds that are tried where no closer one can be shown."""
NEAR = 1.65
"""Times the error found: where what is enough is so near, the closer bound is shown at once."""
CLOSER = (FAR, 1.8, 2.1)
"""Times the error found: what is tried in the time that is left."""
SMALL = 0.01
"""The part of a limit below which a bound is enough for the time being, whatever was found."""
