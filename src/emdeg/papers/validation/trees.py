"""Printed models of chains and trees: exact formulas of both sides, their difference bounded over the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from emdeg.algebra import Array, Quotient, QuotientField, TrigPoly, lowest_terms
from emdeg.approximation import TorqueRow, largest_error, of_rates, row, unit_rates
from emdeg.bounds import CertifiedExtremum, clock, extremes, formula_vector, largest_magnitude, largest_ratio
from emdeg.equations import Model, derive, entry_name
from emdeg.errors import NotBounded
from emdeg.papers.validation.entries import COEFFICIENTS, Asked
from emdeg.papers.validation.file import PrintedModel
from emdeg.papers.validation.meaning import Letters, Meaning
from emdeg.papers.validation.verdict import NOTHING, JudgedOver, Judgement, judged_by_size, judged_entry
from emdeg.robot import Robot

SAMPLES = 4096
Coefficients = Mapping[tuple, Quotient]
"""What an entry is of the rates' products: ("g",), ("M", j), ("c", j), ("b", j, k), ("v", j) of a speed; from 0."""


def judge_tree(printed: PrintedModel, robot: Robot, search: JudgedOver) -> list[Judgement]:
    """The printed entries against the exact ones of a chain or tree."""
    model = derive(robot, rational_angles=True)
    bench = _TreeBench(model, Meaning(printed, robot, _letters(model)), search)
    return [judged_entry(printed, name, robot, bench.judged) for name in printed.entries]


def _letters(model: Model) -> Letters:
    """The model's algebra; quotients, since something may be divided by."""
    algebra, revolute = model.algebra, [joint.kind == "revolute" for joint in model.robot.joints]

    field = QuotientField(algebra)

    def position(k: int) -> Quotient | tuple[Quotient, Quotient]:
        return field.joint_sincos(k + 1) if revolute[k] else field.displacement(k + 1)

    return Letters(field.number, field.sincos, position)


