"""Mechanisms in letters: J, J-dot, named Jacobians, M, C and G evaluate to the paper's numbers."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

import emdeg
from emdeg.cli import app
from emdeg.documents import sympy_form
from emdeg.errors import RobotError
from emdeg.loops.equations import derive_loops, loop_document
from emdeg.loops.equations.letters import rate_of
from emdeg.programs.build import plain_program
from emdeg.programs.values import evaluate
from emdeg.programs.verification import verify_program
from emdeg.robot import symbolize
from tests.asadi_heydari import DATA, three_masses
from tests.loops.linkages import SLIDER_CRANK, built
from tests.loops.test_loops import REFERENCE, robot_of, states

runner = CliRunner()


def papers_numbers():
    """The appendix's numbers under the letters of `delta_symbolic`."""
    d = {key: Fraction(text) for key, text in DATA.items()}
    m_C, m_A, m_K = three_masses(d["I_K"], d["M_K"], d["r_K"], d["l_K"])
    own = {key: d[key] for key in ("r_b", "r_a", "l_L", "r_L", "l_K", "r_K", "I_L", "I_mo", "m_L", "m_P")}
    return own | {"m_C": m_C, "m_A": m_A, "m_K": m_K, "g": Fraction("9.81")}


class At:
    """Formulas of a model in numbers, at one state of the robot with numbers."""

    def __init__(self, model, robot, q, qd, numbers):
        self.model, names, link = model, model.names, model.link
        joints = emdeg.loops.joint_positions(robot, q)
        own = [k - 1 for k in names.algebra.joints]
        known = {key: float(value) for key, value in numbers.items()}
        known |= {name: joints[k] for k, name in names.slides.items()}
        h = 1e-6
        W = np.stack(
            [
                (emdeg.loops.joint_positions(robot, q + h * e) - emdeg.loops.joint_positions(robot, q - h * e))
                / (2 * h)
                for e in np.eye(len(q))
            ],
            -1,
        )
        rates = W @ qd  # by differences: a first guess that the letters of J replace
        known |= {rate_of(name): rates[k] for k, name in names.slides.items()}
        self.q, self.qd, self.known = joints[own], rates[own], known
        for i, value in enumerate(names.reciprocals, 1):
            known[f"r{i}"] = 1 / self(value)
        self.W = np.array([[self(x) for x in row] for row in model.W])
        rates = self.W @ qd
        known |= {rate_of(name): rates[k] for k, name in names.slides.items()}
        self.qd = rates[own]
        for k in link.dependent:
            known |= {letter: self.W[k, r] for r, letter in enumerate(model.letters[k]) if letter}
        self.W_rate = np.array([[self(x) for x in row] for row in model.W_rate])
        for k in link.dependent:
            known |= {rate_of(letter): self.W_rate[k, r] for r, letter in enumerate(model.letters[k]) if letter}
        assert model.model
        for i, value in enumerate(names.constants, 1):
            known[f"k{i}"] = self(value)

    def __call__(self, formula):
        top = getattr(formula, "numerator", formula).evaluate(self.q, self.qd, parameters=self.known)
        if hasattr(formula, "numerator"):
            top = top / formula.denominator.evaluate(self.q, self.qd, parameters=self.known)
        return float(top)

    def matrix(self, rows):
        return np.array([[self(x) for x in row] for row in rows])


def test_the_delta_in_letters_is_the_papers_delta():
    numbers, model = papers_numbers(), derive_loops(emdeg.load("delta_symbolic"))
    robot = emdeg.substitute("delta_symbolic", numbers)
    for state in REFERENCE["states"]["values"]:
        X, Xd = np.array(state["X"]), np.array(state["Xd"])
        at = At(model, robot, X, Xd, numbers)
        M, C, G = model.model
        for found, expected in (
            (at.W[:3], state["J"]),
            (at.W_rate[:3], state["Jdot"]),
            (at.matrix(M), state["M"]),
            (at.matrix(C) @ Xd, state["C_times_Xd"]),
            (at.matrix([G])[0], state["G"]),
        ):
            np.testing.assert_allclose(found, expected, atol=1e-8)


