"""Physical and formal rules a robot must keep; each breach is said in words a person can act on."""

from __future__ import annotations

from dataclasses import dataclass


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
