import contextlib
import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.codegen.c import COptions, emit_c, template
from emdeg.codegen.infix import escaped
from emdeg.programs import registers
from emdeg.programs.ir import Count, count
from emdeg.programs.simplification import simplify, split_constants
from emdeg.programs.sine import DOUBLE, SINGLE
from emdeg.programs.values import evaluate
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples

STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) on this machine")
each_compiler = pytest.mark.parametrize("compiler", COMPILERS)
pytestmark = needs_compiler


def build(text: str, folder: Path, compiler: str = COMPILERS[0] if COMPILERS else "", *flags: str) -> ctypes.CDLL:
    # The name carries the content, because a process never loads a second library from one path.
    stem = hashlib.sha256(" ".join([text, compiler, *flags]).encode()).hexdigest()[:16]
    source, library = folder / f"{stem}.c", folder / f"{stem}.so"
    source.write_text(text)
    command = [compiler, *STRICT, *flags, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def call(function, arrays, count=None):
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    function.restype = None
    function(*([ctypes.c_size_t(count)] if count is not None else []), *pointers)


def run(library, program, inputs, dtype=np.float64, suffix=""):
    """Outputs at one state, by calling the emitted function."""
    arrays = [np.ascontiguousarray(inputs[group.name], dtype) for group in program.inputs]
    outputs = {g.name: np.full(g.shape, np.nan, dtype) for g in program.outputs}
    call(getattr(library, program.name + suffix), [*arrays, *outputs.values()])
    return outputs


@each_compiler
@pytest.mark.parametrize("trig", ["libm", "inline"])
@pytest.mark.parametrize("flags", [(), ("-DEMDEG_FLOAT",)])
def test_emitted_c_computes_what_numpy_computes(compiler, trig, flags, tmp_path):
    program, reference = pendulum_pair()
    library = build(emit_c(simplify(program), COptions(trig=trig)), tmp_path, compiler, *flags)
    dtype, tolerance = (np.float32, 1e-5) if flags else (np.float64, 1e-13)
    for state in range(20):
        inputs = {name: array[0] for name, array in samples(program, 1, seed=state, scale=3).items()}
        out = run(library, program, inputs, dtype)
        np.testing.assert_allclose(out["tau"], reference(**inputs), rtol=tolerance, atol=10 * tolerance)


@each_compiler
def test_constants_of_parameters_are_computed_once_in_their_own_function(compiler, tmp_path):
    program, reference = kitchen_sink()
    library = build(emit_c(program, COptions(batch=True, multirate=True, casadi=True)), tmp_path, compiler)
    constants, main = split_constants(program)
    assert constants is not None
    inputs = {name: array[0] for name, array in samples(program, 1).items()}
    inputs |= run(library, constants, inputs)
    matrix, scalar = reference(inputs["q"], inputs["qd"], inputs["parameters"])
    out = run(library, main, inputs)
    np.testing.assert_allclose(out["matrix"], matrix, rtol=1e-14)
    np.testing.assert_allclose(out["scalar"], scalar, rtol=1e-14)


def test_the_header_says_how_large_the_callers_arrays_must_be():
    text = emit_c(kitchen_sink()[0], COptions(multirate=True))
    comment, code = text.split("*/", 1)
    for name in ("constants", "x"):
        stored = {int(place) for place in re.findall(rf"^    {name}\[(\d+)\] = ", code, re.MULTILINE)}
        assert stored == set(range(len(stored)))
        assert f"{name}[{len(stored)}]" in comment


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_any_program_runs_alike_in_c_and_in_numpy(seed, tmp_path_factory):
    program = random_program(seed, divisions=True)
    library = build(
        emit_c(program, COptions(trig="inline")),
        tmp_path_factory.mktemp("c"),
        COMPILERS[0],
        "-ffp-contract=off",
    )
    inputs = {name: array[0] for name, array in samples(program, 1, seed).items()}
    out, expected = run(library, program, inputs), evaluate(program, inputs)
    for name in expected:
        np.testing.assert_allclose(out[name], expected[name], rtol=1e-11, atol=1e-11 * np.abs(expected["y"]).max())


def recount(text: str, name: str) -> Count:
    """Operators in the body of a function, counted in the text by someone who knows C and nothing else."""
    body = re.search(rf"void {name}\([^;{{]*\)\n{{\n(.*?)\n}}", text, re.S)
    assert body is not None
    code = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S)
    code = re.sub(r"const emdeg_real \*", "", code)
    code = re.sub(r"R\([^()]*\)", "1", code)
    code = re.sub(r"\[[^\]]*\]", "", code)
    sincos = len(re.findall(r"SINCOS\(|(?<!\w)SIN\(|(?<!\w)COS\(", code))
    together = re.search(r"SINCOS_MANY\((\d+),", code)
    sincos += int(together[1]) if together else 0
    roots = len(re.findall(r"SQRT\(", code))
    code = re.sub(r"&\w+", "", code)
    binary = re.sub(r"(=\s*|\()-", r"\1", code)
    return Count(
        mul=binary.count("*"),
        add=binary.count("+") + binary.count("-"),
        div=binary.count("/"),
        sqrt=roots,
        sincos=sincos,
    )


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_recounting_the_operators_in_the_text_gives_the_count(seed):
    program = simplify(random_program(seed, divisions=True))
    assert recount(emit_c(program), "random") == count(program)


