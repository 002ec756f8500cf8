"""Short programs on the command line: which robots need them, how one is asked for, printed and written."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.table import Table

from emdeg.cli.common import UsageError, end_if_missed, out, print_json, say
from emdeg.cli.effort import default_effort, progress_line
from emdeg.codegen import CERTIFICATE, make_short_program_artefact, write
from emdeg.programs import Effort, Program, Weights, cost, count, label, plain_program
from emdeg.reduce import Abbreviated, ShortProgram, holding_error, multirate, rule_limits, shortest
from emdeg.reduce import split as split_program
from emdeg.robot import Robot, Workspace

LONG = 400
"""Operations of the plain inverse dynamics above which the explicit form, term by term, is no way to a short model."""


def is_long(robot: Robot) -> bool:
    """Whether the robot's explicit form is longer than its recursion could ever be."""
    return count(plain_program(robot, "inverse_dynamics")).total > LONG


def of_program(
    robot: Robot,
    function: str,
    worst_error: list[float] | None,
    absolute: bool,
    at_most: int | None,
    significance: float,
    where: Workspace,
    seed: int,
    weights: Weights,
    time: Effort,
) -> ShortProgram:
    """The short program that the options ask for; without a target the significance rule says how wrong it may be."""
    if worst_error is not None and at_most is not None:
        raise UsageError("--worst-error and --at-most are two ways to ask; give one of them")
    if worst_error is None and at_most is None:
        if function != "inverse_dynamics":
            raise UsageError(f"a short {function} needs --worst-error or --at-most")
        limits = rule_limits(robot, where, significance, seed)
        least = 1e-6 * max(*limits, 1e-12)
        worst_error, absolute = [max(limit, least) for limit in limits], True
    with progress_line(label(weights)) as progress:
        return shortest(
            robot,
            function,
            worst_error=worst_error,
            absolute=absolute,
            at_most=at_most,
            where=where,
            effort=default_effort(),
            seed=seed,
            weights=weights,
            progress=progress,
            time=time,
        )


def as_near(short: Abbreviated, program: Program, seed: int, weights: Weights, time: Effort) -> ShortProgram | None:
    """The shortest program found that is certified to be as near as the short model is; None if the model's is shorter.

    The rule says what may be left out, and so how wrong a program may be; which operations then go is searched for.
    """
    bounds = [e.bound for e in short.errors]
    least = max(1e-6 * max(bounds), 1e-9 * max(short.largest), 1e-12)
    found = shortest(
        short.short.full.robot,
        worst_error=[max(bound, least) for bound in bounds],
        absolute=True,
        where=short.where,
        effort=default_effort(),
        seed=seed,
        weights=weights,
        time=time,
    )
    return found if cost(found.program, weights) < cost(program, weights) else None


def present(
    found: ShortProgram,
    flops: float,
    ratio: int,
    motion: tuple[NDArray, NDArray, NDArray] | None,
    hold: int | None,
    processors: int | None,
    emit: Path | None,
    best_effort: bool,
    force: bool,
    json: bool,
    interrupted: bool,
) -> None:
    """Prints the short program's figures, writes its C where asked; exit code 1 where a target was missed."""
    data = found.data()
    if found.function == "inverse_dynamics":
        data["multirate"] = multirate(found.program, flops, ratio).data()
    if motion is not None and hold:
        data["holding"] = {"steps": hold, **holding_error(found.program, *motion, hold)}
    if processors:
        data["processors"] = split_program(found.program, processors).data()
    data["interrupted"] = interrupted
    if emit is not None and (best_effort or not (found.missed or interrupted)):
        data["emitted"] = emitted(found, emit, force)
    if json:
        print_json(data)
    else:
        print_verdict(data)
        if parts := data.get("processors"):
            shares = " + ".join(map(str, parts["operations"]))
            out.print(f"{parts['processors']} processors: {shares} operations, {parts['values_passed']} values passed")
    end_if_missed(found.missed, best_effort, emit is not None, interrupted)


def emitted(found: ShortProgram, path: Path, force: bool) -> dict[str, str]:
    """Writes the program's C with the certificate beside it, both or none; what was written."""
    command = shlex.join(["emdeg", *sys.argv[1:]])
    made = make_short_program_artefact(found, file=path.name, command=command)
    write([made], path.parent, force)
    say(f"wrote {path}: its error certified, see {path.name}{CERTIFICATE}")
    return {"file": str(path), "certificate": f"{path}{CERTIFICATE}", "digest": made.certificate["digest"]}


def print_verdict(data: dict[str, Any]) -> None:
    """What a short model costs, what the exact one does, how wrong it can be and over which box: before all else."""
    what = data.get("function", "inverse_dynamics").replace("_", " ")
    for name, c in (("short", data["operations"]), ("exact", data["exact_operations"])):
        total = c["mul"] + c["add"]
        line = f"{name} {what}: {c['mul']} x {c['add']} + = {total} operations, {c['sincos']} sine-cosine pairs"
        out.print(line, soft_wrap=True)
    worst = max(data["certified_error"], default=0.0)
    out.print(f"certified error: at most {100 * worst:.3g} % of the largest value over the box of states")
    rows = [row for row in data["errors"] if row["certified"]]
    if rows:
        heads = [key for key in rows[0] if any(row[key] is not None for row in rows)]
        errors = Table(*(key.replace("_", " ") for key in heads), title="How wrong it can be", title_justify="left")
        for row in rows:
            errors.add_row(*("-" if (x := row[key]) is None else x if key == "joint" else f"{x:.4g}" for key in heads))
        out.print(errors)
    box = Table("joint", *data["box"], title="The box of states", title_justify="left")
    for joint, *numbers in zip(data["joints"], *data["box"].values()):
        box.add_row(joint, *(f"{x:.4g}" for x in numbers))
    out.print(box)
