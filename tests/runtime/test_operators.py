"""Functions as operators of torch and JAX: values, gradients by the adjoint programs, compilation, on either processor.

torch is tested on machines that have it (`make test-gpu`), its processor's back end included.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.errors import BadRequest, StateError, UnknownFunction
from emdeg.runtime.operators.adjoint import adjoint_of, operator_programs
from tests.program_samples import samples


def states(count, n=2, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, (count, n)) for _ in range(3)]


def slopes(robot, *given):
    """d(qdd)/dq, d(qdd)/d(tau) (states, n, n), from the derivatives' own program."""
    program = emdeg.program(robot, "forward_dynamics_derivatives")
    found = emdeg.compile(program)(*given)
    by_name = dict(zip((group.name for group in program.outputs), found))
    return by_name["dqdd_dq"], by_name["dqdd_dtau"]


def test_the_adjoint_of_a_program_is_its_gradient_in_parameters_too():
    program = emdeg.program("puma560_symbolic", "gravity")
    adjoint = adjoint_of(program)
    assert [group.name for group in adjoint.outputs] == ["q_c", "parameters_c"]
    given = samples(program, 3, 0, 1.0)
    weights = np.random.default_rng(1).normal(size=(3, 6))
    found = dict(
        zip(
            ("q_c", "parameters_c"),
            emdeg.compile(adjoint)(**given, g_c=weights),
        )
    )
    run = emdeg.compile(program)
    for name, along in (("q", 2), ("parameters", 17)):
        step = np.zeros(given[name].shape[-1])
        step[along] = 1e-6
        up, down = (run(**{**given, name: given[name] + sign * step}) for sign in (1, -1))
        slope = ((up - down) * weights).sum(-1) / 2e-6
        np.testing.assert_allclose(found[f"{name}_c"][:, along], slope, rtol=1e-6, atol=1e-8)


def test_what_there_is_not_is_said():
    with pytest.raises(UnknownFunction, match="sideways"):
        operator_programs(emdeg.load("planar2r"), "sideways")
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(BadRequest, match="torch"):
            emdeg.torch.function("planar2r", "gravity")


@pytest.fixture
def jax():
    found = pytest.importorskip("jax")
    found.config.update("jax_enable_x64", True)
    return found


@pytest.mark.targets
def test_jax_compiles_maps_and_differentiates(jax):
    forward = emdeg.jax.function("puma560", "forward_dynamics")
    q, qd, tau = states(5, 6)
    expected = emdeg.forward_dynamics("puma560", q, qd, tau)
    np.testing.assert_allclose(jax.jit(forward)(q, qd, tau), expected, rtol=1e-12, atol=1e-12)
    by_q, by_tau = slopes("puma560", q, qd, tau[0])
    gradient = jax.jit(jax.grad(lambda *given: forward(*given).sum(), argnums=(0, 2)))(q, qd, tau[0])
    np.testing.assert_allclose(gradient[0], by_q.sum(-2), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradient[1], by_tau.sum((0, -2)), rtol=1e-10, atol=1e-10)  # one effort for all states
    jacobian = jax.jit(jax.vmap(jax.jacrev(forward)))(q, qd, tau)
    np.testing.assert_allclose(jacobian, slopes("puma560", q, qd, tau)[0], rtol=1e-10, atol=1e-10)


@pytest.mark.targets
def test_jax_keeps_precision_and_shape(jax):
    inertia = emdeg.jax.function("planar2r", "mass_matrix")
    q = states(3)[0]
    assert inertia(q.astype(np.float32)).dtype == np.float32
    assert inertia(q[0]).shape == (2, 2)
    assert inertia(q.reshape(3, 1, 2)).shape == (3, 1, 2, 2)
    assert jax.grad(lambda x: inertia(x).sum())(q.astype(np.float32)).dtype == np.float32
    with pytest.raises(StateError, match="expected"):
        inertia(q[:, :1])
    with pytest.raises(TypeError, match="takes q"):
        inertia(q, q)


@pytest.mark.targets
def test_jax_differentiates_in_parameters_and_in_closed_loops(jax):
    gravity = emdeg.jax.function("puma560_symbolic", "gravity")
    program = emdeg.program("puma560_symbolic", "gravity")
    given = samples(program, 3, 0, 1.0)
    found = jax.grad(lambda p: gravity(given["q"], p).sum())(given["parameters"])
    adjoint = adjoint_of(program)
    expected = emdeg.compile(adjoint)(**given, g_c=np.ones((3, 6)))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    delta = emdeg.jax.function("delta", "inverse_dynamics")
    robot = emdeg.load("delta")
    q = np.asarray(kind_of(robot).home(robot))[None]
    zero = np.zeros_like(q)
    slope = jax.jacrev(lambda x: delta(x, zero, zero).sum(0))(q)[:, 0]
    step = np.eye(3) * 1e-6
    rows = [(delta(q + s, zero, zero) - delta(q - s, zero, zero))[0] / 2e-6 for s in step]
    np.testing.assert_allclose(slope, np.array(rows).T, rtol=1e-5, atol=1e-5)


