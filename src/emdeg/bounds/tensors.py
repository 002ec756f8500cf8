"""A trigonometric polynomial as a tensor of coefficients, for values and derivatives at many points at once.

Every variable has its own small basis: 1, cos x, sin x, ..., cos Dx, sin Dx for a joint's angle; 1, u, ..., u^D for
a displacement, a rate or an acceleration, scaled so that its range is [-1, 1]. The tensor is folded into a matrix
between the products of the first variables' bases and those of the rest, so a batch of points costs matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Angle, Array, Generator, TrigPoly
from emdeg.errors import EmptyBox, OverBudget

Range = tuple[float, float]

MAX_SIZE = 4_000_000
SMALL = 200_000
TURN = 2 * math.pi
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Variable:
    """One coordinate of a box: a joint's angle [rad], or a polynomial letter scaled to [-1, 1]."""

    letter: Generator
    """The cosine of a joint's angle stands for the angle; else the letter itself."""
    low: float
    high: float

    @property
    def is_angle(self) -> bool:
        return self.letter.kind == "cosine"

    @property
    def is_circle(self) -> bool:
        """Whether the range is a whole turn or more, so that it has no ends."""
        return self.is_angle and self.high - self.low >= TURN * (1 - 1e-12)

    @property
    def middle(self) -> float:
        """The middle of the range, in the search's own coordinate."""
        return 0.5 * (self.low + self.high) if self.is_angle else 0.0

    @property
    def half(self) -> float:
        """Half the range's width, in the search's own coordinate, rounded outward."""
        if not self.is_angle:
            return 1.0
        width = TURN if self.is_circle else self.high - self.low
        return 0.5 * width * (1 + 4 * _UNIT) + 4 * _UNIT * max(abs(self.low), abs(self.high))

    def derivative_sizes(self, degree: int, order: int) -> Array:
        """What the basis's members' derivatives of this order are at most, over order!: |m|^k / k!, or binom(e, k)."""
        if self.is_angle:
            return np.abs(np.arange(-degree, degree + 1.0)) ** order / math.factorial(order)
        return np.array([float(math.comb(e, order)) for e in range(degree + 1)])

    def outside(self, x: Array) -> Array:
        """The search's coordinate as a joint's value, within the stated range."""
        if self.is_angle:
            return x if self.is_circle else np.clip(x, self.low, self.high)
        return np.clip(0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * x, self.low, self.high)


def variable_key(letter: Generator) -> Generator | int:
    """How a box names the letter's variable: the joint's number for its position, else the letter."""
    if letter.kind in ("sine", "cosine", "displacement") and isinstance(letter.of, int):
        return letter.of
    return letter


