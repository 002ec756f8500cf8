"""The arrays a function of a model is asked for: what they must be, and what is wrong where they are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.errors import StateError


def checked_arrays(
    arrays: Mapping[str, ArrayLike], n: int, entry: Callable[[str], str]
) -> tuple[list[Array], tuple[int, ...]]:
    """The arrays as doubles of shape (..., n), and the shape their states have together; StateError otherwise.

    `entry` says what one entry of the named array stands for.
    """
    checked = []
    for name, values in arrays.items():
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise StateError(f"{name} is not an array of numbers") from None
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
