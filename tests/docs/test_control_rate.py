"""The study of short models in the loop runs, and its cycles are those of the boards."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import emdeg
from emdeg.codegen.object import instructions
from emdeg.robot import workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("control_rate", ROOT / "examples" / "control_rate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_instructions_are_those_that_the_board_executed() -> None:
    """docs/data/microcontrollers.json holds what QEMU's boards counted of the exact programs."""
    rows = json.loads((ROOT / "docs/data/microcontrollers.json").read_text())["figures"]
    (row,) = (one for one in rows if (one["robot"], one["model"]) == ("ur5e", "exact"))
    program = emdeg.program("ur5e", "inverse_dynamics")
    assert len(instructions(program, cpu="cortex-m4f", single=True)) == row["cores"]["cortex-m4f float"][0]


@pytest.mark.long
def test_a_sample_takes_as_long_as_its_controller(example: ModuleType) -> None:
    """Errors fall with the budget for the exact model, and a controller that is too slow is told as such."""
    robot = emdeg.load("planar2r")
    exact, *_, plain = example.candidates(robot, [0.2], effort=0.0)
    assert plain.cycles < exact.cycles
    rates, errors = zip(*(example.tracking_error(robot, exact, budget) for budget in (3e3, 30e3, 300e3)))
    np.testing.assert_allclose(rates, [budget / exact.cycles for budget in (3e3, 30e3, 300e3)])
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


def test_the_motion_stays_in_the_box_of_the_certificate(example: ModuleType) -> None:
    for name in ("puma560", "ur5e"):
        where = workspace(emdeg.load(name))
        _, way, seconds = example.motion(emdeg.load(name))
        q, qd, qdd = way(np.linspace(0, seconds, 200))
        assert (np.abs(qd) <= where.speed).all()
        assert (np.abs(qdd) <= where.acceleration).all()
        assert ((np.array(where.ranges)[:, 0] <= q) & (q <= np.array(where.ranges)[:, 1])).all()
