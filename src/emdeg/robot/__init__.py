"""What a robot is, how it is read, and the rules it must keep."""

from emdeg.robot.assemble import Draft, assemble
from emdeg.robot.load import check, library_names, load, read_draft
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
from emdeg.robot.toml_writer import to_toml

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
    "Payload",
    "Placement",
    "Pose",
    "Robot",
    "assemble",
    "check",
    "library_names",
    "load",
    "read_draft",
    "substitute",
    "to_toml",
]
