"""Measured numbers with their tolerances, and the formulas of the bench (Armstrong et al., section 5); SI units.

A tolerance is carried to first order from every direct reading by root-mean-square combination. A measured number
remembers what each reading contributes, so that a reading which enters a formula twice is not taken for two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Measured:
    """A value, and what each reading's tolerance contributes to it (signed), in the same unit."""

    value: float
    parts: Mapping[object, float] = field(default_factory=dict, repr=False)

    @property
    def tolerance(self) -> float:
        """The RMS combination of the contributions."""
        return math.hypot(*self.parts.values())

    def __str__(self) -> str:
        return f"{self.value:.6g} +- {self.tolerance:.2g}"

    def __add__(self, other: Quantity) -> Measured:
        b = measured(other)
        return _combined(self.value + b.value, (self, 1.0), (b, 1.0))

    def __sub__(self, other: Quantity) -> Measured:
        b = measured(other)
        return _combined(self.value - b.value, (self, 1.0), (b, -1.0))

    def __mul__(self, other: Quantity) -> Measured:
        b = measured(other)
        return _combined(self.value * b.value, (self, b.value), (b, self.value))

    def __truediv__(self, other: Quantity) -> Measured:
        b = measured(other)
        ratio = self.value / b.value
        return _combined(ratio, (self, 1 / b.value), (b, -ratio / b.value))

    def __neg__(self) -> Measured:
        return _combined(-self.value, (self, -1.0))

    def __radd__(self, other: float) -> Measured:
        return self + other

    def __rsub__(self, other: float) -> Measured:
        return measured(other) - self

    def __rmul__(self, other: float) -> Measured:
        return self * other

    def __rtruediv__(self, other: float) -> Measured:
        return measured(other) / self

    def through(self, value: float, slope: float) -> Measured:
        """f of this number, given f's value and its derivative there."""
        return _combined(value, (self, slope))


Quantity = Measured | float


def reading(value: float, tolerance: float = 0.0, name: object = None) -> Measured:
    """A direct measurement; readings of one `name` are one, those without a name are each their own.

    >>> print(reading(2.0, 0.1) * 3.0)
    6 +- 0.3
    """
    return Measured(value, {object() if name is None else name: tolerance} if tolerance else {})


def measured(value: Quantity) -> Measured:
    """The number itself, or an exact one."""
    return value if isinstance(value, Measured) else Measured(float(value))


def _combined(value: float, *terms: tuple[Measured, float]) -> Measured:
    parts: dict[object, float] = {}
    for term, slope in terms:
        for name, part in term.parts.items():
            parts[name] = parts.get(name, 0.0) + slope * part
    return Measured(value, parts)


def square(x: Quantity) -> Measured:
    return measured(x) * x


def two_wire_suspension(
    mass: Quantity,
    distance: Quantity,
    length: Quantity,
    period: Quantity,
    g: Quantity = 9.81,
    other_distance: Quantity | None = None,
    amplitude: Quantity = 0.0,
) -> Measured:
    """Inertia [kg m^2] about the vertical through the mass centre: I = M g d1 d2 / (omega^2 l), eq. 11 for d1 = d2.

    `distance` from each wire to that axis [m] (`other_distance` where the second wire's differs), the wires' `length`
    l [m], the `period` 2 pi / omega [s]. A swing of an `amplitude` [rad] takes longer than a small one, as a
    pendulum's does.
    """
    second = distance if other_distance is None else other_distance
    swing = measured(amplitude)
    shrink, slope = pendulum_factor(swing.value)
    small = measured(period) * swing.through(shrink, slope)
    return measured(mass) * g * distance * second * square(small) / (4 * math.pi**2 * measured(length))


def pendulum_factor(amplitude: float) -> tuple[float, float]:
    """(the period of a small swing over that of an amplitude [rad], its slope): 1 / (1 + a^2/16 + ...), by the AGM."""
    factor = _agm(1.0, math.cos(amplitude / 2))
    step = 1e-6
    return factor, (_agm(1.0, math.cos((amplitude + step) / 2)) - factor) / step


def _agm(a: float, b: float) -> float:
    """The arithmetic-geometric mean."""
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


