"""Programs of a short model: its entries as printed, and the efforts from them, each the shortest of several ways."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.equations import entry_name
from emdeg.equations.expression import Atom, Sum
from emdeg.equations.lumped import indices
from emdeg.program import Program, Traced, Tracer, count, simplify
from emdeg.program.functions import solved
from emdeg.program.ir import Dependence
from emdeg.program.schedule import schedule
from emdeg.program.search.optimise import tidied
from emdeg.program.search.resubstitute import Resubstitution
from emdeg.program.simplify import prune, retrace
from emdeg.program.verify import verify
from emdeg.reduce.efforts import traces
from emdeg.reduce.shared import SharedEfforts
from emdeg.reduce.short_model import ShortModel

FUNCTIONS = ("inverse_dynamics", "mass_matrix", "gravity", "bias", "forward_dynamics")


def program(short: ShortModel, function: str = "inverse_dynamics", *, seconds: float = 0.0, seed: int = 0) -> Program:
    """The function's program of a short model; `seconds` of search for a smaller one after factoring.

    It is checked over a prime field against the entries as they are printed.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"a short model has {', '.join(FUNCTIONS)}; not {function}")
    *others, printed = _traces(short, function)
    candidates = [_tidied(traced) for traced in (*others, printed)]
    if function == "inverse_dynamics":
        candidates += _extracted(short, 0.25 * seconds, seed)
    candidates.sort(key=lambda p: count(p).total)
    share = 0.75 if function == "inverse_dynamics" else 1.0
    tried = [_searched(candidates[:2], share * seconds, seed)] if seconds else []
    found = min((*tried, candidates[0]), key=lambda p: count(p).total)
    verify(found, printed)
    return found


def _tidied(traced: Program) -> Program:
    return simplify(traced) if traced.size < LONG else schedule(prune(retrace(traced)))


LONG = 6000
"""Values of a trace above which factoring takes minutes; equal ones are still merged."""
RUNS = 3
"""Runs of extraction where no time is given for more."""
LARGE = 120
"""Terms of a row above which extraction, whose work grows with their square, is not tried."""
NOISE = (0.3, 0.6, 1.2, 2.0)


