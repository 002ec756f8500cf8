"""The regressor Y with tau = Y pi, over any scalar, and which combinations of parameters it cannot tell from nothing.

Newton-Euler is linear in the inertial parameters. Only the energy of link i and of what it carries depends on joint i.
Hence a set of parameters has no effect on any torque exactly if, link by link from the tips, its share in link i has no
effect on tau_i, and so may be handed to the parent as if the joint were locked at zero, and what then arrives at the
base has none at all. What has no effect on tau_i is the null space of eleven functions, row i of the regressor in link
i's own columns; the combinations found so span the regressor's null space. Nothing is assumed about the geometry:
Khalil and Gautier's rules for revolute and prismatic joints, for axes parallel to the first and for drives come out.

The dimension of each link's null space is a rank modulo a random prime at random states of a random geometry. Where it
is the least one possible, the null space is the textbook's; where it is larger, as in a chain's first links, the row is
expanded as a formula, or taken at rational states, and solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

from emdeg.algebra import Generator, PrimeField, Quotient, TrigAlgebra, TrigPoly
from emdeg.algebra.linear import Row, independent_rows, null_space
from emdeg.dynamics.formulations.rnea_link_frame import LinkMotion, motion
from emdeg.dynamics.mechanism import (
    Frames,
    Mechanism,
    frames,
    joint_positions,
    mechanism_of,
    path,
    positions_at_zero,
    symbolic_state,
)
from emdeg.dynamics.spatial import BodyInertia, Scalar, Spatial, Transform, Vec3, acceleration_matrix, column, zeros
from emdeg.robot import BASE, Robot, algebra_of, branch, by_kind

COLUMNS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M", "Ia")
"""A link's columns, in order; Ia is its drive's inertia."""


def regressor(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[list[Scalar]]:
    """Y, n x 11n: the efforts per unit of every link's XX XY XZ YY YZ ZZ MX MY MZ M and drive inertia Ia."""
    zero = mech.zero
    X, S = frame.X, mech.S
    Y = zeros(zero, mech.nv, len(COLUMNS) * mech.n)
    for i, move in enumerate(motion(mech, frame, qd, qdd)):
        first = len(COLUMNS) * i
        for entry, f in enumerate(unit_forces(move, zero)):
            for j in reversed(path(mech, i)):
                for k in mech.speeds[j]:
                    Y[k][first + entry] = S[k].dot(f)
                f = X[j].T @ f
        for k in mech.speeds[i]:
            Y[k][first + len(COLUMNS) - 1] = qdd[k]
    return Y


def unit_forces(move: LinkMotion, zero: Scalar) -> list[Spatial]:
    """What a body's motion asks for, per unit of each of its ten parameters."""
    w, a = move.omega, move.vd
    x, y, z = w
    xd, yd, zd = move.omegad
    none = (zero, zero, zero)
    moments: list[Vec3] = [
        (xd, x * z, -(x * y)),  # J omegad + omega x J omega, entry by entry
        (yd - x * z, xd + y * z, x * x - y * y),
        (zd + x * y, z * z - x * x, xd - y * z),
        (-(y * z), yd, x * y),
        (y * y - z * z, zd - x * y, yd + x * z),
        (y * z, -(x * z), zd),
    ]
    U = acceleration_matrix(w, move.omegad)
    return [
        *(Spatial(moment, none) for moment in moments),
        *(Spatial(_unit(k, a), column(U, k)) for k in range(3)),
        Spatial(none, a),
    ]


def _unit(k: int, a: Vec3) -> Vec3:
    """e_k x a."""
    zero = a[0] * 0
    return ((zero, -a[2], a[1]), (a[2], zero, -a[0]), (-a[1], a[0], zero))[k]


WIDTH = len(COLUMNS)
_AT = {name: c for c, name in enumerate(COLUMNS)}
DRIVE = _AT["Ia"]
SEED = 560
STATES = WIDTH + 3
"""Random states for a link's rank; three more than columns."""
EXPANDED = 7
"""Joints before which a row is expanded as a formula; in longer chains it is taken at rational states."""
CHECKS = 2
"""Random states at which every combination found must leave every joint without torque."""

