"""All functions of a robot in one library: CMake builds it, what is shared is computed once, the proof is repeated."""

import ctypes
import subprocess

import numpy as np
import pytest

import emdeg
from emdeg.codegen import generate
from emdeg.codegen.verbs import every_function, recheck_file
from emdeg.errors import BadRequest, NotCertified
from emdeg.programs import count, from_data, split_shared
from tests.emitted import COMPILERS, STRICT, close, expected_of, request_of, run_c, states_of, with_numbers
from tests.languages import need, told

CPP = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]


def library(name, folder, functions=None, **options):
    return generate(name, functions, out=folder, library=True, effort=0, **options)


@pytest.mark.parametrize("name", ["planar2r", pytest.param("jpl_rrp", marks=pytest.mark.targets)])
@pytest.mark.long
def test_every_function_and_its_shared_form_compute_what_the_numbers_say(name, tmp_path):
    made = library(name, tmp_path, trig="inline")
    sources = sorted(tmp_path.glob("*.c"))
    built = tmp_path / "all.so"
    subprocess.run([COMPILERS[0], *STRICT, "-O0", "-shared", "-fPIC", *sources, "-o", built, "-lm"], check=True)
    loaded = ctypes.CDLL(str(built))
    numeric, parameters = with_numbers(emdeg.load(name))
    programs = [from_data(one.certificate["program"]) for one in made]
    first, rests = split_shared(programs, "first")
    for one, program, rest in zip(made, programs, rests, strict=True):
        stem = one.file.removesuffix(".c")
        inputs, rounding = states_of(numeric, program, 1)
        at = {array: values[0] for array, values in inputs.items()} | {"parameters": np.array(parameters)}
        request = request_of(name, "+".join(one.certificate["request"]["functions"]))
        expected = [values[0] for values in expected_of(numeric, request, inputs)]
        everything = [at.get(group.name, np.zeros(group.size)) for group in first.inputs]
        (at["x"],) = run_c(loaded, f"{name}_shared", everything, [first.outputs[0].shape])
        found = run_c(
            loaded, f"{stem}_shared", [at[g.name] for g in rest.inputs], [group.shape for group in program.outputs]
        )
        for got, wanted in zip(found, expected, strict=True):
            close(got, wanted, f"{stem}_shared", rounding)
    together = sum(count(rest).total for rest in rests) + count(first).total
    assert together < sum(count(program).total for program in programs)
    assert sum(count(rest).sincos for rest in rests) == 0


def test_cmake_builds_it_and_a_program_beside_it(tmp_path):
    need("cmake")
    library("planar2r", tmp_path / "arm", ["gravity", "mass_matrix+bias"], batch=True)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(use LANGUAGES C CXX)\nadd_subdirectory(arm)\n"
        "add_executable(use use.cpp)\ntarget_link_libraries(use PRIVATE planar2r)\n"
    )
    (tmp_path / "use.cpp").write_text(
        "#include <planar2r.h>\n#include <cstdio>\n"
        "int main() { double q[2] = {0.3, -0.2}, g[2], many[4], q2[4] = {0.3, 0.3, -0.2, -0.2};\n"
        "planar2r_gravity(q, g); planar2r_gravity_batch(2, q2, many);\n"
        'std::printf("%.17g %.17g %.17g\\n", g[0], g[1], many[3]); }\n'
    )
    told(["cmake", "-S", ".", "-B", "build"], tmp_path)
    told(["cmake", "--build", "build"], tmp_path)
    first, second, again = map(float, told([tmp_path / "build" / "use"], tmp_path).split())
    np.testing.assert_allclose([first, second], emdeg.gravity(emdeg.load("planar2r"), [0.3, -0.2]), rtol=1e-13)
    assert again == pytest.approx(second)


@pytest.mark.parametrize("trig", [pytest.param(trig, marks=pytest.mark.targets) for trig in ("libm", "inline")])
def test_cpp_compilers_take_every_file_as_it_is(trig, tmp_path):
    need("g++")
    made = generate(
        "jpl_rrp", ["inverse_dynamics", "mass_matrix"], out=tmp_path, trig=trig, batch=True, multirate=True, casadi=True
    )
    for one in made:
        header = one.file.replace(".c", ".h")
        words = [*CPP, "-include", header, "-x", "c++", "-c", one.file, "-o", "a.o"]
        told(["g++", *words], tmp_path)
        told(["gcc", *STRICT, "-include", header, "-c", one.file, "-o", "b.o"], tmp_path)
        names = [
            {line.split()[-1] for line in told(["nm", "-g", "--defined-only", each], tmp_path).splitlines()}
            for each in ("a.o", "b.o")
        ]
        assert names[0] == names[1]


