"""Programs of explicit models, exact or approximate: the model's entries, and the joint torques that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra import Generator, Product, Sum, TrigPoly
from emdeg.algebra.linear import solve_symmetric
from emdeg.equations import LumpedModel, entry_name, indices
from emdeg.errors import BadData
from emdeg.programs.explicit_sums import LINK_RATES, SharedSums, SumWriter, torques_by_speeds
from emdeg.programs.ir import Dependence, Program, count
from emdeg.programs.phases import Phase, folded, phases
from emdeg.programs.proof import verify
from emdeg.programs.search.optimise import tidied
from emdeg.programs.search.resubstitute import Resubstitution
from emdeg.programs.simplification import prune, retrace, schedule, simplify
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.weights import OPERATIONS, Effort, Weights, cost
from emdeg.robot import Robot

OF_CONFIGURATION = {"mass_matrix": "M", "gravity": "g"}
"""Functions of the configuration alone, with the letter of the entries that they consist of."""
RATES = {"inverse_dynamics": ("qd", "qdd"), "bias": ("qd",), "forward_dynamics": ("qd", "tau")}
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "gravity", "bias", "forward_dynamics")
LONG = 6000
"""Values of a trace above which factoring takes minutes; equal ones are still merged."""
EXTRACTING = 0.5
"""The fraction of the time for inverse dynamics that extraction has."""
FORMS = (("speeds", "torques"), LINK_RATES, ())
"""What is that of links instead of joints: the first is most often the shortest."""
FEW = 250
"""Operations above which phases, each of which is tried on the whole program, are not tried."""
LARGE = 120
"""Terms of a row above which extraction, whose work grows with their square, is not tried."""

Entry = Callable[..., Traced]
"""(letter, indices) -> an entry's value: M i j (i <= j), b i j k (j < k), c i j, g i."""


def explicit_program(
    model: LumpedModel,
    function: str = "inverse_dynamics",
    *,
    effort: Effort | None = None,
    seed: int = 0,
    weights: Weights = OPERATIONS,
) -> Program:
    """The function's program from the model's terms; in the time of `effort` one that costs less is searched for.

    Without an effort every form is tried and nothing is searched. The program is verified over a prime field against
    the entries as they are printed.
    """
    over = effort.until(0.8) if effort else lambda: False
    if function not in FUNCTIONS:
        raise ValueError(f"an explicit model has {', '.join(FUNCTIONS)}; not {function}")
    printed = _printed(model, function)
    candidates = [_tidied(printed)]
    if function == "inverse_dynamics":
        if not over():
            candidates.append(_tidied(torques_by_speeds(model)))
        candidates += _extracted(model, effort and effort.part(EXTRACTING), seed)
    elif function in OF_CONFIGURATION and count(candidates[0]).total <= FEW:
        phased, printed = _phased(model, function, candidates[0], weights)
        candidates = [phased]
    candidates.sort(key=lambda p: cost(p, weights))
    tried = [_searched(candidates[:2], effort.part(1.0), seed, weights)] if effort and not over() else []
    found = min((*tried, candidates[0]), key=lambda p: cost(p, weights))
    verify(found, printed)
    return found


def printed_program(model: LumpedModel, function: str = "inverse_dynamics") -> Program:
    """The function's program as the entries are printed, recurring values once: no other form is tried."""
    return _tidied(_printed(model, function))


def formulas_program(robot: Robot, entries: Mapping[str, TrigPoly], function: str = "inverse_dynamics") -> Program:
    """The function's program straight from the formulas of the entries: what other programs are verified against."""
    tracer = Tracer()
    q, rates = _inputs(robot, function, tracer)

    def value(generator: Generator) -> Traced:
        if not isinstance(generator.of, int):
            raise BadData(f"{generator} is no function of the joints")
        at = q[generator.of - 1]
        if generator.kind == "displacement":
            return at
        return tracer.sincos_of(at)[generator.kind == "cosine"]

    def entry(letter: str, *of: int) -> Traced:
        formula = entries.get(entry_name(letter, *of))
        return tracer.number(0) if formula is None else formula.map(value, tracer.number)

    return tracer.program(function, _outputs(function, robot.n, entry, rates, tracer))


def term_program(robot: Robot, terms: Sequence[Product], numbers: Mapping[str, Fraction]) -> Program:
    """q -> T: the value of every term of the reading form, its constants being `numbers`."""
    tracer = Tracer()
    q, _ = _inputs(robot, "terms", tracer)
    sums = SumWriter(tracer, q, numbers)
    return tracer.program("terms", {"T": [sums(Sum((term,))) for term in terms]})


