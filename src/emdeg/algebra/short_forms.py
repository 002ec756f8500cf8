"""Trigonometric polynomials with rational coefficients as plain tables, and the shortest way to write one.

A `PlainPoly` maps exponents to coefficients: for each angle of an `AngleSystem` the powers of its sine and cosine, then
those of the displacements. Since s^2 + c^2 = 1 the same function has many tables; `ShortForms` looks through the
angle systems and through the choice of s^2 or c^2 for each angle for those with few terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from emdeg.algebra.expression import AngleSum, Atom, ParallelJoints, angle_systems
from emdeg.algebra.factoring import Number
from emdeg.algebra.fourier import harmonics
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import Generator, TrigPoly

Exponents = tuple[int, ...]
PlainPoly = dict[Exponents, Number]
"""Whole numbers are int, because arithmetic with those is much faster; so nothing here divides with /."""
Views = tuple[PlainPoly, ...]
"""One function in each angle system, sines at most linear."""

ParameterKey = tuple[tuple[Generator, int], ...]
"""A product of parameters: letters with exponents, in the algebra's order; () is 1."""

TERM = 10
"""What a term weighs."""
LONG = 60
"""Terms above which a polynomial is no longer searched for a shorter form."""


@dataclass(frozen=True)
class WrittenForm:
    """A polynomial as it is to be written: the angle that each leading pair of exponents belongs to, and the table."""

    angles: tuple[AngleSum, ...]
    poly: PlainPoly

    @property
    def size(self) -> tuple[int, int]:
        """(weight of its terms, sines and cosines in them)."""
        return TERM * len(self.poly), sum(map(sum, self.poly))


class ExponentLayout:
    """Where each letter of an algebra stands in the exponents of a `PlainPoly`."""

    def __init__(self, algebra: TrigAlgebra) -> None:
        self.algebra = algebra
        self.angles = algebra.revolute
        self.width = 2 * len(self.angles) + len(algebra.prismatic)
        letters = [Generator(kind, j) for j in self.angles for kind in ("sine", "cosine")]
        letters += [Generator("displacement", j) for j in algebra.prismatic]
        self.letters: tuple[Generator, ...] = tuple(letters)
        self.place = {letter: i for i, letter in enumerate(self.letters)}

    def split(self, formula: TrigPoly) -> dict[ParameterKey, PlainPoly]:
        """{product of parameters: its coefficient, a `PlainPoly`}: the formula is the sum of their products."""
        found: dict[ParameterKey, PlainPoly] = {}
        place, width = self.place, self.width
        for coefficient, monomial in formula.terms():
            exponents = [0] * width
            key = []
            for letter, power in monomial.items():
                at = place.get(letter)
                if at is None:
                    key.append((letter, power))
                else:
                    exponents[at] = power
            found.setdefault(tuple(key), {})[tuple(exponents)] = whole(coefficient)
        return found

    def formula(self, poly: Mapping[Exponents, Number]) -> TrigPoly:
        """The poly as a formula of the algebra."""
        return self.algebra.from_terms(
            (c, {letter: e for letter, e in zip(self.letters, exponents) if e}) for exponents, c in poly.items()
        )


def whole(value: Number) -> Number:
    """The same number, an int if it is one."""
    return value.numerator if value.denominator == 1 else value


def added(poly: PlainPoly, other: PlainPoly, times: Number) -> PlainPoly:
    """poly + times * other."""
    times = whole(times)
    total = dict(poly)
    for exponents, c in other.items():
        value = total.get(exponents, 0) + times * c
        if value:
            total[exponents] = value
        else:
            del total[exponents]
    return total


def with_sine_squares(poly: PlainPoly, angle: int) -> PlainPoly:
    """The same function with c^2 = 1 - s^2 put in for the angle at place `angle`: its cosine at most linear."""
    sine, cosine = 2 * angle, 2 * angle + 1
    out: PlainPoly = {}
    for exponents, c in poly.items():
        power = exponents[cosine]
        if power < 2:
            _accumulate(out, exponents, c)
            continue
        half, odd = divmod(power, 2)
        for k in range(half + 1):
            image = list(exponents)
            image[sine] += 2 * k
            image[cosine] = odd
            _accumulate(out, tuple(image), c * (-1) ** k * comb(half, k))
    return out


