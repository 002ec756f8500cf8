"""A mechanism at a configuration with its setup, over any scalar.

The joints' rates follow from the independent coordinates' rates by the state's own map (`State.rates`; the identity
where every joint is a coordinate), so that chains, trees and closed loops are one case. A moving base is connected to
the Newtonian frame N by massless links, one for each of its prescribed axes: their joints are prescribed joints like
any other. These links come first in the mechanism; the robot's follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from emdeg.algebra.linear import product, solve_system, times, transposed
from emdeg.dynamics import Inputs, State, kind_of
from emdeg.dynamics.joints import PRISMATIC, REVOLUTE, DHTransform, Position
from emdeg.dynamics.mechanism import Frames, Mechanism, Rotor, frames, pose_matrices, written
from emdeg.dynamics.spatial import BodyInertia, Mat3, Scalar, Vec3, add, matmul, mul, sub, tmul, transpose
from emdeg.dynamics.state import TreeState
from emdeg.dynamics.variants import Axial, inertia_handed_inwards
from emdeg.errors import RobotError
from emdeg.kane.setup import TURNS, BaseAxis, Setup, check_setup, coordinates_of
from emdeg.robot import BASE, Frame, Robot, Vector

_ALONG: dict[BaseAxis, int] = {"x": 0, "y": 1, "z": 2, "yaw": 2, "pitch": 1, "roll": 0}

Rows = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class System:
    """A mechanism at a configuration with its setup.

    `coordinates` are the mechanism's joints whose variables are independent; `free` and `given` are places among them:
    those whose rates the speeds determine, and those with a prescribed motion, the robot's own first, then the base's
    axes. The robot's joint or link i has the number `offset` + i in the mechanism.
    """

    robot: Robot
    setup: Setup
    state: State
    coordinates: tuple[int, ...]
    free: tuple[int, ...]
    given: tuple[int, ...]
    offset: int
    base_axes: Mat3
    """The base frame in the frame of its last massless link."""

    @property
    def mech(self) -> Mechanism:
        return self.state.tree

    @property
    def frame(self) -> Frames:
        return self.state.frame

    @property
    def position(self) -> Sequence[Position]:
        """Of every joint of the mechanism."""
        return self.state.position

    @property
    def actuated(self) -> tuple[int, ...]:
        """The joints of the mechanism whose torques or forces are tau."""
        return tuple(self.offset + k for k in self.setup.actuated(self.robot))

    def scattered(self, of_free: Sequence[Scalar], of_given: Sequence[Scalar]) -> list[Scalar]:
        """One value a coordinate."""
        values: list[Scalar] = [self.mech.zero] * len(self.coordinates)
        for places, given in ((self.free, of_free), (self.given, of_given)):
            for place, value in zip(places, given):
                values[place] = value
        return values

    def variables(self, of_free: Sequence[Scalar], of_given: Sequence[Scalar]) -> list[Any]:
        """Every joint's own variable [rad, m]; None where an angle is known by its sine and cosine alone."""
        given = dict(zip(self.coordinates, self.scattered(of_free, of_given)))
        revolute = self.mech.revolute
        return [given.get(k, None if revolute[k] else at) for k, at in enumerate(self.position)]

    @cached_property
    def W(self) -> Rows:
        """Every joint's rate per coordinate's."""
        zero, one, places = self.mech.zero, self.mech.one, range(len(self.coordinates))
        rates = self.state.rates
        return [[one if i == k else zero for i in places] for k in places] if rates is None else rates

    def joint_rates(self, xd: Sequence[Scalar]) -> list[Scalar]:
        """Every joint's rate from the coordinates'."""
        return times(self.W, xd, self.mech.zero)

    def generalized(self, places: Sequence[int], torques: Sequence[Scalar]) -> list[Scalar]:
        """The generalized forces in these coordinates of torques and forces at all joints: W^T tau."""
        return times(transposed(_columns(self.W, places)), torques, self.mech.zero)

    def allocated(self, force: Sequence[Scalar], W: Rows | None = None) -> list[Scalar]:
        """tau of the actuated joints that give these generalized forces in the free coordinates.

        Where the actuators are more than the free coordinates: the least sum of tau^2 / weight. `W` is the joints'
        rates per coordinate's, by default the state's.
        """
        W, driven, mech = W or self.W, self.actuated, self.mech
        if len(driven) < len(self.free):
            raise RobotError(
                f"{len(driven)} driven joints are left for {len(self.free)} free coordinates: prescribe no driven "
                "joint, or describe the mechanism by its motors (emdeg.loops.with_coordinates)",
                body=self.robot.name,
            )
        J, right = _columns([W[k] for k in driven], self.free), [[f] for f in force]
        if len(J) == len(force):
            return [x[0] for x in solve_system(transposed(J), right, mech.algebra)]
        own = dict(zip(map(self.robot.joints.index, self.robot.driven), self.state.actuator_weights))
        weighted = [[own[k] * x for x in row] for k, row in zip(driven, J)]
        mu = solve_system(product(transposed(J), weighted, mech.zero), right, mech.algebra)
        return times(weighted, [x[0] for x in mu], mech.zero)

    def exact(self, vector: Vector) -> Vec3:
        x, y, z = (written(self.mech.algebra, v) for v in vector)
        return x, y, z


