"""Kane's method: generalized speeds of the user's choice, and the equations of motion in them.

`load_setup(path, robot)` reads the choice; `KaneModel(robot, setup)` evaluates speeds, rates and equations of motion.
One implementation serves chains, trees and closed loops: only how the joints' rates follow the coordinates' differs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
