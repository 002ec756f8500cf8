"""Which entries a printed model may have: M12, b112, c12 and g2, C12 of Christoffel's matrix, tau_q2 of an effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.equations import entry_name, indices
from emdeg.errors import RobotError
from emdeg.papers.validation.meaning import STILL, Degrees
from emdeg.robot import Robot, Workspace

COEFFICIENTS = ("M", "b", "c", "g")
"""Letters of entries that have no rates in them."""
_LENGTH = {"M": 2, "b": 3, "c": 2, "g": 1, "C": 2}
_MAY: Mapping[str, tuple[Degrees, str]] = {
    "C": (frozenset({(1, 0)}), "it must be linear in the speeds"),
    "tau": (
        frozenset({(0, 0), (0, 1), (1, 0), (2, 0)}),
        "an effort is linear in the accelerations and at most quadratic in the speeds",
    ),
}


@dataclass(frozen=True)
class Asked:
    """An entry: its letter and the coordinates that it is of, from 1; `tau` has one, a joint or a driven joint."""

    letter: str
    of: tuple[int, ...]

    @property
    def name(self) -> str:
        """As `derive` calls it."""
        return entry_name(self.letter, *self.of)

    def need_degrees(self, found: Degrees, name: str, file: str) -> None:
        """Nothing; RobotError where an entry has rates that it cannot have."""
        may, rule = _MAY.get(self.letter, (STILL, "it may have no rates in it"))
        if not found <= (may if self.letter != "C" else may | STILL):
            raise RobotError(rule, file=file, body=name)

    def coefficient(self, key: tuple) -> str:
        """The name of one coefficient of an effort, or of an entry of C; joints of the key count from 0."""
        letter, *of = key
        i, others = self.of[0], [k + 1 for k in of]
        if letter == "v" and self.letter != "C":
            return f"a term in the speed {others[0]}"
        if self.letter == "C":
            j, k = self.of[1], others[0]
            return entry_name("c", i, j) if j == k else entry_name("b", i, *sorted((j, k)))
        return entry_name(letter, *(sorted((i, *others)) if letter == "M" else (i, *others)))

    def product(self, key: tuple, qd: Array, qdd: Array) -> Array:
        """(states,): what a coefficient is multiplied by."""
        letter, *of = key
        if letter in "Mv":
            return (qdd if letter == "M" else qd)[:, of[0]]
        if letter == "c":
            return qd[:, of[0]] ** 2
        return qd[:, of[0]] * qd[:, of[1]] if letter == "b" else np.ones(len(qd))

    def largest_product(self, key: tuple, where: Workspace) -> float:
        """The largest magnitude of what a coefficient is multiplied by."""
        most = [np.array([values]) for values in (where.speed, where.acceleration)]
        return float(self.product(key, most[0], most[1])[0])


def asked_of(name: str, robot: Robot) -> Asked | None:
    """What an entry's name means for a robot; None where it has none of that name."""
    if name.startswith("tau"):
        return _effort(name, robot)
    letter, n = name[:1], robot.freedoms
    if letter not in _LENGTH:
        return None
    try:
        of = indices(f"M{name[1:]}")[1]
    except ValueError:
        return None
    if len(of) != _LENGTH[letter] or not all(1 <= k <= n for k in of):
        return None
    if letter == "M":
        of = tuple(sorted(of))
    if letter == "b":
        of = (of[0], *sorted(of[1:]))
    return None if letter == "b" and of[1] == of[2] else Asked(letter, of)


def _effort(name: str, robot: Robot) -> Asked | None:
    """tau_NAME or tau2: of a joint, or of a driven one where loops are closed."""
    joints = [joint.name for joint in robot.driven]
    which = name.removeprefix("tau").removeprefix("_")
    if name.startswith("tau_") and which in joints:
        return Asked("tau", (joints.index(which) + 1,))
    return Asked("tau", (int(which),)) if which.isdecimal() and 1 <= int(which) <= len(joints) else None
