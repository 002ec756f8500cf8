"""What an extension may say of a robot beyond its tree of links: the protocol, and its empty form.

A robot of another kind than a tree (closed loops, coupled joints) carries frozen data of the extension as
`Robot.constraints`. The core reads no more of it than the methods below.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from emdeg.algebra import Angle, Exact
from emdeg.robot.kinds import TREE_KIND

if TYPE_CHECKING:
    from emdeg.robot.model import Frame, Link, Pose, Robot
    from emdeg.robot.symbols import ParameterGroup


class NamedBody(Protocol):
    """A body besides the links."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Constraints:
    """No constraints: every joint of the tree is a coordinate and has a motor."""

    kind: ClassVar[str] = TREE_KIND
    """The registered name of the kind of mechanism that a robot with these constraints is."""

    def independent(self, n: int) -> tuple[int, ...]:
        """The joints of n, by number, whose variables are the coordinates."""
        return tuple(range(n))

    def actuated(self, n: int) -> tuple[int, ...]:
        """The joints of n, by number, that have motors."""
        return tuple(range(n))

    def with_actuated(self, joints: tuple[int, ...]) -> Constraints:
        """The same with motors at other joints, by number."""
        return self

    @property
    def bodies(self) -> Sequence[NamedBody]:
        """The bodies besides the links, in the order of their parameters in a regressor."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the constraints are called, one name a constraint."""
        return ()

    @property
    def loops(self) -> Any:
        """What closes the loops of a robot with closed loops."""
        return None

    @property
    def digested(self) -> object:
        """What the digest of a robot is made of besides its links."""
        return None

    @property
    def effort_weights(self) -> Sequence[Fraction]:
        """A weight of every actuator where they are more than the coordinates; none where all are equal."""
        return ()

    @property
    def symbol_values(self) -> Mapping[str, Fraction]:
        """Numbers near which symbols are meant."""
        return {}

    def exact_values(self) -> Iterable[Exact | Angle]:
        """Every value that the equations of motion depend on."""
        return ()

    def parameter_groups(self) -> Iterable[ParameterGroup]:
        """The numbers that may become symbols."""
        return ()

    def body_parameters(self) -> Iterable[Mapping[str, Exact]]:
        """Of each body besides the links its parameters that are not zero, by the names of a regressor's columns."""
        return ()

    def with_body_parameters(self, values: Sequence[Mapping[str, Exact]]) -> Constraints:
        """The same with other parameters of the bodies."""
        return self

    def with_values(self, values: Mapping[str, Fraction]) -> Constraints:
        """The same, told near which numbers symbols are meant."""
        return self

    def with_geometry(self, shape: Robot, base: Pose) -> Robot:
        """`shape`, the bare geometry of a tree, with what the constraints add to it; `base` is the robot's own."""
        return shape

    def massless(self) -> Constraints:
        """The same with bodies that have no inertia."""
        return self

    def to_toml(self, links: Sequence[Link], root: str) -> list[str]:
        """The sections of a robot file that say the same, each as text; `root` is the base's name."""
        return []


@dataclass(frozen=True, slots=True)
class ConstraintsDraft:
    """Constraints as a file states them, by names: here none."""

    def resolved(
        self, links: Sequence[Link], host: Callable[[str, str], Frame], locked: Collection[str]
    ) -> Constraints:
        """The constraints of the links of a normal form.

        `host` finds the frame that is called so (name, what for); joints that are `locked` do not move any more.
        """
        return Constraints()
