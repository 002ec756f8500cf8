"""Kane's equations in the robot's letters: every term's value at a state, its unit, and the numbers it stands on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from emdeg.algebra import Angle, Generator, Quotient, TrigPoly
from emdeg.documents import Combination, Item, Label, Section, WrittenTerm, label
from emdeg.dynamics.kane import AngularVelocity, LinearForm, PointVelocity, Rate, Setup, Speed, joint_rates
from emdeg.programs import Dependence, Kind, Program, Slot, Traced, Tracer, dependences, evaluate, included
from emdeg.programs.kane import choose, kane_program
from emdeg.reports import PARTS, Description, ShadedEntries, ShadedTerm, describe, kane_document
from emdeg.robot import Robot, letter_paths, symbolize
from emdeg.studio import units
from emdeg.studio.shading import PlacedTerm, Word, terms_of, with_terms
from emdeg.studio.units import NUMBER, Dimension

LONGEST = 1000
"""Terms of a section of the kinematics up to which they are shaded."""
DYNAMICS = ("Z", "forces", "equations")
"""Sections of which every term is."""
_WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)


@dataclass(frozen=True)
class KaneTerms:
    """Kane's equations: sections with their terms apart, the values of these (q, qd, qdd -> T), units and names."""

    sections: tuple[Section, ...]
    values: Program
    units: tuple[str, ...]
    words: dict[str, Word]
    numbers: dict[str, Fraction]


def kane_terms(robot: Robot, shortest: bool, tell: Callable[[str], None]) -> KaneTerms:
    """Kane's equations of a robot of numbers with the joints' rates, or with the speeds that make them shortest."""
    letters, known = symbolize(robot)
    setup = choose(letters, tell=lambda title: tell(title))[0].setup if shortest else joint_rates(letters)
    found = describe(letters, setup, PARTS)
    numbers = {name: one.value for name, one in known.items()}
    sections = [_apart(section) for section in kane_document(found).sections]
    names = _Names(found, numbers)
    sections = [replace(one, items=tuple(map(names.marked, one.items))) for one in sections]
    terms = terms_of(sections)
    in_letters = _in_letters(letters, setup, found, terms)
    values = _at_a_state(letters, setup, in_letters, numbers)
    dimensions = units.of_values(in_letters, _inputs(robot, setup, in_letters))
    (outputs,) = in_letters.outputs
    of_terms = ["" if (d := dimensions[ref.value]) is None or not ref.sign else str(d) for ref in outputs.entries]
    stands_on, depends = _stands_on(in_letters), dependences(in_letters)
    still = {name: np.zeros(robot.n) for name in ("q", "qd", "qdd")}
    at_rest = [
        float(value) if depends[ref.value] is Dependence.CONSTANTS else None
        for ref, value in zip(outputs.entries, evaluate(values, still)["T"])
    ]
    words = names.words(robot, terms, of_terms, [stands_on[ref.value] for ref in outputs.entries], at_rest)
    return KaneTerms(tuple(sections), values, tuple(of_terms), words, numbers)


def _apart(section: Section) -> Section:
    """The section with its terms apart; the velocities of odd angles in full, which nobody reads, stay as they are."""
    apart = with_terms(section)
    return apart if section.key in DYNAMICS or len(terms_of([apart])) <= LONGEST else section


def _in_letters(letters: Robot, setup: Setup, found: Description, terms: Sequence[PlacedTerm]) -> Program:
    """q, qd, u, tau, parameters -> T: every term's value."""
    assert found.dynamics is not None
    written = found.dynamics.program
    tracer = Tracer(sorted(letters.symbols))
    n = letters.n
    q = tracer.inputs("q", n, Dependence.CONFIGURATION)
    arrays = {"q": q, **{name: tracer.inputs(name, n, Dependence.RATES) for name in ("qd", "u", "tau")}}
    values = tracer.replay(written, lambda slot: arrays[slot[0]][slot[1]] if slot[0] in arrays else None)
    to = _State(tracer, arrays, found, {joint.name: k for k, joint in enumerate(letters.joints)})
    return tracer.program("terms", {"T": [to.value(one.term, values) for one in terms]})


