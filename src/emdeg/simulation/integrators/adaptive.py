"""Runs with SciPy's adaptive integrators: dense output, events, any control law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK45, Radau

from emdeg.algebra import Array
from emdeg.dynamics.functions import kinetic_energy, mass_matrix
from emdeg.errors import SimulationError, TooLarge
from emdeg.robot import Robot
from emdeg.simulation.controllers.conditioning import Conditioning, Held, instants
from emdeg.simulation.controllers.laws import Law
from emdeg.simulation.motion import Dense, Event
from emdeg.simulation.plant.loops import Followed, is_analytic, where_it_broke
from emdeg.simulation.plant.passive import Passive, with_idle_motors
from emdeg.simulation.plant.programs import Compiled

Progress = Callable[[float], bool | None]
"""Told the share of a run that is done; what it answers with True ends there."""

SOLVERS: dict[str, tuple[Any, int]] = {"DOP853": (DOP853, 7), "Radau": (Radau, 3), "RK45": (RK45, 4)}
"""Name -> SciPy's solver and the degree of its interpolating polynomial."""

MOST_BOUNCES = 1000
CREEP = 1e-7
"""A joint that leaves its stop slower than this [rad/s, m/s] rests on it."""
STALL, ADVANCE = 1000, 1e-7
"""A run is given up where so many steps bring it no further than this share of its duration."""
LOOPS_STALL = 60
"""The same of a mechanism with closed loops, whose steps shrink without end towards a dead point."""
SHORT, FOLD = 1e-2, 3e-4
"""Steps below this share of the longest, this near to a singularity: loops that close numerically are at a fold."""
MOST_STEPS = 200_000
"""Of one run; each is remembered for its dense output."""


@dataclass(frozen=True)
class Rigid:
    """Rigid limits of joints: (joint, limit, +1 upper or -1 lower); `mode` record, halt or bounce."""

    limits: tuple[tuple[int, float, int], ...]
    mode: str
    restitution: float = 0.5


@dataclass(frozen=True)
class Result:
    """The run on the grid: states (k, entries), efforts (k, n); where it ended, and how it went."""

    t: Array
    x: Array
    tau: Array
    dense: Dense
    events: tuple[Event, ...]
    steps: int
    evaluations: int
    interrupted: bool


