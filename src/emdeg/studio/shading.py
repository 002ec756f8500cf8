"""Terms of formulas apart from each other, in the order in which a page shows them, and how large each becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from emdeg.algebra import Array, Product, Quotient, TrigPoly
from emdeg.documents import (
    Combination,
    Equation,
    Folded,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Section,
    SquareRoot,
    WrittenSum,
)
from emdeg.programs import Program, evaluate
from emdeg.reports import ShadedEntries, ShadedEntry, ShadedTerm, Subject, reach

SAMPLES = 400
"""Random states at which terms are looked at for their largest sizes."""


class PlacedTerm(NamedTuple):
    """A term, the entry it is in, and whether it stands below the line there."""

    entry: ShadedEntry
    term: ShadedTerm
    below: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A quantity with a name that formulas are made of: its unit, the letters it stands on, its value if it has one."""

    unit: str
    letters: tuple[str, ...]
    value: float | None = None


def terms_of(sections: Iterable[Section]) -> list[PlacedTerm]:
    """Every term in the order in which the page shows them."""
    return [one for section in sections for one in _terms_of(section.items)]


def _terms_of(items: Iterable[Item]) -> Iterator[PlacedTerm]:
    for item in items:
        if isinstance(item, Folded):
            yield from _terms_of(item.items)
        elif isinstance(item, ShadedEntries):
            for entry in item.entries:
                yield from (PlacedTerm(entry, term) for term in entry.terms)
                yield from (PlacedTerm(entry, term, below=True) for term in entry.below)


def products(terms: Iterable[PlacedTerm]) -> list[Product]:
    """Terms of the reading form."""
    return [one.term.product for one in terms if isinstance(one.term.product, Product)]


def with_terms(section: Section) -> Section:
    """The section with the terms of its matrices and equations apart, to be shaded: an entry a line."""
    return replace(section, items=tuple(map(_with_terms, section.items)))


def _with_terms(item: Item) -> Item:
    match item:
        case Folded():
            return replace(item, items=tuple(map(_with_terms, item.items)))
        case MatrixEquation(label=label, rows=rows):
            return _entries(str(label), _places(label, rows)) or item
        case Equation(label=label, value=value):
            return _entries("", {label: value}) or item
        case _:
            return item


def _places(label: Label, rows: Sequence[Sequence[Formula]]) -> dict[Label, Formula]:
    """A matrix's entries by their names; those of a named matrix are kept apart from its own name."""
    apart = "_" if label.subscript or max(len(rows), len(rows[0])) > 9 else ""
    found: dict[Label, Formula] = {}
    for i, row in enumerate(rows, 1):
        for j, value in enumerate(row, 1):
            at = f"{apart}{i}{apart}{j}"
            if label.letter == "G":
                at = f"{apart}{i}"
            elif label.subscript and len(rows) == 1:
                at = f"{apart}{j}"
            found[replace(label, subscript=label.subscript + at)] = value
    return found


def _entries(title: str, values: Mapping[Label, Formula]) -> ShadedEntries | None:
    """Formulas with their terms apart; None where one has none that are known."""
    entries, zeros = [], []
    for label, value in values.items():
        entry = _entry(label, value)
        if entry is None:
            return None
        if entry.terms:
            entries.append(entry)
        else:
            zeros.append(label)
    return ShadedEntries(title, tuple(entries), tuple(zeros), True)


def _entry(label: Label, value: Formula) -> ShadedEntry | None:
    name = str(label)
    match value:
        case TrigPoly():
            return ShadedEntry(label, _shaded(value), name=name)
        case Quotient():
            if value.denominator.is_number:
                return ShadedEntry(label, _shaded(value.numerator / value.denominator.number), name=name)
            return ShadedEntry(label, _shaded(value.numerator), name=name, below=_shaded(value.denominator))
        case SquareRoot():
            return ShadedEntry(label, _shaded(value.of), name=name, root=True, whole=value)
        case Combination():
            return ShadedEntry(label, tuple(map(ShadedTerm, _combined(value))), name=name, whole=value)
        case WrittenSum():
            return ShadedEntry(label, tuple(map(ShadedTerm, value.terms)), name=name, whole=value)
        case _:
            return None


def _shaded(formula: TrigPoly) -> tuple[ShadedTerm, ...]:
    return tuple(map(ShadedTerm, summands(formula)))


def summands(formula: TrigPoly) -> Iterator[TrigPoly]:
    """A formula's terms, each as a formula."""
    for coefficient, monomial in formula.terms():
        yield formula.algebra.from_terms([(coefficient, monomial)])


def _combined(value: Combination) -> Iterator[Combination]:
    """Each multiple of a name; of what is left each term, or the one fraction."""
    yield from (Combination((one,)) for one in value.terms if one[0])
    if value.rest and value.rest.is_formula:
        yield from (Combination((), Quotient(one)) for one in summands(value.rest.numerator))
    elif value.rest:
        yield Combination((), value.rest)


def sized(sections: Sequence[Section], values: Program, subject: Subject) -> tuple[Section, ...]:
    """The sections, every term with its largest size over the workspace as a share of the greatest in its sum."""
    largest = iter(_largest(values, subject).tolist())
    return tuple(replace(one, items=tuple(_sized(item, largest) for item in one.items)) for one in sections)


def _sized(item: Item, largest: Iterator[float]) -> Item:
    if isinstance(item, Folded):
        return replace(item, items=tuple(_sized(one, largest) for one in item.items))
    if not isinstance(item, ShadedEntries):
        return item
    entries = (
        replace(one, terms=_shares(one.terms, largest), below=_shares(one.below, largest)) for one in item.entries
    )
    return replace(item, entries=tuple(entries))


def _shares(terms: Sequence[ShadedTerm], largest: Iterator[float]) -> tuple[ShadedTerm, ...]:
    sizes = [next(largest) for _ in terms]
    most = max(sizes, default=0.0)
    return tuple(replace(term, share=size / most if most else None) for term, size in zip(terms, sizes))


def _largest(values: Program, subject: Subject) -> Array:
    """Every value's largest size at random states of the workspace; of loops at those where they close."""
    with np.errstate(all="ignore"):
        found = np.abs(evaluate(values, states(subject))["T"])
    known = found[np.isfinite(found).all(axis=-1)]
    return known.max(axis=0) if len(known) else np.zeros(found.shape[-1])


def states(subject: Subject) -> dict[str, Array]:
    """Random q, qd and qdd of the workspace; of a mechanism with loops in its reach and along its sample motion."""
    if not subject.closed:
        return dict(zip(("q", "qd", "qdd"), subject.where.sample_states(SAMPLES, seed=3)))
    low, high = np.array(list(reach(subject))).T
    random, motion = np.random.default_rng(3), subject.motion
    size = (SAMPLES, len(low))
    drawn = low + (high - low) * random.uniform(size=size), random.uniform(-1, 1, size), random.uniform(-1, 1, size)
    along = motion.q, motion.qd, motion.qdd
    return {name: np.concatenate(both) for name, *both in zip(("q", "qd", "qdd"), drawn, along)}
