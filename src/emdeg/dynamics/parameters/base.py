"""The base parameters: the fewest inertial parameters that the equations of motion depend on.

Every link has ten inertial parameters and its drive's inertia, but torques show only combinations of them. The kept
parameters stand for such combinations; the others are grouped into them, or have no effect. Decided exactly, for
numbers and for symbols in the geometry. Bodies that constraints add stand behind the links. Numeric angles that are no
multiples of 45 degrees are taken as independent of one another, here as in every exact algebra of emdeg: what is
grouped is right in any case, but where slides alone stand between twists of, say, 15, 15 and -30 degrees, the axes are
not seen to be parallel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from emdeg.algebra import ZERO, Algebra, Angle, Exact, Quotient, TrigAlgebra
from emdeg.algebra.linear import Row, reduce_rows
from emdeg.documents import Brief, listing
from emdeg.dynamics.mechanism import Mechanism, mechanism_of
from emdeg.dynamics.parameters.regressor import (
    COLUMNS,
    DRIVE,
    WIDTH,
    body_of,
    check_null,
    null_combinations,
    parameters_of,
)
from emdeg.errors import OverBudget, RobotError
from emdeg.robot import (
    Inertia,
    Robot,
    RobotLike,
    algebra_of,
    as_robot,
    by_kind,
    geometry,
    loaded_inertias,
    remembered,
)

DROPPED_FIRST = ("Ia", "YY", "M", "MZ", "MY", "MX", "YZ", "XZ", "XY", "XX", "ZZ")
"""Within a link, which of several parameters that could be grouped away goes first (Khalil's choice)."""


MOST_TERMS = 20_000
"""Of a coefficient with which a parameter is grouped. Arms have some dozens; quotients of quotients pass any number."""


class Column(NamedTuple):
    """A column of the regressor: the link's index, from 0, and the parameter's name."""

    link: int
    name: str

    @property
    def place(self) -> int:
        """Which column of the full regressor this is."""
        return WIDTH * self.link + COLUMNS.index(self.name)

    def __str__(self) -> str:
        return f"{self.name}{self.link + 1}"


Combination = tuple[tuple[Column, Quotient], ...]
"""A linear combination of parameters, its coefficients constants of the geometry."""


@dataclass(frozen=True, slots=True)
class ParameterRelation:
    """One unit of a parameter that is not kept acts on every joint as these units of kept ones do."""

    column: Column
    acts_as: Combination


@dataclass(frozen=True, slots=True, repr=False)
class BaseParameters(Brief):
    """Which parameters are kept, and how the others are grouped into them. See `base_parameters`."""

    columns: tuple[Column, ...]
    """All parameters, in the regressor's order."""
    kept: tuple[Column, ...]
    relations: tuple[ParameterRelation, ...]
    """One for each parameter that is not kept."""
    minimal: bool
    """Whether no set is smaller: true unless parameters were to be left where they are."""

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def without_effect(self) -> tuple[Column, ...]:
        """The parameters that act on no joint."""
        return tuple(relation.column for relation in self.relations if not relation.acts_as)

    @property
    def grouping(self) -> dict[Column, Combination]:
        """Each kept parameter's combination of all parameters, its own first with coefficient 1."""
        groups: dict[Column, list[tuple[Column, Quotient]]] = {column: [] for column in self.kept}
        for relation in self.relations:
            for column, coefficient in relation.acts_as:
                groups[column].append((relation.column, coefficient))
        return {column: tuple(parts) for column, parts in groups.items()}

    def _repr_html_(self) -> str:
        return listing(f"{len(self)} base parameters of {len(self.columns)}", str(self))

    def __str__(self) -> str:
        return "\n".join(combination_text(column, parts) for column, parts in self.grouping.items())


def combination_text(column: Column, parts: Combination, times: str = "*") -> str:
    """ "XX2r = XX2 - YY2 + ..." for a kept parameter; without the r where it stands for itself alone."""
    if not parts:
        return str(column)
    text = str(column)
    for other, coefficient in parts:
        factor = str(coefficient)
        sign = "+"
        if coefficient.is_formula and len(coefficient.numerator) == 1:
            if factor.startswith("-"):
                sign, factor = "-", factor[1:]
        else:
            factor = f"({factor})"
        text += f" {sign} {other}" if factor == "1" else f" {sign} {factor}{times}{other}"
    return f"{column}r = {text}"


def base_parameters(
    robot: RobotLike,
    drives: bool = True,
    prefer: Iterable[tuple[int, str]] = (),
    leave: Iterable[tuple[int, str]] = (),
) -> BaseParameters:
    """The robot's base parameters, its drives' inertias among them or not; its masses do not matter here.

    Which of several equally small sets: the parameters in `prefer` are kept if any set has them, the first of them
    above all; then those of links nearer to the base. Those in `leave` stay where they are in any case: others may
    be grouped into them, and the set is then larger by one each. Both hold pairs (link's index from 0, name), the
    name one of XX XY XZ YY YZ ZZ MX MY MZ M Ia.

    >>> import emdeg
    >>> len(emdeg.base_parameters("puma560").kept)
    40
    """
    robot = as_robot(robot)
    try:
        return _base_parameters(geometry(robot), drives, _known(robot, prefer), _known(robot, leave))
    except OverBudget:
        raise OverBudget(
            f"{robot.name}: how its inertial parameters are grouped takes formulas of more than {MOST_TERMS} terms, "
            "for its axes are twisted by many angles that are no multiples of 45 degrees"
        ) from None


def bodies_of(robot: Robot) -> int:
    """How many bodies have inertial parameters."""
    return len(robot.bodies)


def _known(robot: Robot, columns: Iterable[tuple[int, str]]) -> tuple[Column, ...]:
    found = tuple(dict.fromkeys(Column(*column) for column in columns))
    for column in found:
        if column.name not in COLUMNS or not 0 <= column.link < bodies_of(robot):
            last = bodies_of(robot) - 1
            raise RobotError(
                f"it has no parameter {tuple(column)!r}: give a link's index from 0 to {last} and one of "
                + " ".join(COLUMNS),
                body=robot.name,
            )
    return found


@lru_cache(maxsize=128)
def _base_parameters(
    shape: Robot, drives: bool, prefer: tuple[Column, ...], leave: tuple[Column, ...]
) -> BaseParameters:
    bodies = range(bodies_of(shape))
    columns = tuple(Column(i, name) for i in bodies for name in COLUMNS if drives or name != "Ia")
    order: list[list[int]] = [
        [column.place for name in DROPPED_FIRST if (column := Column(i, name)) in columns and column not in prefer]
        for i in reversed(bodies)
    ]
    order += [[column.place] for column in reversed(prefer) if column in columns]
    rows = _null_combinations(shape, drives)
    kept_apart = {column.place for column in leave}
    reduced = reduce_rows(rows, order, kept_apart)
    minimal = not reduced.unused
    check_null(shape, list(reduced.solved.values()))
    open_ = [column.place for column in columns if column.place not in reduced.solved]
    more = further_combinations(shape, open_, order, algebra_of(shape, joints=False, budget=MOST_TERMS))
    if more:
        reduced = reduce_rows([*rows, *more], order, kept_apart)
        minimal = not reduced.unused
        check_null(shape, list(reduced.solved.values()), special=True)
    solved = reduced.solved
    by_place = {column.place: column for column in columns}
    kept = tuple(column for column in columns if column.place not in solved)
    relations = tuple(
        ParameterRelation(
            column,
            tuple((by_place[c], -row[c]) for c in sorted(row) if c != column.place),
        )
        for column in columns
        if (row := solved.get(column.place)) is not None
    )
    return BaseParameters(columns, kept, relations, minimal)


@lru_cache(maxsize=128)
def _null_combinations(shape: Robot, drives: bool) -> list[dict[int, Quotient]]:
    return null_combinations(shape, algebra_of(shape, joints=False, budget=MOST_TERMS), drives)


@by_kind
def further_combinations(
    shape: Robot, kept: Sequence[int], order: Sequence[Sequence[int]], constants: TrigAlgebra
) -> list[Row]:
    """More vectors without effect among the columns `kept`, where the geometry is special.

    `order`: groups of columns, those to be expressed by others first.
    """
    return []


class _Exacts:
    """Exact numbers and symbols; constant angles' sines and cosines to 60 digits."""

    def number(self, value: Any) -> Exact:
        return Exact.of(value)

    def symbol(self, name: str) -> Exact:
        return Exact.symbol(name)

    def sincos(self, angle: Angle) -> tuple[Exact, Exact]:
        s, c = angle.sincos()
        return Exact.of(s), Exact.of(c)


def _exact(coefficient: Quotient) -> Exact | None:
    """The coefficient as an exact value; None where it is none (a symbol divided by, a symbolic angle's sine)."""
    try:
        numerator = Quotient(coefficient.numerator).written(_Exacts())
        denominator = Quotient(coefficient.denominator).written(_Exacts())
    except ValueError:
        return None
    return numerator / denominator.number if denominator.is_number else None


def parameters(robot: Robot) -> tuple[Exact, ...]:
    """Every body's XX XY XZ YY YZ ZZ MX MY MZ M with what it carries, and its drive's Ia: tau = Y times these."""
    of_links = [
        value
        for link, inertia in zip(robot.links, loaded_inertias(robot))
        for value in (*inertia.parameters, link.joint.drive.inertia)
    ]
    others = robot.constraints.body_parameters()
    return (*of_links, *(own.get(name, ZERO) for own in others for name in COLUMNS))


def base_values(robot: Robot, base: BaseParameters | None = None) -> tuple[Exact, ...]:
    """The kept parameters' values, in the order of `kept`; tau = Y_base times these."""
    base = base_parameters(robot) if base is None else base
    values, skipped = _regrouped_values(robot, base)
    if skipped:
        raise RobotError(
            f"{skipped[0]} is grouped with coefficients that are no polynomials in its symbols; "
            "give its geometry numbers (--set NAME=VALUE, or emdeg.substitute)",
            body=robot.name,
        )
    return tuple(values[column.place] for column in base.kept)


def regrouped(robot: Robot, base: BaseParameters | None = None) -> Robot:
    """A robot with the same equations of motion whose parameters are zero but for the kept ones.

    Its bodies are no longer physical; payloads are part of the links. What could only be grouped by dividing by a
    symbol, or with a symbolic angle's sine, stays where it is; `regrouped_mechanism` groups that too.
    """
    base = base_parameters(robot) if base is None else base
    values, _ = _regrouped_values(robot, base)
    note = f"its inertias are regrouped into {len(base)} parameters with the same torques; no body has them"
    return _with_values(robot, values, "regrouped inertias", note)


def with_base_values(robot: Robot, base: BaseParameters, values: Sequence[Exact], why: str, note: str) -> Robot:
    """The robot with these values of its base parameters and zeros elsewhere; `why` no body need have them."""
    told = dict(zip(base.kept, values))
    every = [told.get(column, ZERO) for column in base.columns]
    return _with_values(robot, every, why, note)


def _with_values(robot: Robot, values: Sequence[Exact], why: str, note: str) -> Robot:
    """The robot with these parameters in the regressor's order, its payloads part of them."""
    links = []
    for i, link in enumerate(robot.links):
        own = values[WIDTH * i : WIDTH * (i + 1)]
        drive = link.joint.drive
        if drive.motor_inertia is None and drive.gear_ratio and drive.gear_ratio.is_number:
            # The rotor's own inertia, for the gyroscopic terms, was implied by the one seen at the joint.
            drive = replace(drive, motor_inertia=drive.inertia / drive.gear_ratio.number**2)
        joint = replace(link.joint, drive=replace(drive, inertia=own[DRIVE]))
        links.append(replace(link, joint=joint, inertia=Inertia.from_parameters(tuple(own[:DRIVE])), stated=None))
    others: list[dict[str, Exact]] = [
        dict(zip(COLUMNS, values[WIDTH * k : WIDTH * (k + 1)])) for k in range(robot.n, bodies_of(robot))
    ]
    return replace(
        robot,
        links=tuple(links),
        constraints=robot.constraints.with_body_parameters(others),
        payloads=(),
        nonphysical=why,
        tolerances={},
        sources={},
        notes=(*robot.notes, note),
    )


def _regrouped_values(robot: Robot, base: BaseParameters) -> tuple[list[Exact], list[Column]]:
    """(all parameters, those not kept being zero; the relations' columns that had to stay as they were)."""
    old = parameters(robot)
    new = list(old)
    skipped: list[Column] = []
    for relation in base.relations:
        value = old[relation.column.place]
        if not value:
            continue
        shares = [(column, _exact(coefficient)) for column, coefficient in relation.acts_as]
        if any(share is None for _, share in shares):
            skipped.append(relation.column)
            continue
        new[relation.column.place] = ZERO
        for column, share in shares:
            new[column.place] = new[column.place] + value * (share or ZERO)
    return new, skipped


def regrouped_mechanism(robot: Robot, algebra: Algebra, base: BaseParameters | None = None) -> Mechanism:
    """The regrouped robot written in an algebra, exact there even where `Exact` cannot hold the grouping.

    The coefficients are made of the algebra's own sines and cosines of the constant angles, so that a run modulo a
    prime gives the very torques of the robot as it was. Where no `base` is given and the base parameters take formulas
    that are too long, it is left as it is.
    """
    mech, base = mechanism_of(robot, algebra), _grouping(robot) if base is None else base
    if base is None:
        return mech
    old = [v for body, drive in zip(mech.inertia, mech.drive) for v in (*parameters_of(body), drive)]
    zero = mech.zero
    new = list(old)
    nothing = [not value for value in parameters(robot)]
    for relation in base.relations:
        index = relation.column.place
        new[index] = zero
        if not nothing[index]:
            for column, coefficient in relation.acts_as:
                new[column.place] = new[column.place] + old[index] * coefficient.written(algebra)
    slices: list[Sequence[Any]] = [new[WIDTH * i : WIDTH * (i + 1)] for i in range(robot.n)]
    return replace(
        mech,
        inertia=tuple(body_of(list(own[:DRIVE])) for own in slices),
        drive=tuple(own[DRIVE] for own in slices),
    )


@remembered(64)
def _grouping(robot: Robot) -> BaseParameters | None:
    """Its base parameters; None where the formulas that they take are too long."""
    try:
        return base_parameters(robot)
    except OverBudget:
        return None
