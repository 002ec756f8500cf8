"""Linear algebra on one thread, for searches that multiply thousands of small matrices.

OpenBLAS divides a product among the cores, and threads that wait for the next one keep their cores busy: where the
matrices are small, or others need the machine, that takes many times the processor's time that one thread does. And
what a search finds in its time then depends on who else is there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import scipy


@contextmanager
def one_thread() -> Iterator[None]:
    """While it lasts products of matrices run on one thread, where NumPy and SciPy carry an OpenBLAS that can do so."""
    switches = _switches()
    before = [threads() for threads, _ in switches]
    for _, use in switches:
        use(1)
    try:
        yield
    finally:
        for (_, use), number in zip(switches, before):
            use(number)


@cache
def _switches() -> tuple[tuple[Callable[[], int], Callable[[int], None]], ...]:
    """Of each OpenBLAS that wheels carry: what tells its number of threads, and what sets it."""
    found = []
    for package in (np, scipy):
        folder = Path(package.__path__[0]).parent / f"{package.__name__}.libs"
        for path in sorted(folder.glob("*openblas*")):
            ending = "64_" if "openblas64" in path.name else ""
            try:
                library = ctypes.CDLL(str(path))
                threads, use = (
                    getattr(library, f"scipy_openblas_{what}_num_threads{ending}") for what in ("get", "set")
                )
            except (OSError, AttributeError):  # another library, which is left as it is
                continue
            threads.restype, use.argtypes, use.restype = ctypes.c_int, [ctypes.c_int], None
            found.append((threads, use))
    return tuple(found)
