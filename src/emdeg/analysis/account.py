"""What each step of the derivation saves: from sums of products in every letter to the smallest program.

The four steps of Armstrong, Khatib and Burdick (15,000 products down to 739) and Burdick's rules, for any robot: each
row is the same model written another way and counted as written. Squares are products; a sign costs nothing. A step is
taken where it makes the model shorter: a small arm has few common factors, and constants that entries share must be
added up again where each had one number of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from emdeg.algebra import (
    Atom,
    ExponentLayout,
    PrintedCount,
    Product,
    ShortForms,
    Sum,
    TrigPoly,
    terms_of,
)
from emdeg.algebra import count as count_printed
from emdeg.analysis.figures import save_figure
from emdeg.documents import COLOURS, Shown, new_figure
from emdeg.equations import Compact, LumpedModel, compact, hierarchy, indices, lumped_model
from emdeg.programs import count, program
from emdeg.robot import Robot


@dataclass(frozen=True)
class AccountStep(Shown):
    """The model after a step: operations of all entries of M, b, c and g, and of the torques with them.

    `entries` is None where no entry is formed.
    """

    name: str
    what: str
    entries: PrintedCount | None
    torques: PrintedCount


@dataclass(frozen=True)
class Account(Shown):
    """The steps in order; `equation` is what the torques cost once the entries are known."""

    robot: str
    steps: tuple[AccountStep, ...]
    equation: PrintedCount
    untried: tuple[str, ...] = ()
    """Steps that somebody interrupted before they were taken."""

    @property
    def saved(self) -> list[int]:
        """Operations that each step saves of the torques; the first saves nothing."""
        totals = [step.torques.total for step in self.steps]
        return [0, *(before - after for before, after in pairwise(totals))]


def account_of(robot: Robot, tell: Callable[[str], None] = lambda step: None) -> Account:
    """The account of a chain's or tree's explicit model; the last row is the smallest program on file.

    `tell` is told each step before it is taken. A keyboard interrupt after the first ends with those taken before.
    """
    full = lumped_model(robot)
    ways = _Ways(full)
    equation = _equation(full.entries, robot.n)
    steps: list[AccountStep] = []
    try:
        for name, (what, counted) in ways.all.items():
            tell(name)
            entries = counted()
            before = steps[-1].entries if steps else None
            found = entries if before is None else _fewer(before, entries)
            steps.append(AccountStep(name, what, found, found + equation))
        tell(PROGRAM)
        steps.append(_program_step(robot, steps[-1]))
    except KeyboardInterrupt:
        if not steps:
            raise
    untried = (*ways.all, PROGRAM)[len(steps) :]
    return Account(robot.name, tuple(steps), equation, untried)


PROGRAM = "program"


class _Ways:
    """The same entries written in ways of fewer and fewer operations: what each does, and its count when asked for."""

    def __init__(self, full: LumpedModel) -> None:
        self._full = full
        self.all: dict[str, tuple[str, Callable[[], PrintedCount]]] = {
            "letters": ("sums of products, a letter for every number", lambda: self._of_letters(_lettered)),
            "folding": ("products of constants are numbers", lambda: self._of_letters(_folded)),
            "lumping": (
                "numbers of the same product of sines are one",
                lambda: _sum(map(_expanded, full.entries.values())),
            ),
            "parallel axes": (
                "sums of parallel joints' angles, sin^2 + cos^2 = 1",
                lambda: _sum(self._in_sums.values()),
            ),
            "relations": ("zero, equal and opposite entries are free", lambda: _sum(self._kept.values())),
            "factoring": ("common factors taken out of an entry", self._factored),
            "shared products": ("squares and products of sines formed once", lambda: self._written.count),
            "hierarchy": ("sums that entries share formed once", lambda: hierarchy(full.lumped).count),
        }

    @cached_property
    def _in_sums(self) -> dict[str, PrintedCount]:
        return _in_sums_of_angles(self._full)

    @cached_property
    def _written(self) -> Compact:
        return compact(self._full.lumped)

    @cached_property
    def _kept(self) -> dict[str, PrintedCount]:
        """The entries that are no other's multiple."""
        return {name: cost for name, cost in self._in_sums.items() if self._written[name].alias is None}

    def _of_letters(self, count: Callable[[TrigPoly], PrintedCount]) -> PrintedCount:
        return _sum(map(count, self._full.source.entries().values()))

    def _factored(self) -> PrintedCount:
        return _sum(_fewer(cost, _factored(self._written[name].expression)) for name, cost in self._kept.items())


def _program_step(robot: Robot, before: AccountStep) -> AccountStep:
    smallest = count(program(robot, "inverse_dynamics"))
    torques = PrintedCount(smallest.mul, smallest.add)
    if torques.total < before.torques.total:
        return AccountStep(PROGRAM, "the smallest program on file: no entries formed", None, torques)
    return replace(before, name=PROGRAM, what="none on file is shorter: emdeg optimise looks for one")


