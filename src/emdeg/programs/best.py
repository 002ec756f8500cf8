"""The program to use: the best that is on file, or what some effort finds, or the plain one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from emdeg.algebra import PrimeField
from emdeg.programs.build import program as plain_program
from emdeg.programs.ir import Kind, Program
from emdeg.programs.joined import joined_functions
from emdeg.programs.store import kept, shipped
from emdeg.programs.values import evaluate_residues
from emdeg.programs.weights import OPERATIONS, Progress, Weights, as_weights, cost, label
from emdeg.robot.load import RobotLike, as_robot
from emdeg.robot.model import Robot


def program(
    robot: RobotLike,
    function: str | Sequence[str],
    *,
    effort: float | None = None,
    seed: int = 0,
    base: bool = False,
    name: str | None = None,
    weights: Weights | str = OPERATIONS,
    progress: Progress | None = None,
    otherwise: float = 0.0,
) -> Program:
    """The program of one function of `robot`, or of several in one ("A+B", their outputs side by side); SI units.

    `effort` None: the smallest on file (see `emdeg optimise`), else what a search of `otherwise` seconds finds, by
    default the plain program. `effort` 0: the plain one. `effort` > 0: what a search of so many seconds finds, unless a
    smaller one is on file. The robot's symbols become the input `parameters`, in alphabetical order. `base`: the
    regressor's columns of the base parameters only. `weights` say what is small: "operations", "cycles", or others.

    >>> import emdeg
    >>> emdeg.program("puma560", "inverse_dynamics")
    <Program inverse_dynamics: q, qd, qdd -> tau, 334 values>
    """
    robot, weights = as_robot(robot), as_weights(weights)
    names = joined_functions(function, robot, base)
    if effort is None and not base:
        found = _ready(robot, names, weights)
        if found is not None:
            return Program(name or "_".join(names), found.inputs, found.ops, found.outputs)
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
        # The search is a fifth of what `emdeg count` would import, for a program that is on file.
        from emdeg.programs.search.optimise import optimise

        found = optimise(robot, names, effort, seed=seed, weights=weights, progress=progress).program
        candidates.append(_with_face(found, plain))
    return min(candidates, key=lambda candidate: cost(candidate, weights))


def _ready(robot: Robot, names: Sequence[str], weights: Weights) -> Program | None:
    """The package's program for these very weights, if no cheaper one was filed by the user: it needs no proof.

    Who could change it could change the proof as well; and the tests prove that it is right and smaller than the plain
    one, which therefore is not even traced.
    """
    best = shipped(robot, names, label(weights))
    if best is None:
        return None
    own = kept(robot, names, label(weights))
    return best if own is None or cost(best, weights) <= cost(own, weights) else None


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
