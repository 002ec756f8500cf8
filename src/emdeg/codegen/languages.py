"""Emitted files run in their own languages: a driver reads numbers, calls every function of the files, tells numbers.

One process runs many files. A language is data: the tools it needs, who writes its driver, the commands that build and
run it. Drivers read `numbers.txt` or the standard input, which hold the same, and print.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emdeg.codegen.execution import LONGEST, Executed, Run, printed_by, tool_of
from emdeg.codegen.infix import parts
from emdeg.codegen.octave import beside_octave
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import OutputGroup, Program

MADE = ("constants", "x")
"""Arrays that one function of a file computes for another."""
NUMBERS = "numbers.txt"


@dataclass(frozen=True, slots=True)
class Called:
    """A file, its functions in the order in which they can be called, and the arrays that the first ones take."""

    file: str
    text: str
    functions: Sequence[Program]
    states: Sequence[Mapping[str, NDArray]]
    beside: Mapping[str, str] = field(default_factory=dict)
    single: bool = False

    @property
    def given(self) -> list[tuple[str, int]]:
        """Name and size of the arrays that no function of the file computes."""
        sizes = {group.name: group.size for part in self.functions for group in part.inputs}
        return [(name, size) for name, size in sizes.items() if name not in MADE]

    @property
    def stem(self) -> str:
        return Path(self.file).stem


@dataclass(frozen=True, slots=True)
class LanguageDriver:
    """How a language's files are run: `write` puts them and the driver into a folder; `build` and `run` are commands.

    The first word of a command is a tool that must be at hand; what `run` prints are the results.
    """

    write: Callable[[Sequence[Called], Path], None]
    suffix: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    beside: Callable[..., Mapping[str, str]] | None = None

    @property
    def tool(self) -> str:
        return (*self.build, *self.run)[0]

    def prepare(self, files: Sequence[Called], folder: Path) -> None:
        """Put everything into the folder that the commands need."""
        arrays = (np.ravel(state[name]) for one in files for state in one.states for name, _ in one.given)
        numbers = "".join(f"{float(value)!r}\n" for array in arrays for value in array)
        (folder / NUMBERS).write_text(numbers, encoding="utf-8")
        self.write(files, folder)


def gathered(files: Sequence[Called], printed: str) -> list[list[dict[str, NDArray]]]:
    """[file][state] {function.output: array} from what a driver printed; Refuted where that is not what was asked."""
    words = printed.split()
    wanted = sum(len(g.entries) * len(one.states) for one in files for part in one.functions for g in part.outputs)
    if len(words) != wanted:
        raise Refuted(f"executed, it yields {len(words)} numbers instead of {wanted}")
    numbers = iter(map(float, words))

    def taken(group: OutputGroup) -> NDArray:
        return np.array([next(numbers) for _ in group.entries]).reshape(group.shape)

    def of_state(one: Called) -> dict[str, NDArray]:
        return {f"{part.name}.{group.name}": taken(group) for part in one.functions for group in part.outputs}

    return [[of_state(one) for _ in one.states] for one in files]


def called(
    target: str, text: str, program: Program, name: str, states: Sequence[Mapping[str, NDArray]], **options: bool
) -> Called:
    """A file of a language of DRIVERS with those that go with it, to be called at these states."""
    driver, multirate = DRIVERS[target], options.get("multirate", False)
    beside = {} if driver.beside is None else driver.beside(text, program, name=name, multirate=multirate)
    functions = parts(program, name, multirate)
    return Called(name + driver.suffix, text, functions, states, beside, options.get("single", False))


def _spoken(target: str, text: str, name: str, program: Program, **options: bool) -> Executed:
    """The function `name` of a file in a language of DRIVERS, and its rates; NotExecutable where that cannot be."""
    driver = DRIVERS[target]
    tool = tool_of([driver.tool])
    if len(text) > LONGEST // 10:
        raise NotExecutable("it is too long to be executed here")

    def results(states: Mapping[str, NDArray]) -> list[dict[str, NDArray]]:
        rows = len(next(iter(states.values())))
        at = [{key: array[row] for key, array in states.items()} for row in range(rows)]
        file = called(target, text, program, name, at, **options)
        with tempfile.TemporaryDirectory(prefix="emdeg-") as place:
            folder = Path(place)
            driver.prepare([file], folder)
            if driver.build:
                printed_by([tool, *driver.build[1:]], folder, building=True)
            run = driver.run if driver.build else (tool, *driver.run[1:])
            (found,) = gathered([file], printed_by(run, folder, folder / NUMBERS))
        return found

    def ending(suffix: str) -> Run:
        def run(states: Mapping[str, NDArray]) -> dict[str, NDArray]:
            found, dtype = results(states), np.float32 if options.get("single") else np.float64
            return {
                group.name: np.stack([one[f"{name}{suffix}.{group.name}"] for one in found]).astype(dtype)
                for group in program.outputs
            }

        return run

    others = {f"{name}_rates": ending("_rates")} if options.get("multirate") else {}
    return Executed(ending(""), others, by=driver.tool)


def _write_js(files: Sequence[Called], folder: Path) -> None:
    """ES modules, for node."""
    lines = [
        "import {readFileSync} from 'node:fs';",
        f"const numbers = readFileSync('{NUMBERS}', 'utf8').trim().split(/\\s+/).map(Number);",
        "let at = 0;",
        "const read = (size) => numbers.slice(at, at += size);",
        "const out = [];",
        "const told = (arrays) => arrays.forEach((array) => array.forEach((value) => out.push(value)));",
    ]
    for k, one in enumerate(files):
        (folder / f"f{k}.mjs").write_text(one.text, encoding="utf-8")
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
    (folder / "driver.mjs").write_text("\n".join(lines), encoding="utf-8")


def _write_cpp(files: Sequence[Called], folder: Path) -> None:
    """Headers of templates, taken at double."""
    lines, steps = ["#include <cstdio>", "#include <cstddef>"], []
    for k, one in enumerate(files):
        (folder / f"f{k}.hpp").write_text(one.text, encoding="utf-8")
        lines.append(f'#include "f{k}.hpp"')
        steps += [f"static void run{k}() {{ for (int k = 0; k < {len(one.states)}; ++k) {{"]
        steps += [f"    const auto {name} = read<{size}>();" for name, size in one.given]
        for place, part in enumerate(one.functions):
            made = [group.name if group.name in MADE else f"{group.name}_{place}" for group in part.outputs]
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
    (folder / "driver.cpp").write_text("\n".join(lines), encoding="utf-8")


def _write_rust(files: Sequence[Called], folder: Path) -> None:
    """Modules of one program."""
    modules, steps = [], []
    for k, one in enumerate(files):
        real = "f32" if one.single else "f64"
        (folder / f"f{k}.rs").write_text(one.text, encoding="utf-8")
        modules.append(f"mod f{k};")
        steps += [f"fn run{k}(read: &mut dyn FnMut(usize) -> Vec<f64>) {{", f"    for _ in 0..{len(one.states)} {{"]
        steps += [
            f"        let {name}: Vec<{real}> = read({size}).iter().map(|&x| x as {real}).collect();"
            for name, size in one.given
        ]
        for part in one.functions:
            names = [group.name for group in part.outputs]
            steps += [f"        let mut {g.name} = vec![{real}::NAN; {len(g.entries)}];" for g in part.outputs]
            arguments = [f"&{group.name}" for group in part.inputs] + [f"&mut {name}" for name in names]
            steps.append(f"        f{k}::{part.name}({', '.join(arguments)});")
            steps += [f'        for value in &{name} {{ println!("{{:e}}", f64::from(*value)); }}' for name in names]
        steps += ["    }", "}"]
    lines = [
        "#![allow(warnings)]",
        "use std::io::Read;",
        *modules,
        *steps,
        "fn main() {",
        "    let mut text = String::new();",
        "    std::io::stdin().read_to_string(&mut text).unwrap();",
        "    let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().unwrap());",
        "    let mut read = |size: usize| (0..size).map(|_| numbers.next().unwrap()).collect::<Vec<f64>>();",
        *(f"    run{k}(&mut read);" for k in range(len(files))),
        "}",
    ]
    (folder / "driver.rs").write_text("\n".join(lines), encoding="utf-8")


def _write_fortran(files: Sequence[Called], folder: Path) -> None:
    """Modules and subroutines in one file."""
    lines: list[str] = [one.text for one in files]
    for k, one in enumerate(files):
        kind = "real32" if one.single else "real64"
        lines += [f"subroutine run{k}()", f"  use {one.stem}_module"]
        lines += [f"  use, intrinsic :: iso_fortran_env, only: {kind}", "  implicit none", "  integer :: k"]
        declared = {name: str(size) for name, size in one.given}
        for group in (group for part in one.functions for group in part.outputs):
            declared[group.name] = ", ".join(map(str, group.shape)) or "1"
        lines += [f"  real({kind}) :: {name}({shape})" for name, shape in declared.items()]
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
    (folder / "driver.f90").write_text("\n".join(lines), encoding="utf-8")


def _write_octave(files: Sequence[Called], folder: Path) -> None:
    """Function files, all states of a file in one call."""
    lines = [f"numbers = load('{NUMBERS}'); at = 0;"]
    for one in files:
        for name, text in {one.file: one.text, **one.beside}.items():
            (folder / name).write_text(text, encoding="utf-8")
        states = len(one.states)
        lines += [f"{name} = zeros({states}, {size});" for name, size in one.given]
        lines.append(f"for k = 1:{states}")
        for name, size in one.given:
            lines.append(f"  {name}(k, :) = numbers(at + 1 : at + {size}); at = at + {size};")
        lines.append("end")
        made = {
            (place, group.name): f"{group.name}{'' if group.name in MADE else f'_{place}'}"
            for place, part in enumerate(one.functions)
            for group in part.outputs
        }
        for place, part in enumerate(one.functions):
            outputs = ", ".join(made[place, group.name] for group in part.outputs)
            lines.append(f"[{outputs}] = {part.name}({', '.join(group.name for group in part.inputs)});")
        lines.append(f"for k = 1:{states}")
        for place, part in enumerate(one.functions):
            for group in part.outputs:
                name = made[place, group.name]
                if not group.entries:
                    continue
                if len(group.shape) < 2:
                    lines.append(f"  printf('%.17g\\n', {name}(k, :));")
                else:
                    axes = ", ".join(str(axis) for axis in range(len(group.shape), 0, -1))
                    page = f"reshape({name}({', '.join([':'] * len(group.shape))}, k), {list(group.shape)})"
                    lines.append(f"  printf('%.17g\\n', permute({page}, [{axes}]));")
        lines.append("end")
    (folder / "driver.m").write_text("\n".join(lines), encoding="utf-8")


_ALONE = ("./driver",)
DRIVERS: Mapping[str, LanguageDriver] = {
    "js": LanguageDriver(_write_js, ".mjs", ("node", "driver.mjs")),
    "cpp": LanguageDriver(_write_cpp, ".hpp", _ALONE, ("g++", "-std=c++17", "-O0", "driver.cpp", "-o", "driver")),
    "rust": LanguageDriver(_write_rust, ".rs", _ALONE, ("rustc", "--edition=2021", "driver.rs", "-o", "driver")),
    "fortran": LanguageDriver(_write_fortran, ".f90", _ALONE, ("gfortran", "-O0", "driver.f90", "-o", "driver")),
    "octave": LanguageDriver(
        _write_octave, ".m", ("octave", "--no-gui", "--quiet", "--norc", "driver.m"), beside=beside_octave
    ),
}
SPOKEN: Mapping[str, Callable[..., Executed]] = {target: partial(_spoken, target) for target in DRIVERS}
"""Who executes a file of each language, as `targets` wants it."""
