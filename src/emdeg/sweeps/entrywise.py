"""What analyses ask of arrays, entry by entry: of numbers, or of traced values, which make a program of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from emdeg.programs import Traced, Tracer

Entries = Any
"""An array of numbers or of traced values, or one traced value."""


@dataclass(frozen=True)
class Entrywise:
    """What arrays can be asked beside sums, products and quotients, entry by entry: of numbers, or of traced values."""

    magnitude: Callable[[Entries], Entries]
    lesser: Callable[[Entries, Entries], Entries]
    is_positive: Callable[[Entries], Entries]
    """1 where it is, else 0."""
    root: Callable[[Entries], Entries]


NUMBERS = Entrywise(np.abs, np.minimum, lambda x: np.asarray(x > 0, np.float64), np.sqrt)


def traced_entries(tracer: Tracer) -> Entrywise:
    """The same of arrays of traced values, without rounding: a sign is 1, 0 or -1."""

    def lesser(a: Traced, b: Traced) -> Traced:
        greater = tracer.sign(a - b)
        return (a * (1 - greater) + b * (1 + greater)) * Fraction(1, 2)

    def is_positive(x: Traced) -> Traced:
        return tracer.sign(x) * (tracer.sign(x) + 1) * Fraction(1, 2)

    def over(one: Callable[..., Traced], entries: int) -> Callable[..., Entries]:
        every = np.frompyfunc(one, entries, 1)
        return lambda *arrays: every(*(np.asarray(array, object) for array in arrays))

    return Entrywise(over(lambda x: x * tracer.sign(x), 1), over(lesser, 2), over(is_positive, 1), over(tracer.sqrt, 1))
