"""What goes from a program when values of it become others, found from the places that these touch.

A sum with nothing is what is left of it, a product with nothing is nothing, numbers among themselves are a number, and
what nobody reads any more goes. Values that become equal to others are not looked for: there may go more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from enum import Enum, auto

from emdeg.approximation.shortening.rewrites import Graph, Rewrite
from emdeg.programs import Dependence, Kind, uses


class _Became(Enum):
    NOTHING = auto()
    NUMBER = auto()


class ConstantPropagation:
    """A program's values after moves, as far as these reach; `saved` operations, and the values that are `gone`."""

    def __init__(self, graph: Graph) -> None:
        self.ops, self.counted, self.readers = graph.program.ops, graph.counted, graph.readers
        self.uses = uses(graph.program)
        self.numbers = [depends is Dependence.CONSTANTS for depends in graph.depends]
        self.clear()

    def clear(self) -> None:
        """Begins anew, with the program as it is."""
        self.saved = 0
        self.gone: set[int] = set()
        self._fewer: dict[int, int] = {}
        self._now: dict[int, int | _Became] = {}
        self._scaled: dict[int, int] = {}

    def of(self, moves: Iterable[Rewrite]) -> tuple[int, set[int]]:
        """(operations fewer after these moves alone, the values gone with them)."""
        self.clear()
        self.make(moves)
        return self.saved, self.gone

    def make(self, moves: Iterable[Rewrite]) -> None:
        """Makes moves at places where none was made before."""
        made = {move.at: move for move in moves}
        for move in made.values():  # what a value is to become is needed until then
            if move.like is not None:
                self._fewer[move.like] = self._fewer.get(move.like, 0) - 1
        waiting = sorted(made)
        while waiting:
            index = heapq.heappop(waiting)
            move = made.pop(index, None)
            if index not in self.gone:
                became = self._moved(index, move) if move is not None else self._folded(index)
                if became is None:
                    continue
                self._now[index] = became
                if isinstance(became, _Became):
                    for reader in self.readers[index]:
                        heapq.heappush(waiting, reader)
                else:
                    self._fewer[became] = self._fewer.get(became, 0) - self._left(index)
                self._leave(index)
            if move is not None and move.like is not None:
                self._drop(move.like)

    def _moved(self, index: int, move: Rewrite) -> int | _Became | None:
        """What a value becomes by a move; None where it is still an operation of its own, of another value."""
        if move.like is not None:
            like = self._resolved(move.like)
            if isinstance(like, _Became):
                return like
            if move.number in (1, -1):
                return like
            self._scaled[index] = like
            for arg in self.ops[index].args:
                self._drop(arg)
            return None
        if move.keeps is None:
            return _Became.NUMBER if move.number else _Became.NOTHING
        return self._resolved(self.ops[index].args[move.keeps])

    def _folded(self, index: int) -> int | _Became | None:
        """What an operation becomes as one of its arguments is a number or nothing; None where it stays one."""
        op = self.ops[index]
        if index in self._scaled or op.kind not in (Kind.ADD, Kind.SUB, Kind.MUL, Kind.NEG):
            return None
        args = [self._resolved(arg) for arg in op.args]
        kinds = [_Became.NUMBER if self._is_number(arg) else arg for arg in args]
        if all(isinstance(kind, _Became) for kind in kinds):
            nothing = any if op.kind is Kind.MUL else all
            return _Became.NOTHING if nothing(kind is _Became.NOTHING for kind in kinds) else _Became.NUMBER
        if _Became.NOTHING not in kinds:
            return None
        return _Became.NOTHING if op.kind is Kind.MUL else args[1 - kinds.index(_Became.NOTHING)]

    def _is_number(self, arg: int | _Became) -> bool:
        return not isinstance(arg, _Became) and self.numbers[arg]

    def _resolved(self, index: int) -> int | _Became:
        now: int | _Became = index
        while not isinstance(now, _Became) and now in self._now:
            now = self._now[now]
        return now

    def _left(self, index: int) -> int:
        """How often a value is read now."""
        return self.uses[index] - self._fewer.get(index, 0)

    def _leave(self, index: int) -> None:
        """A value is gone, and with it what it alone read."""
        self.gone.add(index)
        self.saved += self.counted[index]
        for arg in (self._scaled[index],) if index in self._scaled else self.ops[index].args:
            self._drop(arg)

    def _drop(self, arg: int) -> None:
        """A value, or what it has become, is read once less."""
        now = self._resolved(arg)
        if isinstance(now, _Became):
            return
        self._fewer[now] = self._fewer.get(now, 0) + 1
        if not self._left(now) and now not in self.gone:
            self._leave(now)
