"""Derivatives of functions, in numbers: against differences, against each other, for trees and closed loops."""

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import CATALOGUE, FUNCTIONS, evaluate, functions_of, input_sizes
from emdeg.errors import CannotJoin, StateError

ROBOTS = ["planar2r", "scara", "fivebar"]
KINDS = ["jvp", "vjp", "hvp", "hessian"]


def several(found):
    return found if isinstance(found, tuple) else (found,)


def flat(found):
    return np.concatenate([np.ravel(one) for one in several(found)])


class Point:
    """A function at a state, its inputs and outputs as one vector each, with tangents and cotangents."""

    def __init__(self, name, function, seed=3):
        self.robot, self.function = emdeg.load(name), function
        rng = np.random.default_rng(seed)
        self.sizes = input_sizes([function], self.robot)
        self.x = rng.uniform(-0.3, 0.3, sum(self.sizes.values()))
        home = kind_of(self.robot).home(self.robot)
        self.x[: len(home)] += home
        self.tangent = rng.standard_normal(len(self.x))
        y = several(self.value(self.x))
        outputs = CATALOGUE[function].outputs
        self.cotangents = {f"{one.name}_c": rng.standard_normal(np.size(v)) for one, v in zip(outputs, y)}
        self.weights = np.concatenate(list(self.cotangents.values()))

    def arrays(self, x, ending=""):
        ends = np.cumsum(list(self.sizes.values()))
        return {f"{name}{ending}": part for name, part in zip(self.sizes, np.split(x, ends[:-1]))}

    def value(self, x):
        return evaluate(self.function, self.robot, self.arrays(x))

    def derivative(self, kind, x=None):
        given = self.arrays(self.x if x is None else x)
        given |= self.cotangents if kind != "jvp" else {}
        given |= self.arrays(self.tangent, "_t") if kind in ("jvp", "hvp") else {}
        return evaluate(f"{self.function}_{kind}", self.robot, given)


def differences(f, x, step=1e-5):
    return np.stack([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))], -1)


LONG = {"elements", "regressor", "inverse_dynamics_derivatives", "forward_dynamics_derivatives"}
CASES = [(r, f) for r in ROBOTS for f in functions_of(emdeg.load(r)) if not FUNCTIONS[f].rubs]
CASES = [
    pytest.param(r, f, marks=[pytest.mark.slow] if f in LONG or (r == "scara" and f[0] not in "ifk") else [])
    for r, f in CASES
]


@pytest.mark.parametrize(("name", "function"), CASES)
def test_derivatives_are_what_differences_say(name, function):
    at = Point(name, function)
    J = differences(lambda x: flat(at.value(x)), at.x)
    size = 1e-8 * (1 + np.abs(J).max())
    np.testing.assert_allclose(flat(at.derivative("jvp")), J @ at.tangent, atol=10 * size)
    np.testing.assert_allclose(flat(at.derivative("vjp")), at.weights @ J, atol=10 * size)
    H = differences(lambda x: flat(at.derivative("vjp", x)), at.x)
    size = 1e-8 * (1 + np.abs(H).max())
    np.testing.assert_allclose(flat(at.derivative("hvp")), H @ at.tangent, atol=10 * size)
    np.testing.assert_allclose(at.derivative("hessian"), H[np.tril_indices(len(at.x))], atol=size)


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_says_what_goes_in_and_comes_out(kind):
    entry = CATALOGUE[f"inverse_dynamics_{kind}"]
    cotangents, tangents = ("tau_c",), ("q_t", "qd_t", "qdd_t")
    wanted = {"jvp": tangents, "vjp": cotangents, "hvp": cotangents + tangents, "hessian": cotangents}[kind]
    assert entry.inputs == ("q", "qd", "qdd", *wanted)
    yields = {
        "jvp": ("tau_t",),
        "vjp": ("q_c", "qd_c", "qdd_c"),
        "hvp": ("q_c_t", "qd_c_t", "qdd_c_t"),
        "hessian": ("H",),
    }
    assert tuple(one.name for one in entry.outputs) == yields[kind]
    assert all(entry.arrays[name].unit and entry.arrays[name].meaning for name in entry.inputs)


def test_every_differentiable_function_has_its_four():
    for name, entry in FUNCTIONS.items():
        assert all((f"{name}_{kind}" in CATALOGUE) is entry.differentiable for kind in KINDS)
    assert CATALOGUE["inverse_dynamics_with_friction_vjp"].rubs


def test_python_has_them_by_name_and_states_broadcast():
    q, c = np.random.default_rng(0).uniform(-1, 1, (2, 5, 2))
    many = emdeg.gravity_vjp("planar2r", q, c)
    assert many.shape == (5, 2)
    np.testing.assert_allclose(many[3], emdeg.gravity_vjp("planar2r", q[3], c[3]))
    np.testing.assert_allclose(emdeg.gravity_vjp("planar2r", q[0], c)[2], emdeg.gravity_vjp("planar2r", q[0], c[2]))
    with pytest.raises(AttributeError):
        _ = emdeg.nothing_vjp


def test_cotangents_of_the_wrong_size_are_told():
    with pytest.raises(StateError, match="M_c has shape"):
        emdeg.mass_matrix_vjp("planar2r", [0.0, 1.0], [1.0, 2.0])


def test_two_functions_whose_cotangents_have_one_name_and_two_sizes_are_no_program():
    with pytest.raises(CannotJoin, match="T_c is two arrays"):
        emdeg.program("planar2r", "forward_kinematics_vjp+kinetic_energy_hvp")