FALSE_COMBINATION = "a combination of parameters said to have no effect has one; please report this"

LEAST = {
    "revolute": ({"XX": 1, "YY": 1}, {"MZ": 1}, {"M": 1}),
    "prismatic": ({"XX": 1}, {"XY": 1}, {"XZ": 1}, {"YY": 1}, {"YZ": 1}, {"ZZ": 1}),
}
"""What never has an effect on the link's own joint: a thin rod along the axis, any tensor on a slide."""


@by_kind
def null_combinations(shape: Robot, geometry: TrigAlgebra, drives: bool = True) -> list[Row]:
    """A basis of all parameter vectors without effect; column 11 i + c stands for link i's COLUMNS[c]."""
    columns = [c for c in range(WIDTH) if drives or c != DRIVE]
    mech = mechanism_of(shape, geometry)
    at_zero = frames(mech, positions_at_zero(mech))
    one = Quotient(geometry.one)
    found: list[Row] = []
    for i, link in enumerate(shape.links):
        nullity = len(columns) - local_rank(shape, i, columns)
        least = LEAST.get(link.joint.kind)
        if least is not None and nullity == len(least):
            local = [{_AT[name]: one for name in vector} for vector in least]
        else:
            local = _solved_locally(branch(shape, i), geometry, columns, len(columns) - nullity)
        for vector in local:
            row = {WIDTH * i + c: value for c, value in vector.items()}
            if link.parent != BASE:
                handed_down = _in_parent(mech, at_zero.R[i], at_zero.p[i], vector)
                row |= {WIDTH * link.parent + c: -value for c, value in handed_down.items()}
            found.append(row)
    return found


def local_rank(shape: Robot, link: int, columns: list[int]) -> int:
    """How many of a link's own parameters its own joint can tell apart."""
    chain = branch(shape, link)
    field = PrimeField.fresh()
    mech = mechanism_of(chain, field)
    rows = []
    for k in range(STATES):
        for row in own_rows(mech, *symbolic_state(mech, field, f" in state {k}")):
            rows.append([row[c].value for c in columns])
    return len(independent_rows(rows, field.prime))


def own_rows(mech: Mechanism, positions: list[Any], qd: list[Any], qdd: list[Any]) -> list[list[Any]]:
    """The torques along the last joint's axes per unit of each of the last link's eleven parameters."""
    forces = unit_forces(motion(mech, frames(mech, positions), qd, qdd)[-1], mech.zero)
    return [[*(mech.S[k].dot(f) for f in forces), qdd[k]] for k in mech.speeds[-1]]


def _solved_locally(chain: Robot, geometry: TrigAlgebra, columns: list[int], rank: int) -> list[Row]:
    """The null space of the last link's own rows."""
    has_formulas = chain.n <= EXPANDED and all(joint.type.elementary for joint in chain.joints)
    equations = (_expanded if has_formulas else _sampled)(chain, geometry, columns)
    return null_space(_independent(equations, columns, rank), columns, Quotient(geometry.one))


def _independent(equations: Iterator[Row], columns: list[int], rank: int) -> list[Row]:
    """The first `rank` equations that are linearly independent, judged modulo a prime at a random geometry."""
    field = PrimeField.fresh()
    seen: list[Row] = []
    residues: list[list[int]] = []
    kept: list[int] = []
    while len(kept) < rank and (more := list(islice(equations, rank))):
        seen += more
        residues += [[row[c].written(field).value if c in row else 0 for c in columns] for row in more]
        kept = independent_rows(residues, field.prime)
    return [seen[k] for k in kept[:rank]]


