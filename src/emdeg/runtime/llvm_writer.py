"""LLVM instructions on scalars or vectors of one precision, sine and cosine among them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction

from emdeg.programs import DOUBLE, SINGLE, TrigTable


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


LOG2_E = 1.4426950408889634
LN2_PARTS = (0.6931471803691238, 1.9082149292705877e-10)
"""ln 2 in two parts, the first short enough for k times it to be exact."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """The numbers of exp in one precision: how far it reaches, ln 2 in parts, terms of its series, mantissa's bits."""

    reach: float
    ln2_parts: tuple[float, ...]
    terms: int
    mantissa: int


EXPONENTIALS = {
    64: Exponential(700.0, LN2_PARTS, 14, 52),
    32: Exponential(80.0, (0.693359375, -2.12194440e-4), 8, 23),
}
TANH_SERIES = (1.0, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075, -929569 / 638512875)

PRECISIONS = {64: Precision("double", 64, DOUBLE), 32: Precision("float", 32, SINGLE)}


def vector_attributes(bits: int) -> str:
    """The attributes #0 of functions on vectors of so many bits.

    What registers have no room for waits on the stack, which is aligned to 16 bytes only: were it not aligned anew,
    most vectors that wait would lie in two lines of the cache.
    """
    return f'attributes #0 = {{ nounwind "stackrealign" "min-legal-vector-width"="{bits}" }}'


