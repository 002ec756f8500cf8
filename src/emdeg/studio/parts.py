"""What else of a robot's equations a page shows when it is asked: Jacobians, loops in full, Kane's equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from emdeg.algebra import Atom, Product, Sum
from emdeg.documents import Item, Label, Paragraph, Section
from emdeg.equations import NEEDS, Kinematics, derive, document
from emdeg.equations.reading import ABBREVIATIONS, in_parameters
from emdeg.errors import BadRequest
from emdeg.kane import PARTS as KANE_PARTS
from emdeg.kane import choose, describe, joint_rates, kane_document
from emdeg.programs import Program, term_program
from emdeg.reports import EquationsFound, ShadedEntries, ShadedEntry, ShadedTerm
from emdeg.robot import Robot, algebra_of, by_kind, parallel_joints, symbolize
from emdeg.studio import units
from emdeg.studio.kane_terms import kane_terms
from emdeg.studio.shading import Word, products, terms_of

JACOBIAN, KANE, SHORTEST = "J", "kane", "kane, shortest"
SQUARE = frozenset({"Jinv", "singularities"})
"""What only a Jacobian with as many columns as rows has."""
TREE: Mapping[str, str] = {
    JACOBIAN: "Jacobian J at the tool",
    "T": "transforms between frames",
    "Jinv": "inverse Jacobian",
    "singularities": "singular configurations",
    "C": "Coriolis matrix C",
    "relations": "relations among coefficients",
    "hierarchy": "hierarchical form",
    KANE: "Kane's equations, speeds the joints' own",
    SHORTEST: "Kane's equations, speeds that make them shortest",
}


@dataclass(frozen=True, slots=True)
class ShownPart:
    """Sections of a part; of its terms, where they have such, the values (q, qd, qdd -> T) and units."""

    sections: tuple[Section, ...]
    values: Program | None = None
    units: tuple[str, ...] = ()
    words: Mapping[str, Word] = field(default_factory=dict)
    """What the names in its terms stand for."""
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    """Of the robot's letters."""


@by_kind
def offered(robot: Robot) -> dict[str, str]:
    """Part -> its title, of those that a robot has beside its explicit equations."""
    return {part: title for part, title in TREE.items() if part not in SQUARE or robot.n == 6}


def shown_part(robot: Robot, part: str, tell: Callable[[str], None]) -> ShownPart:
    """A part in sections; BadRequest where the robot has none of that name."""
    if part not in offered(robot):
        raise BadRequest(f"there is no part {part[:40]!r} of this robot's equations")
    tell(offered(robot)[part])
    return part_of(robot, part, tell)


@by_kind
def part_of(robot: Robot, part: str, tell: Callable[[str], None]) -> ShownPart:
    """One of the parts offered."""
    if part in (KANE, SHORTEST) and not robot.symbols:
        kane = kane_terms(robot, part == SHORTEST, tell)
        return ShownPart(kane.sections, kane.values, kane.units, kane.words, kane.numbers)
    if part in (KANE, SHORTEST):
        setup = joint_rates(robot) if part == KANE else choose(robot, tell=lambda title: tell(title))[0].setup
        return ShownPart(kane_document(describe(robot, setup, KANE_PARTS)).sections)
    if part == JACOBIAN and not robot.symbols:
        return _jacobian(robot)
    return ShownPart(document(derive(robot, NEEDS.get(part, ("M",))), [part]).sections)


@by_kind
def shown_equations(robot: Robot, found: EquationsFound) -> ShownPart | None:
    """The explicit equations with their terms apart, where they are not those of a tree."""
    return None


def _jacobian(robot: Robot) -> ShownPart:
    """J in the robot's lengths, every entry's terms apart, to be shaded."""
    symbols, known = symbolize(robot)
    # Constant angles are numbers here: as letters they would hide which lengths matter.
    algebra = algebra_of(symbols, rational_angles=True)
    rows = in_parameters(Kinematics(symbols, algebra).jacobian(), parallel_joints(robot))
    assert rows is not None  # there is no letter of a constant angle
    entries: list[ShadedEntry] = []
    zeros: list[Label] = []
    for i, row in enumerate(rows, 1):
        for j, expression in enumerate(row, 1):
            name = Label("J", f"_{i}_{j}" if robot.n > 9 else f"{i}{j}")
            terms = tuple(
                ShadedTerm(term, constant=_letters(term), in_full=not algebra.short) for term in _opened(expression)
            )
            if terms:
                entries.append(ShadedEntry(name, terms, name=str(name)))
            else:
                zeros.append(name)
    numbers = {name: one.value for name, one in known.items()}
    used = sorted({letter for entry in entries for term in entry.terms for letter in term.constant.split()})
    items: list[Item] = [
        ShadedEntries("Rows 1 to 3 velocity, 4 to 6 angular velocity; base axes", tuple(entries), tuple(zeros), True)
    ]
    if algebra.short:
        items.append(Paragraph(ABBREVIATIONS))
    if used:
        items.append(Paragraph("Lengths: " + ", ".join(f"{name} = {float(numbers[name]):.6g} m" for name in used)))
    sections = (Section("J", "Jacobian at the tool", tuple(items)),)
    terms = terms_of(sections)
    own = tuple(units.of_entry(one.entry.label, robot) for one in terms)
    words = {name: Word("m", (name,), float(numbers[name])) for name in used}
    return ShownPart(sections, term_program(robot, products(terms), numbers), own, words, numbers)


def _opened(expression: Sum) -> Iterator[Product]:
    """The summands with brackets of parameters multiplied out; functions of the configuration stay as they are."""
    for term in expression.terms:
        for k, factor in enumerate(term.factors):
            if isinstance(factor, Sum) and any(_letters(inner) for inner in factor.terms):
                rest = (*term.factors[:k], *term.factors[k + 1 :])
                inner = (Product(term.coefficient * one.coefficient, (*one.factors, *rest)) for one in factor.terms)
                yield from _opened(Sum(tuple(inner)))
                break
        else:
            yield term


def _letters(term: Product) -> str:
    """The robot's parameters in a summand, apart by blanks."""
    return " ".join(one.kind for one in term.factors if isinstance(one, Atom) and not one.angle)
