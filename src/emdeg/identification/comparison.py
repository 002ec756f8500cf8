"""A recorded motion against the model, as plain data (for JSON), its figure written where a folder is given."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.analysis import save_figure
from emdeg.documents import COLOURS, name_text, new_figure
from emdeg.identification.hidden_load import hidden_load
from emdeg.identification.measured import Comparison, Law, compare
from emdeg.identification.recording import Recording, doubts
from emdeg.robot import Robot


def comparison_part(
    robot: Robot, recording: Recording, law: Law = "auto", slowest: float = 0.0, folder: Path | None = None
) -> tuple[dict[str, Any], list[Path]]:
    """(error per joint and identified friction, the files written)."""
    found = compare(robot, recording, law, slowest=slowest)
    files = [] if folder is None else measured_figure(robot, found, folder, "measured")
    data = {
        "samples": len(recording.t),
        "differentiated": list(recording.derived),
        "doubts": doubts(recording, robot),
        "errors": [asdict(error) for error in found.errors],
        "friction": [asdict(fit) for fit in found.friction],
    }
    if (load := hidden_load(robot, recording)) is not None:
        data["load"] = asdict(load)
        data["doubts"].append(
            f"what the model leaves follows {load.words}, better than offsets of friction: model it (--payload) before "
            "the friction is believed"
        )
    return data, files


def measured_figure(robot: Robot, found: Comparison, folder: Path, stem: str) -> list[Path]:
    """Measured, friction subtracted, and predicted torque of every joint."""
    n = len(robot.driven)
    figure, axes = new_figure(8.0, 2.0 * n + 0.6, n)
    t, clean = found.recording.t, found.frictionless
    for k, joint in enumerate(robot.driven):
        ax = axes[k, 0]
        ax.plot(t, found.recording.tau[:, k], color="#999999", linewidth=0.9, label="measured")
        ax.plot(t, clean[:, k], color=COLOURS[0], linewidth=1.2, label="measured less friction")
        ax.plot(t, found.predicted[:, k], color=COLOURS[1], linestyle="--", linewidth=1.6, label="model")
        ax.set_ylabel(f"{name_text(joint.name)} [{'N m' if joint.kind == 'revolute' else 'N'}]")
    axes[-1, 0].set_xlabel("time [s]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9)
    names = [joint.name for joint in robot.driven]
    header = ["t [s]", *(f"{what} {x}" for what in ("measured", "less friction", "model") for x in names)]
    rows = np.column_stack([t, found.recording.tau, clean, found.predicted]).tolist()
    return save_figure(figure, folder, stem, header, rows)
