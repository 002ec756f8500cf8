"""Everything that emdeg raises, as one tree: `except emdeg.EmdegError` catches whatever can go wrong.

Most classes have a built-in one as a second base, so that code which knows nothing of emdeg (`except ValueError`)
goes on working. `UsageError` of the command line is the one class that lives elsewhere: it needs typer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


class EmdegError(Exception):
    """The root of everything that emdeg raises.

    `code` names what is wrong and stays the same from version to version; programs and tests test it, not the words.
    A class has one, and an error that says more may have one of its own. `exit_code` is the command line's: 1 a check
    failed, 2 wrong usage, 3 the robot or the input is bad, 4 over a budget.
    """

    code: str = "error"
    exit_code: int = 3

    def __init_subclass__(cls, code: str | None = None, exit_code: int | None = None) -> None:
        super().__init_subclass__()
        cls.code = code or cls.code
        cls.exit_code = exit_code or cls.exit_code

    def __init__(self, *args: object, code: str | None = None) -> None:
        super().__init__(*args)
        if code is not None:
            self.code = code


class RobotError(EmdegError, ValueError, code="robot"):
    """A robot's description breaks a rule: says which file, which line, which body, which rule."""

    def __init__(
        self,
        rule: str,
        *,
        file: str | None = None,
        line: int | None = None,
        body: str | None = None,
        code: str | None = None,
    ) -> None:
        self.rule, self.file, self.line, self.body = rule, file, line, body
        super().__init__(rule, file, line, body, code=code)

    def at(self, *, file: str | None = None, line: int | None = None, body: str | None = None) -> RobotError:
        """The same error with the places it did not know yet filled in."""
        places = {"file": self.file or file, "line": self.line or line, "body": self.body or body}
        return type(self)(self.rule, **places, code=self.code)

    def __reduce__(self) -> tuple[Callable[[str], RobotError], tuple[str]]:
        """How a worker's error comes back from another process."""
        return partial(type(self), file=self.file, line=self.line, body=self.body, code=self.code), (self.rule,)

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        parts = [part for part in (place, self.body) if part]
        return ": ".join([*parts, self.rule])


def singular_mass_matrix(robot: str, everywhere: bool = False) -> RobotError:
    """What to raise where efforts do not determine the accelerations of a robot: at a pose, or `everywhere`."""
    where = "at every pose" if everywhere else "there"
    why = "a motion of its joints moves neither mass nor drive inertia"
    return RobotError(f"its mass matrix is singular {where}: {why}", body=robot)


class UnreadableEntry(RobotError, code="unreadable-entry"):
    """An entry of a printed model cannot be read, or leans on one that cannot; says why."""


class ScenarioError(RobotError, code="scenario"):
    """A trajectory, a controller or a scenario does not fit the robot or itself; nothing has run yet."""


class SimulationError(RobotError, code="simulation"):
    """A run broke down on the way: it says when, and what was the matter."""


class SweepError(RobotError, code="sweep"):
    """A study, its folder, its workers or its scheduler is not as it must be: says which, and the rule."""


class OverBudget(EmdegError, RuntimeError, code="over-budget", exit_code=4):
    """Something is larger than emdeg is willing to read or work on, or a computation grew past its limit."""


class LimitReached(OverBudget, code="limit-reached"):
    """A search has used its limits of nodes or time."""


class NotProvable(OverBudget, ValueError, code="not-verifiable"):
    """A program's roots, degree or numbers are more than a proof can follow; says which."""


class TooLarge(RobotError, OverBudget, code="too-large", exit_code=4):
    """A file or a description is larger than emdeg is willing to read; says which."""


class StateError(EmdegError, ValueError, code="state"):
    """A state's array has the wrong shape or type, or is not made of finite numbers."""


class ClosureError(StateError, code="closure"):
    """A loop does not close there, or not in one way: the pose is out of reach, off the constraint or singular."""

    def __init__(self, loop: str, rule: str) -> None:
        self.loop = loop
        super().__init__(f"{loop}: {rule}")


