"""A program as a header of C++17: templates over the scalar, arrays of fixed size in, arrays of fixed size out."""

from __future__ import annotations

from emdeg.codegen.infix import Language, body, header, identifier, parts, unused
from emdeg.programs import Kind, Program

LANGUAGE = Language(
    number=lambda value: f"Scalar({float(value)!r})",
    element=lambda name, place: f"{name}[{place}]",
    declare=lambda name, text: f"const Scalar {name} = {text};",
    sincos=lambda sine, cosine, angle: [
        *([f"const Scalar {sine} = sin({angle});"] if sine else []),
        *([f"const Scalar {cosine} = cos({angle});"] if cosine else []),
    ],
    sqrt=lambda text: f"sqrt({text})",
    # A type with expression templates: what a ternary or a library's function takes is a scalar.
    law=lambda name, text: f"{name}(Scalar({text}))",
)


def emit_cpp(
    program: Program, *, name: str | None = None, robot: str = "", command: str = "", multirate: bool = False
) -> str:
    """The text of `<name>.hpp`: `emdeg::<name>` from `std::array`s to one, or to a tuple of several, row by row.

    Sines, cosines and roots are found beside the scalar's type, so that automatic differentiation goes through.
    """
    name = identifier(name or program.name)
    guard = f"EMDEG_{name.upper()}_HPP"
    lines = [f"// {line}".rstrip() for line in header(program, name, robot, command, multirate)]
    lines += [
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <array>",
        "#include <cmath>",
        "#include <tuple>",
    ]
    lines += ["", "namespace emdeg {"]
    for part in parts(program, name, multirate):
        lines += ["", *_function(part)]
    return "\n".join([*lines, "", "}  // namespace emdeg", "", f"#endif  // {guard}", ""])


_STANDARD = {Kind.SIN: "sin", Kind.COS: "cos", Kind.SQRT: "sqrt", Kind.EXP: "exp", Kind.TANH: "tanh"}
_SIGN = (
    "const auto sign = [](const Scalar &x) {",
    "    return x > Scalar(0.0) ? Scalar(1.0) : x < Scalar(0.0) ? Scalar(-1.0) : x;",
    "};",
)


def _function(program: Program) -> list[str]:
    statements = body(program, LANGUAGE)
    used = [word for word in _STANDARD.values() if any(f"{word}(" in line for line in statements)]
    arrays = {group.name: f"std::array<Scalar, {len(group.entries)}>" for group in program.outputs}
    inputs = ", ".join(f"const std::array<Scalar, {group.size}> &{group.name}" for group in program.inputs)
    result = next(iter(arrays.values())) if len(arrays) == 1 else f"std::tuple<{', '.join(arrays.values())}>"
    inner = [f"using std::{word};" for word in used]
    inner += _SIGN if any("sign(" in line for line in statements) else ()
    inner += [f"(void){name};" for name in unused(program) if name not in arrays]
    inner += [f"{kind} {name};" for name, kind in arrays.items()]
    inner += [*statements, f"return {next(iter(arrays)) if len(arrays) == 1 else '{' + ', '.join(arrays) + '}'};"]
    return [
        "template <class Scalar>",
        f"{result} {program.name}({inputs})",
        "{",
        *(f"    {line}" for line in inner),
        "}",
    ]
