"""The short tour: load the PUMA 560, show it, move it, draw its torques. Run by `make demo`."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

import emdeg
from emdeg.cli.show import print_summary

OUTPUT = Path("demo_output")
SECONDS, SAMPLES = 2.0, 201
START = np.zeros(6)
GOAL = np.array([1.0, -1.0, 0.8, 0.6, -0.7, 1.2])


def cycloid(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, qd, qdd) from START to GOAL in SECONDS, at rest at both ends (Kane and Levinson, eq. 127)."""
    w = 2 * np.pi / SECONDS
    way = (GOAL - START)[None, :] / SECONDS
    t = t[:, None]
    return START + way * (t - np.sin(w * t) / w), way * (1 - np.cos(w * t)), way * w * np.sin(w * t)


def main() -> None:
    out = Console(highlight=False)
    robot = emdeg.load("puma560")
    print_summary(robot)

    t = np.linspace(0, SECONDS, SAMPLES)
    q, qd, qdd = cycloid(t)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)

    table = Table(title=f"Torques [N m] along a cycloidal motion of {SECONDS:g} s".replace("[", "\\["),
                  title_justify="left")
    table.add_column("t", justify="right")
    for joint in robot.joints:
        table.add_column(joint.name, justify="right")
    for k in range(0, SAMPLES, 25):
        table.add_row(f"{t[k]:.2f}", *(f"{value:.4f}" for value in tau[k]))
    out.print(table)

    power = np.sum(tau * qd, axis=1)
    work = float(np.sum((power[1:] + power[:-1]) / 2 * np.diff(t)))
    gained = float(emdeg.potential_energy(robot, q[-1]) - emdeg.potential_energy(robot, q[0]))
    out.print(f"work of the joints {work:.4f} J, potential energy gained {gained:.4f} J (at rest before and after)")

    OUTPUT.mkdir(exist_ok=True)
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 6.5), sharex=True, layout="constrained")
    styles = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
    colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000"]
    for axes, joints in ((upper, range(3)), (lower, range(3, 6))):
        for k in joints:
            axes.plot(t, tau[:, k], linestyle=styles[k], color=colours[k], label=robot.joints[k].name)
        axes.set_ylabel("torque [N m]")
        axes.grid(alpha=0.3)
        axes.legend(loc="upper right", ncols=3)
    upper.set_title(f"{robot.title}: torques along a cycloidal motion")
    lower.set_xlabel("time [s]")
    path = OUTPUT / "puma560_torques.png"
    figure.savefig(path, dpi=130)
    out.print(f"figure: {path}")


if __name__ == "__main__":
    main()
