"""Emitted files run in their own languages: many files in one process a language, numbers in, numbers out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from emdeg.codegen import TARGETS
from emdeg.codegen.infix import parts
from emdeg.programs import OutputGroup, Program

SECONDS = 600
MADE = ("constants", "x")
"""Arrays that one function of a file computes for another."""


@dataclass(frozen=True)
class Ran:
    """A file, its functions in the order in which they can be called, and the arrays that the first ones take."""

    file: str
    text: str
    functions: Sequence[Program]
    states: Sequence[dict[str, np.ndarray]]
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def given(self) -> list[tuple[str, int]]:
        """Name and size of the arrays that no function of the file computes."""
        sizes = {group.name: group.size for part in self.functions for group in part.inputs}
        return [(name, size) for name, size in sizes.items() if name not in MADE]

    @property
    def stem(self) -> str:
        return Path(self.file).stem


def ran(target: str, program: Program, name: str, text: str, states, multirate: bool = False) -> Ran:
    """An emitted text with the files that go with it, to be run at these states."""
    beside = TARGETS[target].beside
    files = {} if beside is None else beside(text, program, name=name, multirate=multirate, meaning="", units={})
    return Ran(name + TARGETS[target].suffix, text, parts(program, name, multirate), states, files)


def numbers_of(files: Iterable[Ran]) -> str:
    """Every array that the drivers read, in their order."""
    arrays = (np.ravel(state[name]) for one in files for state in one.states for name, _ in one.given)
    return "".join(f"{float(value)!r}\n" for array in arrays for value in array)


def gathered(files: Sequence[Ran], numbers: Iterator[float]) -> list[list[dict[str, np.ndarray]]]:
    """[file][state] {function.output: array} from the numbers that a driver printed."""

    def taken(group: OutputGroup) -> np.ndarray:
        return np.array([next(numbers) for _ in group.entries]).reshape(group.shape)

    found = [
        [
            {f"{part.name}.{group.name}": taken(group) for part in one.functions for group in part.outputs}
            for _ in one.states
        ]
        for one in files
    ]
    assert next(numbers, None) is None, "the driver printed more than was asked for"
    return found


def need(*commands: str) -> None:
    for command in commands:
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed (.ci/run installs it)")


def told(words: Sequence[str | Path], folder: Path, **more) -> str:
    """What a command prints; its errors are the test's."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False, **more
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def run_js(files: Sequence[Ran], folder: Path):
    """What node makes of ES modules."""
    need("node")
    lines = [
        "import {readFileSync} from 'node:fs';",
        "const numbers = readFileSync('numbers.txt', 'utf8').trim().split(/\\s+/).map(Number);",
        "let at = 0;",
        "const read = (size) => numbers.slice(at, at += size);",
        "const out = [];",
        "const told = (arrays) => arrays.forEach((array) => array.forEach((value) => out.push(value)));",
    ]
    for k, one in enumerate(files):
        (folder / f"f{k}.mjs").write_text(one.text)
        lines += [f"import * as m{k} from './f{k}.mjs';", f"for (let k = 0; k < {len(one.states)}; ++k) {{"]
        lines += [f"  let {name} = read({size});" for name, size in one.given]
        declared = {name for name, _ in one.given}
        for part in one.functions:
            names = [group.name for group in part.outputs]
            lines += [f"  let {name};" for name in names if name not in declared]
            declared |= set(names)
            call = f"m{k}.{part.name}({', '.join(group.name for group in part.inputs)})"
            lines.append(f"  [{', '.join(names)}] = {call if len(names) > 1 else f'[{call}]'};")
            lines.append(f"  told([{', '.join(names)}]);")
        lines.append("}")
    lines.append("process.stdout.write(out.join('\\n'));")
    (folder / "numbers.txt").write_text(numbers_of(files))
    (folder / "driver.mjs").write_text("\n".join(lines))
    return gathered(files, map(float, told(["node", "driver.mjs"], folder).split()))


