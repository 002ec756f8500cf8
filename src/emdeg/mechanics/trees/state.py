"""A chain or a tree at a moment, in one algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from emdeg.mechanics.formulations import composite_body
from emdeg.mechanics.formulations.differentiation import seeded
from emdeg.mechanics.mechanism import Frames, Mechanism, Position, frames
from emdeg.mechanics.variants.link_frame_recursion import link_frame_recursion
from emdeg.mechanics.variants.rotors import mass_matrix_with_rotors, newton_euler_with_rotors
from emdeg.mechanics.vectors import Scalar


@dataclass(frozen=True)
class TreeState:
    """A chain or a tree at a moment. `load` is what acts on the joints from outside, as efforts of theirs."""

    tree: Mechanism
    position: Sequence[Position]
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()
    p: Sequence[Scalar] = ()
    load: Sequence[Scalar] | None = None

    @property
    def n(self) -> int:
        return self.tree.n

    @property
    def frame(self) -> Frames:
        """Each link's frame in its parent's."""
        return self._frame

    @cached_property
    def _frame(self) -> Frames:
        return frames(self.tree, self.position)

    @property
    def rest(self) -> list[Scalar]:
        """Zero speeds, or accelerations."""
        return [self.tree.zero] * self.n

    def unit(self, k: int) -> list[Scalar]:
        """A unit speed, or acceleration, of joint k alone."""
        return [self.tree.one if i == k else self.tree.zero for i in range(self.n)]

    def open_loops(self) -> Sequence[tuple[str, Scalar]]:
        return ()

    def seeded(self) -> TreeState:
        """The same state over dual numbers, joint k's position varying in direction k."""
        return replace(self, position=seeded(self.tree, self.position))

    def efforts(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool = True) -> list[Scalar]:
        """What the joints give for these speeds and accelerations, by the recursion that saves operations."""
        return list(link_frame_recursion(self.tree, self.frame, qd, qdd, gravity=gravity))

    def mass_matrix(self) -> list[list[Scalar]]:
        """M by composite bodies."""
        return composite_body.mass_matrix(self.tree, self.frame)


class TreeStateWithRotors(TreeState):
    """A tree whose motors' armatures spin: efforts with their gyroscopic terms, and what follows from efforts."""

    def efforts(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool = True) -> list[Scalar]:
        return list(newton_euler_with_rotors(self.tree, self.frame, qd, qdd, gravity=gravity))

    def mass_matrix(self) -> list[list[Scalar]]:
        return mass_matrix_with_rotors(self.tree, self.frame)
