"""Names of functions without the functions: who reads a stored program needs no mechanics."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.errors import BadRequest

WITH_FRICTION = "_with_friction"
"""Ends the name of a function that has friction in it."""

RUBBING = (
    "inverse_dynamics",
    "forward_dynamics",
    "bias",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
"""The functions that friction may be in; it is in their derivatives then."""

DERIVED = ("_jvp", "_vjp", "_hvp", "_hessian")
"""End the names of functions that are derivatives of others."""


def with_friction_in(name: str) -> str | None:
    """The name of the function with friction in it, `f_with_friction_vjp` and the like; None where it cannot be."""
    ending = next((one for one in DERIVED if name.endswith(one)), "")
    bare = name.removesuffix(ending)
    return bare + WITH_FRICTION + ending if bare in RUBBING else None


def parts_of(function: str | Sequence[str]) -> list[str]:
    """The names in "A+B", or as they are given; whether they exist is not asked here."""
    names = [function] if isinstance(function, str) else function
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise BadRequest(f"a function is asked for by its name, or several as 'A+B', not by {function!r}")
    return [part.strip() for part in "+".join(names).split("+")]
