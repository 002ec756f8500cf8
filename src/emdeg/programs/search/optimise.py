"""The smallest program that can be found in a given time: formulations first, then their algebra.

Nothing unproved comes out: whatever the search ends with is verified against an independent formulation, and the
plain program stands in where it is not better or the proof fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from emdeg.documents import Shown
from emdeg.dynamics.functions import CATALOGUE, WITH_FRICTION, ways_of
from emdeg.errors import Refuted, RobotError
from emdeg.programs.build import derivative_program, joined_functions, plain_program, plain_programs
from emdeg.programs.differentiation import derivative_of_solution
from emdeg.programs.friction import with_friction
from emdeg.programs.ir import Count, Program, count
from emdeg.programs.proof import PLAIN, Certificate
from emdeg.programs.rounding import check_rounding, states_of
from emdeg.programs.search.formulation import Descent, Formulation, has_formulations
from emdeg.programs.search.on_file import on_file, with_face
from emdeg.programs.search.resubstitute import Resubstitution
from emdeg.programs.simplification import fold_signs, prune, retrace, schedule, simplify
from emdeg.programs.store import Filed, filed, keep, shipped
from emdeg.programs.units import in_units
from emdeg.programs.verification import MOST_JOINTS, probed, reference_program, verify_program
from emdeg.programs.weights import OPERATIONS, Effort, Progress, Weights, as_weights, cost, label
from emdeg.robot import Robot, RobotLike, as_robot

FORMULATIONS = 0.3
"""The share of the effort that goes into formulations."""
CONTENDERS = 4
"""How many formulations are carried into the algebra."""
LARGE = 6000
"""Programs of more operations are not resubstituted: the tables would not fit."""
MOST_SWEPT = 40_000
"""Operations times inputs of programs that are differentiated although what comes of them is large."""

CHECKS, MARGIN = 3, 4
"""How often what was found is run at states before it is handed out, and by how much its errors stay below the most."""

Way = tuple[Program, Formulation | None]
"""A program, and the formulation that it comes from."""
Contender = tuple[float, Program, Formulation | None]
"""What a program costs, the program, and the formulation that it comes from."""


@dataclass(frozen=True, slots=True)
class Optimised(Shown):
    """A verified program, how it was found and what proves it."""

    program: Program
    certificate: Certificate
    formulation: Formulation | None
    seed: int
    seconds: float
    interrupted: bool = False

    @property
    def count(self) -> Count:
        return count(self.program)


def optimise(
    robot: RobotLike,
    function: str | Sequence[str],
    effort: float | Effort = 5.0,
    *,
    seed: int = 0,
    weights: Weights | str = OPERATIONS,
    progress: Progress | None = None,
    began: float | None = None,
) -> Optimised:
    """The cheapest verified program of a function (or of several, "A+B") found in `effort` seconds; 0: the plain one.

    The seconds are nominal (`Effort`): the same effort and seed give the same program on any machine that is fast
    enough for them; one that is slower stops when they have passed on its processor, since `began` [s] if given, or
    when the time of a larger `Effort` has, of which this is a part. A keyboard interrupt ends the search early with the
    best so far.

    >>> import emdeg
    >>> found = emdeg.optimise("planar2r", "mass_matrix", effort=0.5)
    >>> found.count.total, found.certificate.false_pass_probability < 1e-15
    (3, True)
    """
    robot, weights = as_robot(robot), as_weights(weights)
    tell = progress or (lambda phase, best: None)
    clock = effort if isinstance(effort, Effort) else Effort(effort, start=began)
    names = joined_functions(function, robot)
    starts = plain_programs(robot, names)
    plain = min(starts, key=lambda one: count(one).total)
    starts += _from_what_is_differentiated(robot, plain, names, weights, _shipped)
    way: list[Way] = []
    interrupted = False
    tell("plain", cost(plain, weights))
    if clock.seconds > 0 and robot.n <= MOST_JOINTS:
        way, interrupted = _search(robot, names, clock, seed, weights, starts, plain, tell)
    best, found, certificate = plain, None, None
    for candidate, formulation in _going_back(way):
        with suppress(Refuted):
            certificate = _vouched(candidate, robot, names, seed)
            best, found = candidate, formulation
            break
    if certificate is None:
        certificate = verify_program(plain, robot, names, seed=seed)
    tell("verified", cost(best, weights))
    return Optimised(best, certificate, found, seed, clock.elapsed, interrupted)


def _going_back(way: Sequence[Way]) -> Iterator[Way]:
    """The last, and then from further and further back: what is wrong with the last may have come long before."""
    back = 1
    while back <= len(way):
        yield way[-back]
        back *= 2


def _vouched(program: Program, robot: Robot, names: Sequence[str], seed: int) -> Certificate:
    """What proves a program; Refuted where it is not the function, or rounds too much to be handed out.

    A search counts operations, and some of what it finds is a difference of numbers that all but cancel. Whoever
    checks the program again does so at other states, so it must be well within what may be at several times as many.
    """
    certificate = verify_program(program, robot, names, seed=seed)
    looked, reference = probed(program, names), reference_program(robot, names)
    named = [index for index, whose in certificate.divides_by if whose == PLAIN]
    for once in range(CHECKS):
        states = states_of(looked, robot, seed + once, length=reference.size)
        rounding = check_rounding(looked, reference, states, named=named)
        if rounding.largest > rounding.allowed / MARGIN:
            raise Refuted(f"{program.name}: rounding errors are {rounding.largest:.2g} times what may add up")
    return certificate


def _search(
    robot: Robot,
    names: Sequence[str],
    clock: Effort,
    seed: int,
    weights: Weights,
    starts: Sequence[Program],
    plain: Program,
    tell: Progress,
) -> tuple[list[Way], bool]:
    """Programs cheaper than the unoptimized one, the last the cheapest, and whether an interrupt ended the search."""
    way: list[Way] = []
    low = cost(plain, weights)

    rescue: Callable[[], Way] | None = None
    """The best of the stage under way, which an interrupt must not lose."""

    def better(candidate: Program, formulation: Formulation | None) -> None:
        nonlocal low
        candidate = tidied(candidate, weights)
        value = cost(candidate, weights)
        if value < low:
            way.append((candidate, formulation))
            low = value

    def keep(candidate: Program, formulation: Formulation | None, phase: str) -> None:
        better(candidate, formulation)
        tell(phase, low)

    try:
        contenders: list[Contender] = [(cost(one, weights), one, None) for one in starts]
        if has_formulations(robot, names):
            descent = Descent(
                robot, names, seed, weights, clock.spend, tell=lambda raw: tell("formulation", min(low, raw))
            )
            rescue = partial(_running, descent, way[-1] if way else (plain, None))
            for end in descent.run(clock.until(FORMULATIONS)):
                if all(end.formulation != other for _, _, other in contenders):
                    contenders.append((end.cost, end.program, end.formulation))
                keep(end.program, end.formulation, "formulation")
        contenders = _shortlist(contenders)
        # A trial for each, then the rest of the time for the one that came furthest.
        trial = (1 - FORMULATIONS) * 0.5 / len(contenders)
        searches = []
        for turn, (_, start, formulation) in enumerate(contenders):
            if start.size > LARGE:
                continue
            search = Resubstitution(in_units(start), seed + turn, weights, clock.spend)
            rescue = partial(_rescued, search, formulation)
            search.run(clock.until(FORMULATIONS + trial * (turn + 1)))
            keep(search.result(), formulation, "resubstitution")
            searches.append((search.best, turn, search, formulation))
        searches.sort(key=lambda item: item[:2])
        for _, _, search, formulation in searches[:1]:
            rescue = partial(_rescued, search, formulation)
            done = clock.until(1.0)
            while not done():
                before = search.best
                search.sweep(done)
                if search.best < before:
                    keep(search.result(), formulation, "resubstitution")
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):  # a second interrupt returns what had been kept before
            if rescue is not None:
                better(*rescue())
        return way, True
    return way, False


def _running(descent: Descent, otherwise: Way) -> Way:
    """The cheapest formulation of a descent that was interrupted."""
    return otherwise if descent.here is None else (descent.finished(descent.here).program, descent.here)


def _rescued(search: Resubstitution, formulation: Formulation | None) -> Way:
    return search.rescued(), formulation


def _shortlist(
    contenders: list[Contender],
) -> list[Contender]:
    """The cheapest few, and the cheapest of every method: where algebra will win most cannot be told beforehand."""
    ranked = sorted(contenders, key=lambda item: item[0])
    chosen = ranked[:2]
    methods = {item[2].method for item in chosen if item[2] is not None}
    for item in ranked[2:]:
        if item[2] is not None and item[2].method not in methods:
            methods.add(item[2].method)
            chosen.append(item)
    for item in ranked[2:]:
        if len(chosen) >= CONTENDERS:
            break
        if item not in chosen:
            chosen.append(item)
    return chosen[:CONTENDERS]


def tidied(found: Program, weights: Weights = OPERATIONS) -> Program:
    """The program in other units and factored if that helps, ready to be emitted."""
    found = in_units(retrace(found))
    factored = simplify(found)
    plain = schedule(fold_signs(prune(found)))
    return factored if cost(factored, weights) < cost(plain, weights) else plain


def cheapest(
    robot: Robot,
    function: str | Sequence[str],
    *,
    effort: float | None,
    seed: int,
    base: bool,
    name: str | None,
    weights: Weights,
    progress: Progress | None,
    otherwise: float | Effort,
    began: float | None = None,
) -> Program:
    """The cheapest of the plain program, the one on file and the one that a search finds; see `emdeg.program`."""
    names = joined_functions(function, robot, base)
    plain = plain_program(robot, names, base=base, name=name or "_".join(names))
    if effort == 0 or base:
        return plain
    candidates = [plain]
    known = on_file(robot, plain, names, weights)
    if known is not None:
        candidates.append(known)
    candidates += _from_what_is_differentiated(robot, plain, names, weights, _on_file_or_rubbing)
    spare = otherwise if isinstance(otherwise, Effort) else Effort.unhurried(otherwise)
    hasty = _found_in_less(robot, names, weights, spare.seconds) if effort is None else None
    unasked = effort is None and (known is None or hasty is not None)
    if unasked:
        effort = spare.seconds
    if effort and robot.n <= MOST_JOINTS:
        found = optimise(
            robot, names, spare if unasked else effort, seed=seed, weights=weights, progress=progress, began=began
        )
        if found.interrupted:  # whoever wanted what a whole search finds is not served with less
            raise KeyboardInterrupt
        candidates.append(with_face(found.program, plain))
        if unasked:  # nobody asked for the search, so nobody shall wait for it twice
            data: dict[str, object] = {
                "operations": found.count.as_dict(),
                "seed": seed,
                "certificate": found.certificate.as_dict(),
            }
            better = found.program
            if hasty is not None and cost(hasty.program, weights) <= cost(better, weights):
                better, data = hasty.program, dict(hasty.found)
            with suppress(RobotError):  # a folder that cannot be written
                keep(better, robot, names, found={**data, "effort": effort}, weights=label(weights))
    return min(candidates, key=lambda candidate: cost(candidate, weights))


def _found_in_less(robot: Robot, names: Sequence[str], weights: Weights, seconds: float) -> Filed | None:
    """The user's program on file if a search of fewer seconds found it, and the package has none; else None.

    What a search in a hurry has filed must not stand for what a whole one finds.
    """
    own = filed(robot, names, label(weights))
    if own is None or own.effort >= seconds or shipped(robot, names, label(weights)) is not None:
        return None
    return own


def _from_what_is_differentiated(
    robot: Robot,
    plain: Program,
    names: Sequence[str],
    weights: Weights,
    known: Callable[[Robot, str, Weights], Program | None],
) -> list[Program]:
    """The derivative of a function from the cheapest program of the function that is known, if there is one.

    Where the function is the solution of an equation, rather from the cheapest programs of what that is made of.
    """
    how = CATALOGUE[names[0]].derivation
    if len(names) > 1 or how is None:
        return []
    ways: list[tuple[Callable[..., Program], list[str]]] = [(partial(derivative_program, robot), [how.of.name])]
    if solved := ways_of(how.of.name, robot).solves:
        ways.insert(0, (derivative_of_solution, list(solved)))
    for derivative, of in ways:
        short = [one for name in of if (one := known(robot, name, weights)) is not None]
        swept = sum(one.size * sum(group.size for group in one.inputs) for one in short)
        if len(short) == len(of) and (plain.size <= LARGE or swept <= MOST_SWEPT):
            found = derivative(how, plain, *short)
            short_form = tidied(found, weights) if plain.size <= LARGE else schedule(fold_signs(prune(retrace(found))))
            return [with_face(short_form, plain)]
    return []


def _shipped(robot: Robot, name: str, weights: Weights) -> Program | None:
    """The package's program of a function: the same on every machine, unlike what users have filed."""
    return shipped(robot, [name], label(weights)) or shipped(robot, [name], label(OPERATIONS))


def _on_file_or_rubbing(robot: Robot, name: str, weights: Weights) -> Program | None:
    """The cheapest program of a function on file; friction is added to that of the function without it."""
    if name.endswith(WITH_FRICTION):

        def smallest(names: Sequence[str]) -> Program:
            plain = plain_program(robot, names)
            return on_file(robot, plain, names, weights) or plain

        return with_friction(robot, [name], smallest)
    return on_file(robot, plain_program(robot, name), [name], weights)
