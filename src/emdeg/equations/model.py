"""The explicit equations of motion of a robot, derived and kept as frozen formulas.

    tau_i = sum_j M_ij qdd_j + sum_{j<k} b_ijk qd_j qd_k + sum_j c_ij qd_j^2 + g_i

with b_ijk = 2 beta_ijk and c_ij = beta_ijj (Armstrong, Khatib and Burdick, eqs. 1 and 4-6). Joints are numbered
from 1, as in the papers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from emdeg.algebra import DEFAULT_MAX_TERMS, Generator, TrigAlgebra, TrigPoly
from emdeg.equations.formulas import DYNAMICS, Formulas, Matrix, Row, Triple, formulas_of, zero_slopes
from emdeg.equations.kinematics import Kinematics
from emdeg.equations.reading import Compact, Constant, Hierarchy, Lumped, compact, hierarchy, lump, widened
from emdeg.errors import NotDerived, OverBudget, RobotError
from emdeg.robot import Known, Robot, RobotLike, algebra_of, as_robot, parallel_joints, stated_tolerances, symbolize

MOST_ANGLES = 2
"""Constant angles that may be letters beside a robot's symbols: each doubles the length of what it multiplies."""


@dataclass(frozen=True, eq=False)
class Model:
    """M, Christoffel symbols and gravity of a robot, and its kinematics on request; see `derive`."""

    robot: Robot
    algebra: TrigAlgebra
    parts: frozenset[str]
    """What was derived: of M, b, c, g."""
    stated: Formulas | None = None
    """The formulas; None where they are those of `general` with the robot's numbers put in."""
    known: Mapping[str, Known] = field(default_factory=dict)
    """Symbol -> the number it stands for, where the robot had one."""
    general: Model | None = None
    """The same equations in symbols (m2, rx2, Ixx2, a2, ...), of which this is the one with numbers."""

    def __hash__(self) -> int:
        return hash((self.robot, self.parts))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        same = self.robot == other.robot and self.parts == other.parts and self.algebra == other.algebra
        return same and self.known == other.known and self.formulas == other.formulas

    @cached_property
    def formulas(self) -> Formulas:
        """M, Christoffel symbols and g in this model's algebra."""
        if self.stated is not None:
            return self.stated
        if self.general is None:
            return Formulas()
        numbers = {
            Generator("parameter", name): self.algebra.number(known.value) for name, known in self.general.known.items()
        }
        return self.general.formulas.put(numbers, self.algebra, [link.parent for link in self.robot.links])

    @property
    def M_links(self) -> Matrix:
        """n x n: the mass matrix without the drives' inertias, which do not depend on the configuration."""
        return self.formulas.M_links

    @property
    def drives(self) -> Row:
        """Every drive's inertia at its joint; M is M_links with these on its diagonal."""
        return self.formulas.drives

    @property
    def beta(self) -> Mapping[Triple, TrigPoly]:
        """(i, j, k), j <= k -> the Christoffel symbol of the first kind; zeros included."""
        return self.formulas.beta

    @property
    def g(self) -> Row:
        """n: the generalized forces of gravity, g = dV/dq."""
        return self.formulas.g

    @property
    def n(self) -> int:
        """The number of joint variables."""
        return self.robot.n

    @cached_property
    def M(self) -> Matrix:
        """n x n: the mass matrix, drives included."""
        self._need("M")
        return tuple(
            tuple(m + self.drives[i] if i == j else m for j, m in enumerate(row)) for i, row in enumerate(self.M_links)
        )

    def christoffel(self, i: int, j: int, k: int) -> TrigPoly:
        """beta_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
        self._need("b", "c")
        return self.beta[(i, j, k) if j <= k else (i, k, j)]

    def b(self, i: int, j: int, k: int) -> TrigPoly:
        """The Coriolis coefficient of qd_j qd_k in row i, j != k."""
        if j == k:
            raise ValueError(f"b_{i}{j}{k} does not exist: the coefficient of qd_{j}^2 is c_{i}{j}")
        return 2 * self.christoffel(i, j, k)

    def c(self, i: int, j: int) -> TrigPoly:
        """The centrifugal coefficient of qd_j^2 in row i."""
        return self.christoffel(i, j, j)

    def dM(self, i: int, j: int, k: int) -> TrigPoly:
        """dM_ij/dq_k."""
        self._need("M")
        return self.M_links[i - 1][j - 1].derivative(k)

    @cached_property
    def coriolis_matrix(self) -> Matrix:
        """C with C_ij = sum_k beta_ijk qd_k, so that M-dot - 2C is skew; in an algebra with rates."""
        algebra = self.algebra.with_rates()
        rates = [algebra.rate(k) for k in self._joints]
        return tuple(
            tuple(
                algebra.sum_of_products(
                    (algebra.lifted(self.christoffel(i, j, k)), rate) for k, rate in enumerate(rates, 1)
                )
                for j in self._joints
            )
            for i in self._joints
        )

    def entries(self, parts: Iterable[str] = DYNAMICS, *, drives: bool = True) -> dict[str, TrigPoly]:
        """Name -> formula, in the order of `emdeg.elements`: M11, M12, ..., b112, ..., c11, ..., g1, ...

        Without `drives` the diagonal of M is that of the links alone.
        """
        wanted = set(parts)
        found: dict[str, TrigPoly] = {}
        if "M" in wanted:
            M = self.M if drives else self.M_links
            self._need("M")
            for i in self._joints:
                for j in range(i, self.n + 1):
                    found[entry_name("M", i, j)] = M[i - 1][j - 1]
        if "b" in wanted:
            self._need("b")
            for i in self._joints:
                for j, k in combinations(self._joints, 2):
                    found[entry_name("b", i, j, k)] = self.b(i, j, k)
        if "c" in wanted:
            self._need("c")
            for i in self._joints:
                for j in self._joints:
                    found[entry_name("c", i, j)] = self.c(i, j)
        if "g" in wanted:
            self._need("g")
            for i in self._joints:
                found[entry_name("g", i)] = self.g[i - 1]
        return found

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Symbol -> its number in doubles, for `TrigPoly.evaluate`; symbols without a number are absent."""
        return {name: float(known.value) for name, known in self.known.items()}

    def evaluate(self, q: Any, parameters: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Every entry's value at q (..., n), in doubles; `parameters` give or replace symbols' numbers."""
        values = self.numbers | dict(parameters or {})
        return {name: f.evaluate(q, parameters=values) for name, f in self.entries(self.parts).items()}

    @cached_property
    def kinematics(self) -> Kinematics:
        """Frames, Jacobians and their inverses, each formed when asked for."""
        return Kinematics(self.robot, self.algebra)

    @cached_property
    def lumped(self) -> Lumped:
        """The mechanism's constants and every entry in them; see `lumped_constants`."""
        return lumped_constants(self)

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The lumped constants: name, formula in the robot's parameters, value, tolerance, unit, uses."""
        return self.lumped.constants

    def compact(self) -> Compact:
        """The reading form: entries in lumped constants and abbreviated sines and cosines."""
        return self._compact

    def hierarchy(self) -> Hierarchy:
        """EMDEG's hierarchical form: constants K, products T, brackets V, entries."""
        return self._hierarchy

    @cached_property
    def _compact(self) -> Compact:
        return compact(self.lumped)

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        return hierarchy(self.lumped)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part} {sum(map(len, self.entries([part]).values()))}" for part in self._parts)
        return f"<Model of {self.robot.name}: {self.n} joints, {len(self.algebra.parameters)} symbols; terms: {sizes}>"

    def _repr_latex_(self) -> str:
        from emdeg.equations.notebook import latex

        return latex(self)

    def _repr_html_(self) -> str:
        from emdeg.equations.notebook import html

        return html(self)

    @property
    def _joints(self) -> range:
        return range(1, self.n + 1)

    @property
    def _parts(self) -> Iterator[str]:
        return (part for part in DYNAMICS if part in self.parts)

    def _need(self, *any_of: str) -> None:
        if not self.parts.intersection(any_of):
            raise NotDerived(
                f"{any_of[0]} was left out of this model (it has {', '.join(self._parts) or 'none'}): "
                f"derive it with only={(*self._parts, any_of[0])}"
            )


