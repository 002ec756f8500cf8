"""What the zeros of a square matrix say: which equations can be solved apart, or one group after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from emdeg.algebra.scalar import Scalar

Block = tuple[tuple[int, ...], tuple[int, ...]]
"""(rows, columns), both rising."""


def blocks(A: Sequence[Sequence[Scalar]]) -> list[Block]:
    """The connected parts of A's pattern: systems that have nothing to do with each other."""
    left = set(range(len(A)))
    found = []
    while left:
        rows, columns = {min(left)}, set()
        while True:
            wider = {j for i in rows for j, x in enumerate(A[i]) if x}
            more = {i for i in left if any(A[i][j] for j in wider)} | rows
            if wider == columns and more == rows:
                break
            rows, columns = more, wider
        found.append((tuple(sorted(rows)), tuple(sorted(columns))))
        left -= rows
    return found


def triangular_blocks(A: Sequence[Sequence[Scalar]], dislike: Callable[[Scalar], Any]) -> list[Block]:
    """The diagonal blocks of A permuted to block triangular form, each after those whose unknowns it reads.

    Entries of little `dislike` are matched first. ZeroDivisionError if A is singular by its pattern.
    """
    n = len(A)
    row_of = _matching(A, dislike)
    reads = {c: [d for d in range(n) if d != c and A[row_of[c]][d]] for c in range(n)}
    order: list[tuple[int, ...]] = []
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []

    def visit(c: int) -> None:  # Tarjan: a component is finished after all it depends on
        index[c] = low[c] = len(index)
        stack.append(c)
        for d in reads[c]:
            if d not in index:
                visit(d)
                low[c] = min(low[c], low[d])
            elif d in stack:
                low[c] = min(low[c], index[d])
        if low[c] == index[c]:
            at = stack.index(c)
            order.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for c in range(n):
        if c not in index:
            visit(c)
    return [(tuple(sorted(row_of[c] for c in columns)), columns) for columns in order]


def _matching(A: Sequence[Sequence[Scalar]], dislike: Callable[[Scalar], Any]) -> dict[int, int]:
    """Column -> a row of its own with an entry there."""
    n = len(A)
    row_of: dict[int, int] = {}

    def place(r: int, seen: set[int]) -> bool:
        for c in sorted((c for c in range(n) if A[r][c]), key=lambda c: (dislike(A[r][c]), c)):
            if c not in seen:
                seen.add(c)
                if c not in row_of or place(row_of[c], seen):
                    row_of[c] = r
                    return True
        return False

    for r in sorted(range(n), key=lambda r: sum(bool(x) for x in A[r])):
        if not place(r, set()):
            raise ZeroDivisionError("a linear system is singular by its structure")
    return row_of
