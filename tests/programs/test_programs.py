from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.functions import CATALOGUE, axis_names, functions_of
from emdeg.dynamics.functions import evaluate as numbers
from emdeg.dynamics.functions.lookup import output_shape
from emdeg.dynamics.parameters.base import base_values
from emdeg.errors import BadRequest, CannotJoin, NotInvertible, OverBudget, Refuted, UnknownFunction
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Dependence, InputGroup, count
from emdeg.programs.proof import FALSE_PASS
from emdeg.programs.values import evaluate
from emdeg.programs.verification import verify_program
from emdeg.robot.loading import load
from tests.program_samples import mutants

ROBOTS = ["planar2r", "scara", "stanford_arm", "puma560"]


def inputs_of(built, states=4, seed=0):
    rng = np.random.default_rng(seed)
    return {group.name: rng.uniform(-2, 2, (states, group.size)) for group in built.inputs}


def numeric(robot, function, inputs):
    result = numbers(function, robot, inputs)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", functions_of(load("planar2r")))
@pytest.mark.parametrize("name", ROBOTS)
def test_a_program_computes_what_the_numeric_mechanics_computes(name, function):
    robot = load(name)
    built = plain_program(robot, function)
    inputs = inputs_of(built)
    for found, expected in zip(evaluate(built, inputs).values(), numeric(robot, function, inputs), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("function", functions_of(load("planar2r")))
@pytest.mark.parametrize("name", ["planar2r", "scara", "stanford_arm"])
def test_a_program_is_proved_equal_to_an_independent_formulation(name, function):
    robot = load(name)
    certificate = verify_program(plain_program(robot, function), robot, function)
    assert certificate.false_pass_probability < FALSE_PASS


def test_symbols_become_parameters_and_the_proof_covers_all_their_values():
    robot = load("puma560_symbolic")
    built = plain_program(robot, "gravity")
    assert built.inputs[-1].name == "parameters"
    assert built.inputs[-1].labels == tuple(sorted(robot.symbols))
    assert verify_program(built, robot, "gravity").false_pass_probability < FALSE_PASS


def test_another_robots_program_is_refuted():
    heavier = load("planar2r", payload="mass=0.001,com=0:0:0@link2")
    with pytest.raises(Refuted):
        verify_program(plain_program(load("planar2r"), "inverse_dynamics"), heavier, "inverse_dynamics")


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
def test_every_mutant_of_a_robots_program_is_caught(function):
    robot = load("planar2r")
    built = plain_program(robot, function)
    inputs = inputs_of(built)
    (right,) = evaluate(built, inputs).values()
    caught = 0
    for mutant in mutants(built):
        with np.errstate(all="ignore"):
            (out,) = evaluate(mutant, inputs).values()
        if not np.allclose(out, right, rtol=1e-11, atol=1e-11):
            with pytest.raises((Refuted, ValueError)):
                verify_program(mutant, robot, function)
            caught += 1
    assert caught > built.size


def test_a_program_with_another_face_is_refuted():
    """An output left out is never compared, and arrays in another order make another call."""
    robot = load("planar2r")
    names = ("mass_matrix", "bias")
    both = plain_program(robot, names)
    M, h = both.outputs
    flat = replace(M, shape=(4,))
    unused = InputGroup("qdd", 2, Dependence.RATES)
    for wrong in (
        replace(both, outputs=(M,)),
        replace(both, outputs=()),
        replace(both, outputs=(h, M)),
        replace(both, outputs=(flat, h)),
        replace(both, inputs=both.inputs[::-1]),
        replace(both, inputs=(*both.inputs, unused)),
    ):
        with pytest.raises(Refuted, match=r"outputs are|inputs are"):
            verify_program(wrong, robot, names)


def test_parameters_under_another_name_are_refuted():
    robot = load("jpl_rrp", payload="mass=mL,com=xL:0:0")
    built = plain_program(robot, "gravity")
    renamed = replace(built.inputs[-1], labels=built.inputs[-1].labels[::-1])
    with pytest.raises(Refuted, match="its parameters are not"):
        verify_program(replace(built, inputs=(*built.inputs[:-1], renamed)), robot, "gravity")


def test_functions_can_share_one_program():
    robot = load("puma560")
    both = plain_program(robot, ("mass_matrix", "bias"))
    assert [group.name for group in both.outputs] == ["M", "h"]
    apart = count(plain_program(robot, "mass_matrix")) + count(plain_program(robot, "bias"))
    assert count(both).total <= apart.total
    assert count(both).sincos < apart.sincos
    verify_program(both, robot, ("mass_matrix", "bias"))


def test_base_parameters_change_no_effort_and_save_operations():
    robot = load("puma560")
    grouped, plain = (plain_program(robot, "inverse_dynamics", base_parameters=b) for b in (True, False))
    inputs = inputs_of(grouped)
    np.testing.assert_allclose(evaluate(grouped, inputs)["tau"], evaluate(plain, inputs)["tau"], rtol=1e-12, atol=1e-12)
    assert count(grouped).total < count(plain).total


# What a plain trace with base parameters reaches in other tools (SymForce, CasADi).
@pytest.mark.parametrize(("name", "most"), [("puma560", 400), ("panda", 690), ("iiwa14", 456), ("ur5e", 346)])
def test_inverse_dynamics_needs_no_more_than_a_plain_trace_elsewhere(name, most):
    assert count(plain_program(load(name), "inverse_dynamics")).total <= most


def test_an_unknown_function_is_named():
    with pytest.raises(UnknownFunction, match=r"'torques'.*inverse_dynamics"):
        plain_program(load("planar2r"), "torques")


def test_derivatives_of_forward_dynamics_are_its_differences():
    robot = load("stanford_arm")
    built = plain_program(robot, "forward_dynamics_derivatives")
    state = inputs_of(built, 1)
    out = evaluate(built, state)
    step = 1e-6
    for name, derivative in (("q", "dqdd_dq"), ("qd", "dqdd_dqd"), ("tau", "dqdd_dtau")):
        for k in range(robot.n):
            moved = [{**state, name: state[name] + sign * step * np.eye(robot.n)[k]} for sign in (1, -1)]
            up, down = (emdeg.forward_dynamics(robot, **each) for each in moved)
            difference = (up - down)[0] / (2 * step)
            scale = np.abs(out[derivative]).max()
            np.testing.assert_allclose(out[derivative][0, :, k], difference, rtol=1e-5, atol=1e-6 * scale)


def test_the_base_parameters_regressor_gives_the_torques():
    robot = load("puma560")
    built = plain_program(robot, "regressor", base=True)
    assert built.outputs[0].shape == (6, 40)
    inputs = inputs_of(built)
    values = [float(value) for value in base_values(robot)]
    torques = emdeg.inverse_dynamics(robot, **inputs)
    np.testing.assert_allclose(evaluate(built, inputs)["Y"] @ values, torques, rtol=1e-10, atol=1e-10)
    verify_program(built, robot, "regressor", base=True)


def test_functions_whose_names_clash_cannot_be_one_program():
    with pytest.raises(CannotJoin, match="is input and output"):
        plain_program(load("planar2r"), ("inverse_dynamics", "forward_dynamics"))
    with pytest.raises(CannotJoin, match="two have an output M"):
        plain_program(load("planar2r"), ("mass_matrix", "elements"))
    with pytest.raises(CannotJoin, match="is input and output"):
        plain_program(load("fourbar"), ("inverse_dynamics", "forward_dynamics"))


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford_arm"])
def test_a_square_jacobian_has_programs_of_its_inverse_and_its_determinant(name):
    robot = emdeg.load(name)
    q = np.random.default_rng(3).uniform(-1, 1, (5, 6))
    J = emdeg.jacobian(robot, q)
    for function, expected in (("inverse_jacobian", np.linalg.inv(J)), ("jacobian_determinant", np.linalg.det(J))):
        program = emdeg.program(robot, function)
        assert verify_program(program, robot, function).false_pass_probability < 1e-15
        (found,) = evaluate(program, {"q": q}).values()
        np.testing.assert_allclose(found, expected, atol=1e-11)
        np.testing.assert_allclose(getattr(emdeg, function)(robot, q), expected, atol=1e-11)


def test_a_jacobian_that_is_not_square_has_no_inverse():
    for name in ("panda", "scara"):
        with pytest.raises(NotInvertible, match="not moved by six joints"):
            emdeg.program(name, "inverse_jacobian")


@pytest.mark.parametrize("wrong", [None, 3, [], [None], {"inverse_dynamics": 1}])
def test_a_function_is_asked_for_by_its_name(wrong):
    with pytest.raises(BadRequest, match="by its name"):
        emdeg.program("planar2r", wrong)


def test_cotangents_of_driven_joints_have_their_names_where_these_are_more_than_the_freedoms(tmp_path):
    text = (resources.files("emdeg.robot.library") / "fourbar.toml").read_text(encoding="utf-8")
    path = tmp_path / "three_motors.toml"
    path.write_text(text.replace('driven = ["q1"]', 'driven = ["q1", "p1", "p2"]'), encoding="utf-8")
    robot = emdeg.load(str(path))
    for name in ("forward_dynamics_vjp", "forward_dynamics_hvp"):
        program = plain_program(robot, name)
        for output, group in zip(CATALOGUE[name].outputs, program.outputs, strict=True):
            assert output_shape(output, robot) == group.shape
            (names,) = axis_names(output, robot)
            assert names == (["q1", "p1", "p2"] if output.name.startswith("tau") else ["q1"])


def test_a_jacobian_that_is_singular_everywhere_is_said_to_be(tmp_path):
    links = "".join(
        f'[[link]]\nname = "l{k}"\nparent = "{f"l{k - 1}" if k else "base"}"\n'
        f'joint = {{ name = "q{k}", type = "revolute", a = 0.3 }}\n'
        'inertia = { about = "com", mass = 1.0, com = [0.1, 0, 0], Ixx = 0.01, Iyy = 0.01, Izz = 0.01 }\n'
        for k in range(6)
    )
    path = tmp_path / "flat.toml"
    path.write_text(f'schema = 1\nname = "flat"\nconvention = "modified"\n{links}')
    for name in ("inverse_jacobian", "inverse_jacobian_vjp"):
        with pytest.raises(NotInvertible, match="Jacobian of flat is singular at every pose"):
            emdeg.program(str(path), name)


def test_a_robot_whose_parameters_cannot_be_grouped_has_programs_of_all_of_them(tmp_path):
    """A turntable and three slides, their frames a little askew: the coefficients are quotients of quotients."""
    path = tmp_path / "gantry.urdf"
    links = "".join(
        f'<link name="l{k}"><inertial><origin xyz=".1 .02 .03"/><mass value="{k}"/><inertia ixx=".1" iyy=".12" '
        'izz=".14" ixy=".01" ixz=".02" iyz=".005"/></inertial></link>'
        for k in range(1, 5)
    )
    joints = "".join(
        f'<joint name="j{k}" type="{"revolute" if k == 1 else "prismatic"}"><parent link="l{k - 1}"/>'
        f'<child link="l{k}"/><origin xyz=".1 .2 .3" rpy=".1 .2 .3"/><axis xyz="{axis}"/>'
        '<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>'
        for k, axis in enumerate((".3 .5 .8", "1 .2 .1", ".1 1 .3", "-.2 .3 1"), 1)
    )
    path.write_text(f'<robot name="gantry"><link name="l0"/>{links}{joints}</robot>')
    robot = emdeg.load(str(path))
    program = plain_program(robot, "inverse_dynamics")
    assert verify_program(program, robot, "inverse_dynamics").false_pass_probability < FALSE_PASS
    with pytest.raises(OverBudget, match="gantry: how its inertial parameters are grouped"):
        emdeg.base_parameters(robot)
