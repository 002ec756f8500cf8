"""Kane's method: generalized speeds of one's choice, partial velocities, prescribed motions, forces."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.kane.closed import LoopSystem, check_loop_setup, loop_system
    from emdeg.dynamics.kane.equations import inertia_coefficients, kane_coefficients
    from emdeg.dynamics.kane.forces import external_wrenches, joint_actions
    from emdeg.dynamics.kane.reader import load_setup, read_setup
    from emdeg.dynamics.kane.setup import (
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
    from emdeg.dynamics.kane.systems import (
        System,
        host,
        known_angular_velocities,
        speed_matrix,
        speed_rates,
        speed_values,
        system,
        velocities,
    )

on_demand(globals())
