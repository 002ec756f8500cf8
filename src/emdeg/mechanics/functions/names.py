"""Names of functions without the functions: who reads a stored program needs no mechanics."""

from __future__ import annotations

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
