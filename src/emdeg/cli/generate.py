"""`emdeg count` and `emdeg generate`: a function's operations, and its code with the proof beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from emdeg.cli.common import Chosen, Json, UsageError, out, print_json, say
from emdeg.cli.effort import Effort, Seed, WeightsText, smallest
from emdeg.codegen.artefact import Request, Target, artefact
from emdeg.codegen.store import CERTIFICATE, write
from emdeg.errors import UnknownFunction
from emdeg.mechanics.functions import FUNCTIONS, known_functions
from emdeg.programs.count import count as count_operations
from emdeg.programs.count import count_by_dependence
from emdeg.robot.model import Robot

LONGEST_NAME = 160
"""Of a function: its file's and certificate's names must still be ones that a file system takes."""

FunctionArgument = Annotated[
    str,
    typer.Argument(metavar="FUNCTION", help="One of " + ", ".join(FUNCTIONS) + "; several in one program as A+B."),
]
Base = Annotated[bool, typer.Option("--base", help="The regressor's columns of the base parameters only.")]


def chosen_functions(text: str, base: bool = False, robot: Robot | None = None) -> tuple[str, ...]:
    """The functions of one program, from "A" or "A+B"; UsageError for an unknown one."""
    try:
        names = known_functions([part.strip() for part in text.split("+")], robot)
    except UnknownFunction as problem:
        raise UsageError(str(problem)) from None
    if base and "regressor" not in names:
        raise UsageError(f"--base applies to regressor, not to {text}")
    if len(set(names)) != len(names):
        raise UsageError(f"{text} names a function twice")
    return tuple(names)


def count(
    robot: Robot,
    function: FunctionArgument,
    base: Base = False,
    effort: Effort = None,
    seed: Seed = 0,
    weights: WeightsText = "operations",
    json: Json = False,
) -> None:
    """Count the operations of a function's program, as emitted.

    Examples:

      emdeg count puma560 inverse_dynamics

      emdeg count panda mass_matrix+bias --json
    """
    names = chosen_functions(function, base, robot=robot)
    program = smallest(robot, names, effort, seed, base, weights)
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


def generate(
    robot: Chosen,
    function: Annotated[
        list[str],
        typer.Option("--function", "-f", metavar="FUNCTION", help="What to emit; A+B for one program. Repeatable."),
    ],
    out_dir: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the files go.")],
    target: Annotated[Target, typer.Option(help="The language.")] = "c",
    trig: Annotated[
        Literal["libm", "inline"] | None,
        typer.Option(help="C: the library's sine and cosine (default), or polynomials in the file."),
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="C: also a loop over many states.")] = False,
    casadi: Annotated[bool, typer.Option("--casadi", help="C: also CasADi's entry point.")] = False,
    multirate: Annotated[
        bool, typer.Option("--multirate", help="C: also the parts of configuration and of rates apart.")
    ] = False,
    single: Annotated[bool, typer.Option("--float", help="C: float instead of double.")] = False,
    base: Base = False,
    effort: Effort = None,
    seed: Seed = 0,
    weights: WeightsText = "operations",
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of the robot's name, in files and functions.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that emdeg did not generate.")] = False,
    json: Json = False,
) -> None:
    """Emit functions as code. Each is proved equal to an independent formulation first; the proof lies beside it.

    Examples:

      emdeg generate puma560 --function inverse_dynamics --target c --out code

      emdeg generate panda -f mass_matrix+bias -f gravity --trig inline --batch --out code

      emdeg generate puma560 -f inverse_dynamics --payload mass=mL,com=xL:yL:zL --out code
    """
    options = {"trig": trig, "batch": batch, "casadi": casadi, "multirate": multirate, "float": single}
    given = [f"--{option}" for option, value in options.items() if value]
    if target != "c" and given:
        raise UsageError(f"{', '.join(given)}: for --target c only, not for {target}")
    if casadi and single:
        raise UsageError("--casadi and --float exclude each other: CasADi's interface is of doubles")
    loaded = robot.load()
    wanted = {text: chosen_functions(text, base and "regressor" in text, robot=loaded) for text in function}
    if base and not any("regressor" in names for names in wanted.values()):
        raise UsageError("--base applies to regressor, which is not among the functions")
    made = []
    for text, names in wanted.items():
        of_base = base and "regressor" in names
        words = [*robot.words, f"--function={text}", f"--target={target}"]
        words += [f"--trig={trig}"] if trig else []
        words += [option for option in given if option != "--trig"]
        words += ["--base"] if of_base else []
        words += [f"--name={name}"] if name else []
        words += [] if effort is None else [f"--effort={effort:g}"]
        words += [f"--seed={seed}"] if seed else []
        words += [] if weights == "operations" else [f"--weights={weights}"]
        request = Request(
            functions=names,
            target=target,
            robot_name=name or Path(robot.argument).stem,
            base=of_base,
            command=shlex.join(["emdeg", "generate", *words, "--out=."]),
            trig=trig or "libm",
            batch=batch,
            casadi=casadi,
            multirate=multirate,
            single=single,
        )
        if len(request.name) > LONGEST_NAME:
            raise UsageError(f"{request.name[:40]}... has more than {LONGEST_NAME} characters: give a shorter --name")
        found = smallest(loaded, names, effort, seed, of_base, weights)
        made.append(artefact(loaded, request, program=found))
    paths = write(made, out_dir, force)
    for path, one in zip(paths, made):
        proof = one.certificate
        say(
            f"wrote {path}: verified at {proof['points']} points, "
            f"a false pass has probability {proof['false_pass_probability']:.1g}"
        )
    if json:
        print_json(
            [
                {"file": str(path), "certificate": f"{path}{CERTIFICATE}"}
                | {key: one.certificate[key] for key in ("digest", "operations", "false_pass_probability")}
                for path, one in zip(paths, made)
            ]
        )
