"""Formulas over a box as vectors of coefficients: values, derivatives and amplitudes at many points at once.

Every variable has its own small basis: 1, cos x, sin x, ..., cos Dx, sin Dx for the angle of a revolute joint; 1, u,
..., u^D for a displacement, a rate or an acceleration, scaled so that its range is [-1, 1]. A formula is a tensor of
coefficients with one axis for each variable. The tensor is folded into a matrix between the products of the first
variables' bases and those of the rest, so a batch of points costs matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from flint import arb
from numpy.typing import NDArray

from emdeg.algebra import Angle, Array, Generator, TrigPoly
from emdeg.errors import EmptyBox, OverBudget

Range = tuple[float, float]
Ranges = Mapping[Generator | int, Range]

MAX_SIZE = 4_000_000
"""Coefficients at most."""
PRODUCTS = 1 << 20
"""Products of bases at a time: what they take is a few megabytes."""
TURN = 2 * math.pi
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Variable:
    """One coordinate of a box: a joint's angle [rad], or a polynomial symbol scaled to [-1, 1]."""

    letter: Generator
    """The cosine of a joint's angle stands for the angle; else the symbol itself."""
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

    def outside(self, x: Array) -> Array:
        """The search's coordinate as a joint's value, within the stated range."""
        if self.is_angle:
            return x if self.is_circle else np.clip(x, self.low, self.high)
        return np.clip(0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * x, self.low, self.high)


def variable_key(letter: Generator) -> Generator | int:
    """How a box names the symbol's variable: the joint's number for its position, else the symbol."""
    if letter.kind in ("sine", "cosine", "displacement") and isinstance(letter.of, int):
        return letter.of
    return letter


def joint_variable(number: int, revolute: bool, ends: Range) -> Variable:
    """The variable of joint `number`, from 1: its angle or its displacement within these ends [rad, m]."""
    return Variable(Generator("cosine" if revolute else "displacement", number), *ends)