def _accumulate(poly: PlainPoly, exponents: Exponents, c: Number) -> None:
    value = poly.get(exponents, 0) + c
    if value:
        poly[exponents] = value
    else:
        poly.pop(exponents, None)


def fewest_terms(poly: PlainPoly, angles: int) -> PlainPoly:
    """`poly` with s^2 or c^2 for each angle so that few terms are left, by steepest descent."""
    if len(poly) > LONG:
        return poly
    left = [v for v in range(angles) if any(e[2 * v + 1] > 1 for e in poly)]
    while left:
        trials = [(with_sine_squares(poly, v), v) for v in left]
        best, angle = min(trials, key=lambda trial: len(trial[0]))
        if len(best) > len(poly):
            break
        poly = best
        left.remove(angle)
    return poly


class ShortForms:
    """Finds short forms of polynomials, each given in every angle system of the parallel joints; remembers sizes."""

    def __init__(self, layout: ExponentLayout, groups: Sequence[ParallelJoints]) -> None:
        self.layout = layout
        self.groups = tuple(groups)
        self.systems = angle_systems(layout.algebra, groups)
        self._sizes: dict[frozenset[tuple[Exponents, Number]], tuple[int, int]] = {}
        self._meanings = [tuple(s.meaning[j] for j in layout.angles) for s in self.systems]

    def split(self, formula: TrigPoly) -> dict[ParameterKey, Views]:
        """{product of parameters: its coefficient in each angle system}."""
        parts = [self.layout.split(system.write(formula)) for system in self.systems]
        return {key: tuple(part[key] for part in parts) for key in parts[0]}

    def views(self, formula: TrigPoly) -> Views:
        """A formula without parameters in each angle system."""
        return self.split(formula).get((), tuple({} for _ in self.systems))

    def size(self, views: Views) -> tuple[int, int]:
        """The `WrittenForm.size` of the shortest form found."""
        key = frozenset(views[0].items())
        if key not in self._sizes:
            self._sizes[key] = min(self._forms_size(views))
        return self._sizes[key]

    def _forms_size(self, views: Views) -> Iterable[tuple[int, int]]:
        for meaning, poly in zip(self._meanings, views):
            yield WrittenForm(meaning, fewest_terms(poly, len(self.layout.angles))).size

    def own_forms(self, views: Views) -> list[WrittenForm]:
        """One form in each angle system, that with the fewest terms there."""
        angles = len(self.layout.angles)
        return [WrittenForm(meaning, fewest_terms(poly, angles)) for meaning, poly in zip(self._meanings, views)]

    def forms(self, views: Views) -> list[WrittenForm]:
        """Every distinct form worth a try at printing: in each angle system, and with sums of angles."""
        angles = len(self.layout.angles)
        found: list[WrittenForm] = []
        seen: set[frozenset[tuple[tuple[AngleSum, int, int], ...]]] = set()
        for meaning, poly in zip(self._meanings, views):
            for candidate in (fewest_terms(poly, angles), poly):
                form = WrittenForm(meaning, candidate)
                key = frozenset(_used(form, exponents) for exponents in candidate)
                if key not in seen:
                    seen.add(key)
                    found.append(form)
        for group in self.groups:
            if (summed := self._with_sums(views[0], group)) is not None:
                found.append(summed)
        return found

    def _with_sums(self, poly: PlainPoly, group: ParallelJoints) -> WrittenForm | None:
        """Products over a group's joints as sines and cosines of sums; None if fewer than two of them occur."""
        members = {joint for joint, _ in group}
        places = [k for k, j in enumerate(self.layout.angles) if j in members]
        if sum(any(e[2 * k] or e[2 * k + 1] for e in poly) for k in places) < 2 or len(poly) > LONG:
            return None
        names = [self.layout.angles[k] for k in places]
        table: dict[tuple[tuple[AngleSum, bool], Exponents], Number] = {}
        for exponents, c in poly.items():
            rest = list(exponents)
            for k in places:
                rest[2 * k] = rest[2 * k + 1] = 0
            pairs = tuple((exponents[2 * k], exponents[2 * k + 1]) for k in places)
            for multiples, odd, weight in harmonics(pairs):
                key = (tuple((j, m) for j, m in zip(names, multiples) if m), odd), tuple(rest)
                table[key] = table.get(key, 0) + c * weight
        return _form_of_sums(self._meanings[0], table, len(self.layout.angles))


