"""A cache that somebody else wrote into: what is wrong there is named, set aside, and changes no result."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.errors import Poisoned
from emdeg.programs import evaluate
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Program
from emdeg.programs.store import keep
from tests.adversary.forging import FORGERIES, mutated

pytestmark = pytest.mark.filterwarnings("always::emdeg.errors.Poisoned")


def poisoned(robot: emdeg.Robot, function: str, wrong: Program, folder: Path) -> tuple[Program, list[str]]:
    """The program that is used with a wrong one on file, and what was said about it."""
    path = keep(wrong, robot, [function], found={}, folder=folder)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = emdeg.program(robot, function)
    assert not path.exists() or not said
    return found, [str(each.message) for each in said if each.category is Poisoned]


def same(one: Program, other: Program) -> bool:
    """Whether two programs yield the same numbers, at states where a forger would have them differ too."""
    rng = np.random.default_rng(1)
    states = {g.name: np.concatenate([np.zeros((1, g.size)), rng.normal(size=(40, g.size))]) for g in one.inputs}
    a, b = evaluate(one, states), evaluate(other, states)
    return all(np.allclose(a[name], b[name], rtol=1e-9, atol=1e-9) for name in b)


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize(("name", "function"), [("puma560", "gravity"), ("planar2r", "inverse_dynamics")])
def test_a_forged_program_on_file_is_named_and_set_aside(name, function, forgery, tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = emdeg.load(name, payload="mass=0.7,com=0.01:0.02:0.03")  # one that the package has no program of
    plain = plain_program(robot, function)
    found, said = poisoned(robot, function, FORGERIES[forgery](plain), tmp_path)
    assert same(found, plain)
    assert len(said) == 1
    assert list(tmp_path.rglob("*.json.poisoned"))
    assert not list(tmp_path.rglob("*.json"))


def poison_many(times: int, seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    for name, function in [("planar2r", "inverse_dynamics"), ("scara", "mass_matrix")]:
        robot = emdeg.load(name, payload="mass=0.7,com=0.01:0.02:0.03")
        plain = plain_program(robot, function)
        for _ in range(times):
            wrong = mutated(plain, rng)
            found, said = poisoned(robot, function, wrong, folder)
            assert same(found, plain), wrong
            assert said or same(wrong, plain), wrong


def test_mutated_programs_on_file_change_no_result(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    poison_many(25, 0, tmp_path)


@pytest.mark.slow
def test_many_mutated_programs_on_file_change_no_result(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    poison_many(1000, 1, tmp_path)


def test_a_program_on_file_is_proved_without_the_long_formulation(tmp_path, monkeypatch):
    """So the proof takes a fraction of what tracing that would: it equals the program that would be used otherwise."""

    def refused(*_: object) -> Program:
        raise AssertionError("the independent formulation was traced")

    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = emdeg.load("puma560", payload="mass=0.7,com=0.01:0.02:0.03")
    found = emdeg.optimise(robot, "gravity", effort=0.5).program
    keep(found, robot, ["gravity"], found={}, folder=tmp_path)
    monkeypatch.setattr("emdeg.programs.search.on_file.reference_program", refused)
    assert emdeg.program(robot, "gravity").ops == found.ops
