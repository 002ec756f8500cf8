import gc
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.errors import StateError
from emdeg.programs.ir import Dependence
from emdeg.programs.simplification import simplify
from emdeg.programs.sine import DOUBLE, SINGLE
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate
from emdeg.runtime import compile
from emdeg.runtime.kernel import STATES_PER_THREAD, machine_available
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples

BACKENDS = ["numpy", *(["llvm"] if machine_available() else [])]
each_backend = pytest.mark.parametrize("backend", BACKENDS)
needs_llvm = pytest.mark.skipif(not machine_available(), reason="llvmlite cannot be imported")


@each_backend
@pytest.mark.parametrize("states", [1, 2, 7, 8, 9, 16, 100, 3 * STATES_PER_THREAD + 5])
def test_a_batch_of_any_size_computes_what_numpy_computes(backend, states):
    program, reference = pendulum_pair()
    inputs = samples(program, states, scale=3)
    tau = compile(simplify(program), backend=backend, threads=3)(**inputs)
    np.testing.assert_allclose(tau, reference(**inputs), rtol=1e-12, atol=1e-12)


@each_backend
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_every_kind_of_operation_and_output(backend, dtype, tolerance):
    program, reference = kitchen_sink()
    compiled = compile(program, backend=backend, dtype=dtype)
    inputs = samples(program, 37)
    for chosen in (inputs, {name: array[4] for name, array in inputs.items()}):
        matrix, scalar = compiled(**chosen)
        assert matrix.dtype == dtype
        expected = reference(**chosen)
        np.testing.assert_allclose(matrix, expected[0], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(scalar, expected[1], rtol=tolerance, atol=tolerance)


@each_backend
def test_states_broadcast_and_parameters_may_be_one_set_or_many(backend):
    program, reference = kitchen_sink()
    compiled = compile(program, backend=backend)
    q, qd, p = samples(program, 24).values()
    cases = [(q, qd, p[0]), (q, qd[0], p[:1]), (q[0], qd[0], p), (q.reshape(4, 6, 3), qd[:6], p[3])]
    for q_, qd_, p_ in cases:
        matrix, scalar = compiled(q_, qd_, p_)
        batch = np.broadcast_shapes(q_.shape[:-1], qd_.shape[:-1], p_.shape[:-1])
        spread = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q_, qd_, p_)]
        expected = reference(*spread)
        np.testing.assert_allclose(matrix, expected[0], rtol=1e-13)
        np.testing.assert_allclose(scalar, expected[1], rtol=1e-13)


@each_backend
def test_views_with_any_strides_are_read_right(backend):
    program, reference = pendulum_pair()
    compiled = compile(program, backend=backend)
    store = np.random.default_rng(0).uniform(-1, 1, (3, 40, 9))
    views = [store[0, ::2, 3:5], store[1, ::-2, ::4][:, :2], np.asfortranarray(store[2, :20, :2])]
    expected = reference(*(view.copy() for view in views))
    np.testing.assert_allclose(compiled(*views), expected, rtol=1e-12, atol=1e-12)


@given(seed=st.integers(0, 10**6), states=st.sampled_from([1, 3, 20]))
@settings(max_examples=20, deadline=None)
@needs_llvm
def test_any_program_runs_alike_compiled_and_in_numpy(seed, states):
    program = random_program(seed, divisions=True)
    inputs = samples(program, states, seed)
    results, expected = compile(program)(**inputs), evaluate(program, inputs)
    for found, wanted in zip(results, expected.values()):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11 * max(1, np.abs(wanted).max()))


@each_backend
def test_a_bound_program_follows_its_arrays(backend):
    program, reference = pendulum_pair()
    q, qd, qdd, tau = (np.zeros(2) for _ in range(4))
    bound = compile(program, backend=backend).bind(q, qd, qdd, tau)
    gc.collect()
    for state in range(5):
        rng = np.random.default_rng(state)
        for array in (q, qd, qdd):
            array[:] = rng.uniform(-2, 2, 2)
        bound()
        np.testing.assert_allclose(tau, reference(q, qd, qdd), rtol=1e-12)
    assert bound.outputs["tau"] is tau


@each_backend
def test_a_bound_program_outlives_what_made_it(backend):
    program, reference = kitchen_sink()
    inputs = {name: array[0] for name, array in samples(program, 1).items()}
    bound = compile(program, backend=backend).bind(**inputs)
    run, outputs = bound.run, bound.outputs
    del bound
    gc.collect()
    run()
    np.testing.assert_allclose(outputs["matrix"], reference(**inputs)[0], rtol=1e-13)


