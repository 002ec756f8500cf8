"""A mechanism with closed loops at a moment, in one algebra: every loop closed, rates mapped by the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from emdeg.algebra import Dual
from emdeg.algebra.linear import Matrix
from emdeg.dynamics.joints import Position, Rates
from emdeg.dynamics.mechanism import Mechanism
from emdeg.dynamics.spatial import Scalar, total
from emdeg.dynamics.state import FramedState
from emdeg.loops import reduction
from emdeg.loops.analytic_closure import Plan, Root, solve
from emdeg.loops.linkage import Linkage, constraints, world_frames
from emdeg.loops.singularities import Conditions, conditions, require_regular


@dataclass(frozen=True)
class LoopState(FramedState):
    """`coordinates` are the positions of the independent joints, `position` those of all; `load` as in a tree.

    `plan` is None where the loops were closed numerically.
    """

    link: Linkage
    coordinates: Mapping[int, Position]
    position: Sequence[Position]
    plan: Plan | None
    root: Root
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()
    p: Sequence[Scalar] = ()
    load: Sequence[Scalar] | None = None

    @property
    def tree(self) -> Mechanism:
        return self.link.tree

    @property
    def n(self) -> int:
        return len(self.link.coordinates)

    @property
    def rates(self) -> Matrix:
        return self.W

    def mass_matrix(self) -> Matrix:
        """M = W^T M W of the coordinates."""
        return reduction.mass_matrix(self.link, self.position, self.W)

    def open_loops(self) -> Sequence[tuple[str, Scalar]]:
        """Every closure equation's value, those of redundant ones too, and s^2 + c^2 - 1 of every turning joint."""
        rows = constraints(replace(self.link, rows=None), world_frames(self.link, self.position))
        one = self.tree.one
        circles = [
            (f"joint {k + 1}", value)
            for k, (joint, at) in enumerate(zip(self.tree.joints, self.position))
            for value in joint.conditions(at, one)
        ]
        return [*((row.name, row.value) for row in rows), *circles]

    @cached_property
    def W(self) -> Matrix:
        """Every joint's rate per coordinate's."""
        return reduction.velocity_map(self.link, reduction.constraint_jacobian(self.link, self.position))

    def motion(self, qd: Sequence[Scalar]) -> reduction.TreeRates:
        """Every joint's rates at the coordinates' speeds qd, and how W changes."""
        return reduction.tree_rates(self.link, self.position, qd)

    @cached_property
    def driven(self) -> Matrix:
        """J: the driven joints' rates per coordinate's."""
        return [self.W[k] for k in self.link.driven]

    def seeded(self) -> list[Position]:
        """Every joint's position over dual numbers through the closure itself, coordinate k varying in direction k."""
        assert self.plan is not None
        known = {
            k: self.tree.joints[k].lift(at, [{i: self.tree.one}]) for i, (k, at) in enumerate(self.coordinates.items())
        }
        return solve(self.link, self.plan, known, partial(_dual_root, root=self.root))

    def varied(self, rates: Mapping[str, Sequence[Rates]], level: int, closing: bool = False) -> LoopState:
        """The same state over dual numbers of a level; the rates say how each entry of an input array changes.

        Every joint follows the coordinates as W says, or, `closing`, through the closure itself.
        """
        along, joints = rates.get("q", [{}] * self.n), self.tree.joints
        known = {
            k: joints[k].lift(at, [each], level) for (k, at), each in zip(self.coordinates.items(), along, strict=True)
        }
        root = partial(_dual_root, root=self.root)
        if closing:
            assert self.plan is not None
            position = solve(self.link, self.plan, known, root)
        else:
            zero, directions = self.tree.zero, sorted({k for each in along for k in each})
            columns = {k: [each.get(k, zero) for each in along] for k in directions}
            position = []
            for k, (at, row) in enumerate(zip(self.position, self.W)):
                own = {d: total([w * rate for w, rate in zip(row, column)]) for d, column in columns.items()}
                position.append(known.get(k, joints[k].lift(at, [own], level)))
        given = {name: getattr(self, name) for name in ("qd", "qdd", "tau", "p")} | self.varied_arrays(rates, level)
        return LoopState(self.link, known, position, self.plan, root, **given, load=self.load)


class NumericLoopState(LoopState):
    """The same in doubles, where a singular pose is found out: ClosureError, before anything is divided."""

    @cached_property
    def conditions(self) -> Conditions:
        """How far from singular poses it is."""
        return conditions(self.link, self.position)

    @property
    def is_divided(self) -> bool:
        """Whether anything was divided by the loops' equations: then it was asked how far from singular it is."""
        return "conditions" in self.__dict__

    @cached_property
    def W(self) -> Matrix:
        require_regular(self.conditions)
        return reduction.velocity_map(self.link, reduction.constraint_jacobian(self.link, self.position))

    def motion(self, qd: Sequence[Scalar]) -> reduction.TreeRates:
        require_regular(self.conditions)
        return reduction.tree_rates(self.link, self.position, qd)


def _dual_root(value: Any, loop: str, root: Root) -> Any:
    if not isinstance(value, Dual):
        return root(value, loop)
    r = _dual_root(value.value, loop, root)
    return Dual(r, {k: x / (r + r) for k, x in value.d.items()}, value.level)
