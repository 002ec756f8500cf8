"""The types of joints that robots may have, by name: how many coordinates and speeds each has, in which units.

Types are registered; `emdeg.dynamics.joints` adds to each what the algorithms need (transform, motion axes).
"""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.errors import RobotError


@dataclass(frozen=True, slots=True)
class JointType:
    """A type of joint: its name, and the unit of each coordinate (rad, m, 1) and of each speed (rad/s, m/s).

    `elementary`: it rotates about or translates along z alone; explicit formulas and moved link frames need this.
    """

    name: str
    coordinate_units: tuple[str, ...]
    speed_units: tuple[str, ...]
    elementary: bool = False

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return len(self.coordinate_units)

    @property
    def nv(self) -> int:
        """The number of speeds."""
        return len(self.speed_units)


JOINT_TYPES: dict[str, JointType] = {
    "revolute": JointType("revolute", ("rad",), ("rad/s",), elementary=True),
    "prismatic": JointType("prismatic", ("m",), ("m/s",), elementary=True),
}
"""Name -> type, those registered by extensions included."""


def register_joint_type(one: JointType) -> None:
    """Make a type of joint known by its name."""
    JOINT_TYPES[one.name] = one


def joint_type(name: str) -> JointType:
    """The type of joint of this name; RobotError where none is registered."""
    if name not in JOINT_TYPES:
        raise RobotError(f"there is no joint type {name!r}; there are {', '.join(JOINT_TYPES)}")
    return JOINT_TYPES[name]