@pytest.mark.parametrize("build_program", [pendulum_pair, kitchen_sink])
def test_recounting_finds_roots_quotients_and_angle_sums(build_program):
    program, _ = build_program()
    assert recount(emit_c(program, COptions(trig="inline")), program.name) == count(program)
    text = emit_c(program, COptions(batch=True, multirate=True))
    assert recount(text, program.name) == count(program)
    name = program.name
    parts = recount(text, f"{name}_configuration") + recount(text, f"{name}_rates")
    assert parts == count(program)


SANITIZED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def sanitized(compiler: str, text: str, folder: Path) -> Path:
    """A program's text as an executable that ends where it reads or writes what is not its own."""
    source, made = folder / "main.c", folder / "main"
    source.write_text(text)
    command = [compiler, *STRICT, *SANITIZED, str(source), "-o", str(made), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def sanitizers(tmp_path_factory) -> frozenset[str]:
    """The compilers whose sanitizers are installed: with clang they may come in a package of their own."""
    found = set()
    for compiler in COMPILERS:
        with contextlib.suppress(AssertionError):
            sanitized(compiler, "int main(void) { return 0; }\n", tmp_path_factory.mktemp(compiler))
            found.add(compiler)
    return frozenset(found)


@each_compiler
@pytest.mark.parametrize("long", [template.LONG, 10])
def test_sanitizers_find_nothing(compiler, long, sanitizers, tmp_path, monkeypatch):
    if compiler not in sanitizers:
        pytest.skip(f"the sanitizers of {compiler} are not on this machine")
    monkeypatch.setattr(template, "LONG", long)
    monkeypatch.setattr(registers, "REGISTERS", 4)
    program, _ = kitchen_sink()
    text = emit_c(program, COptions(trig="inline", batch=True, multirate=True, casadi=True))
    assert ("KEPT(" in text) == (long == 10)
    text += """
int main(void)
{
    double q[3*5], qd[2*5], p[1] = {2.0}, k[64], m[6*5], s[5];
    for (int i = 0; i < 15; ++i) q[i] = i * 1e4 - 3.0;
    for (int i = 0; i < 10; ++i) qd[i] = i;
    q[4] = NAN; q[5] = INFINITY; q[6] = 1e300;
    sink_constants(p, k);
    sink(q, qd, k, m, s);
    sink_batch(5, q, qd, k, m, s);
    const double *arg[3] = {q, 0, p};
    double *res[2] = {m, 0};
    return sink_casadi(arg, res, 0, 0, 0);
}
"""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    made = sanitized(compiler, text, tmp_path)
    subprocess.run([str(made)], check=True, capture_output=True, text=True, env=environment)


def test_only_the_promised_symbols_are_exported(tmp_path):
    program, _ = pendulum_pair()
    text = emit_c(program, COptions(trig="inline", batch=True, multirate=True))
    source = tmp_path / "a.c"
    source.write_text(text)
    subprocess.run([COMPILERS[0], *STRICT, "-c", str(source), "-o", str(tmp_path / "a.o")], check=True)
    listed = subprocess.run(
        ["nm", "-g", "--defined-only", str(tmp_path / "a.o")], check=True, capture_output=True, text=True
    )
    assert {line.split()[-1] for line in listed.stdout.splitlines()} == {
        "pair",
        "pair_batch",
        "pair_configuration",
        "pair_rates",
    }
    undefined = subprocess.run(["nm", "-u", str(tmp_path / "a.o")], check=True, capture_output=True, text=True)
    assert "sin" not in undefined.stdout


def test_an_output_may_overwrite_an_input(tmp_path):
    program, reference = pendulum_pair()
    library = build(emit_c(program), tmp_path)
    state = {name: array[0] for name, array in samples(program, 1).items()}
    expected = reference(**state)
    call(library.pair, [state["q"], state["qd"], state["qdd"], state["qdd"]])
    np.testing.assert_allclose(state["qdd"], expected, rtol=1e-13)


@pytest.mark.parametrize("function", ["forward_dynamics", "forward_dynamics_derivatives"])
def test_entries_are_stored_as_soon_as_they_are_known_and_all_inputs_are_read(function):
    program = emdeg.program("puma560", function)
    body = emit_c(program, COptions(trig="inline"), name="f").rsplit("\n{\n", 1)[1].splitlines()
    names = "|".join(group.name for group in program.inputs)
    # an input in a register counts as one
    loaded = "|".join(found[1] for line in body if (found := re.match(rf".* (t\d+) = (?:{names})\[\d+\];", line)))
    of_inputs = re.compile(rf"= .*\b(({names})\[|({loaded or '0'})\b)")
    of_outputs = re.compile(rf" *({'|'.join(group.name for group in program.outputs)})\[\d+\] = -?(\w+)")
    stores = {place: found[2] for place, line in enumerate(body) if (found := of_outputs.match(line))}
    last_read = max(place for place, line in enumerate(body) if place not in stores and of_inputs.search(line))
    made = {line.split()[2]: place for place, line in enumerate(body) if line.startswith("    const emdeg_real t")}
    assert len(stores) == sum(len(group.entries) for group in program.outputs)
    assert min(stores) > last_read
    # between a store and what it waits for there are stores alone
    for place, name in stores.items():
        waits = max(last_read, made.get(name, 0))
        assert set(range(waits + 1, place)) <= stores.keys()


@each_compiler
@pytest.mark.parametrize("flags", [(), ("-DEMDEG_FLOAT",), ("-O0",), ("-O3",), ("-DEMDEG_PLAIN",)])
@pytest.mark.parametrize("trig", ["inline", "libm"])
def test_values_of_long_functions_wait_in_memory(compiler, flags, trig, tmp_path, monkeypatch):
    monkeypatch.setattr(template, "LONG", 10)
    monkeypatch.setattr(registers, "REGISTERS", 4)
    program, reference = pendulum_pair()
    text = emit_c(program, COptions(trig=trig))
    assert "KEEP(0, 0, " in text
    assert recount(text, program.name) == count(program)
    library = build(text, tmp_path, compiler, *flags)
    dtype, tolerance = (np.float32, 1e-5) if "-DEMDEG_FLOAT" in flags else (np.float64, 1e-13)
    state = {name: array[0].astype(dtype) for name, array in samples(program, 1).items()}
    expected = reference(**state)
    call(library.pair, [state["q"], state["qd"], state["qdd"], state["qdd"]])  # the output overwrites an input
    np.testing.assert_allclose(state["qdd"], expected, rtol=tolerance)


@each_compiler
@pytest.mark.parametrize("seed", range(8))
def test_what_waits_in_memory_is_not_mixed_up(compiler, seed, tmp_path, monkeypatch):
    monkeypatch.setattr(template, "LONG", 10)
    monkeypatch.setattr(registers, "REGISTERS", 3 + seed)
    program = random_program(seed, 300, divisions=True)
    inputs = {name: array[0] for name, array in samples(program, 1, seed).items()}
    library = build(emit_c(program, COptions(trig="inline")), tmp_path, compiler, "-O3", "-ffp-contract=off")
    out, expected = run(library, program, inputs), evaluate(program, inputs)
    for name in expected:
        np.testing.assert_allclose(out[name], expected[name], rtol=1e-11, atol=1e-11 * np.abs(expected["y"]).max())


@each_compiler
@pytest.mark.parametrize("trig", ["inline", "libm"])
def test_long_functions_of_a_robot_compile_without_a_warning(compiler, trig, tmp_path):
    program = emdeg.program("puma560", "forward_dynamics_vjp")
    assert program.size > template.LONG
    inputs = {name: array[0] for name, array in samples(program, 1).items()}
    library = build(emit_c(program, COptions(trig=trig), name="f"), tmp_path, compiler, "-O0")
    out, expected = run(library, replace(program, name="f"), inputs), evaluate(program, inputs)
    for name in expected:
        np.testing.assert_allclose(out[name], expected[name], rtol=1e-9, atol=1e-9 * np.abs(expected[name]).max())


@pytest.mark.skipif("gcc" not in COMPILERS or platform.machine() != "x86_64", reason="gcc's vectors of eight, on x86")
def test_one_state_takes_no_vectors_of_eight(tmp_path):
    program = emdeg.program("panda", "inverse_dynamics")
    text = emit_c(program, COptions(trig="inline", batch=True))

    def registers_of_eight(source: str, function: str) -> int:
        (tmp_path / "f.c").write_text(source)
        flags = [*STRICT, "-O3", "-mavx512f", "-mavx512dq", "-mfma"]
        command = ["gcc", *flags, "-S", "-o", "-", str(tmp_path / "f.c")]
        assembly = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return assembly.split(f"\n{function}:\n")[1].split(".cfi_endproc")[0].count("%zmm")

    assert registers_of_eight(text, program.name) == 0
    assert registers_of_eight(text, f"{program.name}_batch") > 0
    assert registers_of_eight(text.replace("ONE_STATE void", "void"), program.name) > 0


HOSTILE = ["*/ int evil; /*", "name\nint evil;", "back\\\nslash", "??/ trigraph", "ünï", "\x00\x1b[31m", "//"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_the_comment(name, tmp_path):
    program, _ = pendulum_pair()
    labelled = replace(program, inputs=(replace(program.inputs[0], labels=(name, name)), *program.inputs[1:]))
    text = emit_c(labelled, COptions(robot=name, command=name))
    build(text, tmp_path)
    assert text.count("*/") == emit_c(program).count("*/")
    assert "evil;" not in text.replace(escaped(name), "")


def test_the_function_is_named_after_an_identifier_made_of_the_name():
    program, _ = pendulum_pair()
    assert "void my_robot_2_x(" in emit_c(program, name="My robot-2 x")
    assert "void robot_2link(" in emit_c(program, name="2link")


def test_the_same_program_gives_the_same_bytes():
    texts = {emit_c(simplify(pendulum_pair()[0]), COptions(trig="inline", batch=True)) for _ in range(3)}
    assert len(texts) == 1


@each_compiler
@pytest.mark.parametrize("flags", [(), ("-DEMDEG_FLOAT",)])
def test_the_batch_loop_agrees_with_the_single_state(compiler, flags, tmp_path):
    program, reference = pendulum_pair()
    library = build(emit_c(program, COptions(trig="inline", batch=True)), tmp_path, compiler, "-O3", *flags)
    dtype, tolerance = (np.float32, 1e-5) if flags else (np.float64, 1e-13)
    inputs = samples(program, 77, scale=3)
    arrays = [np.ascontiguousarray(array.T, dtype) for array in inputs.values()]
    tau = np.full((2, 77), np.nan, dtype)
    call(library.pair_batch, [*arrays, tau], 77)
    np.testing.assert_allclose(tau.T, reference(**inputs), rtol=tolerance, atol=10 * tolerance)


VECTORISED = {
    "gcc": (["-fopt-info-vec"], r"loop vectorized"),
    "clang": (["-Rpass=loop-vectorize"], r"vectorized loop"),
}


@each_compiler
def test_compilers_vectorise_the_batch_loop(compiler, tmp_path):
    text = emit_c(simplify(pendulum_pair()[0]), COptions(trig="inline", batch=True))
    source = tmp_path / "a.c"
    source.write_text(text)
    flags, message = VECTORISED[compiler]
    march = ["-march=native"] if os.uname().machine == "x86_64" else []
    done = subprocess.run(
        [compiler, "-std=c99", "-O3", *march, *flags, "-c", str(source), "-o", str(tmp_path / "a.o")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert re.search(message, done.stderr), done.stderr


@pytest.mark.parametrize(("table", "dtype"), [(DOUBLE, np.float64), (SINGLE, np.float32)])
@pytest.mark.parametrize("contract", ["-ffp-contract=off", "-ffp-contract=fast"])
def test_inlined_sine_and_cosine_err_by_no_more_ulps_than_stated(table, dtype, contract, tmp_path):
    text = emit_c(pendulum_pair()[0], COptions(trig="inline"))
    text += "void trig(size_t n, const emdeg_real *x, emdeg_real *s, emdeg_real *c);\n"
    text += "void trig(size_t n, const emdeg_real *x, emdeg_real *s, emdeg_real *c)\n"
    text += "{ for (size_t i = 0; i < n; ++i) SINCOS(x[i], s + i, c + i); }\n"
    flags = ["-DEMDEG_FLOAT"] if dtype is np.float32 else []
    library = build(text, tmp_path, COMPILERS[0], "-O2", "-march=native", contract, *flags)
    rng = np.random.default_rng(1)
    quarters = rng.integers(-63000, 63000, 400) * (np.pi / 2)
    x = np.concatenate(
        [
            rng.uniform(-table.reach, table.reach, 1500),
            rng.uniform(-7, 7, 1500),
            rng.uniform(-1e-3, 1e-3, 200),
            quarters,
            np.arange(-8, 9) * np.pi / 4,
            [0.0, table.reach, -table.reach],
        ]
    ).astype(dtype)
    s, c = np.empty_like(x), np.empty_like(x)
    call(library.trig, [x, s, c], len(x))
    with mpmath.workdps(40):
        for function, found in ((mpmath.sin, s), (mpmath.cos, c)):
            worst = 0.0
            for value, result in zip(x.tolist(), found.tolist()):
                exact = function(mpmath.mpf(value))
                spacing = float(np.spacing(dtype(abs(float(exact)))))
                worst = max(worst, abs(float((mpmath.mpf(result) - exact) / spacing)))
            assert worst <= table.ulps


def test_reduction_loses_nothing_next_to_every_multiple_of_a_quarter_turn(tmp_path):
    text = emit_c(pendulum_pair()[0], COptions(trig="inline"))
    text += "void trig(size_t n, const emdeg_real *x, emdeg_real *s, emdeg_real *c);\n"
    text += "void trig(size_t n, const emdeg_real *x, emdeg_real *s, emdeg_real *c)\n"
    text += "{ for (size_t i = 0; i < n; ++i) SINCOS(x[i], s + i, c + i); }\n"
    library = build(text, tmp_path)
    quarters = [29, 11, 355, 710, *range(1, 63662, 13)]  # 29 comes closest: 6.2e-19 in 45.55
    with mpmath.workdps(50):
        x = np.array([float(k * mpmath.pi / 2) for k in quarters])
        exact = np.array([abs(float(mpmath.mpf(v) - k * mpmath.pi / 2)) for v, k in zip(x.tolist(), quarters)])
    s, c = np.empty_like(x), np.empty_like(x)
    call(library.trig, [x, s, c], len(x))
    assert exact.min() < 1e-18
    # The sine of so small an angle is the angle.
    found = np.minimum(np.abs(s), np.abs(c))
    assert (np.abs(found - exact) / np.spacing(exact)).max() <= 1


def test_inlined_sine_is_nan_far_beyond_its_reach(tmp_path):
    program, _ = pendulum_pair()
    library = build(emit_c(program, COptions(trig="inline")), tmp_path)
    out = run(library, program, {"q": [1e12, 1e12], "qd": [0, 0], "qdd": [0, 0]})
    assert np.isnan(out["tau"]).all()


def test_casadi_loads_the_entry_point(tmp_path):
    casadi = pytest.importorskip("casadi", reason="casadi is not installed")
    program, reference = kitchen_sink()
    text = emit_c(program, COptions(casadi=True))
    build(text, tmp_path)
    library = next(tmp_path.glob("*.so"))
    function = casadi.external("sink_casadi", str(library))
    inputs = {name: array[0] for name, array in samples(program, 1).items()}
    matrix, scalar = function(inputs["q"], inputs["qd"], inputs["parameters"])
    expected = reference(**inputs)
    np.testing.assert_allclose(np.array(matrix), expected[0], rtol=1e-14)
    np.testing.assert_allclose(float(scalar), expected[1], rtol=1e-14)
    assert function.name_in() == ["q", "qd", "parameters"]


@each_compiler
def test_float_can_be_the_default_and_double_the_choice(compiler, tmp_path):
    program, reference = pendulum_pair()
    text = emit_c(program, COptions(single=True, trig="inline", batch=True))
    state = {name: array[0] for name, array in samples(program, 1).items()}
    for flags, dtype, tolerance in (((), np.float32, 1e-5), (("-DEMDEG_DOUBLE",), np.float64, 1e-13)):
        library = build(text, tmp_path, compiler, *flags)
        out = run(library, program, state, dtype)
        np.testing.assert_allclose(out["tau"], reference(**state), rtol=tolerance, atol=10 * tolerance)
