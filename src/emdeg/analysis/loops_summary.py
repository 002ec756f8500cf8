"""The parts of an analysis of closed loops as plain data (for JSON), figures written where a folder is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.analysis.loops import MARGIN, Extreme, MotorLoad, Poses, home, motor_loads, poses, ray_ranges
from emdeg.analysis.loops_map import draw_lines, draw_map, plane
from emdeg.analysis.motion import SampledMotion
from emdeg.analysis.overview import Analysis
from emdeg.loops import ready, weak_loops
from emdeg.robot import Robot, Workspace, joint_number, workspace

LOOP_PARTS = ("workspace", "singularities", "inertia")


def parts_of(robot: Robot) -> tuple[str, ...]:
    """The parts an analysis of a mechanism with closed loops may have."""
    return LOOP_PARTS


def analysed(
    robot: Robot,
    chosen: Sequence[str],
    *,
    ranges: Mapping[str, Sequence[float]] | None,
    over: tuple[str, str] | None,
    samples: int | None,
    margin: float,
    folder: Path | None,
    tell: Callable[[str], None],
    formulas: Sequence[str],
    ratios: Sequence[tuple[str, str]] | None,
    held: Mapping[str, float] | None,
    motion: SampledMotion | None,
    **of_trees: Any,
) -> Analysis:
    """The chosen parts of the analysis of a mechanism with closed loops."""
    if formulas or ratios or held or motion:
        raise ValueError("formulas, ratios, held joints and motions are not known for closed loops")
    pair = None if over is None else (joint_number(robot, over[0]) - 1, joint_number(robot, over[1]) - 1)
    tell(", ".join(chosen))
    found, files = loops_study(robot, ranges, chosen, over=pair, samples=samples, margin=margin, folder=folder)
    return Analysis(robot, found, tuple(files))


def loops_study(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]] | None = None,
    parts: Sequence[str] = LOOP_PARTS,
    *,
    over: tuple[int, int] | None = None,
    samples: int | None = None,
    margin: float = MARGIN,
    folder: Path | None = None,
) -> tuple[dict[str, Any], list[Path]]:
    """(what is said of a robot with closed loops, files written); `over` are two coordinates' places for the map."""
    files: list[Path] = []
    result: dict[str, Any] = {
        "robot": robot.name,
        "mobility": str(ready(robot).mobility),
        "coordinates": [joint.name for joint in robot.coordinates],
        "driven": [joint.name for joint in robot.driven],
        "payload": [{"mass": float(p.mass), "link": p.link} for p in robot.payloads],
        "start": home(robot).tolist(),
        "margin": margin,
    }
    if not parts:
        return result, files
    rays = ray_ranges(robot, ranges or {})
    where = workspace(robot, {**rays, **(ranges or {})})
    found = poses(robot, where, samples, margin)
    if "workspace" in parts:
        result["workspace"] = _workspace(robot, found, rays)
    if "singularities" in parts:
        result["singularities"] = _singularities(robot, where, found, margin, over, folder, files)
    if "inertia" in parts:
        result["inertia"] = [_load(one) for one in motor_loads(robot, found, margin)]
        if folder is not None:
            files += draw_lines(robot, where, folder, f"{robot.name}_motors", margin)
    return result, files


def _workspace(robot: Robot, found: Poses, rays: Collection[str]) -> dict[str, Any]:
    volume, error = found.volume
    at = found.q[found.reached]
    turning = sum(joint.kind == "revolute" for joint in robot.coordinates)
    powers = (("m", robot.freedoms - turning), ("rad", turning))
    units = [unit if power == 1 else f"{unit}^{power}" for unit, power in powers if power]
    return {
        "box": [
            {"coordinate": name, "low": low, "high": high, "found_by_rays": name in rays}
            for name, (low, high) in zip(found.where.joints, found.where.ranges)
        ],
        "samples": len(found.q),
        "reached": int(found.reached.sum()),
        "usable": int(found.usable.sum()),
        "volume": volume,
        "volume_standard_error": error,
        "volume_unit": " ".join(units),
        "extent": [
            {"coordinate": name, "low": low, "high": high}
            for name, low, high in zip(found.where.joints, at.min(axis=0).tolist(), at.max(axis=0).tolist())
        ]
        if len(at)
        else [],
    }


def _singularities(
    robot: Robot,
    where: Workspace,
    found: Poses,
    margin: float,
    over: tuple[int, int] | None,
    folder: Path | None,
    files: list[Path],
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for kind, values in (("first", found.first), ("second", found.second)):
        if not found.reached.any():
            break
        at = int(np.nanargmin(values))
        loop = weak_loops(robot, found.q[at])[kind]
        result[kind] = {
            "smallest_distance": float(values[at]),
            "at": found.q[at].tolist(),
            "loop": loop,
            "share_within_margin": float(np.mean(values[found.reached] < margin)),
        }
    pairs = [over] if over is not None else list(combinations(range(robot.freedoms), 2))[:2]
    maps = []
    for i, j in pairs if ready(robot).plan is not None else []:
        one = plane(robot, where, i, j)
        names = [robot.coordinates[k].name for k in (i, j)]
        maps.append(
            {
                "over": names,
                "reached_share": float(one.reached.mean()),
                "second_kind_passed": one.crossed,
                "smallest_first": float(np.nanmin(one.first)) if one.reached.any() else None,
                "smallest_second": float(np.nanmin(one.second)) if one.reached.any() else None,
            }
        )
        if folder is not None and one.reached.any():
            files += draw_map(robot, one, folder, f"{robot.name}_singularities_{names[0]}_{names[1]}", margin)
    result["maps"] = maps
    return result


def _pair(pair: tuple[Extreme, Extreme]) -> dict[str, Any]:
    low, high = pair
    return {"min": low.value, "at_min": list(low.at), "max": high.value, "at_max": list(high.at)}


def _load(one: MotorLoad) -> dict[str, Any]:
    held, free = _pair(one.held), _pair(one.free)
    ratio = one.held[1].value / one.held[0].value if one.held[0].value > 0 else None
    shares = dict(zip(("p5", "median", "p95"), one.usual))
    return {
        "motor": one.motor,
        "unit": one.unit,
        "others_held": held | {"ratio": ratio} | shares,
        "others_free": free,
        "gravity": _pair(one.gravity),
    }


def not_summed(robot: Robot) -> tuple[str, ...]:
    """A motor's whole effort is not a sum along a coordinate."""
    return ("tau",)
