"""A C file: header comment, helpers, functions. The same program and options give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from emdeg.codegen.c.acados import acados_functions
from emdeg.codegen.c.casadi import entry_points
from emdeg.codegen.c.memory import HELPERS, MEMORY, NEAR, rooms
from emdeg.codegen.infix import Language, allocated_body, body, escaped, header, identifier, parts, unused
from emdeg.programs import (
    DOUBLE,
    SINGLE,
    InputGroup,
    Program,
    TrigTable,
    allocated,
    angles_first,
    for_one_state,
    in_given_order,
    quickest,
    split_constants,
)


@dataclass(frozen=True, slots=True)
class COptions:
    """What to emit beside the function itself. `robot` and `command` appear in the header comment only."""

    trig: Literal["libm", "inline"] = "libm"
    batch: bool = False
    casadi: bool = False
    acados: bool = False
    multirate: bool = False
    single: bool = False
    """Float unless the compiler is told otherwise, instead of double."""
    robot: str = ""
    command: str = ""
    slopes: Program | None = None
    """A program of the function's Jacobian, for `casadi` (see `companions_of`)."""


def emit_c(program: Program, options: COptions | None = None, *, name: str | None = None) -> str:
    """The text of `<name>.c`; `name` defaults to the program's and is made an identifier.

    Where parameters are inputs, `<name>_constants` computes the constants once and the function takes them
    after its other inputs.
    """
    options = options or COptions()
    name = identifier(name or program.name)
    functions = parts(program, name, options.multirate)
    _, main = split_constants(replace(program, name=name))
    texts = [_function(part, options.trig == "inline") for part in functions]
    if options.batch:
        texts.append(_batch(main))
    derivative = partial(_function, together=options.trig == "inline", scope="static ")
    if options.casadi:
        texts.append(entry_points(program, name, derivative, options.slopes))
    if options.acados:
        texts.append(acados_functions(program, name, derivative))
    lines = header(program, name, options.robot, options.command, options.multirate)
    if options.batch:
        lines += ["", f"{name}_batch takes arrays component by component: entry j of state i at [j*count + i]."]
    return _file(lines, "\n".join(texts), options)


def _file(comment: Sequence[str], code: str, options: COptions) -> str:
    """A file's text: its comment, what its code uses, its code with C's linkage."""
    trigonometry = (inline(code) if options.trig == "inline" else library(code)) + laws(code)
    memory = HELPERS if _used("ROOM", code) else ""
    precision = (_SINGLE + PRECISION if options.single else PRECISION) + ONE_STATE
    linkage = "\n".join([*_FROM_C, "", code, *_TO_C, ""])
    return "\n".join(filter(None, [_comment(comment) + "\n", precision, trigonometry, memory, linkage]))


def _comment(lines: Sequence[str]) -> str:
    return "/* " + "\n".join(f"   {line}" if line else "" for line in lines)[3:] + " */"


def c_text_of(programs: Sequence[Program], comment: Sequence[str], **options: Any) -> str:
    """The text of a C file with a function for each program, by its name, and `comment` at its head."""
    chosen = COptions(trig=options["trig"], single=options["single"])
    return _file(comment, "\n".join(_function(program, chosen.trig == "inline") for program in programs), chosen)


# Compiled as C++ too, the functions keep C's names.
_FROM_C = ("#ifdef __cplusplus", 'extern "C" {', "#endif")
_TO_C = ("#ifdef __cplusplus", "}", "#endif")


def beside_c(text: str, program: Program, *, name: str, **words: Any) -> dict[str, str]:
    """The header that goes with `<name>.c`, by its file's name."""
    return {f"{name}.h": c_header(program, name=name, **words)}


