"""How payload and tolerance move the PUMA 560's torque budget: runs payload_study.toml and draws its results.

    python examples/payload_study.py [FOLDER]

FOLDER (demo_output/payload_study) takes the results, and payload_budget.png and payload_tolerances.png. Stopped and
started again it goes on where it was. Needs the extra `sweep`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from emdeg.algebra import Array
from emdeg.sweeps import Results, sweep

HERE = Path(__file__).parent
JOINTS = range(1, 7)


def by_payload(results: Results, column: str, scale: float) -> tuple[Array, Array]:
    """(payloads [kg], the column's values (payloads, draws)) with the tolerances scaled so."""
    found = results.columns("mL", "tolerance_scale", column)
    chosen = found["tolerance_scale"] == scale
    loads, values = found["mL"][chosen], found[column][chosen]
    order = np.argsort(loads, kind="stable")
    grid = np.unique(loads)
    return grid, values[order].reshape(len(grid), -1)


def payload_at_limit(loads: Array, share: Array) -> float:
    """The payload [kg] at which a share that grows with it passes 1; NaN if it does not."""
    return float(np.interp(1.0, share, loads)) if share[0] <= 1 <= share[-1] else float("nan")


def draw_budget(results: Results, file: Path) -> None:
    """Peak torque over the drive's limit, and the share of states beyond the limit, against the payload."""
    figure, (peak, over) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for joint in JOINTS:
        colour = f"C{joint - 1}"
        for axes, column, unit in ((peak, f"budget{joint}_max", 1.0), (over, f"over{joint}_mean", 100.0)):
            loads, exact = by_payload(results, column, 0.0)
            _, drawn = by_payload(results, column, 1.0)
            if axes is over and not drawn.any():
                continue
            low, high = np.percentile(drawn * unit, [5, 95], axis=1)
            axes.fill_between(loads, low, high, color=colour, alpha=0.25, linewidth=0)
            axes.plot(loads, exact[:, 0] * unit, color=colour, label=f"joint {joint}")
    peak.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
    peak.set(xlabel="payload [kg]", ylabel="peak torque / drive's limit", title="Peak over the states")
    over.set(xlabel="payload [kg]", ylabel="states beyond the limit [%]", title="How often")
    for axes in (peak, over):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    figure.suptitle("PUMA 560: lines as measured, bands 5 to 95 % of the robots drawn with its tolerances", fontsize=10)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def draw_tolerances(results: Results, file: Path, payload: float = 2.5, most: int = 10) -> None:
    """Which tolerances move the peaks of the three main joints: rank correlation over the drawn robots."""
    names = [name for name in results.table().column_names if "." in name]
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.0), layout="constrained", sharex=True)
    loads, _ = by_payload(results, "mL", 1.0)
    row = int(np.argmin(np.abs(loads - payload)))
    for joint, place in zip((1, 2, 3), axes):
        peaks = ranks(by_payload(results, f"budget{joint}_max", 1.0)[1][row])
        moved = {name: np.corrcoef(ranks(by_payload(results, name, 1.0)[1][row]), peaks)[0, 1] for name in names}
        chosen = sorted(moved, key=lambda name: -abs(moved[name]))[:most][::-1]
        place.barh(chosen, [moved[name] for name in chosen], color=f"C{joint - 1}")
        place.axvline(0, color="black", linewidth=0.8)
        chance = 2 / np.sqrt(len(peaks))  # two standard deviations of what means nothing
        place.axvspan(-chance, chance, color="grey", alpha=0.25, linewidth=0, zorder=0)
        place.set(title=f"joint {joint}, {loads[row]:g} kg", xlim=(-1, 1))
        place.tick_params(axis="y", labelsize=8)
    figure.supxlabel("rank correlation of a drawn parameter and the peak torque; grey: chance", fontsize=9)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def ranks(values: Array) -> Array:
    return np.argsort(np.argsort(values)).astype(float)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo_output/payload_study")
    results = sweep(HERE / "payload_study.toml", folder / "results")
    print(f"{results.path}: {results.rows} robots, {results.computed} of {results.chunks} chunks computed now")
    print("payload [kg] at which the peak torque reaches the drive's limit")
    for joint in JOINTS:
        loads, exact = by_payload(results, f"budget{joint}_max", 0.0)
        _, drawn = by_payload(results, f"budget{joint}_max", 1.0)
        found = np.array([payload_at_limit(loads, column) for column in drawn.T])
        low, high = np.nanpercentile(found, [5, 95]) if np.isfinite(found).any() else (np.nan, np.nan)
        measured = payload_at_limit(loads, exact[:, 0])
        if np.isnan(measured):
            print(f"  joint {joint}: not reached; {exact[-1, 0]:.2f} of the limit with {loads[-1]:g} kg")
        else:
            print(f"  joint {joint}: as measured {measured:.2f}, 5 to 95 % of robots {low:.2f} to {high:.2f}")
    draw_budget(results, folder / "payload_budget.png")
    draw_tolerances(results, folder / "payload_tolerances.png")
    print(f"wrote {folder / 'payload_budget.png'} and {folder / 'payload_tolerances.png'}")


if __name__ == "__main__":
    main()
