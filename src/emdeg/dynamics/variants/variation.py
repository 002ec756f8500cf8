"""One way among many to write a tree's mechanics down, as inert data; and the state that it gives.

Every choice here leaves the functions as they are and changes what they cost. To add a kind of choice: a field of
`Variation`, its effect in `varied`, and its options in `emdeg.programs.search.formulation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from emdeg.algebra import Exact
from emdeg.dynamics.formulations import composite_body
from emdeg.dynamics.formulations.lagrange_uicker import lagrange_coefficients
from emdeg.dynamics.formulations.rnea_link_frame import MOMENTS, inertia_forces, joint_torques, motion
from emdeg.dynamics.mechanism import Frames, Mechanism
from emdeg.dynamics.spatial import BodyInertia, Scalar
from emdeg.dynamics.state import TreeState
from emdeg.dynamics.variants.regrouping import (
    Axial,
    Joints,
    PairOf,
    SplitMechanism,
    frames_slid,
    frames_turned_back,
    inertia_handed_inwards,
    split_mechanism,
)


@dataclass(frozen=True, slots=True)
class Variation:
    """Choices per link.

    `back`: by which joints' angle a link's frame is turned back. `slide`: how far a frame is moved along its axis.
    `axial`, `keep_mass`: what a link hands to its parent. `moment`: how its Euler equation is written. `apart`,
    `apart_back`: what of a link's inertia a second body on its joint carries, and how that one is turned back.
    `closed`: to the efforts the first so many links contribute by closed form, the others by recursion.
    """

    back: tuple[Joints, ...]
    slide: tuple[Exact, ...]
    axial: tuple[Axial, ...]
    keep_mass: tuple[bool, ...]
    moment: tuple[str, ...]
    apart: tuple[str, ...]
    apart_back: tuple[Joints, ...]
    closed: int = 0


def no_variation(n: int) -> Variation:
    """Body-fixed frames as given; YY, MZ and M handed over."""
    return Variation(
        back=((),) * n,
        slide=(Exact(),) * n,
        axial=("yy",) * n,
        keep_mass=(False,) * n,
        moment=("Euler",) * n,
        apart=("",) * n,
        apart_back=((),) * n,
    )


@dataclass(frozen=True)
class VariedState(TreeState):
    """A tree's state as a variation writes it: `written` are the links' frames, `wide` has the split links too."""

    written: Frames = field(kw_only=True)
    wide: SplitMechanism = field(kw_only=True)
    wide_frame: Frames = field(kw_only=True)
    variation: Variation = field(kw_only=True)

    @property
    def frame(self) -> Frames:
        return self.written

    def efforts(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool = True) -> list[Scalar]:
        first = self.variation.closed if gravity else 0
        tau = self._recursion(qd, qdd, gravity, first)
        return self._with_closed_form(tau, qd, qdd, first) if first else tau

    def _recursion(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: bool, first: int) -> list[Scalar]:
        """Efforts by Newton and Euler, the first links' own inertias and drives left out."""
        wide, frame, mech = self.wide, self.wide_frame, self.wide.mech
        if first:
            mech = _without(mech, [body for body, joint in enumerate(wide.joint) if joint < first])
        moments = wide.of_bodies([MOMENTS[name] for name in self.variation.moment])
        rates, accelerations = wide.of_bodies(qd), wide.of_bodies(qdd)
        forces = inertia_forces(mech, motion(mech, frame, rates, accelerations, gravity=gravity), moments)
        return wide.of_joints(joint_torques(mech, frame, forces, accelerations), self.n)

    def _with_closed_form(
        self, tau: list[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], first: int
    ) -> list[Scalar]:
        model = lagrange_coefficients(*_inner(self.tree, self.frame, first))
        for i in range(first):
            tau[i] = tau[i] + model.g[i]
            for j in range(first):
                tau[i] = tau[i] + model.M[i][j] * qdd[j] + model.beta[i][j][j] * (qd[j] * qd[j])
                for k in range(j + 1, first):
                    tau[i] = tau[i] + (model.beta[i][j][k] + model.beta[i][k][j]) * (qd[j] * qd[k])
        return tau

    def mass_matrix(self) -> list[list[Scalar]]:
        """By composite bodies; entries of bodies that share a joint add."""
        wide = composite_body.mass_matrix(self.wide.mech, self.wide_frame)
        rows = [self.wide.of_joints(row, self.n) for row in wide]
        return [list(column) for column in zip(*(self.wide.of_joints(column, self.n) for column in zip(*rows)))]


def varied(state: TreeState, variation: Variation, pair_of: PairOf) -> VariedState:
    """The state as a variation writes it; CannotVary where its choices do not go together."""
    mech = inertia_handed_inwards(frames_slid(state.tree, variation.slide), variation.axial, variation.keep_mass)
    turned, frame = frames_turned_back(mech, state.position, variation.back, pair_of)
    wide, wide_frame = SplitMechanism(turned, tuple(range(mech.n))), frame
    if any(variation.apart):
        split = split_mechanism(mech, variation.apart)
        back = [*variation.back, *(variation.apart_back[j] for j in split.joint[mech.n :])]
        wide_mech, wide_frame = frames_turned_back(
            split.mech, split.of_bodies(state.position), back, pair_of, split.joint
        )
        wide = SplitMechanism(wide_mech, split.joint)
    return VariedState(
        turned,
        state.position,
        state.qd,
        state.qdd,
        state.tau,
        state.p,
        written=frame,
        wide=wide,
        wide_frame=wide_frame,
        variation=variation,
    )


def _without(mech: Mechanism, links: Sequence[int]) -> Mechanism:
    """The mechanism with these links' inertias and drives set to nothing."""
    zero = mech.zero
    nothing = BodyInertia.nothing(zero)
    bodies = tuple(nothing if i in links else body for i, body in enumerate(mech.inertia))
    drives = tuple(zero if i in links else drive for i, drive in enumerate(mech.drive))
    return replace(mech, inertia=bodies, drive=drives)


def _inner(mech: Mechanism, frame: Frames, n: int) -> tuple[Mechanism, Frames]:
    """The first n links alone (parents come first, so they are a tree of their own)."""
    parts = {name: getattr(mech, name)[:n] for name in ("parent", "joints", "dh", "inertia", "drive", "rotor")}
    return replace(mech, **parts, tool_link=min(mech.tool_link, n - 1)), Frames(frame.R[:n], frame.p[:n])