def _columns(W: Rows, places: Sequence[int]) -> list[list[Scalar]]:
    return [[row[place] for place in places] for row in W]


def system(
    robot: Robot,
    setup: Setup,
    algebra: Any,
    of_free: Sequence[Position],
    of_given: Sequence[Position] = (),
    regrouped: bool = False,
) -> System:
    """The robot with its free and prescribed variables at these positions, base parameters for the inertias or not.

    A position is (sine, cosine) of a revolute joint, a displacement [m] of a prismatic one. RobotError where the
    mechanism or the setup does not allow it.
    """
    check_setup(robot, setup)
    free, own = setup.free(robot), coordinates_of(robot)
    joints, m = len(setup.prescribed), len(setup.base)
    known: dict[int, Any] = dict(zip((*free, *setup.prescribed), (*of_free, *of_given)))
    at = [known[k] for k in own]
    inputs = Inputs(algebra, lambda _, place: at[place], lambda place: at[place])
    kind = kind_of(robot)
    state = kind.state(robot, inputs)
    axes = _along(2, state.tree.zero, state.tree.one)
    _ = state.frame  # written before the inertias
    if setup.base:
        assert isinstance(state, TreeState)
        state, axes = _on_moving_base(state, robot, setup.base, of_given[joints:])
        _ = state.frame
        if regrouped:  # what is not identifiable goes to the link before it: no more holds while the base moves
            axial: tuple[Axial, ...] = ("yy",) * state.tree.n
            mech = inertia_handed_inwards(state.tree, axial, (False,) * state.tree.n)
            state = replace(state, tree=mech)
    elif regrouped:
        state = kind.regrouped_state(robot, inputs)
    places = {k: m + place for place, k in enumerate(own)}
    return System(
        robot,
        setup,
        state,
        (*range(m), *(m + k for k in own)),
        tuple(places[k] for k in free),
        (*(places[k] for k in setup.prescribed), *range(m)),
        m,
        axes,
    )