def c_header(
    program: Program, *, name: str, meaning: str, units: Mapping[str, str], batch: bool = False, **options: Any
) -> str:
    """The text of `<name>.h`: every function of `<name>.c`, with the size, the unit and the joints of each array."""
    functions = parts(program, name, options.get("multirate", False))
    outputs = {group.name for group in program.outputs}
    shown: dict[str, str] = {}
    for group in (group for part in functions for group in (*part.inputs, *part.outputs)):
        size = group.size if isinstance(group, InputGroup) else len(group.entries)
        kind = _HANDED.get(group.name) or f"{'out' if group.name in outputs else 'in'} [{units.get(group.name, 'SI')}]"
        names = ", ".join(map(escaped, group.labels)) if isinstance(group, InputGroup) else ""
        shown[group.name] = f"{group.name}[{size}]  {kind}" + (f": {names}" if names else "")
    more = []
    if batch:
        main = next(part for part in functions if part.name == name)
        more.append("/* Component by component: entry j of state i at [j*count + i]; outputs apart from inputs. */")
        more.append(_prototype(main, f"{name}_real", "_batch"))
    words = [f"{name}.h: generated by emdeg, do not edit.", *(["", escaped(meaning)] if meaning else []), ""]
    words += [
        *shown.values(),
        "",
        "Matrices are stored row by row. An output may overwrite an input of the same state.",
    ]
    return c_prototypes(functions, name, words, more, **options)


