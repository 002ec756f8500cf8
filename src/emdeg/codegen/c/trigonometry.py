"""The helpers of an emitted file: precision, literals, sine and cosine from the library or inlined."""

from __future__ import annotations

import re

from emdeg.programs.sine import DOUBLE, SINGLE, TrigTable

PRECISION = """\
#include <math.h>
#include <stddef.h>

/* double by default; compile with -DEMDEG_FLOAT for float */
#ifdef EMDEG_FLOAT
typedef float emdeg_real;
#define SQRT(x) sqrtf(x)
#else
typedef double emdeg_real;
#define SQRT(x) sqrt(x)
#endif
#define R(x) ((emdeg_real)(x))
"""

_LIBRARY = """\
#ifdef EMDEG_FLOAT
#define SIN(x) sinf(x)
#define COS(x) cosf(x)
#else
#define SIN(x) sin(x)
#define COS(x) cos(x)
#endif
"""
_LIBRARY_PAIR = """\
#define SINCOS(x, s, c) emdeg_sincos(x, s, c)
static inline void emdeg_sincos(emdeg_real x, emdeg_real *s, emdeg_real *c) { *s = SIN(x); *c = COS(x); }
"""
_INLINE_SINE = """\
#define SIN(x) emdeg_sin(x)
static inline emdeg_real emdeg_sin(emdeg_real x) { emdeg_real s, c; emdeg_sincos(x, &s, &c); return s; }
"""
_INLINE_COSINE = """\
#define COS(x) emdeg_cos(x)
static inline emdeg_real emdeg_cos(emdeg_real x) { emdeg_real s, c; emdeg_sincos(x, &s, &c); return c; }
"""


_INLINE_MANY = """\
#define SINCOS_MANY(n, x, s, c) emdeg_sincos_many(n, x, s, c)
static inline void emdeg_sincos_many(int n, const emdeg_real *x, emdeg_real *s, emdeg_real *c)
{
    for (int i = 0; i < n; ++i) emdeg_sincos(x[i], &s[i], &c[i]);
}
"""


def library(code: str) -> str:
    """Sine and cosine from the library, as far as `code` uses them: compilers warn of unused functions."""
    if not _used("SIN|COS|SINCOS", code):
        return ""
    return _LIBRARY + (_LIBRARY_PAIR if _used("SINCOS", code) else "")


def inline(code: str) -> str:
    """Sine and cosine by range reduction and minimax polynomials, as far as `code` uses them."""
    if not _used("SIN|COS|SINCOS|SINCOS_MANY", code):
        return ""
    helpers = {"SIN": _INLINE_SINE, "COS": _INLINE_COSINE, "SINCOS_MANY": _INLINE_MANY}
    return _INLINE + "".join(text for name, text in helpers.items() if _used(name, code))


def _used(names: str, code: str) -> bool:
    return re.search(rf"\b(?:{names})\(", code) is not None


def _inline() -> str:
    return f"""\
#include <stdint.h>
#include <string.h>

/* Sine and cosine without a library. Error at most {DOUBLE.ulps:g} units in the last place in double and
   {SINGLE.ulps:g} in float for arguments up to {DOUBLE.reach:g}; NaN, never a wrong number, far beyond that.
   Rounding to an integer by adding and subtracting a large number is what -ffast-math breaks. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math (or choose the library's sine and cosine)"
#endif
#ifdef EMDEG_FLOAT
typedef uint32_t emdeg_bits;
{_helper(SINGLE, 32)}#else
typedef uint64_t emdeg_bits;
{_helper(DOUBLE, 64)}#endif
#define SINCOS(x, s, c) emdeg_sincos(x, s, c)
"""


def _helper(table: TrigTable, bits: int) -> str:
    reduction = "x"
    for part in table.half_pi_parts:
        reduction = f"({reduction} - k * R({part!r}))"
    return f"""\
static inline void emdeg_sincos(emdeg_real x, emdeg_real *s, emdeg_real *c)
{{
    const emdeg_real shifted = x * R({table.two_over_pi!r}) + R({table.rounder!r});
    const emdeg_real k = shifted - R({table.rounder!r});
    const emdeg_real in_reach = k * k <= R({table.most_quarters**2!r}) ? R(1.0) : R(NAN);
    const emdeg_real r = {reduction} * in_reach;
    const emdeg_real z = r * r;
    const emdeg_real sine = r + r * z * {_horner(table.sine)};
    const emdeg_real cosine = {_horner((1.0, -0.5, *table.cosine))};
    emdeg_bits n, sine_bits, cosine_bits;
    memcpy(&n, &shifted, sizeof n);
    const emdeg_real first = (n & 1u) ? cosine : sine;
    const emdeg_real second = (n & 1u) ? sine : cosine;
    memcpy(&sine_bits, &first, sizeof n);
    memcpy(&cosine_bits, &second, sizeof n);
    sine_bits ^= (n & 2u) << {bits - 2};
    cosine_bits ^= ((n + 1u) & 2u) << {bits - 2};
    memcpy(s, &sine_bits, sizeof n);
    memcpy(c, &cosine_bits, sizeof n);
}}
"""


def _horner(coefficients: tuple[float, ...]) -> str:
    text = f"R({coefficients[-1]!r})"
    for coefficient in reversed(coefficients[:-1]):
        text = f"(R({coefficient!r}) + z * {text})"
    return text


_INLINE = _inline()
