"""A formula over boxes that are wide in some angles: f(x, y) = B_0(x) + sum of 2 Re (B_m(x) exp(i m.y)).

Where an angle's range is wide a Taylor polynomial in it says nothing. Over whole turns of the wide angles y
f <= B_0(x) + sum of |2 B_m(x)|, which is bounded over the narrow variables x. All B_m and their derivatives are
evaluated at once: the bases of the first narrow variables are multiplied into the coefficients of the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.bounds.tensors import Tensor, Variable, fill_by_halves, multi_indices, real_of_waves, unraveled


@dataclass(frozen=True, eq=False)
class WithWideAngles:
    """`f` with some angles left wide; no angle at all makes it f itself."""

    narrow: tuple[int, ...]
    """The places of the narrow variables among f's."""
    open_: tuple[int, ...]
    still: Tensor
    """B_0 over the narrow variables."""
    parts: Array
    """Real coefficients over the narrow variables' bases, last axis: B_0, Re 2 B_m .., Im 2 B_m .."""
    orders: NDArray[np.intp]
    """(waves, wide angles): the multi-indices m."""
    amplitudes: Array
    """Magnitudes of the Fourier coefficients, first axis B_0, 2 B_m .., then the narrow variables."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.still.variables

    @cached_property
    def _fold(self) -> tuple[int, NDArray[np.intp], NDArray[np.intp], Array]:
        """(variables on the left, their used multi-indices, those of the rest, left x (rest x parts))."""
        *sizes, count = self.parts.shape
        split = min(range(len(sizes) + 1), key=lambda k: (abs(math.prod(sizes[:k]) - math.prod(sizes[k:])), k))
        cube = self.parts.reshape(math.prod(sizes[:split]), -1, count)
        rows, columns = np.flatnonzero(cube.any(axis=(1, 2))), np.flatnonzero(cube.any(axis=(0, 2)))
        left, right = unraveled(rows, sizes[:split]), unraveled(columns, sizes[split:])
        used = np.ascontiguousarray(cube[np.ix_(rows, columns)])
        return split, left, right, used.reshape(len(rows), -1)

    def derivatives(self, x: Array) -> tuple[Array, Array, Array]:
        """(values (points, parts), gradients (points, d, parts), Hessians (points, d, d, parts)) at x (points, d)."""
        points, d = x.shape
        count = self.parts.shape[-1]
        split, left, right, matrix = self._fold
        tables = self.still.tables(x, 2)
        found = np.empty((points, count)), np.empty((points, d, count)), np.empty((points, d, d, count))
        fill_by_halves(
            found,
            tables,
            (split, left, right),
            2,
            lambda basis: (basis @ matrix).reshape(points, right.shape[1], count),
            lambda basis: basis,
            lambda half, factor: np.matmul(factor[:, None, :], half)[:, 0, :],
        )
        return found

    @cached_property
    def cubic(self) -> tuple[NDArray[np.intp], Array]:
        """(multi-indices alpha with |alpha| = 3, T (parts of `amplitudes`, alphas)): what is left beyond order two.

        |B_m - its second Taylor polynomial| <= sum of T r^alpha over the half widths r.
        """
        alphas = multi_indices(len(self.narrow), 3)
        T = np.empty((len(self.amplitudes), len(alphas)))
        for place, alpha in enumerate(alphas):
            total = self.amplitudes
            for variable, degree, order in zip(self.variables, self.still.degrees, alpha):
                total = np.tensordot(total, variable.derivative_sizes(degree, int(order)), axes=(1, 0))
            T[:, place] = total * (1 + 1e-12)
        return alphas, T

    def mixed(self, z: int) -> Array:
        """(narrow variables) what |d^2 f / dx_k dz| is at most anywhere, for the narrow variable number z."""
        d = len(self.narrow)
        sizes = np.zeros(d)
        for k in range(d):
            total = self.amplitudes.sum(axis=0)
            for j, (variable, degree) in enumerate(zip(self.variables, self.still.degrees)):
                total = np.tensordot(total, variable.derivative_sizes(degree, int(j == k) + int(j == z)), axes=(0, 0))
            sizes[k] = total * (2 if k == z else 1) * (1 + 1e-12)
        return sizes


def wide(f: Tensor, mask: tuple[bool, ...]) -> WithWideAngles:
    """The view of `f` for boxes that are wide in the angles marked."""
    open_ = tuple(k for k, marked in enumerate(mask) if marked)
    narrow = tuple(k for k, marked in enumerate(mask) if not marked)
    variables = [f.variables[k] for k in narrow]
    degrees = [f.degrees[k] for k in narrow]
    waves = np.transpose(f.waves, (*open_, *narrow))
    sizes = waves.shape[: len(open_)]
    flat = waves.reshape(math.prod(sizes), *waves.shape[len(open_) :])
    indices = np.array(np.unravel_index(np.arange(len(flat)), sizes or (1,))).T - np.array(
        [f.degrees[k] for k in open_] or [0]
    )
    middle = len(flat) // 2
    later = np.arange(middle + 1, len(flat))
    later = later[[bool(flat[k].any()) for k in later]] if len(later) else later
    chosen = np.concatenate([flat[middle][None], 2 * flat[later]])
    # The transformation consumes the narrow axes one by one and appends their images at the end.
    mixed = real_of_waves(np.moveaxis(chosen, 0, -1), variables, degrees)
    real, imaginary = np.real(mixed), np.imag(mixed)
    parts = np.moveaxis(np.concatenate([real, imaginary[1:]]), 0, -1)
    still = Tensor(tuple(variables), np.ascontiguousarray(real[0]), flat[middle], tuple(degrees), f.rounding)
    orders = indices[later][:, : len(open_)]
    return WithWideAngles(narrow, open_, still, np.ascontiguousarray(parts), orders, np.abs(chosen))
