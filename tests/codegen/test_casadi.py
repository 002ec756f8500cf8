"""CasADi on the emitted file: values, Jacobians, Hessians, a nonlinear program, against differences and numbers."""

import numpy as np
import pytest

import emdeg
from emdeg.codegen.c import COptions, emit_c
from emdeg.codegen.c.casadi import sparsity
from emdeg.programs import Pattern
from tests.emitted import COMPILERS, c_library

casadi = pytest.importorskip("casadi", reason="casadi is not installed (make test-targets)")


def external(robot, function, folder):
    text = emit_c(emdeg.program(robot, function), COptions(casadi=True), name="f")
    return casadi.external("f_casadi", str(c_library(text, folder, COMPILERS[0])))


def slopes(function, at, step=1e-6):
    return np.stack([(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))], -1)


@pytest.mark.parametrize(
    ("name", "function"),
    [("planar2r", "forward_dynamics"), ("planar2r", "mass_matrix"), ("fourbar", "gravity"), ("fourbar", "jacobian")],
)
def test_jacobian_hessian_and_products_of_an_external_function(name, function, tmp_path):
    f = external(emdeg.load(name), function, tmp_path)
    x = [casadi.MX.sym(f.name_in(k), f.size1_in(k)) for k in range(f.n_in())]
    X, Y = casadi.vertcat(*x), casadi.vec(f(*x))
    c, t = casadi.MX.sym("c", Y.shape[0]), casadi.MX.sym("t", X.shape[0])
    H, gradient = casadi.hessian(casadi.dot(c, Y), X)
    every = casadi.Function("every", [*x, c, t], [Y, casadi.jacobian(Y, X), gradient, H, casadi.jtimes(Y, X, t)])
    rng = np.random.default_rng(0)
    at, weights, along = (rng.uniform(-0.5, 0.5, v.shape[0]) for v in (X, c, t))

    def found(place, which):
        parts = np.split(place, np.cumsum([v.shape[0] for v in x])[:-1])
        return np.array(every(*parts, weights, along)[which]).squeeze()

    J = slopes(lambda place: found(place, 0), at)
    np.testing.assert_allclose(found(at, 1).reshape(J.shape), J, atol=1e-7 * (1 + np.abs(J).max()))
    np.testing.assert_allclose(found(at, 2).ravel(), weights @ J, atol=1e-7 * (1 + np.abs(J).max()))
    np.testing.assert_allclose(found(at, 4), J @ along, atol=1e-7 * (1 + np.abs(J).max()))
    second = slopes(lambda place: found(place, 2).ravel(), at)
    np.testing.assert_allclose(found(at, 3).reshape(second.shape), second, atol=1e-7 * (1 + np.abs(second).max()))


def test_ipopt_finds_the_lowest_pose_through_the_external_function(tmp_path):
    """The pose of least potential energy: gravity vanishes there, which the solver's own derivatives must show."""
    f = external(emdeg.load("planar2r"), "potential_energy", tmp_path)
    q = casadi.MX.sym("q", 2)
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}
    solver = casadi.nlpsol("lowest", "ipopt", {"x": q, "f": f(q)}, quiet)
    best = np.array(solver(x0=[0.3, 0.4])["x"]).squeeze()
    np.testing.assert_allclose(emdeg.gravity("planar2r", best), 0, atol=1e-6)
    assert solver.stats()["success"]


STEPS = {"cvodes": {"abstol": 1e-12, "reltol": 1e-12}, "collocation": {"number_of_finite_elements": 2}}


@pytest.mark.parametrize("scheme", STEPS)
def test_motions_have_derivatives_of_both_orders(scheme, tmp_path):
    """Of an integrator, which solves equations of which it takes derivatives, and of which derivatives are taken."""
    state, tau = casadi.MX.sym("x", 4), casadi.MX.sym("tau", 2)
    found = []
    for f in (external("planar2r", "forward_dynamics", tmp_path), emdeg.casadi("planar2r", "forward_dynamics")):
        rates = casadi.vertcat(state[2:], f(state[:2], state[2:], tau))
        move = casadi.integrator("move", scheme, {"x": state, "p": tau, "ode": rates}, 0, 0.1, STEPS[scheme])
        end = move(x0=state, p=tau)["xf"]
        given = casadi.vertcat(state, tau)
        parts = [casadi.jacobian(end, given), casadi.hessian(casadi.sumsqr(end), given)[0]]
        found.append([np.array(part) for part in casadi.Function("parts", [state, tau], parts)([0.1] * 4, [0.2, -0.1])])
    for own, by_casadi in zip(*found):
        np.testing.assert_allclose(own, by_casadi, atol=1e-6 * np.abs(by_casadi).max())


def test_roots_and_slopes_along_a_line_can_be_differentiated_again(tmp_path):
    q, p, along = (casadi.MX.sym(name, 2) for name in ("q", "p", "along"))
    found = []
    for f in (external("planar2r", "gravity", tmp_path), emdeg.casadi("planar2r", "gravity")):
        root = casadi.rootfinder("root", "newton", {"x": q, "p": p, "g": f(q) + 40 * q - p})
        bent = casadi.hessian(casadi.sumsqr(root(0, p)), p)[0]
        line = casadi.jacobian(casadi.jtimes(f(q), q, along), casadi.vertcat(q, along))
        parts = casadi.Function("parts", [q, p, along], [bent, line])([0.3, 0.4], [1.0, 2.0], [0.5, -1.0])
        found.append([np.array(part) for part in parts])
    for own, by_casadi in zip(*found):
        np.testing.assert_allclose(own, by_casadi, rtol=1e-9)


def test_symbols_are_an_input_that_can_be_differentiated_by(tmp_path):
    robot = emdeg.load("planar2r", payload="mass=mL,com=0:0:0@link2")
    f = external(robot, "gravity", tmp_path)
    assert f.name_in() == ["q", "parameters"]
    q, m = casadi.MX.sym("q", 2), casadi.MX.sym("m", 1)
    by_mass = casadi.Function("by_mass", [q, m], [casadi.jacobian(f(q, m), m)])
    difference = f([0.3, 0.4], 2.0) - f([0.3, 0.4], 1.0)  # linear in the mass
    np.testing.assert_allclose(np.array(by_mass([0.3, 0.4], 5.0)), np.array(difference), rtol=1e-12)


def test_a_file_says_which_derivatives_are_too_long_for_it(monkeypatch):
    program = emdeg.program("planar2r", "forward_dynamics")
    assert "Too long" not in emit_c(program, COptions(casadi=True))
    monkeypatch.setattr("emdeg.programs.companions.MOST_SWEPT", 10)
    text = emit_c(program, COptions(casadi=True))
    assert "CasADi will not find them: jac_adj1. */" in text
    assert "jac_adj1_" not in text


def test_patterns_are_written_as_casadi_keeps_them():
    assert sparsity(Pattern.dense(2, 3)) == [2, 3, 1]
    assert sparsity(Pattern.empty(2, 2)) == [2, 2, 0, 0, 0]
    assert sparsity(Pattern(3, 2, ((0, 0), (2, 0), (1, 1)))) == [3, 2, 0, 2, 3, 0, 2, 1]
