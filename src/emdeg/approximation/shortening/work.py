"""What the parts of a search take, in nominal seconds: counted, so that a search ends at the same place everywhere.

The numbers are what one core of a slow machine takes, and some more; `Effort` says what nominal seconds are for. They
must not depend on anything but what is done.
"""

from __future__ import annotations

from emdeg.programs import Program

SEARCHING = 2.2
"""What a nominal second of a search for a small exact program takes."""
LEAST_SEARCH = 0.5
"""Seconds below which searching for a program takes longer by its beginning and its verification than by the search."""


def sweep(size: int, states: int, times: int = 1) -> float:
    """Every value of a program of so many at states, some times."""
    return times * size * (1.4e-6 + 1.1e-9 * states)


def slopes(size: int, outputs: int, states: int) -> float:
    """The outputs' derivatives in every value at states."""
    return size * (4e-6 + 2e-9 * outputs * states)


def fit(numbers: int, entries: int) -> float:
    """The best change of so many numbers for errors of so many entries: what it is told from."""
    return 1e-3 + 3e-11 * numbers**2 * entries + 6e-9 * numbers * entries + 4e-10 * numbers**3


def ranking(moves: int, numbers: int, entries: int) -> float:
    """Prices of moves."""
    return moves * (6e-5 + 8e-9 * entries + 1.2e-10 * numbers * entries)


def rewriting(program: Program) -> float:
    """A program traced anew, with what is told of it beside."""
    return 4e-5 * program.size


def compiling(program: Program) -> float:
    """Machine code of a program."""
    return 0.01 + 2.5e-4 * program.size


def calls(program: Program, states: int) -> float:
    """A compiled program's outputs at states."""
    return 2e-5 + 1.2e-9 * program.size * states


def degrees(program: Program) -> float:
    """The degrees of a program's outputs, modulo a prime."""
    return 4e-4 * program.size


def interpolating(coefficients: int) -> float:
    """So many coefficients from values at nodes."""
    return 0.02 + 1.5e-7 * coefficients


def row(coefficients: int, products: int, columns: int) -> float:
    """What bounds of one output are told from: so many coefficients, products that have one, columns times formulas."""
    return 0.02 + 1e-7 * coefficients + 1e-9 * products * columns


def bounding(points: int, values: int) -> float:
    """Points looked at for a bound, of so many numbers together."""
    return 3e-4 + 2e-8 * points + 5.2e-9 * values
