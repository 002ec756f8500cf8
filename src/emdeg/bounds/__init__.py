"""Certified ranges of formulas over boxes of joint positions, rates and accelerations.

>>> from emdeg.algebra import TrigAlgebra
>>> algebra = TrigAlgebra(revolute=[1])
>>> s, c = algebra.joint_sincos(1)
>>> found = extremes(3 * s + 4 * c, {1: (-3.2, 3.2)})
>>> round(found.low.value, 6), round(found.high.value, 6), found.high.gap <= 1e-3
(-5.0, 5.0, True)
"""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.bounds.enclosures import Boxes, Enclosure
    from emdeg.bounds.extrema import (
        CertifiedExtremum,
        Extremes,
        attained_ratio,
        extreme,
        extremes,
        largest,
        largest_magnitude,
        largest_ratio,
    )
    from emdeg.bounds.formulas import FormulaVector, Range, Variable, basis, formula_vector, joint_variable
    from emdeg.bounds.grids import Supremum, supremum
    from emdeg.bounds.interpolation import interpolated, node_states, trimmed
    from emdeg.bounds.limits import SearchLimits, cancelled, clock
    from emdeg.bounds.nested import NestedSupremum
    from emdeg.bounds.subdivision import BoxValues, largest_values

on_demand(globals())
