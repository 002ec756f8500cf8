"""Arrays of doubles that describe states: checked as they come, drawn at random, put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from emdeg.algebra import Array
from emdeg.errors import StateError


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where states are drawn at random: q about `home` (n,) by `room` (n,) at most [rad, m]; numbers for symbols.

    A symbol that is not named may have any number. The robot cannot be everywhere: outside nothing is known.
    """

    home: Array
    room: Array
    symbols: Mapping[str, float]

    def place(self, drawn: Array) -> Array:
        """q (..., n) from numbers between -1 and 1."""
        return self.home + self.room * drawn

    def numbers(self, names: Sequence[str], drawn: Array, reach: float = 0.02) -> Array:
        """Numbers (..., symbols) for symbols from numbers between -1 and 1: about their own, by `reach` of it."""
        return np.array([self.symbols.get(name, 1.0) for name in names]) * (1 + reach * drawn)

    def spread_numbers(self, names: Sequence[str], drawn: Array) -> Array:
        """`numbers` as far apart as the robot bears it."""
        return self.numbers(names, drawn)

    def configurations(self, drawn: Array) -> Array:
        """q (states, n) from numbers of any size: home first, then places about it."""
        first = np.arange(len(drawn)) == 0
        return self.place(np.where(first, 0.0, 0.4)[:, None] * np.sin(drawn))

    def inputs(self, name: str, labels: Sequence[str], drawn: Array, reach: float) -> Array:
        """The array `name` from numbers within `reach`: where it is q or the symbols' numbers, inside of this."""
        if name == "q":
            return self.place(drawn / reach)
        return self.numbers(labels, drawn / reach) if name == "parameters" else drawn


class Everywhere(Surroundings):
    """The states of a robot that can be at every q."""

    __slots__ = ()

    def spread_numbers(self, names: Sequence[str], drawn: Array) -> Array:
        return self.numbers(names, drawn, 0.5)

    def configurations(self, drawn: Array) -> Array:
        return drawn

    def inputs(self, name: str, labels: Sequence[str], drawn: Array, reach: float) -> Array:
        return drawn


ANYWHERE = Everywhere(np.zeros(0), np.zeros(0), {})
"""The region of a robot of which nothing else is known."""


def real_array(name: str, values: ArrayLike | None, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """The values as an array of that dtype; StateError where they are no real numbers."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise StateError(f"{name} is not an array of numbers") from None
    if array.dtype != dtype:
        if array.dtype.kind not in "fiu":
            raise StateError(f"{name} has dtype {array.dtype}, expected {np.dtype(dtype)}")
        array = array.astype(dtype)
    return array


def checked_arrays(
    arrays: Mapping[str, ArrayLike], size: int | Callable[[str], int], entry: Callable[[str], str]
) -> tuple[list[Array], tuple[int, ...]]:
    """The arrays as doubles of shape (..., size), and the shape their states have together; StateError otherwise.

    `size` may differ by the array's name; `entry` says what one entry of the named array stands for.
    """
    checked = []
    for name, values in arrays.items():
        n = size if isinstance(size, int) else size(name)
        array = real_array(name, values)
        if array.ndim == 0 or array.shape[-1] != n:
            raise StateError(
                f"{name} has shape {array.shape}; its last axis must have {n} entries, one a {entry(name)}"
            )
        checked.append(array)
    try:
        return checked, np.broadcast_shapes(*(array.shape[:-1] for array in checked))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(arrays, checked))
        raise StateError(f"the states do not fit together: {shapes}") from None


def stacked(values: Any, shape: tuple[int, ...]) -> Array:
    """Nested lists of scalars as one array, the states' axes first."""
    if not isinstance(values, list | tuple):
        return np.array(np.broadcast_to(values, shape), dtype=np.float64)
    if shape == () or not values:
        return np.array(np.broadcast_to(np.array(values, dtype=np.float64), (*shape, *np.shape(values))))
    return np.stack([stacked(value, shape) for value in values], axis=len(shape))