def _fewer(before: PrintedCount, after: PrintedCount) -> PrintedCount:
    """Of two ways to write the same, the one of fewer operations; the first where they are as long."""
    return min(before, after, key=lambda one: one.total)


def account_figure(found: Account, folder: Path) -> list[Path]:
    """The operations of the torques after each step, as bars on a logarithmic scale; the files written."""
    figure, axes = new_figure(7.5, 0.42 * len(found.steps) + 1.0)
    ax = axes[0, 0]
    names = [step.name for step in found.steps]
    ax.barh(names, [step.torques.total for step in found.steps], color=COLOURS[0])
    for place, step in enumerate(found.steps):
        ax.text(step.torques.total, place, f" {step.torques.mul} x, {step.torques.add} +", va="center", fontsize=8)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel(f"operations of the torques of {found.robot}")
    ax.margins(x=0.35)
    rows = [[step.name, step.torques.mul, step.torques.add, saved] for step, saved in zip(found.steps, found.saved)]
    return save_figure(figure, folder, "account", ["step", "multiplications", "additions", "saved"], rows)


def _sum(parts: Iterable[PrintedCount]) -> PrintedCount:
    return sum(parts, PrintedCount())


def _terms(sizes: Iterable[int]) -> PrintedCount:
    """Terms of so many factors each, added."""
    known = list(sizes)
    return PrintedCount(sum(max(0, size - 1) for size in known), max(0, len(known) - 1))


def _number(c: Fraction | int) -> int:
    return int(abs(c) != 1)


def _lettered(entry: TrigPoly) -> PrintedCount:
    return _terms(_number(c) + sum(monomial.values()) for c, monomial in entry.terms())


def _moving(monomial: Mapping) -> dict:
    return {g: e for g, e in monomial.items() if isinstance(g.of, int)}


def _folded(entry: TrigPoly) -> PrintedCount:
    """Each term a number times sines, cosines and displacements; a letter makes it another number than one."""
    sizes = []
    for c, monomial in entry.terms():
        moving = _moving(monomial)
        sizes.append(int(len(moving) < len(monomial) or _number(c)) + sum(moving.values()))
    return _terms(sizes)


def _expanded(entry: TrigPoly) -> PrintedCount:
    """With numbers: terms of the same product have become one."""
    products: dict[frozenset, int] = {}
    for _, monomial in entry.terms():
        moving = _moving(monomial)
        products[frozenset(moving.items())] = 1 + sum(moving.values())
    return _terms(products.values())


def _in_sums_of_angles(full: LumpedModel) -> dict[str, PrintedCount]:
    """Each entry in the form of the fewest terms, with numbers."""
    algebra = full.lumped.algebra
    writer = ShortForms(ExponentLayout(algebra), full.lumped.groups)
    found = {}
    for name, terms in full.lumped.expansions.items():
        together: dict[tuple[Atom, ...], bool] = {}
        for _, function in terms:
            forms = writer.forms(writer.views(function))
            best = min(forms, key=lambda form: form.size)
            together |= dict.fromkeys(terms_of(best, algebra.prismatic), True)
        found[name] = _terms(1 + sum(len(a.kind) if a.is_trigonometric else 1 for a in key) for key in together)
    return found


def _factored(expression: Sum) -> PrintedCount:
    """An entry as printed, every square or product of sines formed where it is used."""
    return count_printed(expression) + PrintedCount(_doubles(expression))


def _doubles(expression: Sum) -> int:
    """How often an abbreviation of two sines or cosines stands in an expression."""
    found = 0
    for term in expression.terms:
        assert isinstance(term, Product)
        for factor in term.factors:
            if isinstance(factor, Sum):
                found += _doubles(factor)
            else:
                found += int(factor.is_trigonometric and len(factor.kind) == 2)
    return found


def _equation(entries: Mapping[str, TrigPoly], n: int) -> PrintedCount:
    """Armstrong, Khatib and Burdick (1): M qdd + b [qd qd] + c [qd^2] + g over the entries that are not zero."""
    terms = [0] * (n + 1)
    products: set[tuple[int, ...]] = set()
    mul = 0
    for name, entry in entries.items():
        if not entry:
            continue
        letter, of = indices(name)
        terms[of[0]] += 1
        if letter == "g":
            continue
        mul += 1
        if letter == "M" and of[0] != of[1]:
            terms[of[1]] += 1
            mul += 1
        elif letter in "bc":
            products.add(of[1:] if letter == "b" else (of[1], of[1]))
    return PrintedCount(mul + len(products), sum(max(0, t - 1) for t in terms))
