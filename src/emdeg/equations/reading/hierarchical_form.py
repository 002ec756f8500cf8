"""EMDEG's hierarchical form: constants K, products of sines and cosines T, repeated subexpressions V, and the entries.

After Burdick, section 5 and Appendix II: every entry is first a canonical sum of (constant) * (sines and cosines).
Then, greedily and always taking what saves most operations: an entry is written as another plus a remainder
(M22 = M23 + ...), a bracket that recurs gets a name V, a product of two sines or cosines that recurs gets a name T.
Multiples of constants are constants (K25 = 2*K5), because those are computed once and stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.algebra import (
    Atom,
    ExponentLayout,
    Exponents,
    PrintedCount,
    Product,
    ShortForms,
    Sum,
    Views,
    WrittenForm,
    atoms_of,
    count,
    evaluate,
)
from emdeg.algebra.factoring import (
    Key,
    joined,
    nested,
    without,
)
from emdeg.documents import Brief, line, listing
from emdeg.equations.reading.compact_form import atom_values
from emdeg.equations.reading.lumped import Lumped, own_letter
from emdeg.equations.reading.recurring import CodedLetters, Polynomial, RecurringBrackets, RecurringProducts

MOST_TERMS = 4000
"""Terms above which no brackets are looked for."""


@dataclass(frozen=True, repr=False)
class Hierarchy(Brief):
    """A model as definitions, each using only those before it: T, then V and entries in an order that computes.

    `constants` says what each K is in lumped constants.
    """

    constants: Mapping[str, Sum]
    products: Mapping[str, Sum]
    steps: Mapping[str, Sum]
    """V and entries, in the order of evaluation."""
    entries: tuple[str, ...]

    @property
    def brackets(self) -> tuple[str, ...]:
        """The names of the V."""
        return tuple(name for name in self.steps if name not in self.entries)

    @property
    def count(self) -> PrintedCount:
        """Operations of the whole at one configuration; constants, and entries equal to another's, are free."""
        total = PrintedCount()
        for expression in (*self.products.values(), *self.steps.values()):
            total += count(expression)
        return total

    def _repr_html_(self) -> str:
        return listing("Entries, V, T and K", self.text)

    @property
    def text(self) -> str:
        """Entries, then V, T and K, as in Burdick's Appendix II."""
        lines = [f"{name} = {line(self.steps[name])}" for name in self.entries]
        lines += ["", *(f"{name} = {line(self.steps[name])}" for name in self.brackets)]
        lines += ["", *(f"{name} = {line(e)}" for name, e in self.products.items())]
        lines += ["", *(f"{name} = {line(e)}" for name, e in self.constants.items())]
        return "\n".join(lines)

    def evaluate(self, q: Sequence[float] | np.ndarray, constants: Mapping[str, float]) -> dict[str, np.ndarray]:
        """Every entry at the configuration q (..., n), given the lumped constants' values."""
        lumped = {Atom(name): value for name, value in constants.items()}
        known: dict[Atom, float | np.ndarray] = {Atom(k): evaluate(e, lumped) for k, e in self.constants.items()}
        for name, expression in (*self.products.items(), *self.steps.items()):
            missing = {a for a in atoms_of(expression) if a not in known}
            known |= atom_values(missing, q, {})
            known[Atom(name)] = evaluate(expression, known)
        shape = np.shape(q)[:-1]
        return {name: np.broadcast_to(known[Atom(name)], shape) for name in self.entries}


def hierarchy(lumped: Lumped) -> Hierarchy:
    """The hierarchical form of a model in lumped constants: of the ways to write its functions the cheapest."""
    symbol = {c.name: f"K{k}" for k, c in enumerate(lumped.constants, 1)}
    forms = [
        _built(entries, symbol, size) for entries in _sums_of_products(lumped, symbol) for size in (_operations, len)
    ]
    return _named(min(forms, key=lambda form: form.count.total), lumped.algebra.parameters, tuple(symbol))


def _operations(table: Polynomial) -> int:
    """What a sum costs, written out; a constant's multiple is a constant."""
    alone = sum(abs(c) != 1 and len(key) == 1 and key[0].kind[0] != "K" for key, c in table.items())
    return alone + sum(map(len, table)) - 1


