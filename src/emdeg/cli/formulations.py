"""`emdeg count --formulation`: formulations side by side."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from emdeg.cli.common import UsageError, out, print_json
from emdeg.cli.progress import working
from emdeg.dynamics.kane import load_setup
from emdeg.equations.speeds import speed_inverse
from emdeg.programs import Count, Formulated, compared_formulations
from emdeg.programs import count as count_operations
from emdeg.programs.kane import kane_program, verify_kane
from emdeg.reports import Published, published_counts
from emdeg.robot import Robot


def compare(robot: Robot, function: str, formulation: str, speeds: str | None, json: bool) -> None:
    """Print the formulations of a function: operations, proofs, what was printed elsewhere."""
    names = None if formulation == "all" else [formulation]
    with working("tracing and proving"):
        rows = compared_formulations(robot, function, names)
        rows += [_with_speeds(robot, function, speeds)] if speeds is not None else []
    printed = [one for one in published_counts(robot) if one.function == function]
    if json:
        print_json(
            {
                "formulations": [_data(row) for row in rows],
                "published": [_published_data(one) for one in printed],
            }
        )
        return
    head = ("formulation", "any such robot", "this one", "simplified", "printed")
    table = Table(*head, title=f"{robot.name} {function}")
    for row in rows:
        own = [one for one in printed if one.formulation == row.formulation]
        mark = " (reference)" if row.is_reference else ""
        cells = ("" if found is None else _words(found) for found in (row.general, row.plain, row.simplified))
        table.add_row(f"{row.formulation}{mark}", *cells, "; ".join(map(_printed, own)))
    out.print(table)
    out.print(
        "x and + (and /) of each; every program proved equal to the reference at random points modulo random primes",
        soft_wrap=True,
    )
    for one in printed:
        out.print(f"printed: {_printed(one)}: {one.what}", soft_wrap=True)


def _with_speeds(robot: Robot, function: str, speeds: str) -> Formulated:
    """Kane's equations with speeds of somebody's choice: their own inputs, so proved by themselves."""
    kinds = {"inverse_dynamics": "torques", "forward_dynamics": "accelerations"}
    if function not in kinds:
        raise UsageError(f"--speeds: Kane's equations give {' and '.join(kinds)}, not {function}")
    setup = load_setup(speeds, robot)
    kind: Any = kinds[function]
    kinematics = speed_inverse(robot, setup)
    written = kane_program(robot, setup, kind, kinematics=kinematics, factored=False)
    small = kane_program(robot, setup, kind, kinematics=kinematics)
    certificate = verify_kane(small, robot, setup, kind)
    name = f"Kane, {setup.title or 'chosen speeds'}"
    return Formulated(name, None, count_operations(written), count_operations(small), certificate)


def _words(found: Count) -> str:
    quotients = f" + {found.div}" if found.div else ""
    return f"{found.mul} + {found.add}{quotients} = {found.total}"


def _printed(one: Published) -> str:
    short = "" if one.exact else ", of a shorter model"
    return f"{one.total}{short}" if one.mul is None else f"{one.mul} + {one.add} = {one.total}{short}"


def _data(row: Formulated) -> dict[str, Any]:
    return {
        "formulation": row.formulation,
        "general": None if row.general is None else row.general.as_dict(),
        "plain": row.plain.as_dict(),
        "simplified": None if row.simplified is None else row.simplified.as_dict(),
        "reference": row.is_reference,
        "certificate": None if row.certificate is None else row.certificate.as_dict(),
    }


def _published_data(one: Published) -> dict[str, Any]:
    keys = ("formulation", "what", "source", "mul", "add", "total", "exact")
    return {key: getattr(one, key) for key in keys}