def test_the_header_documents_every_array_with_its_unit(tmp_path):
    (made,) = generate("jpl_rrp", "inverse_dynamics", multirate=True, prefix="lab_")
    assert made.file == "lab_jpl_rrp_inverse_dynamics.c"
    text = made.beside["lab_jpl_rrp_inverse_dynamics.h"]
    program = from_data(made.certificate["program"])
    for group in program.inputs:
        if group.name != "parameters":
            assert f"{group.name}[{group.size}]  in [{made.certificate['units'][group.name]}]" in text
    assert f"tau[{len(program.outputs[0].entries)}]  out [N m, N]" in text
    assert "#ifndef EMDEG_LAB_JPL_RRP_INVERSE_DYNAMICS_H" in text


def test_a_changed_library_is_found_out(tmp_path):
    library("planar2r", tmp_path, ["gravity", "mass_matrix"])
    path = tmp_path / "planar2r_shared.c"
    assert recheck_file(path)[0]["library"]["members"] == ["planar2r_gravity.c", "planar2r_mass_matrix.c"]
    for name in ("planar2r_shared.c", "planar2r_shared.h", "CMakeLists.txt", "planar2r_gravity.c"):
        kept = (tmp_path / name).read_text()
        (tmp_path / name).write_text(kept.replace("planar2r", "planar3r", 1))
        with pytest.raises(NotCertified):
            recheck_file(path)
        (tmp_path / name).write_text(kept)
    kept = (tmp_path / "planar2r_gravity.h").read_text()
    (tmp_path / "planar2r_gravity.h").write_text(kept.replace("rad", "deg"))
    with pytest.raises(NotCertified, match=r"planar2r_gravity\.h, which lies beside it, was changed"):
        recheck_file(tmp_path / "planar2r_gravity.c")


def test_all_is_every_function_but_derivatives_of_functions():
    names = every_function(emdeg.load("planar2r"))
    assert {"inverse_dynamics", "gravity", "jacobian", "mass_matrix+bias"} <= set(names)
    assert not [name for name in names if name.endswith(("_vjp", "_with_friction"))]


@pytest.mark.parametrize("name", ["math", "test", "size", "type", "1arm", "core", "gravity"])
def test_a_library_is_not_called_what_its_language_calls_its_own(name):
    """C's headers and CMake's targets, MATLAB's functions, Rust's crates: the functions' names stay."""
    called = name if name == "gravity" else f"robot_{name}"
    for target in ("c", "octave", "rust"):
        made = generate("planar2r", ["gravity", "mass_matrix"], target, name=name, library=True, effort=0)
        stem = made[0].file.split(".")[0]
        beside = made[0].beside
        if target == "c":
            assert f"{called}.h" in beside
            assert f"add_library({called}" in beside["CMakeLists.txt"]
        elif target == "octave":
            text = beside[f"{called}.m"]
            assert f"classdef {called}" in text
            assert "function g = gravity(q)" in text
            assert "function M = mass_matrix(q)" in text
        else:
            assert f'name = "{called}"' in beside["Cargo.toml"]
            assert f"pub use {stem}::*;" in beside["lib.rs"]


def test_two_functions_of_one_name_are_not_in_one_folder():
    """`momentum` at the faster rate is called as the function `momentum_rates` is."""
    robot = emdeg.load("planar2r")
    assert "momentum_rates" in every_function(robot)
    assert "momentum" in every_function(robot, multirate=True)
    assert "momentum_rates" not in every_function(robot, multirate=True)
    with pytest.raises(BadRequest, match="momentum_rates is also the name of a part of momentum"):
        generate(robot, ["momentum", "momentum_rates"], multirate=True, effort=0)
    assert len(generate(robot, ["momentum", "momentum_rates"], effort=0)) == 2


def test_a_target_without_libraries_says_which_have_them():
    with pytest.raises(BadRequest, match="--library: for --target c"):
        generate("planar2r", "gravity", "numpy", library=True)