@dataclass(frozen=True, eq=False)
class Tensor:
    """A formula over a box; `values`, `gradients` and `hessians` take points in the search's coordinates."""

    variables: tuple[Variable, ...]
    coefficients: Array
    """One axis a variable, over its real basis."""
    waves: NDArray[np.complex128]
    """Complex Fourier coefficients (-D..D, for angles) and power coefficients, one axis a variable."""
    degrees: tuple[int, ...]
    rounding: float
    """A bound of what doubles can add to a value, a slope's or a curvature's contribution included."""

    @property
    def dimension(self) -> int:
        return len(self.variables)

    @cached_property
    def amplitudes(self) -> Array:
        return np.abs(self.waves)

    @cached_property
    def _fold(self) -> tuple[int, NDArray[np.intp], NDArray[np.intp], Array]:
        """(variables on the left, used left and right multi-indices, the matrix between them)."""
        sizes = self.coefficients.shape
        split = min(range(self.dimension + 1), key=lambda k: math.prod(sizes[:k]) + math.prod(sizes[k:]), default=0)
        matrix = self.coefficients.reshape(math.prod(sizes[:split]), -1)
        rows, columns = np.flatnonzero(matrix.any(axis=1)), np.flatnonzero(matrix.any(axis=0))
        left, right = (unraveled(used, some) for used, some in ((rows, sizes[:split]), (columns, sizes[split:])))
        return split, left, right, np.ascontiguousarray(matrix[np.ix_(rows, columns)])

    @cached_property
    def _ranked(self) -> tuple[int, NDArray[np.intp], NDArray[np.intp], Array, Array]:
        """As `_fold`, the matrix as a product of two: an entry of M is linear in ten numbers of the outer bodies.

        What the factors leave out is held below the share of `rounding` that is kept for it.
        """
        split, left, right, matrix = self._fold
        whole = left, right, matrix, np.eye(matrix.shape[1])
        if min(matrix.shape) < 8:
            return split, *whole
        U, s, V = np.linalg.svd(matrix, full_matrices=False)
        rank = max(1, int((s > 1e-15 * s[0] * max(matrix.shape)).sum()))
        if rank * sum(matrix.shape) > matrix.size:
            return split, *whole
        first, second = np.ascontiguousarray(U[:, :rank] * s[:rank]), np.ascontiguousarray(V[:rank])
        lost = float(np.abs(matrix - first @ second).sum())
        if lost > 4 * self.coefficients.size * _UNIT * float(np.abs(self.coefficients).sum()):
            return split, *whole
        return split, left, right, first, second

    def tables(self, x: Array, order: int) -> list[list[Array]]:
        """For each variable its basis and the basis's derivatives up to `order`, each (points, size)."""
        return [
            _angle_tables(x[:, k], degree, order) if variable.is_angle else _power_tables(x[:, k], degree, order)
            for k, (variable, degree) in enumerate(zip(self.variables, self.degrees))
        ]

    def derivatives(self, x: Array, order: int) -> tuple[Array, Array, Array]:
        """(values, gradients, Hessians) at x (points, dimension); what lies beyond `order` is left empty."""
        points, d = x.shape
        tables = self.tables(x, order)
        split, left, right, first, second = self._ranked
        across = np.ascontiguousarray(second.T)
        slopes, curved = d if order else 0, d if order > 1 else 0
        found = np.empty(points), np.empty((points, slopes)), np.empty((points, curved, curved))
        fill_by_halves(
            found,
            tables,
            (split, left, right),
            order,
            lambda basis: multiplied(basis, first),
            lambda basis: multiplied(basis, across),
            lambda half, factor: np.einsum("pk,pk->p", half, factor),
        )
        return found

    def values(self, x: Array) -> Array:
        return self.derivatives(x, 0)[0]

    def outside(self, x: Array) -> Array:
        """Points of the search as joints' values [rad, m, ...]."""
        columns = [variable.outside(x[..., k]) for k, variable in enumerate(self.variables)]
        return np.stack(columns, axis=-1) if columns else np.empty((*x.shape[:-1], 0))


def tensor(
    formula: TrigPoly, box: Mapping[Generator | int, Range], parameters: Mapping[str, float] | None = None
) -> Tensor:
    """`formula` over `box`: {joint number, or the letter of a rate or an acceleration: (low, high)}; SI, rad."""
    variables = _variables(formula, box)
    place: dict[Generator, tuple[int, bool]] = {}
    for k, variable in enumerate(variables):
        place[variable.letter] = k, False
        if variable.is_angle:
            place[Generator("sine", variable.letter.of)] = k, True
    numbers = dict(parameters or {})
    parsed: list[tuple[float, list[tuple[int, int]]]] = []
    degrees = [0] * len(variables)
    for coefficient, monomial in formula.terms():
        value = float(coefficient)
        powers = [(0, 0)] * len(variables)
        for letter, exponent in monomial.items():
            if letter in place:
                k, sine = place[letter]
                s, c = powers[k]
                powers[k] = (exponent, c) if sine else (s, exponent)
            else:
                value *= _number(letter, numbers) ** exponent
        degrees = [max(d, s + c) for d, (s, c) in zip(degrees, powers)]
        parsed.append((value, powers))
    sizes = [2 * (d + 1) if v.is_angle else d + 1 for v, d in zip(variables, degrees)]
    if math.prod(sizes) > MAX_SIZE:
        raise OverBudget(f"a formula in {len(variables)} variables is too large to be bounded over a box")
    dense = np.zeros(sizes)
    for value, powers in parsed:
        index = tuple(c + s * (d + 1) if v.is_angle else c for v, d, (s, c) in zip(variables, degrees, powers))
        dense[index] += value
    total = np.abs(dense).sum()
    waves: Any = dense.astype(complex)
    for variable, degree in zip(variables, degrees):
        # Each round consumes the first axis and appends its image at the end.
        image = _waves(degree) if variable.is_angle else _scaled(degree, variable.low, variable.high)
        waves = np.tensordot(waves, image, axes=(0, 0))
    real = np.array(np.real(real_of_waves(waves, variables, degrees)))
    # Rounding: T products of d factors and their sum, and as much for slopes and curvatures times half widths.
    reach = 1 + sum(d * v.half for v, d in zip(variables, degrees))
    scale = max(total * _span(variables, degrees), float(np.abs(real).sum()))
    rounding = 16 * float(dense.size + 64) * _UNIT * scale * reach**2
    return Tensor(variables, real, np.array(waves), tuple(degrees), rounding)


