"""`emdeg analyse` of a robot with closed loops: workspace, singularities of both kinds, what the motors feel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from emdeg.analysis import LOOP_PARTS as PARTS
from emdeg.analysis import analyse as analyse_
from emdeg.analysis import check_folder
from emdeg.cli.analyse import (
    MARGIN,
    SECONDS,
    SHARE,
    FrictionName,
    compared,
    moved_into,
    need_finite,
    recording_of,
    refuse_of_measured,
    say_written,
    temporary_folder,
)
from emdeg.cli.common import UsageError, head, out, print_json, refuse
from emdeg.cli.joint_ranges import joint_ranges
from emdeg.cli.plain_print import print_plain
from emdeg.cli.progress import working
from emdeg.robot import Robot


def analyse(
    robot: Robot,
    *,
    only: str | None,
    range_: list[str] | None,
    over: str | None,
    measured: Path | None,
    law: FrictionName,
    slowest: float,
    window: float | None,
    torque_constants: str | None,
    out_folder: Path | None,
    samples: int | None,
    margin: float,
    json: bool,
    **of_trees: Any,
) -> None:
    """The analysis of a mechanism with closed loops, as data or as tables; `of_trees` are options it does not have."""
    need_finite({"--slowest": slowest, "--window": window, **{f"--{key}": of_trees[key] for key in FINITE}})
    if out_folder is not None:
        check_folder(out_folder)
    ranges = joint_ranges(range_ or [])
    plain = {"--share": SHARE, "--seconds": SECONDS}
    options = {f"--{key.replace('_', '-')}": value for key, value in of_trees.items()}
    options = {name.replace("--ratios", "--ratio"): value for name, value in options.items()}
    given = {name: value if name not in plain else value != plain[name] for name, value in options.items()}
    refuse(given, f"is not known for closed loops; parts: {', '.join(PARTS)}")
    if measured is None:
        refuse_of_measured(torque_constants, slowest, law)
        refuse({"--window": window}, "goes with --measured")
    elif only is None:
        others = {"--range": range_, "--over": over, "--samples": samples, "--margin": margin != MARGIN}
        refuse(others, "is for parts of the analysis, which --measured leaves out unless --only names them")
    recording = None if measured is None else recording_of(measured, robot, torque_constants, window)
    with temporary_folder(out_folder) as folder:
        parts, pair = () if recording and only is None else _parts(only), _over(robot, over)
        with working(f"analysing {robot.name}") as tell:
            found = analyse_(
                robot, parts, ranges=ranges, over=pair, samples=samples, margin=margin, folder=folder, tell=tell
            )
        data, files = dict(found.data), list(found.files)
        if recording is not None:
            data["measured"], written = compared(robot, recording, law, slowest, measured, folder)
            files += written
        files = moved_into(files, out_folder)
    result = {**data, "files": [str(path) for path in files]}
    say_written(files)
    if json:
        print_json(result)
        return
    _print(result)
    if recording is not None:
        print_plain("measured", result["measured"])


FINITE = ("share", "gap", "seconds")
"""Options whose numbers must be finite, whether they apply or not."""


def _parts(only: str | None) -> tuple[str, ...]:
    if only is None:
        return PARTS
    parts = tuple(part.strip() for part in only.split(",") if part.strip())
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"--only: there is no part {part!r} of closed loops. Parts: {', '.join(PARTS)}")
    return parts


def _over(robot: Robot, text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = [joint.name for joint in robot.coordinates]
    chosen = [name.strip() for name in text.split(",")]
    if len(chosen) != 2 or chosen[0] == chosen[1] or any(name not in names for name in chosen):
        raise UsageError(f"--over needs two different coordinates among {', '.join(names)}; got {text!r}")
    return chosen[0], chosen[1]


def _print(result: dict[str, Any]) -> None:
    head(result["robot"], result["mobility"])
    if "workspace" in result:
        _print_workspace(result["workspace"])
    if "singularities" in result:
        _print_singularities(result["singularities"], result["margin"])
    if "inertia" in result:
        _print_inertia(result["inertia"], result["margin"])


def _print_workspace(found: dict[str, Any]) -> None:
    table = Table("coordinate", "from", "to", "reached from", "to", "", title="Workspace", title_justify="left")
    extents = found["extent"] or [{"low": float("nan"), "high": float("nan")}] * len(found["box"])
    for row, extent in zip(found["box"], extents):
        ends = [f"{value:.4g}" for value in (row["low"], row["high"], extent["low"], extent["high"])]
        table.add_row(row["coordinate"], *ends, "by rays" if row["found_by_rays"] else "given")
    out.print(table)
    out.print(
        f"{found['reached']} of {found['samples']} samples reached, {found['usable']} usable; volume "
        f"{found['volume']:.4g} +- {found['volume_standard_error']:.2g} {found['volume_unit']}"
    )


def _print_singularities(found: dict[str, Any], margin: float) -> None:
    for kind in ("first", "second"):
        if kind in found:
            one = found[kind]
            at = ", ".join(f"{value:.4g}" for value in one["at"])
            out.print(
                f"{kind} kind: nearest {one['smallest_distance']:.3g} at ({at}), loop {one['loop']}; "
                f"{100 * one['share_within_margin']:.3g} % of the reach is nearer than {margin:g}",
                soft_wrap=True,
            )
    for one in found["maps"]:
        passed = "is passed" if one["second_kind_passed"] else "is not passed"
        out.print(
            f"map over {', '.join(one['over'])}: {100 * one['reached_share']:.3g} % reached, the second kind {passed}",
        )


def _print_inertia(rows: list[dict[str, Any]], margin: float) -> None:
    title = f"Inertia at each motor, the others held (poses at least {margin:g} from singular)"
    held = Table("motor", "from", "to", "ratio", "5 %", "median", "95 %", "", title=title, title_justify="left")
    free = Table("motor", "from", "to", "", title="Inertia at each motor, the others free", title_justify="left")
    weights = Table("motor", "from", "to", "", title="Gravity's load on each motor", title_justify="left")
    for row in rows:
        one, other, weight = row["others_held"], row["others_free"], row["gravity"]
        ratio = "-" if one["ratio"] is None else f"{one['ratio']:.3g}"
        values = [f"{one[key]:.3g}" for key in ("min", "max", "p5", "median", "p95")]
        held.add_row(row["motor"], *values[:2], ratio, *values[2:], row["unit"])
        free.add_row(row["motor"], f"{other['min']:.4g}", f"{other['max']:.4g}", row["unit"])
        force = "N m" if row["unit"] == "kg m^2" else "N"
        weights.add_row(row["motor"], f"{weight['min']:.4g}", f"{weight['max']:.4g}", force)
    for table in (held, free, weights):
        out.print(table)
