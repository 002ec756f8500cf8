"""The catalogue: entries are complete, and what proves a function is not what computes it."""

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of, mechanism_kinds
from emdeg.dynamics.functions import CATALOGUE, FUNCTIONS, INPUTS, evaluate, functions_of, input_sizes, known_functions
from emdeg.dynamics.functions.lookup import inputs_of_entry
from emdeg.errors import StateError, UnknownFunction
from emdeg.programs.build import plain_program
from emdeg.programs.verification import verify_program

ROBOTS = ["planar2r", "scara", "fivebar"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_reference_is_one_of_the_formulations_it_proves(name):
    for ways in FUNCTIONS[name].ways.values():
        assert ways.reference[1] not in ways.formulations.values()
        assert ways.reference[0] not in ways.formulations


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_entry_is_complete(name):
    entry = FUNCTIONS[name]
    assert entry.name == name
    assert entry.meaning
    assert entry.inputs == tuple(one for one in INPUTS if one in entry.inputs)
    assert entry.outputs
    assert entry.ways.keys() <= {kind.name for kind in mechanism_kinds()}
    for ways in entry.ways.values():
        assert {*ways.plain, *ways.searched} <= ways.formulations.keys()


def sizes(robot):
    n = robot.freedoms
    bodies = robot.n + len(robot.rods)
    known = {"n": n, "links": robot.n, "11 bodies": 11 * bodies, "n n": n * n, "4": 4, "6": 6}
    if robot.loops is not None:
        known["loops"] = len(robot.loops.names)
    return known | {"n (n + 1) / 2": n * (n + 1) // 2, "n n (n - 1) / 2": n * n * (n - 1) // 2}


@pytest.mark.parametrize(("name", "function"), [(r, f) for r in ROBOTS for f in functions_of(emdeg.load(r))])
def test_outputs_have_the_shapes_that_the_entry_states(name, function):
    robot, entry = emdeg.load(name), FUNCTIONS[function]
    rng = np.random.default_rng(2)
    arrays = {one: rng.uniform(-0.1, 0.1, (3, robot.freedoms)) for one in inputs_of_entry(entry, robot)}
    if "q" in arrays:
        arrays["q"] = arrays["q"] + kind_of(robot).home(robot)
    found = evaluate(function, robot, arrays)
    known = sizes(robot)
    shapes = [one.shape for one in (found if isinstance(found, tuple) else (found,))]
    assert shapes == [(3, *(known[letter] for letter in output.shape)) for output in entry.outputs]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.long
def test_every_formulation_of_a_function_is_the_same_function(function):
    from emdeg.programs.build import open_trace, run_together

    entry = FUNCTIONS[function]
    tree, mechanism = ("puma560", "fivebar") if entry.rubs else ("stanford_arm", "fourbar")
    robot = emdeg.load(tree if "tree" in entry.ways else mechanism)
    for run in entry.ways[kind_of(robot).name].formulations.values():
        trace = open_trace(robot, [function])
        outputs = run_together(trace, [function], [run], regroup=True)
        if outputs is not None:
            traced = trace.tracer.program(function, outputs)
            verify_program(traced, robot, function, grounds=[traced])


def test_a_function_that_a_kind_does_not_have_is_said():
    with pytest.raises(UnknownFunction, match="no function 'drive_jacobian' of tree"):
        plain_program(emdeg.load("planar2r"), "drive_jacobian")
    with pytest.raises(UnknownFunction, match="did you mean gravity"):
        known_functions("gravitty")


ELSEWHERE = [(name, robot) for name, entry in CATALOGUE.items() for robot in ("planar2r", "fivebar")]
ELSEWHERE = [(n, r) for n, r in ELSEWHERE if kind_of(emdeg.load(r)).name not in CATALOGUE[n].ways]


@pytest.mark.parametrize(("name", "robot"), ELSEWHERE)
def test_who_asks_for_a_function_of_another_kind_is_told_which_has_it(name, robot):
    own, other = ("tree", "closed loops") if robot == "planar2r" else ("closed loops", "tree")
    said = f"there is no function '{name}' of {own}: it is one of {other} only; there are inverse_dynamics, "
    with pytest.raises(UnknownFunction) as found:
        emdeg.program(robot, name)
    assert str(found.value).startswith(said)
    assert "did you mean" not in str(found.value)
    with pytest.raises(UnknownFunction) as found:
        getattr(emdeg, name)(robot)
    assert str(found.value).startswith(said)


def test_a_wrench_on_the_tool_acts_through_the_jacobian():
    q, qd, qdd, push = [0.3, -0.4], [0.5, 0.2], [1.0, 2.0], [3.0, -2.0, 1.0, 0.1, 0.2, 0.3]
    felt = emdeg.jacobian("planar2r", q).T @ push
    tau = emdeg.inverse_dynamics("planar2r", q, qd, qdd, wrench=push)
    np.testing.assert_allclose(tau, emdeg.inverse_dynamics("planar2r", q, qd, qdd) - felt, atol=1e-12)
    np.testing.assert_allclose(emdeg.forward_dynamics("planar2r", q, qd, tau, wrench=push), qdd, atol=1e-9)


def robot_with(name):
    """A small robot that has a function, or the one that this is a derivative of."""
    entry = CATALOGUE[name]
    base = name if entry.derivation is None else entry.derivation.of.name
    return next(robot for robot in map(emdeg.load, ["planar2r", "puma560", "fivebar"]) if base in functions_of(robot))


def at_home(name, robot):
    """Arrays for a function of a robot, near where it is at home."""
    arrays = {one: np.full(size, 0.1) for one, size in input_sizes([name], robot).items()}
    if "q" in arrays:
        arrays["q"] = kind_of(robot).home(robot) + 0.1
    return arrays


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_name_that_is_listed_is_a_function_in_python(name):
    robot = robot_with(name)
    places = (emdeg, emdeg.loops)
    assert name not in FUNCTIONS or any(name in dir(place) for place in places)
    arrays = at_home(name, robot)
    for place in places:
        np.testing.assert_equal(getattr(place, name)(robot, **arrays), evaluate(name, robot, arrays))


def test_functions_with_friction_are_those_without_and_what_rubs():
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, 5, 6))
    rubbing = emdeg.friction("puma560", qd)
    tau = emdeg.inverse_dynamics_with_friction("puma560", q, qd, qdd)
    np.testing.assert_allclose(tau, emdeg.inverse_dynamics("puma560", q, qd, qdd) + rubbing, atol=1e-12)
    np.testing.assert_allclose(emdeg.forward_dynamics_with_friction("puma560", q, qd, tau), qdd, atol=1e-9)
    h = emdeg.loops.bias_with_friction("puma560", q, qd)
    np.testing.assert_allclose(h, emdeg.bias("puma560", q, qd) + rubbing, atol=1e-12)
    slopes = emdeg.inverse_dynamics_derivatives_with_friction("puma560", q, qd, qdd)
    np.testing.assert_allclose(
        emdeg.forward_dynamics_derivatives_with_friction("puma560", q, qd, tau)[0], qdd, atol=1e-9
    )
    along = emdeg.inverse_dynamics_with_friction_jvp("puma560", q, qd, qdd, np.ones(6), np.ones(6), np.zeros(6))
    np.testing.assert_allclose(along, (slopes[0] + slopes[1]).sum(-1), atol=1e-9)


@pytest.mark.parametrize("name", CATALOGUE)
def test_no_function_takes_complex_numbers_for_real_ones(name):
    robot = robot_with(name)
    arrays = at_home(name, robot)
    for one, values in arrays.items():
        for wrong in (values + 1e-3j, (values + 0j).tolist()):
            with pytest.raises(StateError, match=f"{one} has dtype complex128, expected float64"):
                getattr(emdeg, name)(robot, **{**arrays, one: wrong})


def test_what_stands_on_the_functions_takes_no_complex_numbers_either():
    q = np.array([0.1, 0.2]) + 1e-3j
    with pytest.raises(StateError, match="wrench has dtype complex128"):
        emdeg.forward_dynamics("planar2r", q.real, q.real, q.real, wrench=np.zeros(6) + 1j)
    with pytest.raises(StateError, match="q has dtype complex128"):
        emdeg.linearise("planar2r", q)
    with pytest.raises(StateError, match="qd0 has dtype complex128"):
        emdeg.simulate("planar2r", q0=q.real, qd0=q, duration=0.1)
