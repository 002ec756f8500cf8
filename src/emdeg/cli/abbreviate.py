"""`emdeg abbreviate`: a short model, how wrong it can be, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from emdeg.analysis import usable_workspace
from emdeg.approximation import (
    APPROXIMATED,
    JOINT_SIGNIFICANCE,
    SECONDS,
    SIGNIFICANCE,
    AbbreviationOptions,
    TradeoffPoint,
    abbreviate,
    curve,
    curve_csv,
    curve_of_programs,
    draw,
    is_long,
)
from emdeg.cli.approximations import Extras, print_result, result_data
from emdeg.cli.common import (
    BEST_SO_FAR,
    BestEffort,
    Json,
    UsageError,
    end_if_missed,
    print_json,
    refuse,
    say,
    write_new,
)
from emdeg.cli.effort import Seed, WeightsText, chosen_weights, default_effort, promised
from emdeg.cli.joint_ranges import RangeTexts, joint_ranges
from emdeg.cli.progress import working
from emdeg.codegen import may_replace
from emdeg.equations import lumped_model
from emdeg.errors import OverBudget
from emdeg.programs import Effort, count, label
from emdeg.programs import program as exact_program
from emdeg.robot import ACCELERATION, SPEED, Robot, Workspace, by_kind, load

_TARGET, _BOX, _MORE = "Targets", "The box of states", "More"


def command(
    robot: Robot,
    significance: Annotated[
        float, typer.Option(help="Drop terms below this part of an equation's greatest.", rich_help_panel=_TARGET)
    ] = SIGNIFICANCE,
    joint_significance: Annotated[
        float, typer.Option(help="Drop terms below this part of the joint's constant inertia.", rich_help_panel=_TARGET)
    ] = JOINT_SIGNIFICANCE,
    neglect: Annotated[
        list[str] | None,
        typer.Option(metavar="CONSTANT", help="Drop a constant everywhere. Repeatable.", rich_help_panel=_TARGET),
    ] = None,
    keep_uncertain: Annotated[
        bool,
        typer.Option("--keep-uncertain", help="Keep constants not told from zero.", rich_help_panel=_TARGET),
    ] = False,
    worst_error: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTIONS",
            help="Smallest model within these parts of each joint's largest effort.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    at_most: Annotated[
        int | None,
        typer.Option(metavar="N", help="The least error with so many operations.", min=0, rich_help_panel=_TARGET),
    ] = None,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="--worst-error is in N m and N.", rich_help_panel=_TARGET)
    ] = False,
    of_friction: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Within this part of each joint's friction, its mean over speeds.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    of_tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Within this part of what tolerances leave unknown of efforts.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    function: Annotated[
        str, typer.Option(help=f"Of which function: {', '.join(APPROXIMATED)}.", rich_help_panel=_TARGET)
    ] = "inverse_dynamics",
    average_error: Annotated[
        float | None,
        typer.Option(help="M's diagonal and g, each entry within this average error.", rich_help_panel=_TARGET),
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="PARTS", help="M, b, c, g, separated by commas.")] = None,
    range_: RangeTexts = None,
    lower: Annotated[
        str | None, typer.Option(metavar="LIST", help="Lowest positions [rad, m].", rich_help_panel=_BOX)
    ] = None,
    upper: Annotated[
        str | None, typer.Option(metavar="LIST", help="Highest positions [rad, m].", rich_help_panel=_BOX)
    ] = None,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help=f"Largest speeds [rad/s, m/s]; else the limits in the robot's file, or {SPEED:g}.",
            rich_help_panel=_BOX,
        ),
    ] = None,
    acceleration: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Largest accelerations [rad/s^2, m/s^2].", rich_help_panel=_BOX)
    ] = str(ACCELERATION),
    seconds: Annotated[float, typer.Option(help="Processor time [s] for search and certification.", min=1)] = SECONDS,
    seed: Seed = 0,
    weights: WeightsText = "operations",
    tables_: Annotated[
        bool, typer.Option("--tables", help="Operations by method, and rates attainable.", rich_help_panel=_MORE)
    ] = False,
    flops: Annotated[float, typer.Option(help="Operations a second, for the rates.", rich_help_panel=_MORE)] = 1e5,
    ratio: Annotated[int, typer.Option(help="Rate parts for each configuration part.", rich_help_panel=_MORE)] = 4,
    processors: Annotated[
        int | None, typer.Option(help="Split the program among so many.", rich_help_panel=_MORE)
    ] = None,
    hold: Annotated[
        int | None,
        typer.Option(help="Extra error of holding the configuration part for so many steps.", rich_help_panel=_MORE),
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(metavar="FILE.toml|NAME", help="The motion for --hold.", rich_help_panel=_MORE),
    ] = None,
    tradeoff: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Draw operations against error; a CSV beside.", rich_help_panel=_MORE),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROBOT",
            help="Another mechanism of the same geometry on the curve, its error certified. Repeatable.",
            rich_help_panel=_MORE,
        ),
    ] = None,
    emit: Annotated[
        Path | None,
        typer.Option(metavar="FILE.c", help="C of the short inverse dynamics, in two rates.", rich_help_panel=_MORE),
    ] = None,
    robot_file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE.toml",
            help="The robot with fewer inertial parameters within the errors: a robot file again.",
            rich_help_panel=_MORE,
        ),
    ] = None,
    best_effort: BestEffort = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    json: Json = False,
) -> None:
    """A short model: by significance, or the smallest found within given errors; its error certified.

    A target that is missed is exit code 1: what was reached is printed, nothing is written unless --best-effort.

    Examples:

      emdeg abbreviate puma560 --significance 0.01 --joint-significance 0.001

      emdeg abbreviate puma560 --worst-error 0.01,0.01,0.01,0.03,0.03,0.03 --emit short.c

      emdeg abbreviate ur5e --worst-error 0.02 --emit short.c

      emdeg abbreviate ur5e --function gravity --at-most 10

      emdeg abbreviate puma560 --of-tolerance 0.5 --out short.toml

      emdeg abbreviate jpl_rrp --only M,g --average-error 0.05

      emdeg abbreviate delta --worst-error 0.02 --range x=-0.1:0.1 --range y=-0.1:0.1 --range z=-0.5:-0.4
    """
    refuse({"--beside": beside and tradeoff is None}, "goes with --tradeoff")
    check_targets(robot, average_error)
    refuse({"--absolute": absolute and worst_error is None}, "goes with --worst-error")
    rule = {"--significance": significance != SIGNIFICANCE, "--neglect": neglect or None}
    rule |= {"--joint-significance": joint_significance != JOINT_SIGNIFICANCE, "--keep-uncertain": keep_uncertain}
    of_efforts = {"--at-most": at_most, "--absolute": absolute, "--of-friction": of_friction}
    of_efforts |= {"--of-tolerance": of_tolerance, "--function": function != "inverse_dynamics"}
    of_programs = {"--tables": tables_, "--processors": processors, "--hold": hold, "--emit": emit}
    if tradeoff is not None:
        others = {"--worst-error": worst_error, "--average-error": average_error, "--only": only, "--out": robot_file}
        others |= {"--weights": weights != "operations", "--seed": seed or None, "--best-effort": best_effort}
        refuse(
            rule | of_efforts | of_programs | others, "does not go with --tradeoff, which draws a curve of many targets"
        )
    elif average_error is not None:
        refuse(
            rule | of_efforts | of_programs, "does not go with --average-error, which is about each entry of M and g"
        )
    elif any(target is not None for target in (worst_error, at_most, of_friction, of_tolerance)):
        refuse(rule, "is the rule for a model without targets")
        refuse({"--tables": tables_}, "is the paper's account of terms, for a model without targets")
    if emit is not None:
        may_replace(emit, force)
    if robot_file is not None:
        if robot_file.suffix != ".toml":
            raise UsageError(f"--out writes a robot file; {robot_file.name} does not end in .toml")
        if at_most is not None or average_error is not None or function != "inverse_dynamics":
            raise UsageError("--out is within errors of efforts: not with --at-most, --average-error, --function")
    weighed = chosen_weights(weights)
    motion = _motion(robot, hold, trajectory)
    extras = Extras(
        flops, ratio, tables_, processors, hold, motion, emit, robot_file, seed, weighed, best_effort, force
    )
    with promised(seconds) as (time, stop):
        try:
            ranges = joint_ranges(range_ or []) | _ends(robot, _numbers(lower), _numbers(upper))
            where = usable_workspace(robot, ranges, speed=_numbers(speed), acceleration=_numbers(acceleration))
            if tradeoff is not None:
                _draw(robot, where, tradeoff, {name: load(name) for name in beside or ()}, time, force, json)
                return
            with working(f"abbreviating {robot.name}") as tell:
                short = abbreviate(
                    robot,
                    AbbreviationOptions(
                        function=function,
                        only=only or ("M,b,c,g" if tables_ else None),  # the paper's tables are about terms
                        significance=significance,
                        joint_significance=joint_significance,
                        neglect=neglect or (),
                        keep_uncertain=keep_uncertain,
                        worst_error=_numbers(worst_error),
                        absolute=absolute,
                        at_most=at_most,
                        of_friction=of_friction,
                        of_tolerance=of_tolerance,
                        average_error=average_error,
                        where=where,
                        searching=default_effort(),
                        seed=seed,
                        weights=weighed,
                    ),
                    effort=time,
                    progress=lambda phase, best: tell(f"{phase}, {best:g} {label(weighed)}"),
                    tell=tell,
                )
                data = result_data(short, replace(extras, tell=tell), time, lambda: stop.asked)
        except ValueError as problem:
            raise UsageError(_as_options(str(problem))) from None
        except OverBudget as problem:
            if not stop.asked:
                raise
            raise KeyboardInterrupt from problem
    data["interrupted"] = stop.asked
    if json:
        print_json(data)
    else:
        print_result(data)
    files = emit is not None or robot_file is not None
    end_if_missed(short.missed, best_effort, files, BEST_SO_FAR if stop.asked else "")


def _as_options(text: str) -> str:
    """What a function says of its arguments, in the words of the command line."""
    for name in ("worst_error", "at_most", "of_friction", "of_tolerance", "keep_uncertain"):
        text = text.replace(name, "--" + name.replace("_", "-"))
    return text


def _motion(robot: Robot, hold: int | None, trajectory: str | None) -> tuple[NDArray, NDArray, NDArray] | None:
    """Positions, speeds and accelerations along the trajectory, a millisecond apart."""
    if (hold is None) != (trajectory is None):
        raise UsageError("--hold and --trajectory go together")
    if hold is None or trajectory is None:
        return None
    if hold < 1:
        raise UsageError("--hold needs a number of steps, 1 at least")
    from emdeg.simulation.scenarios import load_trajectory

    motion, scenario = load_trajectory(trajectory, robot)
    q, qd, qdd = motion(np.arange(0.0, scenario.duration, 1e-3))
    return q, qd, qdd


def _ends(robot: Robot, lower: list[float] | None, upper: list[float] | None) -> dict[str, tuple[float, float]]:
    """Every joint's range from the lists of --lower and --upper; where one is missing, the joint's own end."""
    if lower is None and upper is None:
        return {}
    n = robot.freedoms
    if any(ends is not None and len(ends) != n for ends in (lower, upper)):
        raise UsageError(f"a workspace needs {n} lower and {n} upper positions")
    found = {}
    for k, joint in enumerate(robot.coordinates):
        turn = math.pi if joint.kind == "revolute" else None
        low = lower[k] if lower else -turn if turn and joint.limits.lower is None else joint.limits.lower
        high = upper[k] if upper else turn if joint.limits.upper is None else joint.limits.upper
        if low is not None and high is not None:
            found[joint.name] = float(low), float(high)
    return found


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{text!r} is not a list of numbers with commas between them") from None


@by_kind
def check_targets(robot: Robot, average_error: float | None) -> None:
    """RobotError for targets that this kind of robot cannot have."""


@by_kind
def check_beside(robot: Robot, beside: Mapping[str, Robot]) -> None:
    """UsageError where other robots cannot be drawn beside this one."""
    if beside:
        raise UsageError("--beside is for mechanisms with closed loops")


@by_kind
def curve_points(
    robot: Robot, where: Workspace, time: Effort, beside: Mapping[str, Robot], tell: Callable[[str], None]
) -> tuple[str, Sequence[TradeoffPoint]]:
    """(what is asked of each point, operations against error)."""
    if is_long(robot):
        return "worst_error", curve_of_programs(robot, where, effort=time, tell=tell)
    return "significance", curve(lumped_model(robot), where, effort=time, tell=tell)


def _draw(
    robot: Robot, where: Workspace, path: Path, beside: dict[str, Robot], time: Effort, force: bool, json: bool
) -> None:
    check_beside(robot, beside)
    with working(f"abbreviating {robot.name}") as tell:
        asked, points = curve_points(robot, where, time, beside, tell)
    joints = [joint.name for joint in robot.driven]
    write_new(path.with_suffix(".csv"), curve_csv(points, joints, asked), force)
    exact = count(exact_program(robot, "inverse_dynamics")).total
    draw(points, joints, f"{robot.title or robot.name}: length against error", path, exact)
    say(f"wrote {path} and {path.with_suffix('.csv')}")
    if json:
        fields = ("mul", "add", "operations", "found", "certified")
        named = [{"beside": p.name} if p.name else {asked: p.asked} for p in points]
        print_json([name | {field: getattr(p, field) for field in fields} for name, p in zip(named, points)])
