"""Friction in programs: one law, proved, emitted, compiled, and never left out without a word."""

from __future__ import annotations

import ctypes
import shutil

import numpy as np
import pytest

import emdeg
from emdeg.errors import BadRequest, Refuted, RobotError
from emdeg.mechanics.functions import RUBBING, WITH_FRICTION
from emdeg.mechanics.functions import evaluate as numbers
from emdeg.programs import count, evaluate, verify_program
from emdeg.robot import assemble, read_toml, to_toml
from tests.emitted import c_library, python_module, run_c

LAWS = {
    "viscous": "viscous = 0.3",
    "coulomb": "viscous = 0.3\ncoulomb = 1.5",
    "stribeck": "viscous = 0.3\ncoulomb = 1.5\nstribeck = 2.25\nstribeck_velocity = 0.5",
    "fading": "coulomb = 1.5\nstribeck = 2.25\nstribeck_velocity = 0.5\nrest_speed = 0.02",
    "break-away": "break_away = 1.1",
    "break-away that falls off": "coulomb = 0.5\nbreak_away = 1.1\nstribeck_velocity = 0.2",
}


def arm(law: str) -> emdeg.Robot:
    text = to_toml(emdeg.load("planar2r"))
    head, *links = text.split("[[link]]")
    links = [f"{link.rstrip()}\n[link.drive]\n{law}\n\n" for link in links]
    return assemble(read_toml("[[link]]".join([head, *links]), "rubbing.toml"))


def by_hand(law: str, v: np.ndarray) -> np.ndarray:
    stated = dict(line.split(" = ") for line in law.splitlines())
    f = {key: float(value) for key, value in stated.items()}
    c, fall = f.get("coulomb", 0.0), 0.0
    top = f.get("stribeck", f.get("break_away", 0.0))
    if "stribeck_velocity" in f:
        fall = (top - c) * np.exp(-((v / f["stribeck_velocity"]) ** 2))
    elif not c:
        c = top
    way = np.tanh(v / f["rest_speed"]) if "rest_speed" in f else np.sign(v)
    return f.get("viscous", 0.0) * v + (c + fall) * way


@pytest.fixture(params=LAWS.values(), ids=LAWS)
def law(request):
    return request.param


def test_numbers_programs_and_compiled_code_follow_the_law(law):
    robot = arm(law)
    qd = np.concatenate([np.random.default_rng(0).normal(0, 1, (40, 2)), [[0.0, 0.0], [1e-3, -1e-3], [30.0, -0.01]]])
    expected = by_hand(law, qd)
    found = emdeg.program(robot, "friction")
    np.testing.assert_allclose(emdeg.friction(robot, qd), expected, atol=1e-14)
    np.testing.assert_allclose(evaluate(found, {"qd": qd})["tau"], expected, atol=1e-14)
    np.testing.assert_allclose(emdeg.compile(found)(qd), expected, rtol=1e-13, atol=1e-14)
    assert verify_program(found, robot, "friction").false_pass_probability < 1e-15


@pytest.mark.parametrize("function", RUBBING)
def test_a_function_with_friction_is_the_smallest_without_and_the_law(law, function):
    robot, name = arm(law), function + WITH_FRICTION
    found = emdeg.program(robot, name)
    assert verify_program(found, robot, name).false_pass_probability < 1e-15
    extra = count(emdeg.program(robot, "friction")).total + 2
    assert count(found).total <= count(emdeg.program(robot, function)).total + extra
    random = np.random.default_rng(1)
    state = {group.name: random.uniform(-1, 1, (10, 2)) for group in found.inputs}
    (value,) = evaluate(found, state).values()
    np.testing.assert_allclose(value, numbers(name, robot, state), atol=1e-11)
    lost = by_hand(law, state["qd"])
    if "tau" in state:
        bare = numbers(function, robot, {**state, "tau": state["tau"] - lost})
    else:
        bare = numbers(function, robot, state) + lost
    np.testing.assert_allclose(value, bare, atol=1e-11)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("flags", [(), ("-DEMDEG_FLOAT",)])
def test_c_and_python_compute_it(law, flags, tmp_path):
    robot = arm(law)
    (code,) = emdeg.generate(robot, "friction", name="arm")
    library = ctypes.CDLL(str(c_library(code.text, tmp_path, "gcc", *flags)))
    (module,) = emdeg.generate(robot, "friction", "python", name="arm")
    for qd in ([0.3, -0.7], [0.0, 2.0]):
        expected = by_hand(law, np.array(qd))
        assert python_module(module.text, tmp_path).arm_friction(qd) == pytest.approx(expected, abs=1e-14)
        if not flags:
            assert run_c(library, "arm_friction", [np.array(qd)], [(2,)])[0] == pytest.approx(expected, abs=1e-14)


def test_another_law_is_refuted():
    robot, other = arm(LAWS["stribeck"]), arm(LAWS["stribeck"].replace("2.25", "2.5"))
    with pytest.raises(Refuted):
        verify_program(emdeg.program(other, "friction"), robot, "friction")
    with pytest.raises(Refuted):
        verify_program(emdeg.program(arm(LAWS["fading"]), "friction"), robot, "friction")


def test_a_robot_without_data_is_an_error_that_says_so(tmp_path):
    for call in (
        lambda: emdeg.program("planar2r", "friction"),
        lambda: emdeg.friction("planar2r", [1.0, 1.0]),
        lambda: emdeg.generate("planar2r", "inverse_dynamics", friction=True),
        lambda: emdeg.simulate("planar2r", friction=True, duration=0.1),
    ):
        with pytest.raises(RobotError, match="its file states none"):
            call()
    with pytest.raises(BadRequest, match="--friction applies to"):
        emdeg.generate("puma560", "mass_matrix", friction=True)


def test_the_pumas_break_away_torques_are_used():
    torques = [6.3, 5.5, 2.6, 1.3, 1.0, 1.2]
    np.testing.assert_allclose(emdeg.friction("puma560", [0.1] * 6), torques)
    (code,) = emdeg.generate("puma560", "inverse_dynamics", friction=True)
    assert code.file == "puma560_inverse_dynamics.c"
    assert "SIGN(qd[0])" in code.text
    assert "--friction" in code.text
