"""Clocks and encoders that are off: efforts that come late, positions whose zero is elsewhere; found by the equations.

Neither can be seen in a column. The efforts that the equations give change with a delay by their slope in time, with an
encoder's zero by their slope in that position. What is left of the efforts is held against these slopes, behind all
that bodies and friction explain; one that explains a good part of it is followed by Gauss and Newton's steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from emdeg.algebra import Array
from emdeg.identification.linear_model import Evaluate, stretches, with_terms
from emdeg.identification.samples import LogSamples
from emdeg.robot import Robot

WINDOWS, LENGTH = 8, 100
"""Stretches of a log, and rows of each, at which it is looked for."""
EDGE = 8
"""Rows at either end of a stretch that only serve the others' delays."""
WORTH = 0.2
"""Of the squares that are left: what a slope must explain to be followed."""
EXPLAINED = 0.7
"""Of the squares that are left: what a misalignment must leave at most to be the likely one."""
STEPS = 6
NEAR = 1e-6
"""[rad, m, of a step]: the step of a slope."""
LARGEST = 0.3
"""[rad, m] of a step at most."""
RUBS = (0, 1, 2, 4, 5, 9, 11, 13)
"""Friction by the places of its terms: what every joint has, drag, thin films, Stribeck's peak at three velocities.

What they explain is not to be taken for a delay."""


@dataclass(frozen=True)
class Misalignment:
    """What a log seems to be off by: efforts `delay` [s] late, or the zero of a coordinate by `zero` [rad, m]."""

    delay: float
    coordinate: int | None
    zero: float
    left: float
    """Of the squares that are left without it."""


@dataclass(frozen=True)
class _Stretch:
    """Rows of a log one after the other, as functions of the time."""

    t: Array
    tau: Array
    at: Callable[[Array], Array]
    """t (m) -> q, qd, qdd and the terms of friction, side by side."""
    edge: int

    @property
    def inner(self) -> slice:
        return slice(self.edge, len(self.t) - self.edge)


def misalignment(look: EffortLook) -> Misalignment | None:
    """The delay or the zero of an encoder that explains most of what is left of the efforts; None if none does."""
    n, start = look.n, look.as_it_stands
    if start is None or start.left <= 0:
        return None
    worth = look.worth(start)
    best: Misalignment | None = None
    for k in np.argsort(worth)[::-1][:2]:
        if worth[k] < WORTH:
            break
        off, left = look.followed(int(k), start)
        if left < EXPLAINED * start.left and (best is None or left < best.left * start.left):
            zero = 0.0 if k == n else float(off[k])
            best = Misalignment(float(off[n]), None if k == n else int(k), zero, left / start.left)
    return best


def unexplained_efforts(look: EffortLook) -> list[float]:
    """Of each driven joint's efforts (rms) what bodies and friction do not explain and what lasts longer than noise."""
    drives, fit = len(look.size), look.as_it_stands
    if fit is None:
        return [0.0] * drives
    rest = fit.rest.reshape(-1, drives)
    # White noise has nothing in common with itself two rows later, whatever the filter did to its neighbours.
    common = np.mean(rest[2:] * rest[:-2], axis=0)
    return np.sqrt(np.maximum(common, 0.0)).tolist()


def misalignment_words(robot: Robot, found: Misalignment) -> tuple[str, str]:
    """(what it is, in words what it would change)."""
    left = f"so mended, the equations leave {math.sqrt(found.left):.0%} of what they leave as it stands"
    if found.coordinate is None:
        when = "after" if found.delay > 0 else "before"
        words = f"delay: the efforts come {abs(found.delay) * 1000:.3g} ms {when} the positions"
        return "delay", f"{words}; gravity and inertia would seem to be friction, and the reverse ({left})"
    joint = robot.coordinates[found.coordinate]
    unit = "rad" if joint.kind == "revolute" else "m"
    words = f"zero: the position of {joint.name} reads {found.zero:.3g} {unit} too little"
    if found.zero < 0:
        words = f"zero: the position of {joint.name} reads {-found.zero:.3g} {unit} too much"
    return "zero", f"{words}; every mass centre beyond it would seem to be elsewhere ({left})"


def _stretches(samples: LogSamples) -> list[_Stretch]:
    """Stretches from all over the log."""
    from scipy.interpolate import CubicSpline

    length = LENGTH + 2 * EDGE
    starts = [a for first, last in stretches(samples) for a in range(first, last - length + 1, length)]
    if not starts:
        first, last = max(stretches(samples), key=lambda ends: ends[1] - ends[0])
        starts, length = ([first], last - first) if last - first > 4 * EDGE else ([], 0)
    chosen = [starts[k] for k in np.unique(np.linspace(0, len(starts) - 1, WINDOWS).astype(int))] if starts else []
    found = []
    for a in chosen:
        rows = slice(a, a + length)
        if not samples.used[rows].all():
            continue
        columns = (samples.q, samples.qd, samples.qdd, samples.friction[..., RUBS].reshape(len(samples), -1))
        whole = np.concatenate([column[rows] for column in columns], axis=1)
        t = samples.t[rows]
        found.append(_Stretch(t, samples.tau[rows], CubicSpline(t, whole), EDGE))
    return found


