"""What a program is chosen from where none that comes with the package will do: filed, found by a search, plain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from emdeg.algebra import PrimeField
from emdeg.programs.build import joined_functions
from emdeg.programs.build import program as plain_program
from emdeg.programs.ir import Kind, Program
from emdeg.programs.search.optimise import optimise
from emdeg.programs.store import kept, shipped
from emdeg.programs.values import evaluate_residues
from emdeg.programs.weights import OPERATIONS, Progress, Weights, cost, label
from emdeg.robot.model import Robot


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
    otherwise: float,
) -> Program:
    """The cheapest of the plain program, the one on file and the one that a search finds; see `emdeg.program`."""
    names = joined_functions(function, robot, base)
    plain = plain_program(robot, names, base=base, name=name or "_".join(names))
    if effort == 0 or base:
        return plain
    candidates = [plain]
    filed = on_file(robot, plain, names, weights)
    if filed is not None:
        candidates.append(filed)
    elif effort is None:
        effort = otherwise
    if effort:
        found = optimise(robot, names, effort, seed=seed, weights=weights, progress=progress).program
        candidates.append(_with_face(found, plain))
    return min(candidates, key=lambda candidate: cost(candidate, weights))


def on_file(
    robot: Robot,
    plain: Program,
    names: Sequence[str],
    weights: Weights = OPERATIONS,
    folder: Path | None = None,
) -> Program | None:
    """The cheapest program on file (or in `folder`) that computes what `plain` does; None if there is none."""
    labels = dict.fromkeys([label(weights), label(OPERATIONS)])
    filed = [kept(robot, names, each, folder) for each in labels]
    if folder is None:
        filed += [shipped(robot, names, each) for each in labels]
    for one in sorted((one for one in filed if one is not None), key=lambda candidate: cost(candidate, weights)):
        if _same_interface(one, plain) and _same_function(one, plain):
            return _with_face(one, plain)
    return None


def _with_face(found: Program, plain: Program) -> Program:
    """The program under the plain one's name, with its inputs and their labels."""
    return Program(plain.name, plain.inputs, found.ops, found.outputs)


def _same_function(one: Program, other: Program, points: int = 3) -> bool:
    """Whether the two agree at random points modulo 2^61 - 1: a file may have been tampered with.

    Where a divisor is zero or a radicand has no root, another point is drawn.
    """
    roots = sum(op.kind is Kind.SQRT for op in other.ops)
    found = 0
    for seed in range(20 * points << min(roots, 12)):
        field = PrimeField(seed)
        try:
            expected = evaluate_residues(other, field)
            if evaluate_residues(one, field) != expected:
                return False
        except ZeroDivisionError:
            continue
        except ValueError:
            return False
        found += 1
        if found == points:
            return True
    return False


def _same_interface(one: Program, other: Program) -> bool:
    def face(p: Program) -> tuple[object, object]:
        return [(g.name, g.size) for g in p.inputs], [(g.name, g.shape) for g in p.outputs]

    return face(one) == face(other)