@dataclass(frozen=True)
class _State:
    """What the letters of Kane's formulas are at a state."""

    tracer: Tracer
    arrays: dict[str, tuple[Traced, ...]]
    found: Description
    joints: dict[str, int]

    def value(self, term: ShadedTerm, written: Sequence[Traced]) -> Traced:
        match term.product:
            case WrittenTerm(minus=minus, place=place):
                return -written[place] if minus else written[place]
            case TrigPoly():
                return self._of(term.product)
            case Combination(terms=multiples, rest=rest):
                total = self.tracer.number(0) if rest is None else self._ratio(rest)
                for factor, name in multiples:
                    total = total + self._speed(name) * (1 if isinstance(factor, int) else self._ratio(factor))
                return total
            case _:
                raise TypeError(f"no term of Kane's equations: {term.product}")

    def _ratio(self, of: Quotient) -> Traced:
        above = self._of(of.numerator)
        return above if of.denominator == 1 else above / self._of(of.denominator)

    def _of(self, formula: TrigPoly) -> Traced:
        return formula.map(self._letter, self.tracer.number)

    def _speed(self, name: Label) -> Traced:
        return self.arrays["u"][[speed.name for speed in self.found.speeds].index(name)]

    def _letter(self, g: Generator) -> Traced:
        if g not in self._known:
            self._known[g] = self._looked_up(g)
        return self._known[g]

    def _looked_up(self, g: Generator) -> Traced:
        if isinstance(g.of, Angle):
            return self.tracer.sincos(g.of)[g.kind == "cosine"]
        if isinstance(g.of, str):
            return self._speed(label(g.of)) if g.of in self._speeds else self.tracer.symbol(g.of)
        k = self.joints[self._names[g.of]]
        if g.kind == "rate":
            return self.arrays["qd"][k]
        at: Any = self.arrays["q"][k]
        return at if g.kind == "displacement" else self.tracer.sincos_of(at)[g.kind == "cosine"]

    @cached_property
    def _known(self) -> dict[Generator, Traced]:
        return {}

    @cached_property
    def _speeds(self) -> set[str]:
        return {str(speed.name) for speed in self.found.speeds}

    @cached_property
    def _names(self) -> dict[int, str]:
        return {int(letter.subscript): name for letter, name in self.found.letters}


def _at_a_state(letters: Robot, setup: Setup, in_letters: Program, numbers: dict[str, Fraction]) -> Program:
    """q, qd, qdd -> T: the speeds are those of the motion, the efforts those that it takes."""
    tracer, n = Tracer(), letters.n
    q = tracer.inputs("q", n, Dependence.CONFIGURATION)
    given = {"q": q, **{name: tracer.inputs(name, n, Dependence.RATES) for name in ("qd", "qdd")}}
    given["parameters"] = tuple(tracer.number(numbers[name]) for name in sorted(letters.symbols))
    u, ud = included(tracer, kane_program(letters, setup, "speeds"), given)
    tau = included(tracer, kane_program(letters, setup, "torques"), {**given, "u": u, "ud": ud})[0]
    (values,) = included(tracer, in_letters, {**given, "u": u, "tau": tau})
    return tracer.program("terms", {"T": values})


def _inputs(robot: Robot, setup: Setup, program: Program) -> Callable[[Slot], Dimension | None]:
    """The dimension of every input of a program in letters."""
    paths = letter_paths(robot)
    symbols = next((group.labels for group in program.inputs if group.name == "parameters"), ())
    second = Dimension(0, 0, 1)

    def of(slot: Slot) -> Dimension | None:
        name, k = slot
        match name:
            case "q":
                return units.position(robot.joints[k])
            case "qd":
                return units.position(robot.joints[k]).times(second, -1)
            case "tau":
                return units.effort(robot.joints[k])
            case "u":
                moved = _moved(setup.speeds[k], robot)
                return None if moved is None else moved.times(second, -1)
            case _:
                path = paths.get(symbols[k])
                return None if path is None else units.of_parameter(robot, path)

    return of


