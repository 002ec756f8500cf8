"""Motion: trajectories, control laws, simulation, and the constants of motion that keep them honest."""

from emdeg.simulation.animation import animate
from emdeg.simulation.cartesian import circle, follow, line
from emdeg.simulation.conditioning import Conditioning, converter_steps, drive_limits
from emdeg.simulation.controllers import (
    Law,
    MultiRate,
    ProgramLaw,
    UserLaw,
    abbreviated_model,
    computed_torque,
    feed_forward,
    pd,
)
from emdeg.simulation.invariants import DriftWarning, Invariants, free_joints
from emdeg.simulation.inverse_kinematics import inverse_kinematics
from emdeg.simulation.limits import excesses, need_within_limits
from emdeg.simulation.linearisation import StateSpace, closed_loop, linearise
from emdeg.simulation.motion import Event, Motion
from emdeg.simulation.passive import Passive, drive_friction, elastic_stops
from emdeg.simulation.perform import Outcome, perform, summary, torques
from emdeg.simulation.scenario import Scenario, load_scenario, load_trajectory, scenario_names
from emdeg.simulation.simulate import simulate
from emdeg.simulation.tables import read_trajectory
from emdeg.simulation.trajectories import (
    Still,
    Trajectory,
    cycloidal,
    fourier,
    quintic,
    through,
    trapezoidal,
)
from emdeg.simulation.wrist import all_positions

__all__ = [
    "Conditioning",
    "DriftWarning",
    "Event",
    "Invariants",
    "Law",
    "Motion",
    "MultiRate",
    "Outcome",
    "Passive",
    "ProgramLaw",
    "Scenario",
    "StateSpace",
    "Still",
    "Trajectory",
    "UserLaw",
    "abbreviated_model",
    "all_positions",
    "animate",
    "circle",
    "closed_loop",
    "computed_torque",
    "converter_steps",
    "cycloidal",
    "drive_friction",
    "drive_limits",
    "elastic_stops",
    "excesses",
    "feed_forward",
    "follow",
    "fourier",
    "free_joints",
    "inverse_kinematics",
    "line",
    "linearise",
    "load_scenario",
    "load_trajectory",
    "need_within_limits",
    "pd",
    "perform",
    "quintic",
    "read_trajectory",
    "scenario_names",
    "simulate",
    "summary",
    "through",
    "torques",
    "trapezoidal",
]
