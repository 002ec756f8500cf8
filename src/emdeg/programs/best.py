"""The program to use: the best that is on file, or what some effort finds, or the plain one."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.functions import WITH_FRICTION, parts_of
from emdeg.programs.ir import Program
from emdeg.programs.store import kept, shipped
from emdeg.programs.weights import OPERATIONS, Effort, Progress, Weights, as_weights, cost, label
from emdeg.robot import Robot, RobotLike, as_robot


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
    otherwise: float | Effort = 0.0,
    began: float | None = None,
) -> Program:
    """The program of one function of `robot`, or of several in one ("A+B", their outputs side by side); SI units.

    `effort` None: the smallest on file (see `emdeg optimise`), else what a search of `otherwise` seconds finds, by
    default the plain program. `effort` 0: the plain one. `effort` > 0: what a search of so many seconds finds, unless a
    smaller one is on file. The robot's symbols become the input `parameters`, in alphabetical order. `base`: the
    regressor's columns of the base parameters only. `weights` say what is small: "operations", "cycles", or others.
    `began`: when a search's time did on the processor's clock [s], if that is not now.

    >>> import emdeg
    >>> emdeg.program("puma560", "inverse_dynamics")
    <Program inverse_dynamics: q, qd, qdd -> tau, 326 values>
    """
    robot, weights = as_robot(robot), as_weights(weights)
    names = parts_of(function)
    if any(name.endswith(WITH_FRICTION) for name in names):
        from emdeg.programs.friction import with_friction

        ways = {"effort": effort, "seed": seed, "weights": weights, "progress": progress}
        ways |= {"otherwise": otherwise, "began": began}
        found = with_friction(robot, names, lambda bare: program(robot, bare, **ways))
        return Program(name or found.name, found.inputs, found.ops, found.outputs)
    if effort is None and not base:
        found = _ready(robot, names, weights)
        if found is not None:
            return Program(name or "_".join(names), found.inputs, found.ops, found.outputs)
    # What traces, searches and proves is a third of what starting `emdeg count` would import; a program that comes with
    # the package needs none of it.
    from emdeg.programs.search.optimise import cheapest

    return cheapest(
        robot,
        function,
        effort=effort,
        seed=seed,
        base=base,
        name=name,
        weights=weights,
        progress=progress,
        otherwise=otherwise,
        began=began,
    )


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