def run_cpp(files: Sequence[Ran], folder: Path):
    """What g++ makes of headers of templates, warnings being errors."""
    need("g++")
    strict = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
    lines = ["#include <cstdio>", "#include <cstddef>"]
    steps = []
    for k, one in enumerate(files):
        (folder / f"f{k}.hpp").write_text(one.text)
        lines.append(f'#include "f{k}.hpp"')
        steps += [f"static void run{k}() {{ for (int k = 0; k < {len(one.states)}; ++k) {{"]
        steps += [f"    const auto {name} = read<{size}>();" for name, size in one.given]
        for place, part in enumerate(one.functions):
            made = [
                group.name if group.name in ("constants", "x") else f"{group.name}_{place}" for group in part.outputs
            ]
            call = f"emdeg::{part.name}<double>({', '.join(group.name for group in part.inputs)})"
            steps.append(f"    const auto {made[0] if len(made) == 1 else '[' + ', '.join(made) + ']'} = {call};")
            steps += [f"    tell({name});" for name in made]
        steps.append("} }")
    lines += [
        "template <std::size_t N> std::array<double, N> read() { std::array<double, N> a{}; for (auto &x : a)"
        ' if (std::scanf("%lf", &x) != 1) std::puts("short"); return a; }',
        "template <std::size_t N> void tell(const std::array<double, N> &a)",
        '{ for (auto x : a) std::printf("%.17g\\n", x); }',
        *steps,
        f"int main() {{ {' '.join(f'run{k}();' for k in range(len(files)))} }}",
    ]
    (folder / "driver.cpp").write_text("\n".join(lines))
    told(["g++", *strict, "driver.cpp", "-o", "driver"], folder)
    return gathered(files, map(float, told([folder / "driver"], folder, input=numbers_of(files)).split()))


def run_rust(files: Sequence[Ran], folder: Path):
    """What Cargo makes of modules in a crate without `std`, and clippy finds nothing in it."""
    need("cargo")
    modules, steps = ["#![no_std]"], []
    (folder / "src").mkdir()
    for k, one in enumerate(files):
        (folder / "src" / f"f{k}.rs").write_text(one.text)
        modules.append(f"pub mod f{k};")
        steps += [f"fn run{k}(read: &mut dyn FnMut(usize) -> Vec<f64>) {{", f"    for _ in 0..{len(one.states)} {{"]
        steps += [f"        let {name} = read({size});" for name, size in one.given]
        for part in one.functions:
            names = [group.name for group in part.outputs]
            steps += [f"        let mut {g.name} = vec![f64::NAN; {len(g.entries)}];" for g in part.outputs]
            arguments = [f"&{group.name}" for group in part.inputs] + [f"&mut {name}" for name in names]
            steps.append(f"        emitted::f{k}::{part.name}({', '.join(arguments)});")
            steps += [f"        tell(&{name});" for name in names]
        steps += ["    }", "}"]
    (folder / "src" / "lib.rs").write_text("\n".join([*modules, ""]))
    (folder / "src" / "main.rs").write_text(
        "\n".join(
            [
                "#![allow(non_snake_case, unused_mut)]",
                "use std::io::Read;",
                'fn tell(array: &[f64]) { for value in array { println!("{:e}", value); } }',
                *steps,
                "fn main() {",
                "    let mut text = String::new();",
                "    std::io::stdin().read_to_string(&mut text).unwrap();",
                "    let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().unwrap());",
                "    let mut read = |size: usize| (0..size).map(|_| numbers.next().unwrap()).collect::<Vec<f64>>();",
                *(f"    run{k}(&mut read);" for k in range(len(files))),
                "}",
            ]
        )
    )
    (folder / "Cargo.toml").write_text('[package]\nname = "emitted"\nversion = "0.1.0"\nedition = "2021"\n')
    told(["cargo", "clippy", "--quiet", "--offline", "--lib", "--", "-D", "warnings"], folder)
    printed = told(["cargo", "run", "--quiet", "--offline"], folder, input=numbers_of(files))
    return gathered(files, map(float, printed.replace("NaN", "nan").split()))


