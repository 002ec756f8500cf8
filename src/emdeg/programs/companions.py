"""The derivatives of a program as CasADi asks for them: blocks of nonzeros, column by column.

CasADi looks for them beside a function f that it loads: `jac_f`, a block for each output and input; `fwd1_f` and
`adj1_f`, one direction forwards and backwards; `jac_adj1_f`, the blocks of the adjoint, which is all that second order
needs. Matrices are stored column by column, and only what is not zero for every input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from emdeg.programs.differentiation import Sweeps, cotangents, tangents
from emdeg.programs.ir import Dependence, InputGroup, Program
from emdeg.programs.simplification import retrace
from emdeg.programs.trace import Traced, Tracer

MOST_OPERATIONS, MOST_SWEPT = 25_000, 40_000
"""Of derivatives, and of a program times its inputs before second derivatives are taken: what is longer is not written,
for a compiler would take minutes."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a matrix may differ from zero: (row, column), column by column."""

    rows: int
    columns: int
    places: tuple[tuple[int, int], ...]

    @classmethod
    def dense(cls, rows: int, columns: int = 1) -> Pattern:
        return cls(rows, columns, tuple((i, j) for j in range(columns) for i in range(rows)))

    @classmethod
    def empty(cls, rows: int, columns: int = 1) -> Pattern:
        return cls(rows, columns, ())

    @property
    def is_dense(self) -> bool:
        return len(self.places) == self.rows * self.columns


Named = tuple[str, Pattern]


@dataclass(frozen=True, slots=True)
class Companion:
    """One function beside another, whose name follows `prefix`; its program has the nonempty arrays alone."""

    prefix: Literal["jac", "fwd1", "adj1", "jac_adj1"]
    program: Program
    inputs: tuple[Named, ...]
    outputs: tuple[Named, ...]


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of an output: a matrix as it is, anything else as one column."""
    if len(shape) == 2:
        return shape[0], shape[1]
    size = 1
    for length in shape:
        size *= length
    return size, 1


def companions_of(program: Program) -> Iterator[Companion]:
    """What CasADi looks for beside a program."""
    for prefix in ("jac", "fwd1", "adj1", "jac_adj1"):
        found = _companion(program, prefix)
        if found is not None:
            yield found


def _companion(program: Program, prefix: Literal["jac", "fwd1", "adj1", "jac_adj1"]) -> Companion | None:
    if prefix == "jac_adj1" and program.size * sum(group.size for group in program.inputs) > MOST_SWEPT:
        return None
    tracer = Tracer.like(program)
    entries = tracer.outputs_of(program, tracer.replay(program))
    x = {group.name: [tracer.entry(group.name, k) for k in range(group.size)] for group in program.inputs}
    shapes = {group.name: matrix_shape(group.shape) for group in program.outputs}
    # An output column by column, as CasADi keeps it.
    y = {
        name: [entries[name][i * columns + j] for j in range(columns) for i in range(rows)]
        for name, (rows, columns) in shapes.items()
    }
    plain = [(name, Pattern.dense(len(entries))) for name, entries in x.items()]
    nominal = [(f"out_{name}", Pattern.empty(*shape)) for name, shape in shapes.items()]
    inputs, outputs = [*plain, *nominal], _Outputs(tracer)

    def further(before: str, sizes: dict[str, tuple[int, int]]) -> dict[str, tuple[Traced, ...]]:
        inputs.extend((f"{before}_{name}", Pattern.dense(*shape)) for name, shape in sizes.items())
        return {
            name: tracer.inputs(f"{before}_{name}", rows * columns, Dependence.RATES)
            for name, (rows, columns) in sizes.items()
        }

    flat_x, flat_y = [v for own in x.values() for v in own], [v for own in y.values() for v in own]
    if prefix == "jac":
        for name, entries in y.items():
            for by, given in x.items():
                outputs.block(f"jac_{name}_{by}", _by_columns(tracer, given, entries))
    elif prefix == "fwd1":
        seeds = further("fwd", {name: (len(entries), 1) for name, entries in x.items()})
        slopes = iter(tangents(tracer, zip(flat_x, [t for own in seeds.values() for t in own]), flat_y))
        for name, shape in shapes.items():
            outputs.whole(f"fwd_{name}", shape, [next(slopes) for _ in y[name]])
    else:
        weights = further("adj", shapes)
        flat_c = [c for own in weights.values() for c in own]
        gradient = iter(cotangents(tracer, zip(flat_y, flat_c), flat_x))
        adjoint = {name: [next(gradient) for _ in entries] for name, entries in x.items()}
        if prefix == "adj1":
            for name, entries in adjoint.items():
                outputs.whole(f"adj_{name}", (len(entries), 1), entries)
        else:
            inputs += [(f"out_adj_{name}", Pattern.empty(len(entries))) for name, entries in x.items()]
            _blocks_of_adjoint(tracer, x, y, flat_c, shapes, outputs)
    made = retrace(tracer.program(f"{program.name}_{prefix}", outputs.values))
    if made.size > MOST_OPERATIONS:
        return None
    return Companion(prefix, made, tuple(inputs), tuple(outputs.named))


def _blocks_of_adjoint(
    tracer: Tracer,
    x: dict[str, list[Traced]],
    y: dict[str, list[Traced]],
    c: list[Traced],
    shapes: dict[str, tuple[int, int]],
    outputs: _Outputs,
) -> None:
    """The adjoint's derivatives by the inputs (the Hessian), by the nominal outputs (none), by its weights."""
    flat_x, flat_y = [v for own in x.values() for v in own], [v for own in y.values() for v in own]
    lower = iter(Sweeps(tracer, flat_x, flat_y).hessian(c))
    H: dict[tuple[int, int], Traced] = {}
    for i in range(len(flat_x)):
        for j in range(i + 1):
            H[i, j] = H[j, i] = next(lower)
    columns = {name: _by_columns(tracer, flat_x, entries) for name, entries in y.items()}
    starts, start = {}, 0
    for name, entries in x.items():
        starts[name], start = start, start + len(entries)
    for name, entries in x.items():
        rows = range(starts[name], starts[name] + len(entries))
        for by, given in x.items():
            own = range(starts[by], starts[by] + len(given))
            outputs.block(f"jac_adj_{name}_{by}", [[H[i, j] for i in rows] for j in own])
        for by, shape in shapes.items():
            outputs.nothing(f"jac_adj_{name}_out_{by}", len(entries), shape[0] * shape[1])
        for by, J in columns.items():  # d(J^T c)/dc = J^T
            outputs.block(f"jac_adj_{name}_adj_{by}", [[J[i][k] for i in rows] for k in range(len(y[by]))])