def test_every_entry_in_letters_is_the_papers_by_sympy():
    """(40)-(42) with m_A for m_B, set up in SymPy from (9) and (19)-(21), against what `derive delta_symbolic` prints.

    J and J-dot are letters in both, so nothing is compared but how M, C and G are made of them.
    """
    told = sympy_form.expressions(
        loop_document(derive_loops(emdeg.load("delta_symbolic")), ["constants", "M", "C", "G"])
    )
    letter = {str(x): x for value in told.values() for x in value.free_symbols}
    names = ("I_L", "I_mo", "l_L", "r_L", "r_K", "m_C", "m_A", "m_K", "m_L", "m_P", "g")
    I_L, I_mo, l, r_L, r_K, m_C, m_A, m_K, m_L, m_P, g = (letter[name] for name in names)
    J, J_rate = (sympy.Matrix(3, 3, lambda i, r, head=head: letter[f"{head}_{i + 1}{r + 1}"]) for head in ("J", "Jdot"))
    q, qd = ([letter[f"{head}{i}"] for i in (1, 2, 3)] for head in ("q", "qd"))
    gravity, no = sympy.Matrix([0, 0, -g]), sympy.zeros(1, 3)
    M = (I_mo + I_L) * J.T * J + (m_P + 3 * m_A) * sympy.eye(3)
    C, G = (I_mo + I_L) * J.T * J_rate, -(m_P + 3 * m_A) * gravity
    for i, phi in enumerate((sympy.pi, -sympy.pi / 3, sympy.pi / 3)):
        own = J[i, :]
        turned = (sympy.rot_axis3(phi).T * sympy.rot_axis1(q[i]).T).T  # O^T R^T
        here = sympy.Matrix.vstack(no, no, own)
        later = sympy.Matrix.vstack(no, -qd[i] * own, J_rate[i, :])  # Xd^T J_i^T is qd_i
        J_L, J_C = r_L * l * here, l * here
        J_K = (1 - r_K) * l * here + r_K * turned
        felt = m_C * l * J_C.T + m_L * r_L * l * J_L.T + m_K * (1 - r_K) * l * J_K.T
        M += m_K * r_K * J_K.T * turned + felt * here
        C += felt * later
        G -= (m_C * J_C.T + m_L * J_L.T + m_K * J_K.T) * turned * gravity
    lumped = {letter[name]: told[name] for name in told if name in letter}
    circles = {sympy.sin(x) ** 2: 1 - sympy.cos(x) ** 2 for x in q}
    for part, paper in (("M", M), ("C", C), ("G", G)):
        left = (told[part].subs(lumped) - paper).expand().subs(circles).expand()
        assert left == sympy.zeros(*paper.shape), part


def test_named_blocks_are_those_of_the_paper():
    """(19)-(21): in the arm's axes J_L and J_C have one row, J_i, and J_K = (1 - r_K) J_C + r_K times a rotation."""
    model = derive_loops(emdeg.load("delta_symbolic"))
    found = {f"{block.symbol}{block.number}": [[str(x) for x in row] for row in block.here] for block in model.blocks}
    assert found["L1"] == [["0"] * 3, [f"l_L*r_L*J_1{r}" for r in (1, 2, 3)], ["0"] * 3]
    assert found["C2"] == [["0"] * 3, [f"l_L*J_2{r}" for r in (1, 2, 3)], ["0"] * 3]
    assert found["A3"] == found["L6"] == [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]
    assert found["K1"][1][0] == "-l_L*r_K*J_11 + l_L*J_11"
    assert found["K2"][2] == ["1/2*r_K", "-sqrt(3)/2*r_K", "0"]


@pytest.mark.parametrize("name", ["delta", "fivebar", "fourbar", "rrr3"])
def test_every_mechanism_in_letters_evaluates_to_the_mechanics(name):
    robot = robot_of(name)
    model = derive_loops(robot)
    q, qd, _ = (x[0] for x in states(name, 1))
    at = At(model, robot, q, qd, {})
    numbers = emdeg.loops.reduced_model(robot, q, qd)
    M, C, G = model.model
    J, J_rate = at.W[list(robot.loops.driven)], at.W_rate[list(robot.loops.driven)]
    told = {"M": at.matrix(M), "C": at.matrix(C), "G": at.matrix([G])[0], "J": J, "J_rate": J_rate}
    for key, found in told.items():
        np.testing.assert_allclose(found, numbers[key], rtol=1e-8, atol=1e-8 * (1 + np.abs(numbers[key]).max()))
    blocks = emdeg.loops.named_jacobians(robot, q)
    for block in model.blocks:  # lengths of columns, which axes do not change
        kind = {"L": "J_L", "C": "J_C", "A": "J_A", "K": "J_K"}.get(block.symbol)
        owner = robot.links[block.number - 1].name if block.symbol == "L" else None
        if kind and (owner or robot.loops.rods):
            expected = blocks[f"{kind}:{owner or robot.loops.rods[block.number - 1].name}"]
            here = at.matrix(block.here)
            np.testing.assert_allclose(here.T @ here, expected.T @ expected, rtol=1e-9, atol=1e-12)


