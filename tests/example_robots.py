"""Every robot file of the package example-robot-data, read by emdeg and asked of Pinocchio and MuJoCo.

`python -m tests.example_robots` writes what came out to docs/robots_tested.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

import emdeg
from emdeg.algebra import Exact
from emdeg.errors import RobotError
from emdeg.robot.assembly import assemble
from emdeg.robot.model import Robot
from emdeg.robot.urdf_reader import read_urdf
from tests.oracles import Mujoco, Pinocchio, relative_error, with_joints_fixed, without_fusing, without_meshes

STATES = 5


@dataclass
class Outcome:
    """What became of one file: the joints, the worst relative errors, and what was refused in which words."""

    name: str
    joints: int = 0
    locked: list[str] = field(default_factory=list)
    refused: str = ""
    """Why emdeg does not read it at all."""
    nonphysical: str = ""
    """Why emdeg reads it only with --allow-nonphysical."""
    singular: bool = False
    """Whether a joint moves nothing, so that no forward dynamics exists."""
    pinocchio: dict[str, float] = field(default_factory=dict)
    pinocchio_refused: str = ""
    mujoco: dict[str, float] = field(default_factory=dict)
    mujoco_refused: str = ""


def robot_files() -> dict[str, Path]:
    """Path below the package's folder of robots -> the file; empty where the package is not installed."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    found: dict[str, Path] = {}
    for entry in listed:
        parts = entry.parts
        if entry.suffix == ".urdf" and "robots" in parts and "example-robot-data" in parts:
            start = parts.index("robots", parts.index("example-robot-data")) + 1
            found["/".join(parts[start:])] = Path(str(entry.locate()))
    return dict(sorted(found.items()))


def examine(name: str, file: Path) -> Outcome:
    outcome = Outcome(name)
    text = file.read_text(encoding="utf-8")
    robot = _read(text, outcome)
    plain = with_joints_fixed(without_meshes(text), outcome.locked)
    try:
        model = pin.buildModelFromXML(plain)
    except (ValueError, RuntimeError) as problem:
        outcome.pinocchio_refused = str(problem).splitlines()[0]
        model = None
    if robot is None:
        return outcome
    outcome.joints = robot.n
    joints = [joint.name for joint in robot.joints]
    if model is not None:
        assert sorted(Pinocchio.joint_names(model)) == sorted(joints)
        outcome.pinocchio = _errors(robot, Pinocchio(model, joints), outcome)
    try:
        compiled = mujoco.MjModel.from_xml_string(without_fusing(plain))
    except ValueError as problem:
        outcome.mujoco_refused = " ".join(str(problem).split()).split(" Element name")[0].removeprefix("Error: ")
    else:
        outcome.mujoco = _errors(robot, Mujoco(compiled, joints), outcome)
    return outcome


def _read(text: str, outcome: Outcome) -> Robot | None:
    """The robot with its mimic joints locked at zero, or None."""
    try:
        draft = read_urdf(text, outcome.name, snap=0)
        outcome.locked = [body.joint for body in draft.bodies if body.refused]
        locks = {joint: Exact() for joint in outcome.locked}
        try:
            return assemble(draft, locks=locks)
        except RobotError as problem:
            if "--allow-nonphysical" not in problem.rule:
                raise
            outcome.nonphysical = str(problem)
            return assemble(draft, locks=locks, allow_nonphysical=True)
    except RobotError as problem:
        outcome.refused = str(problem)
        return None


def _errors(robot: Robot, oracle: Pinocchio | Mujoco, outcome: Outcome) -> dict[str, float]:
    """The worst relative error of each function over a few random states."""
    rng = np.random.default_rng(20240229)
    worst = {"inverse_dynamics": 0.0, "mass_matrix": 0.0, "forward_dynamics": 0.0}
    for _ in range(STATES):
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, robot.n))
        tau = oracle.inverse_dynamics(q, qd, qdd)
        M = oracle.mass_matrix(q)
        found = {
            "inverse_dynamics": relative_error(emdeg.inverse_dynamics(robot, q, qd, qdd), tau),
            "mass_matrix": relative_error(emdeg.mass_matrix(robot, q), M),
        }
        outcome.singular = outcome.singular or np.linalg.cond(M) > 1e14
        if not outcome.singular:
            efforts = rng.uniform(-10, 10, robot.n)
            ours = emdeg.forward_dynamics(robot, q, qd, efforts)
            found["forward_dynamics"] = relative_error(ours, oracle.forward_dynamics(q, qd, efforts))
        worst = {key: max(value, found.get(key, 0.0)) for key, value in worst.items()}
    if outcome.singular:
        del worst["forward_dynamics"]
    return worst


def page(outcomes: list[Outcome]) -> str:
    """The outcomes as a Markdown page."""

    def cell(errors: dict[str, float], refused: str) -> str:
        return f"{max(errors.values()):.0e}" if errors else (refused.replace("|", "/") or "-")

    agree = [o for o in outcomes if o.pinocchio]
    both = [o for o in outcomes if o.mujoco]
    worst = max(max(o.pinocchio.values()) for o in agree)
    worst_mujoco = max(max(o.mujoco.values()) for o in both)
    lines = [
        "# Robots tested",
        "",
        f"All {len(outcomes)} URDF files of the package example-robot-data {version('example-robot-data')}, read "
        "unsnapped, mimic joints locked at",
        f"zero, compared at {STATES} random states on inverse dynamics, mass matrix and forward dynamics. Each figure",
        "is the worst difference as a share of the largest value. Written by `python -m tests.example_robots`.",
        "",
        f"{len(agree)} agree with Pinocchio (worst {worst:.0e}), {len(both)} of them also with MuJoCo (worst "
        f"{worst_mujoco:.0e}); MuJoCo refuses the others.",
        "",
        "| file | joints | locked | Pinocchio | MuJoCo |",
        "|---|---:|---:|---|---|",
    ]
    for o in outcomes:
        if o.refused:
            continue
        mark = (" (singular: no forward dynamics)" if o.singular else "") + (
            " (with --allow-nonphysical)" if o.nonphysical else ""
        )
        lines.append(
            f"| {o.name}{mark} | {o.joints} | {len(o.locked) or ''} | {cell(o.pinocchio, o.pinocchio_refused)} | "
            f"{cell(o.mujoco, o.mujoco_refused)} |"
        )
    lines += ["", "## Refused", ""]
    lines += [f"- {o.refused}" for o in outcomes if o.refused]
    lines += ["", "## Refused unless --allow-nonphysical is given", ""]
    lines += [f"- {o.nonphysical.split('; correct the file')[0]}" for o in outcomes if o.nonphysical]
    return "\n".join(lines) + "\n"


def main() -> None:
    found = robot_files()
    if not found:
        sys.exit("the package example-robot-data is not installed")
    target = Path(__file__).parents[1] / "docs" / "robots_tested.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(page([examine(name, file) for name, file in found.items()]), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
