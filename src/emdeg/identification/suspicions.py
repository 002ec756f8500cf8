"""What is wrong with a log: units, signs, columns that changed places, clocks, limits, joints at rest; in words.

Some can be seen in the columns. Others leave a log that looks like any other, so they are tried out: if the bodies'
equations explain the efforts far better with two columns exchanged, a sign turned, degrees for radians, efforts that
came late or an encoder's zero elsewhere, that is what happened. Signs and units that no equation can tell are held
against the masses of the robot's own file. What nothing explains is said, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.identification.evening import BRIDGED, flat_tops, stuck
from emdeg.identification.linear_model import Evaluate, with_terms
from emdeg.identification.misalignments import (
    EffortLook,
    misalignment,
    misalignment_words,
    orthonormal,
    unexplained_efforts,
)
from emdeg.identification.recording import JUMP, MANY_TURNS, MOTION, Log, doubts
from emdeg.identification.samples import LogSamples
from emdeg.robot import Robot

ROWS = 500
"""States at which explanations are tried out."""
WELL = 0.08
"""Of the efforts: an explanation that leaves less needs no other."""
BETTER = 0.5
"""What another explanation may leave at most, of what the log as it stands leaves, to be the likelier one."""
NEARLY = 1.5
"""What the next likely explanation may leave at most, of what the likeliest leaves, to be named beside it."""
ALIKE = 1.02
"""Explanations that leave so nearly the same cannot be told apart by what they leave."""
PLAIN = 3
"""The friction terms that every joint has stand first."""
FAR_OUT = 3.0
"""Of a joint's limits: angles beyond are degrees."""
GEARS = (10.0, 30.0, 50.0, 80.0, 100.0, 120.0, 160.0)
"""Gear ratios that are tried out on positions."""
TOO_MANY = 0.2
"""Of all samples: so many at the time of the one before cannot be meant."""
LEVELS = 1000
"""Steps of an encoder in the way that a joint goes: fewer are said."""
SAMPLES = 20_000
"""Of a long log, among which an encoder's steps are looked for."""
ROUNDING = 0.05
"""By which an encoder's steps may differ from whole ones."""
LEFT_OVER, MOST_LEFT_OVER = 0.3, 0.6
"""Of a joint's efforts: what is left and no noise is said, or makes the log one that cannot be meant."""
DRIVES, SURE = 0.1, 8.0
"""Friction that drives a joint with more of its effort, beyond so many deviations, shows a sign that was turned."""
FAR = 8.0
"""Efforts so many times larger or smaller than the file's masses ask for are in other units."""
UNITS = {
    1000.0: "mN m or N mm",
    100.0: "N cm",
    9.80665: "kgf m",
    180 / math.pi: "per degree",
    0.001: "kN m",
}


@dataclass(frozen=True)
class Doubt(Shown):
    """What seems wrong, and what it would change; a grave one makes every number wrong."""

    what: str
    words: str
    grave: bool


def seen_doubts(log: Log, robot: Robot) -> list[Doubt]:
    """What can be seen in a log's columns; RobotError where its time does not pass, of which nothing can be made."""
    found = log_doubts(log, robot)
    if log.step <= 0:
        raise RobotError(found[0].words, file=log.file)
    return [*found, *rate_doubts(log, robot)]


