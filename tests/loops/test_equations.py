"""The reduced model of closed loops, expanded: its formulas evaluate to the numbers of the mechanics."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

import emdeg
from emdeg.cli import app
from emdeg.documents import sympy_form
from emdeg.errors import OverBudget
from emdeg.loops.equations.expanded import expand_loops, expanded_document
from emdeg.loops.equations.letters import rate_of
from tests.loops.test_loops import robot_of, states

runner = CliRunner()


def values(found, u, ud):
    """(joints, rates, letters' values) at one state: roots and reciprocals in the order of their definitions."""
    names, own = found.names, [k - 1 for k in found.names.algebra.joints]
    all_joints = emdeg.loops.joint_positions(found.robot, u)
    all_rates = np.zeros(found.robot.n)
    all_rates[list(found.link.coordinates)] = ud
    known = {name: all_joints[k] for k, name in names.slides.items()}
    known |= {rate_of(name): all_rates[k] for k, name in names.slides.items()}
    joints, rates = all_joints[own], all_rates[own]
    defined = [(f"h{i}", p, np.sqrt) for i, p in enumerate(names.roots, 1)]
    defined += [(f"r{i}", p, np.reciprocal) for i, p in enumerate(names.reciprocals, 1)]
    while defined:  # a letter may stand on another
        name, poly, function = defined.pop(0)
        if {str(g) for g in poly.generators} & {other for other, _, _ in defined}:
            defined.append((name, poly, function))
            continue
        known[name] = function(np.asarray(poly.evaluate(joints, rates, parameters=known), dtype=float))
    return joints, rates, known


@pytest.mark.parametrize("name", ["delta", "fivebar", "fourbar", "palletiser", "rrr3"])
def test_every_entry_evaluates_to_the_model(name):
    robot = robot_of(name)
    found = expand_loops(robot)
    paper = found.C_of_virtual_work()
    q, qd, _ = states(name, 1)
    for u, ud in zip(q, qd):
        joints, rates, known = values(found, u, ud)

        def at(matrix, joints=joints, rates=rates, known=known):
            return np.array([[float(x.evaluate(joints, rates, parameters=known)) for x in row] for row in matrix])

        model = emdeg.loops.reduced_model(robot, u, ud)
        for key, matrix in (("M", found.M), ("C", found.C), ("J", found.J), ("J_rate", found.J_rate)):
            np.testing.assert_allclose(at(matrix), model[key], rtol=1e-9, atol=1e-9 * (1 + np.abs(model[key]).max()))
        np.testing.assert_allclose(at([found.G])[0], model["G"], rtol=1e-9, atol=1e-9)
        other = emdeg.loops.reduced_model(robot, u, ud, route="virtual_work")["C"]
        np.testing.assert_allclose(at(paper), other, rtol=1e-9, atol=1e-9 * (1 + np.abs(other).max()))
        assert found.solution is not None
        everywhere = emdeg.loops.joint_positions(robot, u)
        for k, parts in found.solution.items():
            told = [float(x.evaluate(joints, rates, parameters=known)) for x in parts]
            turning = robot.joints[k].kind == "revolute"
            expected = [np.sin(everywhere[k]), np.cos(everywhere[k])] if turning else [everywhere[k]]
            np.testing.assert_allclose(told, expected, atol=1e-12)


def test_nothing_but_coordinates_rates_and_letters_is_left_in_the_solution():
    found = expand_loops(robot_of("delta"))
    assert found.solution is not None
    seen = {str(g) for parts in found.solution.values() for p in parts for g in p.generators}
    assert all(name[0] in "hr" or name in ("x", "y", "z", "sqrt(3)/2") for name in seen), seen


def test_mass_matrix_of_the_delta_by_sympy_alone():
    """M11 with its letters replaced by what they stand for: a closed form in x, y, z, evaluated by SymPy."""
    robot = robot_of("delta")
    found = expand_loops(robot)
    equations = sympy_form.expressions(expanded_document(found, ["letters", "solution", "M"]))
    M11 = equations.pop("M")[0, 0]
    q = {k: sympy.Symbol(f"q{k}", real=True) for k in range(1, 7)}
    told = {sympy.sin(q[k]): equations[f"s{k}"] for k in (1, 2, 3)}
    told |= {sympy.cos(q[k]): equations[f"c{k}"] for k in (1, 2, 3)}
    told |= {sympy.Symbol(name, real=True): value for name, value in equations.items() if name[0] in "hr"}
    expression = M11
    for _ in range(6):  # letters stand on letters
        expression = expression.xreplace(told)
    places = (sympy.Rational(1, 20), sympy.Rational(-2, 25), sympy.Rational(-9, 20))
    numbers = {sympy.Symbol(name, real=True): place for name, place in zip("xyz", places)}
    expression = expression.subs(numbers)
    assert not expression.free_symbols
    expected = emdeg.mass_matrix(robot, [0.05, -0.08, -0.45])[0, 0]
    assert float(expression) == pytest.approx(expected, rel=1e-12)


def test_derive_expanded_from_the_command_line():
    done = runner.invoke(app, ["derive", "delta", "--expand", "--only", "letters,solution,M,state"])
    assert done.exit_code == 0, done.output
    assert "h1 = sqrt(" in done.stdout
    assert "State-space form" in done.stdout
    for form in ("latex", "markdown", "mathml", "sympy"):
        assert runner.invoke(app, ["derive", "fourbar", "--expand", "--format", form]).exit_code == 0
    data = json.loads(runner.invoke(app, ["derive", "fivebar", "--expand", "--json"]).stdout)["result"]
    assert list(data) == ["model", "letters", "solution", "M", "C", "G", "J", "Jdot", "state"]
    wrong = runner.invoke(app, ["derive", "planar2r", "--expand"])
    assert wrong.exit_code == 2


def test_what_is_too_large_says_so():
    done = runner.invoke(app, ["derive", "delta", "--expand", "--budget", "10"])
    assert isinstance(done.exception, OverBudget)
