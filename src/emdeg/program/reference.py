"""The same functions by other formulations: what a program is verified against.

Nothing here is regrouped or simplified, and no output comes from the algorithm that the program was traced from:
torques from the mass matrix, Christoffel symbols and the gradient of the potential; the mass matrix from the kinetic
energy; accelerations from articulated bodies; Jacobians from derivatives of the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from emdeg.algebra.dual import derivative
from emdeg.algebra.prime_field import PrimeField
from emdeg.mechanics import articulated_body, composite_body, coriolis, differentiation, energy, kinematics
from emdeg.mechanics.linear import Scalar, matmul, total
from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, frames, mechanism
from emdeg.mechanics.newton_euler import newton_euler
from emdeg.program.degree import degree_bound
from emdeg.program.functions import FUNCTIONS, Outputs, State, _unit
from emdeg.program.ir import Dependence, Program
from emdeg.program.trace import Tracer
from emdeg.program.verify import Certificate, verify
from emdeg.robot.model import Robot