def _inputs(robot: Robot, function: str, tracer: Tracer) -> tuple[list[Traced], dict[str, list[Traced]]]:
    labels = tuple(joint.name for joint in robot.joints)
    q = tracer.inputs("q", robot.n, Dependence.CONFIGURATION, labels)
    rates = {name: list(tracer.inputs(name, robot.n, Dependence.RATES)) for name in RATES.get(function, ())}
    return list(q), rates


def _outputs(
    function: str, n: int, entry: Entry, rates: Mapping[str, Sequence[Traced]], tracer: Tracer
) -> dict[str, list]:
    """The function by the equations of motion, M qdd + b [qd qd] + c [qd^2] + g = tau."""
    joints = range(1, n + 1)
    M = (
        [[entry("M", min(i, j), max(i, j)) for j in joints] for i in joints]
        if function not in ("gravity", "bias")
        else []
    )
    if function == "mass_matrix":
        return {"M": M}
    g = [entry("g", i) for i in joints]
    if function == "gravity":
        return {"g": g}
    qd = rates["qd"]

    def of_speeds(i: int, k: int) -> Any:
        inner = sum((entry("b", i, j, k) * qd[j - 1] for j in range(1, k)), Fraction(0))
        return qd[k - 1] * (entry("c", i, k) * qd[k - 1] + inner)

    h = [g[i - 1] + sum((of_speeds(i, k) for k in joints), Fraction(0)) for i in joints]
    if function == "bias":
        return {"h": h}
    if function == "forward_dynamics":
        return {"qdd": solve_symmetric(M, [t - x for t, x in zip(rates["tau"], h)], tracer.number(1))}
    return {"tau": [x + sum((m * a for m, a in zip(row, rates["qdd"])), Fraction(0)) for row, x in zip(M, h)]}


def _printed(model: LumpedModel, function: str, using: Sequence[Phase] = (), apart: bool = False) -> Program:
    """The function from the entries as they are printed, pairs of terms by phases."""
    tracer = Tracer()
    q, rates = _inputs(model.robot, function, tracer)
    sums = SumWriter(tracer, q, model.values, using, apart)
    known: dict[str, Traced] = {}

    def entry(letter: str, *of: int) -> Traced:
        name = entry_name(letter, *of)
        if name not in known:
            printed = model.compact.entries.get(name)
            if printed is None:
                known[name] = tracer.number(0)
            elif printed.alias is not None:
                factor, other = printed.alias
                letter, of = indices(other)
                known[name] = entry(letter, *of) * factor
            else:
                known[name] = sums(folded(printed.expression, using))
        return known[name]

    return tracer.program(function, _outputs(function, model.robot.n, entry, rates, tracer))


def _phased(model: LumpedModel, function: str, shortest: Program, weights: Weights) -> tuple[Program, Program]:
    """The program with the phases that shorten it, one after the other; and the reference to verify it against."""
    letter = OF_CONFIGURATION[function]
    entries = [
        entry.expression
        for name, entry in model.compact.entries.items()
        if entry.alias is None and indices(name)[0] == letter
    ]
    using: list[Phase] = []
    for phase in phases(entries, model.values, model.robot.n):
        tried = _tidied(_printed(model, function, [*using, phase]))
        if cost(tried, weights) < cost(shortest, weights):
            shortest = tried
            using.append(phase)
    return shortest, _printed(model, function, using, apart=True)


def _tidied(traced: Program) -> Program:
    return simplify(traced) if traced.size < LONG else schedule(prune(retrace(traced)))


def _extracted(model: LumpedModel, effort: Effort | None, seed: int) -> list[Program]:
    """Programs by extraction: a part of the time for each form of the sums, the rest for the shorter one."""
    if effort and effort.until(0.8)():
        return []
    forms = [SharedSums(model, FORMS[0])]
    if forms[0].longest > LARGE:
        return []
    if forms[0].before:  # else there are no parallel axes, and all forms are one
        forms += [SharedSums(model, links) for links in FORMS[1:]]
    if not effort:
        runs = [(form, form.extraction(seed, noise)) for form in forms for noise in (0.6, 0.0)]
        return [simplify(form.program(run)) for form, run in runs]
    found = [form.extraction(seed, stopped=effort.until(0.7)) for form in forms]
    for extraction in found:
        extraction.improve(effort.part(0.1).until(1.0))
    programs = [simplify(form.program(extraction)) for form, extraction in zip(forms, found)]
    best = min(range(len(forms)), key=lambda i: count(programs[i]).total)
    return [*programs, simplify(forms[best].program(found[best].improve(effort.until(1.0))))]


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