def _built(entries: dict[str, Polynomial], symbol: Mapping[str, str], size: Callable[[Polynomial], int]) -> Hierarchy:
    """The form with entries related where that makes their `size` smaller."""
    constants: dict[str, tuple[Fraction, str]] = {k: (Fraction(1), c) for c, k in symbol.items()}
    steps, order = _related(entries, size)
    if sum(map(len, steps.values())) <= MOST_TERMS:
        order = _bracketed(steps, order, CodedLetters(steps.values()))
    _fold_multiples(steps, constants)
    written = {name: Sum((Product(f, (Atom(c),)),)) for name, (f, c) in constants.items()}
    _fold_sums(steps, written)
    products = _products(steps, CodedLetters(steps.values()))
    used = {atom.kind for polynomial in steps.values() for key in polynomial for atom in key}
    return Hierarchy(
        {name: expression for name, expression in written.items() if name in used},
        products,
        {name: nested(steps[name]) for name in order},
        tuple(entries),
    )


def _named(form: Hierarchy, symbols: Sequence[str], constants: Sequence[str]) -> Hierarchy:
    """The form with K, T and V numbered without gaps: K in the order in which a reader meets them, T and V computed.

    They have other symbols where one of them would look like a symbol or a constant of the robot.
    """
    read = [form.steps[name] for name in (*form.entries, *form.brackets)]
    met = dict.fromkeys(atom.kind for expression in read for atom in _in_order(expression))
    blocks = {"K": [name for name in met if name in form.constants], "T": form.products, "V": form.brackets}
    taken = (*symbols, *constants)
    new = {
        name: own_letter(letter, map(str, range(1, len(names) + 1)), taken) + str(number)
        for letter, names in blocks.items()
        for number, name in enumerate(names, 1)
    }

    def renamed(expression: Sum) -> Sum:
        def factor(one: Atom | Sum) -> Atom | Sum:
            if isinstance(one, Sum):
                return renamed(one)
            return one if one.angle else Atom(new.get(one.kind, one.kind))

        return Sum(tuple(Product(t.coefficient, tuple(map(factor, t.factors))) for t in expression.terms))

    return Hierarchy(
        {new[name]: form.constants[name] for name in blocks["K"]},  # in lumped constants
        {new[name]: renamed(expression) for name, expression in form.products.items()},
        {new.get(name, name): renamed(expression) for name, expression in form.steps.items()},
        form.entries,
    )


def _in_order(expression: Sum) -> Iterator[Atom]:
    """An expression's symbols as they are read."""
    for term in expression.terms:
        for factor in term.factors:
            yield from (factor,) if isinstance(factor, Atom) else _in_order(factor)


def _sums_of_products(lumped: Lumped, symbol: Mapping[str, str]) -> Iterator[dict[str, Polynomial]]:
    """Every entry as {product of sines, cosines and one constant: coefficient}, in several ways.

    All functions in the angle system with the fewest terms; each in the one in which it has the fewest; and each with
    the sines and cosines of whatever sums of angles make it shortest, because all of them are given.
    """
    writer = ShortForms(ExponentLayout(lumped.algebra), lumped.groups)
    views = {name: [(c, writer.views(f)) for c, f in terms] for name, terms in lumped.expansions.items()}
    forms = {name: [(c, writer.own_forms(v)) for c, v in terms] for name, terms in views.items()}
    sizes = [sum(len(own[k].poly) for terms in forms.values() for _, own in terms) for k in range(len(writer.systems))]
    common = sizes.index(min(sizes))

    def shortest(own: list[WrittenForm]) -> WrittenForm:
        return min(own, key=lambda form: (len(form.poly), form.size[1], form is not own[common]))

    def written(choice: Callable[[Views, list[WrittenForm]], WrittenForm]) -> dict[str, Polynomial]:
        found: dict[str, Polynomial] = {}
        for name, terms in views.items():
            polynomial: Polynomial = {}
            for (constant, v), (_, own) in zip(terms, forms[name]):
                form = choice(v, own)
                for exponents, c in form.poly.items():
                    key = tuple(sorted([Atom(symbol[constant]), *_factors(form, exponents, lumped.algebra.prismatic)]))
                    polynomial[key] = polynomial.get(key, Fraction(0)) + c
            found[name] = polynomial
        return found

    yield written(lambda _, own: own[common])
    if len(writer.systems) > 1:
        yield written(lambda _, own: shortest(own))
        yield written(lambda v, own: min((shortest(own), *writer.forms(v)), key=lambda form: form.size))


def _factors(form: WrittenForm, exponents: Exponents, displacements: Sequence[int]) -> Iterator[Atom]:
    """A term's sines, cosines and displacements, each by itself: products of them get names of their own."""
    for place, angle in enumerate(form.angles):
        yield from [Atom("S", angle)] * exponents[2 * place]
        yield from [Atom("C", angle)] * exponents[2 * place + 1]
    for joint, power in zip(displacements, exponents[2 * len(form.angles) :]):
        yield from [Atom("q", ((joint, 1),))] * power