@pytest.mark.gpu
def test_jax_on_the_device_stays_there(jax):
    forward = emdeg.jax.function("panda", "forward_dynamics")
    given = [jax.numpy.asarray(array) for array in states(100, 7)]
    with jax.transfer_guard("disallow"):
        found = jax.jit(forward)(*given)
    np.testing.assert_allclose(found, emdeg.forward_dynamics("panda", *states(100, 7)), rtol=1e-9, atol=1e-9)


@pytest.mark.gpu
@pytest.mark.parametrize("device", ["cpu", "cuda"])
class TestTorch:
    """The same on both processors."""

    def given(self, device, count=5, n=6, dtype="float64"):
        torch = pytest.importorskip("torch")
        if device == "cuda" and not torch.cuda.is_available():
            pytest.skip("there is no GPU")
        kind = getattr(torch, dtype)
        return torch, [torch.from_numpy(a).to(device, kind).requires_grad_() for a in states(count, n)]

    def test_values_and_gradients(self, device):
        torch, given = self.given(device)
        forward = emdeg.torch.function("puma560", "forward_dynamics")
        host = [array.detach().cpu().numpy() for array in given]
        found = forward(*given)
        assert found.device.type == device
        np.testing.assert_allclose(found.detach().cpu(), emdeg.forward_dynamics("puma560", *host), rtol=1e-10)
        assert torch.autograd.gradcheck(forward, given)
        one = given[2][0].detach().requires_grad_()
        assert torch.autograd.gradcheck(forward, (given[0], given[1], one))

    def test_second_derivatives(self, device):
        torch, given = self.given(device, 2, 2)
        assert torch.autograd.gradgradcheck(emdeg.torch.function("planar2r", "forward_dynamics"), given)
        assert torch.autograd.gradgradcheck(emdeg.torch.function("planar2r", "mass_matrix"), given[:1])

    def test_several_results_and_single_precision(self, device):
        torch, given = self.given(device, 3, 2)
        several = emdeg.torch.function("planar2r", "inverse_dynamics_derivatives")
        assert torch.autograd.gradcheck(several, given)
        single = [array.detach().float() for array in given]
        assert emdeg.torch.function("planar2r", "inverse_dynamics")(*single).dtype == torch.float32

    def test_parameters(self, device):
        torch, given = self.given(device, 2)
        gravity = emdeg.torch.function("puma560_symbolic", "gravity")
        parameters = torch.linspace(0.5, 1.5, 65, dtype=torch.float64, device=device, requires_grad=True)
        assert torch.autograd.gradcheck(gravity, (given[0], parameters))

    def test_compiled_and_mapped(self, device):
        torch, given = self.given(device)
        forward = emdeg.torch.function("puma560", "forward_dynamics")
        plain = torch.autograd.grad(forward(*given).sin().sum(), given)
        compiled = torch.compile(lambda *x: forward(*x).sin().sum(), backend="aot_eager", fullgraph=True)
        for one, other in zip(torch.autograd.grad(compiled(*given), given), plain):
            torch.testing.assert_close(one, other)
        torch.library.opcheck(forward, tuple(given))
        mapped = torch.func.vmap(forward, (0, 0, None))(given[0], given[1], given[2][0])
        torch.testing.assert_close(mapped, forward(given[0], given[1], given[2][0]))

    def test_transforms_of_functions(self, device):
        """`torch.func`: gradients, over a mapped axis, of gradients, and Jacobians, against autograd's own."""
        torch, given = self.given(device, 4, 2)
        forward = emdeg.torch.function("planar2r", "forward_dynamics")

        def loss(tau, q, qd):
            return forward(q, qd, tau).sin().sum()

        q, qd, tau = given
        (expected,) = torch.autograd.grad(loss(tau, q, qd), tau)
        torch.testing.assert_close(torch.func.grad(loss)(tau, q, qd), expected)
        torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(tau, q, qd), expected)
        whole = torch.autograd.functional.jacobian(lambda x: forward(x, qd, tau), q)
        torch.testing.assert_close(torch.func.jacrev(lambda x: forward(x, qd, tau))(q), whole)
        twice = torch.autograd.functional.hessian(lambda x: loss(tau, x, qd), q)
        found = torch.func.jacrev(torch.func.grad(lambda x: loss(tau, x, qd)))(q)
        torch.testing.assert_close(found, twice)

    def test_wrong_tensors(self, device):
        _, (q, qd, tau) = self.given(device)
        forward = emdeg.torch.function("puma560", "forward_dynamics")
        with pytest.raises(StateError, match="float32, or of float64"):
            forward(q.float(), qd, tau)
        with pytest.raises(StateError, match="expected"):
            forward(q[:, :5], qd, tau)
