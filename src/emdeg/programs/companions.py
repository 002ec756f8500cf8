"""The derivatives of a program as CasADi asks for them: blocks of nonzeros, column by column.

CasADi looks for them beside a function f that it loads: `jac_f`, a block for each output and input; `fwd1_f` and
`adj1_f`, one direction forwards and backwards; of second order `jac_adj1_f`, the blocks of the adjoint, which a Hessian
needs, and `adj1_fwd1_f`, the adjoint of the tangents, which an integrator's or a root's derivatives do. Matrices are
stored column by column, and only what is not zero for every input. The adjoint's blocks by its weights are those of
`jac_f` and are taken from there; those by the inputs are a symmetric matrix, computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Literal

from emdeg.algebra import PrimeField
from emdeg.programs.differentiation import Sweeps, cotangents, tangents
from emdeg.programs.ir import Dependence, InputGroup, Kind, Program
from emdeg.programs.proof import verify
from emdeg.programs.residues import field_values
from emdeg.programs.simplification import retrace
from emdeg.programs.trace import Traced, Tracer

MOST_OPERATIONS, MOST_SWEPT = 25_000, 100_000
"""Of derivatives, and of a program times its inputs before its Hessian is taken: what is longer is not written, for a
compiler would take minutes."""


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


POINTS, DRAWS, MOST_ROOTS = 2, 64, 4
"""Points at which a zero is seen; how many are tried, as often doubled as there are roots, each of which exists at
every second; and the most roots."""

Named = tuple[str, Pattern]
Prefix = Literal["jac", "fwd1", "adj1", "jac_adj1", "adj1_fwd1", "fwd1_jac"]
FORWARDS, BACKWARDS = "fwd", "adj"
OF_JACOBIAN: tuple[Prefix, ...] = ("jac_adj1", "fwd1_jac")
HESSIAN = "hessian"
"""The program's output of which the blocks of the adjoint by the inputs are made: nonzeros of the lower triangle."""


@dataclass(frozen=True, slots=True)
class Companion:
    """One function beside another, whose name follows `prefix`; its program has the nonempty arrays alone.

    `taken` says of each nonempty output in which array its nonzeros stand, and where: an output of the program, or of
    the Jacobian's, `jacobian`, where the function needs that too.
    """

    prefix: Prefix
    program: Program
    inputs: tuple[Named, ...]
    outputs: tuple[Named, ...]
    taken: Mapping[str, tuple[str, tuple[int, ...]]]
    jacobian: Program | None = None


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of an output: a matrix as it is, anything else as one column."""
    if len(shape) == 2:
        return shape[0], shape[1]
    size = 1
    for length in shape:
        size *= length
    return size, 1


def prefixes_of(program: Program) -> tuple[Prefix, ...]:
    """What CasADi may look for: it takes the Jacobian for the gradient of a function of one number, and bends that."""
    of_one = sum(group.size for group in program.inputs) == 1
    return ("jac", "fwd1", "adj1", "jac_adj1", "adj1_fwd1", *(["fwd1_jac"] if of_one else []))


def companions_of(program: Program, slopes: Program | None = None) -> Iterator[Companion]:
    """What CasADi looks for beside a program.

    `slopes`: a shorter program of its Jacobian, an output `d<output>_d<input>` for each pair, row by row. It is proved
    to be that; Refuted where it is not.
    """
    along = _companion(program, "fwd1")
    jacobian = _companion(program, "jac", slopes=None if along is None else slopes)
    if slopes is not None and jacobian is not None and along is not None:
        verify(_times_tangents(jacobian, along), along.program, grounds=tuple)
    others = (_companion(program, prefix, jacobian) for prefix in prefixes_of(program)[2:])
    yield from (one for one in (jacobian, along, *others) if one is not None)


def _times_tangents(jacobian: Companion, along: Companion) -> Program:
    """A program of what `along` computes, the Jacobian times tangents, by the Jacobian's nonzeros."""
    tracer = Tracer.like(along.program)
    nonzeros = tracer.outputs_of(jacobian.program, tracer.replay(jacobian.program))
    zero = tracer.number(0)
    found = {name: [zero] * len(pattern.places) for name, pattern in along.outputs}
    blocks = product(found, (name for name, _ in along.inputs if name.startswith(FORWARDS)))
    for (output, seed), (name, pattern) in zip(blocks, jacobian.outputs, strict=True):
        for (i, j), value in zip(pattern.places, nonzeros.get(name, ()), strict=True):
            found[output][i] += value * tracer.entry(seed, j)
    return tracer.program(along.program.name, found)


