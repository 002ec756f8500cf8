"""The options of commands that work with a program: how much effort to spend on making it small."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from emdeg.cli.common import BEGAN, UsageError
from emdeg.cli.progress import StopRequest, stoppable, working
from emdeg.programs import WEIGHTS, Program, Progress, Weights, parsed
from emdeg.programs import Effort as ProgramEffort
from emdeg.programs import program as best_program
from emdeg.robot import Robot

DEFAULT_EFFORT = 5.0
"""Seconds; the environment variable EMDEG_EFFORT sets another."""

Effort = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help=f"How long to search for a smaller program; 0 takes the plain one. Default: what is on file, else "
        f"{DEFAULT_EFFORT:g} s.",
    ),
]
WeightsText = Annotated[
    str,
    typer.Option(
        "--weights",
        metavar="WEIGHTS",
        help="What to make small: operations, cycles (estimated), gpu (issue slots, registers), or "
        "mul=1,add=1,div=6,sqrt=8,sincos=18,fused=1.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The search is the same for the same seed.")]


def default_effort() -> float:
    """What is spent on a program that is not on file."""
    text = os.environ.get("EMDEG_EFFORT", "")
    try:
        return checked_effort(float(text)) or 0.0 if text else DEFAULT_EFFORT
    except ValueError:
        raise UsageError(f"EMDEG_EFFORT is not a number of seconds: {text!r}") from None


LATE = 1e12
"""Later than any end that a budget has [s]."""


@contextmanager
def promised(seconds: float) -> Iterator[tuple[ProgramEffort, StopRequest]]:
    """The budget of a command that promised to take so many seconds of processor time, its start included.

    Once it is stopped its time is over: what looks at it ends with what it has.
    """
    with stoppable() as stop:
        yield ProgramEffort(seconds, lambda: LATE if stop.asked else time.process_time(), BEGAN.get()), stop


def checked_effort(effort: float | None) -> float | None:
    if effort is not None and not 0 <= effort <= 86_400:
        raise UsageError(f"--effort must lie between 0 and 86400 seconds; got {effort}")
    return effort


def chosen_weights(text: str) -> Weights:
    """What --weights says; UsageError where it says nothing that is known."""
    try:
        return parsed(text)
    except ValueError as problem:
        raise UsageError(f"--weights: {problem}") from None


def checked_weights(text: str) -> str:
    """The same text, where it says something that is known."""
    chosen_weights(text)
    return text


def smallest(
    robot: Robot,
    function: str,
    effort: float | None,
    seed: int,
    base: bool = False,
    weights: str = "operations",
) -> Program:
    """The program a command works with: on file, or found with the given or the default effort."""
    with progress_line(weights) as progress:
        return best_program(
            robot,
            function,
            effort=checked_effort(effort),
            seed=seed,
            base=base,
            weights=checked_weights(weights),
            progress=progress,
            otherwise=default_effort() if effort is None else 0.0,
            began=BEGAN.get(),
        )


@contextmanager
def progress_line(weights: str = "operations") -> Iterator[Progress]:
    """The best cost so far, on one line of a terminal; silent elsewhere."""
    unit = weights if weights in WEIGHTS else "weighted operations"
    with working("searching") as tell:
        yield lambda phase, best: tell(f"{phase}, {best:g} {unit}")
