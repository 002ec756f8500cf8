"""How much model is worth its time? Computed torque on a microcontroller, exact models against short ones.

    python examples/control_rate.py [--robots puma560,arm.urdf] [--budgets 20e3,50e3] [--errors 0.05,0.1] [--out FOLDER]

A controller that needs c cycles of a Cortex-M4 a sample, and is given b cycles a second, runs at b / c samples a
second, and its efforts act one sample late: a shorter model is asked more often and answers sooner. Along a motion from
rest to rest this prints each controller's cycles and how far the arm strays, and draws the error over the budget. Short
models are those of `emdeg.approximation.shortest_within_each`, with a certified error over the arm's workspace; the
wanted motion stays inside it. By default the arms are the PUMA 560 and the UR5 of the package example-robot-data, a
URDF file. Armstrong, Khatib and Burdick (1986) ask the same question in their section 3; their processor did 100,000
operations a second. Nothing here depends on how fast the machine is that it runs on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np

import emdeg
from emdeg.algebra import Array
from emdeg.approximation import shortest_within_each
from emdeg.codegen.object import instructions
from emdeg.errors import SimulationError
from emdeg.programs import Program, count, split_rates
from emdeg.robot import Robot, workspace
from emdeg.simulation import (
    Conditioning,
    Law,
    MultiRate,
    ProgramLaw,
    StiffWarning,
    Trajectory,
    computed_torque,
    cycloidal,
    pd,
    simulate,
)

CLOCK = 16e6
"""Cycles a second of a small Cortex-M4, of which budgets are shares."""
BUDGETS = (15e3, 20e3, 30e3, 40e3, 60e3, 80e3, 160e3, 320e3, 640e3)
ERRORS = (0.02, 0.05, 0.1)
KP, KD = 400.0, 40.0
SPEED, ACCELERATION = 0.9, 0.9
"""The parts of the workspace's largest speeds and accelerations that the motion reaches at most."""
REACH = 1.2
"""How far a joint turns at most [rad]; a sliding one a third of that [m]."""
STEP = 2e-4
"""The integrator's step at most [s]; a sample takes a whole number of steps."""
SLOWER = 4
"""The multi-rate controller renews its configuration part once in so many samples."""
CYCLES = {"vldr": 2, "vstr": 2, "ldr": 2, "str": 2, "vdiv": 14, "vsqrt": 14, "vfma": 3, "vfms": 3, "vmla": 3, "vmls": 3}
"""Of a Cortex-M4's instructions, those that take more than one cycle (ARM DDI 0439, tables 3-1 and 7-1)."""
SEVERAL = {"push": 16, "pop": 18, "vpush": 17, "vpop": 17}
"""At most: all registers that a call saves."""


def cycles(program: Program) -> int:
    """Cycles of one call on a Cortex-M4 with its floating unit, memory without waiting."""
    names = (name.split(".")[0] for name in instructions(program, cpu="cortex-m4f", single=True))
    return sum(SEVERAL.get(name) or CYCLES.get(name, 1) for name in names)


@dataclass(frozen=True)
class Candidate:
    """A controller: operations and cycles a sample (on average), and how to make it for a sampling period [s]."""

    name: str
    operations: float
    cycles: float
    make: Callable[[float], Law]


def motion(robot: Robot) -> tuple[Array, Trajectory, float]:
    """(start, a motion from rest to rest inside the workspace, its seconds): all joints, neighbours opposite ways."""
    where = workspace(robot)
    low, high = np.array(where.ranges).T
    most = np.where([joint.kind == "revolute" for joint in robot.joints], REACH, REACH / 3)
    half = np.minimum(most, (high - low) / 2) / 2 * np.linspace(1, 0.7, robot.n)
    middle = np.clip(np.linspace(0.3, -0.6, robot.n), low + half, high - half)
    signs = np.where(np.arange(robot.n) % 2, -1.0, 1.0)
    # A cycloid over d in T is at most 2 d / T fast, 2 pi d / T^2 its acceleration.
    seconds = max(
        np.max(4 * half / (SPEED * np.array(where.speed))),
        np.max(np.sqrt(4 * np.pi * half / (ACCELERATION * np.array(where.acceleration)))),
    )
    start, goal = middle - signs * half, middle + signs * half
    return start, cycloidal(start, goal, float(seconds)), float(seconds)