@needs_llvm
@pytest.mark.parametrize(("table", "dtype"), [(DOUBLE, np.float64), (SINGLE, np.float32)])
def test_compiled_sine_and_cosine_err_by_no_more_ulps_than_stated(table, dtype):
    t = Tracer()
    (x,) = t.inputs("q", 1, Dependence.CONFIGURATION)
    compiled = compile(t.program("trig", {"s": t.sincos_of(x)[0], "c": t.sincos_of(x)[1]}), dtype=dtype)
    rng = np.random.default_rng(2)
    values = [
        rng.uniform(-table.reach, table.reach, 200000),
        rng.uniform(-7, 7, 200000),
        np.arange(-63000, 63000) * (np.pi / 2),
    ]
    q = np.concatenate(values).astype(dtype)
    for found, function in zip(compiled(q[:, None]), (np.sin, np.cos)):
        exact = function(q.astype(np.longdouble))
        spacing = np.spacing(np.abs(exact).astype(dtype))
        assert float(np.max(np.abs(found - exact) / spacing)) <= table.ulps


@needs_llvm
def test_the_loop_over_states_uses_vector_instructions():
    from llvmlite import binding as llvm

    from emdeg.runtime.engine import target_machine, vector_bits
    from emdeg.runtime.llvm_text import assembly

    if llvm.get_default_triple().split("-")[0] != "x86_64":
        pytest.skip("the names of vector registers are known to this test for x86-64 only")
    text = assembly(simplify(pendulum_pair()[0]), 64, vector_bits() // 64)
    emitted = target_machine().emit_assembly(llvm.parse_assembly(text))
    loop = emitted[emitted.index("lanes:") : emitted.index("one:")]
    register = {512: "%zmm", 256: "%ymm", 128: "%xmm"}[vector_bits()]
    arithmetic = [line for line in loop.splitlines() if "mul" in line or ("add" in line and "pd" in line)]
    assert sum(register in line for line in arithmetic if "imul" not in line) >= 20
    assert not any("mulsd" in line or "addsd" in line for line in arithmetic)


@needs_llvm
def test_vectors_that_wait_on_the_stack_lie_in_one_line_of_the_cache_each():
    from llvmlite import binding as llvm

    from emdeg.runtime.engine import target_machine, vector_bits
    from emdeg.runtime.llvm_text import assembly

    if llvm.get_default_triple().split("-")[0] != "x86_64":
        pytest.skip("the instruction is known to this test for x86-64 only")
    text = assembly(emdeg.program("puma560", "mass_matrix"), 64, vector_bits() // 64)
    emitted = target_machine().emit_assembly(llvm.parse_assembly(text))
    loop = emitted[emitted.index("lanes:") : emitted.index("one:")]
    assert f"andq\t$-{vector_bits() // 8}, %rsp" in loop
    # Whatever lies on the stack is moved by the instructions that would fault were it not aligned.
    assert "(%rsp)" in loop
    assert not any("movup" in line and "(%rsp)" in line for line in loop.splitlines())


@needs_llvm
def test_five_hundred_operations_are_ready_in_well_under_a_second():
    program = random_program(1, 600)
    start = time.perf_counter()
    compile(program)(**{name: array[0] for name, array in samples(program, 1).items()})
    assert time.perf_counter() - start < 1.0


@each_backend
def test_no_states_give_no_results(backend):
    program, _ = pendulum_pair()
    assert compile(program, backend=backend)(*[np.empty((0, 2))] * 3).shape == (0, 2)


@each_backend
def test_results_go_into_arrays_that_are_there_even_over_an_input(backend):
    program, reference = pendulum_pair()
    compiled = compile(program, backend=backend)
    inputs = samples(program, 13)
    expected = reference(**inputs)
    out = np.empty((13, 2))
    assert compiled(**inputs, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    compiled(**inputs, out=inputs["qdd"])
    np.testing.assert_allclose(inputs["qdd"], expected, rtol=1e-12)
    with pytest.raises(StateError, match=r"tau is float64 \(12, 2\)"):
        compiled(**inputs, out=out[:12])


WRONG = [
    (lambda x: (x[:, :1], x, x), r"q has shape \(6, 1\), expected \(..., 2\)"),
    (lambda x: (x, x[:4], x), r"do not fit together: q \(6, 2\), qd \(4, 2\)"),
    (lambda x: (x, x, x.astype(complex)), "qdd has dtype complex128"),
    (lambda x: (x, np.array(["a", "b"]), x), "qd has dtype"),
    (lambda x: (x, 3.0, x), r"qd has shape \(\)"),
    (lambda x: (x, [[1.0], [1.0, 2.0]], x), "qd is not an array of numbers"),
]


@each_backend
@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_input_is_named(backend, change, message):
    program, _ = pendulum_pair()
    with pytest.raises(StateError, match=message):
        compile(program, backend=backend)(*change(np.zeros((6, 2))))


def test_nan_is_an_error_where_asked_for():
    program, _ = pendulum_pair()
    zeros, bad = np.zeros(2), np.array([0.0, np.nan])
    assert np.isnan(compile(program)(bad, zeros, zeros)).any()
    with pytest.raises(StateError, match="qd holds NaN"):
        compile(program, check_finite=True)(zeros, bad, zeros)


@each_backend
def test_a_bound_program_looks_for_nan_at_every_call_where_asked_for(backend):
    program, reference = pendulum_pair()
    q, qd, qdd = np.full((3, 2), 0.5)
    bound = compile(program, backend=backend, check_finite=True).bind(q, qd, qdd)
    bound.run()
    np.testing.assert_allclose(bound.outputs["tau"], reference(q, qd, qdd), rtol=1e-12)
    qd[1] = np.inf
    for call in (bound, bound.run):
        with pytest.raises(StateError, match="qd holds NaN or infinity"):
            call()
    with pytest.raises(StateError, match="qd holds NaN or infinity"):
        compile(program, backend=backend, check_finite=True).bind(q, qd, qdd)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"backend": "opencl"}, "no backend 'opencl'"), ({"threads": -1}, "threads"), ({"threads": 0.5}, "threads")],
)
def test_an_option_that_means_nothing_is_an_error(options, message):
    with pytest.raises(ValueError, match=message):
        compile(pendulum_pair()[0], **options)


