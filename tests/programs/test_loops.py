"""Programs of mechanisms with closed loops: proofs, counts, C, compiled evaluation."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Floats, PrimeColumns
from emdeg.codegen.artefact import Request, make_artefact
from emdeg.codegen.c import emit_c
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import functions_of
from emdeg.dynamics.functions.numeric import drive_jacobian
from emdeg.errors import Refuted
from emdeg.loops.choose import with_coordinates
from emdeg.loops.views import reduced_model
from emdeg.programs.ir import Dependence, count
from emdeg.programs.residues import fingerprints
from emdeg.programs.search.resubstitute import resubstitute
from emdeg.programs.simplification import retrace, simplify
from emdeg.programs.store import keep
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate
from emdeg.programs.verification import verify_program
from emdeg.runtime import compile as compile_program
from tests.asadi_heydari import procedure, torques
from tests.emitted import COMPILERS, c_library, run_c
from tests.loops.invented import tilting_table
from tests.loops.linkages import built
from tests.loops.test_loops import PLACES, circle, robot_of, states

PROVABLE = [
    "delta",
    "delta_lumped",
    "fivebar",
    "fourbar",
    "palletiser",
    "rrr3",
    pytest.param("stewart", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("function", functions_of(emdeg.load("delta")))
@pytest.mark.parametrize("name", PROVABLE)
def test_program_equals_virtual_work_over_the_prime_field(name, function):
    robot = robot_of(name)
    program = emdeg.program(robot, function)
    assert verify_program(program, robot, function).false_pass_probability < 1e-15


@pytest.mark.parametrize(
    ("name", "payload"),
    [("delta", "mass=mL,com=xL:0:0"), ("fourbar", "mass=mL,com=xL:yL:0"), ("palletiser", "mass=mL,com=xL:0:zL")],
)
def test_a_load_left_open_is_an_input_of_a_mechanism_too(name, payload):
    robot = emdeg.load(name, payload=payload)
    symbols = sorted(robot.symbols)
    values = [0.25 * (k + 1) for k in range(len(symbols))]
    numeric = emdeg.substitute(robot, {symbol: Fraction(value) for symbol, value in zip(symbols, values)})
    q = kind_of(robot).home(robot) + 0.01
    qd, other = np.full_like(q, 0.3), np.full_like(q, 0.2)
    for function in ("inverse_dynamics", "forward_dynamics"):
        program = emdeg.program(robot, function)
        assert program.inputs[-1].labels == tuple(symbols)
        verify_program(program, robot, function)
        expected = getattr(emdeg, function)(numeric, q, qd, other)
        found = compile_program(program)(q, qd, other, values)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_a_wrong_program_is_refuted():
    robot = robot_of("delta")
    program = emdeg.program(robot_of("delta_lumped"), "inverse_dynamics")
    with pytest.raises(Refuted):
        verify_program(program, robot, "inverse_dynamics")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "stewart" else []) for name in PLACES]
)
def test_programs_compute_what_the_mechanics_computes(name):
    robot = robot_of(name)
    q, qd, other = states(name, 4)
    arrays = {"q": q, "qd": qd, "qdd": other, "tau": other}
    for function in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "drive_jacobian"):
        program = emdeg.program(robot, function)
        given = [arrays[group.name] for group in program.inputs]
        expected = drive_jacobian(robot, q) if function == "drive_jacobian" else getattr(emdeg, function)(robot, *given)
        scale = np.abs(expected).max() + 1
        found = next(iter(evaluate(program, {g.name: arrays[g.name] for g in program.inputs}).values()))
        np.testing.assert_allclose(found, expected, atol=1e-10 * scale)
        np.testing.assert_allclose(compile_program(program)(*given), expected, atol=1e-10 * scale)


def test_delta_inverse_dynamics_takes_at_most_250_operations():
    found = count(emdeg.program(robot_of("delta"), "inverse_dynamics"))
    assert found.mul + found.add + found.div <= 250
    assert found.sqrt == 3
    assert found.sincos == 0


def papers_program(lumped=False):
    tracer = Tracer()
    X = tracer.inputs("q", 3, Dependence.CONFIGURATION)
    Xd, Xdd = (tracer.inputs(name, 3, Dependence.RATES) for name in ("qd", "qdd"))
    return tracer.program("paper", {"tau": torques(tracer, X, Xd, Xdd, tracer.sqrt, lumped=lumped)})


def test_papers_procedure_gives_our_torques_at_a_higher_cost():
    program = retrace(papers_program())
    X, Xd, Xdd = circle(np.linspace(0, 6, 13))
    found = evaluate(program, {"q": X, "qd": Xd, "qdd": Xdd})["tau"]
    np.testing.assert_allclose(found, emdeg.inverse_dynamics(robot_of("delta"), X, Xd, Xdd), atol=1e-12)
    own = count(emdeg.program(robot_of("delta"), "inverse_dynamics"))
    assert count(simplify(papers_program())).total > 2 * own.total


def test_papers_matrices_equal_ours_once_m_B_is_m_A():
    q, qd, _ = states("delta", 5)
    model = reduced_model(robot_of("delta"), q, qd)
    for k in range(5):
        steps = procedure(Floats(), list(q[k]), list(qd[k]), np.sqrt)
        for name in ("J", "J_rate", "M", "C", "G"):
            np.testing.assert_allclose(getattr(steps, name), model[name][k], atol=1e-11)


def test_a_search_finds_a_smaller_program_that_is_proved():
    robot = robot_of("fourbar")
    plain = count(emdeg.program(robot, "forward_dynamics", effort=0)).total
    found = emdeg.optimise(robot, "forward_dynamics", 0.4)
    assert found.count.total < plain
    assert found.certificate.false_pass_probability < 1e-15
    q, qd, tau = states("fourbar", 4)
    computed = evaluate(found.program, {"q": q, "qd": qd, "tau": tau})["qdd"]
    np.testing.assert_allclose(computed, emdeg.forward_dynamics(robot, q, qd, tau), rtol=1e-9)


def test_fingerprints_know_the_squares_of_roots():
    tracer = Tracer()
    x, y = tracer.inputs("q", 2, Dependence.CONFIGURATION)
    root = tracer.sqrt(x * x + y)
    program = tracer.program("roots", {"a": root * root, "b": x * x + y, "c": root + 1})
    points = PrimeColumns(3)
    prints = fingerprints(program, points)
    at = [group.entries[0].value for group in program.outputs]
    assert (prints[at[0]] == prints[at[1]]).all()
    assert (prints[at[0]] != prints[at[2]]).all()


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler on this machine")
def test_delta_in_c_compiles_without_a_warning_and_computes_the_torques(tmp_path):
    program = emdeg.program(robot_of("delta"), "inverse_dynamics", name="delta_inverse_dynamics")
    main = """
