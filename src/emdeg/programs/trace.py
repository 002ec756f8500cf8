"""The tracing algebra: run an algorithm over `Traced` scalars and a `Program` remains.

Values are numbered by what they compute, so the same product written twice is one operation. They are kept
up to sign: x - y and y - x are one value, a negation costs nothing and never becomes an operation where an
addition or an output can take it. Numbers fold exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra import Angle, sincos_from_pieces, square_root
from emdeg.programs.ir import NOTHING, Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref, Slot


class Traced:
    """A signed value of a `Tracer`; +, - and * with its kind, int and Fraction record operations."""

    __array_ufunc__ = None  # NumPy arrays hand over to our operators instead of looping by themselves
    __slots__ = ("index", "sign", "tracer")

    def __init__(self, tracer: Tracer, index: int, sign: int) -> None:
        self.tracer = tracer
        self.index = index
        self.sign = sign

    @property
    def is_zero(self) -> bool:
        return self.sign == 0

    @property
    def ref(self) -> Ref:
        return Ref(self.index, self.sign) if self.sign else NOTHING

    def __neg__(self) -> Traced:
        return Traced(self.tracer, self.index, -self.sign)

    def __pos__(self) -> Traced:
        return self

    def __add__(self, other: Any) -> Traced:
        other = self.tracer.lift(other)
        return NotImplemented if other is None else self.tracer.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Traced:
        other = self.tracer.lift(other)
        return NotImplemented if other is None else self.tracer.add(self, -other)

    def __rsub__(self, other: Any) -> Traced:
        other = self.tracer.lift(other)
        return NotImplemented if other is None else self.tracer.add(other, -self)

    def __mul__(self, other: Any) -> Traced:
        other = self.tracer.lift(other)
        return NotImplemented if other is None else self.tracer.mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Traced:
        other = self.tracer.lift(other)
        return NotImplemented if other is None else self.tracer.div(self, other)

    def __rtruediv__(self, other: Any) -> Traced:
        other = self.tracer.lift(other)
        return NotImplemented if other is None else self.tracer.div(other, self)

    def __pow__(self, exponent: int) -> Traced:
        if not isinstance(exponent, int) or exponent < 0:
            return NotImplemented
        result = self.tracer.number(Fraction(1))
        for _ in range(exponent):
            result = result * self
        return result

    def __bool__(self) -> bool:
        return self.sign != 0

    def __repr__(self) -> str:
        return f"Traced({'-' if self.sign < 0 else ''}{self.tracer.ops[self.index] if self.sign else 0})"


class Tracer:
    """Records operations; an `Algebra` whose scalars are `Traced`.

    Symbols become entries of the input group `parameters`, in the order in which they first occur, unless
    `parameters` fixes names and order beforehand.
    """

    def __init__(self, parameters: Iterable[str] = ()) -> None:
        self.ops: list[Op] = []
        self._known: dict[Op, int] = {}
        self._groups: dict[str, InputGroup] = {}
        self._parameters: dict[str, int] = {name: i for i, name in enumerate(parameters)}
        self._zero = Traced(self, 0, 0)
        self._integers: dict[int, Traced] = {}

    @classmethod
    def like(cls, program: Program) -> Tracer:
        """A tracer with the inputs of a program, for writing that program anew."""
        tracer = cls()
        for group in program.inputs:
            if group.name == "parameters":
                tracer._parameters = {label: i for i, label in enumerate(group.labels)}
            else:
                tracer._groups[group.name] = group
        return tracer

    def apply(self, op: Op, args: Sequence[Traced]) -> Traced:
        """The operation of another program on this tracer's values; a leaf stands for itself."""
        match op.kind:
            case Kind.NUMBER:
                return self.number(op.number)
            case Kind.ADD:
                return self.add(args[0], args[1])
            case Kind.SUB:
                return self.add(args[0], -args[1])
            case Kind.MUL:
                return self.mul(args[0], args[1])
            case Kind.DIV:
                return self.div(args[0], args[1])
            case Kind.NEG:
                return -args[0]
            case Kind.SQRT:
                return self.sqrt(args[0])
            case Kind.SIN:
                return self.sine(args[0])
            case Kind.COS:
                return self.cosine(args[0])
            case Kind.SIGN:
                return self.sign(args[0])
            case Kind.EXP:
                return self.exp(args[0])
            case Kind.TANH:
                return self.tanh(args[0])
            case _:
                return self._value(op)

    def replay(self, program: Program, given: Callable[[Slot], Traced | None] | None = None) -> list[Traced]:
        """Every value of another program, written into this trace; `given` may have others in the place of inputs."""
        values: list[Traced] = []
        for op in program.ops:
            value = given(op.slot) if given is not None and op.kind is Kind.INPUT else None
            values.append(self.apply(op, [values[arg] for arg in op.args]) if value is None else value)
        return values

    def outputs_of(self, program: Program, values: Sequence[Traced]) -> dict[str, list[Traced]]:
        """The entries of another program's outputs by name, flat, from its replayed values."""
        return {group.name: [self._entry_of(ref, values) for ref in group.entries] for group in program.outputs}

    def _entry_of(self, ref: Ref, values: Sequence[Traced]) -> Traced:
        if not ref.sign:
            return self._zero
        return -values[ref.value] if ref.sign < 0 else values[ref.value]

    def entry(self, name: str, place: int) -> Traced:
        """One scalar of an input array that is declared, whether anything reads it or not."""
        return self._value(Op(Kind.INPUT, payload=(name, place)))

    def inputs(self, name: str, size: int, depends: Dependence, labels: Sequence[str] = ()) -> tuple[Traced, ...]:
        """The scalars of a new input array."""
        if name in self._groups:
            raise ValueError(f"the input {name} is declared twice")
        self._groups[name] = InputGroup(name, size, depends, tuple(labels))
        return tuple(self._value(Op(Kind.INPUT, payload=(name, i))) for i in range(size))

    def number(self, value: Fraction | int) -> Traced:
        if isinstance(value, int):  # asked for at every step of a sweep
            found = self._integers.get(value)
            return found or self._integers.setdefault(value, self._number(Fraction(value)))
        return self._number(value)

    def _number(self, value: Fraction) -> Traced:
        if not value:
            return self._zero
        return self._value(Op(Kind.NUMBER, payload=abs(value)), 1 if value > 0 else -1)

    def symbol(self, name: str) -> Traced:
        index = self._parameters.setdefault(name, len(self._parameters))
        return self._value(Op(Kind.INPUT, payload=("parameters", index)))

    def angle(self, angle: Angle) -> Traced:
        """A constant angle, to be added to others before sines are taken."""
        return self._value(Op(Kind.ANGLE, payload=angle))

    def sincos(self, angle: Angle) -> tuple[Traced, Traced]:
        """(sine, cosine) of a constant angle: exact quarters fold, the rest stays a constant with a name."""
        return sincos_from_pieces(angle, self.number, self._constant_pair)

    def sincos_of(self, value: Traced) -> tuple[Traced, Traced]:
        """(sine, cosine) of a traced value, such as an input or a sum of inputs."""
        return self.sine(value), self.cosine(value)

    def sine(self, value: Traced) -> Traced:
        return self._zero if value.is_zero else self._value(Op(Kind.SIN, (value.index,)), value.sign)

    def cosine(self, value: Traced) -> Traced:
        return self.number(1) if value.is_zero else self._value(Op(Kind.COS, (value.index,)))

    def sqrt(self, value: Traced) -> Traced:
        if value.is_zero:
            return self._zero
        op = self.ops[value.index]
        if op.kind is Kind.NUMBER and value.sign > 0:
            root = square_root(op.number)
            if root * root == op.number:
                return self.number(root)
        return self._value(Op(Kind.SQRT, (self.positive(value),)))

    def sign(self, value: Traced) -> Traced:
        """1, 0 or -1."""
        return self._zero if value.is_zero else self._value(Op(Kind.SIGN, (value.index,)), value.sign)

    def tanh(self, value: Traced) -> Traced:
        return self._zero if value.is_zero else self._value(Op(Kind.TANH, (value.index,)), value.sign)

    def exp(self, value: Traced) -> Traced:
        return self.number(1) if value.is_zero else self._value(Op(Kind.EXP, (self.positive(value),)))

    def positive(self, value: Traced) -> int:
        """The index of `value` with its sign: roots and exponentials are the places that need a negation recorded."""
        return value.index if value.sign > 0 else self._value(Op(Kind.NEG, (value.index,))).index

    def add(self, a: Traced, b: Traced) -> Traced:
        if a.is_zero:
            return b
        if b.is_zero:
            return a
        if a.index == b.index:
            return self._zero if a.sign != b.sign else a * 2
        x, y = self.ops[a.index], self.ops[b.index]
        if x.kind is Kind.NUMBER and y.kind is Kind.NUMBER:
            return self.number(a.sign * x.number + b.sign * y.number)
        if a.index > b.index:
            a, b = b, a
        kind = Kind.ADD if a.sign == b.sign else Kind.SUB
        return self._value(Op(kind, (a.index, b.index)), a.sign)

    def mul(self, a: Traced, b: Traced) -> Traced:
        sign = a.sign * b.sign
        if not sign:
            return self._zero
        if a.index > b.index:
            a, b = b, a
        x, y = self.ops[a.index], self.ops[b.index]
        if x.kind is Kind.NUMBER and y.kind is Kind.NUMBER:
            return self.number(sign * x.number * y.number)
        if x.kind is Kind.NUMBER and x.number == 1:
            return Traced(self, b.index, sign)
        if y.kind is Kind.NUMBER and y.number == 1:
            return Traced(self, a.index, sign)
        return self._value(Op(Kind.MUL, (a.index, b.index)), sign)

    def div(self, a: Traced, b: Traced) -> Traced:
        if b.is_zero:
            raise ZeroDivisionError("a traced value is divided by zero")
        sign = a.sign * b.sign
        if not sign:
            return self._zero
        x, y = self.ops[a.index], self.ops[b.index]
        if y.kind is Kind.NUMBER:
            return Traced(self, a.index, sign) * self.number(1 / y.number)
        if x == y:
            return self.number(sign)
        return self._value(Op(Kind.DIV, (a.index, b.index)), sign)

    def lift(self, value: Any) -> Traced | None:
        """`value` as one of this tracer's scalars, None if it is of a foreign kind."""
        if isinstance(value, Traced):
            if value.tracer is not self:
                raise ValueError("values of two tracers cannot meet in one operation")
            return value
        if isinstance(value, int | Fraction):
            return self.number(value)
        if isinstance(value, float):
            # A float that entered a formula is what it is, bit by bit.
            return self.number(Fraction(value))
        return None

    def program(self, name: str, outputs: Mapping[str, Any]) -> Program:
        """What was traced, as a program with these outputs: nested sequences of scalars, or one scalar."""
        groups = list(self._groups.values())
        if self._parameters:
            labels = tuple(self._parameters)
            groups.append(InputGroup("parameters", len(labels), Dependence.CONSTANTS, labels))
        results = []
        for label, values in outputs.items():
            shape, flat = _flatten(values)
            refs = []
            for value in flat:
                scalar = self.lift(value)
                if scalar is None:
                    raise TypeError(f"output {label} holds {value!r}, which this tracer did not make")
                refs.append(scalar.ref)
            results.append(OutputGroup(label, shape, tuple(refs)))
        return Program(name, tuple(groups), tuple(self.ops), tuple(results))

    def _constant_pair(self, piece: Angle) -> tuple[Traced, Traced]:
        if piece.symbol is None:
            return self.sincos_of(self.angle(piece))
        return self.sincos_of(self.symbol(piece.symbol))

    def _value(self, op: Op, sign: int = 1) -> Traced:
        index = self._known.get(op)
        if index is None:
            index = self._known[op] = len(self.ops)
            self.ops.append(op)
        return Traced(self, index, sign)


def _flatten(values: Any) -> tuple[tuple[int, ...], list[Any]]:
    """(shape, entries row by row) of nested sequences; a scalar has shape ()."""
    if hasattr(values, "tolist") and hasattr(values, "shape"):
        values = values.tolist()
    if not isinstance(values, list | tuple):
        return (), [values]
    parts = [_flatten(value) for value in values]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise ValueError("an output's rows differ in length")
    inner = shapes.pop() if shapes else ()
    return (len(parts), *inner), [entry for _, flat in parts for entry in flat]
