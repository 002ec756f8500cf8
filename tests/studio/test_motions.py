"""Motions under a controller: what makes no sense is refused, what is simulated keeps its energy and its way."""

from __future__ import annotations

import pytest

import emdeg
from emdeg.errors import EmdegError
from emdeg.robot import to_toml
from emdeg.studio.tasks import TASKS


def quiet(told: object) -> None:
    pass


@pytest.mark.parametrize(
    "data",
    [
        {"start": [0, 0], "goal": [1, 1], "seconds": 1e9, "gain": 10, "controller": "none"},
        {"start": [0], "goal": [1, 1], "seconds": 1, "gain": 10, "controller": "none"},
        {"start": [0, 0], "goal": [float("nan"), 1], "seconds": 1, "gain": 10, "controller": "none"},
        {"start": [0, 0], "goal": [1, 1], "seconds": 1, "gain": 10, "controller": "magic"},
    ],
)
def test_a_motion_that_makes_no_sense_is_refused(data: dict) -> None:
    with pytest.raises(EmdegError):
        TASKS["motion"]({"text": to_toml(emdeg.load("planar2r")), **data}, quiet)


@pytest.mark.parametrize("controller", ["none", "computed torque, exact and short model", "PD with gravity"])
def test_a_motion_has_its_curves_and_keeps_its_energy(controller: str) -> None:
    data = {"start": [0.0, 0.5], "goal": [1.0, -0.5], "seconds": 0.5, "gain": 20, "controller": controller}
    found = TASKS["motion"]({"text": to_toml(emdeg.load("planar2r")), **data}, quiet)
    assert found["q"][0] == [0.0, 0.5]
    assert all(one.startswith("<svg") for one in found["figures"])
    assert abs(found["drift"]["energy_relative"]) < 1e-6
    if controller.startswith("computed"):
        assert found["errors"][0] < 1e-9
