"""Straight-line programs as inert data: named inputs, single operations, named outputs.

A `Program` holds one operation per line; the line's number is the name of the value it yields. Nothing here
runs, prints or improves a program: those are functions elsewhere in this folder and above it. What is read off it
stands here: what each value depends on, and how many operations there are (`tests/programs/test_count.py` says how).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import IntEnum, StrEnum
from fractions import Fraction

from emdeg.algebra import Angle
from emdeg.documents import Shown, table

_GROUP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,199}\Z")


class Dependence(IntEnum):
    """What a value depends on; a larger class includes the smaller ones.

    CONSTANTS are computed once for a robot, CONFIGURATION changes with q alone, RATES with anything faster.
    """

    CONSTANTS = 0
    CONFIGURATION = 1
    RATES = 2


class Kind(StrEnum):
    """What an operation does. The first three take no value: they are where values come from."""

    INPUT = "input"
    NUMBER = "number"
    ANGLE = "angle"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    NEG = "neg"
    SQRT = "sqrt"
    SIN = "sin"
    COS = "cos"
    SIGN = "sign"
    EXP = "exp"
    TANH = "tanh"


ARITY = {
    Kind.INPUT: 0,
    Kind.NUMBER: 0,
    Kind.ANGLE: 0,
    Kind.ADD: 2,
    Kind.SUB: 2,
    Kind.MUL: 2,
    Kind.DIV: 2,
    Kind.NEG: 1,
    Kind.SQRT: 1,
    Kind.SIN: 1,
    Kind.COS: 1,
    Kind.SIGN: 1,
    Kind.EXP: 1,
    Kind.TANH: 1,
}

LAWS = (Kind.SIGN, Kind.EXP, Kind.TANH)
"""What laws of friction are made of. To a proof they are functions of which only their arguments are known."""

Slot = tuple[str, int]
"""A scalar among the inputs: the group's name and the index in it."""


@dataclass(frozen=True, slots=True)
class Op:
    """One operation on earlier values. `payload` says which slot, number or angle a leaf stands for."""

    kind: Kind
    args: tuple[int, ...] = ()
    payload: Slot | Fraction | Angle | None = None

    @property
    def slot(self) -> Slot:
        assert isinstance(self.payload, tuple)
        return self.payload

    @property
    def number(self) -> Fraction:
        assert isinstance(self.payload, Fraction)
        return self.payload

    @property
    def angle(self) -> Angle:
        assert isinstance(self.payload, Angle)
        return self.payload


@dataclass(frozen=True, slots=True)
class InputGroup:
    """An input array. `labels` are the names a robot's file gives its entries: for people, never identifiers.

    `depends` is the class of its entries: CONSTANTS for parameters left symbolic.
    """

    name: str
    size: int
    depends: Dependence
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ref:
    """A value, its negative (`sign` = -1), or zero (`sign` = 0)."""

    value: int
    sign: int = 1


NOTHING = Ref(0, 0)
"""The output entry that is always zero."""


