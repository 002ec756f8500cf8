"""What a robot is, how it is read, and the rules it must keep."""

from emdeg.robot.assemble import Draft, assemble
from emdeg.robot.errors import OverBudget, RobotError
from emdeg.robot.model import (
    BASE,
    Drive,
    Frame,
    Friction,
    Inertia,
    Joint,
    Limits,
    Link,
    Payload,
    Placement,
    Pose,
    Robot,
)
from emdeg.robot.normal_form import Body
from emdeg.robot.substitute import substitute

__all__ = [
    "BASE",
    "Body",
    "Draft",
    "Drive",
    "Frame",
    "Friction",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "OverBudget",
    "Payload",
    "Placement",
    "Pose",
    "Robot",
    "RobotError",
    "assemble",
    "substitute",
]
