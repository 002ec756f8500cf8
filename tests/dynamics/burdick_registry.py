"""How claims about Burdick's equations are registered, and over which indices they run.

A claim yields pairs (left side, right side) for every choice of indices it is meant for. A printed equation with
more than one reading has one claim for each. Vectors that stand between dots in a chain of tensors are read as
their tensors (hats), since the chain has no meaning otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.dynamics.burdick import Arm

Pair = tuple[Any, Any]
Claim = Callable[[Arm], Iterator[Pair]]

PRINTED: dict[str, list[Claim]] = {}
CORRECTED: dict[str, Claim] = {}


def printed(key: str) -> Callable[[Claim], Claim]:
    def register(claim: Claim) -> Claim:
        PRINTED.setdefault(key, []).append(claim)
        return claim

    return register


def corrected(key: str) -> Callable[[Claim], Claim]:
    def register(claim: Claim) -> Claim:
        CORRECTED[key] = claim
        return claim

    return register


def pairs(arm: Arm) -> Iterator[tuple[int, int]]:
    """i < j."""
    return ((i, j) for j in range(1, arm.N + 1) for i in range(1, j))


def triples(arm: Arm) -> Iterator[tuple[int, int, int]]:
    """i < j < k."""
    return ((i, j, k) for k in range(1, arm.N + 1) for j in range(1, k) for i in range(1, j))


def parallels(arm: Arm) -> list[int]:
    """p with joints p and p + 1 revolute and parallel."""
    return [p for p in range(1, arm.N) if arm.revolute(p) and arm.revolute(p + 1) and arm.parallel(p)]


def all_revolute(arm: Arm) -> bool:
    return all(arm.revolute(i) for i in range(1, arm.N + 1))
