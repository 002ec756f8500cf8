"""Programs of a short model: its entries as printed, and the efforts from them, each the shortest of several ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra import Atom, Product, Sum, add_angles
from emdeg.algebra.linear import solve_symmetric
from emdeg.approximation.efforts import OF_LINKS, traces
from emdeg.approximation.phases import Phase, folded, phases
from emdeg.approximation.shared import SharedEfforts
from emdeg.approximation.short_model import ShortModel
from emdeg.equations import entry_name, indices
from emdeg.programs import (
    OPERATIONS,
    Dependence,
    Effort,
    Program,
    Traced,
    Tracer,
    Weights,
    cost,
    count,
    prune,
    retrace,
    schedule,
    simplify,
    verify,
)
from emdeg.programs.search import Resubstitution, tidied
from emdeg.robot import Robot

OF_CONFIGURATION = {"mass_matrix": "M", "gravity": "g"}
"""Functions of the configuration alone, with the letter of the entries that they consist of."""
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "gravity", "bias", "forward_dynamics")


def program(
    short: ShortModel,
    function: str = "inverse_dynamics",
    *,
    effort: Effort | None = None,
    seed: int = 0,
    weights: Weights = OPERATIONS,
) -> Program:
    """The function's program of a short model; in the time of `effort` one that costs less is looked for.

    Without an effort every way of writing it is tried, and nothing is searched. It is checked over a prime field
    against the entries as they are printed.
    """
    over = effort.until(0.8) if effort else lambda: False
    if function not in FUNCTIONS:
        raise ValueError(f"a short model has {', '.join(FUNCTIONS)}; not {function}")
    printed = _printed(short, function)
    candidates = [_tidied(printed)]
    if function == "inverse_dynamics":
        for traced in traces(short):
            if over():
                break
            candidates.append(_tidied(traced))
        candidates += _extracted(short, effort and effort.part(EXTRACTING), seed)
    elif function in OF_CONFIGURATION and count(candidates[0]).total <= FEW:
        phased, printed = _phased(short, function, candidates[0], weights)
        candidates = [phased]
    candidates.sort(key=lambda p: cost(p, weights))
    tried = [_searched(candidates[:2], effort.part(1.0), seed, weights)] if effort and not over() else []
    found = min((*tried, candidates[0]), key=lambda p: cost(p, weights))
    verify(found, printed)
    return found


def printed_program(short: ShortModel, function: str = "inverse_dynamics") -> Program:
    """The function's program as the entries are printed, what recurs once: no other way is tried."""
    return _tidied(_printed(short, function))


def _phased(short: ShortModel, function: str, shortest: Program, weights: Weights) -> tuple[Program, Program]:
    """The program with the phases that shorten it, one after the other; and what it can be proved against."""
    letter = OF_CONFIGURATION[function]
    entries = [
        entry.expression
        for name, entry in short.compact.entries.items()
        if entry.alias is None and indices(name)[0] == letter
    ]
    using: list[Phase] = []
    for phase in phases(entries, short.numbers, short.full.robot.n):
        tried = _tidied(_printed(short, function, [*using, phase]))
        if cost(tried, weights) < cost(shortest, weights):
            shortest = tried
            using.append(phase)
    return shortest, _printed(short, function, using, apart=True)


def _tidied(traced: Program) -> Program:
    return simplify(traced) if traced.size < LONG else schedule(prune(retrace(traced)))


LONG = 6000
"""Values of a trace above which factoring takes minutes; equal ones are still merged."""
EXTRACTING = 0.5
"""The share of extraction in the time for inverse dynamics."""
WAYS = (("speeds", "efforts"), OF_LINKS, ())
"""What of the links' is used instead of the joints': the first is most often the shortest."""
FEW = 250
"""Operations above which phases, each of which is tried on the whole program, are not."""
LARGE = 120
"""Terms of a row above which extraction, whose work grows with their square, is not tried."""


def _extracted(short: ShortModel, effort: Effort | None, seed: int) -> list[Program]:
    """Programs by extraction: a part of the time for each way of writing the sums, the rest for the shorter one."""
    if effort and effort.until(0.8)():
        return []
    ways = [SharedEfforts(short, WAYS[0])]
    if ways[0].longest > LARGE:
        return []
    if ways[0].before:  # else there are no parallel axes, and all ways are one
        ways += [SharedEfforts(short, links) for links in WAYS[1:]]
    if not effort:
        found = [way.extraction(seed) for way in ways]
    else:
        found = [way.extraction(seed, stopped=effort.until(0.7)) for way in ways]
        for extraction in found:
            extraction.improve(effort.part(0.1).until(1.0))
    programs = [simplify(way.program(extraction)) for way, extraction in zip(ways, found)]
    if effort:
        best = min(range(len(ways)), key=lambda i: count(programs[i]).total)
        programs.append(simplify(ways[best].program(found[best].improve(effort.until(1.0)))))
    return programs


