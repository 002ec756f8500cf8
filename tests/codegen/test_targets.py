"""Every target language run as it is: node, ... ; one process a language runs many files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import emdeg
from emdeg.codegen import TARGETS
from emdeg.codegen.artefact import Request, emit, make_artefact
from emdeg.codegen.infix import escaped
from emdeg.codegen.languages import DRIVERS, called
from emdeg.codegen.rechecking import recheck
from emdeg.dynamics.functions import WITH_FRICTION
from emdeg.programs import Dependence, Kind, Tracer, evaluate, simplify
from emdeg.programs.ir import Count, Op, count
from tests.emitted import close, expected_of, functions_of, request_of, states_of, with_numbers
from tests.languages import need, run_files
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples


@dataclass(frozen=True)
class Spoken:
    """A language: how a reader who knows nothing else finds a function's body in a text."""

    body: str
    """A pattern with {name}; its first group is the body."""
    index: str = r"\[[^\]]*\]"
    sincos: str = r"\b[sc](\d+) = "
    sqrt: str = "sqrt("


LANGUAGES = {
    "cpp": Spoken(r"\n[^\n]* {name}\([^{{}}]*\)\n{{\n(.*?)\n}}"),
    "rust": Spoken(r"pub fn {name}\([^{{]*\) {{\n(.*?)\n}}", sincos=r"let \((\w+), (\w+)\) = sincos"),
    "octave": Spoken(r"function [^\n]* = {name}\([^\n]*\)\n(.*?)\nend", index=r"\([\d:, ]*\)"),
    "fortran": Spoken(r"subroutine {name}\([^)]*\)\n(.*?)\n  end subroutine", index=r"\([\d:, ]*\)"),
    "js": Spoken(r"export function {name}\([^{{]*\) {{\n(.*?)\n}}"),
}
each_language = pytest.mark.parametrize("target", LANGUAGES)


def emitted(target: str, program, **options) -> str:
    return TARGETS[target].emit(program, **{"name": program.name, "robot": "", "command": "", **options})


def laws_of_friction():
    """Every law, at arguments where its two ends matter."""
    t = Tracer()
    q = t.inputs("q", 1, Dependence.CONFIGURATION)
    qd = t.inputs("qd", 3, Dependence.RATES)
    values = [t.apply(Op(kind), [x]) for kind in (Kind.SIGN, Kind.EXP, Kind.TANH) for x in qd]
    return t.program("laws", {"tau": [*values, q[0] * Fraction(1, 3)]})


def states(program, many=3, seed=0, scale=1.5) -> list[dict[str, np.ndarray]]:
    arrays = samples(program, many, seed, scale)
    return [{name: array[k] for name, array in arrays.items()} for k in range(many)]


@each_language
def test_any_program_runs_as_it_does_here(target, tmp_path):
    """Hand-made ones with every operation, random ones, friction's laws at zero and far out; both rates too."""
    programs = [pendulum_pair()[0], kitchen_sink()[0], laws_of_friction()]
    programs += [replace(simplify(random_program(seed, divisions=True)), name=f"random{seed}") for seed in range(12)]
    at = {program.name: states(program) for program in programs}
    at["laws"] += [
        {"q": np.ones(1), "qd": np.array(x)} for x in ([0, -0.0, 1e-9], [30, -30, 1e-3], [-700.0, 300, 0.09])
    ]
    files = [
        called(
            target,
            emitted(target, program, multirate=True),
            program,
            program.name,
            at[program.name],
            multirate=True,
        )
        for program in programs
    ]
    for program, one, found in zip(programs, files, run_files(target, files, tmp_path), strict=True):
        for state, outputs in zip(one.states, found, strict=True):
            for name, wanted in evaluate(program, state).items():
                scale = np.abs(wanted).max(initial=1.0)
                for function in (program.name, f"{program.name}_rates"):
                    np.testing.assert_allclose(
                        outputs[f"{function}.{name}"],
                        wanted,
                        rtol=1e-13,
                        atol=1e-13 * min(scale, 1e3),
                        err_msg=one.file,
                    )


def recount(target: str, text: str, name: str) -> Count:
    """Operators in a function's body, counted in the text by someone who knows the language and nothing else."""
    language = LANGUAGES[target]
    found = re.search(language.body.format(name=name), text, re.S)
    assert found is not None
    code = re.sub(language.index, "", found[1])
    code = re.sub(r"(?<![\w.])\d+\.?\d*(e[-+]?\d+)?(_\w+)?", "1", code)
    binary = re.sub(r"(=\s*|\()-", r"\1", code)
    return Count(
        mul=binary.count("*"),
        add=binary.count("+") + binary.count("-"),
        div=binary.count("/"),
        sqrt=binary.count(language.sqrt),
        sincos=len(set(re.findall(language.sincos, binary))),
    )


