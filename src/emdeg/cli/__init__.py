"""The command line: thin. Results on stdout, everything said to the person on stderr.

A command's module is imported when the command is called, so that `emdeg --help` costs no more than its text.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from emdeg._version import __version__
from emdeg.cli.common import BAD_INPUT, BEGAN, INTERRUPTED, OVER_BUDGET, print_json_error, say
from emdeg.cli.terminal import TerminalOutput
from emdeg.errors import EmdegError, OldFormat, Poisoned, Refuted

COMMANDS = {
    "robots": "List the robots that come with emdeg.",
    "new": "Print a commented robot file to start from.",
    "check": "Check a robot file against every rule; exit code 1 if a physical rule is broken and the file does not "
    "say why.",
    "show": "Show a robot: its frames, inertias, drives, where the numbers come from.",
    "functions": "List the functions of a model: inputs, outputs, units, formulations, what proves them.",
    "eval": "Evaluate a function of the model at a state.",
    "torques": "The efforts of a given motion.",
    "simulate": "Simulate a robot: states, efforts, constants of motion and their drift.",
    "derive": "Derive the explicit equations of motion: M, Coriolis and centrifugal terms, gravity; kinematics on "
    "request.",
    "loops": "Say how a mechanism's loops close: joints, modes, branches, singularities, workspace.",
    "analyse": "Analyse a design: certified inertia and gravity loads, couplings, servo view, capability, "
    "measurements.",
    "measure": "Bench readings to a robot file: every number with its tolerance and its trail.",
    "excite": "A periodic motion that shows the parameters best, and how well each will be known before it is made.",
    "identify": "From logs to numbers: base parameters and friction with 95% intervals, validated on another log.",
    "tolerance": "Which measurement to improve: every stated tolerance's share of constants and efforts, ranked.",
    "judge": "Judge a printed model: the certified error of every entry over the workspace; exit code 1 where a claim "
    "fails.",
    "sweep": "Run a design study: grids, Latin hypercubes, Monte-Carlo over parameters, payloads, workspaces and "
    "robots.",
    "abbreviate": "A short model: by significance, or the smallest found within given errors; its error certified.",
    "count": "Count the operations of a function's program, as emitted.",
    "generate": "Emit functions as code. Each is proved equal to an independent formulation first; the proof lies "
    "beside it.",
    "optimise": "Search for a small program, prove it, and file it: later commands use the smallest on file.",
    "verify": "Check by exact arithmetic modulo random primes that a program computes what it should.",
    "kane": "Kane's equations with generalized speeds of your choice: formulas, programs, their operations.",
    "report": "Write a report: one HTML page that needs no network, and the same as LaTeX.",
    "studio": "Start a local page where the robot, its equations, its code and its motion are one thing.",
}
"""Every command, in the order in which `--help` lists them, with the first paragraph of its own help."""


def _function(name: str) -> Callable[..., None]:
    """What a command runs."""
    match name:
        case "robots" | "new" | "check" | "show":
            from emdeg.cli import show

            return getattr(show, name)
        case "functions":
            from emdeg.cli.functions import functions

            return functions
        case "eval":
            from emdeg.cli.evaluate import evaluate

            return evaluate
        case "torques" | "simulate":
            from emdeg.cli import motion

            return getattr(motion, name)
        case "derive":
            from emdeg.cli.derive import derive

            return derive
        case "loops":
            from emdeg.cli.loops import loops

            return loops
        case "analyse":
            from emdeg.cli.analyse import analyse

            return analyse
        case "measure":
            from emdeg.cli.measure import measure

            return measure
        case "excite":
            from emdeg.cli.excite import excite

            return excite
        case "identify":
            from emdeg.cli.identify import identify

            return identify
        case "tolerance":
            from emdeg.cli.tolerance import tolerance

            return tolerance
        case "judge":
            from emdeg.cli.judge import judge

            return judge
        case "sweep":
            from emdeg.cli.sweep import sweep

            return sweep
        case "abbreviate":
            from emdeg.cli.abbreviate import command

            return command
        case "count":
            from emdeg.cli.count import count

            return count
        case "generate":
            from emdeg.cli.generate import generate

            return generate
        case "optimise":
            from emdeg.cli.optimise import optimise_command

            return optimise_command
        case "verify":
            from emdeg.cli.verify import verify

            return verify
        case "kane":
            from emdeg.cli.kane import kane

            return kane
        case "report":
            from emdeg.cli.report import report

            return report
        case "studio":
            from emdeg.cli.studio import studio

            return studio
    raise KeyError(name)


_WITHOUT_ROBOT = ("robots", "new", "check", "functions", "judge", "measure", "sweep", "studio")
"""Commands that load no robot by the common options."""


def command(name: str) -> Any:
    """The command of that name with all its options: its module is imported now."""
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    if name in _WITHOUT_ROBOT:
        alone.command(name)(_function(name))
    else:
        from emdeg.cli.robots import robot_command

        robot_command(alone, name)(_function(name))
    return _with_brackets(typer.main.get_command(alone))


def _with_brackets(made: Any) -> Any:
    """The command whose help keeps its units: [rad] is no markup."""
    for option in made.params:
        if text := getattr(option, "help", None):
            option.help = escape(text)
    if made.help:
        made.help = escape(made.help)
    return made


CLICK_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
"""What typer raises, and prints, where an option is wrong; typer does not export it."""


class Commands(TyperGroup):
    """The commands: their help from the table above while they are listed, loaded when one is called."""

    _listing = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._listing or cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        return command(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with --json a usage error is an object on stdout, too, and an interrupt is reported."""
        try:
            return super().invoke(ctx)
        except CLICK_ERROR as problem:
            print_json_error("usage", problem.format_message())
            raise
        except KeyboardInterrupt:
            say("interrupted: nothing is written")
            raise typer.Exit(INTERRUPTED) from None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        super().format_help(ctx, formatter)


app = typer.Typer(
    name="emdeg",
    cls=Commands,
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


def _note(message: Warning | str, category: type[Warning], *place: object) -> None:
    """A warning for the person at the command line: the words, not the line of code that they come from."""
    say(f"note: {message}")


def main(began: float = 0.0) -> None:
    """The program `emdeg`; `began`: when it did on the processor's clock [s], if not with the process."""
    sys.stdout = stdout = TerminalOutput(sys.stdout)  # type: ignore[assignment]
    sys.stderr = TerminalOutput(sys.stderr)  # type: ignore[assignment]
    with warnings.catch_warnings():
        for each in (OldFormat, Poisoned):
            warnings.simplefilter("always", each)
        warnings.showwarning = _note
        try:
            try:
                BEGAN.set(began)
                _run()
            finally:
                stdout.flush()
        except OSError as problem:  # what is raised while reading or writing files has become another error before
            stdout.discard()
            what = f"{problem.filename}: " if problem.filename else "the output cannot be written: "
            say(f"error: {what}{problem.strerror or problem}")
            sys.exit(BAD_INPUT)


def _run() -> None:
    """The command, and the exit code that belongs to what it raises."""
    try:
        app()
    except EmdegError as problem:
        print_json_error(problem.code, str(problem), getattr(problem, "file", None), getattr(problem, "line", None))
        say(f"{'NOT VERIFIED, nothing is written' if isinstance(problem, Refuted) else 'error'}: {problem}")
        sys.exit(problem.exit_code)
    except (MemoryError, RecursionError):
        print_json_error("over-budget", "it needs more memory than there is")
        say("error: it needs more memory than there is")
        sys.exit(OVER_BUDGET)
    except KeyboardInterrupt:
        say("interrupted: nothing is written")
        sys.exit(INTERRUPTED)
