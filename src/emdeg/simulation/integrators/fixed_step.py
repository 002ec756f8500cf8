"""Runs with a fixed step, compiled together with the robot; one initial state or a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError, SimulationError
from emdeg.programs import Dependence, Program, Tracer
from emdeg.robot import Robot
from emdeg.runtime import compile as compile_program
from emdeg.simulation.controllers.conditioning import Conditioning, Held, instants
from emdeg.simulation.controllers.laws import Law, NoEffort, ProgramLaw
from emdeg.simulation.integrators.adaptive import Progress
from emdeg.simulation.integrators.control_loop import Hold, Loop
from emdeg.simulation.integrators.methods import METHODS, Gauss, nodes
from emdeg.simulation.integrators.rollout import Rollout, compiled_rollout
from emdeg.simulation.plant.constraints import where_it_broke
from emdeg.simulation.plant.passive import Passive, with_idle_motors
from emdeg.simulation.plant.programs import accelerations, drive_rates, momenta, momentum_rates, velocities

CHUNKS = 50
"""Progress is told about so often in a run."""


@dataclass(frozen=True)
class Grid:
    """`records` records, each after `per_record` steps of `step` seconds."""

    step: float
    per_record: int
    records: int

    @property
    def times(self) -> Array:
        return self.step * self.per_record * np.arange(self.records + 1, dtype=np.float64)


def make_grid(duration: float, step: float, output_step: float | None) -> Grid:
    """Steps that fill the duration and the output's step exactly."""
    if not 0 < step <= duration:
        raise ScenarioError(f"the step must be positive and no longer than the run; got {step} s for {duration} s")
    steps = whole(duration, step, "the duration")
    per_record = 1 if output_step is None else whole(output_step, step, "the output's step")
    if steps % per_record:
        raise ScenarioError(f"the duration {duration} s is no multiple of the output's step {output_step} s")
    return Grid(duration / steps, per_record, steps // per_record)


def whole(time: float, step: float, what: str) -> int:
    """time / step, which must be a whole number."""
    count = round(time / step)
    if count < 0 or abs(count * step - time) > 1e-6 * step + 1e-9 * time:
        raise ScenarioError(f"{what} {time:g} s is no multiple of the step {step:g} s")
    return count


@dataclass(frozen=True)
class FixedRun:
    """A robot with its law and a method, ready to be run from any number of initial states."""

    robot: Robot
    law: Law
    conditioning: Conditioning
    passive: Passive
    impulses: tuple[int, ...]
    method: str
    threads: int | None = None

    def __call__(self, q: Array, qd: Array, grid: Grid, progress: Progress | None = None) -> tuple[Array, Array]:
        """(states, efforts): (trajectories, records + 1, entries) and (..., n), from q, qd (trajectories, n).

        There are fewer records where `progress` ended the run.
        """
        n, count = self.robot.freedoms, len(q)
        entries = 2 * n + 1 + len(self.impulses)
        x = np.zeros((count, entries))
        x[:, :n], x[:, n : 2 * n] = q, self._inward(q, qd)
        states = np.empty((count, grid.records + 1, entries))
        states[:, 0] = x
        tau = None
        if isinstance(self.law, ProgramLaw | NoEffort):
            tau, records = self._compiled(x, grid, states, progress)
        else:
            tau, records = self._asked(x, grid, states, progress)
        states = states[:, :records]
        if not np.isfinite(states).all():
            bad = np.argwhere(~np.isfinite(states).all(axis=(0, 2)))[0, 0]
            which = int(np.argmax(~np.isfinite(states[:, bad]).all(axis=-1)))
            near = where_it_broke(self.robot, states[which, max(0, bad - 1), :n])
            raise SimulationError(
                f"the run broke down before t = {grid.times[bad]:.6g} s; a shorter step than {grid.step:g} s may help"
                f"{near}",
                body=self.robot.name,
            )
        states[..., n : 2 * n] = self._outward(states[..., :n], states[..., n : 2 * n])
        states[:, 0, n : 2 * n] = qd
        if tau is None:
            measured = self.conditioning.measured(states[..., :n])
            tau = self.conditioning.applied(self.law(grid.times[:records], measured, states[..., n : 2 * n]))
        return states, tau

    def _compiled(self, x: Array, grid: Grid, states: Array, progress: Progress | None) -> tuple[Array | None, int]:
        """No Python in the loop; (of a sampled law the efforts too, how many records there are)."""
        law = self.law if isinstance(self.law, ProgramLaw) else None
        hold = self._hold(grid.step) if law is not None else None
        rollout = self._rollout(None if law is None else law.program, hold)
        if hold is not None:
            assert law is not None
            references = self._references(law, grid, 0, grid.records, (0.0,))
            out = rollout(x, grid.step, grid.per_record, grid.records, references, threads=self.threads)
            states[:, 1:] = out[..., : x.shape[1]]
            return self._held_efforts(law, grid, hold, states, out[..., x.shape[1] :]), grid.records + 1
        chunk = max(1, -(-grid.records // CHUNKS)) if progress is not None else grid.records
        for start in range(0, grid.records, chunk):
            stop = min(start + chunk, grid.records)
            at = None if law is None else self._references(law, grid, start, stop, nodes(METHODS[self.method]))
            out = rollout(states[:, start], grid.step, grid.per_record, stop - start, at, threads=self.threads)
            states[:, start + 1 : stop + 1] = out
            if progress is not None and progress(stop / grid.records):
                return None, stop + 1
        return None, grid.records + 1

    def _asked(self, x: Array, grid: Grid, states: Array, progress: Progress | None) -> tuple[Array, int]:
        """A law in Python, asked at its samples; the way from sample to sample is compiled. (efforts, records)."""
        if self.conditioning.period is None:
            raise ScenarioError(
                f"the law '{self.law.name}' is a Python function and cannot be compiled into a fixed-step loop: "
                "give it a sampling period, or use DOP853"
            )
        if len(x) != 1:
            raise ScenarioError(f"the law '{self.law.name}' is a Python function and runs one trajectory at a time")
        n, motors, count = self.robot.freedoms, len(self.robot.driven), len(nodes(METHODS[self.method]))
        held = Held(self.law, self.conditioning, motors)
        rollout = self._rollout(held_program(motors), None)
        duration = grid.times[-1]
        edges = np.unique(np.concatenate([instants(duration, self.conditioning), grid.times]).round(12))
        edges = edges[np.concatenate([[True], np.diff(edges) > grid.step / 2])]
        efforts = np.empty((1, grid.records + 1, motors))
        record, now = 0, x
        for t, end in zip(edges, [*edges[1:], np.inf]):
            speeds = self._outward(now[:, :n], now[:, n : 2 * n])
            held.update(float(t), now[0, :n], speeds[0])
            if record <= grid.records and abs(t - grid.times[record]) < grid.step / 2:
                states[:, record], efforts[:, record] = now, held.tau
                record += 1
            if np.isinf(end):
                break
            steps = whole(float(end - t), grid.step, "an interval between samples")
            reference = np.broadcast_to(held.tau, (1, count, motors))
            now = rollout(now, grid.step, steps, 1, reference, threads=1)[:, 0]
            if progress is not None and progress(float(end / duration)):
                break
        return efforts[:, :record], record

    def _rollout(self, law: Program | None, hold: Hold | None) -> Rollout:
        symplectic = isinstance(METHODS[self.method], Gauss)
        rubbing = with_idle_motors(self.robot, self.passive)
        plant = momentum_rates(rubbing) if symplectic else accelerations(rubbing)
        speeds = velocities(self.robot) if symplectic else None
        held = law is not None and law.inputs[0].name == "reference"
        conditioning = Conditioning() if held else self.conditioning
        loop = Loop(
            self.robot.freedoms,
            plant,
            speeds,
            law,
            conditioning,
            self.passive,
            self.impulses,
            drives=drive_rates(rubbing),
        )
        return compiled_rollout(loop, self.method, hold)

    def _hold(self, step: float) -> Hold | None:
        if self.conditioning.period is None:
            return None
        return Hold(
            max(1, whole(self.conditioning.period, step, "the sampling period")),
            whole(self.conditioning.delay, step, "the delay"),
        )

    def _references(self, law: ProgramLaw, grid: Grid, start: int, stop: int, at: tuple[float, ...]) -> Array:
        if law.constant:
            return np.broadcast_to(law.reference_at(0.0), (1, len(at), 3 * self.robot.freedoms))
        steps = np.arange(start * grid.per_record, stop * grid.per_record)
        return law.reference_at(grid.step * (steps[:, None] + np.asarray(at)))

    def _held_efforts(self, law: ProgramLaw, grid: Grid, hold: Hold, states: Array, known: Array) -> Array:
        """The efforts acting from each record on; of samples that act at once the loop has not asked yet."""
        n = self.robot.freedoms
        tau = np.concatenate([np.zeros((len(states), 1, known.shape[-1])), known], axis=1)
        if not hold.late:
            due = np.flatnonzero(np.arange(grid.records + 1) * grid.per_record % hold.every == 0)
            q = states[:, due, :n]
            qd = self._outward(q, states[:, due, n : 2 * n])
            asked = law(grid.times[due], self.conditioning.measured(q), qd)
            tau[:, due] = self.conditioning.applied(asked)
        return tau

    def _inward(self, q: Array, qd: Array) -> Array:
        if not isinstance(METHODS[self.method], Gauss):
            return qd
        return compile_program(momenta(self.robot))(q, qd)

    def _outward(self, q: Array, v: Array) -> Array:
        if not isinstance(METHODS[self.method], Gauss):
            return v
        return compile_program(velocities(self.robot))(q, v)


def held_program(n: int) -> Program:
    """tau = reference: efforts that are told from outside."""
    tracer = Tracer()
    reference = tracer.inputs("reference", n, Dependence.RATES)
    return tracer.program("held", {"tau": list(reference)})