def log_doubts(log: Log, robot: Robot) -> list[Doubt]:
    """What a column by itself shows."""
    same = float(np.mean(np.diff(log.t) == 0))
    if same > TOO_MANY:
        words = f"the same time stands at {same:.0%} of the samples: t has too few digits, and no speed would be right"
        return [Doubt("time", words, True)]
    if log.step <= 0:
        words = "the time does not run forwards from sample to sample: every speed would have the wrong sign"
        return [Doubt("time", words, True)]
    found: list[Doubt] = []
    for text in doubts(log, robot):
        if "in seconds" in text:
            found.append(Doubt("time", f"{text} Else every speed and acceleration would be wrong", True))
        else:
            words = f"{text} In degrees, or before a gear, gravity's angles and speeds would be as many times off"
            found.append(Doubt("degrees", words, _far_out(log, robot)))
    found += _clock(log)
    missing = int(np.isnan(log.table.values).sum()) if log.table is not None else 0
    if missing:
        words = f"{missing} values are missing: up to {BRIDGED} in a row are interpolated, longer gaps part the log"
        found.append(Doubt("missing", words, False))
    found += _sensors(log, robot)
    if log.effort is not None:
        flat = flat_tops(log.effort)
        what = "current" if log.in_amperes else "effort"
        for k, joint in enumerate(robot.driven):
            if float(np.nanmax(log.effort[:, k])) == float(np.nanmin(log.effort[:, k])):
                words = f"the {what} of {joint.name} never changes: nothing was measured there, and all that it moves"
                found.append(Doubt("effort", f"{words} would seem to have no mass", True))
            if flat[:, k].any():
                most = float(np.nanmax(np.abs(log.effort[flat[:, k], k])))
                unit = "A" if log.in_amperes else "N m" if joint.kind == "revolute" else "N"
                where = f"stands at {most:.4g} {unit} in {int(flat[:, k].sum())} samples"
                words = f"the {what} of {joint.name} {where}: its drive gives no more"
                words += "; they are left out, fitted they would make bodies lighter"
                found.append(Doubt("saturated", words, False))
    return found


def _far_out(log: Log, robot: Robot) -> bool:
    """Whether a joint turns so far beyond its limits, or so many times, that no robot does."""
    for k, joint in enumerate(robot.coordinates):
        ends = [abs(float(end)) for end in (joint.limits.lower, joint.limits.upper) if end is not None]
        most = FAR_OUT * max([*ends, math.pi]) if ends else MANY_TURNS
        if joint.kind == "revolute" and float(np.nanmax(np.abs(log.q[:, k]))) > most:
            return True
    return False


def _sensors(log: Log, robot: Robot) -> Iterator[Doubt]:
    """Columns that stood still in the midst of a motion, and encoders with few steps."""
    what = "current" if log.in_amperes else "effort"
    both = [("position", log.q, robot.coordinates)]
    both += [] if log.effort is None else [(what, log.effort, robot.driven)]
    for name, values, joints in both:
        held = stuck(values) & ~(flat_tops(values) if name == what else False)
        for k in np.flatnonzero(held.any(axis=0)):
            first = float(log.t[int(np.argmax(held[:, k]))])
            words = (
                f"frozen: the {name} of {joints[k].name} stands still in the midst of a motion, from t = {first:.6g} s"
            )
            words += f" on, {int(held[:, k].sum())} samples in all: they are left out"
            yield Doubt("frozen", f"{words}; fitted they would be jumps of its acceleration", False)
    for k, joint in enumerate(robot.coordinates):
        step = _encoder_step(log.q[:, k])
        if step is not None:
            unit = "rad" if joint.kind == "revolute" else "m"
            words = f"quantised: the position of {joint.name} has steps of {step:.3g} {unit}, which hide slow motion"
            yield Doubt("quantised", f"{words}; its friction near rest and its inertia are known less well", False)