def candidates(robot: Robot, errors: Sequence[float], effort: float) -> list[Candidate]:
    """Exact and short models in the loop; PD with gravity for comparison."""
    _, way, _ = motion(robot)
    found = shortest_within_each(robot, errors, effort=effort)
    full = found[0].exact
    gains = np.full(robot.n, KP), np.full(robot.n, KD)

    def sampled(name: str, law: ProgramLaw) -> Candidate:
        return Candidate(name, count(law.program).total, cycles(law.program), lambda period: law)

    def renewed(period: float) -> Law:
        return MultiRate(robot, *gains, way, SLOWER * period, full)

    exact = sampled("exact model", computed_torque(robot, *gains, way, model=full))
    made = [exact]
    for one, error in zip(found, sorted(errors)):
        if one.program() != full:
            law = computed_torque(robot, *gains, way, model=one.program())
            made.append(sampled(f"short model within {100 * error:g} %", law))
    # The law around the model is computed at every sample; of the model the configuration part is not.
    slow, _ = split_rates(full)
    spared = 1 - 1 / SLOWER
    name = f"exact, configuration every {SLOWER}th sample"
    each = exact.operations - spared * count(slow).total, exact.cycles - spared * cycles(slow)
    made.append(Candidate(name, *each, renewed))
    inertia = np.diag(emdeg.mass_matrix(robot, way(0.0)[0]))
    made.append(sampled("PD with gravity", pd(robot, KP * inertia, KD * inertia, way)))
    return made


def tracking_error(robot: Robot, candidate: Candidate, budget: float) -> tuple[float, float]:
    """(samples a second, largest distance to the motion [rad, m]); infinite where the arm runs away."""
    start, way, seconds = motion(robot)
    period = candidate.cycles / budget
    step = period / int(np.ceil(period / STEP))
    with catch_warnings():
        simplefilter("ignore", StiffWarning)  # which rates are too low is what is asked here
        try:
            run = simulate(
                robot,
                candidate.make(period),
                start,
                None,
                max(1, round(seconds / period)) * period,
                method="rk4",
                step=step,
                output_step=period,
                conditioning=Conditioning(period=period, delay=period),
                drift_tolerance=1e9,
                stops="ignore",
            )
        except SimulationError:
            return 1 / period, np.inf
    error = float(np.max(np.abs(run.q - way(run.t)[0])))
    return 1 / period, error if error < 1 else np.inf


def study(
    robot: Robot, budgets: Sequence[float], errors: Sequence[float], effort: float
) -> tuple[list[Candidate], Array]:
    """Controllers, and the largest tracking error of each at every budget, printed on the way."""
    made = candidates(robot, errors, effort)
    print(f"\n{robot.title or robot.name}: largest tracking error [rad, m] at a budget of cycles a second")
    print(f"{'':40}{'operations':>11}{'cycles':>8}" + "".join(f"{budget:>10,.0f}" for budget in budgets))
    table = []
    for one in made:
        row = [tracking_error(robot, one, budget)[1] for budget in budgets]
        table.append(row)
        shown = "".join(f"{error:>10.5f}" if np.isfinite(error) else f"{'away':>10}" for error in row)
        print(f"{one.name:40}{one.operations:11.0f}{one.cycles:8.0f}{shown}", flush=True)
    return made, np.array(table)


COLOURS = ("#000000", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")


def draw(found: Sequence[tuple[Robot, list[Candidate], Array]], budgets: Sequence[float], path: Path) -> None:
    """Tracking error over the budget, one panel a robot; where a curve begins later the arm ran away before."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    for place, (robot, made, errors) in enumerate(found):
        axes = figure.add_subplot(1, len(found), place + 1)
        for one, row, colour, mark in zip(made, errors, COLOURS, "osd^vP"):
            known = np.isfinite(row)
            label = f"{one.name}: {one.cycles:.0f} cycles"
            axes.loglog(np.array(budgets)[known], row[known], marker=mark, color=colour, label=label, markersize=5)
        axes.set(xlabel="thousands of cycles a second for the controller", ylabel="largest tracking error [rad, m]")
        axes.set_xticks(budgets, [f"{budget / 1000:g}" for budget in budgets])
        axes.minorticks_off()
        axes.set_title(robot.title or robot.name, fontsize=10)
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize=7.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"\nfigure: {path} (where a curve begins later, the arm ran away before)")


def urdf_arm() -> str:
    """The UR5's file in the package example-robot-data; the example's own arm where that is not installed."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        listed = []
    found = [str(entry.locate()) for entry in listed if entry.name == "ur5_robot.urdf"]
    return found[0] if found else str(Path(__file__).with_name("arm.urdf"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Tracking error of exact and short models at the same budget.")
    parser.add_argument("--robots", default=f"puma560,{urdf_arm()}", help="names or files, separated by commas")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)), help="cycles a second for the controller")
    parser.add_argument("--errors", default=",".join(map(str, ERRORS)), help="of the short models")
    parser.add_argument("--effort", type=float, default=1.0, help="nominal seconds of search for each short model")
    parser.add_argument("--out", type=Path, default=Path("demo_output"), help="where the figure goes")
    given = parser.parse_args()
    budgets, errors = ([float(one) for one in text.split(",")] for text in (given.budgets, given.errors))
    parts = f"{budgets[0] / CLOCK:.2%} to {budgets[-1] / CLOCK:.2%}"
    print(f"Cortex-M4F, {CLOCK / 1e6:g} MHz: budgets are {parts} of its time")
    robots = [emdeg.load(name) for name in given.robots.split(",")]
    found = [(robot, *study(robot, budgets, errors, given.effort)) for robot in robots]
    draw(found, budgets, given.out / "control_rate.png")


if __name__ == "__main__":
    main()
