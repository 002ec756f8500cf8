import ast
import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.codegen.jax import emit_jax
from emdeg.codegen.numpy import emit_numpy
from emdeg.codegen.python import emit_python
from emdeg.programs.ir import Count, count
from emdeg.programs.values import evaluate
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples

EMITTERS = [emit_python, emit_numpy, emit_jax]


def module(text, folder):
    path = folder / f"emitted_{abs(hash(text))}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_plain_python_computes_what_numpy_computes(tmp_path):
    program, reference = pendulum_pair()
    inputs = {name: array[0] for name, array in samples(program, 1).items()}
    pair = module(emit_python(program), tmp_path).pair
    np.testing.assert_allclose(pair(**{k: v.tolist() for k, v in inputs.items()}), reference(**inputs), rtol=1e-13)


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_array_targets_take_batches_and_single_states(target, tmp_path):
    emit, tolerance = emit_numpy, 1e-13
    if target == "jax":
        jax = pytest.importorskip("jax", reason="jax is not installed")
        jax.config.update("jax_enable_x64", True)
        emit = emit_jax
    program, reference = kitchen_sink()
    loaded = module(emit(program), tmp_path)
    inputs = samples(program, 12)
    for state in (slice(None), 3):
        q, qd, parameters = (inputs[name][state] for name in ("q", "qd", "parameters"))
        matrix, scalar = loaded.sink(q, qd, loaded.sink_constants(parameters))
        expected = reference(q, qd, parameters)
        np.testing.assert_allclose(matrix, expected[0], rtol=tolerance)
        np.testing.assert_allclose(scalar, expected[1], rtol=tolerance)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_any_program_runs_alike_when_emitted_for_numpy(seed, tmp_path_factory):
    program = random_program(seed, divisions=True)
    inputs = samples(program, 4, seed)
    y, z = module(emit_numpy(program), tmp_path_factory.mktemp("np")).random(**inputs)
    expected = evaluate(program, inputs)
    np.testing.assert_array_equal(y, expected["y"])
    np.testing.assert_array_equal(z, expected["z"])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_operators_of_emitted_python_are_the_operations_counted(seed):
    program = random_program(seed, divisions=True)
    kinds = [type(node.op) for node in ast.walk(ast.parse(emit_python(program))) if isinstance(node, ast.BinOp)]
    expected = count(program)
    assert replace(expected, sincos=0) == Count(
        mul=kinds.count(ast.Mult), add=kinds.count(ast.Add) + kinds.count(ast.Sub), div=kinds.count(ast.Div)
    )


@pytest.mark.parametrize("emit", EMITTERS)
@pytest.mark.parametrize("name", ["x\nimport os", '"""', "\r\nevil", "\u2028evil"])
def test_hostile_names_stay_in_comments(emit, name):
    program, _ = pendulum_pair()
    labelled = replace(program, inputs=(replace(program.inputs[0], labels=(name, name)), *program.inputs[1:]))
    clean, hostile = emit(program), emit(labelled, robot=name, command=name)
    assert ast.dump(ast.parse(hostile)) == ast.dump(ast.parse(clean))


@pytest.mark.parametrize("emit", EMITTERS)
def test_the_same_program_gives_the_same_bytes(emit):
    assert emit(pendulum_pair()[0]) == emit(pendulum_pair()[0])
