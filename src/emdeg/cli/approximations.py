"""Approximations on the command line: what is computed of one beside its error, how it is printed and written."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.table import Table

from emdeg.approximation import Approximation, as_near, fewer_parameters
from emdeg.cli.common import out, say, write_new
from emdeg.cli.effort import default_effort
from emdeg.codegen import CERTIFICATE, write
from emdeg.papers import holding_error, multirate, reduction_tables, split, totals
from emdeg.programs import OPERATIONS, Effort, Program, Weights, cost, count
from emdeg.programs import program as exact_program


@dataclass(frozen=True)
class Extras:
    """What is asked for beside the approximation itself."""

    flops: float = 1e5
    ratio: int = 4
    tables: bool = False
    processors: int | None = None
    hold: int | None = None
    motion: tuple[NDArray, NDArray, NDArray] | None = None
    """Positions, speeds and accelerations along a trajectory, for `hold`."""
    emit: Path | None = None
    robot_file: Path | None = None
    seed: int = 0
    weights: Weights = OPERATIONS
    best_effort: bool = False
    force: bool = False
    tell: Callable[[str], None] = field(default=lambda text: None)


def result_data(found: Approximation, extras: Extras, time: Effort, interrupted: Callable[[], bool]) -> dict[str, Any]:
    """The JSON result of an approximation; its files are written where they are asked for and no target is missed."""
    if found.approximate is not None:
        data, program = found.data(), found.program()
    else:
        data, program = _model_data(found), None
    if found.errors and program is None:
        program, found = _program_of_terms(found, data, extras, time)
    if program is None:
        return data
    if found.function == "inverse_dynamics":
        data["multirate"] = multirate(program, extras.flops, extras.ratio).data()
    if extras.motion is not None and extras.hold:
        data["holding"] = {"steps": extras.hold, **holding_error(program, *extras.motion, extras.hold)}
    if extras.processors:
        data["processors"] = split(program, extras.processors).data()
    if found.missed and not extras.best_effort:
        return data
    if extras.emit is not None:
        data["emitted"] = _emitted(found, program, extras.emit, extras.force)
    if extras.robot_file is not None and interrupted():
        say(f"{extras.robot_file} is not written: fewer parameters had not been looked for")
    elif extras.robot_file is not None:
        limits = found.limits
        if found.full is not None:
            limits = [max(e.bound, 1e-6 * max(found.largest)) for e in found.errors]
        data["short_robot"] = _written_robot(found, limits, extras)
    return data


def _program_of_terms(
    found: Approximation, data: dict[str, Any], extras: Extras, time: Effort
) -> tuple[Program, Approximation]:
    """(the cheapest program as near as the approximate model, the approximation that it belongs to)."""
    parts, weights = 4 if extras.tables else 1, extras.weights
    extras.tell("a small program")
    program = found.program(effort=time.part(0.2 / parts), weights=weights)
    matrix = found.program("mass_matrix", effort=time.part(0.1 / parts), weights=weights)
    exact = exact_program(found.robot, "inverse_dynamics", weights=weights)
    small = min(matrix, exact_program(found.robot, "mass_matrix", weights=weights), key=lambda one: cost(one, weights))
    named = {"inverse_dynamics": program, "mass_matrix": small, "exact_inverse_dynamics": exact}
    data["operations"], data["exact_operations"] = count(program).as_dict(), count(exact).as_dict()
    data["left_out"], data["dropped_terms"] = found.left_out(), len(found.dropped)
    data["certified_error"], data["errors"] = list(found.certified_error), found.error_data()
    terms = found
    search = {"effort": default_effort(), "seed": extras.seed, "weights": weights, "time": time.part(1 / parts)}
    near = as_near(found, **search)
    if cost(near.program(), weights) < cost(program, weights):
        found, program = near, near.program()
        data["entries_operations"] = data["operations"]
        data |= {key: near.data()[key] for key in ("operations", "certified_error", "errors")}
    data["programs"] = totals({name: count(p) for name, p in (named | {"inverse_dynamics": program}).items()})
    if extras.tables:
        extras.tell("tables")
        rates = {"operations_per_second": extras.flops, "ratio": extras.ratio}
        data["tables"] = reduction_tables(terms, program, matrix, seconds=time.left(), **rates)
    return program, found


def _model_data(short: Approximation) -> dict[str, Any]:
    """Of an approximate model: its entries, their constants and errors, over which box."""
    terms = short.terms
    assert terms is not None
    printed = terms.numeric_text()
    data: dict[str, Any] = {
        "robot": short.robot.name,
        "joints": list(short.where.joints),
        "box": short.where.data(),
        "entries": {n: {"text": printed[n], "constants": entry.text} for n, entry in terms.compact.entries.items()},
        "constants": {
            c.name: {
                "value": c.value,
                "unit": c.unit,
                "formula": str(c.formula),
                "tolerance": c.tolerance,
                "load": any(str(g.of).endswith("L") for g in c.formula.generators),
            }
            for c in terms.lumped.constants
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


def _written_robot(found: Approximation, limits: Sequence[float], extras: Extras) -> dict[str, Any]:
    """Writes the robot with fewer parameters whose torques stay within the limits; what it costs and what is gone."""
    path, effort = extras.robot_file, default_effort()
    assert path is not None
    exact = exact_program(found.robot, "inverse_dynamics", otherwise=effort, seed=extras.seed)
    made = fewer_parameters(found.robot, limits, found.where, exact=exact, effort=effort, seed=extras.seed)
    write_new(path, made.toml(), extras.force)
    say(f"wrote {path}: {made.operations} operations, {len(made.gone)} of {len(made.columns)} parameters left out")
    return {
        "file": str(path),
        "operations": made.operations,
        "left_out": list(made.gone),
        "parameters": len(made.columns),
        "certified_error": [e.bound / peak if peak else 0.0 for e, peak in zip(made.errors, made.largest)],
    }


def _emitted(found: Approximation, program: Program, path: Path, force: bool) -> dict[str, str]:
    """Writes the program's C with the verification record beside it, both or none; what was written."""
    made = found.generate(path.name, program=program, command=shlex.join(["emdeg", *sys.argv[1:]]))
    write([made], path.parent, force)
    record = f"{path.name}{CERTIFICATE}"
    verified = f"verified, its error certified; both are in {record}"
    say(f"wrote {path}: {f'its error certified, see {record}' if found.approximate is not None else verified}")
    return {"file": str(path), "certificate": f"{path}{CERTIFICATE}", "digest": made.certificate["digest"]}


