"""What is raised when a study cannot be run or cannot go on; what is on disk stays."""

from __future__ import annotations

from emdeg.robot.errors import RobotError


class SweepError(RobotError):
    """A study, its folder, its workers or its scheduler is not as it must be: says which, and the rule."""


class Interrupted(KeyboardInterrupt):
    """A sweep was stopped on the way; `done` of `chunks` are on disk."""

    def __init__(self, done: int, chunks: int) -> None:
        self.done, self.chunks = done, chunks
        super().__init__(f"{done} of {chunks} chunks are on disk")
