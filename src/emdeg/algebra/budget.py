"""Limits that keep a derivation from eating the machine."""

from __future__ import annotations

from emdeg.errors import OverBudget

DEFAULT_MAX_TERMS = 2_000_000
"""Terms one formula may have: a thousand times the longest element of a seven-joint mass matrix."""


def check_terms(terms: int, max_terms: int) -> None:
    """Nothing; OverBudget if a formula of `terms` terms is over the limit."""
    if terms > max_terms:
        raise OverBudget(
            f"a formula grew to {terms} terms and the budget is {max_terms}: give numbers to some symbolic "
            "parameters, lock joints, ask for a program instead of expanded formulas, or raise max_terms"
        )