def _related(
    entries: Mapping[str, Polynomial], size: Callable[[Polynomial], int]
) -> tuple[dict[str, Polynomial], list[str]]:
    """Entries written as a multiple of an earlier one plus a remainder where that is smaller; shortest first."""
    order = sorted(entries, key=lambda name: len(entries[name]))
    steps: dict[str, Polynomial] = {}
    for at, name in enumerate(order):
        mine = entries[name]
        best = mine
        for other in order[:at]:
            theirs = entries[other]
            if len(theirs) < 2 and theirs != mine:
                continue
            shared = mine.keys() & theirs.keys()
            for factor in sorted({mine[k] / theirs[k] for k in shared}):
                rest = dict(mine)
                for key, c in theirs.items():
                    rest[key] = rest.get(key, Fraction(0)) - factor * c
                tried = {(Atom(other),): factor, **{key: c for key, c in rest.items() if c}}
                if size(tried) < size(best):
                    best = tried
        steps[name] = best
    return steps, order


def _bracketed(steps: dict[str, Polynomial], order: list[str], letters: CodedLetters) -> list[str]:
    """Brackets that recur made V, in place; the order of evaluation with the V in it."""
    found = RecurringBrackets(letters, (steps[name] for name in order))
    while found.step():
        pass
    named = letters.named("V", found.quotients)
    for name, place in zip((*order, *named), (*range(len(order)), *found.quotients.values())):
        steps[name] = letters.written(found.sums[place])
    return [*_sorted_definitions(named, steps), *order]


def _sorted_definitions(names: list[str], steps: Mapping[str, Polynomial]) -> list[str]:
    """The V, each after those it uses."""
    placed: list[str] = []

    def place(name: str) -> None:
        if name in placed:
            return
        for key in steps[name]:
            for atom in key:
                if not atom.angle and atom.kind in names:
                    place(atom.kind)
        placed.append(name)

    for name in names:
        place(name)
    return placed


def _fold_multiples(steps: dict[str, Polynomial], constants: dict[str, tuple[Fraction, str]]) -> None:
    """Coefficients other than +-1 taken into the constant, in place."""
    first = {name: constant for name, (_, constant) in constants.items()}
    multiples = {value: name for name, value in constants.items()}
    for name, polynomial in steps.items():
        folded: Polynomial = {}
        for key, c in polynomial.items():
            at = next((k for k, atom in enumerate(key) if not atom.angle and atom.kind in first), None)
            if at is None:
                folded[key] = c
                continue
            value = (abs(c), first[key[at].kind])
            if value not in multiples:
                multiples[value] = f"K{len(constants) + 1}"
                constants[multiples[value]] = value
            new = tuple(sorted((*key[:at], *key[at + 1 :], Atom(multiples[value]))))
            folded[new] = Fraction(1 if c > 0 else -1)
        steps[name] = folded


def _fold_sums(steps: dict[str, Polynomial], constants: dict[str, Sum]) -> None:
    """Constants that are only added to each other made one constant, in place."""
    known: dict[Sum, str] = {}
    for polynomial in steps.values():
        alone = [key for key in polynomial if len(key) == 1 and key[0].kind in constants]
        if len(alone) < 2:
            continue
        terms = [
            Product(polynomial[key] * term.coefficient, term.factors)
            for key in alone
            for term in constants[key[0].kind].terms
        ]
        total = Sum(tuple(sorted(terms, key=lambda term: term.coefficient < 0)))
        if total not in known:
            known[total] = f"K{len(constants) + 1}"
            constants[known[total]] = total
        for key in alone:
            del polynomial[key]
        polynomial[(Atom(known[total]),)] = Fraction(1)


def _products(steps: dict[str, Polynomial], letters: CodedLetters) -> dict[str, Sum]:
    """Pairs of sines and cosines that recur made T, the most frequent first, in place."""
    found = RecurringProducts([letters.coded(table) for table in steps.values()], CodedLetters.FRESH)
    while found.step():
        pass
    named = letters.named("T", found.products)

    def spelled(key: Key) -> Key:
        """Without names for products."""
        while (letter := next((x for x in key if x in found.products), None)) is not None:
            key = joined(without(key, (letter,)), *found.products[letter])
        return key

    for place, (name, table) in enumerate(steps.items()):
        now = {spelled(key): (key, c) for key, c in found.sums[place].items()}
        steps[name] = letters.written(dict(now[key] for key in letters.coded(table)))  # terms stay where they were
    return {
        name: Sum((Product(Fraction(1), tuple(sorted(map(letters.atom, pair)))),))
        for name, pair in zip(named, found.products.values())
    }
