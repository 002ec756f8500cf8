"""`emdeg derive --account`: what each step of the derivation saves."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from emdeg.analysis import Account, account_figure, account_of, check_folder
from emdeg.cli.common import UsageError, end_if_missed, out, print_json, say
from emdeg.cli.progress import working
from emdeg.dynamics import TREE, kind_of
from emdeg.robot import Robot, need_numbers


def print_account(robot: Robot, folder: Path | None, json: bool) -> None:
    """The account as a table or as data; the figure into `folder` where one is given."""
    if kind_of(robot) is not TREE:
        raise UsageError("--account is for open chains and trees")
    need_numbers(robot)
    if folder is not None:
        check_folder(folder)
    with working(f"deriving {robot.name}") as tell:
        found = account_of(robot, tell)
    files = [] if folder is None else account_figure(found, folder)
    if json:
        steps = [asdict(step) | {"saved": saved} for step, saved in zip(found.steps, found.saved)]
        print_json(
            {
                "robot": found.robot,
                "equation": asdict(found.equation),
                "steps": steps,
                "untried": found.untried,
                "files": [str(file) for file in files],
            }
        )
    else:
        _print_table(found)
    for file in files:
        say(f"wrote {file}")
    if found.untried:
        end_if_missed([], interrupted=f": what these steps save was not looked at: {', '.join(found.untried)}")


def _print_table(found: Account) -> None:
    table = Table("step", "x", "+", "all", "saved", "what it does", title=f"the torques of {found.robot}")
    for step, saved in zip(found.steps, found.saved):
        numbers = (step.torques.mul, step.torques.add, step.torques.total, saved)
        table.add_row(step.name, *map(str, numbers), step.what)
    out.print(table)
    out.print(
        f"of which {found.equation.mul} x and {found.equation.add} + multiply the entries by speeds and accelerations "
        "(but in the last row); counted as written, a sign costs nothing",
        soft_wrap=True,
    )