def entry_name(letter: str, *indices: int) -> str:
    """M12, b112, c21, g3; from ten joints on with the numbers kept apart: M_1_12.

    >>> entry_name("b", 1, 1, 2), entry_name("M", 1, 12)
    ('b112', 'M_1_12')
    """
    digits = [str(i) for i in indices]
    return letter + ("".join(digits) if all(len(d) == 1 for d in digits) else "".join(f"_{d}" for d in digits))


def lumped_constants(model: Model) -> Lumped:
    """The named constants of a model and its entries in them.

    They are found in the symbols that the model was derived in (m2, rx2, Ixx2, a2, ...), so that every constant has a
    formula in the robot's parameters beside its value and tolerance. With many constant angles that are no right
    ones, and in a model that never had symbols, every distinct coefficient is a constant, a number where the robot's
    are.

    >>> import emdeg
    >>> from emdeg.equations import derive
    >>> found = lumped_constants(derive(emdeg.load("planar2r")))
    >>> [(constant.name, str(constant.formula)) for constant in found.constants][1:3]
    [('I2', 'a1*m2*rx2'), ('I3', 'm2*rx2^2 + Izz2')]
    """
    source = model.general or model
    formulas, by_coefficient = source.formulas, not source.algebra.parameters
    if sum(angle.symbol is None for angle in source.algebra.constant_angles) > MOST_ANGLES:
        formulas, by_coefficient = _with_rational_angles(source), True
    parts = [part for part in DYNAMICS if part in source.parts]
    entries = replace(source, stated=formulas).entries(parts)
    values = {name: number.value for name, number in source.known.items()}
    lumped = lump(
        entries,
        groups=parallel_joints(source.robot),
        drives=dict(enumerate(formulas.drives, 1)) if "M" in source.parts else {},
        values=values,
        tolerances={name: number.tolerance or 0 for name, number in source.known.items()},
        by_coefficient=by_coefficient,
    )
    tolerances = stated_tolerances(source.robot)
    # What M gains decides what b and c gain, if the constants are those of M.
    judged = [part for part in parts if by_coefficient or part in "Mg"]
    slopes = (
        (path, replace(source, stated=slope).entries(judged, drives=False))
        for path, slope in zero_slopes(source.robot, lumped.algebra, judged)
    )
    found = widened(lumped, slopes, tolerances, values) if tolerances else lumped
    if model.general is None or not model.robot.symbols:
        return found
    # Beside the robot's own symbols its numbers stay numbers; where they stand was found in symbols.
    constants = (replace(c, formula=c.formula.substitute({**values})) for c in found.constants)
    return replace(found, constants=tuple(constants))