#include <stdio.h>
int main(void) {
    const double q[3] = {0.05, -0.08, -0.45}, qd[3] = {0.3, -0.2, 0.1}, qdd[3] = {1.0, -2.0, 0.5};
    double tau[3];
    delta_inverse_dynamics(q, qd, qdd, tau);
    printf("%.17g %.17g %.17g\\n", tau[0], tau[1], tau[2]);
    return 0;
}
"""
    source = tmp_path / "delta.c"
    source.write_text(emit_c(program) + main)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    done = subprocess.run(["gcc", *flags, str(source), "-o", str(tmp_path / "delta"), "-lm"], capture_output=True)
    assert done.returncode == 0, done.stderr
    tau = [float(x) for x in subprocess.run([tmp_path / "delta"], capture_output=True, check=True).stdout.split()]
    expected = emdeg.inverse_dynamics(robot_of("delta"), [0.05, -0.08, -0.45], [0.3, -0.2, 0.1], [1, -2, 0.5])
    np.testing.assert_allclose(tau, expected, atol=1e-14)


def test_functions_and_closures_that_have_no_program_are_refused():
    with pytest.raises(ValueError, match="no function 'drive_rates' of tree"):
        emdeg.program(emdeg.load("planar2r"), "drive_rates")
    with pytest.raises(emdeg.RobotError, match="close numerically, not by steps"):
        emdeg.program(with_coordinates(robot_of("rrr3"), ["q1", "q2", "q3"]), "mass_matrix")


def test_a_program_on_file_serves_though_roots_fail_at_some_points(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = robot_of("delta_lumped")
    plain = emdeg.program(robot, "gravity", effort=0)
    found = resubstitute(plain, 0.3)
    assert count(found).total < count(plain).total
    keep(found, robot, ["gravity"], found={})
    assert count(emdeg.program(robot, "gravity")).total == count(found).total
    keep(emdeg.program(robot_of("delta"), "gravity"), robot, ["gravity"], found={})  # another function
    assert count(emdeg.program(robot, "gravity")).total == count(plain).total


@pytest.mark.parametrize("name", ["delta", "fivebar", "palletiser", "tilting_table"])
def test_a_flag_says_in_a_batch_where_loops_cannot_close(name, tmp_path):
    """A pose is reached where no entry of `closure` is below zero; elsewhere nothing that comes out is a number."""
    robot = built(tilting_table(7), tmp_path) if name == "tilting_table" else emdeg.load(name)
    rng, home = np.random.default_rng(0), kind_of(robot).home(robot)
    q = home + rng.uniform(-1, 1, (200, robot.freedoms))
    qd, qdd = rng.normal(size=(2, 200, robot.freedoms))
    tau, closure = emdeg.compile(emdeg.program(robot, "inverse_dynamics+closure"))(q, qd, qdd)
    assert closure.shape == (200, len(robot.loops.names))
    reached = (closure >= 0).all(axis=-1)
    np.testing.assert_array_equal(reached, emdeg.loops.reachable(robot, q))
    assert np.isfinite(tau[reached]).all()
    assert np.isnan(tau[~reached]).all()
    assert name == "palletiser" or not reached.all()
    np.testing.assert_allclose(emdeg.loops.closure(robot, q[reached]), closure[reached], atol=1e-12)
    assert closure[reached].max() <= 1 + 1e-12


def test_the_flag_is_the_sine_squared_of_an_angle_between_links():
    """The five-bar's left forearm against the line between its knees."""
    robot, q = emdeg.load("fivebar"), np.array([2.0, 1.0])
    places = emdeg.link_transforms(robot, q)[:, :3, 3]
    names = [joint.name for joint in robot.joints]
    left, right = places[names.index("p1")], places[names.index("p2")]
    line, forearm = right - left, emdeg.forward_kinematics(robot, q)[:3, 3] - left
    sine = np.linalg.norm(np.cross(line, forearm)) / np.linalg.norm(line) / np.linalg.norm(forearm)
    assert emdeg.loops.closure(robot, q)[0] == pytest.approx(sine**2, abs=1e-12)


def test_emitted_c_has_the_flag_beside_the_torques(tmp_path):
    robot = emdeg.load("delta")
    made = make_artefact(robot, Request(("inverse_dynamics", "closure"), robot_name="delta"))
    library = ctypes.CDLL(str(c_library(made.text, tmp_path, COMPILERS[0])))
    still = np.zeros(3)
    for z, there in ((-0.45, True), (-0.9, False)):
        given = [np.array([0.0, 0.0, z]), still, still]
        tau, closure = run_c(library, "delta_inverse_dynamics_closure", given, [(3,), (3,)])
        assert bool((closure >= 0).all()) is there
        assert bool(np.isfinite(tau).all()) is there