def _used(form: WrittenForm, exponents: Exponents) -> tuple[tuple[AngleSum, int, int], ...]:
    """What a term's exponents mean, whatever the system: (angle, power of sine, power of cosine)."""
    angles = len(form.angles)
    trig = [
        (form.angles[k], exponents[2 * k], exponents[2 * k + 1])
        for k in range(angles)
        if exponents[2 * k] or exponents[2 * k + 1]
    ]
    rest = [(((k, 0),), e, 0) for k, e in enumerate(exponents[2 * angles :]) if e]
    return tuple(trig + rest)


def _form_of_sums(
    own: tuple[AngleSum, ...],
    table: Mapping[tuple[tuple[AngleSum, bool], Exponents], Number],
    angles: int,
) -> WrittenForm:
    """The form with one more angle for each combination that occurs; twice an angle as its square or product."""
    combinations = {c for (c, _), _ in table if c}
    halves = {c: tuple((j, m // 2) for j, m in c) for c in combinations if all(m % 2 == 0 for _, m in c)}
    extra = sorted({halves.get(c, c) for c in combinations} - set(own))
    all_angles = (*own, *extra)
    place = {combination: k for k, combination in enumerate(all_angles)}
    poly: PlainPoly = {}
    for ((combination, odd), rest), c in table.items():
        trig, tail = list(rest[: 2 * angles]), rest[2 * angles :]
        base = [*trig, *([0] * (2 * len(extra)))]
        if not combination:
            _accumulate(poly, (*base, *tail), c)
        elif combination in halves:
            at = 2 * place[halves[combination]]
            if odd:  # sin 2x = 2 s c
                base[at] = base[at + 1] = 1
                _accumulate(poly, (*base, *tail), 2 * c)
            else:  # cos 2x = 2 c^2 - 1
                _accumulate(poly, (*base, *tail), -c)
                base[at + 1] = 2
                _accumulate(poly, (*base, *tail), 2 * c)
        else:
            base[2 * place[combination] + (0 if odd else 1)] = 1
            _accumulate(poly, (*base, *tail), c)
    return WrittenForm(all_angles, fewest_terms(poly, len(all_angles)))


def terms_of(form: WrittenForm, displacements: tuple[int, ...] = ()) -> dict[tuple[Atom, ...], Number]:
    """The terms of a form as products of atoms; `displacements` number the prismatic joints."""
    angles = len(form.angles)
    found: dict[tuple[Atom, ...], Number] = {}
    for exponents, c in form.poly.items():
        factors: list[Atom] = []
        for k, angle in enumerate(form.angles):
            if exponents[2 * k] or exponents[2 * k + 1]:
                factors += _trigonometric(angle, exponents[2 * k], exponents[2 * k + 1])
        for joint, power in zip(displacements, exponents[2 * angles :]):
            factors += [Atom("q", ((joint, 1),))] * power
        found[tuple(sorted(factors))] = c
    return found


def _trigonometric(angle: AngleSum, sines: int, cosines: int) -> list[Atom]:
    if sines % 2 and cosines % 2:
        mixed = [Atom("SC", angle)]
    else:
        mixed = [Atom("S", angle)] * (sines % 2) + [Atom("C", angle)] * (cosines % 2)
    return mixed + [Atom("SS", angle)] * (sines // 2) + [Atom("CC", angle)] * (cosines // 2)
