"""A formula over boxes that are wide in some angles: f(x, y) = sum of B_m(x) exp(i m.y), |exp| = 1.

Where an angle's range is wide a Taylor polynomial in it says nothing. Over a whole turn of the wide angles y
f <= B_0(x) + sum of |B_m(x)|, and that is bounded over the narrow variables x: B_0 to second order, the other B_m
to first order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.equations.bounds.tensor import Array, Tensor, multi_indices, multiplied, products, real_of_waves, unraveled


@dataclass(frozen=True, eq=False)
class Wide:
    """`f` with the angles of `open_` left wide."""

    narrow: tuple[int, ...]
    """The places of the narrow variables among f's."""
    open_: tuple[int, ...]
    still: Tensor
    """B_0 over the narrow variables."""
    rows: NDArray[np.intp]
    """The members of the narrow variables' bases that occur (variables, used)."""
    matrix: Array
    """used x 2 waves: real, then imaginary parts of 2 B_m, for one m of each pair m, -m."""
    orders: NDArray[np.intp]
    """(waves, wide angles): the multi-indices m."""
    second: tuple[NDArray[np.intp], Array]
    """(multi-indices alpha, T): what B_m, m != 0, leave beyond first order is at most sum of T r^alpha."""

    def waves(self, x: Array) -> tuple[Array, Array]:
        """(|2 B_m| (points, waves), |d 2 B_m / dx_k| (points, narrow variables, waves)) at x."""
        tables = self.still.tables(x, 1)
        count = len(self.orders)
        d = x.shape[1]
        size = np.empty((len(x), count))
        slope = np.empty((len(x), d, count))
        for k in range(-1, d):
            raised = [int(j == k) for j in range(d)]
            both = multiplied(products(tables, self.rows, raised, len(x)), self.matrix)
            magnitude = np.hypot(both[:, :count], both[:, count:])
            if k < 0:
                size = magnitude
            else:
                slope[:, k] = magnitude
        return size, slope


def wide(f: Tensor, mask: tuple[bool, ...]) -> Wide:
    """The view of `f` for boxes that are wide in the angles marked."""
    open_ = tuple(k for k, marked in enumerate(mask) if marked)
    narrow = tuple(k for k, marked in enumerate(mask) if not marked)
    variables = [f.variables[k] for k in narrow]
    degrees = [f.degrees[k] for k in narrow]
    # Wide angles first, narrow variables after; the transformation to real bases brings the wide ones to the front.
    waves = np.transpose(f.waves, (*narrow, *open_))
    mixed = real_of_waves(waves, variables, degrees)
    wide_sizes = mixed.shape[: len(open_)]
    flat = mixed.reshape(int(np.prod(wide_sizes)), -1)
    indices = np.array(np.unravel_index(np.arange(len(flat)), wide_sizes)).T - np.array([f.degrees[k] for k in open_])
    middle = len(flat) // 2
    of_narrow = [f.coefficients.shape[k] for k in narrow]
    still = Tensor(
        tuple(variables),
        np.ascontiguousarray(np.real(flat[middle])).reshape(of_narrow),
        np.moveaxis(waves, range(len(narrow)), range(-len(narrow), 0)).reshape(len(flat), *waves.shape[: len(narrow)])[
            middle
        ],
        tuple(degrees),
        f.rounding,
    )
    later = flat[middle + 1 :]
    used = np.flatnonzero(np.abs(later).max(axis=1, initial=0.0) > 0)
    later = 2 * later[used]
    rows = np.flatnonzero(np.abs(later).max(axis=0, initial=0.0) > 0)
    matrix = np.concatenate([np.real(later), np.imag(later)])[:, rows].T
    return Wide(
        narrow,
        open_,
        still,
        unraveled(rows, of_narrow),
        np.ascontiguousarray(matrix),
        indices[middle + 1 :][used],
        _second_order(f, narrow, open_),
    )


def _second_order(f: Tensor, narrow: tuple[int, ...], open_: tuple[int, ...]) -> tuple[NDArray[np.intp], Array]:
    alphas = multi_indices(len(narrow), 2)
    moving = f.amplitudes.copy()
    middle = tuple(f.degrees[k] if k in open_ else slice(None) for k in range(f.dimension))
    moving[middle] = 0.0
    rest = Tensor(f.variables, f.coefficients, moving.astype(complex), f.degrees, f.rounding)
    T = []
    for alpha in alphas:
        whole = np.zeros(f.dimension, dtype=np.intp)
        whole[list(narrow)] = alpha
        T.append(rest.contracted(whole))
    return alphas, np.array(T)
