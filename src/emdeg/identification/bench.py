"""Measured inertial parameters with their tolerances (Armstrong et al., section 5); SI units throughout.

A tolerance is carried by root-mean-square combination: to first order, every measured quantity on its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

STEP = 1e-6


@dataclass(frozen=True)
class Measured:
    """A value and its tolerance, in the same unit."""

    value: float
    tolerance: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.6g} +- {self.tolerance:.2g}"


Quantity = Measured | float


def combined(formula: Callable[..., float], *quantities: Quantity) -> Measured:
    """The formula's value with the RMS combination of its quantities' tolerances.

    >>> print(combined(lambda a, b: a * b, Measured(2.0, 0.1), 3.0))
    6 +- 0.3
    """
    measured = [x if isinstance(x, Measured) else Measured(float(x)) for x in quantities]
    values = [x.value for x in measured]
    total = 0.0
    for index, one in enumerate(measured):
        if one.tolerance:
            step = STEP * (abs(one.value) or one.tolerance)
            up, down = list(values), list(values)
            up[index] += step
            down[index] -= step
            total += ((formula(*up) - formula(*down)) / (2 * step) * one.tolerance) ** 2
    return Measured(formula(*values), math.sqrt(total))


def two_wire_suspension(
    mass: Quantity, distance: Quantity, length: Quantity, frequency: Quantity, g: Quantity = 9.81
) -> Measured:
    """Inertia [kg m^2] about the axis halfway between two wires: I = M g r^2 / (omega^2 l), eq. 11.

    `distance` r from each wire to the axis [m], wires' `length` l [m], oscillation's `frequency` omega [rad/s].
    """
    return combined(lambda m, r, l, w, a: m * a * r * r / (w * w * l), mass, distance, length, frequency, g)


def spring_oscillation(stiffness: Quantity, period: Quantity, damping: Quantity = 0.0) -> Measured:
    """Total inertia [kg m^2] at a joint that swings on a commanded torsional spring [N m/rad]: k (T / 2 pi)^2.

    `damping` is the ratio of the oscillation, negative under positive velocity feedback; it lengthens the period.
    """
    return combined(lambda k, T, z: k * (T / (2 * math.pi)) ** 2 * (1 - z * z), stiffness, period, damping)


def drive_inertia(total: Quantity, arm: Quantity) -> Measured:
    """The motor's and drive's part: the total at the joint less what the arm contributes."""
    return combined(lambda whole, part: whole - part, total, arm)


def thin_cylinder(mass: Quantity, radius: Quantity, length: Quantity) -> tuple[Measured, Measured]:
    """(transverse, axial) inertia of an open cylindrical shell about its mass centre."""
    across = combined(lambda m, r, l: m * (r * r / 2 + l * l / 12), mass, radius, length)
    return across, combined(lambda m, r: m * r * r, mass, radius)


def thin_sphere(mass: Quantity, radius: Quantity) -> Measured:
    """The inertia of a spherical shell about any diameter: 2/3 m r^2."""
    return combined(lambda m, r: 2 * m * r * r / 3, mass, radius)


def thin_box(mass: Quantity, a: Quantity, b: Quantity, c: Quantity) -> tuple[Measured, Measured, Measured]:
    """(Ixx, Iyy, Izz) about the centre of a closed shell with edges a, b, c along x, y, z, of even thickness."""

    def about(first: float, second: float, along: float, m: float) -> float:
        # Faces normal to each axis carry mass as their areas; each about the centre by the parallel-axis theorem.
        area = 2 * (first * second + second * along + first * along)
        per = m / area
        ends = 2 * per * first * second * (first**2 + second**2) / 12
        sides_1 = 2 * per * second * along * (second**2 / 12 + first**2 / 4)
        sides_2 = 2 * per * first * along * (first**2 / 12 + second**2 / 4)
        return ends + sides_1 + sides_2

    return (
        combined(lambda m, x, y, z: about(y, z, x, m), mass, a, b, c),
        combined(lambda m, x, y, z: about(z, x, y, m), mass, a, b, c),
        combined(lambda m, x, y, z: about(x, y, z, m), mass, a, b, c),
    )


@dataclass(frozen=True)
class MeasuredBody:
    """Mass [kg], mass centre [m] and principal moments about it [kg m^2], with tolerances, in one frame."""

    mass: Measured
    com: tuple[Measured, Measured, Measured]
    inertia: tuple[Measured, Measured, Measured]


def subtracted(whole: MeasuredBody, part: MeasuredBody) -> MeasuredBody:
    """The body that remains of `whole` when `part` (in the same frame) is taken away: link 3 without the wrist.

    Products of inertia are left out, as the paper leaves them out.
    """
    mass = combined(lambda a, b: a - b, whole.mass, part.mass)

    def centre(m: float, x: float, n: float, y: float) -> float:
        return (m * x - n * y) / (m - n)

    com = tuple(combined(centre, whole.mass, x, part.mass, y) for x, y in zip(whole.com, part.com))
    moments = []
    for axis in range(3):
        others = [k for k in range(3) if k != axis]
        quantities: list[Quantity] = [whole.inertia[axis], part.inertia[axis], whole.mass, part.mass]
        quantities += [whole.com[k] for k in others] + [part.com[k] for k in others]

        def moment(I: float, J: float, m: float, n: float, *c: float) -> float:
            x, y = c[:2], c[2:]
            rest = [(m * a - n * b) / (m - n) for a, b in zip(x, y)]
            # About the frame's origin moments add; then to the rest's own mass centre.
            at_origin = I + m * sum(a * a for a in x) - J - n * sum(b * b for b in y)
            return at_origin - (m - n) * sum(a * a for a in rest)

        moments.append(combined(moment, *quantities))
    return MeasuredBody(mass, _three(com), _three(moments))


def _three(values: Sequence[Measured]) -> tuple[Measured, Measured, Measured]:
    x, y, z = values
    return x, y, z


def torque_resolution(max_torque: float, bits: int) -> float:
    """The step of a torque commanded through a converter of so many bits, one of them the sign: max / 2^(bits - 1).

    >>> round(torque_resolution(97.6, 12), 4)
    0.0477
    """
    if bits < 2:
        raise ValueError("a converter with a sign has at least two bits")
    return max_torque / 2 ** (bits - 1)