@dataclass(frozen=True)
class _Fitted:
    """Rows and what is left where a log is taken to be off by `off` (zeros, then the delay)."""

    off: Array
    columns: Array
    """(rows, columns): bodies and friction, orthonormal."""
    slopes: Array
    """(rows, len(off)): how the efforts change with each."""
    rest: Array
    left: float


def orthonormal(A: Array) -> tuple[Array, Array]:
    """(Q, T): Q = A T has orthonormal columns that span those of A; by squares, twice, which is quick and exact enough.

    Directions with less than a 1e-5th of the largest one's length are left out.
    """
    length = np.linalg.norm(A, axis=0)
    T = np.diag(np.where(length > 0, 1 / np.where(length > 0, length, 1.0), 0.0))
    for _ in range(2):
        Q = A @ T
        values, vectors = np.linalg.eigh(Q.T @ Q)
        told = values > 1e-10 * values.max(initial=0.0)
        T = T @ (vectors[:, told] / np.sqrt(values[told]))
    return A @ T, T


class EffortLook:
    """A log's rows as functions of what it may be off by."""

    def __init__(self, regressor: Evaluate, samples: LogSamples) -> None:
        self.regressor, self.parts = regressor, _stretches(samples)
        self.n, self.step = samples.q.shape[1], samples.step
        self.size = np.maximum(np.std(samples.tau, axis=0), 1e-12)
        own = [(part.tau / self.size)[part.inner] for part in self.parts]
        self.y = np.concatenate(own).reshape(-1) if own else np.zeros(0)

    @cached_property
    def as_it_stands(self) -> _Fitted | None:
        """The fit of the log as it is; None where too little of it is left to be looked at."""
        return self.fitted(np.zeros(self.n + 1)) if self.parts else None

    def rows(self, off: Array) -> Array:
        """(m, drives, columns) of bodies and friction, over the efforts' sizes."""
        n, drives = self.n, len(self.size)
        values = np.concatenate([part.at(part.t[part.inner] - off[n]) for part in self.parts])
        q, qd, qdd = values[:, :n] + off[:n], values[:, n : 2 * n], values[:, 2 * n : 3 * n]
        Y = self.regressor(*map(np.ascontiguousarray, (q, qd, qdd)))
        return with_terms(Y, values[:, 3 * n :].reshape(len(q), drives, len(RUBS))) / self.size[:, None]

    def fitted(self, off: Array, only: int | None = None) -> _Fitted | None:
        """Least squares there, with the slopes (of one only, where it is asked for); None where it has no numbers."""
        X = self.rows(off)
        flat = X.reshape(-1, X.shape[2])
        if not np.isfinite(flat).all():
            return None
        U, to = orthonormal(flat)
        rest = self.y - U @ (U.T @ self.y)
        theta = to @ (U.T @ self.y)
        slopes = np.zeros((len(self.y), len(off)))
        for k in range(len(off)) if only is None else [only]:
            by = NEAR * (self.step if k == self.n else 1.0)
            there = off.copy()
            there[k] += by
            moved = (self.rows(there).reshape(-1, X.shape[2]) @ theta - X.reshape(-1, X.shape[2]) @ theta) / by
            slopes[:, k] = moved - U @ (U.T @ moved) if np.isfinite(moved).all() else 0.0
        return _Fitted(off, U, slopes, rest, float(rest @ rest))

    def worth(self, at: _Fitted) -> Array:
        """(len(off)) the share of what is left that each slope explains by itself."""
        squares = np.einsum("rk,rk->k", at.slopes, at.slopes)
        # A slope that bodies and friction explain is only rounding behind them.
        known = squares > 1e-10 * max(float(squares.max(initial=0.0)), 1e-300)
        return np.where(known, (at.rest @ at.slopes) ** 2 / np.where(known, squares, 1.0), 0.0) / at.left

    def followed(self, k: int, start: _Fitted) -> tuple[Array, float]:
        """(where one misalignment alone leaves least, what it leaves)."""
        at, most = start, EDGE / 2 * self.step if k == self.n else LARGEST
        for _ in range(STEPS):
            slope = at.slopes[:, k]
            step = float(np.clip(at.rest @ slope / max(float(slope @ slope), 1e-300), -most, most))
            next_ = None
            for _ in range(4):  # a step that does not help is halved
                there = at.off.copy()
                there[k] += step
                if k == self.n:
                    there[k] = float(np.clip(there[k], -EDGE * self.step, EDGE * self.step))
                next_ = self.fitted(there, k)
                if next_ is not None and next_.left < at.left:
                    break
                step /= 2
            if next_ is None or next_.left > 0.999 * at.left:
                break
            at = next_
        return at.off, at.left
