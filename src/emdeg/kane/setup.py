"""What a user chooses for Kane's method: generalized speeds, prescribed motions, and what else acts on the robot.

Frozen data. Joints and links are numbers of a `Robot`; `reader` makes a `Setup` from a file and checks every name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from emdeg.algebra import ONE, ZERO, Exact, Expression
from emdeg.errors import RobotError
from emdeg.robot import NOWHERE, Frame, Robot, Vector

WORLD = -2
"""The link number of the Newtonian frame N: where the base frame is when a prescribed base rests at zero."""

AXES: dict[str, Vector] = {"x": (ONE, ZERO, ZERO), "y": (ZERO, ONE, ZERO), "z": (ZERO, ZERO, ONE)}
BaseAxis = Literal["x", "y", "z", "yaw", "pitch", "roll"]
BASE_AXES: tuple[BaseAxis, ...] = get_args(BaseAxis)
"""In the order in which they are applied: translations along N's axes, then rotations about z, the new y, the new x."""
TURNS: tuple[BaseAxis, ...] = ("yaw", "pitch", "roll")


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
    """A generalized force -stiffness (q - rest) - damping qd at a joint [N m, N; rad, m]."""

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
        """The independent joints that are not prescribed, in the robot's order."""
        return tuple(k for k in coordinates_of(robot) if k not in self.prescribed)

    def actuated(self, robot: Robot) -> tuple[int, ...]:
        """The joints whose torques or forces are tau: the actuated ones that are not prescribed."""
        return tuple(k for k in map(robot.joints.index, robot.driven) if k not in self.prescribed)

    def names_of(self, robot: Robot) -> tuple[str, ...]:
        """The speeds' names, u1, u2, ... by default."""
        return self.names or tuple(f"u{i + 1}" for i in range(len(self.free(robot))))

    def turning(self, robot: Robot) -> list[bool]:
        """Whether each variable is an angle: free joints, prescribed joints, the base's axes."""
        joints = (*self.free(robot), *self.prescribed)
        return [robot.joints[k].kind == "revolute" for k in joints] + [axis in TURNS for axis in self.base]

    @property
    def input_loads(self) -> tuple[Load, ...]:
        """The loads whose components are inputs."""
        return tuple(load for load in self.loads if load.value is None)

    @property
    def given_motions(self) -> int:
        """How many motions are prescribed: joints first, then the base's axes."""
        return len(self.prescribed) + len(self.base)


def coordinates_of(robot: Robot) -> tuple[int, ...]:
    """The joints whose variables are the independent coordinates, by number."""
    return tuple(map(robot.joints.index, robot.coordinates))


def joint_numbers(robot: Robot) -> dict[str, int]:
    """The joints by name, and as q1, q2, ... in the robot's order where no joint has that name."""
    found = {joint.name: k for k, joint in enumerate(robot.joints)}
    return {f"q{k + 1}": k for k in range(robot.n)} | found


def joint_rates(robot: Robot, prescribed: tuple[int, ...] = ()) -> Setup:
    """The plain choice: u = qd of every independent joint that is not prescribed."""
    free = [k for k in coordinates_of(robot) if k not in prescribed]
    return Setup(tuple(Rate(k) for k in free), prescribed=prescribed, title="joint rates")


def check_setup(robot: Robot, setup: Setup) -> None:
    """Raise `RobotError` for a prescribed motion or a spring that needs the variable of a dependent joint."""
    independent = coordinates_of(robot)
    if setup.base and len(independent) < robot.n:
        raise RobotError("a moving base is not known for closed loops", body=robot.name)
    for k in setup.prescribed:
        if k not in independent:
            names = ", ".join(joint.name for joint in robot.coordinates)
            raise RobotError(
                f"the motion of {robot.joints[k].name} cannot be prescribed: it is none of the independent coordinates "
                f"({names}); choose them so (emdeg.loops.with_coordinates, or the file)",
                body=robot.name,
            )
    for spring in setup.joint_springs:
        joint = robot.joints[spring.joint]
        if spring.stiffness and joint.kind == "revolute" and spring.joint not in independent:
            raise RobotError(
                f"a spring at {joint.name} needs its angle, of which only sine and cosine follow from the coordinates; "
                "give it a damping alone, or join two points by a spring",
                body=robot.name,
            )
