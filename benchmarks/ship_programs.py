"""Search for the programs that come with the package, and file them where they are shipped from.

    python benchmarks/ship_programs.py [--effort 60] [--seeds 0,1] [--only puma560] [--folder DIR] [--further]

A program replaces the one that is there only if it is smaller; each is proved before it is filed. `--further` does not
begin anew but with the one that is there, whose values are said anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import emdeg
from emdeg.mechanics import TREE, kind_of
from emdeg.mechanics.functions import CATALOGUE, Derivation, functions_of
from emdeg.programs import OPERATIONS, Effort
from emdeg.programs.ir import count
from emdeg.programs.search import Resubstitution, tidied
from emdeg.programs.search.optimise import Optimised
from emdeg.programs.store import INDEX, file_name, filed_text, index, shipped
from emdeg.programs.units import in_units
from emdeg.programs.verification import verify_program
from emdeg.writing.files import write_whole

SHIPPED = Path(__file__).parent.parent / "src" / "emdeg" / "programs" / "shipped"
SHORT = 0.2
"""The share of the effort for functions that are small anyway."""
FUNCTIONS = {
    "inverse_dynamics": 1.0,
    "mass_matrix": 0.7,
    "forward_dynamics": 1.0,
    "bias": 0.7,
    "gravity": SHORT,
    "coriolis_matrix": 1.0,
    "elements": 1.0,
    "jacobian": SHORT,
    "forward_kinematics": SHORT,
    "inverse_dynamics_derivatives": 1.0,
    "inverse_dynamics_derivatives+mass_matrix": 1.0,
    "forward_dynamics_derivatives": 1.0,
    "inverse_dynamics_vjp": 1.0,
    "forward_dynamics_vjp": 1.0,
}
LARGE = ("coriolis_matrix", "elements")
"""Only for robots of up to six joints."""
LARGEST_LOOPS = 9
"""Joints of the tree up to which programs of closed loops are searched for."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Search for the programs that come with the package.")
    parser.add_argument("--effort", type=float, default=60.0)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--only", default="")
    parser.add_argument("--functions", default=",".join(FUNCTIONS))
    parser.add_argument("--folder", type=Path, default=SHIPPED)
    parser.add_argument("--further", action="store_true")
    arguments = parser.parse_args()
    for name in emdeg.library_names():
        if arguments.only and name not in arguments.only.split(","):
            continue
        robot = emdeg.load(name)
        for function in arguments.functions.split(","):
            if function in LARGE and robot.n > 6:
                continue
            of = [CATALOGUE[name].derivation or CATALOGUE[name] for name in function.split("+")]
            bare = {one.of.name if isinstance(one, Derivation) else one.name for one in of}
            if not bare <= set(functions_of(robot)) or (kind_of(robot) is not TREE and robot.n > LARGEST_LOOPS):
                continue
            if arguments.further and shipped(robot, function.split("+")) is None:
                continue
            for seed in map(int, arguments.seeds.split(",")):
                effort = arguments.effort * FUNCTIONS[function]
                search(robot, function, effort, seed, arguments.folder, arguments.further)


def search(robot: emdeg.Robot, function: str, effort: float, seed: int, folder: Path, going_on: bool = False) -> None:
    found = further(robot, function, effort, seed) if going_on else emdeg.optimise(robot, function, effort, seed=seed)
    before = ship(robot, function, found, effort, seed, folder)
    word = f"{before} on file" if before else "nothing on file"
    print(f"{robot.name:18}{function:20} seed {seed}: {found.count.total} operations ({word})", flush=True)


def further(robot: emdeg.Robot, function: str, effort: float, seed: int) -> Optimised:
    """The program on file with as many of its values said anew as the effort allows."""
    names, time = function.split("+"), Effort(effort)
    there = shipped(robot, names)
    assert there is not None
    shorter = tidied(Resubstitution(in_units(there), seed, OPERATIONS, time.spend).run(time.until(1.0)), OPERATIONS)
    return Optimised(shorter, verify_program(shorter, robot, names, seed=seed), None, seed, time.elapsed)


def ship(robot: emdeg.Robot, function: str, found, effort: float, seed: int, folder: Path = SHIPPED) -> int | None:
    """File what was found if it is smaller than what is on file; the operations of what was there."""
    names = function.split("+")
    there = shipped(robot, names)
    before = None if there is None else count(there).total
    if before is None or found.count.total < before:
        data: dict[str, object] = {
            "operations": found.count.as_dict(),
            "seed": seed,
            "effort": effort,
            "certificate": found.certificate.as_dict(),
        }
        path = folder / robot.name / file_name(names)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole({path: filed_text(found.program, robot, names, found=data).encode()})
        write_whole({folder / INDEX: index(folder).encode()})
    return before


if __name__ == "__main__":
    main()
