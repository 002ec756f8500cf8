"""What commands do of a mechanism with closed loops instead of what they do of a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from emdeg.approximation import TradeoffPoint, curve_of_programs
from emdeg.cli.common import UsageError, as_json, out, refuse, say
from emdeg.cli.derive import DEFAULT, Format, chosen_parts, put
from emdeg.cli.evaluate import read_state
from emdeg.cli.progress import working
from emdeg.documents import WRITERS, sections_data
from emdeg.dynamics import kind_of
from emdeg.errors import RobotError
from emdeg.loops import loops_of, mode, ready
from emdeg.loops.equations import (
    EXPANDED_PARTS,
    LOOP_PARTS,
    default_parts,
    derive_loops,
    expand_loops,
    expanded_document,
    loop_document,
)
from emdeg.programs import Effort
from emdeg.reports import number
from emdeg.robot import Robot, Workspace, symbolize


def derive(
    robot: Robot,
    *,
    only: str,
    format: Format,
    symbolic: bool,
    expand: bool,
    account: bool,
    budget: int,
    out_file: Path | None,
    force: bool,
    json: bool,
    frame: str | None,
    rows: str | None,
    symbolic_payload: str | None,
    frames: str,
    scheme: str,
) -> None:
    """The named blocks of a mechanism, or the reduced model expanded; what --only names of it."""
    if account:
        raise UsageError("--account is for open chains and trees")
    refuse({"--format": json and format not in ("text", "json")}, "does not go with --json")
    options = {"--frame": frame, "--rows": rows, "--symbolic-payload": symbolic_payload}
    options |= {"--frames": frames == "standard", "--scheme": scheme != "diagonal"}
    refuse(options, "is not known for closed loops")
    if symbolic:
        robot, _ = symbolize(robot)
    chosen = None if only == DEFAULT else chosen_parts(only, EXPANDED_PARTS if expand else LOOP_PARTS)
    if expand:
        parts = chosen or [part for part in EXPANDED_PARTS if part != "C_vw"]
        with working(f"expanding {robot.name}"):
            found = expanded_document(expand_loops(robot, budget=budget), parts)
    else:
        with working(f"deriving {robot.name}"):
            model = derive_loops(robot, budget=budget)
            found = loop_document(model, chosen or default_parts(model))
    if json or format == "json":
        written = as_json(sections_data(found))
    else:
        written = WRITERS[format](found)
    put(written, out_file, force)


def tolerance(robot: Robot, **options: Any) -> None:
    """No table of tolerances."""
    raise UsageError("tolerance is for open chains and trees")


def say_state(robot: Robot, function: str, q: str | None) -> None:
    """The mode that a mechanism's answer is for, and whose positions come out: on stderr."""
    if function == "joint_positions":
        say(f"joints: {', '.join(joint.name for joint in robot.joints)}")
    if q is None or q.lower().endswith(".csv"):
        return
    here = mode(robot, read_state(q, "q", robot))
    if here.sides:
        say(f"mode {here.said}")


def print_constraints(robot: Robot) -> None:
    """What closes the loops, and how the mechanism moves."""
    loops = loops_of(robot)
    for rod in loops.rods:
        out.print(f"rod {rod.name}: {number(rod.length)} m, {number(rod.mass)} kg")
    for closure in loops.closures:
        out.print(f"{closure.kind} joint {closure.name} closes a loop")
    out.print(
        f"coordinates: {', '.join(joint.name for joint in robot.coordinates)}; "
        f"driven: {', '.join(joint.name for joint in robot.driven)}"
    )
    if not robot.symbols:
        out.print(str(kind_of(robot).mobility(robot)), soft_wrap=True)


def constraints_data(robot: Robot) -> dict[str, Any]:
    """The same as plain data."""
    loops = loops_of(robot)
    data: dict[str, Any] = {
        "rods": [
            {"name": r.name, "length": str(r.length), "mass": str(r.mass), "com": str(r.com), "inertia": str(r.inertia)}
            for r in loops.rods
        ],
        "closures": [{"name": c.name, "type": c.kind} for c in loops.closures],
        "coordinates": [joint.name for joint in robot.coordinates],
        "driven": [joint.name for joint in robot.driven],
    }
    if not robot.symbols:
        found = ready(robot).mobility
        data |= {
            "equations": found.equations,
            "rank": found.rank,
            "mobility": found.freedoms,
            "redundant": list(found.redundant),
        }
    return data


def check_margin(robot: Robot, margin: float) -> None:
    """A margin is known of closed loops."""


def curve_points(
    robot: Robot, where: Workspace, time: Effort, beside: Mapping[str, Robot], tell: Callable[[str], None]
) -> tuple[str, Sequence[TradeoffPoint]]:
    """Programs within rising errors, of this mechanism and of others beside it."""
    return "worst_error", curve_of_programs(robot, where, effort=time, beside=beside, tell=tell)


def check_beside(robot: Robot, beside: Mapping[str, Robot]) -> None:
    """Other descriptions of a mechanism may be drawn beside it."""


def check_targets(robot: Robot, average_error: float | None) -> None:
    """RobotError for targets of a model without closed loops."""
    if average_error is not None:
        raise RobotError("entries of M and g are not abbreviated for closed loops; --worst-error is", body=robot.name)
