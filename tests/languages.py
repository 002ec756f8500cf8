"""Emitted files run in their own languages: many files in one process a language, numbers in, numbers out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

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

    @property
    def given(self) -> list[tuple[str, int]]:
        """Name and size of the arrays that no function of the file computes."""
        sizes = {group.name: group.size for part in self.functions for group in part.inputs}
        return [(name, size) for name, size in sizes.items() if name not in MADE]

    @property
    def stem(self) -> str:
        return Path(self.file).stem


def ran(program: Program, name: str, suffix: str, text: str, states, multirate: bool = False) -> Ran:
    return Ran(name + suffix, text, parts(program, name, multirate), states)


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
