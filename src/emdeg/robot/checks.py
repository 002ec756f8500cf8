"""Physical and formal rules a robot must keep; each breach is said in words a person can act on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from emdeg.robot.model import Inertia

LARGEST = 10**150
"""Moments beyond this overflow a double when they are squared."""

ROUNDING = 1e-6
"""Published inertias are rounded: a rule counts as broken only beyond this share of the largest moment."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken, or one thing worth knowing, with the body it is about."""

    body: str
    rule: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.body}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Budget:
    """How much emdeg is willing to read: a stranger's file must not exhaust the machine."""

    bytes: int = 16 * 2**20
    depth: int = 64
    elements: int = 100_000
    links: int = 512


BUDGET = Budget()


def inertia_findings(body: str, inertia: Inertia, line: int | None = None) -> list[Finding]:
    """The physical rules `inertia` breaks: mass, positive semidefinite, triangle inequality.

    Rules that a symbol leaves open are not judged. A point mass is legal, and so is a link with no mass at all.
    """
    findings: list[Finding] = []
    if any(value.is_number and abs(value.number) > LARGEST for value in inertia.parameters):
        return [Finding(body, "its inertia is too large for a double", line)]
    if inertia.mass.is_number and inertia.mass.number < 0:
        return [Finding(body, f"its mass is negative: {float(inertia.mass):g} kg", line)]
    if not all(value.is_number for value in inertia.parameters):
        return findings
    m = float(inertia.mass)
    h = np.array([float(v) for v in inertia.first_moment])
    xx, xy, xz, yy, yz, zz = (float(v) for v in inertia.tensor)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if m == 0 and h.any():
        return [Finding(body, "it has a first moment but no mass", line)]
    with np.errstate(over="ignore", invalid="ignore"):
        about_com = tensor - (h @ h * np.eye(3) - np.outer(h, h)) / m if m > 0 else tensor
    if not np.all(np.isfinite(about_com)):
        return [Finding(body, "its first moment is too large for its mass", line)]
    smallest, middle, largest = np.linalg.eigvalsh(about_com)
    slack = ROUNDING * max(abs(largest), abs(smallest), 1e-300) + 1e-12 * float(np.abs(tensor).max())
    principal = f"{smallest:.6g}, {middle:.6g}, {largest:.6g} kg m^2"
    if smallest < -slack:
        findings.append(Finding(body, f"its inertia is not positive semidefinite: principal moments {principal}", line))
    elif smallest + middle < largest - slack:
        findings.append(
            Finding(
                body,
                f"its inertia breaks the triangle inequality: principal moments {principal} "
                "(no one may exceed the sum of the other two)",
                line,
            )
        )
    return findings