@dataclass
class Writer:
    """Lines of a basic block, with fresh names; `width` lanes, 1 for scalars."""

    precision: Precision
    width: int
    lines: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
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

    @property
    def words(self) -> str:
        """The type of 64-bit words, whatever the precision."""
        return self._of("i64")

    def word(self, value: int) -> str:
        """The same 64-bit word in every lane."""
        return self._spread("i64", str(value))

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

    def call(self, intrinsic: str, value: str) -> str:
        """An intrinsic function of one argument, such as llvm.sqrt."""
        name = f"{intrinsic}.{self.suffix}"
        self.declared.add(f"declare {self.real} @{name}({self.real})")
        return self.put(f"call {self.real} @{name}({self.real} {value})")

    @property
    def suffix(self) -> str:
        return ("" if self.width == 1 else f"v{self.width}") + f"f{self.precision.bits}"

    def polynomial(self, coefficients: tuple[float, ...], z: str) -> str:
        value = self.constant(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.binary("fadd", self.binary("fmul", value, z), self.constant(coefficient))
        return value

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine by the numbers of `emdeg.programs.sine`; names not used vanish in the compiler."""
        table = self.precision.table
        rounder = self.constant(table.rounder)
        scaled = self.binary("fmul", x, self.constant(table.two_over_pi))
        shifted = self.binary("fadd", scaled, rounder)
        k = self.binary("fsub", shifted, rounder)
        r = x
        for part in table.half_pi_parts:
            r = self.binary("fsub", r, self.binary("fmul", k, self.constant(part)))
        near = self.put(f"fcmp ole {self.real} {self.call('llvm.fabs', k)}, {self.constant(table.most_quarters)}")
        r = self.select(near, r, self.constant(float("nan")))
        z = self.binary("fmul", r, r)
        cube = self.binary("fmul", r, z)
        sine = self.binary("fadd", r, self.binary("fmul", cube, self.polynomial(table.sine, z)))
        curve = self.polynomial((1.0, -0.5, *table.cosine), z)
        return self._quadrant(shifted, sine, curve)

    def sign(self, x: str) -> str:
        """1, 0 or -1; NaN stays what it is."""
        zero = self.constant(0.0)
        up = self.put(f"fcmp ogt {self.real} {x}, {zero}")
        down = self.put(f"fcmp olt {self.real} {x}, {zero}")
        return self.select(up, self.constant(1.0), self.select(down, self.constant(-1.0), x))

    def exponential(self, x: str) -> str:
        """exp(x) to a few units in the last place; infinite, or at its smallest, where the type ends.

        exp(k ln 2 + r) = 2^k exp(r) with |r| <= ln 2 / 2, Taylor's polynomial, and k added to the exponent's bits. A
        library's function could not be called: it may lie further away than the code's addresses reach.
        """
        numbers = EXPONENTIALS[self.precision.bits]
        lowest, highest = self.constant(-numbers.reach), self.constant(numbers.reach)
        beyond = self.put(f"fcmp ogt {self.real} {x}, {highest}")
        x = self.select(self.put(f"fcmp olt {self.real} {x}, {lowest}"), lowest, x)
        x = self.select(beyond, highest, x)
        rounder = self.constant(self.precision.table.rounder)
        scaled = self.put(f"fmul {self.real} {x}, {self.constant(LOG2_E)}")
        shifted = self.put(f"fadd {self.real} {scaled}, {rounder}")
        k = self.put(f"fsub {self.real} {shifted}, {rounder}")
        r = x
        for part in numbers.ln2_parts:
            r = self.binary("fsub", r, self.binary("fmul", k, self.constant(part)))
        power = self.polynomial(tuple(1 / math.factorial(i) for i in range(numbers.terms)), r)
        exponent = self.whole("shl", self.cast(shifted, self.real, self.bits), self.integer(numbers.mantissa))
        result = self.whole("add", self.cast(power, self.real, self.bits), exponent)
        return self.select(beyond, self.constant(math.inf), self.cast(result, self.bits, self.real))

    def logarithm(self, x: str) -> str:
        """ln(x) of positive normal numbers, to a few units in the last place.

        x = 2^k m with m from sqrt(1/2) to sqrt(2), and ln m = 2 artanh((m - 1) / (m + 1)) by its series.
        """
        numbers = EXPONENTIALS[self.precision.bits]
        one, half = self.constant(1.0), self.constant(math.sqrt(0.5))
        bits = self.cast(x, self.real, self.bits)
        # The mantissa's bits relative to those of sqrt(1/2): what carries into the exponent belongs to the next k.
        above = self.whole("sub", bits, self.cast(half, self.real, self.bits))
        k = self.whole("ashr", above, self.integer(numbers.mantissa))
        scaled = self.whole("sub", bits, self.whole("shl", k, self.integer(numbers.mantissa)))
        m = self.cast(scaled, self.bits, self.real)
        power = self.put(f"sitofp {self.bits} {k} to {self.real}")
        s = self.binary("fdiv", self.binary("fsub", m, one), self.binary("fadd", m, one))
        z = self.binary("fmul", s, s)
        series = tuple(2 / (2 * i + 1) for i in range(numbers.terms))
        value = self.binary("fmul", s, self.polynomial(series, z))
        for part in reversed(numbers.ln2_parts):
            value = self.binary("fadd", value, self.binary("fmul", power, self.constant(part)))
        return value

    def tanh(self, x: str) -> str:
        """tanh(x): by exp(-2|x|), and by its series where that would lose digits."""
        one, size = self.constant(1.0), self.call("llvm.fabs", x)
        e = self.exponential(self.binary("fmul", size, self.constant(-2.0)))
        far = self.binary("fdiv", self.binary("fsub", one, e), self.binary("fadd", one, e))
        z = self.binary("fmul", size, size)
        near = self.binary("fmul", size, self.polynomial(TANH_SERIES, z))
        small = self.put(f"fcmp olt {self.real} {size}, {self.constant(0.1)}")
        value = self.select(small, near, far)
        turned = self.put(f"fneg {self.real} {value}")
        return self.select(self.put(f"fcmp olt {self.real} {x}, {self.constant(0.0)}"), turned, value)

    def _quadrant(self, shifted: str, sine: str, cosine: str) -> tuple[str, str]:
        n = self.cast(shifted, self.real, self.bits)
        odd = self.put(f"icmp ne {self.bits} {self.whole('and', n, self.integer(1))}, {self.integer(0)}")
        results = []
        for first, second, step in ((cosine, sine, 0), (sine, cosine, 1)):
            turned = self.whole("add", n, self.integer(step)) if step else n
            shifted_bit = self.whole("shl", turned, self.integer(self.precision.bits - 2))
            sign = self.whole("and", shifted_bit, self.integer(-(2 ** (self.precision.bits - 1))))
            chosen = self.cast(self.select(odd, first, second), self.real, self.bits)
            results.append(self.cast(self.whole("xor", chosen, sign), self.bits, self.real))
        return results[0], results[1]