def spring_oscillation(stiffness: Quantity, period: Quantity, damping: Quantity = 0.0) -> Measured:
    """Total inertia [kg m^2, kg] of what swings on a spring [N m/rad, N/m]: k (T / 2 pi)^2 (1 - damping^2).

    `damping` is the ratio of the oscillation, negative under positive velocity feedback; it lengthens the period. Dry
    friction does not: from one turning point to the next the swing is that of a shifted centre.
    """
    return measured(stiffness) * square(measured(period) / (2 * math.pi)) * (1 - square(damping))


def friction_from_peaks(peaks: Sequence[Quantity]) -> tuple[Measured, Measured]:
    """(damping ratio, dry friction over stiffness [rad, m]) from the sizes of successive turning points.

    Each half swing ends at x' = rho x - (1 + rho) f, where rho = exp(-pi zeta / sqrt(1 - zeta^2)) and f is the dry
    friction over the stiffness: a straight line through the pairs (x, x'), by least squares.
    """
    x, y = [measured(p) for p in peaks[:-1]], [measured(p) for p in peaks[1:]]
    count = float(len(x))
    mean_x, mean_y = sum(x, Measured(0.0)) / count, sum(y, Measured(0.0)) / count
    spread = sum((square(a - mean_x) for a in x), Measured(0.0))
    rho = sum(((a - mean_x) * (b - mean_y) for a, b in zip(x, y)), Measured(0.0)) / spread
    dry = (rho * mean_x - mean_y) / (1 + rho)
    decrement = rho.through(-math.log(rho.value), -1 / rho.value)
    size = math.hypot(math.pi, decrement.value)
    return decrement.through(decrement.value / size, math.pi**2 / size**3), dry


def cylinder(mass: Quantity, radius: Quantity, length: Quantity, inner_radius: Quantity = 0.0) -> Moments:
    """(across, across, along) the axis, of a solid cylinder or a tube about its mass centre."""
    radii = square(radius) + square(inner_radius)
    across = mass * (3 * radii + square(length)) / 12
    return across, across, mass * radii / 2


def thin_cylinder(mass: Quantity, radius: Quantity, length: Quantity) -> Moments:
    """(across, across, along) the axis, of an open cylindrical shell about its mass centre."""
    across = mass * (square(radius) / 2 + square(length) / 12)
    return across, across, mass * square(radius)


def sphere(mass: Quantity, radius: Quantity) -> Moments:
    """About any diameter: 2/5 m r^2."""
    about = 0.4 * mass * square(radius)
    return about, about, about


def thin_sphere(mass: Quantity, radius: Quantity) -> Moments:
    """About any diameter of a spherical shell: 2/3 m r^2."""
    about = mass * square(radius) * (2 / 3)
    return about, about, about


def box(mass: Quantity, a: Quantity, b: Quantity, c: Quantity) -> Moments:
    """(Ixx, Iyy, Izz) about the centre of a solid with edges a, b, c along x, y, z."""
    x, y, z = square(a), square(b), square(c)
    return mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12


def thin_box(mass: Quantity, a: Quantity, b: Quantity, c: Quantity) -> Moments:
    """(Ixx, Iyy, Izz) about the centre of a closed shell with edges a, b, c along x, y, z, of even thickness."""

    def about(first: Quantity, second: Quantity, along: Quantity) -> Measured:
        # Faces normal to each axis carry mass as their areas; each about the centre by the parallel-axis theorem.
        p, q, r = measured(first), measured(second), measured(along)
        per = mass / (p * q + q * r + p * r)
        ends = p * q * (square(p) + square(q)) / 12
        sides = q * r * (square(q) / 12 + square(p) / 4) + p * r * (square(p) / 12 + square(q) / 4)
        return per * (ends + sides)

    return about(b, c, a), about(c, a, b), about(a, b, c)


Moments = tuple[Measured, Measured, Measured]


def torque_resolution(max_torque: float, bits: int) -> float:
    """The step of a torque commanded through a converter of so many bits, one of them the sign: max / 2^(bits - 1).

    >>> round(torque_resolution(97.6, 12), 4)
    0.0477
    """
    if bits < 2:
        raise ValueError("a converter with a sign has at least two bits")
    return max_torque / 2 ** (bits - 1)
