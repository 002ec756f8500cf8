"""Where links are while their joints' positions become known one after the other, over any scalar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from emdeg.dynamics.mechanism import Position, link_frame, path
from emdeg.dynamics.spatial import Mat3, Vec3, add, matmul, mul
from emdeg.loops.linkage import Anchor, Linkage
from emdeg.robot import BASE


class Place:
    """Where links are while their joints' positions become known one after the other."""

    def __init__(self, link: Linkage, known: Mapping[int, Position]) -> None:
        self.link = link
        self.mech = link.tree
        self.position: dict[int, Position] = dict(known)
        self._world: dict[int, tuple[Mat3, Vec3]] = {BASE: link.tree.base}

    def world(self, k: int) -> tuple[Mat3, Vec3]:
        if k not in self._world:
            R, p = self.world(self.mech.parent[k])
            inner = link_frame(self.mech, k, self.position[k])
            self._world[k] = matmul(R, inner[0]), add(p, mul(R, inner[1]))
        return self._world[k]

    def rest(self, k: int) -> tuple[Mat3, Vec3]:
        """Link k's frame with its joint at zero."""
        R, p = self.world(self.mech.parent[k])
        inner = link_frame(self.mech, k, self.zero(k))
        return matmul(R, inner[0]), add(p, mul(R, inner[1]))

    def forget(self, joints: Sequence[int]) -> None:
        """Frames that were found with these joints at a place where they do not stay."""
        self._world = {k: at for k, at in self._world.items() if not set(joints) & set(path(self.mech, k))}

    def zero(self, k: int) -> Position:
        return self.mech.joints[k].at_zero(self.mech.zero, self.mech.one)

    def point(self, anchor: Anchor) -> Vec3:
        if anchor.link == BASE:
            return anchor.p
        R, p = self.world(anchor.link)
        return add(p, mul(R, anchor.p))

    def local(self, anchor: Anchor, k: int) -> Vec3:
        """An anchor's point in link k's frame, every joint between them known."""
        p, at = anchor.p, anchor.link
        while at != k:
            inner = link_frame(self.mech, at, self.position[at])
            p, at = add(inner[1], mul(inner[0], p)), self.mech.parent[at]
        return p

    def moves(self, k: int, anchor: Anchor) -> bool:
        return k in path(self.mech, anchor.link)

    def axes(self, anchor: Anchor) -> Mat3:
        """An anchor's axes in the base frame, as columns."""
        return anchor.R if anchor.link == BASE else matmul(self.world(anchor.link)[0], anchor.R)
