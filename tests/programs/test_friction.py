"""Friction in programs: one law, proved, emitted, compiled, and never left out without a word."""

from __future__ import annotations

import ctypes
import shutil
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.dynamics.formulations import friction_laws
from emdeg.dynamics.functions import CATALOGUE, RUBBING, WITH_FRICTION, inputs_of
from emdeg.dynamics.functions import evaluate as numbers
from emdeg.errors import BadRequest, Refuted, RobotError
from emdeg.programs import count, evaluate, verify_program
from emdeg.robot import Friction, assemble, read_toml, to_toml
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


@pytest.mark.parametrize("function", [name for name in RUBBING if not name.endswith("_derivatives")])
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


def differences(function, at, step=1e-6):
    return np.stack([(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))], -1)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("fading", "inverse_dynamics"),
        ("stribeck", "forward_dynamics"),
        *(pytest.param("fourbar", f"{way}_dynamics", marks=pytest.mark.slow) for way in ("inverse", "forward")),
    ],
)
def test_derivatives_have_the_slope_of_friction_and_are_proved(name, function):
    robot, full = arm(LAWS[name]) if name in LAWS else mechanism(name), function + WITH_FRICTION
    n, rng = robot.freedoms, np.random.default_rng(2)
    # Speeds of either direction, away from rest, where a sign jumps.
    state = {"q": emdeg.dynamics.kind_of(robot).home(robot) + 0.1, "qd": np.array([0.4, -0.7])[:n]}
    state["qdd" if function == "inverse_dynamics" else "tau"] = rng.uniform(-1, 1, n)
    at = np.concatenate(list(state.values()))

    def value(x):
        return numbers(full, robot, dict(zip(state, np.split(x, 3))))

    J = differences(value, at)
    blocks = [J[:, :n], J[:, n : 2 * n]]
    if "tau" in state:
        blocks = [value(at), *blocks, J[:, 2 * n :]]
    derivatives = f"{function}_derivatives{WITH_FRICTION}"
    found = emdeg.program(robot, derivatives)
    assert verify_program(found, robot, derivatives).false_pass_probability < 1e-12
    by_program = evaluate(found, {array: one[None] for array, one in state.items()}).values()
    accuracy = 1e-6 * (1 + np.abs(J).max())
    for one, other, expected in zip(by_program, numbers(derivatives, robot, state), blocks, strict=True):
        np.testing.assert_allclose(one[0], expected, atol=accuracy)
        np.testing.assert_allclose(other, expected, atol=accuracy)
    (output,) = (group.name for group in emdeg.program(robot, function).outputs)
    c, t = rng.standard_normal(n), rng.standard_normal(3 * n)
    given = {**state, f"{output}_c": c, **{f"{array}_t": part for array, part in zip(state, np.split(t, 3))}}
    H = differences(lambda x: c @ differences(value, x, 1e-4), at, 1e-4)
    for kind, expected in {"jvp": J @ t, "vjp": c @ J, "hvp": H @ t, "hessian": H[np.tril_indices(3 * n)]}.items():
        program = emdeg.program(robot, f"{full}_{kind}")
        assert verify_program(program, robot, f"{full}_{kind}").false_pass_probability < 1e-12
        computed = evaluate(program, {group.name: given[group.name][None] for group in program.inputs}).values()
        near = accuracy if kind in ("jvp", "vjp") else 1e-4 * (1 + np.abs(H).max())
        np.testing.assert_allclose(np.concatenate([np.ravel(one) for one in computed]), expected, atol=near)


def test_friction_is_in_the_derivatives_that_are_emitted_and_evaluated(tmp_path):
    robot = arm(LAWS["stribeck"])
    (code,) = emdeg.generate(robot, "inverse_dynamics_vjp", friction=True, name="arm")
    assert code.file == "arm_inverse_dynamics_vjp.c"
    assert "EXP(" in code.text
    with pytest.raises(BadRequest, match="and derivatives of these, not to mass_matrix_vjp"):
        emdeg.generate(robot, "mass_matrix_vjp", friction=True)
    with pytest.raises(RobotError, match="its file states none"):
        emdeg.generate("planar2r", "forward_dynamics_jvp", friction=True)


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


MECHANISMS = ("fivebar", "fourbar", "delta", "twin_driven")


def mechanism(name: str) -> emdeg.Robot:
    """A library mechanism, or one with a motor too many, every joint of which rubs by another law."""
    robot = emdeg.load("fourbar" if name == "twin_driven" else name)
    if name == "twin_driven":
        robot = emdeg.loops.with_driven(robot, [joint.name for joint in robot.joints[:2]])
    laws = [
        Friction(viscous=Exact.of(Fraction(3, 10)), coulomb=Exact.of(Fraction(1, 2))),
        Friction(coulomb=Exact.of(1), stribeck=Exact.of(2), stribeck_velocity=Exact.of(Fraction(1, 5))),
        Friction(viscous=Exact.of(Fraction(1, 7)), coulomb=Exact.of(1), rest_speed=Exact.of(Fraction(1, 10))),
    ]
    links = [
        replace(link, joint=replace(link.joint, drive=replace(link.joint.drive, friction=laws[k % 3])))
        for k, link in enumerate(robot.links)
    ]
    return replace(robot, links=tuple(links))


