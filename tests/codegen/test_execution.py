"""Emitted C as it runs: compiled, called, equal to the program; a text that rounds badly is found out."""

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, emit
from emdeg.codegen.execution import compiled_c
from emdeg.programs import evaluate
from tests.emitted import COMPILERS

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler")


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("name", "function"), [("puma560_symbolic", "gravity"), ("fourbar", "mass_matrix")])
def test_compiled_text_computes_what_the_program_computes(name, function, single):
    robot = emdeg.load(name)
    request = Request((function,), robot_name=name, single=single)
    program = emdeg.program(robot, function)
    run = compiled_c(emit(program, robot.name, request), request.name, program, single)
    assert run is not None
    rng = np.random.default_rng(1)
    states = {group.name: rng.uniform(0.1, 0.4, (3, group.size)) for group in program.inputs}
    for output, values in evaluate(program, states).items():
        np.testing.assert_allclose(run(states)[output], values, rtol=1e-4 if single else 1e-12, atol=1e-5)


def test_what_does_not_compile_is_not_run(monkeypatch):
    program = emdeg.program(emdeg.load("planar2r"), "gravity")
    assert compiled_c("int main(", "f", program) is None
    monkeypatch.setenv("PATH", "")
    assert compiled_c("void f(void) {}", "f", program) is None
