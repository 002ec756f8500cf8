"""What is raised when a robot's description is wrong."""

from __future__ import annotations


class RobotError(ValueError):
    """A robot's description breaks a rule: says which file, which line, which body, which rule."""

    def __init__(self, rule: str, *, file: str | None = None, line: int | None = None, body: str | None = None) -> None:
        self.rule, self.file, self.line, self.body = rule, file, line, body
        super().__init__(rule, file, line, body)

    def at(self, *, file: str | None = None, line: int | None = None, body: str | None = None) -> RobotError:
        """The same error with the places it did not know yet filled in."""
        return type(self)(self.rule, file=self.file or file, line=self.line or line, body=self.body or body)

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        parts = [part for part in (place, self.body) if part]
        return ": ".join([*parts, self.rule])


class OverBudget(RobotError):
    """A description is larger than emdeg is willing to read or work on."""


def singular_mass_matrix(robot: str) -> RobotError:
    """What to raise where the accelerations of a robot are not determined by its efforts."""
    return RobotError("its mass matrix is singular: a joint moves neither mass nor drive inertia", body=robot)
