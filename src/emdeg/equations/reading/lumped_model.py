"""The lumped constants of a derived model."""

from __future__ import annotations

from dataclasses import replace

from emdeg.algebra import Generator, TrigPoly
from emdeg.equations.derive import MOST_ANGLES
from emdeg.equations.model import DYNAMICS, Formulas, Model
from emdeg.equations.reading.lumped import Lumped, lump
from emdeg.robot.algebra import algebra_of
from emdeg.robot.parallel import parallel_joints


def lumped_constants(model: Model) -> Lumped:
    """The named constants of a model and its entries in them.

    They are found in the symbols that the model was derived in (m2, rx2, Ixx2, a2, ...), so that every constant has a
    formula in the robot's parameters beside its value and tolerance. With many constant angles that are no right
    ones, and in a model that never had symbols, every distinct coefficient is a constant, a number where the robot's
    are.

    >>> import emdeg
    >>> from emdeg.equations import derive
    >>> found = lumped_constants(derive(emdeg.load("planar2r")))
    >>> [(constant.name, str(constant.formula)) for constant in found.constants][1:3]
    [('I2', 'a1*m2*rx2'), ('I3', 'm2*rx2^2 + Izz2')]
    """
    source = model.general or model
    formulas, by_coefficient = source.formulas, not source.algebra.parameters
    if sum(angle.symbol is None for angle in source.algebra.constant_angles) > MOST_ANGLES:
        formulas, by_coefficient = _with_rational_angles(source), True
    entries = replace(source, stated=formulas).entries([part for part in DYNAMICS if part in source.parts])
    return lump(
        entries,
        groups=parallel_joints(source.robot),
        drives=dict(enumerate(formulas.drives, 1)) if "M" in source.parts else {},
        values={name: number.value for name, number in source.known.items()},
        tolerances={name: number.tolerance or 0 for name, number in source.known.items()},
        by_coefficient=by_coefficient,
    )


def _with_rational_angles(model: Model) -> Formulas:
    """The formulas with numbers for the sines and cosines of constant angles: as letters they are too long to read."""
    algebra = algebra_of(model.robot, rational_angles=True, budget=model.algebra.max_terms)
    images: dict[Generator, TrigPoly] = {}
    for angle in model.algebra.constant_angles:
        sine, cosine = algebra.sincos(angle)
        images |= {Generator("sine", angle): sine, Generator("cosine", angle): cosine}
    return model.formulas.put(images, algebra, [link.parent for link in model.robot.links])