class _Outputs:
    """Blocks by name, as they are made: the nonzeros as a program's output, and where they stand."""

    def __init__(self, tracer: Tracer) -> None:
        self.zero = tracer.number(0)
        self.values: dict[str, list[Traced]] = {}
        self.named: list[Named] = []

    def block(self, name: str, columns: Sequence[Sequence[Traced]]) -> None:
        """A matrix by its columns; what is zero is left out."""
        rows = len(columns[0]) if columns else 0
        places = [(i, j) for j, i in product(range(len(columns)), range(rows)) if not columns[j][i].is_zero]
        self._put(name, Pattern(rows, len(columns), tuple(places)), [columns[j][i] for i, j in places])

    def whole(self, name: str, shape: tuple[int, int], entries: Sequence[Traced]) -> None:
        self._put(name, Pattern.dense(*shape), list(entries))

    def nothing(self, name: str, rows: int, columns: int) -> None:
        self._put(name, Pattern.empty(rows, columns), [])

    def _put(self, name: str, pattern: Pattern, entries: list[Traced]) -> None:
        self.named.append((name, pattern))
        if entries:
            self.values[name] = entries


def _by_columns(tracer: Tracer, x: Sequence[Traced], y: Sequence[Traced]) -> list[list[Traced]]:
    """dy/dx, a list for each x."""
    one = tracer.number(1)
    return [tangents(tracer, [(each, one)], y) for each in x]


def dense_derivatives(
    program: Program, name: str, needed: Sequence[Literal["jacobian", "adjoint", "hessian"]]
) -> Iterator[Program]:
    """Derivatives of a program of one output by all its inputs but parameters, dense, column by column.

    `<name>_jacobian` yields J, `<name>_adjoint` takes the weights c and yields g, `<name>_hessian` g and H.
    """
    for which in needed:
        tracer = Tracer.like(program)
        (y,) = tracer.outputs_of(program, tracer.replay(program)).values()
        x = [tracer.entry(one.name, k) for one in program.inputs if one.depends for k in range(one.size)]
        outputs: dict[str, list[Traced]] = {}
        if which == "jacobian":
            outputs["J"] = [entry for column in _by_columns(tracer, x, y) for entry in column]
        else:
            c = list(tracer.inputs("c", len(y), Dependence.RATES))
            sweeps = Sweeps(tracer, x, y)
            outputs["g"] = sweeps.vjp(c)
            if which == "hessian":
                lower = iter(sweeps.hessian(c))
                H = {(i, j): next(lower) for i in range(len(x)) for j in range(i + 1)}
                outputs["H"] = [H[max(i, j), min(i, j)] for j in range(len(x)) for i in range(len(x))]
        made = retrace(tracer.program(f"{name}_{which}", outputs))
        yield Program(made.name, _parameters_before_weights(made), made.ops, made.outputs)


def _parameters_before_weights(program: Program) -> tuple[InputGroup, ...]:
    """The inputs with the weights at the end."""
    return tuple(sorted(program.inputs, key=lambda group: group.name == "c"))
