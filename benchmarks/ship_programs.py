"""Search for the programs that come with the package, and file them where they are shipped from.

    python benchmarks/ship_programs.py [--effort 60] [--seeds 0,1] [--only puma560] [--folder DIR] [--further]
    python benchmarks/ship_programs.py --order [--tries 2000000] [--effort 60] [...]

A program replaces the one that is there only if it is smaller; each is proved before it is filed. `--further` does not
begin anew but with the one that is there, whose values are said anew. `--order` looks for a form of it, for so many
seconds, and for an order of that, by so many tries, in which a processor is done sooner; where it is so long that C
says what is in registers. It needs gcc. `--weights mul=1.3` lets it have fewer products for more sums: processors have
as many units for either, and those for products do sums of products too.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import emdeg
from emdeg.codegen.c.template import LONG
from emdeg.documents.files import write_whole
from emdeg.dynamics import TREE, kind_of
from emdeg.dynamics.functions import CATALOGUE, Derivation, functions_of
from emdeg.programs import OPERATIONS, Effort, Weights
from emdeg.programs.ir import Program, count
from emdeg.programs.registers import estimated_cycles, quickest
from emdeg.programs.search import Resubstitution, hastened, tidied
from emdeg.programs.search.optimise import Optimised
from emdeg.programs.store import FOUND, INDEX, file_name, filed_text, from_data, index, shipped
from emdeg.programs.units import in_units
from emdeg.programs.verification import verify_program
from emdeg.programs.weights import parsed
from ordering import in_quicker_order

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
    parser.add_argument("--order", action="store_true")
    parser.add_argument("--tries", type=int, default=2_000_000)
    parser.add_argument("--weights", type=parsed, default=OPERATIONS, help="of the forms among which --order looks")
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
            if (arguments.further or arguments.order) and shipped(robot, function.split("+")) is None:
                continue
            for seed in map(int, arguments.seeds.split(",")):
                effort = arguments.effort * FUNCTIONS[function]
                if arguments.order:
                    order(robot, function, effort, arguments.tries, seed, arguments.folder, arguments.weights)
                    continue
                search(robot, function, effort, seed, arguments.folder, arguments.further)


def search(robot: emdeg.Robot, function: str, effort: float, seed: int, folder: Path, going_on: bool = False) -> None:
    found = further(robot, function, effort, seed) if going_on else emdeg.optimise(robot, function, effort, seed=seed)
    before = ship(robot, function, found, effort, seed, folder)
    word = f"{before} on file" if before else "nothing on file"
    print(f"{robot.name:18}{function:20} seed {seed}: {found.count.total} operations ({word})", flush=True)


def further(robot: emdeg.Robot, function: str, effort: float, seed: int) -> Optimised:
    """The program on file with as many of its values said anew as the effort allows."""
    names, budget = function.split("+"), Effort(effort)
    there = shipped(robot, names)
    assert there is not None
    shorter = tidied(Resubstitution(in_units(there), seed, OPERATIONS, budget.spend).run(budget.until(1.0)), OPERATIONS)
    return Optimised(shorter, verify_program(shorter, robot, names, seed=seed), None, seed, budget.elapsed)


def order(
    robot: emdeg.Robot,
    function: str,
    effort: float,
    tries: int,
    seed: int,
    folder: Path,
    weights: Weights = OPERATIONS,
) -> None:
    """The program on file in the quickest form found in so many seconds and order found by so many tries, no dearer."""
    names = function.split("+")
    path = folder / robot.name / file_name(names)
    data = json.loads(path.read_text(encoding="utf-8"))
    there = from_data(data["program"])
    if there.size <= LONG:
        return
    end = time.process_time() + effort
    form = hastened(there, lambda: time.process_time() > end, seed, weights) if effort else there
    if count(form).total > count(there).total:
        form = there
    found = in_quicker_order(form, tries, seed)
    before, after = (estimated_cycles(quickest(one, True), True) for one in (there, found))
    if after < before:
        certificate = verify_program(found, robot, names, seed=seed)
        kept = {**{key: data[key] for key in FOUND}, "operations": count(found).as_dict()}
        file(robot, names, found, {**kept, "certificate": certificate.as_dict()}, folder)
    print(f"{robot.name:18}{function:20} seed {seed}: about {after:.0f} cycles ({before:.0f} on file)", flush=True)


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
        file(robot, names, found.program, data, folder)
    return before


def file(robot: emdeg.Robot, names: Sequence[str], program: Program, data: Mapping[str, object], folder: Path) -> None:
    """Put a program and how it was found where it is shipped from."""
    path = folder / robot.name / file_name(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole({path: filed_text(program, robot, names, found=data).encode()})
    write_whole({folder / INDEX: index(folder).encode()})


if __name__ == "__main__":
    main()
