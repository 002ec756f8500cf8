"""EMDEG's hierarchical form: constants K, products of sines and cosines T, repeated subexpressions V, and the entries.

After Burdick, section 5 and Appendix II: every entry is first a canonical sum of (constant) * (sines and cosines).
Then, greedily and always taking what saves most operations: an entry is written as another plus a remainder
(M22 = M23 + ...), a bracket that recurs gets a name V, a product of two sines or cosines that recurs gets a name T.
Multiples of constants are constants (K25 = 2*K5), because those are computed once and stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.algebra.expression import Atom, Count, Product, Sum, atoms_of, count, evaluate
from emdeg.equations.reading.compact import atom_values
from emdeg.equations.reading.lumped import Lumped
from emdeg.equations.reading.nesting import Key, nested
from emdeg.equations.reading.waves import Layout, Writer, fewest_terms
from emdeg.writing.notebook import listing
from emdeg.writing.text import line

Polynomial = dict[Key, Fraction]

MOST_TERMS = 4000
"""Terms above which no brackets are looked for."""


@dataclass(frozen=True)
class Hierarchy:
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
    def count(self) -> Count:
        """Operations of the whole at one configuration; constants, and entries equal to another's, are free."""
        total = Count()
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
    """The hierarchical form of a model in lumped constants."""
    symbol = {c.name: f"K{k}" for k, c in enumerate(lumped.constants, 1)}
    entries = _sums_of_products(lumped, symbol)
    constants: dict[str, tuple[Fraction, str]] = {k: (Fraction(1), c) for c, k in symbol.items()}
    steps, order = _related(entries)
    if sum(map(len, steps.values())) <= MOST_TERMS:
        order = _bracketed(steps, order)
    _fold_multiples(steps, constants)
    written = {name: Sum((Product(f, (Atom(c),)),)) for name, (f, c) in constants.items()}
    _fold_sums(steps, written)
    products = _products(steps)
    used = {atom.kind for polynomial in steps.values() for key in polynomial for atom in key}
    return Hierarchy(
        {name: expression for name, expression in written.items() if name in used},
        products,
        {name: nested(steps[name]) for name in order},
        tuple(lumped.expansions),
    )


def _sums_of_products(lumped: Lumped, symbol: Mapping[str, str]) -> dict[str, Polynomial]:
    """Every entry as {product of sines, cosines and one constant: coefficient}, all in one angle system."""
    writer = Writer(Layout(lumped.algebra), lumped.groups)
    angles = len(writer.layout.angles)
    views = {name: [(c, writer.views(f)) for c, f in terms] for name, terms in lumped.expansions.items()}
    tables = []
    for k, system in enumerate(writer.systems):
        meaning = tuple(system.meaning[j] for j in writer.layout.angles)
        waves = {n: [(c, fewest_terms(v[k], angles)) for c, v in terms] for n, terms in views.items()}
        tables.append((sum(len(w) for terms in waves.values() for _, w in terms), k, meaning, waves))
    _, _, meaning, waves = min(tables, key=lambda table: table[:2])
    found: dict[str, Polynomial] = {}
    for name, terms in waves.items():
        polynomial: Polynomial = {}
        for constant, wave in terms:
            for exponents, c in wave.items():
                factors = [Atom(symbol[constant])]
                for place, angle in enumerate(meaning):
                    factors += [Atom("S", angle)] * exponents[2 * place]
                    factors += [Atom("C", angle)] * exponents[2 * place + 1]
                for joint, power in zip(lumped.algebra.prismatic, exponents[2 * angles :]):
                    factors += [Atom("q", ((joint, 1),))] * power
                polynomial[tuple(sorted(factors))] = Fraction(c)
        found[name] = polynomial
    return found


def _related(entries: Mapping[str, Polynomial]) -> tuple[dict[str, Polynomial], list[str]]:
    """Entries written as a multiple of an earlier one plus a remainder where that is shorter; shortest first."""
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
            for factor in sorted({mine[k] / theirs[k] for k in shared}) if len(shared) * 2 > len(theirs) else ():
                rest = dict(mine)
                for key, c in theirs.items():
                    rest[key] = rest.get(key, Fraction(0)) - factor * c
                rest = {key: c for key, c in rest.items() if c}
                if len(rest) + 1 < len(best):
                    best = {(Atom(other),): factor, **rest}
        steps[name] = best
    return steps, order