def _with_rational_angles(model: Model) -> Formulas:
    """The formulas with numbers for the sines and cosines of constant angles: as letters they are too long to read."""
    algebra = algebra_of(model.robot, rational_angles=True, budget=model.algebra.max_terms)
    images: dict[Generator, TrigPoly] = {}
    for angle in model.algebra.constant_angles:
        sine, cosine = algebra.sincos(angle)
        images |= {Generator("sine", angle): sine, Generator("cosine", angle): cosine}
    return model.formulas.put(images, algebra, [link.parent for link in model.robot.links])


def derive(
    robot: RobotLike,
    only: str | Iterable[str] | None = None,
    *,
    symbolic: bool = False,
    rational_angles: bool = False,
    budget: int = DEFAULT_MAX_TERMS,
) -> Model:
    """The explicit equations of motion of `robot`, exact: M, b_ijk, c_ij and g as trigonometric polynomials.

    Numbers are exact rationals, symbols stay symbols; with `symbolic` every number becomes a symbol (m2, rx2,
    Ixx2, a2, ...) that remembers its value and tolerance. `only`, say "M,g", leaves the other parts out. A formula
    of more than `budget` terms is an error (`OverBudget`). Friction and rotors' gyroscopic terms are not in it.

    Constant angles that are no multiples of a right angle are letters of their own; with `rational_angles` their
    sines and cosines are numbers, exact for an angle within 1e-19 rad, and the formulas far shorter.

    A robot's numbers, all it has or some, are derived in symbols all the same, once: the reading form has its
    constants' formulas from that, and the formulas with numbers are those with the numbers put in (`Model.general`).

    >>> import emdeg
    >>> model = emdeg.derive("planar2r")
    >>> print(model.M[0][0])
    c2 + 5/3
    """
    robot = as_robot(robot)
    if not robot.is_tree:  # its links alone are a tree, which is another machine
        raise RobotError("it has closed loops: use emdeg.loops.equations.blocks.derive_loops", body=robot.name)
    parts = _parts(only)
    if symbolic:
        return _derived(*symbolize(robot), parts, rational_angles, budget)
    if rational_angles:
        return _derived(robot, {}, parts, rational_angles, budget)
    own = algebra_of(robot, budget=budget)
    if len(own.constant_angles) > MOST_ANGLES:
        return _derived(robot, {}, parts, rational_angles, budget)
    symbols, known = symbolize(robot)
    try:
        general = _derived(symbols, known, parts, rational_angles, budget)
    except OverBudget:  # with numbers there are fewer terms
        return _derived(robot, {}, parts, rational_angles, budget)
    if not known:  # it has no number that could be a symbol
        return general
    return Model(robot, own, general.parts, general=general)


def _derived(
    robot: Robot, known: Mapping[str, Known], parts: frozenset[str], rational_angles: bool, budget: int
) -> Model:
    """The model in the robot's own letters: those of the parts that were asked for, and M for b and c."""
    algebra = algebra_of(robot, budget=budget, rational_angles=rational_angles)
    try:
        formulas = formulas_of(robot, algebra, parts)
    except OverBudget as problem:
        raise OverBudget(f"{robot.name}: {problem} (budget=.. of derive, --budget)") from None
    if parts & {"b", "c"}:
        parts |= {"M", "b", "c"}
    return Model(robot, algebra, parts, formulas, MappingProxyType(dict(known)))


def _parts(only: str | Iterable[str] | None) -> frozenset[str]:
    if only is None:
        return frozenset(DYNAMICS)
    wanted = [part.strip() for part in (only.split(",") if isinstance(only, str) else only)]
    for part in wanted:
        if part not in DYNAMICS:
            raise ValueError(f"there is no part {part!r}; the equations of motion have {', '.join(DYNAMICS)}")
    return frozenset(wanted)
