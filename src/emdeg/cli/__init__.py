"""The command line: thin. Results on stdout, everything said to the person on stderr."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

from emdeg import __version__
from emdeg.cli import (
    abbreviate,
    analyse,
    derive,
    evaluate,
    generate,
    kane,
    motion,
    optimise,
    report,
    show,
    sweep,
    verify,
)
from emdeg.cli.common import BAD_INPUT, CHECK_FAILED, OVER_BUDGET, USAGE, robot_command, say
from emdeg.errors import (
    CannotJoin,
    NotInvertible,
    OldFormat,
    OverBudget,
    Refuted,
    RobotError,
    StateError,
    UnboundSymbol,
    UnknownFunction,
)

app = typer.Typer(
    name="emdeg",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"emdeg {__version__}")
        raise typer.Exit


@app.callback()
def _emdeg(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Explicit equations of motion of robots: exact, compact, fast.

    ROBOT is a library robot's name (see `emdeg robots`) or the path of a .toml, .urdf or MJCF .xml file. Exit
    codes: 0 done, 1 a check failed, 2 wrong usage, 3 the robot or input is bad, 4 over a budget, 130 interrupted.
    """


app.command("robots")(show.robots)
app.command("new")(show.new)
app.command("check")(show.check)
robot_command(app, "show")(show.show)
robot_command(app, "eval")(evaluate.evaluate)
robot_command(app, "torques")(motion.torques)
robot_command(app, "simulate")(motion.simulate)
robot_command(app, "derive")(derive.derive)
robot_command(app, "analyse")(analyse.analyse)
app.command("sweep")(sweep.sweep)
robot_command(app, "abbreviate")(abbreviate.command)
robot_command(app, "count")(generate.count)
robot_command(app, "generate")(generate.generate)
robot_command(app, "optimise")(optimise.optimise_command)
robot_command(app, "verify", argument=verify.RobotOrFile)(verify.verify)
robot_command(app, "kane")(kane.kane)
robot_command(app, "report")(report.report)


def _note(message: Warning | str, category: type[Warning], *place: object) -> None:
    """A warning for the person at the command line: the words, not the line of code that they come from."""
    say(f"note: {message}")


def main() -> None:
    """The program `emdeg`."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", OldFormat)
        warnings.showwarning = _note
        _run()


def _run() -> None:
    """The command, and the exit code that belongs to what it raises."""
    try:
        app()
    except Refuted as problem:
        say(f"NOT VERIFIED, nothing is written: {problem}")
        sys.exit(CHECK_FAILED)
    except (CannotJoin, UnknownFunction) as problem:
        say(f"error: {problem}")
        sys.exit(USAGE)
    except OverBudget as problem:
        say(f"error: {problem}")
        sys.exit(OVER_BUDGET)
    except (RobotError, StateError, UnboundSymbol, NotInvertible) as problem:
        say(f"error: {problem}")
        sys.exit(BAD_INPUT)
