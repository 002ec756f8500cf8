"""Emitted C, compiled and called: what a machine makes of the text itself, of every function that it offers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emdeg.programs import Program, split_constants, split_rates

COMPILERS = ("cc", "gcc", "clang")
SECONDS = 60
"""A compiler that takes longer is not waited for."""
LONGEST = 2_000_000
"""Characters of a text that is compiled."""

Run = Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
"""Inputs by name, one row a state -> outputs by name."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What executes a text: itself the function; `others`, by name, further ones of the file that compute the same."""

    main: Run
    others: Mapping[str, Run]

    def __call__(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        return self.main(states)


def compiled_c(
    text: str,
    name: str,
    program: Program,
    single: bool = False,
    batch: bool = False,
    casadi: bool = False,
    multirate: bool = False,
    **more: object,
) -> Executed | None:
    """The function `name` of emitted C as a function of arrays, one row a state; None where no compiler is at hand.

    With the functions that `batch`, `casadi` and `multirate` add; further options add none.
    """
    compiler = next((found for each in COMPILERS if (found := shutil.which(each))), None)
    if compiler is None or len(text) > LONGEST:
        return None
    with tempfile.TemporaryDirectory(prefix="emdeg-") as folder:
        source, library = Path(folder, "artefact.c"), Path(folder, "artefact.so")
        source.write_text(text)
        optimise = "-O1" if len(text) < LONGEST // 10 else "-O0"
        words = [compiler, "-std=c99", optimise, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        try:
            subprocess.run(words, check=True, capture_output=True, timeout=SECONDS, cwd=folder)
            loaded = ctypes.CDLL(str(library))
        except (OSError, subprocess.SubprocessError):
            return None
    called = CalledC(loaded, replace(program, name=name), np.dtype(np.float32 if single else np.float64))
    others: dict[str, Run] = {}
    if batch:
        others[f"{name}_batch"] = called.batch
    if casadi and not single:  # CasADi knows doubles alone
        others[f"{name}_casadi"] = called.casadi
    if multirate:
        others[f"{name}_rates"] = called.rates
    if not all(hasattr(loaded, one) for one in (name, *others)):
        return None
    return Executed(called.plain, others)


@dataclass(frozen=True, slots=True)
class CalledC:
    """A loaded library and the program that its functions compute, called as each of them wants it."""

    loaded: ctypes.CDLL
    program: Program
    dtype: np.dtype

    def plain(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The function itself, state by state."""
        _, main = split_constants(self.program)
        return self._each(states, lambda at: self._call(main, at))

    def rates(self, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Its two rates, one after the other."""
        _, main = split_constants(self.program)
        slow, fast = split_rates(main)
        return self._each(states, lambda at: self._call(fast, {**at, **self._call(slow, at)}))

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
            arrays = [np.ascontiguousarray(at[group.name], np.float64) for group in self.program.inputs]
            shapes = [group.shape[::-1] if len(group.shape) == 2 else group.shape for group in self.program.outputs]
            found = [np.full(shape, np.nan) for shape in shapes]
            given, wanted = ((ctypes.c_void_p * len(list_))(*map(_address, list_)) for list_ in (arrays, found))
            self._entry("_casadi")(given, wanted, None, None, 0)
            return {g.name: a.T if a.ndim == 2 else a for g, a in zip(self.program.outputs, found)}

        return _rows(states, call)

    def _each(
        self, states: Mapping[str, NDArray], call: Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
    ) -> dict[str, NDArray]:
        """State by state, each with its constants."""
        constants, _ = split_constants(self.program)

        def prepared(at: Mapping[str, NDArray]) -> dict[str, NDArray]:
            return call(at if constants is None else {**at, **self._call(constants, at)})

        return _rows(states, prepared)

    def _call(self, part: Program, at: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """One function at one state."""
        arrays = [np.ascontiguousarray(at[group.name], self.dtype) for group in part.inputs]
        found = [np.full(group.shape, np.nan, self.dtype) for group in part.outputs]
        self._entry(part.name.removeprefix(self.program.name))(*map(_address, [*arrays, *found]))
        return {group.name: array for group, array in zip(part.outputs, found)}

    def _many(self, main: Program, states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        count = next(len(states[group.name]) for group in main.inputs if group.name != "constants")
        arrays = [
            np.ascontiguousarray(states[group.name].T if group.name != "constants" else states["constants"], self.dtype)
            for group in main.inputs
        ]
        found = [np.full((len(group.entries), count), np.nan, self.dtype) for group in main.outputs]
        self._entry("_batch")(ctypes.c_size_t(count), *map(_address, [*arrays, *found]))
        return {group.name: array.T.reshape(count, *group.shape) for group, array in zip(main.outputs, found)}

    def _entry(self, ending: str) -> Callable[..., None]:
        entry = getattr(self.loaded, self.program.name + ending)
        entry.restype = None
        return entry


def _address(array: NDArray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _rows(
    states: Mapping[str, NDArray], call: Callable[[Mapping[str, NDArray]], dict[str, NDArray]]
) -> dict[str, NDArray]:
    """The outputs of every state."""
    rows = len(next(iter(states.values())))
    found = [call({name: array[row] for name, array in states.items()}) for row in range(rows)]
    return {name: np.stack([one[name] for one in found]) for name in found[0]}
