"""Names of functions without the functions: who reads a stored program needs no mechanics."""

from __future__ import annotations

WITH_FRICTION = "_with_friction"
"""Ends the name of a function that has friction in it."""

RUBBING = ("inverse_dynamics", "forward_dynamics", "bias")
"""The functions that friction may be in."""
