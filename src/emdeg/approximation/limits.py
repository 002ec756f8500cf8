"""How wrong an approximate program may be, by joint: the significance rule, friction, tolerances [N m, N].

What is not known of a robot need not be computed: a joint's friction, which a controller does not know to the last, and
the tolerances of its masses and lengths are errors that every model has.
"""

from __future__ import annotations

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.shortening.adversary import MOTION, random_states, worst_states
from emdeg.approximation.significance import JOINT_SIGNIFICANCE
from emdeg.dynamics.parameters import VariedRobot, base_values
from emdeg.errors import RobotError
from emdeg.programs import plain_program, program
from emdeg.robot import Robot, Workspace
from emdeg.runtime import compile

STATES = 20_000
"""Random states that the rule looks at."""
FEW = 400
"""Those at which what tolerances do to torques is averaged."""


def rule_limits(
    robot: Robot,
    where: Workspace,
    significance: float,
    joint_significance: float = JOINT_SIGNIFICANCE,
    seed: int = 0,
) -> tuple[float, ...]:
    """By joint: the error found of leaving out all parameters that the significance rule calls insignificant [N m, N].

    A base parameter's share of an effort is insignificant if it stays below `significance` of the greatest share in
    that joint's equation, or below `joint_significance` of what the constant part of the joint's own inertia takes to
    accelerate; one goes that is so in every equation. It is the paper's rule for robots whose explicit form is too
    long to be searched term by term.
    """
    values = np.array([float(value.number) for value in base_values(robot)])
    call = compile(program(robot, "regressor", base=True))
    random = np.random.default_rng(seed)
    shares = np.abs(call(**random_states(where, MOTION, STATES, random)) * values).max(axis=0)
    turned = np.where(
        [joint.kind == "revolute" for joint in robot.coordinates],
        random.uniform(-np.pi, np.pi, (STATES, robot.freedoms)),
        where.sample(STATES, random),
    )
    M = compile(program(robot, "mass_matrix"))(q=turned)
    constant = np.einsum("tii->i", M) / STATES * np.array(where.acceleration)
    thresholds = np.maximum(significance * shares.max(axis=1), joint_significance * constant)
    gone = (shares < thresholds[:, None]).all(axis=0)
    left_out = values * gone
    worst, _ = worst_states(lambda states: call(**states) @ left_out, where, MOTION, random)
    return _not_nothing(worst)


def friction_limits(robot: Robot, where: Workspace, share: float) -> tuple[float, ...]:
    """By joint: a share of the mean magnitude of its friction over the speeds of the box [N m, N]."""
    law = plain_program(robot, "friction")
    states = random_states(where, MOTION, STATES, np.random.default_rng(0))
    states["qd"] = np.random.default_rng(1).uniform(-1, 1, states["qd"].shape) * where.speed
    mean = np.abs(compile(law)(**{group.name: states[group.name] for group in law.inputs})).mean(axis=0)
    for joint, size in zip(robot.coordinates, mean):
        if not size > 0:
            raise RobotError("no friction is stated for it: its share says nothing of errors", body=joint.name)
    return tuple(map(float, share * mean))


def tolerance_limits(robot: Robot, where: Workspace, share: float, seed: int = 0) -> tuple[float, ...]:
    """By joint: a share of what the file's tolerances make uncertain of its effort, a standard deviation [N m, N].

    To first order, root mean square over random states of the box.
    """
    varied = VariedRobot(robot)
    if not varied.stated:
        raise RobotError("its file states no tolerances: what is known of it is not known", body=robot.name)
    states = random_states(where, MOTION, FEW, np.random.default_rng(seed))
    _, changes = varied.effort_changes(states["q"], states["qd"], states["qdd"])
    return _not_nothing(share * np.sqrt((changes**2).sum(axis=0).mean(axis=0)))


def _not_nothing(limits: Array) -> tuple[float, ...]:
    """The limits, none of them zero: a joint of which nothing may be left out still has its doubles' roundings."""
    return tuple(map(float, np.maximum(limits, 1e-6 * max(float(limits.max()), 1e-12))))
