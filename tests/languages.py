"""Emitted files run in their own languages, as `emdeg.codegen.languages` does it; here warnings are errors."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from emdeg.codegen.languages import DRIVERS, NUMBERS, Called, gathered

SECONDS = 600


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


def run_files(target: str, files: Sequence[Called], folder: Path):
    """[file][state] {function.output: array}: what a language makes of files; its compiler finds nothing in them."""
    driver = DRIVERS[target]
    need(driver.tool)
    driver.prepare(files, folder)
    if target == "rust":
        _clippy(files, folder)
    for words in STRICT.get(target, ()):
        told(words, folder)
    if driver.build:
        told(driver.build, folder)
    with (folder / NUMBERS).open() as numbers:
        return gathered(files, told(driver.run, folder, stdin=numbers))


_WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-fsyntax-only"]
STRICT = {
    "cpp": [["g++", "-std=c++17", *_WARNINGS, "driver.cpp"]],
    "fortran": [["gfortran", "-std=f2008", *_WARNINGS, "driver.f90"]],
}
"""Commands that complain where there is something to complain about."""


def _clippy(files: Sequence[Called], folder: Path) -> None:
    """Nothing, if clippy finds nothing in the modules of a crate without `std`."""
    need("cargo")
    (folder / "lib.rs").write_text("\n".join(["#![no_std]", *(f"pub mod f{k};" for k in range(len(files))), ""]))
    package = '[package]\nname = "emitted"\nversion = "0.1.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
    (folder / "Cargo.toml").write_text(package)
    told(["cargo", "clippy", "--quiet", "--offline", "--lib", "--", "-D", "warnings"], folder)
