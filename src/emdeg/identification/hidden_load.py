"""A load that nobody modelled, in what the model leaves of measured efforts: named before friction is blamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from emdeg.algebra import Array, Exact
from emdeg.documents import Shown
from emdeg.dynamics.functions import inverse_dynamics
from emdeg.identification.measured import motor_speeds, rms, without
from emdeg.identification.payload_fit import unit_loads
from emdeg.identification.recording import Recording
from emdeg.robot import Payload, Robot

LIKELIER = 0.7
"""The share of the rest that a load may leave beside offsets for it to be the likelier cause."""
BETTER = 0.8
"""The share of what one load leaves that another may leave for it to be the likelier one."""
NEARLY = 0.95
"""Of links that leave hardly more than the least does the innermost is named: others' numbers can stand for its."""
SEEN = 1e-2
"""The part of what a mass makes of the efforts that its moments do not, for it to be told from them."""
MOST_ROWS = 4000
"""Samples of a log that are looked at; a longer one is thinned out."""


@dataclass(frozen=True)
class HiddenLoad(Shown):
    """A load that explains what the model leaves better than offsets of friction do."""

    mass: float | None
    """[kg]; None where the motion does not show it, only where its centre pulls."""
    left: float
    """The rest's rms with the load, over that with the offsets."""
    link: str | None = None
    """What carries it, where that is not the tool."""

    @property
    def words(self) -> str:
        place = "at the tool" if self.link is None else f"on {self.link}"
        return f"a load {place}" if self.mass is None else f"a load of {self.mass:.3g} kg {place}"


def hidden_load(robot: Robot, recording: Recording) -> HiddenLoad | None:
    """The load whose weight and inertia are in the rest, where offsets would stand for them.

    Every explanation has the same viscous and Coulomb friction; one adds a constant to every joint, the others a point
    mass at the tool's origin, or a body on a link.
    """
    every = -(-len(recording.t) // MOST_ROWS)
    q, qd, qdd, tau = (x[::every] for x in (recording.q, recording.qd, recording.qdd, recording.tau))
    speeds = motor_speeds(robot, recording)[::every]
    rubbed = [np.stack([speeds[:, k], np.sign(speeds[:, k])], axis=1) for k in range(len(robot.driven))]
    modelled = inverse_dynamics(robot, q, qd, qdd)

    def felt(loaded: Robot) -> Array:
        """What a load makes of the efforts, which are linear in it, beside friction."""
        return bare(inverse_dynamics(loaded, q, qd, qdd) - modelled)

    def bare(efforts: Array) -> Array:
        return np.concatenate([without(efforts[:, k], rubs) for k, rubs in enumerate(rubbed)])

    rest = bare(tau - modelled)
    still = np.ones((len(speeds), 1))
    offsets = [without(tau[:, k] - modelled[:, k], np.hstack([rubs, still])) for k, rubs in enumerate(rubbed)]
    other = rms(np.concatenate(offsets))
    point = _fitted(rest, [felt(_with_a_kilogram(robot))])
    if point is None or not other:
        return None
    best = HiddenLoad(point[0], point[1] / other)
    links: list[HiddenLoad] = []
    for number, link in enumerate(robot.links if robot.is_tree else ()):
        units = (replace(robot, payloads=(*robot.payloads, *unit)) for unit in unit_loads(link.name))
        found = _fitted(rest, list(map(felt, units)))
        if found is not None and (found[0] is None or found[0] > 0):
            carrier = None if number == robot.tool.link else link.name
            links.append(HiddenLoad(found[0], found[1] / other, carrier))
    least = min((one.left for one in links), default=1.0)
    if least < BETTER * best.left:
        best = next(one for one in links if NEARLY * one.left <= least)
    return best if best.left < LIKELIER else None


def _fitted(rest: Array, columns: Sequence[Array]) -> tuple[float | None, float] | None:
    """(mass [kg] if it is seen, rms of what is left) of the load whose mass and moments make these of the efforts."""
    A = np.stack(columns, axis=1)
    if not A.any():
        return None
    mass, *moments = columns
    alone = without(mass, np.stack(moments, axis=1)) if moments else mass
    numbers, *_ = np.linalg.lstsq(A, rest, rcond=None)
    seen = rms(alone) > SEEN * max(map(rms, columns))
    return float(numbers[0]) if seen else None, rms(rest - A @ numbers)


def _with_a_kilogram(robot: Robot) -> Robot:
    """The robot with a point mass of 1 kg at the tool's origin."""
    place = replace(robot.tool, name=f"{robot.tool.name}+")
    load = Payload(place.name, Exact.of(1))
    return replace(robot, frames=(*robot.frames, place), payloads=(*robot.payloads, load))
