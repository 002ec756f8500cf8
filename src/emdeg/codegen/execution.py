"""Emitted C, compiled and called: what a machine makes of the text itself, of every function that it offers.

What executes a text is an `Executed`, whatever the language; where that cannot be done here, `NotExecutable` says why.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emdeg.codegen.c.acados import acados_called
from emdeg.documents import Shown
from emdeg.errors import NotExecutable, Refuted
from emdeg.programs import (
    Companion,
    Program,
    along_lines_of,
    companions_of,
    evaluate,
    split_constants,
    split_rates,
    split_shared,
)

COMPILERS = ("cc", "gcc", "clang")
SECONDS = 60
"""A compiler that takes longer is not waited for."""
LONGEST = 2_000_000
"""Characters of a text that is compiled."""

Run = Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
"""Inputs by name, one row a state -> outputs by name."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What executes a text: itself the function, `others`, by name, further ones of the file that compute the same.

    `slopes`, by name, compute derivatives: of each what `emdeg.programs.along_lines` asks, as far as it has that.
    """

    main: Run
    others: Mapping[str, Run] = field(default_factory=dict)
    by: str = ""
    slopes: Mapping[str, Run] = field(default_factory=dict)
    slopes_held: Mapping[str, Run] = field(default_factory=dict)
    """Derivatives likewise, that leave open parameters as they are."""
    left_out: str = ""
    """What of the file is not called, in words."""

    def __call__(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        return self.main(states)

    def functions(self, name: str) -> tuple[str, ...]:
        """What of the file is called, the function's own name first."""
        return tuple(dict.fromkeys([name, *self.others, *self.slopes, *self.slopes_held]))


@dataclass(frozen=True, slots=True)
class Execution(Shown):
    """What of a text was executed: by what (a compiler, an interpreter), which of its functions; or why it was not."""

    by: str = ""
    functions: tuple[str, ...] = ()
    not_because: str = ""


def tool_of(names: Sequence[str]) -> str:
    """The path of the first of these commands that there is; NotExecutable where there is none."""
    found = next((found for each in names if (found := shutil.which(each))), None)
    if found is None:
        raise NotExecutable(f"there is no {' or '.join(names)} here")
    return found


def printed_by(words: Sequence[str], folder: Path, given: Path | None = None, *, building: bool = False) -> str:
    """What a command prints in that folder; Refuted where it fails, NotExecutable where it cannot be had.

    `building`: it makes of the text what can be run; a tool may be too old, or lack a library, so that failing there
    says nothing about the text.
    """
    tool = Path(words[0]).name
    try:
        with open(given or os.devnull, "rb") as stdin:
            done = subprocess.run(words, stdin=stdin, capture_output=True, timeout=SECONDS, cwd=folder)
    except (OSError, subprocess.SubprocessError):
        raise NotExecutable(f"{tool} cannot be run, or takes too long") from None
    if done.returncode and building:
        raise NotExecutable(f"{tool} makes nothing of it that can be run")
    if done.returncode < 0 and Path(words[0]).is_absolute():  # an interpreter that finds no memory, say
        raise NotExecutable(f"{tool} is ended by signal {-done.returncode}")
    if done.returncode:
        raise Refuted("executed, its text fails")
    return done.stdout.decode("utf-8", "replace")


def compiled_c(
    text: str,
    name: str,
    program: Program,
    single: bool = False,
    batch: bool = False,
    casadi: bool = False,
    multirate: bool = False,
    acados: bool = False,
    slopes: Program | None = None,
    **more: object,
) -> Executed:
    """The function `name` of emitted C as a function of arrays, one row a state.

    With the functions that `batch`, `casadi`, `acados` and `multirate` add; `slopes` as they were emitted with.
    """
    compiler, loaded = _loaded_c(text)
    called = CalledC(loaded, replace(program, name=name), np.dtype(np.float32 if single else np.float64))
    others: dict[str, Run] = {}
    derivatives: dict[str, Run] = {}
    held: dict[str, Run] = {}
    if batch:
        others[f"{name}_batch"] = called.batch
    if casadi and not single:  # CasADi knows doubles alone
        others[f"{name}_casadi"] = called.casadi
        derivatives = {f"{one.prefix}_{name}_casadi": called.companion(one) for one in companions_of(program, slopes)}
    if multirate:
        others[f"{name}_rates"] = called.rates
    if acados and not single:
        same, held = called.acados()
        others |= same
    if missing := [one for one in (name, *others, *derivatives, *held) if not hasattr(loaded, one)]:
        raise Refuted(f"{name}: compiled, it has no function {missing[0]}")
    return Executed(called.plain, others, Path(compiler).name, derivatives, held)


