"""`emdeg kane`: Kane's equations with generalized speeds of one's choice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from rich.table import Table

from emdeg.cli.common import INTERRUPTED, Json, UsageError, out, print_json, refuse, say
from emdeg.cli.progress import stoppable, working
from emdeg.cli.robots import Chosen
from emdeg.codegen import identifier
from emdeg.codegen.c import COptions, emit_c
from emdeg.documents import WRITERS
from emdeg.dynamics.kane import Setup, load_setup
from emdeg.equations.speeds import SpeedInverse, speed_inverse
from emdeg.programs import count
from emdeg.programs.kane import FORMULATION, INPUTS, Candidate, Function, choose, kane_program, verify_kane
from emdeg.reports import PARTS, Part, describe, kane_data, kane_document
from emdeg.robot import Robot

PROBLEMS: tuple[Function, ...] = ("torques", "accelerations", "equations", "rates")


def kane(
    robot: Chosen,
    speeds: Annotated[
        str, typer.Option(metavar="FILE|auto", help="A file of generalized speeds, or: try the natural ones.")
    ] = "auto",
    show: Annotated[
        str, typer.Option(metavar="PARTS", help="Print " + ", ".join(PARTS) + " (comma-separated), or all.")
    ] = "",
    format: Annotated[
        Literal["text", "latex", "markdown", "json"], typer.Option(help="How formulas are written.")
    ] = "text",
    emit: Annotated[
        str | None, typer.Option(metavar="FUNCTION", help="Print C instead: " + ", ".join(INPUTS) + ".")
    ] = None,
    json: Json = False,
) -> None:
    """Kane's equations with generalized speeds of your choice: formulas, programs, their operations.

    Every program is verified modulo random primes before it is counted or printed. docs/kane.md describes the file.

    Examples:

      emdeg kane stanford_arm --speeds examples/speeds/stanford_arm.toml --show velocities,equations

      emdeg kane puma560 --speeds auto

      emdeg kane fourbar --speeds examples/speeds/fourbar.toml
    """
    parts = _parts(show)
    if emit is not None and emit not in INPUTS:
        raise UsageError(f"--emit takes {', '.join(INPUTS)}, not {emit!r}")
    written = {"--format": format in ("latex", "markdown")}
    if emit is not None:
        refuse({"--show": show or None} | written, "does not go with --emit, which prints C")
    loaded = robot.load()
    if not loaded.is_tree:
        refuse(written, "is for formulas; with closed loops programs are counted and emitted")
    ranking: list[Candidate] = []
    stopped = False
    if speeds == "auto":
        with working(f"Kane's equations of {loaded.name}") as tell, stoppable() as stop:
            ranking = choose(loaded, tell=lambda title: tell(title) or stop.asked)
        setup, stopped = ranking[0].setup, stop.asked
    else:
        setup = load_setup(speeds, loaded)
    kinematics = speed_inverse(loaded, setup) if loaded.is_tree else None
    if parts and kinematics is None:
        raise UsageError("--show writes the equations of trees; with closed loops programs are counted and emitted")
    if emit is not None:
        function: Any = emit
        program = kane_program(loaded, setup, function, kinematics=kinematics)
        certificate = verify_kane(program, loaded, setup, function)
        name = identifier(f"{Path(robot.argument).stem}_kane_{emit}")
        text = emit_c(program, COptions(robot=loaded.name), name=name)
        if json or format == "json":
            numbers = {"operations": count(program).as_dict(), "certificate": certificate.as_dict()}
            print_json({"function": name, "code": text, **numbers})
        else:
            typer.echo(text, nl=False)
        return
    for one in () if kinematics is None else kinematics.singular:
        say(f"note: the speeds fail at {one.where}")
    found = None if kinematics is None else describe(loaded, setup, parts)
    names = list(setup.names) or [f"u{i + 1}" for i in range(len(setup.speeds))]
    result: dict[str, Any] = {"speeds": names} if found is None else kane_data(found, as_latex=format == "latex")
    programs: dict[str, Any] = {}
    with working(f"Kane's equations of {loaded.name}") as tell, stoppable() as stop:
        for name in PROBLEMS:
            if stop.asked:
                break
            tell(_WORDS[name])
            programs[name] = _program(loaded, setup, kinematics, name)
        stopped |= stop.asked
    result |= {"programs": programs, "interrupted": stopped}
    if ranking:
        result["tried"] = [_tried(one) for one in ranking]
    if json or format == "json":
        print_json(result)
    else:
        if ranking and format == "text":
            _print_ranking(ranking)
        if found is not None:
            typer.echo(WRITERS[format](kane_document(found)), nl=False)
        elif format == "text":
            typer.echo(f"{loaded.name}: generalized speeds {', '.join(names)} ({setup.title or 'no title'})")
        if format == "text":
            typer.echo()
            _print_programs(programs)
    if stopped:
        say("interrupted: what is printed is complete, other speeds or programs were not tried")
        raise typer.Exit(INTERRUPTED)


def _parts(text: str) -> list[Part]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if words == ["all"]:
        return list(PARTS)
    known = get_args(Part)
    if wrong := [word for word in words if word not in known]:
        raise UsageError(f"--show takes {', '.join(known)} or all, not {wrong[0]!r}")
    return [part for part in PARTS if part in words]


def _program(robot: Robot, setup: Setup, kinematics: SpeedInverse | None, function: Function) -> dict[str, Any]:
    program = kane_program(robot, setup, function, kinematics=kinematics)
    certificate = verify_kane(program, robot, setup, function)
    return {
        "inputs": {group.name: list(group.labels) or group.size for group in program.inputs},
        "outputs": {group.name: list(group.shape) for group in program.outputs},
        "count": count(program).as_dict(),
        "certificate": certificate.as_dict(),
    }


def _tried(one: Candidate) -> dict[str, Any]:
    return {
        "speeds": one.setup.title,
        "torques": one.torques.as_dict(),
        "accelerations": one.accelerations.as_dict(),
        "singular": list(one.singular),
        "simplified": one.simplified,
    }


_WORDS: dict[Function, str] = {
    "torques": "torques from motion",
    "accelerations": "ud (and qd) from torques",
    "equations": "X and right-hand side",
    "rates": "qd from u",
}


def _print_programs(programs: dict[str, Any]) -> None:
    table = Table("program", "inputs", "x", "+", "/", "root", "sin cos", title="Programs", title_justify="left")
    for name, program in programs.items():
        found = program["count"]
        cells = [found[key] for key in ("mul", "add", "div", "sqrt", "sincos")]
        table.add_row(_WORDS[name], ", ".join(program["inputs"]), *(str(cell or "") for cell in cells))  # type: ignore[index]
    out.print(table)
    out.print("each verified modulo random primes against " + FORMULATION, soft_wrap=True)


def _print_ranking(ranking: list[Candidate]) -> None:
    table = Table(
        "generalized speeds",
        "torques",
        "ud",
        "fail at",
        title_justify="left",
        title=f"{len(ranking)} sets tried; operations of the programs (~ not yet simplified)",
    )
    for one in ranking[:12]:
        mark = "" if one.simplified else "~"
        where = "; ".join(one.singular) or "never"
        table.add_row(
            one.setup.title,
            f"{mark}{one.torques.mul + one.torques.div} x {one.torques.add} +",
            f"{mark}{one.accelerations.mul + one.accelerations.div} x {one.accelerations.add} +",
            where if len(where) < 60 else where[:57] + "...",
        )
    out.print(table)