def _companion(
    program: Program, prefix: Prefix, jacobian: Companion | None = None, slopes: Program | None = None
) -> Companion | None:
    """None where it, or the Jacobian that it needs, is too long."""
    swept = program.size * sum(group.size for group in program.inputs)
    if (prefix == "jac_adj1" and swept > MOST_SWEPT) or (prefix in OF_JACOBIAN and jacobian is None):
        return None
    made = _Face(program)
    match prefix:
        case "jac":
            made.jacobian(slopes)
        case "fwd1":
            made.put(FORWARDS, made.y_shapes, made.along())
        case "adj1":
            made.put(BACKWARDS, made.x_shapes, made.across(made.weights()))
        case "adj1_fwd1":
            made.adjoint_of_tangents()
        case "jac_adj1":
            assert jacobian is not None
            made.jacobian_of_adjoint(jacobian)
        case "fwd1_jac":
            assert jacobian is not None
            made.tangents_of_jacobian(jacobian)
    short = retrace(made.tracer.program(f"{program.name}_{prefix}", made.outputs.values))
    if short.size > MOST_OPERATIONS:
        return None
    beside = jacobian.program if prefix == "jac_adj1" and jacobian is not None else None
    return Companion(prefix, short, tuple(made.inputs), tuple(made.outputs.named), made.outputs.taken, beside)


