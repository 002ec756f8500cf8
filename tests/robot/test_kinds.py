"""Kinds of mechanism: what an extension registers resolves, and a kind of a test's own passes through the core."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import CATALOGUE, FUNCTIONS, evaluate, functions_of
from emdeg.errors import RobotError, UnknownFunction
from emdeg.programs.store import robot_digest
from emdeg.robot import Robot, kind_named, known_kinds, load_text, register_kind, registered, resolved, to_toml
from emdeg.robot.kinds import REPLACEABLE
from emdeg.runtime import compile
from tests.commands import run
from tests.dynamics.geared import Gear, geared_kind

RATIO = 2
CORE = [name for name, entry in FUNCTIONS.items() if "tree" in entry.ways and not entry.square and not entry.rubs]


@pytest.fixture
def robot() -> Robot:
    """A geared chain; its kind is known while the test runs."""
    with registered(geared_kind()):
        yield replace(emdeg.load("planar2r"), constraints=Gear(RATIO))


def state(name: str, robot: Robot) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {one: rng.uniform(-1, 1, (5, 1)) for one in FUNCTIONS[name].inputs}


@pytest.mark.parametrize("kind", known_kinds(), ids=lambda kind: kind.name)
def test_everything_that_a_kind_registers_is_there_and_has_its_place_in_the_core(kind) -> None:
    for reference in (kind.mechanism, kind.implementations, kind.functions, kind.measures, *kind.options.values()):
        assert resolved(reference) is not None
    assert resolved(kind.mechanism).name == kind.name
    for place, own in kind.instead.items():
        import_module(place.partition(":")[0])
        assert place in REPLACEABLE, place
        assert callable(resolved(own))


def test_a_name_is_registered_once_and_a_kind_that_nobody_registers_is_unknown() -> None:
    with pytest.raises(ValueError, match="registered already"):
        register_kind(kind_named("tree"))
    with pytest.raises(LookupError, match="geared chain"):
        kind_of(replace(emdeg.load("planar2r"), constraints=Gear()))


def test_the_registry_has_the_functions_of_a_kind_while_it_is_registered(robot) -> None:
    assert set(CORE) <= functions_of(robot).keys()
    assert all("geared chain" in CATALOGUE[name].ways for name in CORE)
    assert "geared chain" in CATALOGUE["gravity_vjp"].ways
    with pytest.raises(UnknownFunction, match="closed loops only"):
        evaluate("closure", robot, {"q": [0.1]})


def test_a_kind_that_was_registered_for_a_while_leaves_nothing_behind() -> None:
    before = {name: list(entry.ways) for name, entry in CATALOGUE.items()}
    with registered(geared_kind()):
        assert list(CATALOGUE["gravity"].ways) != before["gravity"]
    assert {name: list(entry.ways) for name, entry in CATALOGUE.items()} == before


def test_energy_and_power_are_those_of_the_tree_that_moves_along_the_gear(robot) -> None:
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 20, 1))
    W = np.array([1.0, RATIO])
    tree = robot.open_tree
    np.testing.assert_allclose(emdeg.kinetic_energy(robot, q, qd), emdeg.kinetic_energy(tree, q * W, qd * W))
    np.testing.assert_allclose(
        emdeg.inverse_dynamics(robot, q, qd, qdd)[:, 0], emdeg.inverse_dynamics(tree, q * W, qd * W, qdd * W) @ W
    )
    np.testing.assert_allclose(kind_of(robot).joint_positions(robot, q), q * W)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), qdd)


def test_robot_files_hold_the_constraints_and_digests_tell_them_apart(robot) -> None:
    again = load_text(to_toml(robot), "geared.toml")
    assert again.constraints == robot.constraints
    assert robot_digest(again) == robot_digest(robot)
    assert robot_digest(robot) != robot_digest(robot.open_tree)
    assert [joint.name for joint in again.coordinates] == ["q1"]
    assert again.hidden == (1,)
    with pytest.raises(RobotError, match="of one kind"):
        load_text(to_toml(robot) + "[loops]\ncoordinates = []\n", "geared.toml")


@pytest.mark.parametrize("function", CORE)
def test_numbers_programs_proofs_and_compiled_calls_agree(robot, function) -> None:
    arrays = state(function, robot)
    expected = evaluate(function, robot, arrays)
    program = emdeg.program(robot, function, effort=0)
    assert emdeg.verify(robot, function, effort=0)["robot"] == robot.name
    found = compile(program)(*(arrays[group.name] for group in program.inputs))
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("function", ["gravity_vjp", "inverse_dynamics_jvp", "mass_matrix_hvp"])
def test_derivatives_of_its_functions_are_proved(robot, function) -> None:
    assert emdeg.verify(robot, function, effort=0)["robot"] == robot.name


def test_code_is_generated_and_its_file_is_checked_again(robot, tmp_path) -> None:
    (tmp_path / "geared.toml").write_text(to_toml(robot))
    made = run("generate", "geared.toml", "--function", "inverse_dynamics", "--out", "code", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (file,) = (tmp_path / "code").glob("*.c")
    again = run("verify", str(file), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    value = run("eval", "geared.toml", "gravity", "--q=0.3", "--json", cwd=tmp_path)
    assert value.returncode == 0, value.stderr
    shown = run("show", "geared.toml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