def _searched(starts: Sequence[Program], effort: Effort, seed: int, weights: Weights) -> Program:
    """A fifth of the time for each start, the rest for the one that came furthest; less once nothing more comes."""
    searches = [Resubstitution(p, seed, weights) for p in starts]

    def run(search: Resubstitution, share: float) -> None:
        over = effort.until(share)
        search.run(lambda: over() or search.settled)

    for place, search in enumerate(searches):
        run(search, 0.2 * (place + 1))
    best = min(searches, key=lambda search: search.best)
    run(best, 1.0)
    return tidied(best.result())


def _printed(short: ShortModel, function: str, using: Sequence[Phase] = (), apart: bool = False) -> Program:
    """The function from the entries as they are printed, pairs of terms by phases."""
    tracer = Tracer()
    n = short.full.robot.n
    labels = tuple(joint.name for joint in short.full.robot.joints)
    q = tracer.inputs("q", n, Dependence.CONFIGURATION, labels)
    entries = Entries(short, tracer, q, using, apart)
    wanted = {"inverse_dynamics": ("qd", "qdd"), "bias": ("qd",), "forward_dynamics": ("qd", "tau")}
    rates = {name: tracer.inputs(name, n, Dependence.RATES) for name in wanted.get(function, ())}
    return tracer.program(function, _outputs(function, entries, rates, tracer, n))


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
        return {"qdd": solve_symmetric(M, right, tracer.number(1))}
    inside = [[j for j in range(n) if i >= j or (i + 1, j + 1) not in entries.one_sided] for i in range(n)]
    return {"tau": [h[i] + _sum(M[i][j] * rates["qdd"][j] for j in inside[i]) for i in range(n)]}


def term_program(robot: Robot, terms: Sequence[Product], numbers: Mapping[str, Fraction]) -> Program:
    """q -> T: the value of every term of the reading form, its constants being `numbers`."""
    tracer = Tracer()
    labels = tuple(joint.name for joint in robot.joints)
    q = tracer.inputs("q", robot.n, Dependence.CONFIGURATION, labels)
    sums = ReadingSums(tracer, q, numbers)
    return tracer.program("terms", {"T": [sums(Sum((term,))) for term in terms]})


class ReadingSums:
    """Sums of the reading form as traced values, their constants being `numbers`.

    With `using` pairs of terms become one by a phase; `apart`, they are two terms with constants r cos p and r sin p,
    for programs to be proved against.
    """

    def __init__(
        self,
        tracer: Tracer,
        q: Sequence[Traced],
        numbers: Mapping[str, Fraction],
        using: Sequence[Phase] = (),
        apart: bool = False,
    ) -> None:
        self._using = {phase.joint: phase for phase in using}
        self._numbers = dict(numbers) | {phase.name: phase.norm for phase in using}
        self._apart = apart
        self._tracer = tracer
        self._q = q
        self._atoms: dict[Atom, Traced] = {}

    def __call__(self, expression: Sum) -> Traced:
        """Constants folded: a product's number once, whatever it is made of."""
        total = self._tracer.number(0)
        still = Fraction(0)
        for term in expression.terms:
            number, factors = term.coefficient, []
            for factor in term.factors:
                if isinstance(factor, Sum):
                    factors.append(self(factor))
                elif factor.angle:
                    factors.append(self._atom(factor))
                else:
                    number = number * self._numbers[factor.kind]
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
                s, c = self._sincos(atom.angle)
                self._atoms[atom] = {"S": s, "C": c, "SS": s * s, "CC": c * c, "SC": s * c}[atom.kind]
        return self._atoms[atom]

    def _sincos(self, combination: Sequence[tuple[int, int]]) -> tuple[Traced, Traced]:
        angle = _sum(self._q[joint - 1] * times for joint, times in combination if joint not in self._using)
        (turned,) = [self._using[joint].angle for joint, _ in combination if joint in self._using] or (None,)
        if turned is None:
            return self._tracer.sincos_of(angle)
        if self._apart:
            return add_angles(self._tracer.sincos_of(angle), self._tracer.sincos(turned))
        return self._tracer.sincos_of(angle + self._tracer.angle(turned))


class Entries:
    """A short model's entries as traced values, each formed when asked for; `using` and `apart` as `ReadingSums`."""

    def __init__(
        self, short: ShortModel, tracer: Tracer, q: Sequence[Traced], using: Sequence[Phase] = (), apart: bool = False
    ) -> None:
        self._short = short
        self._using = list(using)
        self._sums = ReadingSums(tracer, q, short.numbers, using, apart)
        self.one_sided = {indices(name)[1] for name in short.one_sided}
        self._tracer = tracer
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
                self._known[name] = self._sums(folded(entry.expression, self._using))
        return self._known[name]

    def _named(self, name: str) -> Traced:
        letter, of = indices(name)
        return self(letter, *of)


def _by_outer_speeds(entries: Entries, qd: Sequence[Traced], i: int, n: int) -> Traced:
    """The terms in the speeds: each speed times the sum of what it multiplies."""
    return _sum(
        qd[k - 1] * (entries("c", i, k) * qd[k - 1] + _sum(entries("b", i, j, k) * qd[j - 1] for j in range(1, k)))
        for k in range(1, n + 1)
    )


def _sum(values: Iterable[Traced]) -> Any:
    return sum(values, Fraction(0))