class _Face:
    """A program played anew, and what CasADi hands to a function beside it and takes from it, as that is told."""

    def __init__(self, program: Program) -> None:
        self.tracer = tracer = Tracer.like(program)
        self.outputs = _Outputs(tracer)
        entries = tracer.outputs_of(program, tracer.replay(program))
        self.x = {group.name: [tracer.entry(group.name, k) for k in range(group.size)] for group in program.inputs}
        self.x_shapes = {name: (len(own), 1) for name, own in self.x.items()}
        self.y_shapes = {group.name: matrix_shape(group.shape) for group in program.outputs}
        # An output column by column, as CasADi keeps it.
        self.y = {
            name: [entries[name][i * columns + j] for j in range(columns) for i in range(rows)]
            for name, (rows, columns) in self.y_shapes.items()
        }
        self.flat_x, self.flat_y = _flat(self.x), _flat(self.y)
        self.inputs: list[Named] = [(name, Pattern.dense(*shape)) for name, shape in self.x_shapes.items()]
        self.take_values("", self.y_shapes)

    def take_values(self, before: str, shapes: Mapping[str, tuple[int, int]]) -> None:
        """Values that CasADi hands over of what it knows already, and nobody reads."""
        self.inputs += [(f"out_{before}{name}", Pattern.empty(*shape)) for name, shape in shapes.items()]

    def take(self, before: str, shapes: Mapping[str, tuple[int, int]]) -> list[Traced]:
        """Further inputs."""
        self.inputs += [(f"{before}_{name}", Pattern.dense(*shape)) for name, shape in shapes.items()]
        sizes = {name: rows * columns for name, (rows, columns) in shapes.items()}
        return _flat({n: self.tracer.inputs(f"{before}_{n}", size, Dependence.RATES) for n, size in sizes.items()})

    def put(self, before: str, shapes: Mapping[str, tuple[int, int]], values: Sequence[Traced]) -> None:
        """Outputs, of which nothing is known to be zero."""
        left = iter(values)
        for name, (rows, columns) in shapes.items():
            self.outputs.whole(f"{before}_{name}", (rows, columns), [next(left) for _ in range(rows * columns)])

    def seeds(self) -> list[Traced]:
        """The direction in which the inputs change."""
        return self.take(FORWARDS, self.x_shapes)

    def weights(self) -> list[Traced]:
        """What every output weighs."""
        return self.take(BACKWARDS, self.y_shapes)

    def along(self) -> list[Traced]:
        """How the outputs change in a direction."""
        return tangents(self.tracer, zip(self.flat_x, self.seeds()), self.flat_y)

    def across(self, weights: Sequence[Traced]) -> list[Traced]:
        """How the weighed outputs change with every input."""
        return cotangents(self.tracer, zip(self.flat_y, weights), self.flat_x)

    def jacobian(self, slopes: Program | None) -> None:
        """A block for each output and input."""
        if slopes is None:
            columns = iter(_jacobian(self.tracer, self.flat_x, self.flat_y))
        else:
            columns = iter(_handed(self.tracer, slopes, self.x, self.y))
        by_input = {by: [next(columns) for _ in given] for by, given in self.x.items()}
        start, zeros = 0, _zeros(self.tracer)
        for name, entries in self.y.items():
            end = start + len(entries)
            for by, own in by_input.items():
                self.outputs.block(f"jac_{name}_{by}", [column[start:end] for column in own], zeros)
            start = end

    def jacobian_of_adjoint(self, jacobian: Companion) -> None:
        """The weighed outputs' Hessian, and the Jacobian that is there already."""
        weights = self.weights()
        self.take_values(f"{BACKWARDS}_", self.x_shapes)
        sizes = {name: len(own) for name, own in self.x.items()}
        lower = Sweeps(self.tracer, self.flat_x, self.flat_y).hessian(weights)
        _blocks_of_adjoint(sizes, lower, self.y_shapes, jacobian, self.outputs)

    def adjoint_of_tangents(self) -> None:
        """The gradient of the weighed tangents by the inputs and by the direction."""
        seeds = self.seeds()
        rates = tangents(self.tracer, zip(self.flat_x, seeds), self.flat_y)
        self.take_values(f"{FORWARDS}_", self.y_shapes)
        weights = self.take(f"{BACKWARDS}_{FORWARDS}", self.y_shapes)
        found = cotangents(self.tracer, zip(rates, weights), [*self.flat_x, *seeds])
        self.put(BACKWARDS, self.x_shapes, found[: len(seeds)])
        for name, shape in self.y_shapes.items():
            self.outputs.of_another(f"{BACKWARDS}_out_{name}", shape, "", {})
        self.put(f"{BACKWARDS}_{FORWARDS}", self.x_shapes, found[len(seeds) :])

    def tangents_of_jacobian(self, jacobian: Companion) -> None:
        """How the Jacobian's nonzeros change in a direction."""
        known = self.tracer.outputs_of(jacobian.program, self.tracer.replay(jacobian.program))
        self.take_values("", {name: (one.rows, one.columns) for name, one in jacobian.outputs})
        along = list(zip(self.flat_x, self.seeds(), strict=True))
        self.inputs += [(f"{FORWARDS}_out_{name}", Pattern.empty(*shape)) for name, shape in self.y_shapes.items()]
        for name, pattern in jacobian.outputs:
            self.outputs.at(f"{FORWARDS}_{name}", pattern, tangents(self.tracer, along, known.get(name, ())))


def _flat(arrays: Mapping[str, Sequence[Traced]]) -> list[Traced]:
    return [value for own in arrays.values() for value in own]


def _blocks_of_adjoint(
    sizes: Mapping[str, int],
    lower: Sequence[Traced],
    shapes: Mapping[str, tuple[int, int]],
    jacobian: Companion,
    outputs: _Outputs,
) -> None:
    """The adjoint's derivatives by the inputs (the Hessian), by the nominal outputs (none), by its weights."""
    corners = [(i, j) for i in range(sum(sizes.values())) for j in range(i + 1)]
    zeros = _zeros(outputs.tracer)
    kept = [(corner, v) for corner, v in zip(corners, lower, strict=True) if not (v.is_zero or v.index in zeros)]
    place = {corner: k for k, (corner, _) in enumerate(kept)}
    if kept:
        outputs.values[HESSIAN] = [value for _, value in kept]
    starts = dict(zip(sizes, accumulate(sizes.values(), initial=0)))
    blocks = dict(jacobian.outputs)
    for name, rows in sizes.items():
        for by, columns in sizes.items():
            found = {}
            for j, i in product(range(columns), range(rows)):
                one, other = starts[name] + i, starts[by] + j
                if (corner := (max(one, other), min(one, other))) in place:
                    found[i, j] = place[corner]
            outputs.of_another(f"jac_adj_{name}_{by}", (rows, columns), HESSIAN, found)
        for by, shape in shapes.items():
            outputs.of_another(f"jac_adj_{name}_out_{by}", (rows, shape[0] * shape[1]), "", {})
        for by, shape in shapes.items():  # d(J^T c)/dc = J^T
            J = f"jac_{by}_{name}"
            found = {(i, k): place for place, (k, i) in enumerate(blocks[J].places)}
            outputs.of_another(f"jac_adj_{name}_adj_{by}", (rows, shape[0] * shape[1]), J, found)


