"""The kinematic equations of generalized speeds, in formulas: u = A qd + B, solved for the rates."""

from emdeg.equations.speeds.inverse import Solver, SpeedInverse, solver, speed_inverse
from emdeg.equations.speeds.matrix import Singularity, SpeedAlgebra, speed_algebra

__all__ = ["Singularity", "Solver", "SpeedAlgebra", "SpeedInverse", "solver", "speed_algebra", "speed_inverse"]
