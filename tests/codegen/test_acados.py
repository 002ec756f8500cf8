"""acados' functions, called through ctypes with its integers: signatures, sizes, and values against the numbers."""

import ctypes

import numpy as np
import pytest

import emdeg
from emdeg.codegen.c import COptions, emit_c
from emdeg.dynamics import kind_of
from emdeg.errors import BadRequest
from tests.emitted import COMPILERS, c_library

POINTER = ctypes.POINTER(ctypes.c_double)


class Model:
    """A library's functions `<model>_<name>`, as acados calls them: int for its integers."""

    def __init__(self, robot, function, folder):
        self.robot = emdeg.load(robot) if isinstance(robot, str) else robot
        text = emit_c(emdeg.program(self.robot, function), COptions(acados=True), name=f"arm_{function}")
        self.library = ctypes.CDLL(str(c_library(text, folder, COMPILERS[0])))

    def shape(self, name, direction, place):
        asked = getattr(self.library, f"arm_{name}_sparsity_{direction}")
        asked.restype = ctypes.POINTER(ctypes.c_int)
        rows, columns, dense = asked(place)[:3]
        assert dense == 1
        return rows, columns

    def __call__(self, name, *given):
        function = getattr(self.library, f"arm_{name}")
        many, results = (getattr(self.library, f"arm_{name}_n_{way}")() for way in ("in", "out"))
        assert many == len(given)
        sizes = (ctypes.c_int * 4)(-1, -1, -1, -1)
        places = [ctypes.byref(sizes, 4 * k) for k in range(4)]
        assert getattr(self.library, f"arm_{name}_work")(*places) == 0
        assert list(sizes) == [many, results, 0, 0]
        arrays = []
        for place, value in enumerate(given):
            rows, columns = self.shape(name, "in", place)
            assert np.size(value) == rows * columns
            arrays.append(np.asfortranarray(value, float).ravel(order="F"))
        outputs = [np.full(self.shape(name, "out", place), np.nan, order="F") for place in range(results)]
        arg = (POINTER * many)(*(a.ctypes.data_as(POINTER) for a in arrays))
        res = (POINTER * results)(*(o.ctypes.data_as(POINTER) for o in outputs))
        assert function(arg, res, None, None, 0) == 0
        return outputs


def explicit(robot, x, u):
    n = len(x) // 2
    return np.concatenate([x[n:], emdeg.forward_dynamics(robot, x[:n], x[n:], u)])


def slopes(function, at, step=1e-6):
    return np.stack([(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))], -1)


MODELS = [
    "planar2r",
    "fourbar",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("fivebar", "delta", "scara")),
]
"""Trees, and mechanisms with loops, whose coordinates stay where the loops close."""


def positions(robot, rng):
    return kind_of(robot).surroundings(robot).place(rng.uniform(-0.1, 0.1, len(robot.coordinates)))


@pytest.mark.parametrize("name", MODELS)
def test_the_explicit_model(name, tmp_path):
    model, rng = Model(name, "forward_dynamics", tmp_path), np.random.default_rng(2)
    q = positions(model.robot, rng)
    n = nu = len(q)
    nx = 2 * n
    x, u, weights = np.concatenate([q, rng.uniform(-1, 1, n)]), rng.uniform(-1, 1, nu), rng.uniform(-1, 1, nx)
    Sx, Su = rng.uniform(-1, 1, (nx, nx)), rng.uniform(-1, 1, (nx, nu))
    f = explicit(model.robot, x, u)
    np.testing.assert_allclose(model("expl_ode_fun", x, u, [])[0][:, 0], f, rtol=1e-9)
    J = slopes(lambda v: explicit(model.robot, v[:nx], v[nx:]), np.concatenate([x, u]))
    large = 1 + np.abs(J).max()
    rates, by_x, by_u = model("expl_vde_forw", x, Sx, Su, u, [])
    np.testing.assert_allclose(rates[:, 0], f, rtol=1e-9)
    np.testing.assert_allclose(by_x, J[:, :nx] @ Sx, atol=1e-6 * large)
    np.testing.assert_allclose(by_u, J[:, nx:] + J[:, :nx] @ Su, atol=1e-6 * large)
    (adjoint,) = model("expl_vde_adj", x, weights, u, [])
    np.testing.assert_allclose(adjoint[:, 0], weights @ J, atol=1e-6 * large)
    again, hessian = model("expl_ode_hess", x, Sx, Su, weights, u, [])
    np.testing.assert_allclose(again, adjoint, rtol=1e-9, atol=1e-9 * large)
    H = slopes(lambda v: model("expl_vde_adj", v[:nx], weights, v[nx:], [])[0][:, 0], np.concatenate([x, u]))
    S = np.block([[Sx, Su], [np.zeros((nu, nx)), np.eye(nu)]])
    whole = S.T @ H @ S
    expected = [whole[i, j] for j in range(nx + nu) for i in range(j, nx + nu)]
    np.testing.assert_allclose(hessian[:, 0], expected, atol=1e-5 * (1 + np.abs(whole).max()))


