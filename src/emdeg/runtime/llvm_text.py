"""A program as LLVM assembly: a loop over states, scalar or with one state in each lane of a vector.

Both functions read one block of words: the pointers to inputs and outputs, in the program's order, then for each
the distance between states, in entries (0 where one state serves all).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from fractions import Fraction

from emdeg.codegen.trig import DOUBLE, SINGLE, TrigTable
from emdeg.program.evaluate import constants
from emdeg.program.ir import Kind, Program, live

_BINARY = {Kind.ADD: "fadd", Kind.SUB: "fsub", Kind.MUL: "fmul", Kind.DIV: "fdiv"}


@dataclass(frozen=True, slots=True)
class Precision:
    """How LLVM writes one floating type."""

    scalar: str
    bits: int
    table: TrigTable

    def literal(self, value: Fraction | float) -> str:
        """The nearest number of this precision, as the bits of the double that equals it."""
        number = float(value)
        if self.bits == 32:
            number = struct.unpack("f", struct.pack("f", number))[0]
        return "0x" + struct.pack(">d", number).hex().upper()


PRECISIONS = {64: Precision("double", 64, DOUBLE), 32: Precision("float", 32, SINGLE)}


@dataclass
class _Writer:
    """Lines of a basic block, with fresh names; `width` lanes, 1 for scalars."""

    precision: Precision
    width: int
    lines: list[str] = field(default_factory=list)
    names: int = 0

    @property
    def real(self) -> str:
        return self._of(self.precision.scalar)

    @property
    def bits(self) -> str:
        return self._of(f"i{self.precision.bits}")

    @property
    def truth(self) -> str:
        return self._of("i1")

    def _of(self, scalar: str) -> str:
        return scalar if self.width == 1 else f"<{self.width} x {scalar}>"

    def put(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"  %v{self.names} = {text}")
        return f"%v{self.names}"

    def constant(self, value: Fraction | float) -> str:
        return self._spread(self.precision.scalar, self.precision.literal(value))

    def integer(self, value: int) -> str:
        return self._spread(f"i{self.precision.bits}", str(value))

    def _spread(self, scalar: str, literal: str) -> str:
        if self.width == 1:
            return literal
        return "<" + ", ".join([f"{scalar} {literal}"] * self.width) + ">"

    def binary(self, operation: str, a: str, b: str) -> str:
        # 'contract' lets a multiplication and an addition become one fused instruction.
        return self.put(f"{operation} contract {self.real} {a}, {b}")

    def whole(self, operation: str, a: str, b: str) -> str:
        return self.put(f"{operation} {self.bits} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.put(f"select {self.truth} {condition}, {self.real} {a}, {self.real} {b}")

    def cast(self, value: str, source: str, target: str) -> str:
        return self.put(f"bitcast {source} {value} to {target}")

    def sqrt(self, value: str) -> str:
        return self.put(f"call {self.real} @{self.intrinsic}({self.real} {value})")

    @property
    def intrinsic(self) -> str:
        lanes = "" if self.width == 1 else f"v{self.width}"
        return f"llvm.sqrt.{lanes}f{self.precision.bits}"

    def polynomial(self, coefficients: tuple[float, ...], z: str) -> str:
        value = self.constant(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.binary("fadd", self.binary("fmul", value, z), self.constant(coefficient))
        return value

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine by the numbers of `emdeg.codegen.trig`; names not used vanish in the compiler."""
        table = self.precision.table
        rounder, one = self.constant(table.rounder), self.constant(1.0)
        scaled = self.binary("fmul", x, self.constant(table.two_over_pi))
        shifted = self.binary("fadd", scaled, rounder)
        k = self.binary("fsub", shifted, rounder)
        r = x
        for part in table.half_pi_parts:
            r = self.binary("fsub", r, self.binary("fmul", k, self.constant(part)))
        limit = self.constant(table.most_quarters**2)
        near = self.put(f"fcmp ole {self.real} {self.binary('fmul', k, k)}, {limit}")
        r = self.select(near, r, self.constant(float("nan")))
        z = self.binary("fmul", r, r)
        cube = self.binary("fmul", r, z)
        sine = self.binary("fadd", r, self.binary("fmul", cube, self.polynomial(table.sine, z)))
        square = self.binary("fmul", z, z)
        quartic = self.binary("fmul", square, self.polynomial(table.cosine, z))
        half = self.binary("fsub", self.binary("fmul", z, self.constant(0.5)), quartic)
        cosine = self.binary("fsub", one, half)
        return self._quadrant(shifted, sine, cosine)

    def _quadrant(self, shifted: str, sine: str, cosine: str) -> tuple[str, str]:
        n = self.cast(shifted, self.real, self.bits)
        odd = self.put(f"icmp ne {self.bits} {self.whole('and', n, self.integer(1))}, {self.integer(0)}")
        results = []
        for first, second, step in ((cosine, sine, 0), (sine, cosine, 1)):
            turned = self.whole("add", n, self.integer(step)) if step else n
            flag = self.whole("and", turned, self.integer(2))
            sign = self.whole("shl", flag, self.integer(self.precision.bits - 2))
            chosen = self.cast(self.select(odd, first, second), self.real, self.bits)
            results.append(self.cast(self.whole("xor", chosen, sign), self.bits, self.real))
        return results[0], results[1]