def test_known_angles_are_numbers_and_slides_have_their_names():
    text = runner.invoke(app, ["derive", "delta_symbolic"]).output
    assert not [word for word in ("sin(pi", "cos(pi", "q4") if word in text]
    wanted = ("sqrt(3)/2", "J_K1", "xdot", "M = (I_L + I_mo) J_1^T J_1", "- m_K J_K3^T R_3^T g")
    assert not [word for word in wanted if word not in text]
    latex = runner.invoke(app, ["derive", "delta_symbolic", "--format", "latex"]).output
    assert not [word for word in (r"\tfrac{\sqrt{3}}{2}", r"\dot{x}", r"J_{K1}") if word not in latex]


def test_sympy_knows_the_letters_as_symbols():
    """M with every letter replaced by SymPy itself is the model's number."""
    model, numbers = derive_loops(emdeg.load("delta_symbolic")), papers_numbers()
    told = sympy_form.expressions(loop_document(model, ["J", "constants", "M"]))
    robot = emdeg.substitute("delta_symbolic", numbers)
    X = np.array([0.05, -0.08, -0.45])
    joints = emdeg.loops.joint_positions(robot, X)
    J = told["J"]
    values = {f"J_{i}{r}": J[i - 1, r - 1] for i in (1, 2, 3) for r in (1, 2, 3)}
    values |= {key: told[key] for key in told if key[0] == "k"}
    names = {str(symbol): symbol for symbol in told["M"].free_symbols}
    M = told["M"].subs({names[key]: value for key, value in values.items() if key in names})
    plain = {key: float(value) for key, value in numbers.items()} | dict(zip("xyz", X))
    plain |= {f"q{k + 1}": joints[k] for k in range(3)}
    found = M.subs({symbol: plain[str(symbol)] for symbol in M.free_symbols})
    np.testing.assert_allclose(np.array(found.evalf(), float), emdeg.mass_matrix(robot, X), rtol=1e-9)


@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix"])
def test_programs_take_the_letters_as_inputs(function):
    robot, numbers = emdeg.load("delta_symbolic"), papers_numbers()
    program = plain_program(robot, function)
    verify_program(program, robot, function)
    assert program.inputs[-1].labels == tuple(sorted(robot.symbols))
    state = {"q": [[0.05, -0.08, -0.45]], "qd": [[0.3, -0.2, 0.1]], "qdd": [[1.0, -2.0, 0.5]]}
    inputs = {group.name: np.array(state[group.name]) for group in program.inputs[:-1]}
    expected = getattr(emdeg, function)("delta", *inputs.values())
    inputs["parameters"] = np.array([[float(numbers[key]) for key in sorted(numbers)]])
    np.testing.assert_allclose(next(iter(evaluate(program, inputs).values())), expected, rtol=1e-12)


