"""`emdeg generate`: a function's code with the proof beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from emdeg.cli.common import Json, print_json, say
from emdeg.cli.count import Base
from emdeg.cli.effort import (
    Effort,
    Seed,
    WeightsText,
    checked_effort,
    checked_weights,
    default_effort,
    progress_line,
)
from emdeg.cli.robots import Chosen
from emdeg.codegen import CERTIFICATE, Target, namesakes
from emdeg.codegen import generate as generate_code
from emdeg.dynamics.functions import functions_of
from emdeg.errors import BadRequest


def generate(
    robot: Chosen,
    out_dir: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the files go.")],
    function: Annotated[
        list[str] | None,
        typer.Option("--function", "-f", metavar="FUNCTION", help="What to emit; A+B for one program. Repeatable."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Every function of the robot, instead of --function; the default effort is for all of them together.",
        ),
    ] = False,
    library: Annotated[
        bool,
        typer.Option(
            "--library", help="Also what makes one library of the functions (C: header, CMake, shared parts)."
        ),
    ] = False,
    target: Annotated[Target, typer.Option(help="The language.")] = "c",
    trig: Annotated[
        Literal["libm", "inline"] | None,
        typer.Option(help="C: the library's sine and cosine (default), or polynomials in the file."),
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="C: also a loop over many states.")] = False,
    casadi: Annotated[
        bool, typer.Option("--casadi", help="C: also CasADi's entry point, and its derivatives' beside it.")
    ] = False,
    acados: Annotated[
        bool, typer.Option("--acados", help="C: also acados' functions of a model, of forward or inverse dynamics.")
    ] = False,
    multirate: Annotated[
        bool, typer.Option("--multirate", help="Also the parts of configuration and of rates apart (text targets).")
    ] = False,
    single: Annotated[
        bool, typer.Option("--float", help="float instead of double (c, rust, fortran, object, ptx).")
    ] = False,
    layout: Annotated[
        Literal["rows", "entries"] | None,
        typer.Option(help="ptx: arrays row by row, (states, size), the default; or entry by entry, (size, states)."),
    ] = None,
    sm: Annotated[
        int | None, typer.Option(metavar="SM", help="ptx: the compute capability times ten; 75 (the default) to 120.")
    ] = None,
    loader: Annotated[
        bool, typer.Option("--loader", help="ptx: also a Python file that runs it; needs NumPy and a driver alone.")
    ] = False,
    cpu: Annotated[
        str,
        typer.Option(
            metavar="CPU",
            help="object: cortex-m4f, cortex-m7, x86-64; untested: cortex-m33, cortex-a53, rv64gc.",
        ),
    ] = "",
    fmi: Annotated[int | None, typer.Option(metavar="2|3", help="fmu: the version of FMI; 3.0 is the default.")] = None,
    pd: Annotated[
        bool, typer.Option("--pd", help="fmu: also a servo, kp (q* - q) + kd (qd* - qd) + g(q), gains tunable.")
    ] = False,
    tunable: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="fmu: a number of the robot that is a parameter, besides gravity and a load: link2.mass. Repeatable.",
        ),
    ] = None,
    base: Base = False,
    friction: Annotated[bool, typer.Option("--friction", help="With the drives' friction in the efforts.")] = False,
    effort: Effort = None,
    seed: Seed = 0,
    weights: WeightsText = "operations",
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of the robot's name, in files and functions.")
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="In front of the names of files and functions: TEXT<robot>_<function>.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace files that emdeg did not generate.")] = False,
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign the certificates: an Ed25519 private key (PEM, OpenSSH).")
    ] = None,
    json: Json = False,
) -> None:
    """Emit functions as code. Each is proved equal to an independent formulation first; the proof lies beside it.

    Examples:

      emdeg generate puma560 --function inverse_dynamics --target c --out code

      emdeg generate panda -f mass_matrix+bias -f gravity --trig inline --batch --out code

      emdeg generate panda -f forward_dynamics --target ptx --sm 90 --float --loader --out code

      emdeg generate ur5e --all --library --out ur5e_code

      emdeg generate puma560 -f inverse_dynamics --target object --cpu cortex-m4f --float --out code

      emdeg generate puma560 -f inverse_dynamics --payload mass=mL,com=xL:yL:zL --out code

      emdeg generate panda --target fmu --pd --friction --out code
    """
    if target == "fmu":
        if every:
            raise BadRequest("--target fmu takes no --all: it is a robot's forward dynamics")
    elif every == bool(function):
        raise BadRequest("say either --function FUNCTION or --all")
    if fmi not in (None, 2, 3):
        raise BadRequest(f"--fmi is 2 or 3, not {fmi}")
    loaded = robot.load()
    with progress_line(weights) as progress:
        made = generate_code(
            loaded,
            function or None,
            target,
            out=out_dir,
            trig=trig,
            batch=batch,
            casadi=casadi,
            acados=acados,
            multirate=multirate,
            single=single,
            layout=layout,
            sm=sm,
            loader=loader,
            cpu=cpu,
            fmi=fmi,  # type: ignore[arg-type]
            pd=pd,
            tunable=tunable or (),
            base=base,
            friction=friction,
            effort=checked_effort(effort),
            otherwise=default_effort() if effort is None else 0.0,
            seed=seed,
            weights=checked_weights(weights),
            name=name,
            prefix=prefix,
            library=library,
            force=force,
            sign=sign,
            words=robot.words,
            progress=progress,
        )
    if every and multirate and (left := namesakes(list(functions_of(loaded)))):
        say(f"left out: {', '.join(left)}, whose name is that of another function's part; give it another --name")
    for one in made:
        proof = one.certificate
        if "fmu" in proof:
            binary = proof["fmu"]["binary"]
            say(
                f"wrote {one.path}: of {', '.join(proof['fmu']['members'])}, each verified; "
                + (f"with {binary}" if binary else "sources only, no C compiler is at hand")
            )
            continue
        say(
            f"wrote {one.path}: verified at {proof['points']} points, "
            f"a false pass has probability {proof['false_pass_probability']:.1g}"
        )
        if one.left_out:
            say(f"too long for a compiler, so not in it: {', '.join(one.left_out)}; CasADi will not find them")
    if json:
        print_json(
            [
                {"file": str(one.path), "certificate": f"{one.path}{CERTIFICATE}"}
                | {
                    key: one.certificate[key]
                    for key in ("digest", "operations", "false_pass_probability")
                    if key in one.certificate
                }
                | ({"left_out": list(one.left_out)} if casadi else {})
                for one in made
            ]
        )