@pytest.mark.parametrize("name", MODELS)
def test_the_implicit_model(name, tmp_path):
    model, rng = Model(name, "inverse_dynamics", tmp_path), np.random.default_rng(3)
    q = positions(model.robot, rng)
    n = len(q)
    nx = 2 * n
    x, (xdot, weights) = np.concatenate([q, rng.uniform(-1, 1, n)]), rng.uniform(-1, 1, (2, nx))
    u = rng.uniform(-1, 1, n)

    def residual(v):
        place, rate, push = v[:n], v[n:nx], v[nx + n : 2 * nx]
        tau = emdeg.inverse_dynamics(model.robot, place, rate, push)
        return np.concatenate([v[nx : nx + n] - rate, tau - v[2 * nx :]])

    at = np.concatenate([x, xdot, u])
    J = slopes(residual, at)
    large = 1 + np.abs(J).max()
    given = (x, xdot, u, [], [], [])
    blocks = {"jac_x": J[:, :nx], "jac_xdot": J[:, nx : 2 * nx], "jac_u": J[:, 2 * nx :], "jac_z": np.zeros((nx, 0))}
    for ending in ("fun", "fun_jac_x_xdot_z", "fun_jac_x_xdot_u_z", "fun_jac_x_xdot_u", "jac_x_xdot_u_z"):
        found = model(f"impl_dae_{ending}", *given)
        if ending.startswith("fun"):
            np.testing.assert_allclose(found.pop(0)[:, 0], residual(at), rtol=1e-9, atol=1e-9)
        wanted = [f"jac_{part}" for part in ending.partition("jac_")[2].split("_") if part]
        for block, which in zip(found, wanted, strict=True):
            np.testing.assert_allclose(block, blocks[which], atol=1e-7 * large)
    (H,) = model("impl_dae_hess", x, xdot, u, [], weights, [], [])

    def gradient(v):
        found = model("impl_dae_jac_x_xdot_u_z", v[:nx], v[nx : 2 * nx], v[2 * nx :], [], [], [])
        return weights @ np.hstack(found[:3])

    second = slopes(gradient, at)
    np.testing.assert_allclose(H, second, atol=1e-7 * (1 + np.abs(second).max()))


def test_open_parameters_are_acados_parameters(tmp_path):
    robot = emdeg.load("planar2r", payload="mass=mL,com=0:0:0@link2")
    model = Model(robot, "forward_dynamics", tmp_path)
    heavy = emdeg.load("planar2r", payload="mass=2,com=0:0:0@link2")
    x, u = np.array([0.3, 0.4, 0.5, 0.6]), np.array([1.0, -2.0])
    np.testing.assert_allclose(model("expl_ode_fun", x, u, [2.0])[0][:, 0], explicit(heavy, x, u), rtol=1e-12)
    (adjoint,) = model("expl_vde_adj", x, [0.1, 0.2, 0.3, 0.4], u, [2.0])
    J = slopes(lambda v: explicit(heavy, v[:4], v[4:]), np.concatenate([x, u]))
    np.testing.assert_allclose(adjoint[:, 0], [0.1, 0.2, 0.3, 0.4] @ J, atol=1e-6)


def test_other_functions_are_no_models():
    with pytest.raises(BadRequest, match="explicit model"):
        emdeg.generate("planar2r", "gravity", acados=True)
    with pytest.raises(BadRequest, match="exclude each other"):
        emdeg.generate("planar2r", "forward_dynamics", acados=True, single=True)
