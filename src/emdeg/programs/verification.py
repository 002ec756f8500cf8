"""Proof that a program computes what an independent formulation computes, and a certificate that says so.

Both are evaluated modulo 2^61 - 1 at random points and must agree exactly. Two different functions agree at a
random point with a probability of at most (degree / prime), so a few points leave no room for doubt; what
floating-point arithmetic makes of the program is measured apart, in units in the last place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import P, PrimeField, Residue
from emdeg.errors import OffTheVariety, Refuted
from emdeg.mechanics import Inputs, Outputs, State, kind_of
from emdeg.mechanics.functions import inputs_of, known_functions, ways_of
from emdeg.programs.build import base_places, of_base_parameters, open_trace
from emdeg.programs.ir import Kind, Program
from emdeg.programs.values import angle_atoms, evaluate, evaluate_residues, input_residue
from emdeg.robot import Robot
from emdeg.writing import Shown

Residues = Mapping[str, tuple[int, ...]]
Formulation = Program | Callable[[PrimeField], Mapping[str, Any]]
"""Another way to the same outputs: a program, or a function that computes them over the given field.

The function yields nested sequences of `Residue` (or int) by output name.
"""

FALSE_PASS = 1e-15
"""The probability of a false pass that a certificate must stay below."""


@dataclass(frozen=True, slots=True)
class Certificate(Shown):
    """What was checked and how to check it again. `digest` is the sha256 of the artefact's bytes."""

    program: str
    formulations: tuple[str, str]
    prime: int
    seed: int
    points: int
    degree_bound: int
    false_pass_probability: float
    digest: str

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def verify(
    program: Program,
    independent: Formulation,
    *,
    formulations: tuple[str, str] = ("program", "reference"),
    seed: int = 0,
    points: int | None = None,
    degree: int | None = None,
    roots: int = 0,
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that both compute the same outputs; raises `Refuted` at the first point that differs.

    `points` defaults to as many as FALSE_PASS needs. `degree` must be given for a callable, whose degree
    cannot be read off: a bound on the degree of its outputs; so must its square `roots`, if it takes any.
    """
    if isinstance(independent, Program):
        bound = degree_bound(program, independent)
    elif degree is None:
        raise ValueError("a formulation that is no program needs a bound on its degree")
    else:
        bound = degree_bound(program) + degree
    if bound >= P // 4:
        raise ValueError(f"{program.name}: the degree bound {bound} is too large for the prime {P}")
    # Points where a divisor vanishes are drawn again, which at most doubles the chance of a false pass.
    miss = 2 * max(bound, 1) / P
    if points is None:
        points = 1
        while miss**points >= FALSE_PASS:
            points += 1
        points += 1
    for number in range(points):
        _check_at(program, independent, seed, number, roots)
    digest = hashlib.sha256(artefact if artefact is not None else digest_text(program).encode()).hexdigest()
    return Certificate(program.name, formulations, P, seed, points, bound, miss**points, digest)


def digest_text(program: Program) -> str:
    """The program as text, one operation a line: what a digest of a bare program is taken of."""
    lines = [program.name]
    lines += [f"{group.name} {group.size} {group.depends.name}" for group in program.inputs]
    for op in program.ops:
        lines.append(" ".join([op.kind.value, *map(str, op.args), "" if op.payload is None else repr(op.payload)]))
    for group in program.outputs:
        lines.append(f"{group.name} {group.shape} " + " ".join(f"{r.sign}*{r.value}" for r in group.entries))
    return "\n".join(lines) + "\n"


def _check_at(program: Program, independent: Formulation, seed: int, number: int, roots: int) -> None:
    roots = max(roots, sum(op.kind is Kind.SQRT for op in program.ops))
    for attempt in range(200 << min(roots, 12)):  # at each root half of the points fail
        field = PrimeField(seed=derived_seed(seed, number, attempt))
        try:
            found = evaluate_residues(program, field)
            expected, shapes = _expected(independent, field)
        except ZeroDivisionError:
            continue
        _same_outputs(program, shapes)
        _compare(program, found, expected, number)
        return
    raise Refuted(f"{program.name}: no point was found at which its quotients and roots exist")


def _expected(independent: Formulation, field: PrimeField) -> tuple[Residues, Mapping[str, tuple[int, ...]]]:
    """What the independent formulation computes, flat, and the outputs' shapes."""
    if isinstance(independent, Program):
        return evaluate_residues(independent, field), {group.name: group.shape for group in independent.outputs}
    results = independent(field)
    flat = {name: tuple(_flat(values)) for name, values in results.items()}
    return flat, {name: _shape(values) for name, values in results.items()}


def _same_outputs(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuted unless the program has these outputs and no others, in this order: a missing one is never compared."""
    own = {group.name: group.shape for group in program.outputs}
    if list(own.items()) != list(shapes.items()):
        raise Refuted(f"{program.name}: its outputs are {_told(own)}, the independent formulation's {_told(shapes)}")


def _told(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {' x '.join(map(str, shape)) or 1}" for name, shape in shapes.items()) or "none"


def _shape(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list | tuple):
        return ()
    return (len(values), *(_shape(values[0]) if values else ()))


def _compare(program: Program, found: Residues, expected: Residues, number: int) -> None:
    for group in program.outputs:
        for place, (a, b) in enumerate(zip(found[group.name], expected[group.name])):
            if a != b:
                index = tuple(int(i) for i in np.unravel_index(place, group.shape)) if group.shape else ()
                raise Refuted(
                    f"{program.name}: {group.name}{list(index)} differs from the independent formulation "
                    f"at point {number}"
                )


def _flat(values: Any) -> Iterator[int]:
    if isinstance(values, list | tuple):
        for value in values:
            yield from _flat(value)
    else:
        yield values.value if isinstance(values, Residue) else values % P


def derived_seed(seed: int, number: int, attempt: int) -> int:
    text = f"{seed} {number} {attempt}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


def ulps(found: NDArray, exact: NDArray, scale: NDArray | float | None = None) -> NDArray:
    """|found - exact| in units in the last place of `scale`, by default of `exact` itself.

    A component that is small because large terms cancel is fairly measured at the scale of its output, as a
    relative error of a vector is.
    """
    size = np.abs(exact if scale is None else scale).astype(found.dtype)
    return np.abs(found - exact) / np.spacing(np.maximum(size, np.finfo(found.dtype).tiny))


def float_error(
    program: Program, states: int = 1000, seed: int = 0, reach: float = 3.0, near: NDArray | None = None
) -> dict[str, float]:
    """The largest error of double arithmetic in each output, in ulps of that output's largest entry.

    Measured against the same program in extended precision, at random inputs within `reach`; with `near` q lies within
    0.05 of it, where a program whose loops close only in a part of space is defined.
    """
    rng = np.random.default_rng(seed)
    inputs = {group.name: rng.uniform(-reach, reach, (states, group.size)) for group in program.inputs}
    if near is not None:
        inputs["q"] = near + 0.05 / reach * inputs["q"]
    found, exact = evaluate(program, inputs), evaluate(program, inputs, np.longdouble)
    errors = {}
    for group in program.outputs:
        shape = (states, len(group.entries))
        a, b = found[group.name].reshape(shape), exact[group.name].reshape(shape)
        scale = np.abs(b).max(axis=1, keepdims=True, initial=0.0)
        errors[group.name] = float(ulps(a, b, scale).max(initial=0.0))
    return errors


Degrees = Mapping[object, int]
"""The degree in each independent variable."""


@dataclass(frozen=True, slots=True)
class Rational:
    """The numerator's degrees, and the denominator as a product: a divisor's index -> its exponent."""

    over: Degrees
    under: Degrees


def degree_bound(*programs: Program) -> int:
    """A bound on the degree of (f - g)'s numerator in the random variables, f and g any outputs of these.

    A sine and a cosine of one angle are quotients of degree two in the parameter of the circle; a square root
    doubles the degree, since the norm of what contains it is a product of two conjugates, and doubles it once
    more because only points where the root exists are drawn.
    """
    worst = [_program_bound(program) for program in programs]
    roots = sum(op.kind is Kind.SQRT for program in programs for op in program.ops)
    return sum(worst) * 4 ** min(roots, 30)


def _program_bound(program: Program) -> int:
    """Over a common denominator: a divisor that two terms share counts once in their sum."""
    known: list[Rational] = []
    divisor: dict[object, Degrees] = {}

    def size(product: Degrees) -> Degrees:
        return _total(_times(divisor[index], power) for index, power in product.items())

    for op in program.ops:
        args = [known[arg] for arg in op.args]
        match op.kind:
            case Kind.NUMBER | Kind.ANGLE:
                value = Rational({}, {})
            case Kind.INPUT:
                value = Rational({op.slot: 1}, {})
            case Kind.SIN | Kind.COS:
                atoms = angle_atoms(program, op.args[0])
                # (1 + t^2) to the same power clears every sine and cosine of an atom: one variable, degree 2.
                value = Rational({("circle", atom): 2 * abs(n) for atom, n in atoms.items()}, {})
            case Kind.ADD | Kind.SUB:
                a, b = args
                if a.under == b.under:
                    value = Rational(_most(a.over, b.over), a.under)
                else:
                    common = _most(a.under, b.under)
                    over = (_sum(x.over, size(_less(common, x.under))) for x in args)
                    value = Rational(_most(*over), common)
            case Kind.MUL:
                a, b = args
                value = Rational(_sum(a.over, b.over), _sum(a.under, b.under))
            case Kind.DIV:
                a, b = args
                index = op.args[1]
                divisor[index] = b.over
                by: Degrees = {index: 1} if b.over else {}
                value = Rational(_sum(a.over, size(_less(b.under, a.under))), _sum(_less(a.under, b.under), by))
            case _:
                value = args[0]
        known.append(value)
    return max(
        (sum(known[root].over.values()) + sum(size(known[root].under).values()) for root in program.roots()),
        default=0,
    )


def _sum(a: Degrees, b: Degrees) -> Degrees:
    if not a or not b:
        return a or b
    return {key: a.get(key, 0) + b.get(key, 0) for key in {**a, **b}}


def _total(parts: Iterable[Degrees]) -> Degrees:
    found: Degrees = {}
    for part in parts:
        found = _sum(found, part)
    return found


def _times(a: Degrees, factor: int) -> Degrees:
    return a if factor == 1 else {key: factor * value for key, value in a.items()}


def _less(a: Degrees, b: Degrees) -> Degrees:
    """What of a is left beyond b."""
    return {key: value - b.get(key, 0) for key, value in a.items() if value > b.get(key, 0)}


def _most(a: Degrees, b: Degrees) -> Degrees:
    if not a or not b:
        return a or b
    return {key: max(a.get(key, 0), b.get(key, 0)) for key in {**a, **b}}


def verify_program(
    program: Program,
    robot: Robot,
    function: str | Sequence[str],
    *,
    base: bool = False,
    seed: int = 0,
    points: int | None = None,
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that `program` computes these functions of `robot`; raises `Refuted` where it does not.

    `base`: the regressor has the base parameters' columns only. `points` defaults to as many as are needed.
    """
    names = known_functions(function, robot)
    _check_inputs(program, robot, names)
    places = base_places(robot) if base else None
    references = [ways_of(name, robot).reference for name in names]
    return verify(
        program,
        lambda field: of_base_parameters(_outputs(field_state(robot, field, names), robot, names), places),
        formulations=("traced program", ", ".join(title for title, _ in references)),
        seed=seed,
        points=points,
        degree=_degree(robot, names),
        roots=kind_of(robot).roots(robot),
        artefact=artefact,
    )


def _check_inputs(program: Program, robot: Robot, names: Sequence[str]) -> None:
    """Refuted unless the program takes the arrays that these functions take, in their order: it decides the call."""
    kind = kind_of(robot)
    expected = [(group, kind.size(robot, group)) for group in inputs_of(names)]
    symbols = tuple(sorted(robot.symbols))
    if symbols:
        expected.append(("parameters", len(symbols)))
    found = [(group.name, group.size) for group in program.inputs]
    if found != expected:
        raise Refuted(f"{program.name}: its inputs are {found}; the function's are {expected}")
    if symbols and program.inputs[-1].labels != symbols:
        raise Refuted(f"{program.name}: its parameters are not {', '.join(symbols)}")


def field_state(robot: Robot, field: PrimeField, names: Sequence[str]) -> State:
    """A random state over the field; ZeroDivisionError where a root or quotient fails."""
    kind = kind_of(robot)
    if kind.roots(robot):  # the program shows at once whether all roots exist at this point
        evaluate_residues(_positions(robot), field)
    state = kind.state(
        robot,
        Inputs(
            field,
            lambda name, place: input_residue(field, (name, place)),
            field.joint_sincos,
            tuple(name for name in inputs_of(names) if name != "q"),
        ),
    )
    for loop, value in state.open_loops():
        if value:
            raise OffTheVariety(f"{loop} stays open")
    return state


@lru_cache(maxsize=8)
def _positions(robot: Robot) -> Program:
    """q -> every joint's position."""
    trace = open_trace(robot, ["gravity"])
    parts: list[Any] = []
    for at in trace.state().position:
        parts += at if isinstance(at, tuple) else (at,)
    return trace.tracer.program("positions", {"joints": parts})


def _outputs(state: State, robot: Robot, names: Sequence[str]) -> Outputs:
    results: dict[str, Any] = {}
    for name in names:
        found = ways_of(name, robot).reference[1](state)
        assert found is not None
        results |= found
    return results


def _degree(robot: Robot, names: Sequence[str]) -> int:
    """A bound on the degree of the reference's outputs, read off its own trace."""
    trace = open_trace(robot, names)
    results = _outputs(trace.state(), robot, names)
    return degree_bound(trace.tracer.program("reference", {f"{name}_out": value for name, value in results.items()}))