def _span(variables: Sequence[Variable], degrees: Sequence[int]) -> float:
    """How much larger than 1 a power of a letter can be over the box."""
    return math.prod(
        max(1.0, abs(v.low), abs(v.high)) ** d * 2**d for v, d in zip(variables, degrees) if not v.is_angle
    )


def _variables(formula: TrigPoly, box: Mapping[Generator | int, Range]) -> tuple[Variable, ...]:
    found: dict[Generator, Variable] = {}
    for letter in formula.generators:
        key = variable_key(letter)
        if letter.kind == "parameter" or isinstance(letter.of, Angle):
            continue
        if key not in box:
            raise EmptyBox(f"{letter} has no range: its joint or rate is not bounded by the box")
        low, high = (float(end) for end in box[key])
        if not (math.isfinite(low) and math.isfinite(high)) or low > high:
            raise EmptyBox(f"the range of {letter} is empty: from {low:g} to {high:g}")
        if letter.is_joint_angle:
            letter = Generator("cosine", letter.of)
        found[letter] = Variable(letter, low, high)
    return tuple(found.values())


def _number(letter: Generator, numbers: Mapping[str, float]) -> float:
    if letter.kind == "parameter":
        if letter.of not in numbers:
            raise EmptyBox(f"the symbol {letter} has no number")
        return float(numbers[str(letter.of)])
    angle = float(letter.of)  # type: ignore[arg-type]
    return math.sin(angle) if letter.kind == "sine" else math.cos(angle)


def products(tables: Sequence[list[Array]], index: NDArray[np.intp], orders: Sequence[int], points: int) -> Array:
    """The products of the bases' members at `index` (variables, used), each of its derivative's order."""
    total = np.ones((points, index.shape[1]))
    for table, row, order in zip(tables, index, orders):
        total = total * table[order][:, row]
    return total


def fill_by_halves(
    found: tuple[Array, Array, Array],
    tables: Sequence[list[Array]],
    halves: tuple[int, NDArray[np.intp], NDArray[np.intp]],
    order: int,
    on_left: Callable[[Array], Array],
    on_right: Callable[[Array], Array],
    meet: Callable[[Array, Array], Array],
) -> None:
    """Fill (values, gradients, Hessians) up to `order`, each derivative a product of the left half's and the right's.

    `halves`: the number of variables on the left and both sides' multi-indices. `on_left` and `on_right` prepare a
    side's basis products, once for each derivative; `meet` joins the two.
    """
    split, left, right = halves
    f, g, H = found
    points = len(f)

    def product(index: NDArray[np.intp], first: int, by: Sequence[int]) -> Array:
        orders = [by.count(first + k) for k in range(len(index))]
        return products(tables[first : first + len(index)], index, orders, points)

    def chosen(low: int, high: int) -> list[tuple[int, ...]]:
        return [by for k in range(order + 1) for by in combinations_with_replacement(range(low, high), k)]

    rights = {by: on_right(product(right, split, by)) for by in chosen(split, len(tables))}
    for by in chosen(0, split):
        half = on_left(product(left, 0, by))
        for by_right, factor in rights.items():
            both = by + by_right
            if len(both) > order:
                continue
            value = meet(half, factor)
            if len(both) == 0:
                f[:] = value
            elif len(both) == 1:
                g[:, both[0]] = value
            else:
                H[:, both[0], both[1]] = H[:, both[1], both[0]] = value


