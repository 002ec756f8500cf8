"""The entry points that CasADi loads: its C interface over the emitted function and over its derivatives.

CasADi stores matrices column by column and may leave out an input (zeros) or an output (not wanted). Beside a function
it looks for the function's Jacobian, its forward and adjoint derivatives, and the Jacobian of the adjoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from emdeg.programs import Pattern, Program, companions_of, matrix_shape, prefixes_of, split_constants

Named = tuple[str, Pattern]
Taken = Mapping[str, tuple[str, Sequence[int]]]
"""Of each output that has entries: the array they stand in, and where."""


def entry_points(program: Program, name: str, function: Callable[[Program], str], slopes: Program | None = None) -> str:
    """C text of `<name>_casadi` and of what CasADi looks for beside it; `function` writes a program's own C function.

    `slopes` is a program of its Jacobian, if there is a short one (see `companions_of`).
    """
    texts = [_own_entry(program, name), *_derivatives(program, name, function, slopes)]
    text = "\n".join(texts)
    shared = [helper for called, helper in _HELPERS.items() if f" {called}(" in text]
    return "\n".join(["#ifndef EMDEG_FLOAT", *([_APART] if shared else []), *shared, text, "#endif", ""])


# Copies in a function of their own: inlined and unrolled at every call they would be a tenth of a compiler's work.
_APART = """\
#if defined(__GNUC__)
#define EMDEG_APART __attribute__((noinline))
#else
#define EMDEG_APART
#endif"""
_HELPERS = {
    "emdeg_take": """\
static EMDEG_APART void emdeg_take(size_t n, const double *given, double *array)
{
    size_t i;
    for (i = 0; i < n; ++i) array[i] = given ? given[i] : 0.0;
}""",
    "emdeg_give": """\
static EMDEG_APART void emdeg_give(size_t n, const double *array, const int *order, double *wanted)
{
    size_t i;
    if (wanted) for (i = 0; i < n; ++i) wanted[i] = array[order ? (size_t)order[i] : i];
}""",
}


def _own_entry(program: Program, name: str) -> str:
    """The function's own entry, which makes its constants where parameters are inputs."""
    constants, main = split_constants(replace(program, name=name))
    calls = []
    if constants is not None:
        calls += [
            f"    double constants[{max(len(constants.outputs[0].entries), 1)}];",
            f"    {constants.name}({_joined(constants)});",
        ]
    calls.append(f"    {name}({_joined(main)});")
    inputs = [(group_name, Pattern.dense(size)) for group_name, size in _outer_inputs(main, constants)]
    shapes = {group.name: matrix_shape(group.shape) for group in main.outputs}
    outputs = [(output, Pattern.dense(*shape)) for output, shape in shapes.items()]
    taken = {
        output: (output, [i * columns + j for j in range(columns) for i in range(rows)])
        for output, (rows, columns) in shapes.items()
    }
    return _entry(f"{name}_casadi", inputs, outputs, _results(main), calls, taken)


def _derivatives(
    program: Program, name: str, function: Callable[[Program], str], slopes: Program | None
) -> Iterator[str]:
    missing = list(prefixes_of(program))
    for one in companions_of(program, slopes):
        missing.remove(one.prefix)
        own = replace(one.program, name=f"{name}_{one.prefix}")
        called = [own] if one.jacobian is None else [own, replace(one.jacobian, name=f"{name}_jac")]
        called = [each for each in called if each.outputs]
        calls = [f"    {each.name}({_joined(each)});" for each in called]
        arrays = [array for each in called for array in _results(each)]
        if own.outputs:
            yield function(own)
        of_parts = [
            [name for name, (array, _) in one.taken.items() if array in dict(_results(each))] for each in called
        ]
        yield _entry(f"{one.prefix}_{name}_casadi", one.inputs, one.outputs, arrays, calls, one.taken, of_parts)
    if missing:
        yield f"/* Too long for a compiler, so that CasADi will not find them: {', '.join(missing)}. */"


def _results(program: Program) -> list[tuple[str, int]]:
    return [(group.name, len(group.entries)) for group in program.outputs]