def c_prototypes(
    programs: Sequence[Program], name: str, comment: Sequence[str], more: Sequence[str] = (), **options: Any
) -> str:
    """The text of the header `<name>.h`: `comment`, and a declaration for each program, and `more`."""
    real, guard, single = f"{name}_real", f"EMDEG_{name.upper()}_H", options.get("single", False)
    kind = "float" if single else "double"
    choice = [
        f"/* {kind}; define as {name}.c is compiled */",
        "#ifndef EMDEG_DOUBLE" if single else "#ifdef EMDEG_FLOAT",
        *[f"typedef float {real};", "#else", f"typedef double {real};", "#endif"],
    ]
    if options.get("made_as"):
        choice = [f"/* as {options['made_as']} was made */", f"typedef {kind} {real};"]
    lines = [
        *[_comment(comment), f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", "", *choice, ""],
        *[*_FROM_C, "", *(_prototype(program, real) for program in programs), *more, "", *_TO_C, ""],
        *[f"#endif /* {guard} */", ""],
    ]
    return "\n".join(lines)


_HANDED = {"constants": "made once by _constants", "x": "made by _configuration for _rates"}


def _prototype(program: Program, real: str, suffix: str = "") -> str:
    arrays = [f"const {real} *{group.name}" for group in program.inputs]
    arrays += [f"{real} *{group.name}" for group in program.outputs]
    return f"void {program.name}{suffix}({', '.join([*(['size_t count'] if suffix else []), *arrays])});"


def c_text(program: Program, *, name: str, **options: Any) -> str:
    """The text of `<name>.c` with these options of `COptions`, called as every target's printer is."""
    return emit_c(program, COptions(**options), name=name)


_SINGLE = """\
/* float; compile with -DEMDEG_DOUBLE for double */
#ifndef EMDEG_DOUBLE
#define EMDEG_FLOAT
#endif
"""


LONG = 700
"""Values from which on moving them between registers and memory is better planned than left to a compiler."""


def _function(program: Program, together: bool, scope: str = "") -> str:
    """The function of a program. `scope`: "static " for one that nobody outside of the file sees, a derivative.

    Derivatives stand in the order that differentiation gives them: to look for a quicker one takes longer than a
    compiler takes, and saves a hundredth of the time that they run.
    """
    signature = f"{scope}void {program.name}({parameters(program)})"
    if program.size > LONG:
        instructions = in_given_order(program) if scope else quickest(program, waves_lie=together)
        allocation = allocated(instructions, waves_lie=together, near=NEAR)
        statements = rooms(allocation.places) + allocated_body(allocation, _language(one_state, together), MEMORY)
    else:
        statements = _body(for_one_state(program), one_state, together)
    lines = ["    " + line for line in _void(program) + statements]
    return "\n".join([f"ONE_STATE {signature};", signature, "{", *lines, "}", ""])


def _batch(program: Program) -> str:
    """A loop over states that compilers turn into vector instructions."""
    signature = f"void {program.name}_batch(size_t count, {parameters(program, 'EMDEG_RESTRICT ')})"
    lines = [*_RESTRICT, *_NO_COMPLAINT, f"{signature};", signature, "{"]
    lines += ["    " + line for line in _void(program)]
    constant = next((group.name for group in program.inputs if group.name == "constants"), None)

    def element(name: str, place: int) -> str:
        return one_state(name, place) if name == constant else of_many(name, place)

    lines += [*_INDEPENDENT, "    for (size_t i = 0; i < count; ++i) {"]
    lines += ["        " + line for line in _body(program, element)]
    return "\n".join([*lines, "    }", "}"]) + "\n"


# Components of one array never overlap, which a compiler cannot see from a stride that is a variable.
_INDEPENDENT = (
    "#if defined(__clang__)",
    "#pragma clang loop vectorize(assume_safety)",
    "#elif defined(__GNUC__)",
    "#pragma GCC ivdep",
    "#endif",
)
_RESTRICT = (
    "#ifdef __cplusplus",
    "#define EMDEG_RESTRICT __restrict",
    "#else",
    "#define EMDEG_RESTRICT restrict",
    "#endif",
)
# Without optimisation, or with the library's sine, nothing is vectorised, and that is no error.
_NO_COMPLAINT = (
    "#if defined(__clang__)",
    '#pragma clang diagnostic ignored "-Wpass-failed"',
    "#endif",
)


REAL = "emdeg_real"


def number(value: Fraction) -> str:
    """A literal that denotes the double nearest to `value`, in the chosen precision."""
    return f"R({float(value)!r})"


def _sincos(sine: str | None, cosine: str | None, angle: str) -> list[str]:
    if cosine is None:
        return [f"const {REAL} {sine} = SIN({angle});"]
    if sine is None:
        return [f"const {REAL} {cosine} = COS({angle});"]
    return [f"{REAL} {sine}, {cosine};", f"SINCOS({angle}, &{sine}, &{cosine});"]


def _together(angles: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    many = len(angles)
    room = many + (many % 4 == 3)
    filled = [*angles, *["R(0.0)"] * (room - many)]
    lines = [f"{REAL} angles[{room}], sines[{room}], cosines[{room}];"]
    for first in range(0, room, 4):
        row = filled[first : first + 4]
        if len(row) > 1:
            lines.append(f"{'TWO' if len(row) == 2 else 'FOUR'}(angles, {first}, {', '.join(row)});")
        else:
            lines.append(f"angles[{first}] = {row[0]};")
    lines.append(f"SINCOS_MANY({many}, angles, sines, cosines);")
    return lines, [(f"sines[{place}]", f"cosines[{place}]") for place in range(many)]


def _language(element: Callable[[str, int], str], together: bool) -> Language:
    return Language(
        number=number,
        element=element,
        declare=lambda name, text: f"const {REAL} {name} = {text};",
        sincos=_sincos,
        sqrt=lambda text: f"SQRT({text})",
        law=lambda name, text: f"{name.upper()}({text})",
        together=_together if together else None,
    )


def _body(program: Program, element: Callable[[str, int], str], together: bool = False) -> list[str]:
    """Statements that compute and store; `element` writes an entry of an array, input or output.

    `together`: sines and cosines of all angles in one call, whose loop becomes vector instructions.
    """
    return body(angles_first(program) if together else program, _language(element, together))


def one_state(name: str, place: int) -> str:
    return f"{name}[{place}]"


def of_many(name: str, place: int) -> str:
    """An entry in structure-of-arrays order: component by component, each over all states."""
    return f"{name}[{place}*count + i]"


def parameters(program: Program, qualifier: str = "") -> str:
    """The parameter list: inputs, then outputs."""
    inputs = [f"const {REAL} *{qualifier}{group.name}" for group in program.inputs]
    outputs = [f"{REAL} *{qualifier}{group.name}" for group in program.outputs]
    return ", ".join(inputs + outputs)


def _void(program: Program) -> list[str]:
    return [f"(void){name};" for name in unused(program)]


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

ONE_STATE = """\
/* A vector of eight for the few that one state has would slow down all that is not a vector. */
#if defined(__AVX512F__) && __GNUC__ >= 8 && !defined(__clang__) && !defined(__INTEL_COMPILER)
#define ONE_STATE __attribute__((target("prefer-vector-width=256")))
#else
#define ONE_STATE
#endif
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
/* Four at a time fit a vector: where one is missing, the arrays have room for it. */
#define SINCOS_MANY(n, x, s, c) emdeg_sincos_many((n) + ((n) % 4 == 3), x, s, c)
static inline void emdeg_sincos_many(int n, const emdeg_real *x, emdeg_real *s, emdeg_real *c)
{
    for (int i = 0; i < n; ++i) emdeg_sincos(x[i], &s[i], &c[i]);
}
/* A vector read where its parts were just written waits until all before it is done: they are written as one. */
#if defined(__GNUC__)
typedef emdeg_real emdeg_two __attribute__((vector_size(2 * sizeof(emdeg_real))));
typedef emdeg_real emdeg_four __attribute__((vector_size(4 * sizeof(emdeg_real))));
#define TWO(x, at, a, b) do { const emdeg_two two = {a, b}; memcpy(&x[at], &two, sizeof two); } while (0)
#define FOUR(x, at, a, b, c, d) \\
    do { const emdeg_four four = {a, b, c, d}; memcpy(&x[at], &four, sizeof four); } while (0)
#else
#define TWO(x, at, a, b) do { x[at] = a; x[(at) + 1] = b; } while (0)
#define FOUR(x, at, a, b, c, d) do { TWO(x, at, a, b); TWO(x, (at) + 2, c, d); } while (0)
#endif
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


_LAWS = {
    "EXP": ("#define EXP(x) expf(x)", "#define EXP(x) exp(x)"),
    "TANH": ("#define TANH(x) tanhf(x)", "#define TANH(x) tanh(x)"),
}
_SIGN = """\
#define SIGN(x) emdeg_sign(x)
static inline emdeg_real emdeg_sign(emdeg_real x) { return x > R(0.0) ? R(1.0) : x < R(0.0) ? R(-1.0) : x; }
"""


def laws(code: str) -> str:
    """What laws of friction are made of, as far as `code` uses it."""
    used = [pair for name, pair in _LAWS.items() if _used(name, code)]
    lines = ["#ifdef EMDEG_FLOAT", *(a for a, _ in used), "#else", *(b for _, b in used), "#endif", ""] if used else []
    return "\n".join(lines) + (_SIGN if _used("SIGN", code) else "")


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
    const emdeg_real r = {reduction};
    const emdeg_real z = r * r, zz = z * z;
    const emdeg_real sine = r + r * z * in_reach * {_by_pairs(table.sine)};
    const emdeg_real cosine = R(1.0) - R(0.5) * z + zz * in_reach * {_by_pairs(table.cosine)};
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


def _by_pairs(coefficients: tuple[float, ...]) -> str:
    """The polynomial of z, two powers at a time: the chain of operations is half as long as Horner's."""
    *pairs, last = (_pair(coefficients[k : k + 2]) for k in range(0, len(coefficients), 2))
    for pair in reversed(pairs):
        last = f"({pair} + zz * {last})"
    return last


def _pair(coefficients: tuple[float, ...]) -> str:
    texts = [f"R({coefficient!r})" for coefficient in coefficients]
    return f"({texts[0]} + z * {texts[1]})" if len(texts) > 1 else texts[0]


_INLINE = _inline()