@pytest.mark.parametrize("name", MECHANISMS)
def test_of_closed_loops_the_motors_give_the_power_that_every_joint_loses(name):
    robot = mechanism(name)
    q = emdeg.dynamics.kind_of(robot).home(robot)
    qd = np.random.default_rng(2).normal(0, 1, q.size)
    h = 1e-6
    joints = [emdeg.loops.joint_positions(robot, q + h * k * unit) for unit in np.eye(q.size) for k in (1, -1)]
    W = np.array([np.angle(np.exp(1j * (a - b))) for a, b in zip(joints[::2], joints[1::2])]).T / (2 * h)
    f = [float(friction_laws([joint])[0].effort(v, np.sign, np.exp)) for joint, v in zip(robot.joints, W @ qd)]
    tau = emdeg.friction(robot, q, qd)
    np.testing.assert_allclose(emdeg.loops.drive_jacobian(robot, q).T @ tau, W.T @ f, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(numbers("generalized_friction", robot, {"q": q, "qd": qd}), W.T @ f, rtol=1e-6)
    qdd, efforts = np.cos(q), np.sin(1 + np.arange(tau.size))
    states = {"q": q, "qd": qd, "qdd": qdd, "tau": efforts}
    expected = {
        "inverse_dynamics": emdeg.inverse_dynamics(robot, q, qd, qdd) + tau,
        "bias": emdeg.bias(robot, q, qd) + W.T @ f,
        "forward_dynamics": emdeg.forward_dynamics(robot, q, qd, efforts - tau),
        "friction": tau,
    }
    for function, value in expected.items():
        full = function + WITH_FRICTION * (function in RUBBING)
        given = {array: states[array] for array in inputs_of([full], robot)}
        np.testing.assert_allclose(numbers(full, robot, given), value, rtol=1e-5, atol=1e-6)
        if name != "delta" or function == "friction":
            found = emdeg.program(robot, full)
            assert verify_program(found, robot, full).false_pass_probability < 1e-12
            (computed,) = evaluate(found, {array: one[None] for array, one in given.items()}).values()
            np.testing.assert_allclose(computed[0], numbers(full, robot, given), rtol=1e-9, atol=1e-10)


def test_a_mechanism_with_friction_in_its_undriven_joints_is_emitted(tmp_path):
    robot = mechanism("fivebar")
    (code,) = emdeg.generate(robot, "inverse_dynamics", "python", friction=True, name="five")
    q, qd, qdd = np.array([2.0, 1.0]), np.array([0.3, -0.5]), np.array([0.2, 0.4])
    found = python_module(code.text, tmp_path).five_inverse_dynamics(list(q), list(qd), list(qdd))
    bare = emdeg.inverse_dynamics(robot, q, qd, qdd)
    assert found == pytest.approx(bare + emdeg.friction(robot, q, qd), abs=1e-12)
    assert np.abs(np.array(found) - bare).max() > 0.1


@pytest.mark.parametrize("names", [("forward_dynamics", "bias"), ("momentum_rates", "bias")])
def test_functions_that_share_a_program_have_friction_each_where_it_belongs(names):
    robot = arm(LAWS["coulomb"])
    asked = [name + WITH_FRICTION * (name in RUBBING) for name in names]
    found = emdeg.program(robot, asked)
    verify_program(found, robot, asked)
    states = {group.name: np.random.default_rng(3).uniform(-1, 1, (1, 2)) for group in found.inputs}
    values = evaluate(found, states)
    for name in asked:
        (output,) = CATALOGUE[name].outputs
        alone = {array: states[array] for array in inputs_of([name], robot)}
        np.testing.assert_allclose(values[output.name], numbers(name, robot, alone), atol=1e-11)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_law_s_numbers_may_be_letters_which_are_parameters(law, tmp_path):
    given = dict(line.split(" = ") for line in law.splitlines())
    letters = {f"f{k}": float(value) for k, value in enumerate(given.values())}
    robot = arm("\n".join(f'{key} = "{letter}"' for key, letter in zip(given, letters)))
    assert robot.symbols == letters.keys()
    with pytest.raises(RobotError, match="symbols without a number"):
        emdeg.friction(robot, [1.0, 2.0])
    numbered = emdeg.substitute(robot, {name: Fraction(str(value)) for name, value in letters.items()})
    qd = np.random.default_rng(3).uniform(-1, 1, (20, 2))
    np.testing.assert_allclose(emdeg.friction(numbered, qd), by_hand(law, qd), atol=1e-14)
    (code,) = emdeg.generate(robot, "inverse_dynamics", friction=True)
    assert code.certificate["false_pass_probability"] < 1e-15
    found = emdeg.compile(emdeg.program(robot, "friction"))
    np.testing.assert_allclose(found(qd, [*letters.values()]), by_hand(law, qd), rtol=1e-13, atol=1e-14)


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
        lambda: emdeg.program("delta", "friction"),
        lambda: emdeg.friction("delta", [0.0, 0.0, -0.7], [0.1, 0.1, 0.1]),
        lambda: emdeg.generate("delta", "inverse_dynamics", friction=True),
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
