"""Motion: trajectories, control laws, simulation, and the constants of motion that keep them honest."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.simulation.controllers.conditioning import Conditioning, converter_steps
    from emdeg.simulation.controllers.laws import (
        Law,
        MultiRate,
        ProgramLaw,
        UserLaw,
        abbreviated_model,
        computed_torque,
        feed_forward,
        motor_efforts,
        pd,
    )
    from emdeg.simulation.controllers.linearisation import StateSpace, closed_loop, linearise, sampled_poles
    from emdeg.simulation.integrators.methods import METHODS, Explicit
    from emdeg.simulation.motion import Event, Motion
    from emdeg.simulation.pictures.stick_figures import animate
    from emdeg.simulation.plant.constants_of_motion import DriftWarning, Invariants, StiffWarning, free_joints
    from emdeg.simulation.plant.passive import Passive, elastic_stops
    from emdeg.simulation.rollouts import Rollouts, effort_noise, rollout
    from emdeg.simulation.run import simulate
    from emdeg.simulation.scenarios.outcome import Outcome, perform, summary, torques
    from emdeg.simulation.scenarios.scenario import Scenario, load_scenario, load_trajectory, scenario_names
    from emdeg.simulation.trajectories.joint_space import (
        Fourier,
        PointToPoint,
        Still,
        Trajectory,
        cycloidal,
        fourier,
        quintic,
        through,
        trapezoidal,
    )
    from emdeg.simulation.trajectories.limits import drive_limits, excesses, need_within_limits
    from emdeg.simulation.trajectories.reaching import inverse_kinematics
    from emdeg.simulation.trajectories.spherical_wrist import all_positions
    from emdeg.simulation.trajectories.tables import read_trajectory
    from emdeg.simulation.trajectories.tool_paths import circle, follow, line

on_demand(globals())