def test_missing_and_unknown_inputs_are_named():
    program, _ = pendulum_pair()
    with pytest.raises(TypeError, match="takes q, qd, qdd"):
        compile(program)(np.zeros(2), speed=np.zeros(2))
    with pytest.raises(TypeError, match="float64 or float32"):
        compile(program, dtype=np.int32)


def test_binding_wrong_arrays_is_an_error_that_names_them():
    program, _ = pendulum_pair()
    compiled, ok = compile(program), np.zeros(2)
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    cases = [
        ((ok, ok, np.zeros(2, np.float32)), "qdd is float32"),
        ((ok, np.zeros(3), ok), r"qd is float64 \(3,\)"),
        ((np.zeros(4)[::2], ok, ok), "q is not contiguous"),
        (([0.0, 0.0], ok, ok), "q is list"),
        ((ok, ok), "qdd is not bound"),
        ((ok, ok, ok, frozen), "tau is read-only"),
        ((ok, ok, ok, ok, ok), "no further arrays"),
    ]
    for arrays, message in cases:
        with pytest.raises(StateError, match=message):
            compiled.bind(*arrays)
    with pytest.raises(StateError, match="q is given twice"):
        compiled.bind(ok, ok, ok, q=ok)
    with pytest.raises(StateError, match="out is int"):
        compiled(ok, ok, ok, out=3)


def test_without_llvmlite_numpy_serves():
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "from tests.program_samples import pendulum_pair, samples\n"
        "from emdeg.runtime import compile\n"
        "from emdeg.runtime.kernel import NumpyKernel\n"
        "import numpy as np\n"
        "program, reference = pendulum_pair(); inputs = samples(program, 3)\n"
        "compiled = compile(program)\n"
        "assert isinstance(compiled._main, NumpyKernel)\n"
        "np.testing.assert_allclose(compiled(**inputs), reference(**inputs), rtol=1e-12)\n"
    )
    path = f"import sys; sys.path[:0] = {sys.path!r}\n"
    subprocess.run([sys.executable, "-c", path + code], check=True)


def test_rows_are_not_mistaken_for_states_when_they_broadcast():
    """(3, n) against (2, 3, n): each row serves two states."""
    program, reference = pendulum_pair()
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-1, 1, (3, 2)), rng.uniform(-1, 1, (2, 3, 2)), rng.uniform(-1, 1, (1, 2))
    expected = reference(*np.broadcast_arrays(q, qd, qdd))
    np.testing.assert_allclose(compile(program)(q, qd, qdd), expected, rtol=1e-13, atol=1e-13)
