"""Short programs on the command line: how one is printed and written."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.table import Table

from emdeg.approximation import ShortProgram, fewer_parameters, holding_error, multirate
from emdeg.approximation import split as split_program
from emdeg.cli.common import BEST_SO_FAR, end_if_missed, out, print_json, say, write_new
from emdeg.cli.effort import default_effort
from emdeg.codegen import CERTIFICATE, Artefact, make_short_program_artefact, write
from emdeg.programs import program as exact_program
from emdeg.robot import Robot, Workspace


def present(
    found: ShortProgram,
    flops: float,
    ratio: int,
    seed: int,
    motion: tuple[NDArray, NDArray, NDArray] | None,
    hold: int | None,
    processors: int | None,
    emit: Path | None,
    robot_file: Path | None,
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
    if emit is not None and (best_effort or not found.missed):
        data["emitted"] = emitted(found, emit, force)
    if robot_file is not None and interrupted:
        say(f"{robot_file} is not written: fewer parameters had not been looked for")
    elif robot_file is not None and (best_effort or not found.missed):
        data["short_robot"] = written_robot(found.robot, found.limits, found.where, robot_file, seed, force)
    if json:
        print_json(data)
    else:
        print_verdict(data)
        if parts := data.get("processors"):
            shares = " + ".join(map(str, parts["operations"]))
            out.print(f"{parts['processors']} processors: {shares} operations, {parts['values_passed']} values passed")
    files = emit is not None or robot_file is not None
    end_if_missed(found.missed, best_effort, files, BEST_SO_FAR if interrupted else "")


def written_robot(
    robot: Robot, limits: Sequence[float], where: Workspace, path: Path, seed: int, force: bool
) -> dict[str, Any]:
    """Writes the robot with fewer parameters whose efforts stay within the limits; what it costs and what is gone."""
    exact = exact_program(robot, "inverse_dynamics", otherwise=default_effort(), seed=seed)
    made = fewer_parameters(robot, limits, where, exact=exact, effort=default_effort(), seed=seed)
    write_new(path, made.toml(), force)
    say(f"wrote {path}: {made.operations} operations, {len(made.gone)} of {len(made.columns)} parameters left out")
    return {
        "file": str(path),
        "operations": made.operations,
        "left_out": list(made.gone),
        "parameters": len(made.columns),
        "certified_error": [e.bound / peak if peak else 0.0 for e, peak in zip(made.errors, made.largest)],
    }


def emitted(found: ShortProgram, path: Path, force: bool) -> dict[str, str]:
    """Writes the program's C with the certificate beside it, both or none; what was written."""
    made = make_short_program_artefact(found, file=path.name, command=this_command())
    return written_artefact(made, path, force, f"its error certified, see {path.name}{CERTIFICATE}")


def this_command() -> str:
    """The command as it was given."""
    return shlex.join(["emdeg", *sys.argv[1:]])


def written_artefact(made: Artefact, path: Path, force: bool, words: str) -> dict[str, str]:
    """Writes both files or none, and says so with these words; what was written."""
    write([made], path.parent, force)
    say(f"wrote {path}: {words}")
    return {"file": str(path), "certificate": f"{path}{CERTIFICATE}", "digest": made.certificate["digest"]}


def _cell(key: str, value: Any) -> str:
    """A cell of the table of errors; no ratio is told of errors that are what doubles round."""
    if value is None:
        return "exact up to rounding" if key == "ratio" else "-"
    return value if key == "joint" else f"{value:.4g}"


def print_verdict(data: dict[str, Any]) -> None:
    """What a short model costs, what the exact one does, how wrong it can be and over which box: before all else."""
    what = data.get("function", "inverse_dynamics").replace("_", " ")
    for name, c in (("short", data["operations"]), ("exact", data["exact_operations"])):
        total = c["mul"] + c["add"]
        line = f"{name} {what}: {c['mul']} x {c['add']} + = {total} operations, {c['sincos']} sine-cosine pairs"
        out.print(line, soft_wrap=True)
    if data.get("exact"):
        out.print(f"nothing is left out, it is the exact program: {data['why'] or 'its errors may be nothing'}")
    if data.get("ended_by_clock") and not data.get("interrupted"):
        out.print("the clock ended the search: with more --seconds, or on a faster machine, it may find a shorter one")
    worst = max(data["certified_error"], default=0.0)
    out.print(f"certified error: at most {100 * worst:.3g} % of the largest value over the box of states")
    rows = [row for row in data["errors"] if row["certified"]]
    if rows:
        heads = [key for key in rows[0] if any(row[key] is not None for row in rows)]
        errors = Table(*(key.replace("_", " ") for key in heads), title="How wrong it can be", title_justify="left")
        for row in rows:
            errors.add_row(*(_cell(key, row[key]) for key in heads))
        out.print(errors)
    box = Table("joint", *data["box"], title="The box of states", title_justify="left")
    for joint, *numbers in zip(data["joints"], *data["box"].values()):
        box.add_row(joint, *(f"{x:.4g}" for x in numbers))
    out.print(box)
