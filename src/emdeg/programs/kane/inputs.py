"""What the functions of Kane's equations read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from emdeg.dynamics import Scalar

Function = Literal["torques", "accelerations", "equations", "rates", "speeds"]
INPUTS: dict[Function, tuple[str, ...]] = {
    "torques": ("u", "ud"),
    "accelerations": ("u", "tau"),
    "equations": ("u", "tau"),
    "rates": ("u",),
    "speeds": ("qd", "qdd"),
}
"""What each function reads besides q, prescribed motions and loads."""


@dataclass(frozen=True, slots=True)
class KaneInputs:
    """The scalars a function may read. `variables` are the joints' own, free then prescribed, angles included."""

    u: Sequence[Scalar] = ()
    ud: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    pd: Sequence[Scalar] = ()
    pdd: Sequence[Scalar] = ()
    loads: Sequence[Scalar] = ()
    variables: Sequence[Scalar] = ()