def run_fortran(files: Sequence[Ran], folder: Path):
    """What gfortran makes of modules of Fortran 2008, warnings being errors."""
    need("gfortran")
    strict = ["-std=f2008", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    lines: list[str] = []
    for k, one in enumerate(files):
        (folder / f"f{k}.f90").write_text(one.text)
        lines += [
            f"subroutine run{k}()",
            f"  use {one.stem}_module",
            "  use, intrinsic :: iso_fortran_env, only: real64",
        ]
        lines += ["  implicit none", "  integer :: k"]
        declared = {}
        for name, size in one.given:
            declared[name] = f"{size}"
        for group in (group for part in one.functions for group in part.outputs):
            declared[group.name] = ", ".join(map(str, group.shape)) or "1"
        lines += [f"  real(real64) :: {name}({shape})" for name, shape in declared.items()]
        lines.append(f"  do k = 1, {len(one.states)}")
        lines += [f"    read (*, *) {name}" for name, size in one.given if size]
        for part in one.functions:
            names = [group.name for group in (*part.inputs, *part.outputs)]
            lines.append(f"    call {part.name}({', '.join(names)})")
            for group in part.outputs:
                # Row by row: the last index runs fastest.
                order = ", ".join(str(axis) for axis in range(len(group.shape), 0, -1))
                turned = f"reshape({group.name}, [{', '.join(map(str, group.shape[::-1]))}], order=[{order}])"
                told_as = group.name if len(group.shape) < 2 else turned
                lines += [f"    write (*, '(es25.17e3)') {told_as}"] if group.entries else []
        lines += ["  end do", f"end subroutine run{k}"]
    lines += ["program driver", *(f"  call run{k}()" for k in range(len(files))), "end program driver", ""]
    (folder / "driver.f90").write_text("\n".join(lines))
    told(["gfortran", *strict, "-c", *(f"f{k}.f90" for k in range(len(files)))], folder)
    told(["gfortran", "-O0", "driver.f90", *(f"f{k}.o" for k in range(len(files))), "-o", "driver"], folder)
    return gathered(files, map(float, told([folder / "driver"], folder, input=numbers_of(files)).split()))


def run_octave(files: Sequence[Ran], folder: Path):
    """What GNU Octave makes of function files, all states of a file in one call."""
    need("octave")
    lines = ["numbers = load('numbers.txt'); at = 0;", "out = fopen('out.txt', 'w');"]
    for one in files:
        (folder / one.file).write_text(one.text)
        for name, text in one.beside.items():
            (folder / name).write_text(text)
        states = len(one.states)
        lines += [f"{name} = zeros({states}, {size});" for name, size in one.given]
        lines.append(f"for k = 1:{states}")
        for name, size in one.given:
            lines.append(f"  {name}(k, :) = numbers(at + 1 : at + {size}); at = at + {size};")
        lines.append("end")
        for place, part in enumerate(one.functions):
            made = [f"{group.name}{'' if group.name in MADE else f'_{place}'}" for group in part.outputs]
            inputs = ", ".join(group.name for group in part.inputs)
            lines.append(f"[{', '.join(made)}] = {part.name}({inputs});")
        lines.append(f"for k = 1:{states}")
        for place, part in enumerate(one.functions):
            for group in part.outputs:
                name = f"{group.name}{'' if group.name in MADE else f'_{place}'}"
                if not group.entries:
                    continue
                if len(group.shape) < 2:
                    lines.append(f"  fprintf(out, '%.17g\\n', {name}(k, :));")
                else:
                    axes = ", ".join(str(axis) for axis in range(len(group.shape), 0, -1))
                    page = f"reshape({name}({', '.join([':'] * len(group.shape))}, k), {list(group.shape)})"
                    lines.append(f"  fprintf(out, '%.17g\\n', permute({page}, [{axes}]));")
        lines.append("end")
    (folder / "numbers.txt").write_text(numbers_of(files))
    (folder / "driver.m").write_text("\n".join(lines))
    told(["octave", "--no-gui", "--quiet", "--norc", "driver.m"], folder)
    return gathered(files, map(float, (folder / "out.txt").read_text().split()))
