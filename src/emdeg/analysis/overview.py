"""All parts of an analysis in one call, for a tree or a mechanism with closed loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emdeg.analysis import loops_summary, summary
from emdeg.analysis.capability_summary import capability_part
from emdeg.analysis.loops import MARGIN
from emdeg.analysis.motion import SampledMotion
from emdeg.analysis.ratios import ratio
from emdeg.analysis.summary import Scope
from emdeg.documents import brief, table
from emdeg.errors import EmptyBox, RobotError
from emdeg.robot import Robot, RobotLike, as_robot, joint_number, workspace

TREE_PARTS = ("loads", "ratios", "servo", "importance", "capability")
LOOP_PARTS = loops_summary.PARTS


@dataclass(frozen=True, repr=False)
class Analysis:
    """What `analyse` found: `data` by part, plain (numbers, arrays, lists, dicts); the files written on the way."""

    robot: Robot
    data: dict[str, Any]
    files: tuple[Path, ...] = ()
    interrupted: str | None = None
    """The part that a keyboard interrupt ended; it and those after it are not in `data`."""

    def __getitem__(self, part: str) -> Any:
        return self.data[part]

    def _repr_html_(self) -> str:
        rows = [(part, brief(found)) for part, found in self.data.items() if part != "robot"]
        return table(f"Analysis of {self.robot.name}", rows, ("part", "found"))

    def __repr__(self) -> str:
        return f"<Analysis of {self.robot.name}: {', '.join(self.data)}; {len(self.files)} files>"


def parts_of(robot: Robot) -> tuple[str, ...]:
    """The parts an analysis of this robot may have."""
    return TREE_PARTS if robot.is_tree else LOOP_PARTS


def analyse(
    robot: RobotLike,
    parts: Sequence[str] | None = None,
    *,
    ranges: Mapping[str, Sequence[float]] | None = None,
    formulas: Sequence[str] = (),
    ratios: Sequence[tuple[str, str]] | None = None,
    over: tuple[str, str] | None = None,
    held: Mapping[str, float] | None = None,
    velocity_terms: bool = False,
    motion: SampledMotion | None = None,
    share: float = 0.1,
    at: Sequence[float] | None = None,
    gap: float = 1e-3,
    seconds: float = 25.0,
    samples: int | None = None,
    margin: float = MARGIN,
    folder: Path | None = None,
    tell: Callable[[str], None] = lambda part: None,
) -> Analysis:
    """Loads, couplings, servo view, importance of terms, capability of a robot over its workspace, in SI units.

    `parts`: some of `parts_of(robot)`, by default all. `ranges` {joint: (low, high)} [rad, m] narrow the workspace.
    `formulas` (M12, g3) get their certified range; `ratios` [(M12, M11)] replace all couplings; `over` are the two
    joints of maps and curves; `held` {joint: position} asks for the reduced equations of the others, with
    `velocity_terms` or without, and all else is then looked at with these joints there.
    `motion` is what servo view and importance look along; `share` the reaction's share
    of the torque from which a motion counts as fast; `at` the configuration of the tool's ellipsoids. Certified
    bounds are sought to the relative `gap` for `seconds` a part. With closed loops: `samples` poses, those usable
    that are at least `margin` from singular. Figures go to `folder`, if one is given. `tell` is told each part before
    it is worked out; a keyboard interrupt ends the analysis with the parts that are ready.

    >>> import emdeg
    >>> found = emdeg.analyse("planar2r", ["loads"], seconds=1)
    >>> round(found["loads"]["no_load"][0]["inertia_max"]["value"], 3)
    2.667
    """
    robot = as_robot(robot)
    chosen = tuple(parts_of(robot) if parts is None else parts)
    for part in chosen:
        if part not in parts_of(robot):
            raise ValueError(f"there is no part {part!r}; its analysis has {', '.join(parts_of(robot))}")
    if not robot.is_tree:
        if formulas or ratios or held or motion:
            raise ValueError("formulas, ratios, held joints and motions are not known for closed loops")
        pair = None if over is None else (joint_number(robot, over[0]) - 1, joint_number(robot, over[1]) - 1)
        tell(", ".join(chosen))
        found, files = loops_summary.loops_study(
            robot, ranges, chosen, over=pair, samples=samples, margin=margin, folder=folder
        )
        return Analysis(robot, found, tuple(files))
    still = {name: (value, value) for name, value in (held or {}).items()}
    looks = bool(chosen or formulas) or ratios is not None
    # Nothing is looked for over the workspace: where a joint slides without limits, none need be given.
    idle = {} if looks else {j.name: (0.0, 0.0) for j in robot.joints if j.kind == "prismatic"}
    scope = Scope(robot, workspace(robot, {**idle, **(ranges or {}), **still}), gap, seconds, folder)
    data: dict[str, Any] = {
        "robot": robot.name,
        "payload": [{"mass": str(p.mass) if p.mass.symbols else float(p.mass), "link": p.link} for p in robot.payloads],
    }
    if looks:
        data["workspace"] = [
            {"joint": name, "low": low, "high": high, "free": free}
            for name, (low, high), free in zip(scope.where.joints, scope.where.ranges, scope.where.free)
        ]
    steps: dict[str, Callable[[], Any]] = {}
    if formulas:
        steps["formulas"] = lambda: summary.formula_part(scope, formulas)
    if "loads" in chosen:
        steps["loads"] = lambda: summary.loads_part(scope)
    if "ratios" in chosen or ratios is not None:
        pair = None if over is None else (joint_number(robot, over[0]), joint_number(robot, over[1]))
        steps["ratios"] = lambda: summary.ratios_part(
            scope, None if ratios is None else [ratio(scope.model(), above, below) for above, below in ratios], pair
        )
    if held is not None:
        places = {joint_number(robot, name): value for name, value in held.items()}
        steps["restricted"] = lambda: summary.restricted_part(scope, places, velocity_terms)
    if "servo" in chosen:
        steps["servo"] = lambda: summary.servo_part(scope, motion, share)
    if "importance" in chosen:
        steps["importance"] = lambda: summary.importance_part(scope, motion)
    if "capability" in chosen:
        steps["capability"] = lambda: capability_part(scope, at)
    for part, step in steps.items():
        tell(part)
        try:
            with _needs_numbers(robot):
                data[part] = step()
        except KeyboardInterrupt:
            return Analysis(robot, data, tuple(scope.written), interrupted=part)
    return Analysis(robot, data, tuple(scope.written))


@contextmanager
def _needs_numbers(robot: Robot) -> Iterator[None]:
    try:
        yield
    except EmptyBox as problem:
        raise RobotError(f"{problem}; its loads and ratios need numbers", body=robot.name) from None
