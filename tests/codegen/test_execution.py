"""Emitted C as it runs: compiled, called, equal to the program; a text that rounds badly is found out."""

import re

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, emit
from emdeg.codegen.execution import compiled_c
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import along_lines, check_rounding, check_slopes, evaluate, prefixes_of
from emdeg.programs import states_of as rounding_states
from emdeg.programs.lines import check_differences
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
        ("_casadi", ", of_scara_jacobian_casadi_J,", ", 0,"),
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
    states = states_of(program)
    assert check_rounding(program, program, states, run=run).largest <= 1
    with pytest.raises(Refuted, match=f"scara_jacobian{function}: executed in floating point"):
        check_rounding(program, program, states, run=run, others=run.others)


def test_what_does_not_compile_is_not_run(monkeypatch):
    program = emdeg.program(emdeg.load("planar2r"), "gravity")
    with pytest.raises(NotExecutable, match="makes nothing of it"):
        compiled_c("int main(", "f", program)
    with pytest.raises(Refuted, match="it has no function f_batch"):
        compiled_c("void f(void) {}", "f", program, batch=True)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotExecutable, match="there is no cc or gcc or clang here"):
        compiled_c("void f(void) {}", "f", program)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("planar2r", "inverse_dynamics"),
        ("scara", "mass_matrix+bias"),
        pytest.param("puma560_symbolic", "gravity", marks=pytest.mark.targets),
        ("fourbar", "gravity"),
        pytest.param("fourbar", "forward_dynamics", marks=pytest.mark.targets),
    ],
)
def test_derivatives_for_casadi_are_executed_and_a_wrong_one_is_found_out(name, function):
    """Each of them, the last entry of its first block off by a little."""
    robot, request = emdeg.load(name), Request(tuple(function.split("+")), robot_name=name, casadi=True)
    program = emdeg.program(robot, function)
    text = emit(program, robot.name, request)
    states = rounding_states(program, robot, 1, 5000)
    right = compiled_c(text, request.name, program, casadi=True)
    assert [*right.slopes] == [f"{one}_{request.name}_casadi" for one in prefixes_of(program)]
    check_slopes(program, states, right.slopes)
    for one in prefixes_of(program):
        head, joint, body = text.rpartition(f"static void {request.name}_{one}(")
        at = body.rindex("[0] = ", 0, body.index("\n}\n")) + len("[0] = ")
        text = head + joint + body[:at] + "R(1e-6) + " + body[at:]
    wrong = compiled_c(text, request.name, program, casadi=True)
    for called, run in wrong.slopes.items():
        with pytest.raises(Refuted, match=f"{called}: executed in floating point"):
            check_slopes(program, states, {called: run})


@pytest.mark.parametrize(
    ("name", "payload", "function", "results"),
    [
        ("planar2r", "mass=mL,com=0:0:0@link2", "forward_dynamics", 7),
        pytest.param("planar2r", "mass=mL,com=0:0:0@link2", "inverse_dynamics", 16, marks=pytest.mark.targets),
        pytest.param("fourbar", None, "forward_dynamics", 7, marks=pytest.mark.targets),
    ],
)
def test_functions_for_acados_are_executed_and_a_wrong_one_is_found_out(name, payload, function, results):
    """Every result of each of them, one result at a time: its first or its last entry off by a little."""
    robot, request = emdeg.load(name, payload=payload), Request((function,), robot_name=name, acados=True)
    program = emdeg.program(robot, function)
    states = rounding_states(program, robot, 1, 5000)

    def check(text):
        run = compiled_c(text, request.name, program, acados=True)
        check_rounding(program, program, states, run=run, others=run.others)
        check_slopes(program, states, run.slopes_held, held=("parameters",))

    text = emit(program, robot.name, request)
    check(text)
    given = list(re.finditer(r"if \(res\[\d\]\) for \(i = 0; i < (\d+); \+\+i\) res\[\d\]\[i\] = (\w+)\[i\]", text))
    assert len(given) == results
    for number, one in enumerate(given):
        place = (int(one[1]) - 1) * (number % 2)
        with pytest.raises(Refuted, match=r"executed in floating point|not a number"):
            check(f"{text[: one.end()]} + (i == {place} ? 1e-5 : 0.0){text[one.end() :]}")


def test_rules_of_differentiation_are_held_against_differences():
    program = emdeg.program("planar2r", "gravity")
    lines = along_lines(program)
    at = {group.name: np.linspace(0.3, 0.9, group.size) for group in lines.inputs}
    check_differences(program, lines, at)
    with pytest.raises(Refuted, match="differences of its values"):
        check_differences(emdeg.program(emdeg.load("planar2r", gravity=(0, 0, -5)), "gravity"), lines, at)
