"""What closed loops add to emdeg, by name: importing this brings no other module of them."""

from __future__ import annotations

from emdeg.robot import Kind

_HERE = "emdeg.loops"

EXTENSION = Kind(
    name="closed loops",
    mechanism=f"{_HERE}.kind:CLOSED_LOOPS",
    implementations=f"{_HERE}.catalogue:IMPLEMENTATIONS",
    functions=f"{_HERE}.catalogue:FUNCTIONS",
    measures=f"{_HERE}.views:MEASURES",
    sections=("rod", "closure", "loops"),
    read_sections=f"{_HERE}.toml:read_loops",
    read_equalities="emdeg.robot.mjcf_loops:closed_loops",
    instead={
        "emdeg.dynamics.parameters.regressor:null_combinations": f"{_HERE}.base:null_combinations",
        "emdeg.dynamics.parameters.regressor:check_null": f"{_HERE}.base:check_null",
        "emdeg.dynamics.parameters.base:further_combinations": f"{_HERE}.base:further_combinations",
        "emdeg.programs.formulations:general_robot": f"{_HERE}.kind:no_general_robot",
    },
)