@dataclass(frozen=True)
class MovingBaseState(TreeState):
    """A tree on a base that moves along axes one after the other: the joints of its first, massless links."""

    axes: tuple[BaseAxis, ...] = ()
    frame_0: tuple[Mat3, Vec3] = ((), ())  # type: ignore[assignment]
    """Frame 0 in the frame of the last massless link."""

    @cached_property
    def _frame(self) -> Frames:
        """Each link's frame in its parent's: those of the base's axes, then the robot's own."""
        zero, one, m = self.tree.zero, self.tree.one, len(self.axes)
        before = _along(2, zero, one)
        R: list[Mat3] = []
        p: list[Vec3] = []
        for axis, value in zip(self.axes, cast("Sequence[Any]", self.position)):
            along = matmul(transpose(before), _along(_ALONG[axis], zero, one))
            if axis in TURNS:
                s, c = value
                R.append(matmul(along, ((c, -s, zero), (s, c, zero), (zero, zero, one))))
                p.append((zero, zero, zero))
            else:
                R.append(along)
                p.append(mul(along, (zero, zero, value)))
            before = _along(_ALONG[axis], zero, one)
        own = replace(self.tree, joints=self.tree.joints[m:], dh=self.tree.dh[m:])
        placed, (R_0, p_0) = frames(own, self.position[m:]), self.frame_0
        for i, parent in enumerate(self.tree.parent[m:]):
            on_base = parent == m - 1
            R.append(matmul(R_0, placed.R[i]) if on_base else placed.R[i])
            p.append(add(p_0, mul(R_0, placed.p[i])) if on_base else placed.p[i])
        return Frames(tuple(R), tuple(p))


def _on_moving_base(
    state: TreeState, robot: Robot, axes: Sequence[BaseAxis], at: Sequence[Position]
) -> tuple[MovingBaseState, Mat3]:
    """The state of the mechanism behind one massless link an axis, frame 0 being N; the base frame in the last one."""
    own, m = state.tree, len(axes)
    zero, one = own.zero, own.one
    empty, base_axes = BodyInertia.nothing(zero), transpose(_along(_ALONG[axes[-1]], zero, one))
    gx, gy, gz = (written(own.algebra, v) for v in robot.gravity)
    mech = replace(
        own,
        parent=(*range(-1, m - 1), *(m - 1 if parent == BASE else m + parent for parent in own.parent)),
        joints=(*(REVOLUTE if axis in TURNS else PRISMATIC for axis in axes), *own.joints),
        dh=(*(DHTransform(None, zero, None, zero, None, None, zero) for _ in axes), *own.dh),
        inertia=(*(empty for _ in axes), *own.inertia),
        drive=(*(zero for _ in axes), *own.drive),
        rotor=(*(None for _ in axes), *(_renumbered(rotor, m) for rotor in own.rotor)),
        gravity=(gx, gy, gz),
        base=(_along(2, zero, one), (zero, zero, zero)),
        tool_link=own.tool_link if own.tool_link == BASE else m + own.tool_link,
    )
    frame_0 = matmul(base_axes, own.base[0]), mul(base_axes, own.base[1])
    return MovingBaseState(mech, (*at, *state.position), axes=tuple(axes), frame_0=frame_0), base_axes


def _renumbered(rotor: Rotor | None, by: int) -> Rotor | None:
    """The rotor where links are numbered `by` higher and the base's last massless link is its carrier for the base."""
    if rotor is None or rotor.carrier is None:
        return rotor
    return replace(rotor, carrier=by - 1 if rotor.carrier == BASE else by + rotor.carrier)


def _along(axis: int, zero: Scalar, one: Scalar) -> Mat3:
    """A cyclic permutation of the axes that takes z to the given axis."""
    e = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    return transpose((e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]))


def host(sys: System, frame: Frame) -> tuple[int, Mat3, Vec3]:
    """(link of the mechanism or BASE for N, axes and origin of the frame there)."""
    algebra, base = sys.mech.algebra, sys.mech.base
    R, p = pose_matrices(frame.pose, algebra)
    if frame.link >= 0:
        return sys.offset + frame.link, R, p
    if frame.link == BASE and sys.offset:
        return sys.offset - 1, matmul(sys.base_axes, R), mul(sys.base_axes, p)
    # N's own axes are the base frame's; the mechanism's frame 0 is in them at its base pose.
    return BASE, matmul(transpose(base[0]), R), tmul(base[0], sub(p, base[1]))


def point_of(sys: System, frame: Frame, point: Vector) -> tuple[int, Vec3]:
    """(link of the mechanism or BASE for N, a point of the frame there) [m]."""
    link, R, origin = host(sys, frame)
    return link, add(origin, mul(R, sys.exact(point)))
