"""Where every frame is and how it moves, as formulas: transforms and Jacobians in any frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

from emdeg.algebra import TrigAlgebra, TrigPoly
from emdeg.documents import Shown
from emdeg.dynamics import (
    Frames,
    Mat3,
    Mechanism,
    Scalar,
    Vec3,
    cross,
    frames,
    in_base,
    matmul,
    mechanism_of,
    path,
    sub,
    symbolic_positions,
    tmul,
    transpose,
)
from emdeg.dynamics.formulations import homogeneous, tool_pose
from emdeg.errors import RobotError
from emdeg.robot import Robot

Matrix = tuple[tuple[TrigPoly, ...], ...]
FrameName = int | str
"""A link's number from 1 or its name, "base", or "tool"."""


@dataclass(frozen=True, repr=False)
class Kinematics(Shown):
    """The frames of a robot as formulas; nothing is formed before it is asked for."""

    robot: Robot
    algebra: TrigAlgebra

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot's constants in the algebra."""
        return mechanism_of(self.robot, self.algebra)

    @cached_property
    def frames(self) -> Frames:
        """Each link's frame in its parent's."""
        return frames(self.mechanism, symbolic_positions(self.mechanism, self.algebra))

    @cached_property
    def world(self) -> Frames:
        """Each link's frame in the base frame."""
        return in_base(self.mechanism, self.frames)

    def place(self, frame: FrameName) -> tuple[Mat3, Vec3]:
        """(R, p) of a frame in the base frame."""
        zero, one = self.algebra.zero, self.algebra.one
        number = self.number(frame)
        if isinstance(number, int):
            return self.world.R[number - 1], self.world.p[number - 1]
        if number == "base":
            return ((one, zero, zero), (zero, one, zero), (zero, zero, one)), (zero, zero, zero)
        return tool_pose(self.mechanism, self.frames)

    def number(self, frame: FrameName) -> int | str:
        """A link's number from its number or name; "base" and "tool" as they are; RobotError for others."""
        if frame in ("base", "tool"):
            return frame
        if isinstance(frame, int) and 1 <= frame <= self.robot.n:
            return frame
        for i, link in enumerate(self.robot.links, 1):
            if frame in (link.name, str(i)):
                return i
        raise RobotError(
            f"there is no frame {frame!r}; there are base, tool, 1 to {self.robot.n}, "
            + ", ".join(link.name for link in self.robot.links),
            body=self.robot.name,
        )

    def transform(self, frame: FrameName, seen_from: FrameName = "base") -> Matrix:
        """4 x 4: `frame` in another frame."""
        zero, one = self.algebra.zero, self.algebra.one
        number = self.number(frame)
        if isinstance(number, int) and self.number(seen_from) == self.robot.links[number - 1].parent + 1:  # its parent
            R, p = self.frames.R[number - 1], self.frames.p[number - 1]
        else:
            R, p = self.place(frame)
            if self.number(seen_from) != "base":
                R_from, p_from = self.place(seen_from)
                R, p = matmul(transpose(R_from), R), tmul(R_from, sub(p, p_from))
        return cast(Matrix, tuple(tuple(row) for row in homogeneous(R, p, zero, one)))

    def jacobian(self, frame: FrameName = "base", point: FrameName = "tool") -> Matrix:
        """6 x n: velocity (rows 1-3) of a point of the tool's link, and that link's angular velocity (rows 4-6).

        Axes of `frame`. The point is where the origin of the frame `point` stands; by default the tool's.
        """
        zero = self.algebra.zero
        R, _ = self.place(frame)
        _, p = self.place(point)
        columns: list[tuple[Scalar, ...]] = [(zero,) * 6] * self.robot.n
        for k in path(self.mechanism, self.mechanism.tool_link):
            z = (self.world.R[k][0][2], self.world.R[k][1][2], self.world.R[k][2][2])
            turned = tmul(R, z)
            if self.mechanism.revolute[k]:
                arm = tmul(R, sub(p, self.world.p[k]))
                columns[k] = (*cross(turned, arm), *turned)
            else:
                columns[k] = (*turned, zero, zero, zero)
        return cast(Matrix, tuple(zip(*columns)))

    def simplest_frame(self, point: FrameName = "tool") -> FrameName:
        """The frame in whose axes the Jacobian has the fewest terms."""
        links = [k + 1 for k in path(self.mechanism, self.mechanism.tool_link)]
        return min(["base", *links], key=lambda frame: terms(self.jacobian(frame, point)))

    def lever(self, frame: FrameName, start: FrameName, end: FrameName) -> Vec3:
        """From the origin of `start` to that of `end`, in the axes of `frame`."""
        return tmul(self.place(frame)[0], sub(self.place(end)[1], self.place(start)[1]))


def terms(matrix: Matrix) -> int:
    """The number of terms of all entries together."""
    return sum(len(entry) for row in matrix for entry in row)