class SingularSpeeds(StateError, code="singular-speeds"):
    """The generalized speeds do not determine the rates in this configuration."""


class UnboundSymbol(EmdegError, ValueError, code="unbound-symbol"):
    """A number was asked for and a symbol stands in its place."""


class NumberTooLong(EmdegError, ValueError, code="number-too-long"):
    """A number whose exact value would not fit a sensible amount of memory."""


class EmptyBox(EmdegError, ValueError, code="empty-domain"):
    """A range holds no value, or a variable of the formula has no range."""


class UnknownEntry(EmdegError, KeyError, code="unknown-entry"):
    """There is no entry of this name in the equations of motion: M12, b112, c21, g3 are such names."""

    def __str__(self) -> str:
        return str(self.args[0])


class NotDerived(EmdegError, LookupError, code="not-derived"):
    """A part of the model was asked for that `derive` was told to leave out."""


class NotInvertible(EmdegError, ValueError, code="not-invertible"):
    """The Jacobian has no inverse as a formula: it is not square, or singular everywhere."""


class NotSerial(EmdegError, ValueError, code="not-serial"):
    """The extended-body recursions are for chains, and the robot branches."""


class BadData(EmdegError, ValueError, code="data"):
    """The data is not what it should be a JSON form of; says where."""


class UnknownFunction(EmdegError, ValueError, code="unknown-function", exit_code=2):
    """There is no function of that name."""


class CannotJoin(EmdegError, ValueError, code="cannot-join", exit_code=2):
    """Two functions cannot be one program: one's output has the name of another's input or output."""


class CannotVary(EmdegError, ValueError, code="cannot-vary"):
    """Choices of a formulation that do not go together."""


class BadRequest(EmdegError, ValueError, code="request", exit_code=2):
    """Options that do not go together, or that ask for what there is not."""


class NotAProgram(EmdegError, ValueError, code="not-a-program"):
    """Data that does not describe a program."""


class NotExecutable(EmdegError, RuntimeError, code="not-executable"):
    """An emitted text cannot be executed here: says what is missing. That is no fault of the text."""


class Refuted(EmdegError, code="refuted", exit_code=1):
    """A program does not compute what its independent formulation computes."""


class NotCertified(EmdegError, code="not-certified", exit_code=1):
    """An artefact is not what its certificate says, or the certificate does not hold."""


class NotBounded(EmdegError, code="not-bounded"):
    """A divisor is not away from zero: what is divided by it has no bound over the workspace."""


class UnluckyPoint(EmdegError, ZeroDivisionError, code="unlucky-point"):
    """At this point of the field a radicand has no root: draw another, as where a divisor is zero."""


class OffTheVariety(EmdegError, ArithmeticError, code="open-loop"):
    """The steps that should close the loops leave one open."""


class NotGrounded(EmdegError, code="unknown-divisor"):
    """A program takes a root or divides by something that the formulations known so far do not."""


class NoSquare(EmdegError, ArithmeticError, code="no-square-root"):
    """A radicand has no root among the formulas, or is too long to look."""


class Interrupted(KeyboardInterrupt):
    """A sweep was stopped on the way; `done` of `chunks` are on disk. No error: `except Exception` must not hide it."""

    def __init__(self, done: int, chunks: int) -> None:
        self.done, self.chunks = done, chunks
        super().__init__(f"{done} of {chunks} chunks are on disk")


class OldFormat(UserWarning):
    """A stored program was written by another version of emdeg in a format that this one does not read: not used."""


class Poisoned(UserWarning):
    """A stored program is not what its file says, and was set aside: not used."""


class DeviceError(EmdegError, RuntimeError, code="device", exit_code=2):
    """A GPU cannot be used, or its driver rejected a call; `driver_code` is the driver's number."""

    def __init__(self, message: str, driver_code: int | None = None) -> None:
        super().__init__(message)
        self.driver_code = driver_code


class Stopped(EmdegError, code="stopped"):
    """The work was ended by who asked for it, or by newer work of the same kind."""
