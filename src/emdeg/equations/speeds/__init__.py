"""The kinematic equations of generalized speeds, in formulas: u = A qd + B, solved for the rates."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.equations.speeds.inverse import Solver, SpeedInverse, solver, speed_inverse
    from emdeg.equations.speeds.matrix import SpeedAlgebra, SpeedSingularity, speed_algebra

on_demand(globals())
