"""Tables 1, 2 and 3 of Armstrong, Khatib and Burdick for any robot: operations by method, and rates attainable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emdeg.approximation import Approximation
from emdeg.papers.rates import multirate
from emdeg.programs import Count, Program, count, explicit_program, plain_program
from emdeg.programs import program as best


def general_recursion(n: int) -> Count:
    """Newton-Euler for n joints of any geometry, nothing simplified (Luh, Walker and Paul as counted by Hollerbach)."""
    return Count(mul=150 * n - 48, add=131 * n - 48)


def reduction_tables(
    short: Approximation,
    inverse_dynamics: Program | None = None,
    mass_matrix: Program | None = None,
    *,
    seconds: float = 20.0,
    operations_per_second: float = 100_000.0,
    ratio: int = 4,
) -> dict[str, Any]:
    """The three tables as data: operations of the inverse dynamics by method, rates attainable, the mass matrix.

    `inverse_dynamics`, `mass_matrix`: the short model's programs, searched for here if not given. `seconds` of search
    in all at most; an exact program that is on file is taken from there.
    """
    assert short.full is not None
    whole, robot = short.full, short.robot
    search = seconds / 4
    exact = plain_program(robot, "inverse_dynamics", base_parameters=False, factored=False)
    explicit = {name: explicit_program(whole, name) for name in ("inverse_dynamics", "mass_matrix")}
    smallest = {name: _smaller(best(robot, name, otherwise=search), p) for name, p in explicit.items()}
    torques: dict[str, Program] = {
        "recursive, this robot's zeros left out": exact,
        "full explicit": explicit["inverse_dynamics"],
        "abbreviated": inverse_dynamics or short.program(seconds=search),
        "smallest exact": smallest["inverse_dynamics"],
    }
    matrix = {
        "composite bodies, traced": plain_program(robot, "mass_matrix"),
        "full explicit": explicit["mass_matrix"],
        "abbreviated": mass_matrix or short.program("mass_matrix", seconds=search),
        "smallest exact": smallest["mass_matrix"],
    }
    forward = {
        "forward dynamics, abbreviated": short.program("forward_dynamics"),
        "forward dynamics, smallest exact": best(robot, "forward_dynamics", otherwise=search),
    }
    general = {"general recursive Newton-Euler": general_recursion(robot.n)}
    return {
        "forces": totals(general | {name: count(p) for name, p in torques.items()}),
        "rates": {name: multirate(p, operations_per_second, ratio).data() for name, p in (torques | forward).items()},
        "mass_matrix": totals({name: count(p) for name, p in matrix.items()}),
    }


def _smaller(one: Program, other: Program) -> Program:
    return min(one, other, key=lambda p: count(p).total)


def totals(counts: Mapping[str, Count]) -> dict[str, dict[str, int]]:
    """Counts as data, each with its total."""
    return {name: {**c.as_dict(), "total": c.total} for name, c in counts.items()}