def _expanded(chain: Robot, geometry: TrigAlgebra, columns: list[int]) -> Iterator[Row]:
    """One equation for each monomial in the state's symbols, the shortest first."""
    algebra = algebra_of(chain, rates=True)
    mech = mechanism_of(chain, algebra)
    collected: dict[tuple[Any, ...], dict[int, list[tuple[Fraction, dict[Generator, int]]]]] = {}
    for place, row in enumerate(own_rows(mech, *symbolic_state(mech, algebra))):
        for c in columns:
            for coefficient, monomial in row[c].terms():
                of_state = (place, *((g, e) for g, e in monomial.items() if _is_state(g)))
                rest = {g: e for g, e in monomial.items() if not _is_state(g)}
                collected.setdefault(of_state, {}).setdefault(c, []).append((coefficient, rest))
    for parts in sorted(collected.values(), key=lambda parts: (len(parts), sum(map(len, parts.values())))):
        yield {c: Quotient(geometry.from_terms(terms)) for c, terms in parts.items()}


def _sampled(chain: Robot, geometry: TrigAlgebra, columns: list[int]) -> Iterator[Row]:
    """One equation for each of some rational states, without end."""
    mech = mechanism_of(chain, geometry)
    draw = Random(SEED)

    def number() -> TrigPoly:
        return geometry.number(draw.choice((-3, -2, -1, 1, 2, 3)))

    def circle_point() -> tuple[TrigPoly, TrigPoly]:
        s, c = draw.choice(((3, 4), (4, 3), (-3, 4), (4, -3), (5, 0), (0, 5)))
        return geometry.number(Fraction(s, 5)), geometry.number(Fraction(c, 5))

    while True:
        positions = joint_positions(mech, lambda _: number(), lambda _: circle_point())
        qd, qdd = ([number() for _ in range(mech.nv)] for _ in range(2))
        for row in own_rows(mech, positions, qd, qdd):
            yield {c: Quotient(row[c]) for c in columns if row[c]}


def _is_state(g: Generator) -> bool:
    return g.is_joint_angle or g.kind in ("displacement", "rate", "acceleration")


def _in_parent(mech: Mechanism, R: Any, p: Any, vector: Row) -> Row:
    """Ten parameters restated in the parent's frame; a drive's inertia stays behind."""
    total: Row = {}
    for c, value in vector.items():
        if c == DRIVE:
            continue
        for k, entry in enumerate(parameters_of(_unit_body(c, mech.zero, mech.one).to_parent(Transform(R, p)))):
            if entry:
                share = value * Quotient(entry)
                total[k] = total[k] + share if k in total else share
    return {k: value for k, value in total.items() if value}


def _unit_body(c: int, zero: Scalar, one: Scalar) -> BodyInertia:
    """The body of which one parameter is 1 and nine are 0."""
    return body_of([one if k == c else zero for k in range(WIDTH - 1)])


def body_of(parameters: list[Any]) -> BodyInertia:
    """XX XY XZ YY YZ ZZ MX MY MZ M as a body."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = parameters
    return BodyInertia(m, (mx, my, mz), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def parameters_of(body: BodyInertia) -> list[Any]:
    """A body's XX XY XZ YY YZ ZZ MX MY MZ M."""
    J = body.J
    return [J[0][0], J[0][1], J[0][2], J[1][1], J[1][2], J[2][2], *body.mr, body.m]


@by_kind
def check_null(shape: Robot, rows: Sequence[Row], special: bool = False) -> None:
    """ArithmeticError if a combination moves any joint at a random state of a random geometry.

    `special`: combinations are among them that are without effect only where the geometry is special.
    """
    for _ in range(CHECKS):
        field = PrimeField.fresh()
        mech = mechanism_of(shape, field)
        positions, qd, qdd = symbolic_state(mech, field)
        Y = regressor(mech, frames(mech, positions), qd, qdd)
        for row in rows:
            units = {column: value.written(field) for column, value in row.items()}
            if any(sum((Y[i][c] * u for c, u in units.items()), start=field.number(0)) for i in range(mech.nv)):
                raise ArithmeticError(FALSE_COMBINATION)
