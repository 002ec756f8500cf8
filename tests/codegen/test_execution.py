"""Emitted C as it runs: compiled, called, equal to the program; a text that rounds badly is found out."""

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, emit
from emdeg.codegen.execution import compiled_c
from emdeg.errors import Refuted
from emdeg.programs import check_rounding, evaluate
from tests.emitted import COMPILERS

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler")
FURTHER = {"batch": True, "casadi": True, "multirate": True}


def states_of(program, rows=3):
    rng = np.random.default_rng(1)
    return {group.name: rng.uniform(0.1, 0.4, (rows, group.size)) for group in program.inputs}


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    ("name", "function"),
    [("puma560_symbolic", "gravity"), ("fourbar", "mass_matrix"), ("scara", "jacobian"), ("scara", "link_transforms")],
)
def test_compiled_text_computes_what_the_program_computes(name, function, single):
    robot = emdeg.load(name)
    request = Request((function,), robot_name=name, single=single, **FURTHER)
    program = emdeg.program(robot, function)
    run = compiled_c(emit(program, robot.name, request), request.name, program, single, **FURTHER)
    assert run is not None
    endings = ("_batch", "_rates") if single else ("_batch", "_casadi", "_rates")
    assert [*run.others] == [request.name + ending for ending in endings]
    states = states_of(program)
    for output, values in evaluate(program, states).items():
        for one in (run, *run.others.values()):
            np.testing.assert_allclose(one(states)[output], values, rtol=1e-4 if single else 1e-12, atol=1e-5)


@pytest.mark.parametrize(
    ("function", "before", "after"),
    [
        ("_batch", "*count + i] = ", "*count + i] = R(1.1) * "),
        ("_casadi", "% 6", "% 3"),
        ("_rates", "J[0] = ", "J[0] = R(0.1) + "),
    ],
)
def test_every_function_of_a_file_is_executed(function, before, after):
    """One entry changed in one of them alone."""
    robot, request = emdeg.load("scara"), Request(("jacobian",), robot_name="scara", **FURTHER)
    program = emdeg.program(robot, "jacobian")
    head, body = (
        emit(program, robot.name, request).split(f"void scara_jacobian{function}(", 1)
        if function != "_casadi"
        else (emit(program, robot.name, request).split("int scara_jacobian_casadi(", 1))
    )
    joint = f"{'int' if function == '_casadi' else 'void'} scara_jacobian{function}("
    assert before in body
    run = compiled_c(head + joint + body.replace(before, after), request.name, program, **FURTHER)
    assert run is not None
    states = states_of(program)
    assert check_rounding(program, program, states, run=run).largest <= 1
    with pytest.raises(Refuted, match=f"scara_jacobian{function}: executed in floating point"):
        check_rounding(program, program, states, run=run, others=run.others)


def test_what_does_not_compile_is_not_run(monkeypatch):
    program = emdeg.program(emdeg.load("planar2r"), "gravity")
    assert compiled_c("int main(", "f", program) is None
    assert compiled_c("void f(void) {}", "f", program, batch=True) is None
    monkeypatch.setenv("PATH", "")
    assert compiled_c("void f(void) {}", "f", program) is None
