"""Short models of terms on the command line: how one is printed and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from emdeg.approximation import Abbreviated, stated, totals
from emdeg.cli.common import out
from emdeg.cli.short_programs import print_verdict, this_command, written_artefact
from emdeg.codegen import CERTIFICATE, make_short_artefact
from emdeg.programs import Program, Weights, cost, count
from emdeg.programs import program as exact_program


def emitted_model(short: Abbreviated, program: Program, path: Path, force: bool) -> dict[str, str]:
    """Writes the program's C with the certificate beside it, both or none; what was written."""
    made = make_short_artefact(stated(short), program, file=path.name, command=this_command())
    words = f"verified, its error certified; both are in {path.name}{CERTIFICATE}"
    return written_artefact(made, path, force, words)


def shown_data(short: Abbreviated) -> dict[str, Any]:
    """Of a short model: its entries, their constants and errors, over which box."""
    printed = short.short.numeric_text()
    symbols = {name: entry.text for name, entry in short.short.compact.entries.items()}
    data: dict[str, Any] = {
        "robot": short.short.full.robot.name,
        "joints": list(short.where.joints),
        "box": short.where.data(),
        "entries": {name: {"text": printed[name], "constants": symbols[name]} for name in printed},
        "constants": {
            c.name: {
                "value": c.value,
                "unit": c.unit,
                "formula": str(c.formula),
                "tolerance": c.tolerance,
                "load": any(str(g.of).endswith("L") for g in c.formula.generators),
            }
            for c in short.short.lumped.constants
        },
    }
    if short.entry_limits:
        data["within_target"] = not short.missed
        data["missed"] = list(short.missed)
    if short.entries:
        data["entry_errors"] = [
            {
                "entry": e.entry,
                "average": e.average,
                "worst": e.worst,
                "operations": e.operations,
                "certified_difference": e.certified.bound,
                "found_difference": e.certified.value,
            }
            for e in short.entries
        ]
    return data


def model_data(short: Abbreviated, program: Program, matrix: Program, weights: Weights) -> dict[str, Any]:
    """Of a short model of the efforts: what it costs and how wrong it can be."""
    robot = short.short.full.robot
    exact = exact_program(robot, "inverse_dynamics", weights=weights)
    matrix = min(matrix, exact_program(robot, "mass_matrix", weights=weights), key=lambda one: cost(one, weights))
    named = {"inverse_dynamics": program, "mass_matrix": matrix, "exact_inverse_dynamics": exact}
    counts = {name: count(p) for name, p in named.items()}
    return {
        "operations": counts["inverse_dynamics"].as_dict(),
        "exact_operations": counts["exact_inverse_dynamics"].as_dict(),
        "left_out": short.left_out(),
        "certified_error": [e["certified_over_largest"] or 0.0 for e in short.error_data()],
        "errors": short.error_data(),
        "dropped_terms": len(short.dropped),
        "programs": totals(counts),
    }


def print_model(data: dict[str, Any]) -> None:
    """The verdict first, then what else was asked for; the formulas, which may be many, last."""
    if "operations" in data:
        print_verdict(data)
        c = data["programs"]["mass_matrix"]
        out.print(f"short mass matrix: {c['mul']} x {c['add']} + = {c['total']} operations")
    if "entry_errors" in data:
        _rows(data["entry_errors"], "How wrong each entry can be")
    _print_more(data)
    for name, entry in data["entries"].items():
        if entry["text"] != "0":
            out.print(f"{name} = {entry['constants']}", soft_wrap=True)
            out.print(f"{' ' * len(name)} = {entry['text']}", soft_wrap=True)
        if gone := data.get("left_out", {}).get(name):
            sizes = ", ".join(f"{term['constant']} {term['size']:.3g}" for term in gone["terms"])
            out.print(f"{' ' * len(name)}   left out of {name}: {gone['text']}; largest: {sizes}", soft_wrap=True)
    shown = [
        {"constant": name, "value": c["value"], "unit": c["unit"], "load": "x" * c["load"], "is": c["formula"]}
        for name, c in data["constants"].items()
    ]
    _rows(shown, "Constants; an x where a load's parameters enter")


def _print_more(data: dict[str, Any]) -> None:
    """Rates, held configurations, processors, the paper's tables."""
    joints = [row["joint"] for row in data.get("errors", ())]
    if "multirate" in data and "tables" not in data:
        _rates({"inverse dynamics, abbreviated": data["multirate"]})
    if held := data.get("holding"):
        rows = [{"joint": j, "largest": x, "rms": y} for j, x, y in zip(joints, held["largest"], held["rms"])]
        _rows(rows, f"Extra error of holding the configuration part for {held['steps']} steps")
    if parts := data.get("processors"):
        shares = " + ".join(map(str, parts["operations"]))
        out.print(
            f"{parts['processors']} processors: {shares} operations, {parts['values_passed']} values passed; "
            f"{parts['span']} operations long, the critical path {parts['critical_path']}"
        )
    for name, rows in data.get("tables", {}).items():
        if name == "rates":
            _rates(rows)
        else:
            counts = [{"method": m, "x": c["mul"], "+": c["add"], "total": c["total"]} for m, c in rows.items()]
            _rows(counts, f"Operations: {'inverse dynamics' if name == 'forces' else 'mass matrix'}")


def _rates(rows: dict[str, dict[str, Any]]) -> None:
    """What can be attained if the configuration part is computed less often."""
    table = [
        {
            "program": name,
            "q": _sum(found["configuration"]),
            "rates": _sum(found["rates"]),
            "all Hz": found["together_hz"],
            "q Hz": found["configuration_hz"],
            "rates Hz": found["rates_hz"],
        }
        for name, found in rows.items()
    ]
    first = next(iter(rows.values()))
    speed, ratio = f"{first['operations_per_second']:g} operations a second", first["ratio"]
    _rows(
        table,
        "Operations that depend on q alone and on rates, and how often both parts can run at "
        f"{speed}: together, or q's once for {ratio} of the rates'",
    )


def _sum(counts: dict[str, int]) -> int:
    return sum(counts.values()) - counts["sincos"]


def _rows(rows: list[dict[str, Any]], title: str | None = None) -> None:
    table = Table(title=title, title_justify="left")
    for column in rows[0]:
        table.add_column(column.replace("_", " "), min_width=len(column) if title else None)
    for row in rows:
        table.add_row(*(f"{x:.4g}" if isinstance(x, float) else "-" if x is None else str(x) for x in row.values()))
    out.print(table)