@dataclass(frozen=True)
class _TreeBench:
    """A model, what its printed counterpart means, and how errors are bounded."""

    model: Model
    meaning: Meaning
    search: JudgedOver

    def judged(self, name: str, text: str, asked: Asked) -> Judgement:
        theirs, exact = self._theirs(name, asked), self._exact(asked)
        wrong = {key: _lowest(value - exact[key] if key in exact else value) for key, value in theirs.items()}
        if asked.letter in COEFFICIENTS:
            return self._coefficient(name, text, asked, wrong[("g",)], exact[("g",)].numerator)
        return self._of_rates(name, text, asked, wrong, exact)

    def _theirs(self, name: str, asked: Asked) -> Coefficients:
        """The printed entry's coefficients, from its values at rates of zero and one."""
        degrees = self.meaning.degrees(name)
        asked.need_degrees(degrees, name, self.meaning.printed.file)
        number, n = self.meaning.letters.number, self.model.n

        def at(qd: Sequence[int], qdd: Sequence[int]) -> Quotient:
            rates = ([number(Fraction(x)) for x in each] for each in (qd, qdd))
            return self.meaning.at(*rates).entry(name)

        def speed(k: int, way: int = 1) -> Quotient:
            return at([way * int(k == j) for j in range(n)], none)

        none = (0,) * n
        if asked.letter in COEFFICIENTS:
            return {("g",): at(none, none)}
        if asked.letter == "C":
            return {("v", k): speed(k) for k in range(n)}
        found = of_rates([at(qd, qdd) for qd, qdd in unit_rates(n)], n)
        for k in range(n) if (1, 0) in degrees else ():
            found["v", k] = (speed(k) - speed(k, -1)) * number(Fraction(1, 2))
            found["c", k] = found["c", k] - found["v", k]
        return found

    def _exact(self, asked: Asked) -> Coefficients:
        """The same of the model, whose efforts have no term that is linear in a speed."""
        entries, n = self.model.entries(), self.model.n
        if asked.letter in COEFFICIENTS:
            return {("g",): Quotient(entries[asked.name])}
        i = asked.of[0]
        if asked.letter == "C":
            return {("v", k): Quotient(self.model.christoffel(i, asked.of[1], k + 1)) for k in range(n)}
        found = {("g",): entries[entry_name("g", i)]}
        for key in of_rates([0] * sum(1 for _ in unit_rates(n)), n):
            letter, *of = key
            if letter != "g":
                joints = sorted((i, of[0] + 1)) if letter == "M" else [i, *(k + 1 for k in of)]
                found[key] = entries[entry_name(letter, *joints)]
        return {key: Quotient(formula) for key, formula in found.items()}

    def _coefficient(self, name: str, text: str, asked: Asked, wrong: Quotient, exact: TrigPoly) -> Judgement:
        box, gap, effort = self.search.where.box, self.search.gap, self.search.limits
        size = largest_magnitude(exact, box, gap=gap, limits=effort) if exact else NOTHING
        if not wrong:
            return Judgement(name, text, True, NOTHING, size, NOTHING, False, 0.0)
        q = self.search.where.sample(SAMPLES, self.search.seed)
        off = np.abs(wrong.evaluate(q, parameters=self.model.numbers))
        below = self._away_from_zero(wrong)
        above = wrong.numerator if below is not None else wrong.numerator / wrong.denominator.number
        if below is None:
            error = largest_magnitude(above, box, gap=gap, limits=effort)
        else:
            error = largest_ratio(above, below, box, gap=gap, limits=effort)
        if asked.letter == "M" and asked.of[0] == asked.of[1]:
            try:
                against = exact if below is None else below * exact
                relative = largest_ratio(above, against, box, gap=gap, limits=effort)
                average = float(np.mean(off / exact.evaluate(q, parameters=self.model.numbers)))
                return Judgement(name, text, False, error, size, relative, True, average)
            except ValueError:
                pass  # not shown to be positive: as the others
        return judged_by_size(name, text, error, size, float(off.mean()))

    def _of_rates(self, name: str, text: str, asked: Asked, wrong: Coefficients, exact: Coefficients) -> Judgement:
        """An effort, or an entry of C: its error at the worst of all rates."""
        size = self._largest(asked, exact)
        off = {key: value for key, value in wrong.items() if value}
        if not off:
            return Judgement(name, text, True, NOTHING, size, NOTHING, False, 0.0)
        error = self._largest(asked, off)
        q, qd, qdd = self.search.where.sample_states(SAMPLES, self.search.seed)
        average = np.abs(self._summed(asked, off, q, qd, qdd)).mean()
        names = tuple(asked.coefficient(key) for key in off)
        return judged_by_size(name, text, error, size, float(average), names)

    def _summed(self, asked: Asked, of: Coefficients, q: Array, qd: Array, qdd: Array) -> Array:
        """The coefficients times their products of rates, at states."""
        total = np.zeros(len(q))
        for key, value in of.items():
            total = total + value.evaluate(q, parameters=self.model.numbers) * asked.product(key, qd, qdd)
        return total

    def _largest(self, asked: Asked, of: Coefficients) -> CertifiedExtremum:
        """The largest magnitude over positions and rates: of formulas together, of quotients one by one."""
        where = self.search.where
        plain: dict[tuple, TrigPoly] = {}
        alone: list[tuple[tuple, CertifiedExtremum]] = []
        for key, value in of.items():
            below = self._away_from_zero(value)
            if below is None and (key[0] != "v" or asked.letter == "C"):
                plain[key] = value.numerator / value.denominator.number
                continue
            below = value.denominator if below is None else below
            alone.append(
                (key, largest_ratio(value.numerator, below, where.box, gap=self.search.gap, limits=self.search.limits))
            )
        found = self._largest_formula(asked, plain)
        if not alone:
            return found
        bound = found.bound + sum(part.bound * asked.largest_product(key, where) for key, part in alone)
        q, qd, qdd = where.sample_states(SAMPLES, self.search.seed)
        reached = np.abs(self._summed(asked, of, q, qd, qdd))
        top = int(np.argmax(reached))
        return CertifiedExtremum(float(reached[top]), bound, dict(enumerate(map(float, q[top]), 1)))

    def _largest_formula(self, asked: Asked, plain: Mapping[tuple, TrigPoly]) -> CertifiedExtremum:
        where, used = self.search.where, {key: formula for key, formula in plain.items() if formula}
        if not used:
            return NOTHING
        if asked.letter == "C":
            speeds, formulas = np.array(where.speed), formula_vector(list(used.values()), where.box)
            rows = TorqueRow(formulas, speeds[[key[1] for key in used]], (), (), 0, speeds)
        else:
            rows = row(asked.of[0], {asked.coefficient(key): formula for key, formula in used.items()}, where)
            assert rows is not None
        return largest_error(
            rows, seconds=self.search.seconds, tolerance=self.search.gap, seed=self.search.seed, clock=clock
        )

    def _away_from_zero(self, value: Quotient) -> TrigPoly | None:
        """The positive denominator; None where nothing is divided by, NotBounded where it may be zero."""
        if value.is_formula:
            return None
        below, where = value.denominator, self.search.where
        ends = extremes(below, where.box, gap=0.05, limits=self.search.limits)
        if ends.low.bound > 0:
            return below
        if ends.high.bound < 0:
            return -below
        near = self._nearest_zero(below, ends.low.at, ends.high.at)
        at = ", ".join(f"{where.joints[k - 1]} = {round(x, 9):.4g}" for k, x in near.items() if isinstance(k, int))
        raise NotBounded(f"it divides by {below}, which is not away from zero over the workspace (see {at})")

    def _nearest_zero(self, below: TrigPoly, low: Mapping, high: Mapping) -> Mapping:
        """Where a divisor is nearest to zero on the way from where it is least to where it is greatest."""
        low, high = ({k: float(v) for k, v in end.items()} for end in (low, high))
        steps = np.linspace(0.0, 1.0, 257)
        keys = [k for k in low if k in high]
        n, middle = self.model.n, self.search.where.middle
        q = np.tile(middle, (len(steps), 1))
        for k in keys:
            if isinstance(k, int) and 1 <= k <= n:
                q[:, k - 1] = low[k] + steps * (high[k] - low[k])
        values = below.evaluate(q, parameters=self.model.numbers)
        crossing = next((i for i, (a, b) in enumerate(pairwise(values)) if a * b <= 0), None)
        at = int(np.argmin(np.abs(values)))
        if crossing is None:
            return {k: q[at, k - 1] for k in keys}
        a, b = values[crossing], values[crossing + 1]
        share = a / (a - b) if a != b else 0.0
        return {k: q[crossing, k - 1] + share * (q[crossing + 1, k - 1] - q[crossing, k - 1]) for k in keys}


def _lowest(value: Quotient) -> Quotient:
    """The quotient without anything that divides both of its parts."""
    return value if value.is_formula else lowest_terms(value.numerator, value.denominator)