@dataclass(frozen=True, eq=False)
class FormulaVector:
    """F formulas over the same variables; `values` and `derivatives` take points in the search's coordinates."""

    variables: tuple[Variable, ...]
    degrees: tuple[int, ...]
    coefficients: Array
    """One axis a variable, over its basis; the last one over the formulas."""
    rounding: Array
    """(F,): what doubles can add to a value, a slope's or a curvature's contribution included."""

    @property
    def dimension(self) -> int:
        return len(self.variables)

    @property
    def middle(self) -> Array:
        """(dimension,): the box's centre, in the search's coordinates."""
        return np.array([v.middle for v in self.variables], dtype=np.float64)

    @property
    def half(self) -> Array:
        """(dimension,): half the box's widths, in the search's coordinates."""
        return np.array([v.half for v in self.variables], dtype=np.float64)

    @cached_property
    def _used(self) -> tuple[int, NDArray[np.intp], NDArray[np.intp], Array]:
        """(variables on the left, each used product's place in the left and the right basis, its coefficients).

        Most products of all variables' bases occur in no formula.
        """
        sizes = self.coefficients.shape[:-1]
        split = min(range(len(sizes) + 1), key=lambda k: math.prod(sizes[:k]) + math.prod(sizes[k:]), default=0)
        rows = self.coefficients.reshape(-1, self.coefficients.shape[-1])
        used = np.flatnonzero(rows.any(axis=1))
        left, right = np.divmod(used, math.prod(sizes[split:]))
        return split, left, right, np.ascontiguousarray(rows[used])

    def values(self, x: Array) -> Array:
        """(points, F) at points (points, dimension), in plain doubles."""
        split, left, right, matrix = self._used
        bases = [basis(v, d, np.cos, np.sin, x[:, k]) for k, (v, d) in enumerate(zip(self.variables, self.degrees))]
        first, second = _outer(bases[:split], len(x)), _outer(bases[split:], len(x))
        step = max(1, PRODUCTS // max(1, len(left)))
        parts = [slice(at, at + step) for at in range(0, len(x), step)] or [slice(0)]
        return np.concatenate([(first[part][:, left] * second[part][:, right]) @ matrix for part in parts])

    def derivatives(self, x: Array) -> tuple[Array, Array, Array]:
        """Values (points, F), gradients (points, d, F), Hessians (points, d, d, F) at points (points, d)."""
        points, d = x.shape
        count = self.coefficients.shape[-1]
        tables = [_derivative_tables(v, n, x[:, k]) for k, (v, n) in enumerate(zip(self.variables, self.degrees))]
        split, *_ = self._used
        cube = self.coefficients.reshape(math.prod(self.coefficients.shape[:split]), -1, count)
        rows, columns = np.flatnonzero(cube.any(axis=(1, 2))), np.flatnonzero(cube.any(axis=(0, 2)))
        matrix = cube[np.ix_(rows, columns)].reshape(len(rows), -1)
        f, g, H = np.empty((points, count)), np.empty((points, d, count)), np.empty((points, d, d, count))

        def products(low: int, high: int, used: NDArray[np.intp]) -> Iterator[tuple[tuple[int, ...], Array]]:
            for order in range(3):
                for by in combinations_with_replacement(range(low, high), order):
                    bases = [tables[k][by.count(k)] for k in range(low, high)]
                    yield by, _outer(bases, points)[:, used]

        rights = list(products(split, d, columns))
        for by, left in products(0, split, rows):
            half = (left @ matrix).reshape(points, len(columns), count)
            for by_right, right in rights:
                both = by + by_right
                if len(both) > 2:
                    continue
                value = np.matmul(right[:, None, :], half)[:, 0, :]
                if not both:
                    f = value
                elif len(both) == 1:
                    g[:, both[0]] = value
                else:
                    H[:, both[0], both[1]] = H[:, both[1], both[0]] = value
        return f, g, H

    @property
    def amplitudes(self) -> Array:
        """(F,): the sum of the amplitudes of all Fourier terms; no magnitude of a formula is larger."""
        waves = self.coefficients.astype(complex)
        for axis, variable in enumerate(self.variables):
            if variable.is_angle:
                each = np.moveaxis(waves, axis, 0)
                cosines, sines = 0.5 * each[1::2], 0.5j * each[2::2]
                waves = np.moveaxis(np.concatenate([each[:1], cosines - sines, cosines + sines]), 0, axis)
        sums = np.abs(waves).reshape(-1, waves.shape[-1]).sum(axis=0)
        return sums * (1 + 1e-12) + self.rounding

    def outside(self, x: Array) -> Array:
        """Points of the search as joints' values [rad, m, ...]."""
        columns = [variable.outside(x[..., k]) for k, variable in enumerate(self.variables)]
        return np.stack(columns, axis=-1) if columns else np.empty((*x.shape[:-1], 0))

    def positions(self, x: Array) -> dict[Generator | int, float]:
        """A point of the search as {joint number, or symbol of a rate: its value}."""
        return {variable_key(v.letter): float(v.outside(x[k])) for k, v in enumerate(self.variables)}


def formula_vector(
    formulas: Sequence[TrigPoly], box: Ranges, parameters: Mapping[str, float] | None = None
) -> FormulaVector:
    """Formulas over `box`: {joint number, or symbol of a rate or an acceleration: (low, high)}; SI, rad."""
    each = [_one_formula(f, box, parameters or {}) for f in formulas]
    variables = tuple(sorted({v for f in each for v in f.variables}, key=lambda v: str(v.letter)))
    degrees = [0] * len(variables)
    for f in each:
        for v, d in zip(f.variables, f.degrees):
            degrees[variables.index(v)] = max(degrees[variables.index(v)], d)
    stacked = np.zeros((*(basis_size(v, d) for v, d in zip(variables, degrees)), len(each)))
    for column, f in enumerate(each):
        # Bases begin alike: a formula's own coefficients are a corner of the tensor.
        own = dict(zip(f.variables, f.coefficients.shape))
        shape = [own.get(v, 1) for v in variables]
        order = [f.variables.index(v) for v in variables if v in own]
        values = np.transpose(f.coefficients[..., 0], order).reshape(shape)
        stacked[(*(slice(0, size) for size in shape), column)] = values
    return FormulaVector(variables, tuple(degrees), stacked, np.array([float(f.rounding[0]) for f in each]))


def _one_formula(formula: TrigPoly, box: Ranges, parameters: Mapping[str, float]) -> FormulaVector:
    variables = _variables(formula, box)
    place: dict[Generator, tuple[int, bool]] = {}
    for k, variable in enumerate(variables):
        place[variable.letter] = k, False
        if variable.is_angle:
            place[Generator("sine", variable.letter.of)] = k, True
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
                value *= _number(letter, parameters) ** exponent
        degrees = [max(d, s + c) for d, (s, c) in zip(degrees, powers)]
        parsed.append((value, powers))
    sizes = [2 * (d + 1) if v.is_angle else d + 1 for v, d in zip(variables, degrees)]
    if math.prod(sizes) > MAX_SIZE:
        raise OverBudget(f"a formula in {len(variables)} variables is too large to be bounded over a box")
    dense = np.zeros(sizes)
    for value, powers in parsed:
        index = tuple(c + s * (d + 1) if v.is_angle else c for v, d, (s, c) in zip(variables, degrees, powers))
        dense[index] += value
    total, size = np.abs(dense).sum(), dense.size
    for variable, degree in zip(variables, degrees):
        # Each round consumes the first axis and appends its image at the end.
        image = _harmonics(degree) if variable.is_angle else _scaled(degree, variable.low, variable.high)
        dense = np.tensordot(dense, image, axes=(0, 0))
    # Rounding: T products of d factors and their sum, and as much for slopes and curvatures times half widths.
    reach = 1 + sum(d * v.half for v, d in zip(variables, degrees))
    scale = max(total * _span(variables, degrees), float(np.abs(dense).sum()))
    rounding = 16 * float(size + 64) * _UNIT * scale * reach**2
    return FormulaVector(variables, tuple(degrees), np.asarray(dense)[..., None], np.array([rounding]))


def _span(variables: Sequence[Variable], degrees: Sequence[int]) -> float:
    """How much larger than 1 a power of a symbol can be over the box."""
    return math.prod(
        max(1.0, abs(v.low), abs(v.high)) ** d * 2**d for v, d in zip(variables, degrees) if not v.is_angle
    )


def _variables(formula: TrigPoly, box: Ranges) -> tuple[Variable, ...]:
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


def basis_size(variable: Variable, degree: int) -> int:
    """How many functions a variable's basis of this degree has."""
    return 2 * degree + 1 if variable.is_angle else degree + 1


def basis(variable: Variable, degree: int, cos: Callable, sin: Callable, x: Array) -> Array:
    """(points, size): 1, cos x, sin x, cos 2x, ... of an angle; 1, u, u^2, ... of another variable."""
    if not variable.is_angle:
        return x[:, None] ** np.arange(degree + 1)
    table = np.ones((len(x), 2 * degree + 1))
    phase = x[:, None] * np.arange(1, degree + 1)
    table[:, 1::2], table[:, 2::2] = cos(phase), sin(phase)
    return table


def certified_basis(variable: Variable, degree: int, x: Array) -> Array:
    """The basis at the nodes; sines and cosines from ball arithmetic, each good to half a unit in the last place."""
    cos = np.vectorize(lambda a: float(arb(a).cos()), otypes=[float])
    sin = np.vectorize(lambda a: float(arb(a).sin()), otypes=[float])
    return basis(variable, degree, cos, sin, x) if degree else np.ones((len(x), 1))


def _derivative_tables(variable: Variable, degree: int, x: Array) -> list[Array]:
    """The basis and its first two derivatives, each (points, size)."""
    value = basis(variable, degree, np.cos, np.sin, x)
    first, second = np.zeros_like(value), np.zeros_like(value)
    if variable.is_angle:
        m = np.arange(1, degree + 1)
        first[:, 1::2], first[:, 2::2] = -m * value[:, 2::2], m * value[:, 1::2]
        second[:, 1:] = -(np.repeat(m, 2) ** 2) * value[:, 1:]
    else:
        e = np.arange(degree + 1)
        first[:, 1:] = e[1:] * value[:, :-1]
        second[:, 2:] = (e * (e - 1))[2:] * value[:, :-2]
    return [value, first, second]


def transformed(matrix: Array, values: Array, axis: int) -> Array:
    """The values with a matrix applied along one axis, which stays where it is."""
    shape = values.shape
    rows = values.reshape(math.prod(shape[:axis]), shape[axis], -1)
    return np.matmul(matrix, rows).reshape(*shape[:axis], len(matrix), *shape[axis + 1 :])


def _outer(bases: Sequence[Array], points: int) -> Array:
    total = np.ones((points, 1))
    for basis in bases:
        total = (total[:, :, None] * basis[:, None, :]).reshape(points, -1)
    return total


def _harmonics(degree: int) -> Array:
    """Rows s^a c^b (c^0..c^D, then s c^0..s c^D), columns the coefficients of 1, cos x, sin x, ..., sin Dx."""
    cosine, sine = np.zeros(3, complex), np.zeros(3, complex)
    cosine[[0, 2]] = 0.5
    sine[0], sine[2] = 0.5j, -0.5j
    waves = np.zeros((2 * (degree + 1), 2 * degree + 1), complex)  # columns: the coefficients of z^-D..z^D
    power = np.ones(1, complex)
    for b in range(degree + 1):
        waves[b, degree - b : degree + b + 1] = power
        if b < degree:
            waves[degree + 1 + b, degree - b - 1 : degree + b + 2] = np.convolve(power, sine)
        power = np.convolve(power, cosine)
    image = np.empty(waves.shape)
    image[:, 0] = np.real(waves[:, degree])
    image[:, 1::2], image[:, 2::2] = 2 * np.real(waves[:, degree + 1 :]), -2 * np.imag(waves[:, degree + 1 :])
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
