"""From measurements to parameters: bench experiments, recorded motions, fitted friction."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.identification.comparison import comparison_part
    from emdeg.identification.measured import Comparison, Estimate, FrictionFit, JointDeviation, compare, fit_friction
    from emdeg.identification.recording import Recording, doubts, read_motion, read_recording

on_demand(globals())
