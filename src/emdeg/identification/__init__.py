"""From measurements to parameters: bench experiments, recorded motions, fitted friction."""

from emdeg.identification.comparison import comparison_part
from emdeg.identification.measured import Comparison, Estimate, FrictionFit, JointDeviation, compare, fit_friction
from emdeg.identification.recording import Recording, doubts, read_motion, read_recording

__all__ = [
    "Comparison",
    "Estimate",
    "FrictionFit",
    "JointDeviation",
    "Recording",
    "compare",
    "comparison_part",
    "doubts",
    "fit_friction",
    "read_motion",
    "read_recording",
]
