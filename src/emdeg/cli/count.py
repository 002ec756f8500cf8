"""`emdeg count`: a function's operations."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from emdeg.cli.common import Json, UsageError, out, print_json, refuse
from emdeg.cli.effort import Effort, Seed, WeightsText, smallest
from emdeg.programs import count as count_operations
from emdeg.programs import count_by_dependence
from emdeg.robot import Robot

FunctionArgument = Annotated[
    str,
    typer.Argument(metavar="FUNCTION", help="A function (see `emdeg functions`); several in one program as A+B."),
]
Base = Annotated[bool, typer.Option("--base", help="The regressor's columns of the base parameters only.")]


def count(
    robot: Robot,
    function: FunctionArgument,
    base: Base = False,
    formulation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|all",
            help="Compare formulations, each proved equal: all, or one by its name in `emdeg functions FUNCTION`.",
        ),
    ] = None,
    speeds: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --formulation all: also Kane's equations with these speeds."),
    ] = None,
    effort: Effort = None,
    seed: Seed = 0,
    weights: WeightsText = "operations",
    json: Json = False,
) -> None:
    """Count the operations of a function's program, as emitted.

    With --formulation each formulation's own program is counted: as the formulation writes it (constants folded,
    zeros left out), and simplified; beside it what its authors printed for this robot.

    Examples:

      emdeg count puma560 inverse_dynamics

      emdeg count panda mass_matrix+bias --json

      emdeg count puma560 mass_matrix --formulation all
    """
    if formulation is not None:
        if base or effort is not None:
            raise UsageError("--formulation counts the formulations themselves: leave --base and --effort out")
        refuse({"--seed": seed or None, "--weights": weights != "operations"}, "does not go with --formulation")
        # It traces, proves and knows Kane: twice what counting a program of the package needs to start.
        from emdeg.cli.formulations import compare

        compare(robot, function, formulation, speeds, json)
        return
    if speeds is not None:
        raise UsageError("--speeds belongs to --formulation all")
    refuse(
        {"--effort": effort or None if base else None}, "does not go with --base: such programs are not searched for"
    )
    program = smallest(robot, function, effort, seed, base, weights)
    total = count_operations(program)
    if json:
        print_json(total.as_dict())
        return
    table = Table("", "x", "+", "/", "sqrt", "sin, cos", title=f"{robot.name} {function}")
    rows = {depends.name.lower(): part for depends, part in count_by_dependence(program).items()}
    for label, part in {**rows, "all": total}.items():
        table.add_row(label, *map(str, part.as_dict().values()))
    out.print(table)
    out.print(f"{total.total} operations and {total.sincos} sine-cosine pairs")
