"""The lumped constants of a derived model."""

from __future__ import annotations

from emdeg.equations.derive import derive
from emdeg.equations.model import DYNAMICS, Model
from emdeg.equations.reading.lumped import Lumped, lump
from emdeg.robot.parallel import parallel_joints

MOST_ANGLES = 2
"""Constant angles that stay letters in the constants' formulas; with more of them their sines and cosines are numbers,
because each letter doubles the length of what it multiplies."""


def lumped_constants(model: Model) -> Lumped:
    """The named constants of a model and its entries in them.

    A robot of numbers gets symbols first (m2, rx2, Ixx2, a2, ...), so that every constant has a formula in the
    robot's parameters beside its value and tolerance. With many constant angles that are no right ones every
    distinct coefficient is a constant, a number where the robot's are.

    >>> import emdeg
    >>> from emdeg.equations import derive
    >>> found = lumped_constants(derive(emdeg.load("planar2r")))
    >>> [(constant.name, str(constant.formula)) for constant in found.constants][1:3]
    [('I2', 'a1*m2*rx2'), ('I3', 'm2*rx2^2 + Izz2')]
    """
    rounded = sum(angle.symbol is None for angle in model.algebra.constant_angles) > MOST_ANGLES
    known = model.known
    if rounded or not model.algebra.parameters:
        budget = model.algebra.max_terms
        model = derive(model.robot, model.parts, symbolic=not rounded, rational_angles=rounded, budget=budget)
        known = {**known, **model.known}
    entries = model.entries([part for part in DYNAMICS if part in model.parts])
    return lump(
        entries,
        groups=parallel_joints(model.robot),
        drives=dict(enumerate(model.drives, 1)) if "M" in model.parts else {},
        values={name: number.value for name, number in known.items()},
        tolerances={name: number.tolerance or 0 for name, number in known.items()},
        by_coefficient=rounded,
    )
