"""What the page is told is the mechanics: terms add up to their entries, programs are the robot's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import emdeg
from emdeg.errors import BadRequest, RobotError
from emdeg.programs import term_program
from emdeg.reports import Subject, equations
from emdeg.robot import to_toml
from emdeg.studio.shading import products, terms_of
from emdeg.studio.tasks import TASKS

ROBOTS = ("planar2r", "scara", "stanford_arm")


def quiet(told: object) -> None:
    pass


@pytest.mark.parametrize("name", ROBOTS)
def test_values_of_terms_add_up_to_the_entries(name: str) -> None:
    robot = emdeg.load(name)
    found = equations(Subject(robot), name, levels=False)
    assert found.full is not None
    terms = terms_of([found.section])
    values = emdeg.compile(term_program(robot, products(terms), found.full.values))
    q = np.random.default_rng(4).uniform(-1, 1, robot.n)
    T = np.asarray(values(q)).reshape(-1)
    M, g = emdeg.mass_matrix(robot, q), emdeg.gravity(robot, q)
    sums: dict[str, float] = {}
    for (entry, *_), value in zip(terms, T):
        sums[str(entry.label)] = sums.get(str(entry.label), 0.0) + value
    checked = 0
    for label, value in sums.items():
        if match := re.fullmatch(r"M(\d)(\d)", label):
            assert value == pytest.approx(M[int(match[1]) - 1, int(match[2]) - 1], rel=1e-9, abs=1e-12)
            checked += 1
        elif match := re.fullmatch(r"g(\d)", label):
            assert value == pytest.approx(g[int(match[1]) - 1], rel=1e-9, abs=1e-12)
            checked += 1
    assert checked > 2


@pytest.mark.parametrize("name", [*ROBOTS, "delta"])
def test_every_kind_of_robot_has_its_page(name: str) -> None:
    data = {"text": to_toml(emdeg.load(name))}
    model = TASKS["model"](dict(data), quiet)
    assert model["tables"]
    assert model["functions"] or model["symbols"]
    found = TASKS["equations"](dict(data), quiet)
    assert "<math" in found["html"]
    assert found["html"].count('class="t') >= found["terms"]


def test_a_robot_of_symbols_has_its_page_without_numbers() -> None:
    text = to_toml(emdeg.load("planar2r")).replace("mass = 1,", 'mass = "m1",', 1)
    model = TASKS["model"]({"text": text}, quiet)
    assert model["symbols"] == ["m1"]
    assert model["functions"] == []
    assert "<math" in TASKS["equations"]({"text": text}, quiet)["html"]


def test_a_constant_is_followed_down_to_the_table_and_its_source() -> None:
    found = TASKS["equations"]({"text": to_toml(emdeg.load("puma560"))}, quiet)
    known = found["letters"]
    made = {one: (known[one]["path"], known[one]["source"]) for one in found["constants"]["I5"]["made_of"]}
    assert made["m3"] == ("link3.mass", "Table 4")
    assert made["a2"][0] == "q3.a"


def test_every_target_of_the_page_is_text_that_is_emitted() -> None:
    text = to_toml(emdeg.load("planar2r"))
    targets = TASKS["model"]({"text": text}, quiet)["targets"]
    assert {"c", "js", "python"} <= set(targets)
    for target in targets:
        found = TASKS["code"]({"text": text, "function": "gravity", "target": target}, quiet)
        assert "gravity" in found["code"]
    with pytest.raises(BadRequest):
        TASKS["code"]({"text": text, "function": "gravity", "target": "object"}, quiet)


def test_a_rule_of_physics_newly_broken_is_an_error_and_an_old_one_is_not() -> None:
    before = to_toml(emdeg.load("puma560", allow_nonphysical=True))
    assert TASKS["check"]({"text": before, "before": before}, quiet)["text"] == before
    with pytest.raises(RobotError):
        TASKS["check"]({"text": before.replace("mass = 17.4", "mass = -17.4"), "before": before}, quiet)
