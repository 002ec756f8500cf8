"""What a robot is, how it is read and written, the rules it must keep, where it moves, its numbers as symbols."""

from emdeg.robot.assembly import Draft, assemble
from emdeg.robot.loading import RobotLike, as_robot, check, library_names, load, read_draft
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
from emdeg.robot.substitution import substitute
from emdeg.robot.symbols import Known, Opened, opened, parameter_paths, symbolize, with_symbolic_payload
from emdeg.robot.toml_writer import to_toml
from emdeg.robot.workspaces import Workspace, joint_number, workspace

__all__ = [
    "BASE",
    "Body",
    "Draft",
    "Drive",
    "Frame",
    "Friction",
    "Inertia",
    "Joint",
    "Known",
    "Limits",
    "Link",
    "Opened",
    "Payload",
    "Placement",
    "Pose",
    "Robot",
    "Workspace",
    "RobotLike",
    "as_robot",
    "assemble",
    "check",
    "joint_number",
    "library_names",
    "load",
    "opened",
    "parameter_paths",
    "read_draft",
    "substitute",
    "symbolize",
    "to_toml",
    "with_symbolic_payload",
    "workspace",
]
