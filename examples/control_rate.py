"""How much model is worth its time? Computed torque on a processor of given speed, with models of different cost.

    python examples/control_rate.py [operations a second]

A controller that needs c operations a sample runs at (speed / c) samples a second: a shorter model may be asked more
often. For the PUMA 560 along a fast motion this prints each model's cost, its rate and how far the arm strays, and
draws the error over the processor's speed (demo_output/control_rate.png). Armstrong, Khatib and Burdick (1986) ask the
same question in their section 3; their processor did 100,000 operations a second.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import emdeg
from emdeg.errors import SimulationError
from emdeg.programs.best import program
from emdeg.programs.ir import Program, count
from emdeg.programs.simplification import split_rates
from emdeg.robot.model import Robot
from emdeg.simulation import Conditioning, MultiRate, abbreviated_model, computed_torque, cycloidal, pd, simulate

START = np.array([0.0, -0.5, 0.8, 0.0, 0.5, 0.0])
GOAL = np.array([1.2, -1.3, 1.6, 0.9, -0.6, 1.0])
SECONDS = 1.0
KP, KD = 900.0, 60.0
STEP = 1e-4
SHARE = 0.01
"""Terms below this share of their equation's largest are left out of the abbreviated model."""
SLOWER = 4
"""The multi-rate controller renews its configuration part once in so many samples."""


@dataclass(frozen=True)
class Candidate:
    """A controller: operations a sample (on average), and how to make it for a sampling period."""

    name: str
    operations: float
    make: object


def candidates(robot: Robot) -> list[Candidate]:
    way = cycloidal(START, GOAL, SECONDS)
    feedback = 6 * robot.n  # kp (q* - q) + kd (qd* - qd) + qdd*: two differences, two products, two sums a joint
    full, short = program(robot, "inverse_dynamics"), abbreviated_model(robot, significance=SHARE)
    slow, fast = split_rates(full)

    def cost(*programs: Program) -> int:
        return sum(count(p).total for p in programs) + feedback

    gains = np.full(robot.n, KP), np.full(robot.n, KD)
    inertia = np.diag(emdeg.mass_matrix(robot, (START + GOAL) / 2))
    return [
        Candidate("full model", cost(full), lambda period: computed_torque(robot, *gains, way)),
        Candidate(
            f"abbreviated at {SHARE:.0%}", cost(short), lambda period: computed_torque(robot, *gains, way, model=short)
        ),
        Candidate(
            f"configuration every {SLOWER}th sample",
            cost(fast) + count(slow).total / SLOWER,
            lambda period: MultiRate(robot, *gains, way, SLOWER * period),
        ),
        Candidate(
            "PD with gravity",
            cost(program(robot, "gravity")),
            lambda period: pd(robot, KP * inertia, KD * inertia, way),
        ),
    ]


def tracking_error(robot: Robot, candidate: Candidate, speed: float) -> tuple[float, float]:
    """(samples a second, largest distance to the motion [rad]); infinite where the arm runs away."""
    period = max(STEP, round(candidate.operations / speed / STEP) * STEP)
    law = candidate.make(period)  # type: ignore[operator]
    duration = round(SECONDS / period) * period
    try:
        motion = simulate(
            robot,
            law,
            START,
            None,
            duration,
            method="rk4",
            step=STEP,
            output_step=period,
            conditioning=Conditioning(period=period),
            drift_tolerance=1e9,
        )
    except SimulationError:
        return 1 / period, np.inf
    error = np.max(np.abs(motion.q - cycloidal(START, GOAL, SECONDS)(motion.t)[0]))
    return 1 / period, float(error) if error < 1 else np.inf


def main() -> None:
    robot = emdeg.load("puma560")
    speed = float(sys.argv[1]) if len(sys.argv) > 1 else 1e5
    choices = candidates(robot)
    print(f"{robot.title}: {speed:,.0f} operations a second")
    print(f"{'controller':32}{'operations':>12}{'rate [Hz]':>11}{'largest error [rad]':>21}")
    for choice in choices:
        rate, error = tracking_error(robot, choice, speed)
        print(f"{choice.name:32}{choice.operations:12.0f}{rate:11.0f}{error:21.5f}")
    speeds = np.geomspace(2e4, 2e6, 9)
    draw(choices, speeds, [[tracking_error(robot, choice, s)[1] for s in speeds] for choice in choices])


def draw(choices: list[Candidate], speeds: np.ndarray, errors: list[list[float]]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for choice, values, colour, mark in zip(choices, errors, ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), "osd^"):
        known = np.isfinite(values)
        axes.loglog(
            speeds[known],
            np.array(values)[known],
            marker=mark,
            color=colour,
            label=f"{choice.name} ({choice.operations:.0f} operations)",
        )
    axes.set(
        xlabel="operations a second",
        ylabel="largest tracking error [rad]",
        title="PUMA 560, computed torque: model cost against control rate",
    )
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    path = Path("demo_output") / "control_rate.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"figure: {path} (where a curve ends, the arm ran away)")


if __name__ == "__main__":
    main()