class AdaptiveRun:
    """One run. The state is q, qd, the joints' work [J] and the impulses of the joints `impulses`."""

    def __init__(
        self,
        robot: Robot,
        law: Law,
        conditioning: Conditioning,
        passive: Passive,
        impulses: tuple[int, ...],
        rigid: Rigid,
        method: str,
        rtol: float,
        atol: float,
        progress: Progress | None,
    ) -> None:
        self.robot, self.law, self.conditioning, self.passive = robot, law, conditioning, passive
        self.impulses, self.rigid, self.progress = list(impulses), rigid, progress
        self.solver, self.degree = SOLVERS[method]
        self.tolerances = {"rtol": rtol, "atol": atol}
        self.held: Held | None = None
        self._rubbing = with_idle_motors(robot, passive)
        self._plant: Compiled | Followed | None = Compiled(self._rubbing) if is_analytic(robot) else None
        self.stall = STALL if robot.is_tree else LOOPS_STALL
        self.events: list[Event] = []
        self.pieces: list[Any] = []
        self.evaluations = 0
        self.bounces = 0
        self.longest = 0.0
        self.interrupted = False

    def efforts(self, t: Any, q: Array, qd: Array) -> Array:
        """Of the controller, as they reach the joints."""
        if self.held is not None:
            return np.broadcast_to(self.held.tau, (*q.shape[:-1], len(self.held.tau)))
        return self.conditioning.applied(self.law(t, self.conditioning.measured(q), qd))

    def rates(self, t: float, x: Array) -> Array:
        n = self.robot.freedoms
        q, qd = x[:n], x[n : 2 * n]
        assert self._plant is not None
        tau = self.efforts(t, q, qd)
        v = self._plant.drive_rates(q, qd)
        if self.passive.also:
            tau = np.concatenate([tau, np.zeros(len(self.passive.also))])
        if not self.passive.is_none:
            tau = tau + self.passive.efforts(q, qd, v)
        qdd = self._plant.accelerations(q, qd, tau)
        return np.concatenate([qd, qdd, [tau @ v], tau[self.impulses]])

    def run(self, x: Array, duration: float, grid: Array) -> Result:
        """Integrate from x over `duration`, recording at `grid`."""
        if self.conditioning.period is not None:
            self.held = Held(self.law, self.conditioning, len(self.robot.driven))
        n = self.robot.freedoms
        if self._plant is None:
            self._plant = Followed(self._rubbing, x[:n])
        states, efforts = np.empty((len(grid), len(x))), np.empty((len(grid), len(self.robot.driven)))
        done, t, halted = 0, 0.0, False
        edges = instants(duration, self.conditioning)
        for end in edges[1:]:
            if self.held is not None:
                self.held.update(t, x[:n], x[n : 2 * n])
            while t < end and not halted:
                solver = self.solver(self.rates, t, x, end, **self.tolerances)
                first = len(self.pieces)
                t, x, halted = self._advance(solver, end, duration)
                self.evaluations += solver.nfev
                part = Dense(self.pieces[first:], self.degree)
                # Points of the grid before t, the end of the run included; at t itself the next efforts act already.
                upto = len(grid) if t >= duration else int(np.searchsorted(grid, t - 1e-12 * duration, side="left"))
                if upto > done:
                    at = grid[done:upto]
                    states[done:upto] = part(at)
                    efforts[done:upto] = self.efforts(at, states[done:upto, :n], states[done:upto, n : 2 * n])
                    done = upto
            if halted:
                break
        return Result(
            grid[:done],
            states[:done],
            efforts[:done],
            Dense(self.pieces, self.degree),
            tuple(self.events),
            len(self.pieces),
            self.evaluations,
            self.interrupted,
        )

    def _advance(self, solver: Any, end: float, duration: float) -> tuple[float, Array, bool]:
        """To `end`, or to the next stop that ends the run or turns a joint round: (t, x, halted)."""
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                raise self._given_up(solver, message or "not finite")
            piece = solver.dense_output()
            self.pieces.append(piece)
            step = piece.t - piece.t_old
            stalled = len(self.pieces) > self.stall and piece.t - self.pieces[-self.stall].t_old < ADVANCE * duration
            if stalled or self._at_a_fold(step):
                raise self._given_up(solver, f"its steps have become too short, {step:.2g} s")
            if len(self.pieces) > MOST_STEPS:
                raise TooLarge(
                    f"the run takes more than {MOST_STEPS} steps: it stands at t = {solver.t:.6g} s of {duration:g} s; "
                    "a method of fixed step (rk4, gauss4) is meant for long runs",
                    body=self.robot.name,
                )
            told_to_stop = self.progress is not None and self.progress(solver.t / duration)
            hit = self._hit(piece)
            if hit is None:
                if told_to_stop and solver.t < duration:
                    self.interrupted = True
                    return solver.t, solver.y, True
                continue
            at, joint, limit, side = hit
            x = piece(at)
            name = self.robot.coordinates[joint].name
            self.events.append(Event(float(at), name, f"{'upper' if side > 0 else 'lower'} limit"))
            if self.rigid.mode == "record":
                continue
            self.pieces[-1] = _Cut(piece, at)
            if self.rigid.mode == "halt":
                return at, x, True
            return at, self._bounced(x, joint, limit), False
        return end, solver.y, False

    def _at_a_fold(self, step: float) -> bool:
        self.longest = max(self.longest, step)
        if not isinstance(self._plant, Followed) or step > SHORT * self.longest:
            return False
        return float(self._plant.conditions.first) < FOLD

    def _given_up(self, solver: Any, why: str) -> SimulationError:
        found = self._plant.conditions if isinstance(self._plant, Followed) else None
        near = where_it_broke(self.robot, solver.y[: self.robot.freedoms], found)
        return SimulationError(f"the integrator gave up at t = {solver.t:.6g} s: {why}{near}", body=self.robot.name)

    def _hit(self, piece: Any) -> tuple[float, int, float, int] | None:
        """The first limit that a joint passes outwards within a step: (time, joint, limit, side)."""
        if not self.rigid.limits:
            return None
        times = np.linspace(piece.t_old, piece.t, 9)
        q = piece(times)
        best = None
        for joint, limit, side in self.rigid.limits:
            beyond = side * (q[joint] - limit)
            crossing = np.flatnonzero((beyond[:-1] <= 0) & (beyond[1:] > 0))
            if crossing.size:
                low, high = times[crossing[0]], times[crossing[0] + 1]
                for _ in range(60):
                    middle = (low + high) / 2
                    if side * (piece(middle)[joint] - limit) > 0:
                        high = middle
                    else:
                        low = middle
                if best is None or low < best[0]:
                    best = (float(low), joint, limit, side)
        return best

    def _bounced(self, x: Array, joint: int, limit: float) -> Array:
        """The state after a joint has struck its stop: an impulse on that joint alone."""
        self.bounces += 1
        n = self.robot.freedoms
        q, qd = x[:n].copy(), x[n : 2 * n]
        q[joint] = limit
        unit = np.eye(n)[joint]
        column = np.linalg.solve(mass_matrix(self.robot, q), unit)
        impulse = -(1 + self.rigid.restitution) * qd[joint] / column[joint]
        after = qd + impulse * column
        name = self.robot.coordinates[joint].name
        if abs(after[joint]) < CREEP or self.bounces > MOST_BOUNCES:
            raise SimulationError(
                f"{name} comes to rest on its stop at {self.events[-1].t:.6g} s, which bouncing cannot follow; "
                'use stops = "spring"',
                body=self.robot.name,
            )
        gained = float(kinetic_energy(self.robot, q, after) - kinetic_energy(self.robot, q, qd))
        extra = x[2 * n :].copy()
        extra[0] += gained
        for place, k in enumerate(self.impulses):
            extra[1 + place] += impulse * (k == joint)
        return np.concatenate([q, after, extra])


class _Cut:
    """A step's polynomial that ends before its step does."""

    def __init__(self, piece: Any, t: float) -> None:
        self._piece, self.t_old, self.t = piece, piece.t_old, t

    def __call__(self, t: Any) -> Array:
        return self._piece(t)
