"""From logs to numbers: base parameters and friction with 95% intervals, and how well they explain another log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path as FilePath
from typing import Protocol, TypeVar

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics.parameters import BaseParameters, base_parameters, combination_text
from emdeg.errors import RobotError
from emdeg.identification.estimation import NORMAL, Fit, estimate
from emdeg.identification.friction_choice import FrictionChoice, TermTest, term_tests
from emdeg.identification.linear_model import BLOCK, Evaluate, LinearModel, rows_of
from emdeg.identification.measured import Estimate, FrictionFit
from emdeg.identification.motor_constants import in_newton_metres
from emdeg.identification.recording import Log, read_log
from emdeg.identification.regressors import base_regressor, by_motors, described, prior_values
from emdeg.identification.samples import MOST_ROWS, LogSamples, fastest_speeds, prepare
from emdeg.identification.suspicions import Doubt, explained_doubts, seen_doubts
from emdeg.robot import Robot

Told = Callable[[str], None]
Item = TypeVar("Item")
Made = TypeVar("Made")
Path = str | PathLike[str]


class Everywhere(Protocol):
    """function(item) for every item, in order, wherever it is computed: `map`, or a cluster's."""

    def __call__(self, function: Callable[[Item], Made], items: Sequence[Item], /) -> Iterable[Made]: ...


@dataclass(frozen=True)
class Identification(Shown):
    """What logs say of a robot: parameters by name, friction by joint, what the logs do not show, in words."""

    robot: Robot = field(repr=False)
    """With its loops described by the motors' positions, where it has any."""
    base: BaseParameters = field(repr=False)
    fit: Fit = field(repr=False)
    logs: tuple[LogSamples, ...] = field(repr=False)
    parameters: Mapping[str, Estimate]
    """Base parameters that the logs show [kg m^2, kg m, kg]."""
    combinations: Mapping[str, str] = field(repr=False)
    """Of every base parameter: what it stands for."""
    friction: tuple[FrictionFit, ...]
    hidden: tuple[str, ...]
    """What the motion cannot tell apart, in words."""
    constants: Mapping[str, Estimate]
    """Motor constants [N m/A, N/A], where currents were logged."""
    tests: tuple[TermTest, ...] = field(repr=False)
    """Of friction: whether Stribeck's peak and asymmetry explain more than chance would."""
    notes: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    """What is not as it should be in the logs."""
    coordinates: tuple[str, ...]
    """By which the robot's file describes it."""

    @property
    def values(self) -> Array:
        """(p) every base parameter's value; what the logs do not show is as the robot's file has it."""
        return self.fit.theta[: self.fit.model.base]

    @property
    def covariance(self) -> Array:
        """(p, p) of the base parameters."""
        p = self.fit.model.base
        return self.fit.covariance[:p, :p]

    def predicted(self, samples: LogSamples) -> Array:
        """(m, n) the efforts along samples [N m, N]."""
        model = self.fit.model
        return model.predicted(self.fit.theta, model.with_loads(self.fit.theta, samples))


def identify(
    robot: Robot,
    logs: Sequence[Path | Log],
    *,
    friction: FrictionChoice = "auto",
    torque_constants: Mapping[str, float] | None = None,
    accept_doubts: bool = False,
    everywhere: Everywhere | None = None,
    progress: Told = lambda text: None,
) -> Identification:
    """The robot's base parameters and friction from its logs: t, positions, efforts or currents, rates if recorded.

    `friction`: "auto" finds the terms that earn their place, "stribeck" and "coulomb" are those laws, "none" has none.
    `torque_constants` {joint: N m/A or N/A at the joint} are for currents; where they are not given, they are those
    with which the file's own numbers explain the currents best. A log that seems to be in other units, to have columns
    exchanged or signs turned is refused with RobotError, unless `accept_doubts`. `everywhere` reads and smooths logs,
    here and one after the other by default; elsewhere they are read by their absolute paths.
    """
    coordinates = tuple(joint.name for joint in robot.coordinates)
    ready = ready_logs(robot, logs, torque_constants or {}, accept_doubts, progress, everywhere=everywhere)
    robot, samples, base = by_motors(robot), ready.samples, ready.base
    fit = estimate(rows_of(ready.regressor), len(base), samples, ready.prior, friction, progress)
    names, drives = [str(column) for column in base.kept], [joint.name for joint in robot.driven]
    return Identification(
        robot,
        base,
        fit,
        tuple(samples),
        {name: interval(fit, k) for k, name in enumerate(names) if fit.told[k]},
        {str(column): combination_text(column, parts) for column, parts in base.grouping.items()},
        tuple(_friction(robot, fit, samples, j) for j in range(len(robot.driven))),
        hidden_words(robot, base, fit),
        ready.constants,
        () if friction == "none" else term_tests(fit.model, fit.theta, samples, fit.noise, drives),
        ready.notes,
        ready.doubts,
        coordinates,
    )