class _Outputs:
    """Blocks by name, as they are made: the nonzeros as a program's output, and where they stand."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.values: dict[str, list[Traced]] = {}
        self.named: list[Named] = []
        self.taken: dict[str, tuple[str, tuple[int, ...]]] = {}

    def block(self, name: str, columns: Sequence[Sequence[Traced]], zeros: Collection[int]) -> None:
        """A matrix by its columns; what is zero, or among the values that are, is left out."""
        rows = len(columns[0]) if columns else 0
        every = product(range(len(columns)), range(rows))
        places = [(i, j) for j, i in every if not (columns[j][i].is_zero or columns[j][i].index in zeros)]
        self.at(name, Pattern(rows, len(columns), tuple(places)), [columns[j][i] for i, j in places])

    def whole(self, name: str, shape: tuple[int, int], entries: Sequence[Traced]) -> None:
        self.at(name, Pattern.dense(*shape), entries)

    def of_another(self, name: str, shape: tuple[int, int], array: str, found: Mapping[tuple[int, int], int]) -> None:
        """A matrix whose nonzeros, by row and column, stand in an array that is there already."""
        places = tuple(sorted(found, key=lambda place: place[::-1]))
        self.named.append((name, Pattern(*shape, places)))
        if places:
            self.taken[name] = array, tuple(found[place] for place in places)

    def at(self, name: str, pattern: Pattern, entries: Sequence[Traced]) -> None:
        """Entries where the pattern has places."""
        self.named.append((name, pattern))
        if entries:
            self.values[name] = list(entries)
            self.taken[name] = name, tuple(range(len(entries)))


def _zeros(tracer: Tracer) -> set[int]:
    """The values that are zero for all inputs, though no operation shows it: so at random points modulo random primes.

    A number is taken for zero by one chance in 2^100. Where too many roots must exist at a point, none is looked for.
    """
    program = tracer.program("zeros", {})
    roots = sum(op.kind is Kind.SQRT for op in program.ops)
    found, seen = set(range(program.size)), 0
    for _ in range(DRAWS << roots if roots <= MOST_ROOTS else 0):
        with suppress(ZeroDivisionError):
            found &= {index for index, value in enumerate(field_values(program, PrimeField.fresh())) if value == 0}
            seen += 1
        if seen == POINTS or not found:
            return found
    return set()


def _jacobian(tracer: Tracer, x: Sequence[Traced], y: Sequence[Traced]) -> list[list[Traced]]:
    """dy/dx, a list for each x: forwards or backwards, whichever takes fewer operations."""
    one, before = tracer.number(1), len(tracer.ops)
    forwards = _by_columns(tracer, x, y)
    between = len(tracer.ops)
    if len(y) >= len(x):
        return forwards
    backwards = [cotangents(tracer, [(each, one)], x) for each in y]
    # What both have in common counts for the first; they share little beside the function.
    if len(tracer.ops) - between < between - before:
        return [[row[k] for row in backwards] for k in range(len(x))]
    return forwards


def _handed(
    tracer: Tracer, slopes: Program, x: Mapping[str, Sequence[Traced]], y: Mapping[str, Sequence[Traced]]
) -> list[list[Traced]]:
    """dy/dx, a list for each x, of the program that was handed in for it."""
    known = tracer.outputs_of(slopes, tracer.replay(slopes))
    return [
        [known[f"d{name}_d{by}"][i * len(own) + j] for name, entries in y.items() for i in range(len(entries))]
        for by, own in x.items()
        for j in range(len(own))
    ]


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
