"""Every library robot, every function, every target: proved, emitted, compiled, run, equal to the numeric mechanics."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, emit, make_artefact
from emdeg.codegen.rechecking import recheck
from emdeg.errors import NotCertified, Refuted
from emdeg.programs import to_data
from emdeg.programs.build import plain_program
from emdeg.programs.proof import FALSE_PASS
from emdeg.programs.simplification import split_constants
from emdeg.programs.trace import Tracer
from emdeg.robot import assemble
from emdeg.robot.toml_reader import read_toml
from tests.emitted import (
    COMPILERS,
    STRICT,
    c_library,
    close,
    expected_of,
    functions_of,
    python_module,
    request_of,
    run_c,
    states_of,
    with_numbers,
)

QUICK = ("planar2r", "scara")
STATES = 5
JAX = ["jax"] if importlib.util.find_spec("jax") else []
LONG = ("regressor", "regressor --base", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
CASES = [
    pytest.param(name, function, marks=() if name in QUICK and function not in LONG else pytest.mark.targets)
    for name in emdeg.library_names()
    for function in functions_of(name)
]


def load_text(text: str):
    return assemble(read_toml(text, "one.toml"))


def several(result) -> tuple:
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture
def doubles_in_jax():
    if JAX:
        import jax

        jax.config.update("jax_enable_x64", True)


@pytest.mark.usefixtures("doubles_in_jax")
@pytest.mark.parametrize(("name", "function"), CASES)
def test_every_target_computes_what_the_numeric_mechanics_computes(name, function, tmp_path):
    robot = emdeg.load(name)
    request = request_of(name, function, trig="inline")
    program = emdeg.program(robot, request.functions, base=request.base)
    made = make_artefact(robot, request, program=program)
    assert made.certificate["false_pass_probability"] < FALSE_PASS
    if name in QUICK:
        assert recheck(made.text.encode(), made.certificate).functions

    numeric, parameters = with_numbers(robot)
    inputs, rounding = states_of(numeric, program, STATES)
    expected = expected_of(numeric, request, inputs)
    constants, main = split_constants(program)
    shapes = [group.shape for group in main.outputs]

    given = inputs | ({"parameters": np.array(parameters)} if parameters else {})
    for got, wanted in zip(several(emdeg.compile(program)(**given)), expected, strict=True):
        close(got, wanted, "compiled in process", rounding)

    for compiler in COMPILERS:
        library = ctypes.CDLL(str(c_library(made.text, tmp_path, compiler, "-O1" if name in QUICK else "-O0")))
        extra = []
        if constants is not None:
            extra = run_c(library, f"{request.name}_constants", [np.array(parameters)], [constants.outputs[0].shape])
        for state in range(STATES):
            found = run_c(library, request.name, [*(array[state] for array in inputs.values()), *extra], shapes)
            for got, wanted in zip(found, expected, strict=True):
                close(got, wanted[state], f"C by {compiler}", rounding)

    for target in ("python", "numpy", *JAX):
        module = python_module(emit(program, robot.name, request_of(name, function, target=target)), tmp_path)
        compute = getattr(module, request.name)
        extra = [getattr(module, f"{request.name}_constants")(np.array(parameters))] if constants is not None else []
        if target == "python":
            results = several(compute(*(array[0].tolist() for array in inputs.values()), *extra))
            for got, wanted in zip(results, expected, strict=True):
                close(got, wanted[0], target, rounding)
        else:
            results = several(compute(*inputs.values(), *extra))
            for got, wanted in zip(results, expected, strict=True):
                close(np.asarray(got), wanted, target, rounding)


@pytest.mark.parametrize(("function", "kind"), [("elements", "revolute"), ("jacobian", "prismatic")])
def test_a_robot_of_one_joint_has_empty_arrays_and_no_warnings(function, kind, tmp_path):
    """No b_ijk with j < k; nothing of the configuration to hand on at a lower rate."""
    robot = load_text(
        f"""schema = 1
        name = "one"
        convention = "modified"
        [[link]]
        name = "arm"
        joint = {{ name = "hinge", type = "{kind}", alpha = "90 deg" }}
        inertia = {{ about = "com", mass = 2, com = [0.3, 0, 0], Izz = 0.1, Ixx = 0.1, Iyy = 0.1 }}
        """
    )
    request = request_of("one", function, batch=True, casadi=True, multirate=True)
    made = make_artefact(robot, request)
    assert recheck(made.text.encode(), made.certificate).functions
    q = np.array([0.4])
    expected = expected_of(robot, request, {"q": q})
    for compiler in COMPILERS:
        library = ctypes.CDLL(str(c_library(made.text, tmp_path, compiler)))
        for got, wanted in zip(run_c(library, request.name, [q], [e.shape for e in expected]), expected, strict=True):
            close(got, wanted, compiler)
    for target in ("python", "numpy"):
        module = python_module(
            emit(emdeg.program(robot, function), "one", request_of("one", function, target=target)), tmp_path
        )
        for got, wanted in zip(several(getattr(module, request.name)(q)), expected, strict=True):
            close(np.asarray(got), wanted, target)


@pytest.mark.targets
@pytest.mark.usefixtures("doubles_in_jax")
def test_jax_compiles_and_differentiates_the_emitted_function(tmp_path):
    jax = pytest.importorskip("jax", reason="jax is not installed (make test-targets)")
    robot = emdeg.load("stanford_arm")
    request = request_of("stanford_arm", "gravity", target="jax")
    module = python_module(emit(emdeg.program(robot, "gravity"), robot.name, request), tmp_path)
    q = np.random.default_rng(0).uniform(-1, 1, 6)
    stiffness = jax.jit(jax.jacfwd(module.stanford_arm_gravity))(q)
    expected, _ = emdeg.inverse_dynamics_derivatives(robot, q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(np.asarray(stiffness), expected, atol=1e-12)


@pytest.mark.targets
@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix+bias", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("name", ["puma560", "panda", "jpl_rrp"])
def test_casadi_loads_the_entry_point(name, function, tmp_path):
    casadi = pytest.importorskip("casadi", reason="casadi is not installed (make test-targets)")
    robot = emdeg.load(name)
    numeric, parameters = with_numbers(robot)
    request = request_of(name, function, casadi=True)
    program = emdeg.program(robot, request.functions)
    library = c_library(emit(program, robot.name, request), tmp_path, COMPILERS[0])
    external = casadi.external(f"{request.name}_casadi", str(library))
    assert external.name_in() == [group.name for group in program.inputs]
    assert external.name_out() == [group.name for group in program.outputs]
    rng = np.random.default_rng(7)
    inputs = {g.name: rng.uniform(-2, 2, g.size) for g in program.inputs if g.name != "parameters"}
    results = external(*inputs.values(), *([parameters] if parameters else []))
    expected = expected_of(numeric, request, inputs)
    for got, wanted in zip(results if isinstance(results, tuple) else (results,), expected, strict=True):
        close(np.array(got).reshape(wanted.shape), wanted, "casadi")


@pytest.mark.targets
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["puma560", "panda", "puma560_symbolic"])
def test_sanitizers_find_nothing_in_a_robots_functions(name, compiler, tmp_path):
    robot = emdeg.load(name)
    request = request_of(name, "inverse_dynamics", trig="inline", batch=True, multirate=True, casadi=True)
    program = emdeg.program(robot, "inverse_dynamics")
    text = emit(program, robot.name, request)
    n, sizes = robot.n, {group.name: group.size for group in program.inputs}
    constants = "constants, " if "parameters" in sizes else ""
    text += f"""
