"""What can be said in one operation: the sums and products of all values of a net, by fingerprint."""

from __future__ import annotations

import numpy as np

from emdeg.programs.search.fingerprint import Print
from emdeg.programs.search.graph import SearchGraph

Rows = np.ndarray


class Tables:
    """Fingerprint -> a value, a product (a, b) or a sum (a, b, sign); keys are blind to the sign of the whole.

    Entries may outlive their nodes: whoever finds one must ask whether it still lives.
    """

    def __init__(self, net: SearchGraph, limit: int) -> None:
        self.net, self.p, self.limit = net, net.points.p, limit
        self.ids: list[int] = []
        self.rows: Rows = np.zeros((0, len(net.moduli)), dtype=np.uint64)
        self.inverses: Rows = np.zeros((0, len(net.moduli)), dtype=np.uint64)
        self.values: dict[int, int] = {}
        self.ratios: dict[int, int] = {}
        self.products: dict[int, tuple[int, int]] = {}
        self.sums: dict[int, tuple[int, int, int]] = {}
        for index in net.order:
            self.insert(index)

    def insert(self, index: int) -> None:
        """Add a node, and its sums and products with all that are there."""
        own = self.net.nodes[index].print
        if not own.all():  # zero, or zero at a point by accident
            return
        m = self.net.moduli
        self.values.setdefault(self.key(own), index)
        self.ids.append(index)
        self.rows = np.vstack([self.rows, own])
        self.inverses = np.vstack([self.inverses, self.net.points.inverse(own)])
        if not self.net.is_constant(index):
            self.ratios.setdefault(self.ratio_keys(own[None, :], self.inverses[-1:])[0], index)
        if len(self.ids) > self.limit:
            return
        others, rows = self.ids[:-1], self.rows[:-1]
        for other, key in zip(self.ids, self.keys(self.rows * own % m)):
            self.products[key] = (other, index)
        for other, key in zip(others, self.keys((rows + own) % m)):
            self.sums[key] = (other, index, 1)
        for other, key in zip(others, self.keys((rows + (m - own)) % m)):
            self.sums[key] = (other, index, -1)

    def compact(self) -> None:
        """Forget the dead."""
        nodes = self.net.nodes
        alive = [k for k, index in enumerate(self.ids) if index in nodes]
        if len(alive) < len(self.ids):
            self.ids = [self.ids[k] for k in alive]
            self.rows, self.inverses = self.rows[alive], self.inverses[alive]

    def keys(self, rows: Rows) -> list[int]:
        """One key a row, the same for a value and its negative."""
        a, b = rows[:, 0], rows[:, 1]
        p = np.uint64(self.p)
        turned = a > np.uint64(self.p // 2)
        a, b = np.where(turned, p - a, a), np.where(turned, (p - b) % p, b)
        return (a << np.uint64(31) | b).tolist()

    def key(self, residues: Print) -> int:
        return self.keys(residues[None, :])[0]

    def ratio_keys(self, rows: Rows, inverses: Rows) -> list[int]:
        """One key a row, the same for all multiples of a value."""
        p = np.uint64(self.p)
        a, b = rows[:, 1] * inverses[:, 0] % p, rows[:, 2] * inverses[:, 0] % p
        return (a << np.uint64(31) | b).tolist()

    def first_inverse(self, rows: Rows) -> Rows:
        """1 / first column, by Fermat, in a column of its own; zero stays zero."""
        p = np.uint64(self.p)
        base = rows[:, :1].copy()
        result = np.ones_like(base)
        exponent = self.p - 2
        while exponent:
            if exponent & 1:
                result = result * base % p
            base = base * base % p
            exponent >>= 1
        return result
