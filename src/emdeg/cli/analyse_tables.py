"""What `emdeg analyse` prints of open chains and trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from emdeg.cli.common import out
from emdeg.cli.plain_print import print_plain
from emdeg.robot import Robot


def _table(*columns: str, title: str) -> Table:
    """Narrow, and folded rather than cut off where the terminal is narrower still."""
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def print_analysis(robot: Robot, result: dict[str, Any]) -> None:
    """Every part that was worked out."""
    for key, title in (("no_load", "without load"), ("with_load", "with load")):
        rows = result.get("loads", {}).get(key)
        if rows:
            _print_loads(f"{robot.name} {title}: inertia and gravity over the workspace, certified", rows)
    if printed := result.get("loads", {}).get("published"):
        _print_published(printed)
    if "ratios" in result:
        table = _table("ratio", "largest", "certified below", "gap", "unit", title="Ratios over the workspace")
        for kind in ("coupling", "gravity", "chosen"):
            for row in result["ratios"].get(kind, ()):
                numbers = (_number(row["value"]), _number(row.get("bound")), _percent(row.get("gap")))
                table.add_row(row["ratio"], *numbers, row["unit"])
        out.print(table)
        _print_velocity(result["ratios"].get("velocity", ()))
    for key in ("formulas", "restricted", "servo", "servo_loop", "importance", "capability", "measured"):
        if key in result:
            print_plain(key, result[key])


def _print_velocity(rows: Sequence[dict[str, Any]]) -> None:
    rows = [row for row in rows if row["term"]]
    if not rows:
        return
    title = "Largest Coriolis or centrifugal term of each joint, at unit speeds"
    table = _table("joint", "term", "/ own inertia", "certified below", "gap", "/ gravity", "equal at", title=title)
    for row in rows:
        numbers = (_number(row["against_inertia"]), _number(row["bound"]), _percent(row["gap"]))
        others = _number(row["against_gravity"]), _number(row["speed"])
        table.add_row(row["joint"], row["term"], *numbers, *others)
    out.print(table)


def _percent(value: float | None) -> str:
    return "-" if value is None else "0.00%" if 0 < value < 5e-5 else f"{100 * value:.2g}%"


def _print_loads(title: str, rows: list[dict[str, Any]]) -> None:
    table = _table("joint", "M min", "M max", "ratio", "g max", "M motor", "g motor", "g/limit", "gap", title=title)
    for row in rows:
        gaps = [row[k]["gap"] for k in ("inertia_min", "inertia_max", "gravity_load")]
        motor = row["at_motor"]
        table.add_row(
            row["joint"],
            _number(row["inertia_min"]["value"]),
            _number(row["inertia_max"]["value"]),
            _number(row["relative"]),
            _number(row["gravity_load"]["value"]),
            _number(motor["inertia_max"]),
            _number(motor["gravity_max"]),
            _percent(row["gravity_share_of_limit"]),
            _percent(max(gaps)),
        )
    out.print(table)


def _print_published(printed: dict[str, Any]) -> None:
    columns = ("table", "quantity", "load", "printed", "their q", "certified", "gap", "")
    table = _table(*columns, title=printed["source"])
    for row in printed["rows"]:
        words = ["missed"] if row["extreme_missed"] else []
        words += ["off"] if row["printed_off"] else []
        table.add_row(
            str(row["table"]),
            f"{row['quantity']} {row['side'][:3]}",
            "yes" if row["load"] else "no",
            f"{row['printed']:g}",
            f"{row['at_their_configuration']:.6g}",
            f"{row['certified']['value']:.6g}",
            _percent(row["certified"]["gap"]),
            ", ".join(words),
        )
    for row in printed["derived"]:
        load, off = "yes" if row["load"] else "no", "off" if row["printed_off"] else ""
        numbers = f"{row['printed']:g}", "", f"{row['certified']['value']:.6g}"
        table.add_row(str(row["table"]), row["quantity"], load, *numbers, "", off)
    out.print(table)
