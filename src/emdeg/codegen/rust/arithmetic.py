"""Sine, cosine, square root and friction's laws in Rust without a library, from the numbers that all targets share."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from emdeg.programs import DOUBLE, SINGLE
from emdeg.runtime import EXPONENTIALS, LOG2_E, TANH_SERIES

_NEEDS = {"tanh": ("exp",)}


def helpers(code: Sequence[str], single: bool) -> list[str]:
    """Lines of the private functions that the lines of `code` call."""
    text = "\n".join(code)
    wanted = [name for name in _WRITERS if f"{name}(" in text]
    wanted += [name for each in wanted for name in _NEEDS.get(each, ()) if name not in wanted]
    return [line for name in _WRITERS if name in wanted for line in ("", *_WRITERS[name](single).splitlines())]


def literal(value: float, single: bool) -> str:
    """The shortest literal that denotes the number of its type nearest to `value`."""
    if not single:
        return repr(value)
    nearest = _single(value)
    texts = (f"{nearest:.{digits}g}" for digits in range(1, 18))
    return repr(float(next(text for text in texts if _single(float(text)) == nearest)))


def _single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def _horner(coefficients: Sequence[float], variable: str, single: bool) -> str:
    text = literal(coefficients[-1], single)
    for coefficient in reversed(coefficients[:-1]):
        text = f"({literal(coefficient, single)} + {variable} * {text})"
    return text


def _bare(text: str) -> str:
    """An expression that stands alone, without the brackets around all of it."""
    return text[1:-1]


def _sincos(single: bool) -> str:
    table, real, bits = (SINGLE, "f32", 32) if single else (DOUBLE, "f64", 64)
    reduction = "x"
    for part in table.half_pi_parts:
        reduction = f"({reduction} - k * {literal(part, single)})"
    return f"""\
/// Sine and cosine: at most {table.ulps:g} units in the last place up to {table.reach:g}, NaN far beyond that.
#[allow(clippy::approx_constant, clippy::excessive_precision)]
fn sincos(x: {real}) -> ({real}, {real}) {{
    let shifted = x * {literal(table.two_over_pi, single)} + {literal(table.rounder, single)};
    let k = shifted - {literal(table.rounder, single)};
    let in_reach = if k * k <= {literal(table.most_quarters**2, single)} {{ 1.0 }} else {{ {real}::NAN }};
    let r = {reduction} * in_reach;
    let z = r * r;
    let sine = r + r * z * {_horner(table.sine, "z", single)};
    let cosine = {_bare(_horner((1.0, -0.5, *table.cosine), "z", single))};
    let n = shifted.to_bits();
    let (first, second) = if n & 1 == 1 {{ (cosine, sine) }} else {{ (sine, cosine) }};
    (
        {real}::from_bits(first.to_bits() ^ ((n & 2) << {bits - 2})),
        {real}::from_bits(second.to_bits() ^ ((n.wrapping_add(1) & 2) << {bits - 2})),
    )
}}
"""


def _sqrt(single: bool) -> str:
    """By Newton's iteration, then made exact in whole numbers: rounded as IEEE 754 asks."""
    real, word, wide = ("f32", "u32", "u64") if single else ("f64", "u64", "u128")
    mantissa, bias, magic, steps = (23, 127, "0x5f37_59df", 3) if single else (52, 1023, "0x5fe6_eb50_c7b5_37a9", 5)
    smallest = literal(2.0 ** (1 - bias), single)
    up, down = (
        literal(2.0 ** (mantissa + 2 - mantissa % 2), single),
        literal(2.0 ** -((mantissa + 2 - mantissa % 2) // 2), single),
    )
    return f"""\
/// The square root, rounded to nearest: Newton's iteration, made exact in whole numbers.
fn sqrt(x: {real}) -> {real} {{
    if !(x > 0.0 && x < {real}::INFINITY) {{
        return if x >= 0.0 {{ x }} else {{ {real}::NAN }};
    }}
    let (x, back) = if x < {smallest} {{ (x * {up}, {down}) }} else {{ (x, 1.0) }};
    let bits = x.to_bits();
    let odd = ((bits >> {mantissa}) & 1) ^ 1;
    let exponent = (((bits >> {mantissa}) - odd) + {bias}) / 2;
    let whole = ((bits & ((1 << {mantissa}) - 1)) | (1 << {mantissa})) << odd;
    let f = {real}::from_bits((bits & ((1 << {mantissa}) - 1)) | (({bias} + odd) << {mantissa}));
    let mut y = {real}::from_bits({magic} - (f.to_bits() >> 1));
    for _ in 0..{steps} {{
        y *= 1.5 - 0.5 * f * y * y;
    }}
    let square = {wide}::from(whole) << {mantissa + 2};
    let mut root = (f * y * {literal(2.0 ** (mantissa + 1), single)}) as {word};
    while {wide}::from(root) * {wide}::from(root) > square {{
        root -= 1;
    }}
    while {wide}::from(root + 1) * {wide}::from(root + 1) <= square {{
        root += 1;
    }}
    {real}::from_bits(((exponent - 1) << {mantissa}) + ((root + 1) >> 1)) * back
}}
"""


def _sign(single: bool) -> str:
    real = "f32" if single else "f64"
    return f"""\
/// 1, 0 or -1; NaN stays what it is.
fn sign(x: {real}) -> {real} {{
    if x > 0.0 {{
        1.0
    }} else if x < 0.0 {{
        -1.0
    }} else {{
        x
    }}
}}
"""


def _exp(single: bool) -> str:
    real, table, numbers = ("f32", SINGLE, EXPONENTIALS[32]) if single else ("f64", DOUBLE, EXPONENTIALS[64])
    reduction = "x"
    for part in numbers.ln2_parts:
        reduction = f"({reduction} - k * {literal(part, single)})"
    series = tuple(1 / math.factorial(i) for i in range(numbers.terms))
    return f"""\
/// exp(x) to a few units in the last place; infinite beyond {numbers.reach:g}, its least below {-numbers.reach:g}.
#[allow(clippy::approx_constant, clippy::excessive_precision)]
fn exp(x: {real}) -> {real} {{
    if x > {literal(numbers.reach, single)} {{
        return {real}::INFINITY;
    }}
    let x = if x < {literal(-numbers.reach, single)} {{ {literal(-numbers.reach, single)} }} else {{ x }};
    let shifted = x * {literal(LOG2_E, single)} + {literal(table.rounder, single)};
    let k = shifted - {literal(table.rounder, single)};
    let r = {_bare(reduction)};
    let power: {real} = {_bare(_horner(series, "r", single))};
    {real}::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << {numbers.mantissa}))
}}
"""


def _tanh(single: bool) -> str:
    real = "f32" if single else "f64"
    return f"""\
/// tanh(x): by exp(-2|x|), and by its series where that would lose digits.
#[allow(clippy::approx_constant, clippy::excessive_precision)]
fn tanh(x: {real}) -> {real} {{
    let size = if x < 0.0 {{ -x }} else {{ x }};
    let e = exp(size * -2.0);
    let z = size * size;
    let value = if size < 0.1 {{ size * {_horner(TANH_SERIES, "z", single)} }} else {{ (1.0 - e) / (1.0 + e) }};
    if x < 0.0 {{
        -value
    }} else {{
        value
    }}
}}
"""


_WRITERS = {"sincos": _sincos, "sqrt": _sqrt, "sign": _sign, "exp": _exp, "tanh": _tanh}
