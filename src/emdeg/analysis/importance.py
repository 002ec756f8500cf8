"""What a torque is made of: each term's and each constant's share of its variance and of its peak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis.motion import SampledMotion
from emdeg.documents import Shown
from emdeg.dynamics.functions import regressor
from emdeg.dynamics.parameters import base_parameters, base_values
from emdeg.equations import Model, entry_name
from emdeg.robot import Robot, Workspace


@dataclass(frozen=True)
class Share(Shown):
    """One contribution to one joint's torque; the contributions add up to the torque."""

    joint: str
    term: str
    variance: float
    """cov(term, torque) / var(torque): the shares of a joint add up to 1; below 0 where a term works against."""
    peak: float
    """max |term| / max |torque|."""


def over_workspace(where: Workspace, samples: int = 2000, seed: int = 3) -> SampledMotion:
    """Random states, uniform over the workspace, its speeds and accelerations."""
    return SampledMotion(np.arange(float(samples)), *where.sample_states(samples, seed))


def term_shares(model: Model, states: SampledMotion) -> list[Share]:
    """Every term M_ij qdd_j, b_ijk qd_j qd_k, c_ij qd_j^2, g_i of every joint, the largest variance share first."""
    names = [joint.name for joint in model.robot.joints]
    values = model.evaluate(states.q)
    qd, qdd = states.qd, states.qdd
    shares = []
    for i in range(1, model.n + 1):
        terms: dict[str, Array] = {}
        for j in range(1, model.n + 1):
            terms[f"M{i}{j} qdd{j}"] = values[entry_name("M", *sorted((i, j)))] * qdd[:, j - 1]
            terms[f"c{i}{j} qd{j}^2"] = values[entry_name("c", i, j)] * qd[:, j - 1] ** 2
            for k in range(j + 1, model.n + 1):
                terms[f"b{i}{j}{k} qd{j} qd{k}"] = values[entry_name("b", i, j, k)] * qd[:, j - 1] * qd[:, k - 1]
        terms[f"g{i}"] = np.broadcast_to(values[entry_name("g", i)], len(states.q))
        shares += _shares(names[i - 1], terms)
    return shares


def constant_shares(robot: Robot, states: SampledMotion) -> list[Share]:
    """Every base parameter's contribution to every joint's torque, the largest variance share first."""
    kept = base_parameters(robot).kept
    values = np.array([float(value) for value in base_values(robot)])
    Y = regressor(robot, states.q, states.qd, states.qdd)[..., [column.place for column in kept]]
    shares = []
    for i, joint in enumerate(robot.joints):
        shares += _shares(joint.name, {str(c): Y[:, i, k] * values[k] for k, c in enumerate(kept)})
    return shares


def _shares(joint: str, terms: Mapping[str, Array]) -> list[Share]:
    total = np.sum(list(terms.values()), axis=0)
    variance, peak = float(np.var(total)), float(np.abs(total).max())
    found = []
    for name, value in terms.items():
        if not np.any(value):
            continue
        together = float(np.mean((value - value.mean()) * (total - total.mean())))
        largest = float(np.abs(value).max())
        found.append(Share(joint, name, together / variance if variance else 0.0, largest / peak if peak else 0.0))
    return sorted(found, key=lambda share: -abs(share.variance))