def _encoder_step(q: Array) -> float | None:
    """The step of an encoder that has few of them where the joint goes; None where it has many, or none to be seen."""
    some = q[:: max(1, len(q) // SAMPLES)]
    values = np.unique(some[np.isfinite(some)])
    apart = np.diff(values)
    if len(apart) < 3:
        return None
    step = float(np.quantile(apart, 0.05))
    count = apart / step
    whole = np.abs(count - np.rint(count)) < ROUNDING * np.rint(count)
    few = float(values[-1] - values[0]) < LEVELS * step
    return float(np.median(apart[np.rint(count) == 1])) if few and whole.all() else None


def _clock(log: Log) -> Iterator[Doubt]:
    steps = np.diff(log.t)
    same = int(np.sum(steps == 0))
    if same:
        at = float(log.t[int(np.argmax(steps == 0))])
        words = f"{same} samples have the time of the one before them, first at t = {at:.6g} s: they are left out"
        yield Doubt("clock", f"{words}; else their speeds would be without bound", False)
    back, far = steps < 0, steps > (BRIDGED + JUMP) * log.step
    for mask, what in ((back, "goes back"), (far, "jumps ahead")):
        if mask.any():
            k = int(np.argmax(mask))
            times = f" ({int(mask.sum())} times in all)" if mask.sum() > 1 else ""
            words = f"the clock {what} by {abs(steps[k]):.3g} s at t = {log.t[k]:.6g} s{times}: the log is parted there"
            yield Doubt("clock", words, False)
    short = (steps > JUMP * log.step) & ~far
    if short.any():
        lost = int(np.sum(np.round(steps[short] / log.step) - 1))
        yield Doubt("missing", f"{lost} samples are missing in short gaps: they are interpolated", False)


def rate_doubts(log: Log, robot: Robot) -> list[Doubt]:
    """Whether recorded speeds are the positions' derivatives."""
    found = []
    if log.qd is None:
        return []
    with np.errstate(invalid="ignore"):
        slope = np.gradient(log.q, axis=0) / log.step
    for k, joint in enumerate(robot.coordinates):
        good = np.isfinite(slope[:, k]) & np.isfinite(log.qd[:, k])
        own = float(slope[good, k] @ slope[good, k])
        ratio = float(slope[good, k] @ log.qd[good, k]) / own if own > 0 else 1.0
        if own > 1e-8 * good.sum() and not 0.8 < ratio < 1.25:
            unit = " (degrees?)" if 40 < ratio < 80 else " (another sign?)" if ratio < 0 else ""
            words = f"the speed of {joint.name} is {ratio:.3g} times its position's derivative{unit}"
            found.append(Doubt("rates", f"{words}: friction and accelerations would be wrong by that", True))
    return found


def explained_doubts(robot: Robot, regressor: Evaluate, prior: Array, samples: LogSamples) -> list[Doubt]:
    """What the equations say: rest, exchanged columns, signs, degrees, units; `prior` (p) are the file's parameters."""
    found = [
        Doubt(
            "still",
            f"{joint.name} did not move, or its encoder was not read: neither its friction nor what only its motion "
            "shows is found",
            False,
        )
        for joint, rests in zip(robot.coordinates, samples.still)
        if rests
    ]
    some = _some(samples)
    left = _left(regressor, some)
    look = EffortLook(regressor, samples)
    off = misalignment(look)
    if left > WELL:
        best = _likeliest(robot, regressor, prior, some)
        if best[0] < BETTER * left and (off is None or best[0] < math.sqrt(off.left) * left):
            stands = f"the model leaves {left:.0%} of the efforts" if math.isfinite(left) else "its loops do not close"
            words = f"{best[1]}: as it stands {stands}, so it leaves {best[0]:.0%} of the efforts"
            found.append(Doubt(best[1].split()[0].rstrip(":"), words, True))
            return found
    if off is not None:
        what, words = misalignment_words(robot, off)
        found.append(Doubt(what, words, True))
    found += _against_the_file(robot, regressor, prior, some)
    if not any(doubt.grave for doubt in found):
        found += _driving_friction(robot, regressor, some)
    return found if any(doubt.grave for doubt in found) else found + _unexplained(robot, look)


def _driving_friction(robot: Robot, regressor: Evaluate, some: LogSamples) -> list[Doubt]:
    """Joints whose friction would drive them: a turned sign that other masses make up for shows in nothing else."""
    Y = regressor(some.q, some.qd, some.qdd)
    spread = np.maximum(np.std(some.tau, axis=0), 1e-12)
    X = (with_terms(Y, some.friction[..., :PLAIN]) / spread[:, None]).reshape(some.tau.size, -1)
    if not np.isfinite(X).all():
        return []
    y = (some.tau / spread).reshape(-1)
    Q, to = orthonormal(X)
    theta = to @ (Q.T @ y)
    noise = float(np.linalg.norm(y - X @ theta)) / math.sqrt(max(1, len(y) - Q.shape[1]))
    found = []
    for j, joint in enumerate(robot.driven):
        first = Y.shape[2] + PLAIN * j
        rubs = slice(first, first + PLAIN - 1)  # the offset behind them is no friction
        efforts = some.friction[:, j, : PLAIN - 1]
        power = np.mean(efforts * some.qd[:, j, None], axis=0)
        sure = SURE * noise * float(np.linalg.norm(power @ to[rubs]))
        share = float(np.std(efforts @ theta[rubs])) / float(spread[j])
        if power @ theta[rubs] < -sure and share > DRIVES:
            words = (
                f"sign: friction would drive {joint.name} where it must brake it, with {share:.0%} of its effort: its"
            )
            words += " position or its effort counts the other way, and what it moves would be mirrored"
            found.append(Doubt("sign", words, True))
    return found


def _likeliest(robot: Robot, regressor: Evaluate, prior: Array, some: LogSamples) -> tuple[float, str]:
    """(what it leaves of the efforts, in words) of the other explanation that leaves least.

    Of two that leave the same, as either of two signs turned does, it is the one that the file's masses allow.
    """
    tried = sorted(((_left(regressor, one), words, one) for one, words in _others(robot, some)), key=lambda one: one[0])
    alike = [one for one in tried if one[0] < ALIKE * tried[0][0]]
    allowed = (one for one in alike if not _against_the_file(robot, regressor, prior, one[2]))
    found = next(allowed, alike[0]) if len(alike) > 1 else (*alike, (math.inf, "", some))[0]
    # Two columns exchanged in positions or in efforts may leave nearly the same: both are said.
    others = [f", or {words}" for left, words, _ in tried if words != found[1] and left < NEARLY * found[0]]
    return found[0], found[1] + "".join(others[:1])


def _unexplained(robot: Robot, look: EffortLook) -> list[Doubt]:
    """Joints whose efforts neither bodies nor friction explain, noise apart."""
    rest = unexplained_efforts(look)
    found = []
    for joint, share in zip(robot.driven, rest):
        if share > LEFT_OVER:
            words = f"unexplained: {share:.0%} of the effort of {joint.name} is neither noise nor what any bodies and"
            words += " friction give, and no column exchanged, sign or unit explains it: is it this robot, with these"
            words += " sizes, and did its encoders move with it? Its parameters would make up for what is missing"
            found.append(Doubt("unexplained", words, share > MOST_LEFT_OVER))
    return found


def _some(samples: LogSamples) -> LogSamples:
    rows = np.unique(np.linspace(0, len(samples) - 1, ROWS).astype(int))
    arrays = {name: getattr(samples, name)[rows] for name in ("t", "q", "qd", "qdd", "tau", "friction", "used")}
    return replace(samples, **arrays, pieces=(0,))


def _left(regressor: Evaluate, some: LogSamples) -> float:
    """The share of the efforts that bodies and plain friction cannot explain, all joints counting alike."""
    Y = regressor(some.q, some.qd, some.qdd)
    spread = np.maximum(np.std(some.tau, axis=0), 1e-12)
    X = with_terms(Y, some.friction[..., :PLAIN]) / spread[:, None]
    y = (some.tau - some.tau.mean(axis=0)) / spread
    if not np.isfinite(X).all():
        return math.inf
    rest = _without(y.reshape(-1), X.reshape(y.size, -1))
    return float(np.sqrt(np.mean(rest**2)))


def _without(y: Array, A: Array) -> Array:
    """What is left of y behind the columns of A."""
    Q, _ = orthonormal(A)
    return y - Q @ (Q.T @ y)


def _others(robot: Robot, some: LogSamples) -> Iterator[tuple[LogSamples, str]]:
    """Other explanations of a log: the samples as they would be, and in words."""
    drives, places = [j.name for j in robot.driven], [j.name for j in robot.coordinates]
    n = len(drives)
    for a, b in combinations(range(n), 2):
        order = list(range(n))
        order[a], order[b] = b, a
        yield replace(some, tau=some.tau[:, order]), f"swapped columns: the efforts of {drives[a]} and {drives[b]}"
        moved = {name: getattr(some, name)[:, order] for name in MOTION}
        words = f"swapped columns: the positions of {places[a]} and {places[b]}"
        yield replace(some, **moved, friction=some.friction[:, order]), words
    for by in (k - n // 2 + (k >= n // 2) for k in range(n - 1) if n > 2):  # pairs are above
        order = np.roll(np.arange(n), by)
        words = f"swapped columns: the efforts stand {abs(by)} {'place' if abs(by) == 1 else 'places'} beside their own"
        yield replace(some, tau=some.tau[:, order]), words
    for j in range(n):
        turned = np.where(np.arange(n) == j, -1.0, 1.0)
        yield replace(some, tau=some.tau * turned), f"sign: the effort of {drives[j]} points the other way"
        yield _scaled(some, turned), f"sign: the position of {places[j]} counts the other way"
    turns = np.array([math.pi / 180 if joint.kind == "revolute" else 1.0 for joint in robot.coordinates])
    yield _scaled(some, turns), "degrees: positions are not in radians"
    far = np.ptp(some.q, axis=0) > math.pi
    for j in (j for j in range(n) if n > 1 and far[j] and robot.coordinates[j].kind == "revolute"):
        for ratio, words in (
            (180 / math.pi, f"degrees: the position of {places[j]} is not in radians"),
            *(
                (gear, f"gear: the position of {places[j]} is the motor's, some {gear:g} turns for one")
                for gear in GEARS
            ),
        ):
            yield _scaled(some, np.where(np.arange(n) == j, 1 / ratio, 1.0)), words


def _scaled(some: LogSamples, scale: Array) -> LogSamples:
    """The samples with each coordinate's motion times its scale; friction by its terms stays as it was read."""
    return replace(some, **{name: getattr(some, name) * scale for name in MOTION})


def _unit(x: Array) -> tuple[Array, float]:
    """(x over its length, its length), however small its entries are: their squares may be none."""
    most = float(np.abs(x).max(initial=0.0))
    length = float(np.linalg.norm(x / most)) if most > 0 and math.isfinite(most) else 0.0
    return (x / most / length, most * length) if length > 0 else (x, 0.0)


def _against_the_file(robot: Robot, regressor: Evaluate, prior: Array, some: LogSamples) -> list[Doubt]:
    """Signs and units, by the efforts that the file's own masses ask for; they may be wrong, but not so wrong."""
    if robot.symbols:
        return []
    asked = regressor(some.q, some.qd, some.qdd) @ prior
    factors = []
    for j in range(some.tau.shape[1]):
        rubs = some.friction[:, j, :PLAIN]
        (rest, much), (own, asks) = (_unit(_without(values[:, j], rubs)) for values in (some.tau, asked))
        alike = float(own @ rest)
        sure = much > 0 and asks > 0 and alike**2 > 0.5
        factors.append(alike * (much / asks) if sure else math.nan)
    known = [(joint, factor) for joint, factor in zip(robot.driven, factors) if not math.isnan(factor)]
    turned = [joint.name for joint, factor in known if factor < 0]
    found = []
    if turned:
        whose = "every joint" if len(turned) == len(known) else ", ".join(turned)
        words = f"sign: the efforts of {whose} point against what the file's masses ask for"
        found.append(Doubt("sign", f"{words}; identified so, masses would be negative", True))
    for joint, factor in known:
        size = abs(factor)
        if not some.in_amperes and not 1 / FAR < size < FAR:
            near = min(UNITS, key=lambda unit: abs(math.log(size / unit)))
            unit = f" ({UNITS[near]}?)" if abs(math.log(size / near)) < 0.5 else " (at the motor, before the gear?)"
            words = f"units: the efforts of {joint.name} are {size:.3g} times what the file's masses ask for{unit}"
            found.append(Doubt("units", f"{words}; every mass would be wrong by that", True))
    return found