def _entry(
    entry: str,
    inputs: Sequence[Named],
    outputs: Sequence[Named],
    arrays: Sequence[tuple[str, int]],
    calls: Sequence[str],
    taken: Taken,
    of_parts: Sequence[Sequence[str]] = (),
) -> str:
    """The entry point: inputs copied, zeros for those left out; the calls, which fill the arrays; outputs where wanted.

    `of_parts`: where there are two calls, the outputs of each, which is left out where none of them is wanted.
    """
    signature = f"int {entry}(const double **arg, double **res, long long int *iw, double *w, int mem)"
    # Where the nonzeros of an output stand in an array of another order.
    orders = {name: order for name, (_, order) in taken.items() if list(order) != list(range(len(order)))}
    lines = [
        f"static const int of_{entry}_{name}[{len(order)}] = {{{', '.join(map(str, order))}}};"
        for name, order in orders.items()
    ]
    lines += [f"{signature};", signature, "{"]
    given = [(place, name, len(one.places)) for place, (name, one) in enumerate(inputs) if one.places]
    wanted = {name: (place, len(one.places)) for place, (name, one) in enumerate(outputs) if one.places}
    lines += [f"    double {name}[{size}];" for _, name, size in given]
    # What has no entry may still be an argument of the function.
    lines += [f"    double {name}[1];" for name, one in inputs if not one.places and _names(calls, name)]
    lines += [f"    double {name}[{max(size, 1)}];" for name, size in arrays]
    lines.append("    (void)arg; (void)res; (void)iw; (void)w; (void)mem;")
    lines += [f"    emdeg_take({size}, arg[{place}], {name});" for place, name, size in given]
    lines += [f"    (void){name};" for _, name, _ in given if not _names(calls, name)]

    def copied(names: Iterable[str]) -> list[str]:
        return [
            f"    emdeg_give({size}, {taken[name][0]}, {f'of_{entry}_{name}' if name in orders else 0}, res[{place}]);"
            for name, (place, size) in ((name, wanted[name]) for name in names)
        ]

    if len(of_parts) > 1:
        for call, names in zip(calls, of_parts, strict=True):
            any_of = " || ".join(f"res[{wanted[name][0]}]" for name in names)
            lines += [f"    if ({any_of}) {{", *(f"    {line}" for line in (call, *copied(names))), "    }"]
    else:
        lines += [*calls, *copied(wanted)]
    lines += ["    return 0;", "}", *_questions(entry, inputs, outputs)]
    return "\n".join(lines)


def _names(calls: Sequence[str], name: str) -> bool:
    return any(f" {name}," in call.replace("(", " ") or f" {name})" in call.replace("(", " ") for call in calls)


def _questions(entry: str, inputs: Sequence[Named], outputs: Sequence[Named]) -> list[str]:
    """What CasADi asks of a function it loads: counts, names, patterns, work space."""
    lines = []
    for direction, groups in (("in", inputs), ("out", outputs)):
        many = len(groups)
        patterns = [(f"of_{name}", sparsity(one)) for name, one in groups]
        lines += [
            f"long long int {entry}_n_{direction}(void);",
            f"long long int {entry}_n_{direction}(void) {{ return {many}; }}",
        ]
        for what, kind, answers in (
            ("name", "const char *", [f'"{name}"' for name, _ in groups]),
            ("sparsity", "const long long int *", [name for name, _ in patterns]),
        ):
            lines += [f"{kind}{entry}_{what}_{direction}(long long int i);"]
            lines += [f"{kind}{entry}_{what}_{direction}(long long int i)", "{"]
            if what == "sparsity":
                lines += [
                    f"    static const long long int {name}[{len(numbers)}] = {{{', '.join(map(str, numbers))}}};"
                    for name, numbers in patterns
                ]
            lines += (
                [f"    static {kind}const answers[{many}] = {{{', '.join(answers)}}};"] if many else ["    (void)i;"]
            )
            lines += [f"    return i >= 0 && i < {many} ? answers[i] : 0;" if many else "    return 0;", "}"]
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
