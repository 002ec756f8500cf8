"""The option --range JOINT=LOW:HIGH of every command that looks at a workspace."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from emdeg.algebra import Angle
from emdeg.cli.common import UsageError, assignments

RangeTexts = Annotated[
    list[str] | None,
    typer.Option("--range", metavar="JOINT=LOW:HIGH", help="The workspace [rad, m, '30 deg']. Repeatable."),
]


def joint_ranges(texts: list[str]) -> dict[str, tuple[float, float]]:
    """{joint: (low, high)} from JOINT=LOW:HIGH; UsageError for what is none."""
    found = {}
    for name, value in assignments(texts, "--range").items():
        low, colon, high = value.partition(":")
        if not colon:
            raise UsageError(f"--range needs JOINT=LOW:HIGH; got {name}={value}")
        found[name] = quantity(low), quantity(high)
    return found


def quantity(text: str) -> float:
    """A number, or an angle such as "30 deg" in radians; UsageError for what is none."""
    try:
        value = float(Angle.parse(text.strip()))
    except (ValueError, TypeError) as problem:
        raise UsageError(f"{text!r} is not a number or an angle: {problem}") from None
    if not math.isfinite(value):
        raise UsageError(f"{text!r} is not finite")
    return value