def _loaded_c(text: str) -> tuple[str, ctypes.CDLL]:
    """(the compiler's path, the library that it made of C)."""
    compiler = tool_of(COMPILERS)
    if len(text) > LONGEST:
        raise NotExecutable("it is too long to be compiled here")
    with tempfile.TemporaryDirectory(prefix="emdeg-") as folder:
        source, library = Path(folder, "artefact.c"), Path(folder, "artefact.so")
        source.write_text(text, encoding="utf-8")
        optimise = "-O1" if len(text) < LONGEST // 10 else "-O0"
        words = [compiler, "-std=c99", optimise, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        printed_by(words, Path(folder), building=True)
        try:
            return compiler, ctypes.CDLL(str(library))
        except OSError:
            raise NotExecutable("what is compiled here cannot be loaded") from None


def compiled_c_library(
    files: Mapping[str, str], name: str, programs: Mapping[str, Program], single: bool = False, **more: object
) -> dict[str, Executed]:
    """Each function of a library by the one that takes what is computed once for all; by the function's own name."""
    stem = f"{name}_shared"
    compiler, loaded = _loaded_c(files[f"{stem}.c"])
    first, rests = split_shared([replace(program, name=of) for of, program in programs.items()], stem)
    kind = np.dtype(np.float32 if single else np.float64)

    def together(program: Program, rest: Program) -> Run:
        called = CalledC(loaded, program, kind)

        def at(state: Mapping[str, NDArray]) -> dict[str, NDArray]:
            found = called.call(rest, {**state, **called.call(first, state)})
            return {own.name: found[handed.name] for own, handed in zip(program.outputs, rest.outputs)}

        return lambda states: _rows(states, at)

    by = Path(compiler).name
    return {
        of: Executed(together(program, rest), by=by)
        for (of, program), rest in zip(programs.items(), rests, strict=True)
    }


@dataclass(frozen=True, slots=True)
class CalledC:
    """A loaded library, functions by name, and the program that they compute, called as each of them wants it."""

    loaded: object
    program: Program
    dtype: np.dtype

    def plain(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The function itself, state by state."""
        _, main = split_constants(self.program)
        return self._each(states, lambda at: self.call(main, at))

    def rates(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Its two rates, one after the other."""
        _, main = split_constants(self.program)
        slow, fast = split_rates(main)
        return self._each(states, lambda at: self.call(fast, {**at, **self.call(slow, at)}))

    def batch(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """All states in one call, component by component; with open parameters each of them three times."""
        constants, main = split_constants(self.program)
        if constants is None:
            return self._many(main, states)

        def thrice(at: Mapping[str, NDArray]) -> dict[str, NDArray]:
            many = {name: array if name == "constants" else np.tile(array, (3, 1)) for name, array in at.items()}
            return {name: array[-1] for name, array in self._many(main, many).items()}

        return self._each(states, thrice)

    def casadi(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """By CasADi's interface: arrays of pointers, matrices column by column."""

        def call(at: Mapping[str, NDArray]) -> dict[str, NDArray]:
            shapes = [group.shape[::-1] if len(group.shape) == 2 else group.shape for group in self.program.outputs]
            arrays = [at[group.name] for group in self.program.inputs]
            found = _by_pointers(self._entry(f"{self.program.name}_casadi"), arrays, shapes)
            return {g.name: a.T if a.ndim == 2 else a for g, a in zip(self.program.outputs, found)}

        return _rows(states, call)

    def acados(self) -> tuple[dict[str, Run], ...]:
        """acados' functions: those that compute this one, and those that compute its derivatives."""

        def call(name: str, given: Sequence[NDArray], shapes: Sequence[tuple[int, ...]]) -> list[NDArray]:
            return _by_pointers(self._entry(name), given, shapes)

        same, slopes = acados_called(self.program, self.program.name, call)
        return tuple({name: partial(_rows, call=run) for name, run in of.items()} for of in (same, slopes))

    def companion(self, one: Companion) -> Run:
        """A derivative that CasADi looks for, along the lines of `along_lines`."""
        name = f"{one.prefix}_{self.program.name}_casadi"

        def call(at: Mapping[str, NDArray]) -> dict[str, NDArray]:
            given, contracted = along_lines_of(one, self.program, at)
            shapes = [(len(pattern.places),) for _, pattern in one.outputs]
            found = _by_pointers(self._entry(name), [given.get(name) for name, _ in one.inputs], shapes)
            return contracted({name: array for (name, _), array in zip(one.outputs, found)})

        return lambda states: _rows(states, call)

    def _each(
        self, states: Mapping[str, NDArray], call: Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
    ) -> dict[str, NDArray]:
        """State by state, each with its constants."""
        constants, _ = split_constants(self.program)

        def prepared(at: Mapping[str, NDArray]) -> dict[str, NDArray]:
            return call(at if constants is None else {**at, **self.call(constants, at)})

        return _rows(states, prepared)

    def call(self, part: Program, at: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """One function at one state."""
        arrays = [np.ascontiguousarray(at[group.name], self.dtype) for group in part.inputs]
        found = [np.full(group.shape, np.nan, self.dtype) for group in part.outputs]
        self._entry(part.name)(*map(_address, [*arrays, *found]))
        return {group.name: array for group, array in zip(part.outputs, found)}

    def _many(self, main: Program, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        count = next(len(states[group.name]) for group in main.inputs if group.name != "constants")
        arrays = [
            np.ascontiguousarray(states[group.name].T if group.name != "constants" else states["constants"], self.dtype)
            for group in main.inputs
        ]
        found = [np.full((len(group.entries), count), np.nan, self.dtype) for group in main.outputs]
        self._entry(f"{self.program.name}_batch")(ctypes.c_size_t(count), *map(_address, [*arrays, *found]))
        return {group.name: array.T.reshape(count, *group.shape) for group, array in zip(main.outputs, found)}

    def _entry(self, name: str) -> Callable[..., None]:
        entry = getattr(self.loaded, name)
        entry.restype = None
        return entry


def interpreted_companion(one: Companion, program: Program) -> Run:
    """A derivative that CasADi looks for in the program's doubles, along the lines of `along_lines`: no text at all."""

    def call(at: Mapping[str, NDArray]) -> dict[str, NDArray]:
        given, contracted = along_lines_of(one, program, at)
        found = evaluate(one.program, {group.name: given[group.name] for group in one.program.inputs})
        return contracted({name: found.get(name, np.zeros(0)) for name, _ in one.outputs})

    return lambda states: _rows(states, call)


def _by_pointers(
    entry: Callable[..., object], given: Sequence[NDArray | None], shapes: Sequence[tuple[int, ...]]
) -> list[NDArray]:
    """The results of a function that takes arrays of pointers, as CasADi calls it; nothing for what is not given."""
    arrays = [None if one is None else np.ascontiguousarray(one, np.float64) for one in given]
    found = [np.full(shape, np.nan) for shape in shapes]
    pointers = ((ctypes.c_void_p * len(many))(*map(_address, many)) for many in (arrays, found))
    entry(*pointers, None, None, 0)
    return found


def _address(array: NDArray | None) -> ctypes.c_void_p | None:
    if array is None:
        return None
    return array.ctypes.data_as(ctypes.c_void_p)


def _rows(
    states: Mapping[str, NDArray], call: Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
) -> dict[str, NDArray]:
    """The outputs of every state."""
    rows = len(next(iter(states.values())))
    found = [call({name: array[row] for name, array in states.items()}) for row in range(rows)]
    return {name: np.stack([one[name] for one in found]) for name in found[0]}