int main(void)
{{
    static double q[3*{n}], qd[3*{n}], qdd[3*{n}], tau[3*{n}];
    static double parameters[{sizes.get("parameters", 1)}], constants[4096];
    for (int i = 0; i < 3*{n}; ++i) q[i] = qd[i] = qdd[i] = i * 1e3 - 7.0;
    q[1] = NAN; q[2] = INFINITY; q[3] = -1e300;
    {f"{request.name}_constants(parameters, constants);" if constants else "(void)constants;"}
    {request.name}(q, qd, qdd, {constants}tau);
    {request.name}_batch(3, q, qd, qdd, {constants}tau);
    const double *arg[4] = {{q, qd, 0, parameters}};
    double *res[1] = {{tau}};
    return {request.name}_casadi(arg, res, 0, 0, 0);
}}
"""
    source = tmp_path / "main.c"
    source.write_text(text)
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        [compiler, *STRICT, *checks, str(source), "-o", str(tmp_path / "main"), "-lm"],
        check=True,
        capture_output=True,
        text=True,
    )
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True, env=environment)


VECTORISED = {
    "gcc": (["-fopt-info-vec"], r"loop vectorized"),
    "clang": (["-Rpass=loop-vectorize"], r"vectorized loop"),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["scara", pytest.param("puma560", marks=pytest.mark.targets)])
def test_compilers_vectorise_the_batch_loop_of_a_robot(name, compiler, tmp_path):
    robot = emdeg.load(name)
    request = request_of(name, "inverse_dynamics", trig="inline", batch=True)
    text = emit(emdeg.program(robot, "inverse_dynamics"), robot.name, request)
    source = tmp_path / "a.c"
    source.write_text(text)
    line = text[: text.index("for (size_t i = 0;")].count("\n") + 1
    flags, message = VECTORISED[compiler]
    march = ["-march=native"] if os.uname().machine == "x86_64" else []
    done = subprocess.run(
        [compiler, "-std=c99", "-O3", *march, *flags, "-c", str(source), "-o", str(tmp_path / "a.o")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert re.search(rf":{line}:\d+: .*{message}", done.stderr), done.stderr


def test_a_wrong_program_never_becomes_an_artefact():
    lighter, robot = emdeg.load("planar2r"), emdeg.load("planar2r", payload="mass=1,com=0:0:0@link2")
    with pytest.raises(Refuted):
        make_artefact(robot, Request(("gravity",)), program=emdeg.program(lighter, "gravity"))


def with_slopes(name):
    """An arm, its request for CasADi, its program, and a program of the Jacobian that it did not make itself."""
    robot = emdeg.load(name)
    plain = plain_program(robot, ["inverse_dynamics_derivatives", "mass_matrix"])
    outputs = tuple(replace(one, name="dtau_dqdd") if one.name == "M" else one for one in plain.outputs)
    request = Request(("inverse_dynamics",), robot_name=name, casadi=True)
    return robot, request, plain_program(robot, "inverse_dynamics"), replace(plain, outputs=outputs)


@pytest.mark.parametrize("compiler", [True, False])
def test_a_jacobian_that_was_handed_in_is_proved_and_kept_in_the_certificate(compiler, monkeypatch):
    robot, request, program, slopes = with_slopes("planar2r")
    made = make_artefact(robot, request, program=program, slopes=slopes)
    assert made.text != make_artefact(robot, request, program=program).text
    if not compiler:
        monkeypatch.setattr("emdeg.codegen.execution.COMPILERS", ())
    done = recheck(made.text.encode(), made.certificate)
    assert bool(done.functions) is compiler
    others = with_slopes("scara")[3]
    for wrong in (to_data(others), {**made.certificate["slopes"], "outputs": []}, {}):
        with pytest.raises(NotCertified):
            recheck(made.text.encode(), made.certificate | {"slopes": wrong})
    asked = made.certificate["request"] | {"casadi": False}
    with pytest.raises(NotCertified, match="nothing that asks for one"):
        recheck(made.text.encode(), made.certificate | {"request": asked})


def test_a_jacobian_of_another_function_never_becomes_an_artefact():
    robot, request, program, slopes = with_slopes("planar2r")
    names = {"dtau_dq": "dtau_dqd", "dtau_dqd": "dtau_dq"}
    swapped = replace(slopes, outputs=tuple(replace(one, name=names.get(one.name, one.name)) for one in slopes.outputs))
    with pytest.raises(Refuted):
        make_artefact(robot, request, program=program, slopes=swapped)


def test_a_jacobian_that_cancels_large_numbers_is_found_out_without_a_compiler(monkeypatch):
    """x + 1e25 (v + 3) - (1e25 v + 3e25) is x, and passes every exact check."""
    robot, request, program, slopes = with_slopes("planar2r")
    tracer, large = Tracer.like(slopes), 10**25
    known = tracer.outputs_of(slopes, tracer.replay(slopes))
    v = tracer.entry("qd", 0)
    one, same = (v + 3) * large, v * large + 3 * large
    ruined = {name: [value + one - same if value else value for value in own] for name, own in known.items()}
    shapes = {one.name: one.shape for one in slopes.outputs}
    made = tracer.program(slopes.name, ruined)
    made = replace(made, outputs=tuple(replace(one, shape=shapes[one.name]) for one in made.outputs))
    artefact = make_artefact(robot, request, program=program, slopes=made)
    monkeypatch.setattr("emdeg.codegen.execution.COMPILERS", ())
    with pytest.raises(NotCertified, match="executed in floating point"):
        recheck(artefact.text.encode(), artefact.certificate)
