"""`emdeg analyse`: loads over the workspace, couplings, servo view, capability, measured against modelled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import numpy as np
import typer

from emdeg import analysis
from emdeg.algebra import Angle
from emdeg.analysis import TREE_PARTS as PARTS
from emdeg.analysis import SampledMotion, check_folder
from emdeg.cli.analyse_loops import analyse_loops, say_written
from emdeg.cli.analyse_tables import print_analysis
from emdeg.cli.common import (
    BestEffort,
    Json,
    UsageError,
    assignments,
    end_if_missed,
    print_json,
    refuse,
    say,
)
from emdeg.cli.joint_ranges import RangeTexts, joint_ranges, quantity
from emdeg.cli.progress import working
from emdeg.documents import write_whole
from emdeg.errors import RobotError, UnknownEntry
from emdeg.identification import Recording, comparison_part, doubts, read_motion, read_recording
from emdeg.robot import Robot, joint_number, workspace

GAP = 1e-3
"""The relative gap that certified bounds are sought to where none is asked for."""
SHARE, SECONDS, MARGIN = 0.1, 25.0, 0.05
"""Of --share, --seconds and --margin where none is given."""

FrictionName = Literal["auto", "stribeck", "coulomb", "none"]


def analyse(
    robot: Robot,
    only: Annotated[
        str | None, typer.Option(metavar="PARTS", help="Separated by commas: " + ", ".join(PARTS) + ".")
    ] = None,
    range_: RangeTexts = None,
    formula: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Certified range of entries such as M12,b112,c21,g3.")
    ] = None,
    ratios: Annotated[
        str | None, typer.Option("--ratio", metavar="A/B", help="Ratios of entries, such as M12/M11,g2/M22.")
    ] = None,
    over: Annotated[
        str | None, typer.Option(metavar="JOINT,JOINT", help="The two joints of the ratios' curves and maps.")
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=VALUE", help="Reduced equations with joints held [rad, m, '30 deg'], M and g. Repeatable."
        ),
    ] = None,
    velocity_terms: Annotated[
        bool, typer.Option("--velocity-terms", help="Keep Coriolis and centrifugal terms with --hold.")
    ] = False,
    trajectory: Annotated[
        Path | None, typer.Option(metavar="CSV", help="t [s], q1.. [rad, m] (qd1.., qdd1..) for servo and importance.")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0, help="Reaction torque's share from which a motion counts as fast.")
    ] = SHARE,
    at: Annotated[
        str | None,
        typer.Option(metavar="Q", help="Capability: the tool's inertia and ellipsoid here, q1,q2,... [rad, m]."),
    ] = None,
    servo: Annotated[
        str | None,
        typer.Option(
            metavar="kp=..,kd=..,period=..",
            help="Poles of a PD loop with these gains [N m/rad, N m s/rad; N/m, N s/m] and period [s], continuous and "
            "sampled, about --at or the workspace's middle.",
        ),
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="t [s], q1.. [rad, m], tau1.. [N m, N] (or i1.. [A]): model and friction against it."
        ),
    ] = None,
    law: Annotated[FrictionName, typer.Option(help="Friction to identify.")] = "auto",
    slowest: Annotated[
        float, typer.Option(min=0.0, help="Speed [rad/s, m/s] below which friction is not fitted.")
    ] = 0.0,
    window: Annotated[
        float | None, typer.Option(min=0.0, help="Filter's window [s] where rates are not recorded.")
    ] = None,
    torque_constants: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Torque per current [N m/A] at each joint.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            min=1e-9, max=0.5, help=f"Certified bounds: the relative gap to reach; else {GAP:g} where time allows."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time [s] for the certified bounds of each part.")] = SECONDS,
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write figures, and CSV beside each.")
    ] = None,
    samples: Annotated[int | None, typer.Option(min=1, max=10**7, help="Closed loops: poses to look at.")] = None,
    margin: Annotated[
        float, typer.Option(min=1e-6, max=1.0, help="Closed loops: distance from a singularity to keep, 0 .. 1.")
    ] = MARGIN,
    best_effort: BestEffort = False,
    json: Json = False,
) -> None:
    """Analyse a design: certified inertia and gravity loads, couplings, servo view, capability, measurements.

    A --gap that is not reached is exit code 1. Interrupted with Ctrl-C it prints the parts that are ready, and exits
    with code 130.

    Examples:

      emdeg analyse puma560

      emdeg analyse panda --payload mass=2,com=0:0:0.1 --range "q4=-170 deg:-5 deg" --out figures

      emdeg analyse my_arm.urdf --measured log.csv --law stribeck --json

      emdeg analyse delta --range z=-0.6:-0.3 --over x,z --out figures

      emdeg analyse delta --measured log.csv --law stribeck
    """
    _finite({"--share": share, "--slowest": slowest, "--window": window, "--gap": gap, "--seconds": seconds})
    if out_folder is not None:
        check_folder(out_folder)
    ranges = joint_ranges(range_ or [])
    if not robot.is_tree:
        options = {"--formula": formula, "--ratio": ratios, "--hold": hold, "--trajectory": trajectory}
        options |= {"--servo": servo, "--at": at, "--gap": gap, "--velocity-terms": velocity_terms}
        options |= {"--share": share != SHARE, "--seconds": seconds != SECONDS, "--best-effort": best_effort}
        refuse(options, f"is not known for closed loops; parts: {', '.join(analysis.LOOP_PARTS)}")
        if measured is None:
            _refuse_of_measured(torque_constants, slowest, law)
            refuse({"--window": window}, "goes with --measured")
        elif only is None:
            options = {"--range": range_, "--over": over, "--samples": samples, "--margin": margin != MARGIN}
            refuse(options, "is for parts of the analysis, which --measured leaves out unless --only names them")
        recording = None if measured is None else _recording(measured, robot, torque_constants, window)
        against = None if recording is None else partial(_compared, robot, recording, law, slowest, measured)
        with _aside(out_folder) as aside:
            kept = partial(_moved, folder=out_folder)
            analyse_loops(robot, ranges, only, over, samples, margin, aside, json, kept, against)
        return
    refuse({"--samples": samples, "--margin": margin != MARGIN}, "is for closed loops")
    refuse({"--velocity-terms": velocity_terms and hold is None}, "goes with --hold")
    if measured is None:
        _refuse_of_measured(torque_constants, slowest, law)
        refuse({"--window": window if trajectory is None else None}, "goes with --measured or --trajectory")
    asked = any(option is not None for option in (formula, ratios, hold, measured, servo))
    parts = _parts(only, asked)
    if not {"servo", "importance"} & set(parts):
        refuse({"--trajectory": trajectory}, "is for the parts servo and importance")
    if "capability" not in parts and servo is None:
        refuse({"--at": at}, "is for the part capability and for --servo")
    if "ratios" not in parts and ratios is None:
        refuse({"--over": over}, "is for the part ratios and for --ratio")
    refuse({"--share": share != SHARE and "servo" not in parts}, "is for the part servo")
    refuse({"--best-effort": best_effort and gap is None}, "goes with --gap")
    entries = formula is not None or ratios is not None
    if not entries and not {"loads", "ratios"} & set(parts):
        bounds = {"--gap": gap, "--seconds": seconds != SECONDS}
        refuse(bounds, "is for certified bounds: the parts loads and ratios, --formula and --ratio")
    along = {"servo", "importance"} if trajectory is not None else set()
    if not entries and not set(parts) - along and (servo is None or at is not None):
        refuse({"--range": range_}, "is for what is looked for over the workspace, which nothing here is")
    if ratios is None and measured is None and not set(parts) - {"capability"}:
        refuse({"--out": out_folder}, "writes figures, and there are none of this")
    pair = None if over is None else _pair(over)
    motion = None if trajectory is None else _motion(trajectory, robot, window)
    recording = None if measured is None else _recording(measured, robot, torque_constants, window)
    with _aside(out_folder) as aside:
        try:
            with working(f"analysing {robot.name}") as tell:
                found = analysis.analyse(
                    robot,
                    parts,
                    ranges=ranges,
                    formulas=[] if formula is None else [name.strip() for name in formula.split(",")],
                    ratios=None if ratios is None else [_ratio(one) for one in ratios.split(",")],
                    over=pair,
                    held=None if hold is None else _held(robot, assignments(hold, "--hold")),
                    velocity_terms=velocity_terms,
                    motion=motion,
                    share=share,
                    at=_configuration(robot, at),
                    gap=gap or GAP,
                    seconds=seconds,
                    folder=aside,
                    tell=tell,
                )
        except UnknownEntry as problem:
            raise UsageError(str(problem)) from None
        result, files = dict(found.data), list(found.files)
        if note := result.get("loads", {}).get("published_note"):
            say(f"note: {note}")
        for row in result.get("ratios", {}).get("chosen", ()):
            if row["unbounded"]:
                say(f"note: {row['ratio']} has no largest value: its denominator passes through zero")
        if recording is not None and found.interrupted is None:
            result["measured"], written = _compared(robot, recording, law, slowest, measured, aside)
            files += written
        if servo is not None:
            result["servo_loop"] = _servo_loop(robot, servo, _configuration(robot, at), ranges)
        missed = [] if gap is None else list(_wider(result, gap))
        if missed and not best_effort:
            files = []
        files = _moved(files, out_folder)
    if gap is not None:
        result["within_target"] = not missed
    result["files"] = [str(path) for path in files]
    say_written(files)
    if json:
        print_json(result)
    else:
        print_analysis(robot, result)
    part = found.interrupted
    stopped = "" if part is None else f" while working out {part}: the parts before it are complete"
    end_if_missed(missed, best_effort, files=out_folder is not None, interrupted=stopped)


def _refuse_of_measured(torque_constants: str | None, slowest: float, law: FrictionName) -> None:
    given = {"--torque-constants": torque_constants, "--slowest": slowest or None, "--law": law != "auto"}
    refuse(given, "goes with --measured")


def _recording(path: Path, robot: Robot, torque_constants: str | None, window: float | None) -> Recording:
    constants = None if torque_constants is None else [quantity(x) for x in torque_constants.split(",")]
    return read_recording(path, robot, torque_constants=constants, window=window)


def _compared(
    robot: Robot, recording: Recording, law: FrictionName, slowest: float, path: Path | None, folder: Path | None
) -> tuple[dict[str, Any], list[Path]]:
    """(the recording against the model, figures); doubts are said."""
    found, written = comparison_part(robot, recording, law, slowest, folder)
    for doubt in found["doubts"]:
        say(f"note: {path}: {doubt}")
    return found, written


@contextmanager
def _aside(folder: Path | None) -> Iterator[Path | None]:
    """A folder for figures until it is known that they are to stay."""
    if folder is None:
        yield None
        return
    with TemporaryDirectory(prefix="emdeg-") as name:
        yield Path(name)


def _moved(files: Sequence[Path], folder: Path | None) -> list[Path]:
    """The figures, and their data, in the folder that they were asked for in; all or none."""
    if folder is None or not files:
        return []
    contents = {folder / path.name: path.read_bytes() for path in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(contents)
    except OSError as problem:
        raise RobotError(f"cannot be written: {problem.strerror or problem}", file=str(folder)) from None
    return list(contents)


_NAMES = ("joint", "ratio", "formula", "quantity")


def _wider(found: Any, gap: float, place: str = "") -> Iterator[str]:
    """Every certified bound whose relative gap is above `gap`, in words; one that nothing was certified of too."""
    if isinstance(found, list | tuple):
        for one in found:
            yield from _wider(one, gap, place)
    elif isinstance(found, dict):
        named = next((str(found[key]) for key in _NAMES if key in found), "")
        place = f"{place} {named}".strip()
        if "gap" in found and not found.get("unbounded") and found.get("term", place):
            reached = found["gap"]
            if reached is None or reached > gap:
                figure = "nothing is certified" if reached is None else f"the gap is {reached:.3g}"
                yield f"{place}: {figure}, asked for was {gap:g}"
        for key, one in found.items():
            yield from _wider(one, gap, f"{place} {key.replace('_', ' ')}".strip())


def _finite(options: dict[str, float | None]) -> None:
    for name, value in options.items():
        if value is not None and not math.isfinite(value):
            raise UsageError(f"{name} needs a finite number; got {value}")


def _servo_loop(
    robot: Robot, text: str, at: list[float] | None, ranges: dict[str, tuple[float, float]]
) -> dict[str, Any]:
    """The poles of a PD loop about a configuration: s [1/s] of the continuous one, z of the sampled one."""
    from emdeg.simulation import closed_loop, pd, sampled_poles

    given = assignments(text.split(","), "--servo")
    if not {"kp", "kd"} <= set(given) <= {"kp", "kd", "period"}:
        raise UsageError(f"--servo needs kp=..,kd=.. and may have period=..; got {text!r}")
    kp, kd = ([quantity(given[key])] * robot.n for key in ("kp", "kd"))
    q = workspace(robot, ranges).middle if at is None else np.array(at)
    law, rest = pd(robot, kp, kd, q), np.zeros(robot.n)
    s = np.linalg.eigvals(closed_loop(robot, law, q, rest).A)
    verdict: dict[str, Any] = {"stable": bool(s.real.max() < 0)}
    poles: dict[str, Any] = {"q": q, "poles": _poles(s)}
    if "period" in given:
        z = sampled_poles(robot, law, q, rest, quantity(given["period"]))
        verdict["sampled_stable"] = bool(np.abs(z).max() < 1)
        poles["sampled_poles"] = _poles(z)
    return verdict | poles


def _poles(values: Any) -> list[dict[str, float]]:
    """The largest first."""
    order = sorted(values.tolist(), key=lambda one: (-abs(one), one.imag))
    return [{"real": one.real, "imag": one.imag, "size": abs(one)} for one in order]


def _parts(only: str | None, asked: bool) -> tuple[str, ...]:
    if only is None:
        return () if asked else PARTS
    parts = tuple(part.strip() for part in only.split(",") if part.strip())
    if not parts and not asked:
        raise UsageError(f"--only names no part. Parts: {', '.join(PARTS)}")
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"--only: there is no part {part!r}. Parts: {', '.join(PARTS)}")
    return parts


def _held(robot: Robot, given: dict[str, str]) -> dict[str, float]:
    """{joint: where it is held}, within its limits."""
    found = {}
    for name, text in given.items():
        number, value = joint_number(robot, name), quantity(text)
        joint = robot.joints[number - 1]
        if joint.kind == "prismatic" and Angle.parse(text.strip()).pi_times:
            raise UsageError(f"--hold {name}: it slides and is held at a length [m], not at {text}")
        low, high = joint.limits.lower, joint.limits.upper
        if (low is not None and value < float(low) - 1e-9) or (high is not None and value > float(high) + 1e-9):
            ends = f"{'-inf' if low is None else f'{float(low):g}'} to {'inf' if high is None else f'{float(high):g}'}"
            raise RobotError(f"it cannot be held at {value:g}, outside its limits {ends}", body=joint.name)
        found[joint.name] = value
    return found


def _configuration(robot: Robot, text: str | None) -> list[float] | None:
    if text is None:
        return None
    values = [quantity(part) for part in text.split(",")]
    if len(values) != robot.n:
        raise UsageError(f"--at needs {robot.n} positions, one a joint; got {len(values)}")
    return values


def _ratio(text: str) -> tuple[str, str]:
    above, slash, below = (part.strip() for part in text.partition("/"))
    if not slash:
        raise UsageError(f"--ratio: {text!r} is not of the form A/B")
    return above, below


def _pair(text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--over needs two different joints; got {text!r}")
    return names[0], names[1]


def _motion(path: Path, robot: Robot, window: float | None) -> SampledMotion:
    found = read_motion(path, robot, window=window)
    for doubt in doubts(found, robot):
        say(f"note: {path}: {doubt}")
    return found
