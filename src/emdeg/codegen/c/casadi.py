"""The entry points that CasADi loads: its C interface over the emitted function and over its derivatives.

CasADi stores matrices column by column and may leave out an input (zeros) or an output (not wanted). Beside a function
it looks for the function's Jacobian, its forward and adjoint derivatives, and the Jacobian of the adjoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from emdeg.programs import OutputGroup, Pattern, Program, companions_of, matrix_shape

Named = tuple[str, Pattern]


def entry_point(program: Program, name: str, constants: Program | None) -> str:
    """C text; `constants` computes the constants where parameters are inputs of the CasADi function."""
    outer = _outer_inputs(program, constants)
    calls = []
    if constants is not None:
        calls += [
            f"    double constants[{max(len(constants.outputs[0].entries), 1)}];",
            f"    {name}_constants({_joined(constants)});",
        ]
    calls.append(f"    {name}({_joined(program)});")
    inputs = [(group_name, Pattern.dense(size)) for group_name, size in outer]
    outputs = [(group.name, Pattern.dense(*matrix_shape(group.shape))) for group in program.outputs]
    places = {group.name: f"{group.name}[{_row_by_row(group)}]" for group in program.outputs}
    return _wrapped(_entry(f"{name}_casadi", inputs, outputs, _results(program), calls, places))


def derivative_entry_points(
    program: Program, name: str, function: Callable[[Program], str], slopes: Program | None = None
) -> str:
    """C text of what CasADi looks for beside `<name>_casadi`; `function` writes a program's own C function.

    `slopes` is a program of its Jacobian, if there is a short one (see `companions_of`).
    """
    texts = []
    for one in companions_of(program, slopes):
        entry = f"{one.prefix}_{name}_casadi"
        own = replace(one.program, name=f"{name}_{one.prefix}")
        called = [own] if one.jacobian is None else [own, replace(one.jacobian, name=f"{name}_jac")]
        called = [each for each in called if each.outputs]
        calls = [f"    {each.name}({_joined(each)});" for each in called]
        arrays = [array for each in called for array in _results(each)]
        texts += [function(own)] if own.outputs else []
        texts += [_table(entry, output, order) for output, (_, order) in one.taken.items() if not _in_order(order)]
        places = {
            output: f"{array}[i]" if _in_order(order) else f"{array}[of_{entry}_{output}[i]]"
            for output, (array, order) in one.taken.items()
        }
        of_parts = [
            [name for name, (array, _) in one.taken.items() if array in dict(_results(each))] for each in called
        ]
        texts.append(_entry(entry, one.inputs, one.outputs, arrays, calls, places, of_parts))
    return _wrapped("\n".join(texts))


def _in_order(order: Sequence[int]) -> bool:
    return list(order) == list(range(len(order)))


def _table(entry: str, output: str, order: Sequence[int]) -> str:
    """Where the nonzeros of an output stand in an array of another order."""
    return f"static const int of_{entry}_{output}[{len(order)}] = {{{', '.join(map(str, order))}}};"


def _results(program: Program) -> list[tuple[str, int]]:
    return [(group.name, len(group.entries)) for group in program.outputs]


def _wrapped(text: str) -> str:
    return f"#ifndef EMDEG_FLOAT\n{text}\n#endif\n"


def _entry(
    entry: str,
    inputs: Sequence[Named],
    outputs: Sequence[Named],
    arrays: Sequence[tuple[str, int]],
    calls: Sequence[str],
    places: Mapping[str, str],
    of_parts: Sequence[Sequence[str]] = (),
) -> str:
    """The entry point: inputs copied, zeros for those left out; the calls, which fill the arrays; outputs where wanted.

    `places` says where nonzero i of each output that has any stands. `of_parts`: where there are two calls, the outputs
    of each, which is left out where none of them is wanted.
    """
    signature = f"int {entry}(const double **arg, double **res, long long int *iw, double *w, int mem)"
    lines = [f"{signature};", signature, "{"]
    taken = [(place, name, len(one.places)) for place, (name, one) in enumerate(inputs) if one.places]
    given = {name: (place, len(one.places)) for place, (name, one) in enumerate(outputs) if one.places}
    lines += [f"    double {name}[{size}];" for _, name, size in taken]
    # What has no entry may still be an argument of the function.
    lines += [f"    double {name}[1];" for name, one in inputs if not one.places and _names(calls, name)]
    lines += [f"    double {name}[{max(size, 1)}];" for name, size in arrays]
    lines += ["    size_t i;", "    (void)arg; (void)res; (void)iw; (void)w; (void)mem;"]
    for place, name, size in taken:
        lines.append(f"    for (i = 0; i < {size}; ++i) {name}[i] = arg[{place}] ? arg[{place}][i] : 0.0;")
    lines += [f"    (void){name};" for _, name, _ in taken if not _names(calls, name)]

    def copied(names: Iterable[str]) -> list[str]:
        return [
            f"    if (res[{place}]) for (i = 0; i < {size}; ++i) res[{place}][i] = {places[name]};"
            for name, (place, size) in ((name, given[name]) for name in names)
        ]

    if len(of_parts) > 1:
        for call, names in zip(calls, of_parts, strict=True):
            wanted = " || ".join(f"res[{given[name][0]}]" for name in names)
            lines += [f"    if ({wanted}) {{", *(f"    {line}" for line in (call, *copied(names))), "    }"]
    else:
        lines += [*calls, *copied(given)]
    if not taken and not given:
        lines.append("    (void)i;")
    lines += ["    return 0;", "}", *_questions(entry, inputs, outputs)]
    return "\n".join(lines)


def _names(calls: Sequence[str], name: str) -> bool:
    return any(f" {name}," in call.replace("(", " ") or f" {name})" in call.replace("(", " ") for call in calls)


def _questions(entry: str, inputs: Sequence[Named], outputs: Sequence[Named]) -> list[str]:
    """What CasADi asks of a function it loads: counts, names, patterns, work space."""
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
        ]
        for name, one in groups:
            numbers = sparsity(one)
            lines.append(
                f"    static const long long int of_{name}[{len(numbers)}] = {{{', '.join(map(str, numbers))}}};"
            )
        lines += [f"    if (i == {place}) return of_{name};" for place, (name, _) in enumerate(groups)]
        lines += ["    return 0;", "}"]
    return [*lines, *work_function(entry, "long long int", len(inputs), len(outputs))]


def work_function(entry: str, integer: str, inputs: int, outputs: int) -> list[str]:
    """`<entry>_work`, which tells a caller how much room to hand over: pointers to arrays, nothing else."""
    work = ", ".join(f"{integer} *{name}" for name in ("sz_arg", "sz_res", "sz_iw", "sz_w"))
    return [
        f"int {entry}_work({work});",
        f"int {entry}_work({work})",
        "{",
        f"    if (sz_arg) *sz_arg = {inputs};",
        f"    if (sz_res) *sz_res = {outputs};",
        "    if (sz_iw) *sz_iw = 0;",
        "    if (sz_w) *sz_w = 0;",
        "    return 0;",
        "}",
    ]


def sparsity(pattern: Pattern) -> list[int]:
    """CasADi's compressed columns: rows, columns, where each column starts, the rows; a short form if it is dense."""
    if pattern.is_dense:
        return [pattern.rows, pattern.columns, 1]
    starts = [sum(place[1] < j for place in pattern.places) for j in range(pattern.columns + 1)]
    return [pattern.rows, pattern.columns, *starts, *(row for row, _ in pattern.places)]


def _outer_inputs(program: Program, constants: Program | None) -> list[tuple[str, int]]:
    inner = [(g.name, g.size) for g in program.inputs if constants is None or g.name != "constants"]
    return inner + [(g.name, g.size) for g in (constants.inputs if constants else ())]


def _joined(program: Program) -> str:
    return ", ".join(group.name for group in (*program.inputs, *program.outputs))


def _row_by_row(group: OutputGroup) -> str:
    """Where entry i of the columns stands in the rows."""
    rows, columns = matrix_shape(group.shape)
    return f"(i % {rows}) * {columns} + i / {rows}"