def multiplied(a: Array, b: Array) -> Array:
    """a @ b; small products without the threads of the linear-algebra library, whose start costs more than they."""
    return np.einsum("pl,lk->pk", a, b) if a.shape[0] * b.size < SMALL else a @ b


def unraveled(used: NDArray[np.intp], sizes: Sequence[int]) -> NDArray[np.intp]:
    """Flat indices as multi-indices (variables, used)."""
    if not sizes:
        return np.empty((0, len(used)), dtype=np.intp)
    return np.array(np.unravel_index(used, tuple(sizes)), dtype=np.intp).reshape(len(sizes), len(used))


def _angle_tables(x: Array, degree: int, order: int) -> list[Array]:
    m = np.arange(1, degree + 1)
    phase = x[:, None] * m
    s, c = np.sin(phase), np.cos(phase)
    tables = []
    for k in range(order + 1):
        table = np.zeros((len(x), 2 * degree + 1))
        if k == 0:
            table[:, 0] = 1.0
        cos, sin = ((c, s), (-s, c), (-c, -s), (s, -c))[k % 4]
        table[:, 1::2] = cos * m**k
        table[:, 2::2] = sin * m**k
        tables.append(table)
    return tables


def _power_tables(u: Array, degree: int, order: int) -> list[Array]:
    tables = []
    for k in range(order + 1):
        table = np.zeros((len(u), degree + 1))
        for e in range(k, degree + 1):
            table[:, e] = math.perm(e, k) * u ** (e - k)
        tables.append(table)
    return tables


def _waves(degree: int) -> NDArray[np.complex128]:
    """Rows s^a c^b (c^0..c^D, then s c^0..s c^D), columns the coefficients of z^-D..z^D."""
    size = 2 * degree + 1
    cosine, sine = np.zeros(3, complex), np.zeros(3, complex)
    cosine[[0, 2]] = 0.5
    sine[0], sine[2] = 0.5j, -0.5j
    image = np.zeros((2 * (degree + 1), size), complex)
    power = np.ones(1, complex)
    for b in range(degree + 1):
        image[b, degree - b : degree + b + 1] = power
        if b < degree:
            image[degree + 1 + b, degree - b - 1 : degree + b + 2] = np.convolve(power, sine)
        power = np.convolve(power, cosine)
    return image


def real_of_waves(waves: Any, variables: Sequence[Variable], degrees: Sequence[int]) -> NDArray[np.complex128]:
    """The coefficients of the real bases of the first axes, which are those of `variables`; further axes lead."""
    for variable, degree in zip(variables, degrees):
        image = _real_of_waves(degree) if variable.is_angle else np.eye(degree + 1)
        waves = np.tensordot(waves, image, axes=(0, 0))
    return waves


def _real_of_waves(degree: int) -> NDArray[np.complex128]:
    """Rows z^-D..z^D, columns 1, cos x, sin x, ..., cos Dx, sin Dx."""
    image = np.zeros((2 * degree + 1, 2 * degree + 1), complex)
    image[degree, 0] = 1.0
    for m in range(1, degree + 1):
        image[degree + m, [2 * m - 1, 2 * m]] = 1.0, 1.0j
        image[degree - m, [2 * m - 1, 2 * m]] = 1.0, -1.0j
    return image


def _scaled(degree: int, low: float, high: float) -> Array:
    """Rows d^e, columns u^0..u^D, with d = (low + high)/2 + u (high - low)/2."""
    line = np.array([0.5 * (low + high), 0.5 * (high - low)])
    image = np.zeros((degree + 1, degree + 1))
    power = np.ones(1)
    for e in range(degree + 1):
        image[e, : e + 1] = power
        power = np.convolve(power, line)
    return image


def multi_indices(dimension: int, order: int) -> NDArray[np.intp]:
    rows = [np.bincount(by, minlength=dimension) for by in combinations_with_replacement(range(dimension), order)]
    return np.array(rows, dtype=np.intp).reshape(len(rows), dimension)