@dataclass(frozen=True)
class ReadyLogs(Shown):
    """Logs that may be identified: smoothed, doubted, in N m; what is to be said of them."""

    regressor: Evaluate
    base: BaseParameters
    prior: Array
    """(p) the base parameters of the robot's file."""
    samples: tuple[LogSamples, ...]
    constants: Mapping[str, Estimate]
    notes: tuple[str, ...]
    doubts: tuple[Doubt, ...]


def ready_logs(
    robot: Robot,
    logs: Sequence[Path | Log],
    torque_constants: Mapping[str, float],
    accept_doubts: bool,
    progress: Told,
    most: int = MOST_ROWS,
    loaded: int = 0,
    everywhere: Everywhere | None = None,
) -> ReadyLogs:
    """Logs read, smoothed (`most` rows in all) and doubted; those that cannot be meant are refused with RobotError.

    The last `loaded` of them are of the robot with a load that its file does not have.
    """
    if not logs:
        raise RobotError("no log is given", body=robot.name)
    shape, robot = described(robot), by_motors(robot)
    if everywhere is None:  # read once, and held
        tasks = [LogTask(robot, one if isinstance(one, Log) else read_log(one, robot)) for one in logs]
        each: Everywhere = map
    else:
        tasks = [LogTask(robot, one if isinstance(one, Log) else FilePath(one).absolute()) for one in logs]
        each = everywhere
    looks = list(each(first_look, tasks))
    doubted = [(look.file, doubt) for look in looks for doubt in look.doubts]
    refuse(doubted, accept_doubts)
    fastest = np.max([look.fastest for look in looks], axis=0)
    progress("smoothing")
    tasks = [replace(task, fastest=fastest, most=most // len(tasks)) for task in tasks]
    samples = [replace(one, loaded=k >= len(tasks) - loaded) for k, one in enumerate(each(smoothed, tasks))]
    regressor, base = base_regressor(shape), base_parameters(shape)
    prior = prior_values(shape, base)
    progress("looking for other explanations")
    doubted += [(one.file, doubt) for one in samples for doubt in explained_doubts(robot, regressor, prior, one)]
    refuse(doubted, accept_doubts)
    for one in samples:
        need_closed(robot, regressor, one)
    samples, constants, words = in_newton_metres(robot, samples, torque_constants)
    notes = [f"{one.file}: {note}" for one in samples for note in one.notes] + words
    notes += [f"{file}: {doubt.words}" for file, doubt in doubted]
    return ReadyLogs(
        regressor, base, prior, tuple(samples), constants, tuple(notes), tuple(doubt for _, doubt in doubted)
    )


@dataclass(frozen=True)
class LogTask(Shown):
    """A log, read or to be read, and how it is to be smoothed."""

    robot: Robot
    log: Log | FilePath
    fastest: Array | None = None
    most: int = MOST_ROWS

    def read(self) -> Log:
        return self.log if isinstance(self.log, Log) else read_log(self.log, self.robot)


@dataclass(frozen=True)
class LogLook(Shown):
    """What a log's columns show."""

    file: str
    doubts: tuple[Doubt, ...]
    fastest: Array
    """(n) about the greatest speeds [rad/s, m/s]."""


def first_look(task: LogTask) -> LogLook:
    """What is seen in a log before it is smoothed."""
    log = task.read()
    doubts = tuple(seen_doubts(log, task.robot))
    return LogLook(log.file, doubts, fastest_speeds(log))


def smoothed(task: LogTask) -> LogSamples:
    """The log's samples, ready for least squares."""
    assert task.fastest is not None
    return prepare(task.read(), task.robot, task.fastest, most=task.most)


def refuse(doubted: Sequence[tuple[str, Doubt]], accept: bool) -> None:
    """RobotError where a log's numbers cannot be meant, unless that is accepted."""
    grave = [(file, doubt) for file, doubt in doubted if doubt.grave]
    if grave and not accept:
        file, first = grave[0]
        more = "".join(f"; {other}: {doubt.words}" for other, doubt in grave[1:4])
        rule = f"{first.words}{more}. Nothing is identified; mend the log, or pass --accept-doubts to go on"
        raise RobotError(rule, file=file)


def need_closed(robot: Robot, regressor: Evaluate, samples: LogSamples) -> None:
    """RobotError where the robot's loops do not close as its motors stand: of that nothing can be computed."""
    if robot.loops is None:
        return
    parts = [slice(a, a + BLOCK) for a in range(0, len(samples), BLOCK)]
    rows = [regressor(samples.q[part], samples.qd[part], samples.qdd[part]) for part in parts]
    open_ = np.concatenate([~np.isfinite(Y).all(axis=(1, 2)) for Y in rows])
    if open_.any():
        first, count = float(samples.t[int(np.argmax(open_))]), int(open_.sum())
        words = (
            f"its loops do not close at {count} of {len(samples)} samples, first at t = {first:.6g} s, on the way of"
        )
        words += " closing in which the robot starts: is an encoder's zero, its sign or its unit another, or a length?"
        raise RobotError(f"{words} Nothing is identified", file=samples.file)


def interval(fit: Fit, *columns: int) -> Estimate:
    """The sum of some columns' coefficients with its 95% interval."""
    at = list(columns)
    value = float(fit.theta[at].sum())
    reach = NORMAL * float(np.sqrt(max(0.0, fit.covariance[np.ix_(at, at)].sum())))
    return Estimate(value, value - reach, value + reach)


def _friction(robot: Robot, fit: Fit, logs: Sequence[LogSamples], joint: int) -> FrictionFit:
    base = fit.model.base
    at = {c.name: base + k for k, c in enumerate(fit.model.friction) if c.joint == joint and fit.told[base + k]}
    names = {"viscous": "viscous", "coulomb": "Coulomb", "stribeck": "Stribeck"}
    found = {name: interval(fit, k) for name, k in at.items()}
    velocity = None
    if "stribeck" in at:
        if "coulomb" in at:
            found["stribeck"] = interval(fit, at["coulomb"], at["stribeck"])
        place = fit.model.size + list(fit.levels).index(joint)
        fastest = float(logs[0].fastest[joint])
        value = fit.levels[joint] * fastest
        reach = NORMAL * fastest * float(np.sqrt(max(0.0, fit.covariance[place, place])))
        velocity = Estimate(value, value - reach, value + reach)
    left = np.concatenate([one.tau[:, joint] for one in logs]) - np.concatenate(
        [fit.model.predicted(fit.theta, fit.model.with_loads(fit.theta, one))[:, joint] for one in logs]
    )
    further = {name: value for name, value in found.items() if name not in (*names, "offset")}
    words = [names.get(name, name.replace("_", " ")) for name in found if name != "offset"]
    return FrictionFit(
        robot.driven[joint].name,
        " + ".join(words) or "none",
        found.get("viscous"),
        found.get("coulomb"),
        found.get("stribeck"),
        velocity,
        found.get("offset"),
        float(np.std(left)),
        further,
    )


LARGE = 1e-4
"""Of the largest part of a hidden combination: parts that are smaller are not named."""


def hidden_words(robot: Robot, base: BaseParameters, fit: Fit) -> tuple[str, ...]:
    """What the logs do not tell apart: a sentence for each combination of parameters."""
    names = [str(column) for column in base.kept]
    names += [f"{robot.driven[c.joint].name}.{c.name}" for c in fit.model.friction]
    names += [f"{robot.driven[joint].name}.stribeck_velocity" for joint in fit.levels]
    sentences = []
    for row in _echelon(fit.hidden.T):
        parts = [name for name, value in zip(names, row) if abs(value) > LARGE * np.max(np.abs(row))]
        if len(parts) == 1:
            sentences.append(f"{parts[0]} has no effect in this motion")
        else:
            sentences.append(f"{', '.join(parts[:-1])} and {parts[-1]} cannot be told apart by this motion")
    return tuple(sentences)


def _echelon(rows: Array) -> Array:
    """The same combinations, each with a parameter of its own: what is shown is short."""
    rows = rows.copy()
    done = 0
    for _ in range(len(rows)):
        rest = np.abs(rows[done:])
        if not rest.size or rest.max() == 0:
            break
        row, column = np.unravel_index(int(np.argmax(rest)), rest.shape)
        rows[[done, done + row]] = rows[[done + row, done]]
        rows[done] /= rows[done, column]
        others = [k for k in range(len(rows)) if k != done]
        rows[others] -= np.outer(rows[others, column], rows[done])
        rows[np.abs(rows) < 1e-9] = 0.0
        done += 1
    return rows[:done]


__all__ = ["Identification", "LinearModel", "identify"]
