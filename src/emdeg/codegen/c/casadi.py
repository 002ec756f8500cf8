"""The entry point that CasADi and acados load: CasADi's C interface over the emitted function.

CasADi stores matrices column by column and may leave out an input (zeros) or an output (not wanted).
"""

from __future__ import annotations

import math

from emdeg.programs import OutputGroup, Program


def entry_point(program: Program, name: str, constants: Program | None) -> str:
    """C text; `constants` computes the constants where parameters are inputs of the CasADi function."""
    outer = _outer_inputs(program, constants)
    entry = f"{name}_casadi"
    calls = []
    if constants is not None:
        calls.append(f"    {name}_constants({_joined(constants)});")
    calls.append(f"    {name}({_joined(program)});")
    lines = [
        "#ifndef EMDEG_FLOAT",
        f"int {entry}(const double **arg, double **res, long long int *iw, double *w, int mem);",
        f"int {entry}(const double **arg, double **res, long long int *iw, double *w, int mem)",
        "{",
        *(f"    double {group_name}[{max(size, 1)}];" for group_name, size in outer),
        *(f"    double {group.name}[{max(len(group.entries), 1)}];" for group in program.outputs),
    ]
    if constants is not None:
        lines.append(f"    double constants[{max(len(constants.outputs[0].entries), 1)}];")
    lines += ["    size_t i;", "    (void)iw; (void)w; (void)mem;"]
    for place, (group_name, size) in enumerate(outer):
        lines.append(f"    for (i = 0; i < {size}; ++i) {group_name}[i] = arg[{place}] ? arg[{place}][i] : 0.0;")
    lines += calls
    for place, group in enumerate(program.outputs):
        rows, columns = _matrix(group)
        if not group.entries:
            continue
        lines.append(
            f"    if (res[{place}]) for (i = 0; i < {rows * columns}; ++i) "
            f"res[{place}][i] = {group.name}[(i % {rows}) * {columns} + i / {rows}];"
        )
    lines += ["    return 0;", "}"]
    lines += _questions(entry, [(n, (s, 1)) for n, s in outer], [(g.name, _matrix(g)) for g in program.outputs])
    lines.append("#endif")
    return "\n".join(lines) + "\n"


def _questions(
    entry: str, inputs: list[tuple[str, tuple[int, int]]], outputs: list[tuple[str, tuple[int, int]]]
) -> list[str]:
    """What CasADi asks of a function it loads: counts, names, shapes, work space."""
    lines = []
    for direction, groups in (("in", inputs), ("out", outputs)):
        lines += [
            f"long long int {entry}_n_{direction}(void);",
            f"long long int {entry}_n_{direction}(void) {{ return {len(groups)}; }}",
            f"const char *{entry}_name_{direction}(long long int i);",
            f"const char *{entry}_name_{direction}(long long int i)",
            "{",
            *(f'    if (i == {place}) return "{name}";' for place, (name, _) in enumerate(groups)),
            "    return 0;",
            "}",
            f"const long long int *{entry}_sparsity_{direction}(long long int i);",
            f"const long long int *{entry}_sparsity_{direction}(long long int i)",
            "{",
            # Rows, columns, 1: CasADi's short form of a dense matrix.
            *(
                f"    static const long long int dense_{name}[3] = {{{rows}, {columns}, 1}};"
                for name, (rows, columns) in groups
            ),
            *(f"    if (i == {place}) return dense_{name};" for place, (name, _) in enumerate(groups)),
            "    return 0;",
            "}",
        ]
    work = "long long int *sz_arg, long long int *sz_res, long long int *sz_iw, long long int *sz_w"
    lines += [
        f"int {entry}_work({work});",
        f"int {entry}_work({work})",
        "{",
        f"    if (sz_arg) *sz_arg = {len(inputs)};",
        f"    if (sz_res) *sz_res = {len(outputs)};",
        "    if (sz_iw) *sz_iw = 0;",
        "    if (sz_w) *sz_w = 0;",
        "    return 0;",
        "}",
    ]
    return lines


def _outer_inputs(program: Program, constants: Program | None) -> list[tuple[str, int]]:
    inner = [(g.name, g.size) for g in program.inputs if constants is None or g.name != "constants"]
    return inner + [(g.name, g.size) for g in (constants.inputs if constants else ())]


def _joined(program: Program) -> str:
    return ", ".join(group.name for group in (*program.inputs, *program.outputs))


def _matrix(group: OutputGroup) -> tuple[int, int]:
    if len(group.shape) == 2:
        return group.shape[0], group.shape[1]
    return math.prod(group.shape), 1