@each_language
def test_recounting_the_operators_in_the_text_gives_the_count(target):
    programs = [pendulum_pair()[0], kitchen_sink()[0]]
    for program in programs + [simplify(random_program(seed, divisions=True)) for seed in range(20)]:
        text, name = emitted(target, program, multirate=True), program.name
        text += "\n".join(called(target, text, program, name, (), multirate=True).beside.values())
        assert recount(target, text, name) == count(program)
        rates = recount(target, text, f"{name}_configuration") + recount(target, text, f"{name}_rates")
        assert rates == count(program)


HOSTILE = [
    *("*/ evil(); /*", "name\nevil();", "back\\\nslash", "?>evil", "ünï", "\x00\x1b[31m", "//", "%}"),
    *("-- \r evil", "!$omp &\u2028evil();", "\n%{\nevil\n%}", "#![evil]"),
]


@each_language
def test_hostile_names_stay_in_the_comment(target, tmp_path):
    files = []
    for k, name in enumerate(HOSTILE):
        program = replace(pendulum_pair()[0], name=f"pair{k}")
        labelled = replace(program, inputs=(replace(program.inputs[0], labels=(name, name)), *program.inputs[1:]))
        text = emitted(target, labelled, robot=name, command=name)
        assert "evil" not in text.replace(escaped(name), "")
        files.append(called(target, text, labelled, program.name, states(program, 1)))
    run_files(target, files, tmp_path)


@each_language
def test_a_certificate_is_found_again(target):
    robot, stem = emdeg.load("planar2r"), "planar2r_mass_matrix_bias"
    for options in ({}, {"multirate": True}):
        made = make_artefact(robot, Request(("mass_matrix", "bias"), target, "planar2r", **options))
        assert made.file == f"planar2r_mass_matrix_bias{TARGETS[target].suffix}"
        execution = recheck(made.text.encode(), made.certificate)
        need(DRIVERS[target].tool)
        assert execution.by == DRIVERS[target].tool
        assert execution.functions == (stem, *([f"{stem}_rates"] if options else []))


ROBOTS = ("puma560_symbolic", "stanford_arm", "fourbar")
"""Open parameters; revolute and prismatic joints; a closed loop."""


@cache
def known(name: str, function: str):
    """A function of a library robot: its program, states, what comes out there, and how exactly."""
    robot = emdeg.load(name)
    request = request_of(name, function)
    program = emdeg.program(robot, request.functions, base=request.base)
    numeric, parameters = with_numbers(robot)
    inputs, rounding = states_of(numeric, program, 2)
    expected = expected_of(numeric, request, inputs)
    given = [
        {**{array: values[k] for array, values in inputs.items()}, "parameters": np.array(parameters)} for k in range(2)
    ]
    return robot, program, given, expected, rounding


def check_robots(target: str, names, folder) -> None:
    """Every function of the robots, run in one process, equal to the numeric mechanics, at both rates."""
    cases = [(name, function) for name in names for function in functions_of(name)]
    files = []
    for name, function in cases:
        # No two files of one name: `momentum` at the faster rate is called as the function `momentum_rates` is.
        whose = name + {"regressor --base": "_base", "momentum": "_linear"}.get(function, "")
        whose += "_rubbing" if function.endswith(WITH_FRICTION) else ""
        request = request_of(whose, function, target=target, multirate=True)
        robot, program, given, _, _ = known(name, function)
        text = emit(program, robot.name, request)
        files.append(called(target, text, program, request.name, given, multirate=True))
    for (name, function), one, found in zip(cases, files, run_files(target, files, folder), strict=True):
        _, program, _, expected, rounding = known(name, function)
        for k, outputs in enumerate(found):
            for group, wanted in zip(program.outputs, expected, strict=True):
                for suffix in ("", "_rates"):
                    got = outputs[f"{one.functions[0].name.removesuffix('_constants')}{suffix}.{group.name}"]
                    close(got, wanted[k], f"{target}: {name} {function}{suffix}", rounding)


@pytest.mark.targets
@each_language
def test_robots_functions_are_the_numeric_mechanics(target, tmp_path):
    check_robots(target, ROBOTS, tmp_path)


@pytest.mark.every_target
@each_language
@pytest.mark.parametrize("name", [name for name in emdeg.library_names() if name not in ROBOTS])
def test_every_robots_functions_are_the_numeric_mechanics(target, name, tmp_path):
    check_robots(target, [name], tmp_path)