def _moved(speed: Speed, robot: Robot) -> Dimension | None:
    """What a speed is the rate of: a length or an angle."""
    match speed:
        case Rate(joint=k):
            return units.position(robot.joints[k])
        case LinearForm(coefficients=coefficients):
            kinds = {units.position(robot.joints[k]) for k, _ in coefficients}
            return kinds.pop() if len(kinds) == 1 else None
        case AngularVelocity():
            return NUMBER
        case PointVelocity():
            return units.LENGTH


def _stands_on(program: Program) -> list[frozenset[str]]:
    """The parameters that every value of a program is made of, directly or by others."""
    symbols = next((group.labels for group in program.inputs if group.name == "parameters"), ())
    found: list[frozenset[str]] = []
    for op in program.ops:
        if op.kind is Kind.INPUT and op.slot[0] == "parameters":
            found.append(frozenset({symbols[op.slot[1]]}))
        else:
            found.append(frozenset().union(*(found[arg] for arg in op.args)))
    return found


@dataclass(frozen=True)
class _Names:
    """Names of what terms are made of: the robot's letters, and quantities with a formula of their own."""

    found: Description
    numbers: dict[str, Fraction]

    @property
    def steps(self) -> set[str]:
        assert self.found.dynamics is not None
        return {str(name) for name, _ in self.found.dynamics.steps}

    def marked(self, item: Item) -> Item:
        """An item whose terms know the names in them."""
        if not isinstance(item, ShadedEntries):
            return item
        known = self.steps | self.numbers.keys()
        entries = (
            replace(
                one,
                terms=tuple(
                    replace(term, constant=" ".join(dict.fromkeys(w for w in _words(term) if w in known)))
                    for term in one.terms
                ),
            )
            for one in item.entries
        )
        return replace(item, entries=tuple(entries))

    def words(
        self,
        robot: Robot,
        terms: Sequence[PlacedTerm],
        of_terms: Sequence[str],
        stands_on: Sequence[frozenset[str]],
        constants: Sequence[float | None],
    ) -> dict[str, Word]:
        """What each name is: a letter its number, a quantity with a formula what that stands on."""
        paths = letter_paths(robot)
        found = {
            name: Word(str(units.of_parameter(robot, paths[name])) if name in paths else "", (name,), float(value))
            for name, value in self.numbers.items()
        }
        steps: dict[str, list[int]] = {name: [] for name in self.steps}
        for k, one in enumerate(terms):
            if one.entry.name in steps:
                steps[one.entry.name].append(k)
        for name, places in steps.items():
            values = [constants[k] for k in places]
            total = None if None in values else sum(v for v in values if v is not None)
            letters = sorted(frozenset().union(*(stands_on[k] for k in places)))
            found[name] = Word(of_terms[places[0]], tuple(letters), total)
        return found


def _words(term: ShadedTerm) -> list[str]:
    """Names in a term, as they stand in it."""
    match term.product:
        case WrittenTerm(text=text):
            return _WORD.findall(text)
        case TrigPoly():
            return _parameters(term.product)
        case Combination(terms=multiples, rest=rest):
            ratios = [factor for factor, _ in multiples if isinstance(factor, Quotient)] + ([rest] if rest else [])
            return [word for one in ratios for side in (one.numerator, one.denominator) for word in _parameters(side)]
        case _:
            return []


def _parameters(formula: TrigPoly) -> list[str]:
    return [g.of for _, monomial in formula.terms() for g in monomial if isinstance(g.of, str)]