def assembly(program: Program, bits: int, width: int) -> str:
    """The module's text: @states(words, start, stop) for any number, @lanes for at least `width` states."""
    precision = PRECISIONS[bits]
    parts = [_function(program, _Writer(precision, 1), "states")]
    declared = {_Writer(precision, 1).intrinsic}
    if width > 1:
        parts.append(_function(program, _Writer(precision, width), "lanes"))
    for lanes in {1, width}:
        writer = _Writer(precision, lanes)
        declared.add(f"{writer.real} @{writer.intrinsic}({writer.real})")
    parts += [f"declare {line}" for line in sorted(declared) if " " in line]
    parts.append("define void @one(ptr %words) {\n  call void @states(ptr %words, i64 0, i64 1)\n  ret void\n}")
    vector = bits * width
    parts.append(f'attributes #0 = {{ nounwind "min-legal-vector-width"="{vector}" }}')
    return "\n\n".join(parts) + "\n"


def _function(program: Program, out: _Writer, name: str) -> str:
    groups = [*program.inputs, *program.outputs]
    head = []
    for place, group in enumerate(groups):
        head += [
            f"  %at{place} = getelementptr i64, ptr %words, i64 {place}",
            f"  %base_{group.name} = load ptr, ptr %at{place}",
            f"  %far{place} = getelementptr i64, ptr %words, i64 {place + len(groups)}",
            f"  %step_{group.name} = load i64, ptr %far{place}",
        ]
    _body(program, out)
    width = out.width
    # The last vector may overlap the one before it: the same states, computed to the same values twice.
    following = [
        f"  %after = add i64 %i, {width}",
        "  %more = icmp slt i64 %after, %stop",
        f"  %last = sub i64 %stop, {width}",
        "  %fits = icmp slt i64 %after, %last",
        "  %next = select i1 %fits, i64 %after, i64 %last",
        "  br i1 %more, label %loop, label %done",
    ]
    return "\n".join(
        [
            f"define void @{name}(ptr %words, i64 %start, i64 %stop) #0 {{",
            "entry:",
            *head,
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ %start, %entry ], [ %next, %loop ]",
            *out.lines,
            *following,
            "done:",
            "  ret void",
            "}",
        ]
    )


def _body(program: Program, out: _Writer) -> None:
    needed, numbers = live(program), constants(program)
    addresses = {group.name: _addresses(out, group.name) for group in (*program.inputs, *program.outputs)}
    value: dict[int, str] = {}
    pairs: dict[int, tuple[str, str]] = {}
    for index, op in enumerate(program.ops):
        if not needed[index]:
            continue
        if index in numbers:
            value[index] = out.constant(numbers[index])
        elif op.kind is Kind.INPUT:
            value[index] = _load(out, addresses[op.slot[0]], op.slot[1])
        elif op.kind is Kind.ANGLE:
            value[index] = out.constant(float(op.angle))
        elif op.kind in (Kind.SIN, Kind.COS):
            angle = op.args[0]
            if angle not in pairs:
                pairs[angle] = out.sincos(value[angle])
            value[index] = pairs[angle][op.kind is Kind.COS]
        elif op.kind is Kind.NEG:
            value[index] = out.put(f"fneg {out.real} {value[op.args[0]]}")
        elif op.kind is Kind.SQRT:
            value[index] = out.sqrt(value[op.args[0]])
        else:
            value[index] = out.binary(_BINARY[op.kind], value[op.args[0]], value[op.args[1]])
    zero = out.constant(0.0)
    for group in program.outputs:
        for place, ref in enumerate(group.entries):
            result = zero if not ref.sign else value[ref.value]
            if ref.sign < 0:
                result = out.put(f"fneg {out.real} {result}")
            _store(out, addresses[group.name], place, result)


def _addresses(out: _Writer, name: str) -> list[str]:
    """The address of each lane's state in an array."""
    scalar = out.precision.scalar
    result = []
    for lane in range(out.width):
        state = out.put(f"add i64 %i, {lane}")
        offset = out.put(f"mul i64 {state}, %step_{name}")
        result.append(out.put(f"getelementptr {scalar}, ptr %base_{name}, i64 {offset}"))
    return result


def _load(out: _Writer, addresses: list[str], place: int) -> str:
    scalar = out.precision.scalar
    vector = "poison"
    for lane, address in enumerate(addresses):
        pointer = out.put(f"getelementptr {scalar}, ptr {address}, i64 {place}")
        entry = out.put(f"load {scalar}, ptr {pointer}")
        if out.width == 1:
            return entry
        vector = out.put(f"insertelement {out.real} {vector}, {scalar} {entry}, i32 {lane}")
    return vector


def _store(out: _Writer, addresses: list[str], place: int, value: str) -> None:
    scalar = out.precision.scalar
    for lane, address in enumerate(addresses):
        entry = value
        if out.width > 1:
            entry = out.put(f"extractelement {out.real} {value}, i32 {lane}")
        pointer = out.put(f"getelementptr {scalar}, ptr {address}, i64 {place}")
        out.lines.append(f"  store {scalar} {entry}, ptr {pointer}")
