"""The lumped constants of a derived model."""

from __future__ import annotations

from emdeg.equations.angles import parallel_joints
from emdeg.equations.lumped import Lumped, lump
from emdeg.equations.model import DYNAMICS, Model


def lumped_constants(model: Model) -> Lumped:
    """The named constants of a model and its entries in them; for formulas in parameters derive it `symbolic`.

    >>> import emdeg
    >>> from emdeg.equations import derive
    >>> found = lumped_constants(derive(emdeg.load("planar2r"), symbolic=True))
    >>> [constant.name for constant in found.constants]
    ['I1', 'I2', 'I3', 'g1', 'g2']
    """
    entries = model.entries([part for part in DYNAMICS if part in model.parts])
    known = model.known
    return lump(
        entries,
        groups=parallel_joints(model.robot),
        drives=dict(enumerate(model.drives, 1)) if "M" in model.parts else {},
        values={name: number.value for name, number in known.items()},
        tolerances={name: number.tolerance or 0 for name, number in known.items()},
    )
