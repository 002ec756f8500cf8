"""What a fixed-step run compiles together, as data."""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.programs.ir import Program
from emdeg.simulation.conditioning import Conditioning
from emdeg.simulation.passive import Passive


@dataclass(frozen=True)
class Loop:
    """What is compiled together.

    `plant`: q, qd, tau -> qdd; or, with `velocities` (q, p -> qd) given, q, qd, tau -> pd. `law`: q, qd, reference
    -> tau, None for joints without efforts. `drives`: q, qd -> v, the driven joints' rates where they are not qd:
    friction and power are theirs. `impulses` are the joints whose effort is integrated, `work` says
    whether the joints' power is.
    """

    n: int
    plant: Program
    velocities: Program | None = None
    law: Program | None = None
    conditioning: Conditioning = Conditioning()
    passive: Passive = Passive()
    impulses: tuple[int, ...] = ()
    work: bool = True
    drives: Program | None = None

    @property
    def size(self) -> int:
        """The entries of a state: positions, speeds or momenta, work, impulses."""
        return 2 * self.n + int(self.work) + len(self.impulses)

    @property
    def reference_size(self) -> int:
        if self.law is None:
            return 0
        return sum(group.size for group in self.law.inputs if group.name == "reference")


@dataclass(frozen=True, slots=True)
class Hold:
    """A sampled law: every `every` steps, acting `late` steps later."""

    every: int
    late: int

    @property
    def depth(self) -> int:
        """Samples under way at once, and the acting one."""
        return self.late // self.every + 2