def _extracted(short: ShortModel, seconds: float, seed: int) -> list[Program]:
    """Programs of several runs of extraction, the two shortest."""
    ways = [SharedEfforts(short, links) for links in (True, False)]
    if max(map(len, ways[0].sums)) > LARGE:
        return []
    end = time.thread_time() + seconds
    found: list[Program] = []
    turn = 0
    while turn < RUNS or time.thread_time() < end:
        way = ways[turn % len(ways)]
        found.append(simplify(way.program(seed + turn, NOISE[turn // len(ways) % len(NOISE)])))
        found = sorted(found, key=lambda p: count(p).total)[:2]
        turn += 1
    return found


def _searched(starts: Sequence[Program], seconds: float, seed: int) -> Program:
    """A fifth of the time for each start, the rest for the one that came furthest."""
    searches = [Resubstitution(p, seed) for p in starts]
    for search in searches:
        _spend(search, 0.2 * seconds)
    best = min(searches, key=lambda search: search.best)
    _spend(best, seconds * (1 - 0.2 * len(searches)))
    return tidied(best.result())


def _spend(search: Resubstitution, seconds: float) -> None:
    end = time.thread_time() + seconds
    search.run(lambda: time.thread_time() > end)


def quick_count(short: ShortModel) -> int:
    """The operations of one way of writing the inverse dynamics: to compare models in a search."""
    return count(SharedEfforts(short, links=True).program(noise=0.0)).total


def _traces(short: ShortModel, function: str) -> Iterator[Program]:
    if function == "inverse_dynamics":
        yield from traces(short)
    tracer = Tracer()
    n = short.full.robot.n
    labels = tuple(joint.name for joint in short.full.robot.joints)
    q = tracer.inputs("q", n, Dependence.CONFIGURATION, labels)
    entries = Entries(short, tracer, q)
    wanted = {"inverse_dynamics": ("qd", "qdd"), "bias": ("qd",), "forward_dynamics": ("qd", "tau")}
    rates = {name: tracer.inputs(name, n, Dependence.RATES) for name in wanted.get(function, ())}
    yield tracer.program(function, _outputs(function, entries, rates, tracer, n))


def _outputs(
    function: str, entries: Entries, rates: Mapping[str, Sequence[Traced]], tracer: Tracer, n: int
) -> dict[str, list]:
    M = [[entries("M", min(i, j), max(i, j)) for j in range(1, n + 1)] for i in range(1, n + 1)]
    if function == "mass_matrix":
        return {"M": M}
    g = [entries("g", i) for i in range(1, n + 1)]
    if function == "gravity":
        return {"g": g}
    qd = rates["qd"]
    h = [g[i - 1] + _by_outer_speeds(entries, qd, i, n) for i in range(1, n + 1)]
    if function == "bias":
        return {"h": h}
    if function == "forward_dynamics":
        right = [t - x for t, x in zip(rates["tau"], h)]
        return {"qdd": solved(M, right, tracer.number(1))}
    inside = [[j for j in range(n) if i >= j or (i + 1, j + 1) not in entries.one_sided] for i in range(n)]
    return {"tau": [h[i] + _sum(M[i][j] * rates["qdd"][j] for j in inside[i]) for i in range(n)]}


class Entries:
    """A short model's entries as traced values, each formed when asked for."""

    def __init__(self, short: ShortModel, tracer: Tracer, q: Sequence[Traced]) -> None:
        self._short = short
        self.one_sided = {indices(name)[1] for name in short.one_sided}
        self._tracer = tracer
        self._q = q
        self._atoms: dict[Atom, Traced] = {}
        self._known: dict[str, Traced] = {}

    def __call__(self, letter: str, *of: int) -> Traced:
        name = entry_name(letter, *of)
        if name not in self._known:
            entry = self._short.compact.entries.get(name)
            if entry is None:
                self._known[name] = self._tracer.number(0)
            elif entry.alias is not None:
                factor, other = entry.alias
                self._known[name] = self._named(other) * factor
            else:
                self._known[name] = self._expression(entry.expression)
        return self._known[name]

    def _named(self, name: str) -> Traced:
        letter, of = indices(name)
        return self(letter, *of)

    def _expression(self, expression: Sum) -> Traced:
        """Constants folded: a product's number once, whatever it is made of."""
        total = self._tracer.number(0)
        still = Fraction(0)
        for term in expression.terms:
            number, factors = term.coefficient, []
            for factor in term.factors:
                if isinstance(factor, Sum):
                    factors.append(self._expression(factor))
                elif factor.angle:
                    factors.append(self._atom(factor))
                else:
                    number = number * self._short.numbers[factor.kind]
            if not factors:
                still += number
                continue
            value = factors[0]
            for factor in factors[1:]:
                value = value * factor
            total = total + value * number
        return total + still

    def _atom(self, atom: Atom) -> Traced:
        if atom not in self._atoms:
            if atom.kind == "q":
                ((joint, _),) = atom.angle
                self._atoms[atom] = self._q[joint - 1]
            else:
                angle = self._angle(atom.angle)
                s, c = self._tracer.sincos_of(angle)
                self._atoms[atom] = {"S": s, "C": c, "SS": s * s, "CC": c * c, "SC": s * c}[atom.kind]
        return self._atoms[atom]

    def _angle(self, combination: Sequence[tuple[int, int]]) -> Traced:
        return _sum(self._q[joint - 1] * times for joint, times in combination)


def _by_outer_speeds(entries: Entries, qd: Sequence[Traced], i: int, n: int) -> Traced:
    """The terms in the speeds: each speed times the sum of what it multiplies."""
    return _sum(
        qd[k - 1]
        * (entries("c", i, k) * qd[k - 1] + _sum(entries("b", i, j, k) * qd[j - 1] for j in range(1, k)))
        for k in range(1, n + 1)
    )


def _sum(values: Iterable[Traced]) -> Any:
    return sum(values, Fraction(0))
