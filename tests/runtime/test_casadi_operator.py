"""A function over CasADi's symbols is the function, and CasADi can differentiate it."""

import numpy as np
import pytest

import emdeg

casadi = pytest.importorskip("casadi", reason="casadi is not installed (make test-targets)")


@pytest.mark.parametrize(("name", "function"), [("puma560", "mass_matrix+bias"), ("fivebar", "forward_dynamics")])
def test_it_computes_what_the_compiled_program_computes(name, function):
    f = emdeg.casadi(name, function)
    program = emdeg.program(name, function)
    assert f.name_in() == [group.name for group in program.inputs]
    assert f.name_out() == [group.name for group in program.outputs]
    rng = np.random.default_rng(0)
    given = [rng.uniform(-0.1, 0.1, group.size) for group in program.inputs]
    given[0] = given[0] + ([0.3, 0.9] if name == "fivebar" else 0)
    found, expected = f(*given), emdeg.compile(program)(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for one, right in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        np.testing.assert_allclose(np.array(one).reshape(right.shape), right, rtol=1e-12, atol=1e-12)


def test_casadis_own_derivative_is_ours():
    f = emdeg.casadi("planar2r", "gravity")
    q = casadi.SX.sym("q", 2)
    stiffness = casadi.Function("stiffness", [q], [casadi.jacobian(f(q), q)])
    at, c = [0.3, -0.4], [1.0, 2.0]
    np.testing.assert_allclose(c @ np.array(stiffness(at)), emdeg.gravity_vjp("planar2r", at, c), rtol=1e-12)
