"""Tables 1, 2 and 3 of Armstrong, Khatib and Burdick for any robot: operations by method, and rates attainable."""

from __future__ import annotations

from typing import Any

from emdeg.program import Count, Program, count
from emdeg.program import program as traced
from emdeg.program.best import program as best
from emdeg.reduce.abbreviate import Abbreviated
from emdeg.reduce.multirate import multirate
from emdeg.reduce.programs import program as short_program
from emdeg.reduce.short_model import ShortModel, numeric


def general_recursion(n: int) -> Count:
    """Newton-Euler for n joints of any geometry, nothing simplified (Luh, Walker and Paul as counted by Hollerbach)."""
    return Count(mul=150 * n - 48, add=131 * n - 48)


def tables(
    short: Abbreviated, *, seconds: float = 20.0, operations_per_second: float = 100_000.0, ratio: int = 4
) -> dict[str, Any]:
    """The three tables as data. `seconds` of search in all: half for the short model's, the rest for exact programs.

    An exact program that is on file is taken from there.
    """
    full = short.short.full
    robot = full.robot
    whole = ShortModel(full, full.lumped.expansions, full.values)
    number_robot = numeric(full.model)
    recursion = traced(number_robot, "inverse_dynamics", base_parameters=False, factored=False)
    programs: dict[str, Program] = {
        "recursive, this robot's zeros left out": recursion,
        "full explicit": short_program(whole),
        "abbreviated": short.program(seconds=seconds / 2),
        "smallest exact": best(number_robot, "inverse_dynamics", otherwise=seconds / 4),
    }
    forces: dict[str, Count] = {"general recursive Newton-Euler": general_recursion(robot.n)}
    forces |= {name: count(p) for name, p in programs.items()}
    matrix = {
        "composite bodies, traced": traced(number_robot, "mass_matrix"),
        "full explicit": short_program(whole, "mass_matrix"),
        "abbreviated": short.program("mass_matrix", seconds=min(5.0, seconds)),
        "smallest exact": best(number_robot, "mass_matrix", otherwise=seconds / 4),
    }
    kinds = {**programs, "forward dynamics, abbreviated": short.program("forward_dynamics")}
    return {
        "forces": {name: {**c.as_dict(), "total": c.total} for name, c in forces.items()},
        "rates": {name: multirate(p, operations_per_second, ratio).data() for name, p in kinds.items()},
        "mass_matrix": {name: {**count(p).as_dict(), "total": count(p).total} for name, p in matrix.items()},
    }