@dataclass(frozen=True, slots=True)
class OutputGroup:
    """An output array, row by row. Entries may be zero, repeat a value or negate it, at no cost."""

    name: str
    shape: tuple[int, ...]
    entries: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Count(Shown):
    """Operations of one evaluation; a subtraction is an `add`, `sincos` counts angles, not functions.

    `exp` and `tanh` are counted apart and told where there are any; a sign is a comparison and no operation.
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sincos: int = 0
    exp: int = 0
    tanh: int = 0

    @property
    def total(self) -> int:
        """Multiplications, additions, divisions and roots together."""
        return self.mul + self.add + self.div + self.sqrt

    def as_dict(self) -> dict[str, int]:
        return {name: many for name, many in asdict(self).items() if many or name not in ("exp", "tanh")}

    def __add__(self, other: Count) -> Count:
        return Count(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(Count)})

    def __str__(self) -> str:
        text = f"{self.mul} multiplications, {self.add} additions"
        if self.div:
            text += f", {self.div} divisions"
        if self.sqrt:
            text += f", {self.sqrt} square roots"
        text += f", {self.sincos} sine-cosine pairs"
        if self.exp:
            text += f", {self.exp} exponentials"
        return text + (f", {self.tanh} hyperbolic tangents" if self.tanh else "")


@dataclass(frozen=True)
class Program:
    """A straight-line program.

    >>> q = InputGroup("q", 1, Dependence.CONFIGURATION)
    >>> ops = (Op(Kind.INPUT, payload=("q", 0)), Op(Kind.MUL, (0, 0)))
    >>> Program("square", (q,), ops, (OutputGroup("y", (1,), (Ref(1, -1),)),)).size
    2
    """

    name: str
    inputs: tuple[InputGroup, ...]
    ops: tuple[Op, ...]
    outputs: tuple[OutputGroup, ...]

    def __post_init__(self) -> None:
        sizes = {group.name: group.size for group in self.inputs}
        names = [group.name for group in self.inputs + self.outputs]
        for name in [self.name, *names]:
            if not _GROUP_NAME.match(name):
                raise ValueError(f"{name!r} is no identifier: it cannot name a program, an input or an output")
        if len(set(names)) != len(names):
            raise ValueError(f"two inputs or outputs of {self.name} share a name: {', '.join(names)}")
        for index, op in enumerate(self.ops):
            if len(op.args) != ARITY[op.kind] or any(not 0 <= arg < index for arg in op.args):
                raise ValueError(f"operation {index} of {self.name} is malformed: {op}")
            if op.kind is Kind.INPUT and not 0 <= op.slot[1] < sizes.get(op.slot[0], 0):
                raise ValueError(f"operation {index} of {self.name} reads {op.slot}, which is no input")
        for group in self.outputs:
            if math.prod(group.shape) != len(group.entries):
                raise ValueError(f"output {group.name} of {self.name} does not fill its shape {group.shape}")
            if any(ref.sign and not 0 <= ref.value < len(self.ops) for ref in group.entries):
                raise ValueError(f"output {group.name} of {self.name} names a value that does not exist")

    @property
    def size(self) -> int:
        return len(self.ops)

    def __repr__(self) -> str:
        takes = ", ".join(group.name for group in self.inputs)
        gives = ", ".join(group.name for group in self.outputs)
        return f"<Program {self.name}: {takes} -> {gives}, {self.size} values>"

    def _repr_html_(self) -> str:
        rows = [(f"input {group.name}", ", ".join(group.labels) or str(group.size)) for group in self.inputs]
        rows += [(f"output {group.name}", " x ".join(map(str, group.shape))) for group in self.outputs]
        for part, cost in count_by_dependence(self).items():
            rows.append((f"operations on the {part.name.lower()}", str(cost)))
        return table(self.name, [*rows, ("operations in all", str(count(self)))])

    def roots(self) -> Iterator[int]:
        """The values that outputs name, each entry in order, zeros left out."""
        for group in self.outputs:
            for ref in group.entries:
                if ref.sign:
                    yield ref.value


def dependences(program: Program) -> tuple[Dependence, ...]:
    """The dependence class of each value."""
    groups = {group.name: group.depends for group in program.inputs}
    classes: list[Dependence] = []
    for op in program.ops:
        if op.kind is Kind.INPUT:
            classes.append(groups[op.slot[0]])
        else:
            classes.append(max((classes[arg] for arg in op.args), default=Dependence.CONSTANTS))
    return tuple(classes)


def live(program: Program) -> tuple[bool, ...]:
    """Whether each value is needed by some output."""
    needed = [False] * program.size
    for root in program.roots():
        needed[root] = True
    for index in range(program.size - 1, -1, -1):
        if needed[index]:
            for arg in program.ops[index].args:
                needed[arg] = True
    return tuple(needed)


def uses(program: Program) -> tuple[int, ...]:
    """How often each value is read, by operations and by outputs."""
    times = [0] * program.size
    for op in program.ops:
        for arg in op.args:
            times[arg] += 1
    for root in program.roots():
        times[root] += 1
    return tuple(times)


def moved(outputs: tuple[OutputGroup, ...], place: Mapping[int, int]) -> tuple[OutputGroup, ...]:
    """The outputs after the values they name have got new numbers."""
    return tuple(
        OutputGroup(
            group.name,
            group.shape,
            tuple(Ref(place[ref.value], ref.sign) if ref.sign else ref for ref in group.entries),
        )
        for group in outputs
    )


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
            exp=kinds.count(Kind.EXP),
            tanh=kinds.count(Kind.TANH),
        )
    return result


def digest_text(program: Program) -> str:
    """The program as text, one operation a line: what a digest of a bare program is taken of."""
    lines = [program.name]
    lines += [f"{group.name} {group.size} {group.depends.name}" for group in program.inputs]
    for op in program.ops:
        lines.append(" ".join([op.kind.value, *map(str, op.args), "" if op.payload is None else repr(op.payload)]))
    for group in program.outputs:
        lines.append(f"{group.name} {group.shape} " + " ".join(f"{r.sign}*{r.value}" for r in group.entries))
    return "\n".join(lines) + "\n"
