"""Simulated campaigns: the same bench with a known robot, noise and friction; what bias and coverage it has.

The robot that a campaign yields is taken for the truth. Every reading is drawn anew within its tolerance and its
scatter; periods and turning points come from the physics (a suspension's swing of finite size and wires of finite
length, a joint with dry friction), not from the formulas that the evaluation inverts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.papers.bench.campaign import Campaign, DrivePlan, Reading
from emdeg.papers.bench.measuring import CampaignOutcome, readings_worked_out


@dataclass(frozen=True)
class Trial(Shown):
    """One number over many simulated campaigns, in its own unit; coverage as shares from 0 to 1."""

    path: str
    method: str
    truth: float
    mean: float
    deviation: float
    tolerance: float
    """The mean of the tolerances that the campaigns stated."""
    within_one: float
    """How often the truth lay within the stated tolerance: 0.68 where it is one standard deviation."""
    within_two: float

    @property
    def bias(self) -> float:
        return self.mean - self.truth


def run_trials(
    outcome: CampaignOutcome, count: int, seed: int = 0, progress: Callable[[str], object] = lambda text: None
) -> tuple[tuple[Trial, ...], int]:
    """(bias and coverage of every uncertain number, how many campaigns failed)."""
    if count < 2:
        raise ValueError("bias and coverage need at least two trials")
    campaign, random = outcome.campaign, np.random.default_rng(seed)
    truth = {one.path: one.value.value for one in outcome.found}
    true_readings = {name: one.mean for name, one in campaign.readings.items()} | _physics(campaign, truth)
    drawn: dict[str, list[tuple[float, float]]] = {path: [] for path in truth}
    failed = 0
    for k in range(count):
        progress(f"{k} of {count}")
        readings = {name: _drawn(one, true_readings[name], random) for name, one in campaign.readings.items()}
        try:
            found, _, _ = readings_worked_out(campaign, readings)
        except (RobotError, ValueError, ZeroDivisionError):
            failed += 1
            continue
        for one in found:
            drawn[one.path].append((one.value.value, one.value.tolerance))
    summaries = [_summary(one.path, one.method, one.value.value, drawn[one.path]) for one in outcome.found]
    return tuple(s for s in summaries if s is not None), failed


def _drawn(one: Reading, true: float, random: np.random.Generator) -> Reading:
    """The same reading on another day: the instrument's error once, the scatter each time."""
    instrument = one.tolerance * random.normal()
    scatter = one.scatter * random.normal(size=len(one.values))
    return replace(one, values=tuple(float(v) for v in true + instrument + scatter))


def _summary(path: str, method: str, truth: float, drawn: list[tuple[float, float]]) -> Trial | None:
    if not drawn:
        return None
    value, tolerance = np.array(drawn).T
    if not value.std() and not tolerance.any():
        return None
    off = np.abs(value - truth)
    return Trial(
        path,
        method,
        truth,
        float(value.mean()),
        float(value.std(ddof=1)),
        float(tolerance.mean()),
        float(np.mean(off <= tolerance)),
        float(np.mean(off <= 2 * tolerance)),
    )


def _physics(campaign: Campaign, truth: Mapping[str, float]) -> dict[str, float]:
    """Name -> what an ideal clock or scale would show of periods, frequencies and turning points."""
    at = {name: one.mean for name, one in campaign.readings.items()}
    g = math.hypot(*(float(v) for v in campaign.robot.gravity)) or 9.81
    g = at.get(campaign.gravity or "", g)
    found: dict[str, float] = {}
    for body in campaign.bodies:
        for axis, swing in body.swings.items():
            r = {key: at[name] for key, name in swing.readings.items()}
            inertia, mass = truth[f"{body.name}.I{axis}{axis}"], truth[f"{body.name}.mass"]
            distances = (r["distance"], r.get("other_distance", r["distance"]))
            period = suspension_period(inertia, mass, distances, r["length"], g, r.get("amplitude", 0.0))
            found |= _clock(swing.readings, period)
    for plan in campaign.drives:
        if plan.peaks:
            found |= _turning_points(plan, at, truth)
    return found


def _clock(readings: Mapping[str, str], period: float) -> dict[str, float]:
    return {readings["period"]: period} if "period" in readings else {readings["frequency"]: 1 / period}


def suspension_period(
    inertia: float, mass: float, distances: tuple[float, float], length: float, g: float, amplitude: float = 0.0
) -> float:
    """The period [s] of a two-wire suspension that swings by `amplitude` [rad], from its energy; no small angles.

    Both wires of a body whose mass centre stays on the axis lift it by l - sqrt(l^2 - 4 d1 d2 sin^2(phi/2)).
    """
    d = distances[0] * distances[1]
    if amplitude < 1e-6:
        return 2 * math.pi * math.sqrt(inertia * length / (mass * g * d))

    def height(phi: np.ndarray) -> np.ndarray:
        return length - np.sqrt(length**2 - 4 * d * np.sin(phi / 2) ** 2)

    # phi = a sin(u) takes the square root's zero at the turning point away.
    nodes, weights = np.polynomial.legendre.leggauss(80)
    u = (nodes + 1) * np.pi / 4
    phi = amplitude * np.sin(u)
    lift = height(np.array(amplitude)) - height(phi)
    rise = d * np.sin(phi) / np.sqrt(length**2 - 4 * d * np.sin(phi / 2) ** 2)  # d height / d phi
    moving = inertia + mass * rise**2
    speed = np.sqrt(2 * mass * g * lift / moving)
    return float(4 * np.pi / 4 * np.sum(weights * amplitude * np.cos(u) / speed))


def _turning_points(plan: DrivePlan, at: Mapping[str, float], truth: Mapping[str, float]) -> dict[str, float]:
    """The sizes of the turning points of a swing on a spring with viscous and dry friction, from the first on."""
    joint, total = plan.joint, truth[f"{plan.joint}.total"]
    r = {key: at[name] for key, name in plan.readings.items()}
    damped = 2 * math.pi / (r["period"] if "period" in r else 1 / r["frequency"])
    viscous = truth[f"{joint}.drive.viscous"] - r.get("feedback", 0.0)
    decay = viscous / (2 * total)
    stiffness = total * (damped**2 + decay**2)
    rho, dry = math.exp(-math.pi * decay / damped), truth[f"{joint}.drive.coulomb"] / stiffness
    sizes = [at[plan.peaks[0]]]
    for _ in plan.peaks[1:]:
        sizes.append(max(0.0, rho * sizes[-1] - (1 + rho) * dry))
    return dict(zip(plan.peaks, sizes))


__all__ = ["Trial", "run_trials", "suspension_period"]
