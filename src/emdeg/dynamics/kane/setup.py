"""What a user chooses for Kane's method: generalized speeds, prescribed motions, and what else acts on the robot.

Inert data. Joints and links are numbers of a `Robot`; `reader` makes this from a file and checks every name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from emdeg.algebra import ZERO, Exact, Expression
from emdeg.robot import NOWHERE, Frame, Robot, Vector

WORLD = -2
"""The link number of the Newtonian frame N: where the base frame stands when a prescribed base rests at zero."""

BaseAxis = Literal["x", "y", "z", "yaw", "pitch", "roll"]
BASE_AXES: tuple[BaseAxis, ...] = get_args(BaseAxis)
"""In the order in which they are carried out: shifts along N's axes, then turns about z, the new y, the new x."""


@dataclass(frozen=True, slots=True)
class Rate:
    """u = qd of one joint [rad/s, m/s]."""

    joint: int


@dataclass(frozen=True, slots=True)
class AngularVelocity:
    """u = direction . omega of a body in N [rad/s]; `direction` has its components in `frame`."""

    body: Frame
    frame: Frame
    direction: Vector


@dataclass(frozen=True, slots=True)
class PointVelocity:
    """u = direction . v of the point `point` [m, in the body's frame] in N [m/s]; `direction` in `frame`."""

    body: Frame
    point: Vector
    frame: Frame
    direction: Vector


@dataclass(frozen=True, slots=True)
class LinearForm:
    """u = sum of coefficient * qd over some joints, plus `constant` (Kane and Levinson (1): A and B)."""

    coefficients: tuple[tuple[int, Expression], ...]
    constant: Expression | None = None


Speed = Rate | AngularVelocity | PointVelocity | LinearForm


@dataclass(frozen=True, slots=True)
class Load:
    """A force [N] at a point of a body, or a torque [N m] on it, with components in `frame`.

    `value` None: the three components are an input of the programs.
    """

    kind: Literal["force", "torque"]
    body: Frame
    frame: Frame
    point: Vector = NOWHERE
    value: Vector | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class JointSpring:
    """An effort -stiffness (q - rest) - damping qd at a joint [N m, N; rad, m]."""

    joint: int
    stiffness: Exact = ZERO
    rest: Exact = ZERO
    damping: Exact = ZERO


@dataclass(frozen=True, slots=True)
class PointSpring:
    """A spring and damper between two bodies' points: each is pulled to the other.

    The force is stiffness (d - length d/|d|) + damping d' along the line d between the points [N/m, m, N s/m]; with
    length zero it is linear in d.
    """

    first: Frame
    first_point: Vector
    second: Frame
    second_point: Vector
    stiffness: Exact
    length: Exact = ZERO
    damping: Exact = ZERO


@dataclass(frozen=True, slots=True)
class Setup:
    """Generalized speeds and everything else that is chosen. `prescribed` are joints whose motion is given."""

    speeds: tuple[Speed, ...]
    names: tuple[str, ...] = ()
    prescribed: tuple[int, ...] = ()
    base: tuple[BaseAxis, ...] = ()
    loads: tuple[Load, ...] = ()
    joint_springs: tuple[JointSpring, ...] = ()
    point_springs: tuple[PointSpring, ...] = ()
    friction: bool = False
    smoothing: Exact | None = None
    """Speed [rad/s, m/s] below which dry friction falls off: qd / sqrt(qd^2 + smoothing^2) for sign(qd)."""
    title: str = ""

    def free(self, robot: Robot) -> tuple[int, ...]:
        """The joints that are not prescribed, in the robot's order: of closed loops the independent coordinates."""
        return tuple(k for k in coordinates_of(robot) if k not in self.prescribed)

    @property
    def input_loads(self) -> tuple[Load, ...]:
        """The loads whose components are inputs."""
        return tuple(load for load in self.loads if load.value is None)

    @property
    def given_motions(self) -> int:
        """How many motions are prescribed: joints first, then the base's axes."""
        return len(self.prescribed) + len(self.base)


def coordinates_of(robot: Robot) -> tuple[int, ...]:
    """The joints whose variables are independent: all of a tree's, with loops those chosen."""
    return tuple(range(robot.n)) if robot.loops is None else robot.loops.coordinates


def joint_rates(robot: Robot, prescribed: tuple[int, ...] = ()) -> Setup:
    """The plain choice: u = qd of every joint, with loops of every coordinate, that is not prescribed."""
    free = [k for k in coordinates_of(robot) if k not in prescribed]
    return Setup(tuple(Rate(k) for k in free), prescribed=prescribed, title="joint rates")
