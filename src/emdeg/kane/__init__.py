"""Kane's method: generalized speeds of the user's choice, and the equations of motion in them.

`load_setup(path, robot)` reads the choice; `KaneModel(robot, setup)` evaluates speeds, rates and equations of motion.
One implementation serves chains, trees and closed loops: only how the joints' rates follow the coordinates' differs.
"""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.kane.choice import Candidate, choose, natural_setups
    from emdeg.kane.description import PARTS, Description, Part, describe
    from emdeg.kane.equations import INPUTS, METHODS, Function
    from emdeg.kane.inverse import SpeedInverse, speed_inverse
    from emdeg.kane.model import KaneModel, NearlySingularSpeeds
    from emdeg.kane.pages import kane_data, kane_document
    from emdeg.kane.program import kane_parts, kane_program
    from emdeg.kane.reader import load_setup, read_setup
    from emdeg.kane.reference import verify_kane
    from emdeg.kane.setup import (
        AngularVelocity,
        JointSpring,
        LinearForm,
        Load,
        PointSpring,
        PointVelocity,
        Rate,
        Setup,
        Speed,
        joint_rates,
    )

on_demand(globals())
