"""Kane's method: generalized speeds that a file chooses, and the equations of motion in them.

`load_setup(path, robot)` reads the choice; `KaneModel(robot, setup)` evaluates speeds, rates and equations of motion.
"""

from emdeg.dynamics.kane import load_setup
from emdeg.runtime import KaneModel

__all__ = ["KaneModel", "load_setup"]