def print_result(data: dict[str, Any]) -> None:
    """The verdict first, then what else was asked for; the formulas, which may be many, last."""
    if "operations" in data:
        _print_verdict(data)
    if "programs" in data:
        c = data["programs"]["mass_matrix"]
        out.print(f"short mass matrix: {c['mul']} x {c['add']} + = {c['total']} operations")
    if "entry_errors" in data:
        _rows(data["entry_errors"], "How wrong each entry can be")
    _print_more(data)
    for name, entry in data.get("entries", {}).items():
        if entry["text"] != "0":
            out.print(f"{name} = {entry['constants']}", soft_wrap=True)
            out.print(f"{' ' * len(name)} = {entry['text']}", soft_wrap=True)
        if gone := data.get("left_out", {}).get(name):
            sizes = ", ".join(f"{term['constant']} {term['size']:.3g}" for term in gone["terms"])
            out.print(f"{' ' * len(name)}   left out of {name}: {gone['text']}; largest: {sizes}", soft_wrap=True)
    shown = [
        {"constant": name, "value": c["value"], "unit": c["unit"], "load": "x" * c["load"], "is": c["formula"]}
        for name, c in data.get("constants", {}).items()
    ]
    if shown:
        _rows(shown, "Constants; an x where a payload's parameters enter")


def _print_verdict(data: dict[str, Any]) -> None:
    """What an approximation costs, what the exact one does, how wrong it can be and over which box: before all else."""
    what = data.get("function", "inverse_dynamics").replace("_", " ")
    for name, c in (("short", data["operations"]), ("exact", data["exact_operations"])):
        total = c["mul"] + c["add"]
        line = f"{name} {what}: {c['mul']} x {c['add']} + = {total} operations, {c['sincos']} sine-cosine pairs"
        out.print(line, soft_wrap=True)
    if data.get("exact"):
        out.print(f"nothing is left out, it is the exact program: {data['why'] or 'its errors may be nothing'}")
    if data.get("ended_by_clock") and not data.get("interrupted"):
        out.print("the clock ended the search: with more --seconds, or on a faster machine, it may find a shorter one")
    worst = max(data["certified_error"], default=0.0)
    out.print(f"certified error: at most {100 * worst:.3g} % of the largest value over the box of states")
    rows = [row for row in data["errors"] if row["certified"]]
    if rows:
        heads = [key for key in rows[0] if any(row[key] is not None for row in rows)]
        none = {"ratio": "exact up to rounding"}
        _rows(
            [{k: none.get(k, "-") if row[k] is None else row[k] for k in heads} for row in rows], "How wrong it can be"
        )
    boxes = zip(data["joints"], *data["box"].values())
    _rows([dict(zip(("joint", *data["box"]), row)) for row in boxes], "The box of states")


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

    def operations(counts: dict[str, int]) -> int:
        return sum(counts.values()) - counts["sincos"]

    table = [
        {
            "program": name,
            "q": operations(found["configuration"]),
            "rates": operations(found["rates"]),
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


def _rows(rows: list[dict[str, Any]], title: str) -> None:
    table = Table(title=title, title_justify="left")
    for column in rows[0]:
        table.add_column(column.replace("_", " "), min_width=len(column))
    for row in rows:
        table.add_row(*(f"{x:.4g}" if isinstance(x, float) else "-" if x is None else str(x) for x in row.values()))
    out.print(table)