def test_any_mechanism_may_have_letters_for_lengths(tmp_path):
    """A four-bar whose lengths are letters: one program for all of its shapes."""
    text = (emdeg_library() / "fourbar.toml").read_text()
    for number, letter in (("a = 0.1 ", "l1"), ("a = 0.4 ", "l0")):
        text = text.replace(number, f'a = "{letter}" ')
    text = text.replace('link = "coupler", xyz = [0.35, 0, 0]', 'link = "coupler", xyz = ["l2", 0, 0]')
    text = text.replace('link = "rocker", xyz = [0.3, 0, 0]', 'link = "rocker", xyz = ["l3", 0, 0]')
    file = tmp_path / "letters.toml"
    file.write_text(text)
    with pytest.raises(RobotError, match="say near which numbers the loops close"):
        plain_program(emdeg.load(file), "gravity")
    file.write_text(text + "values = { l0 = 0.4, l1 = 0.1, l2 = 0.35, l3 = 0.3 }\n")
    robot = emdeg.load(file)
    program = plain_program(robot, "mass_matrix")
    verify_program(program, robot, "mass_matrix")
    for lengths in ((0.4, 0.1, 0.35, 0.3), (0.5, 0.12, 0.4, 0.35)):
        shape = emdeg.substitute(robot, dict(zip(("l0", "l1", "l2", "l3"), lengths)))
        found = evaluate(program, {"q": np.array([[1.0]]), "parameters": np.array([lengths])})
        np.testing.assert_allclose(found["M"], emdeg.mass_matrix(shape, [[1.0]]), rtol=1e-9)


def emdeg_library():
    from importlib.resources import files

    return files("emdeg.robot.library")


def test_json_of_the_blocks_names_its_parts():
    found = runner.invoke(app, ["derive", "delta_symbolic", "--only", "J,M", "--json"])
    assert list(json.loads(found.output)["result"]) == ["J", "M"]


@pytest.mark.parametrize("name", ["fourbar", "fivebar"])
def test_every_number_of_a_mechanism_may_become_a_letter(name):
    """`derive --symbolic`: the formulas with the numbers put back are the mechanics' numbers."""
    robot = robot_of(name)
    letters, known = symbolize(robot)
    assert {"m1", "g"} <= known.keys()
    model = derive_loops(letters)
    q, qd, _ = (x[0] for x in states(name, 1))
    at = At(model, robot, q, qd, {key: one.value for key, one in known.items()})
    numbers = emdeg.loops.reduced_model(robot, q, qd)
    M, C, G = model.model
    for key, found in (("M", at.matrix(M)), ("C", at.matrix(C)), ("G", at.matrix([G])[0])):
        np.testing.assert_allclose(found, numbers[key], rtol=1e-8, atol=1e-9)
    done = runner.invoke(app, ["derive", name, "--symbolic", "--only", "J,constants,M"])
    assert done.exit_code == 0, done.output


def test_sympys_program_of_a_mechanism_defines_every_letter_it_uses(tmp_path):
    """A slider-crank, every number a letter: M, C and G from nothing but the program's own matrices and the state."""
    robot = built(SLIDER_CRANK, tmp_path)
    q, qd = np.array([1.1]), np.array([0.7])
    done = runner.invoke(app, ["derive", str(tmp_path / "linkage.toml"), "--symbolic", "--format", "sympy"])
    told: dict = {}
    exec(compile(done.output, "slider_crank", "exec"), told)
    joints = emdeg.loops.joint_positions(robot, q)
    known = {name: float(one.value) for name, one in symbolize(robot)[1].items()}
    known |= {f"q{k + 1}": value for k, value in enumerate(joints)}

    def number(matrix):
        return np.array(matrix.subs({x: known[str(x)] for x in matrix.free_symbols}), float)

    W = number(told["W"])
    known |= {f"qd{k + 1}": value for k, value in enumerate(W @ qd)}
    known |= {f"W_{k + 1}1": value for k, value in enumerate(W[:, 0])}
    known |= {f"Wdot_{k + 1}1": value for k, value in enumerate(number(told["Wd"])[:, 0])}
    expected = emdeg.loops.reduced_model(robot, q, qd)
    for part in ("M", "C", "G"):
        np.testing.assert_allclose(number(told[part]).ravel(), np.ravel(expected[part]), rtol=1e-10)


def test_rods_become_letters_too():
    letters, known = symbolize(robot_of("delta"))
    assert {"lR1", "mR2", "IR3", "x1a"} <= known.keys()
    back = emdeg.substitute(letters, {name: one.value for name, one in known.items()})
    X, Xd, Xdd = [0.05, -0.08, -0.45], [0.3, -0.2, 0.1], [1.0, -2.0, 0.5]
    np.testing.assert_allclose(emdeg.inverse_dynamics(back, X, Xd, Xdd), emdeg.inverse_dynamics("delta", X, Xd, Xdd))
    program = plain_program(letters, "gravity")
    verify_program(program, letters, "gravity")
