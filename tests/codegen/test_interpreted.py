"""Emitted Python as it runs, by an interpreter of its own; a text that computes otherwise is found out."""

import importlib.util

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, emit
from emdeg.codegen.targets import TARGETS
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import check_rounding, evaluate

JAX = [pytest.param("jax", marks=pytest.mark.targets)] if importlib.util.find_spec("jax") else []


def emitted(name, function, target):
    robot = emdeg.load(name)
    request = Request(tuple(function.split("+")), robot_name=name, target=target)
    program = emdeg.program(robot, function)
    rng = np.random.default_rng(1)
    states = {group.name: rng.uniform(0.1, 0.4, (3, group.size)) for group in program.inputs}
    return emit(program, robot.name, request), request.name, program, states


@pytest.mark.parametrize("target", ["python", "numpy", *JAX])
@pytest.mark.parametrize(("name", "function"), [("puma560_symbolic", "gravity"), ("scara", "mass_matrix+bias")])
def test_the_text_computes_what_the_program_computes(name, function, target):
    text, called, program, states = emitted(name, function, target)
    run = TARGETS[target].execute(text, called, program)
    ways = [run, *run.others.values()]
    assert len(ways) == (2 if target == "numpy" and name == "scara" else 1)
    for output, values in evaluate(program, states).items():
        for way in ways:
            np.testing.assert_allclose(way(states)[output], values, rtol=1e-12, atol=1e-12)


def test_a_text_that_computes_otherwise_or_fails_is_refuted():
    text, called, program, states = emitted("scara", "gravity", "python")
    wrong = TARGETS["python"].execute(text.replace("return [", "return [1 + "), called, program)
    with pytest.raises(Refuted, match="is off by"):
        check_rounding(program, program, states, run=wrong)
    failing = TARGETS["python"].execute(text + "\nraise KeyError\n", called, program)
    with pytest.raises(Refuted, match="its text fails"):
        check_rounding(program, program, states, run=failing)


def test_where_python_has_no_number_it_says_none():
    text, called, program, states = emitted("fourbar", "mass_matrix", "python")
    assert program.inputs[0].name == "q"
    broken = text.replace("sqrt(", "sqrt(-1 + 0 * ", 1)
    assert np.isnan(TARGETS["python"].execute(broken, called, program)(states)["M"]).all()


def test_without_an_interpreter_the_text_is_not_executed(monkeypatch):
    text, called, program, states = emitted("scara", "gravity", "python")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(NotExecutable, match="no interpreter can be started"):
        TARGETS["python"].execute(text, called, program)(states)
