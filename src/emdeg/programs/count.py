"""Operation counts by the project's one convention; `tests/programs/test_count.py` defines it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from emdeg.programs.ir import Dependence, Kind, Program, dependences, live
from emdeg.writing.notebook import Shown


@dataclass(frozen=True, slots=True)
class Count(Shown):
    """Operations of one evaluation; a subtraction is an `add`, `sincos` counts angles, not functions."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sincos: int = 0

    @property
    def total(self) -> int:
        """Multiplications, additions, divisions and roots together."""
        return self.mul + self.add + self.div + self.sqrt

    def as_dict(self) -> dict[str, int]:
        return asdict(self)

    def __add__(self, other: Count) -> Count:
        return Count(
            self.mul + other.mul,
            self.add + other.add,
            self.div + other.div,
            self.sqrt + other.sqrt,
            self.sincos + other.sincos,
        )

    def __str__(self) -> str:
        text = f"{self.mul} multiplications, {self.add} additions"
        if self.div:
            text += f", {self.div} divisions"
        if self.sqrt:
            text += f", {self.sqrt} square roots"
        return text + f", {self.sincos} sine-cosine pairs"


def count(program: Program) -> Count:
    """The operations that the outputs need; arithmetic on constants is done before and not counted."""
    return sum(count_by_dependence(program).values(), Count())


def count_by_dependence(program: Program) -> dict[Dependence, Count]:
    """The counts of the part that changes with q alone and of the part that changes with the rates."""
    classes, needed = dependences(program), live(program)
    result = {}
    for wanted in (Dependence.CONFIGURATION, Dependence.RATES):
        ops = [op for op, depends, alive in zip(program.ops, classes, needed) if alive and depends is wanted]
        kinds = [op.kind for op in ops]
        result[wanted] = Count(
            mul=kinds.count(Kind.MUL),
            add=kinds.count(Kind.ADD) + kinds.count(Kind.SUB),
            div=kinds.count(Kind.DIV),
            sqrt=kinds.count(Kind.SQRT),
            sincos=len({op.args for op in ops if op.kind in (Kind.SIN, Kind.COS)}),
        )
    return result
