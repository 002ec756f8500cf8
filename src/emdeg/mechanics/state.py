"""What is wrong with a state that a function of a model is asked for."""

from __future__ import annotations


class StateError(ValueError):
    """A state's array has the wrong shape or is not made of finite numbers."""


class ClosureError(StateError):
    """A loop does not close there, or not in one way: the pose is out of reach, off the constraint or singular."""

    def __init__(self, loop: str, rule: str) -> None:
        self.loop = loop
        super().__init__(f"{loop}: {rule}")
