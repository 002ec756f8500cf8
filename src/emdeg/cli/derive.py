"""`emdeg derive`: a robot's explicit equations of motion, to read or to hand on."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from emdeg.algebra import DEFAULT_MAX_TERMS
from emdeg.cli.common import INTERRUPTED, Json, UsageError, as_json, refuse, say, write_new
from emdeg.cli.progress import working
from emdeg.documents import WRITERS
from emdeg.equations import DEFAULT_PARTS, NEEDS, PARTS, document, model_data
from emdeg.equations import derive as derive_
from emdeg.robot import Robot, by_kind, with_symbolic_payload

DEFAULT = ",".join(DEFAULT_PARTS)
Format = Literal["text", "latex", "mathml", "markdown", "json", "sympy"]


@by_kind
def derive(
    robot: Robot,
    only: Annotated[
        str, typer.Option(metavar="PARTS", help="What to derive, separated by commas: " + ", ".join(PARTS))
    ] = DEFAULT,
    format: Annotated[Format, typer.Option(help="How to write it.")] = "text",
    symbolic: Annotated[
        bool, typer.Option("--symbolic", help="Symbols for the robot's numbers: m2, rx2, Ixx2, a2, ...")
    ] = False,
    frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Axes of J and Jinv: base, tool, a link's number or name.")
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="ROWS", help="Rows of J and Jinv, say 1,2,6: 1-3 velocity, 4-6 angular velocity."),
    ] = None,
    symbolic_payload: Annotated[
        str | None,
        typer.Option(metavar="LINK", help="A load with symbols mL, rxL, IxxL, .. on this link, or on the `tool`."),
    ] = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Closed loops: M, C, G, J in the coordinates, every entry expanded.")
    ] = False,
    frames: Annotated[
        Literal["modified", "standard"],
        typer.Option(
            help="Link frames of U and P: Denavit-Hartenberg as Craig's, or as Bejczy's and Paul's, which alone "
            "are asked for with `standard`: --only U,D then."
        ),
    ] = "modified",
    scheme: Annotated[
        Literal["diagonal", "across", "down"],
        typer.Option(help="Burdick's recursion of the part `extended`."),
    ] = "diagonal",
    account: Annotated[
        bool,
        typer.Option("--account", help="What each step of the derivation saves; --out names a folder for the figure."),
    ] = False,
    budget: Annotated[
        int, typer.Option(metavar="TERMS", min=1, help="Terms that one formula may have.")
    ] = DEFAULT_MAX_TERMS,
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write here instead of to stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Derive the explicit equations of motion: M, Coriolis and centrifugal terms, gravity; kinematics on request.

    With the part `constants` M, b, c and g are written in the mechanism's lumped constants, without it expanded.

    Examples:

      emdeg derive puma560

      emdeg derive puma560 --only M,relations

      emdeg derive planar2r --only J,Jinv,singularities --rows 1,3

      emdeg derive puma560 --symbolic --format latex --out puma560.tex

      emdeg derive my_arm.urdf --only J,Jinv --format sympy

      emdeg derive delta --expand --only letters,solution,M

      emdeg derive puma560 --account

      emdeg derive jpl_rrp --frames standard

      emdeg derive puma560_emdeg --only extended --scheme across
    """
    if account:
        # It writes the model in nine ways and looks for its programs: twice what deriving needs to start.
        from emdeg.cli.account import print_account

        given = {"--only": only != DEFAULT, "--format": format != "text", "--symbolic": symbolic, "--frame": frame}
        given |= {"--rows": rows, "--symbolic-payload": symbolic_payload, "--expand": expand}
        given |= {"--frames": frames == "standard", "--scheme": scheme != "diagonal"}
        refuse(given | {"--budget": budget != DEFAULT_MAX_TERMS}, "does not go with --account")
        print_account(robot, out_file, json)
        return
    refuse({"--format": json and format not in ("text", "json")}, "does not go with --json")
    if expand:
        raise UsageError("--expand is for closed loops; leave `constants` out of --only to have formulas expanded")
    parts = ["U", "D"] if only == DEFAULT and frames == "standard" else chosen_parts(only)
    if not {"J", "Jinv"} & set(parts):
        refuse({"--frame": frame}, "is for the parts J and Jinv")
        refuse({"--rows": rows if "singularities" not in parts else None}, "is for the parts J, Jinv and singularities")
    refuse({"--frames": frames == "standard" and not {"U", "D"} & set(parts)}, "is for the parts U and D")
    refuse({"--scheme": scheme != "diagonal" and "extended" not in parts}, "is for the part extended")
    axes = {"frame": frame, "rows": chosen_rows(rows), "standard": frames == "standard", "scheme": scheme}
    if symbolic_payload is not None:
        at_tool = symbolic_payload == "tool" and all(place.name != "tool" for place in robot.frames)
        robot = with_symbolic_payload(robot, None if at_tool else symbolic_payload)
    needs = {need for part in parts for need in NEEDS.get(part, ())}
    with working(f"deriving {robot.name}") as tell:
        model = derive_(robot, needs, symbolic=symbolic, budget=budget)
        ready = len(parts)
        if json or format == "json":
            written = as_json(model_data(model, parts, **axes))
        else:
            found = document(model, parts, **axes, tell=tell)
            written, ready = WRITERS[format](found), len(found.sections)
    put(written, out_file, force)
    if ready < len(parts):
        say(f"interrupted while working out {parts[ready]}: the parts before it are complete")
        raise typer.Exit(INTERRUPTED)


def put(written: str, out_file: Path | None, force: bool) -> None:
    """Write to the file, or to stdout."""
    if out_file is None:
        sys.stdout.write(written)
    else:
        write_new(out_file, written, force)
        say(f"wrote {out_file}")


def chosen_parts(only: str, PARTS: Mapping[str, Any] = PARTS) -> list[str]:
    """The parts named in --only, each once; UsageError for an unknown one."""
    parts = list(dict.fromkeys(part.strip() for part in only.split(",") if part.strip()))
    for part in parts:
        if part not in PARTS:
            near = difflib.get_close_matches(part, PARTS, 1)
            hint = f"; did you mean {near[0]}" if near else ""
            raise UsageError(f"--only: there is no part {part!r}{hint}. Parts: {', '.join(PARTS)}")
    if not parts:
        raise UsageError(f"--only names no part. Parts: {', '.join(PARTS)}")
    return parts


def chosen_rows(text: str | None) -> tuple[int, ...] | None:
    """The rows of --rows; UsageError for what is no list of different numbers from 1 to 6."""
    if text is None:
        return None
    rows = tuple(int(part) if part.strip() in "123456" and part.strip() else 0 for part in text.split(","))
    if 0 in rows or len(set(rows)) < len(rows):
        raise UsageError(f"--rows needs different numbers from 1 to 6, say 1,2,6; got {text!r}")
    return rows