def _bracketed(steps: dict[str, Polynomial], order: list[str]) -> list[str]:
    """Brackets that recur made V, in place; the order of evaluation with the V in it."""
    number = 0
    dependents: list[str] = []
    shapes: dict[str, list[tuple[frozenset, Key, Fraction]]] = {}
    while True:
        found: dict[frozenset, list[tuple[str, Key, Fraction]]] = {}
        for name in (*dependents, *order):
            if name not in shapes:
                shapes[name] = _shapes(steps[name])
            for shape, divisor, lead in shapes[name]:
                found.setdefault(shape, []).append((name, divisor, lead))
        best, saving = None, 0
        for shape, places in found.items():
            saved = _saving(shape, places)
            if saved > saving or (saved == saving and best is not None and _shape_key(shape) < _shape_key(best)):
                best, saving = shape, saved
        if best is None or saving <= 0:
            return [*_sorted_definitions(dependents, steps), *order]
        number += 1
        symbol = f"V{number}"
        inside = dict(sorted(best, key=lambda item: _key(item[0])))
        for name, divisor, lead in found[best]:
            polynomial = steps[name]
            covered = {tuple(sorted((*divisor, *key))): lead * c for key, c in inside.items()}
            if all(polynomial.get(key) == c for key, c in covered.items()):
                shapes.pop(name, None)
                for key in covered:
                    del polynomial[key]
                polynomial[tuple(sorted((*divisor, Atom(symbol))))] = lead
        steps[symbol] = inside
        dependents.append(symbol)


def _shapes(polynomial: Polynomial) -> list[tuple[frozenset, Key, Fraction]]:
    """Each quotient up to a factor, with its divisor and the factor."""
    found = []
    for divisor, quotient in _quotients(polynomial):
        lead = quotient[min(quotient, key=_key)]
        found.append((frozenset((key, c / lead) for key, c in quotient.items()), divisor, lead))
    return found


def _key(key: Key) -> tuple[tuple[tuple, str], ...]:
    return tuple((atom.angle, atom.kind) for atom in key)


def _shape_key(shape: frozenset) -> list:
    return sorted((_key(key), c) for key, c in shape)


def _quotients(polynomial: Polynomial) -> list[tuple[Key, Polynomial]]:
    """(divisor, quotient) for each product of sines and cosines that divides two or more terms: its whole quotient."""
    groups: dict[Key, Polynomial] = {}
    for key, c in polynomial.items():
        for divisor in _divisors(tuple(atom for atom in key if atom.is_trigonometric)):
            groups.setdefault(divisor, {})[_divided(key, divisor)] = c
    return [(divisor, quotient) for divisor, quotient in groups.items() if len(quotient) > 1 and _coprime(quotient)]


def _divisors(factors: Key) -> set[Key]:
    found: set[Key] = {()}
    for factor in factors:
        found |= {tuple(sorted((*divisor, factor))) for divisor in found}
    return found


def _divided(key: Key, divisor: Key) -> Key:
    rest = list(key)
    for factor in divisor:
        rest.remove(factor)
    return tuple(rest)


def _coprime(quotient: Polynomial) -> bool:
    """Whether no sine or cosine is left that divides the whole quotient; then a larger divisor would do."""
    shared: Counter[Atom] | None = None
    for key in quotient:
        counted = Counter(atom for atom in key if atom.is_trigonometric)
        shared = counted if shared is None else shared & counted
    return not shared


def _saving(shape: frozenset, places: list[tuple[str, Key, Fraction]]) -> int:
    """Operations saved by computing a bracket once instead of in each of its places."""
    inside = sum(max(0, len(key) - 1) + (abs(c) != 1 and not _constant(key)) for key, c in shape) + len(shape) - 1
    spread = sum(len(divisor) * (len(shape) - 1) for _, divisor, _ in places)
    return (len(places) - 1) * inside + spread - (len(places) if len(places) == 1 else 0)


def _constant(key: Key) -> bool:
    return any(not atom.angle and atom.kind[0] == "K" for atom in key)


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


def _products(steps: dict[str, Polynomial]) -> dict[str, Sum]:
    """Pairs of sines and cosines that recur made T, the most frequent first, in place."""
    products: dict[str, Sum] = {}
    terms = [(name, key, c) for name, polynomial in steps.items() for key, c in polynomial.items()]
    keys = [key for _, key, _ in terms]
    places: dict[Pair, set[int]] = {}
    for at, key in enumerate(keys):
        for pair in _pairs(key, products):
            places.setdefault(pair, set()).add(at)
    while repeated := [pair for pair, at in places.items() if len(at) > 1]:
        pair = min(repeated, key=lambda pair: (-len(places[pair]), _key(pair)))
        symbol = f"T{len(products) + 1}"
        products[symbol] = Sum((Product(Fraction(1), pair),))
        for at in sorted(places[pair]):
            before = _pairs(keys[at], products)
            keys[at] = _with(keys[at], pair, symbol)
            after = _pairs(keys[at], products)
            for gone in before - after:
                places[gone].discard(at)
            for new in after - before:
                places.setdefault(new, set()).add(at)
    for name in steps:
        steps[name] = {}
    for (name, _, c), key in zip(terms, keys):
        steps[name][key] = c
    return products


Pair = tuple[Atom, Atom]


def _pairs(key: Key, products: Mapping[str, Sum]) -> set[Pair]:
    trig = [atom for atom in key if atom.is_trigonometric or atom.kind in products]
    return {(a, b) for k, a in enumerate(trig) for b in trig[k + 1 :]}


def _with(key: Key, pair: tuple[Atom, Atom], symbol: str) -> Key:
    rest = list(key)
    for atom in pair:
        if atom not in rest:
            return key
        rest.remove(atom)
    return tuple(sorted((*rest, Atom(symbol))))
