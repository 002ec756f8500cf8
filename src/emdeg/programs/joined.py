"""Which functions one program is asked to compute: "A", or several as "A+B"."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.errors import BadRequest
from emdeg.mechanics.functions import known_functions
from emdeg.robot.model import Robot


def joined_functions(function: str | Sequence[str], robot: Robot | None = None, base: bool = False) -> list[str]:
    """The functions of one program, from "A", "A+B" or their names; UnknownFunction or BadRequest where it cannot be.

    `base` asks for the columns of base parameters, which a regressor has.
    """
    text = function if isinstance(function, str) else "+".join(function)
    names = known_functions([part.strip() for part in text.split("+")], robot)
    if base and "regressor" not in names:
        raise BadRequest(f"--base applies to regressor, not to {text}")
    if len(set(names)) != len(names):
        raise BadRequest(f"{text} names a function twice")
    return names
