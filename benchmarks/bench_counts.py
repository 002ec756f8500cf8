"""Operations of the smallest programs found, beside the best that others need for the same functions.

    python benchmarks/bench_counts.py [--effort 60] [--seed 0] [--only puma560] [--robots] [--ship] [--stored] ...

Searches from nothing stored; with --stored it counts the programs on file instead. The peers' figures are theirs,
measured on the very same robots and functions and counted the same way (docs/optimiser.md says by whom). With --robots
also every fixed-base arm of up to seven joints of the package example-robot-data, against Pinocchio traced in CasADi,
common subexpressions shared (needs g++ and the packages casadi, pin and cmeel-eigen; Pinocchio is compiled over
CasADi's scalars from its headers). With --ship what is found goes among the programs of the package where it is smaller
than what is there. Writes benchmarks/results/counts.json.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import emdeg
from emdeg.programs.build import plain_program
from emdeg.programs.ir import count
from peer import casadi_library, model_arrays, pointer
from record import record
from ship_programs import ship

TABLE = [
    # robot, function, best peer, its name, what we want to reach
    ("puma560", "inverse_dynamics", 362, "OpenSYMORO, base parameters, best frames", 260),
    ("puma560", "mass_matrix", 227, "SymPyBotics, base parameters", 140),
    ("puma560_emdeg", "elements", 418, "EMDEG, recounted", 320),
    ("puma560", "coriolis_matrix", 4836, "SymPyBotics, symbolic parameters", 400),
    ("puma560", "forward_dynamics", 1034, "OpenSYMORO", 550),
    ("stanford_arm", "inverse_dynamics", 218, "a plain trace with base parameters; Kane and Levinson: 1040", 180),
    ("ur5e", "inverse_dynamics", 315, "OpenSYMORO", 252),
    ("iiwa14", "inverse_dynamics", 434, "OpenSYMORO", 347),
    ("panda", "inverse_dynamics", 649, "OpenSYMORO", 519),
    ("ur5e", "mass_matrix", 188, "SymPyBotics", 150),
    ("iiwa14", "mass_matrix", 329, "OpenSYMORO", 263),
    ("panda", "mass_matrix", 530, "OpenSYMORO", 424),
    ("ur5e", "forward_dynamics", 1021, "OpenSYMORO", 714),
    ("iiwa14", "forward_dynamics", 1121, "OpenSYMORO", 784),
    ("panda", "forward_dynamics", 1807, "OpenSYMORO", 1264),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--effort", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--robots", action="store_true")
    parser.add_argument("--ship", action="store_true")
    parser.add_argument("--stored", action="store_true", help="count the programs on file; search for nothing")
    parser.add_argument("--jobs", type=int, default=2, help="searches at a time")
    arguments = parser.parse_args()
    chosen = [row for row in TABLE if arguments.only in f"{row[0]} {row[1]}"]
    rows = []
    print(f"{'robot':14}{'function':20}{'peer':>6}{'plain':>7}{'found':>7}{'of peer':>9}{'aim':>6}{'seconds':>9}")
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(partial(searched, arguments), chosen):
            rows.append(row)
            print(
                f"{row['robot']:14}{row['function']:20}{row['peer']:6}{row['plain']:7}{row['found']:7}"
                f"{row['found'] / row['peer']:9.2f}{row['aim']:6}{row['seconds']:9.1f}",
                flush=True,
            )
    others = other_robots(arguments) if arguments.robots else []
    record("counts", {"table": rows, "others": others})


def searched(arguments: argparse.Namespace, line: tuple[str, str, int, str, int]) -> dict[str, Any]:
    """A line of the table with what was found."""
    name, function, *_ = line
    robot = emdeg.load(name)
    if arguments.stored:
        on_file = count(emdeg.program(robot, function))
        return _line(line, robot) | {"found": on_file.total, "operations": on_file.as_dict(), "seconds": 0.0}
    found = emdeg.optimise(robot, function, arguments.effort, seed=arguments.seed)
    if arguments.ship:
        ship(robot, function, found, arguments.effort, arguments.seed)
    return _line(line, robot) | {
        "found": found.count.total,
        "operations": found.count.as_dict(),
        "seed": arguments.seed,
        "effort": arguments.effort,
        "seconds": round(found.seconds, 1),
        "false_pass_probability": found.certificate.false_pass_probability,
    }


def _line(line: tuple[str, str, int, str, int], robot: emdeg.Robot) -> dict[str, Any]:
    """What is known of a line of the table before any search."""
    name, function, peer, whose, aim = line
    plain = count(plain_program(robot, function)).total
    return {"robot": name, "function": function, "peer": peer, "whose": whose, "plain": plain, "aim": aim}


def robot_files() -> list[Path]:
    """The URDF files of the package example-robot-data (`pip install emdeg[robots]`)."""
    for entry in map(Path, sys.path):
        for folder in (entry / "cmeel.prefix" / "share", entry.parent.parent.parent / "share"):
            found = sorted(folder.glob("example-robot-data/robots/**/*.urdf"))
            if found:
                return found
    raise SystemExit("the package example-robot-data is not installed: pip install 'emdeg[robots]'")


def other_robots(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Arms nobody tuned for: our count beside Pinocchio traced in CasADi."""
    casadi_library()  # compiled once, before the processes part
    rows: list[dict[str, Any]] = []
    print(f"\n{'robot':34}{'joints':>7}{'Pinocchio':>11}{'plain':>7}{'found':>7}{'ratio':>7}")
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(partial(beside_pinocchio, arguments), arms()):
            rows.append(row)
            print(
                f"{row['robot']:34}{row['joints']:7}{row['pinocchio']:11}{row['plain']:7}{row['found']:7}"
                f"{row['found'] / row['pinocchio']:7.2f}",
                flush=True,
            )
    return rows


def arms() -> list[Path]:
    """The files of different fixed-base arms of up to seven joints."""
    found: list[Path] = []
    seen: set[str] = set()
    for path in robot_files():
        try:
            robot = emdeg.load(path, allow_nonphysical=True)
        except emdeg.RobotError:
            continue
        kind = repr([(link.joint.placement, link.inertia) for link in robot.links])
        if robot.n <= 7 and robot.is_serial and kind not in seen:
            seen.add(kind)
            found.append(path)
    return found


def beside_pinocchio(arguments: argparse.Namespace, path: Path) -> dict[str, Any]:
    robot = emdeg.load(path, allow_nonphysical=True)
    arrays = [pointer(array) for array in model_arrays(robot)]
    return {
        "robot": path.stem,
        "joints": robot.n,
        "pinocchio": casadi_library().rnea_operations(robot.n, *arrays),
        "plain": count(plain_program(robot, "inverse_dynamics")).total,
        "found": emdeg.optimise(robot, "inverse_dynamics", arguments.effort, seed=arguments.seed).count.total,
    }


if __name__ == "__main__":
    main()
