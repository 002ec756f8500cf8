"""A kind of mechanism for tests: a planar chain whose second joint a gear turns `ratio` times as far as the first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from emdeg.algebra import Exact, Floats
from emdeg.dynamics import MechanismKind, mechanism_of
from emdeg.dynamics.arrays import checked_arrays
from emdeg.dynamics.functions import FUNCTIONS, Ways
from emdeg.dynamics.state import FramedState, Inputs, TreeState
from emdeg.dynamics.trees import functions as of_trees
from emdeg.robot import Constraints, ConstraintsDraft, Frame, Kind, Link, Robot, TomlTable

NAME = "geared chain"


@dataclass(frozen=True, slots=True)
class Gear(Constraints):
    """q2 = ratio q1; only the first joint has a motor."""

    kind: ClassVar[str] = NAME
    ratio: int = 2

    def independent(self, n: int) -> tuple[int, ...]:
        return (0,)

    def actuated(self, n: int) -> tuple[int, ...]:
        return (0,)

    @property
    def digested(self) -> object:
        return self

    def to_toml(self, links: Sequence[Link], root: str) -> list[str]:
        return [f"[gear]\nratio = {self.ratio}\n"]


@dataclass(frozen=True, slots=True)
class GearDraft(ConstraintsDraft):
    ratio: int = 2

    def resolved(
        self, links: Sequence[Link], host: Callable[[str, str], Frame], locked: Collection[str]
    ) -> Constraints:
        return Gear(self.ratio)


def read_gear(top: TomlTable, bodies: Sequence[Any]) -> GearDraft:
    table = top.subtable("gear")
    assert table is not None
    table.only(("ratio",))
    ratio = table.number("ratio") or Exact.of(0)
    return GearDraft(int(ratio.number))


def turned(pair: tuple[Any, Any], ratio: int) -> tuple[Any, Any]:
    """Sine and cosine of so many times an angle."""
    s, c = pair
    for _ in range(ratio - 1):
        s, c = s * pair[1] + c * pair[0], c * pair[1] - s * pair[0]
    return s, c


@dataclass(frozen=True)
class GearedState(FramedState):
    tree: Any
    ratio: int
    first: Any
    qd: Sequence[Any] = ()
    qdd: Sequence[Any] = ()
    tau: Sequence[Any] = ()
    p: Sequence[Any] = ()
    n: int = 1

    @property
    def position(self) -> list[Any]:
        return [self.first, turned(self.first, self.ratio)]

    @property
    def rates(self) -> list[list[Any]]:
        one = self.tree.one
        return [[one], [one * self.ratio]]

    @property
    def opened(self) -> TreeState:
        def both(values: Sequence[Any]) -> list[Any]:
            return [x for v in values for x in (v, v * self.ratio)]

        pushed = [x for t in self.tau for x in (t, t * 0)]
        return TreeState(self.tree, self.position, both(self.qd), both(self.qdd), pushed)

    def mass_matrix(self) -> list[list[Any]]:
        return along(of_trees.mass_matrix(self.opened)["M"], 2, self.ratio)

    def open_loops(self) -> tuple[()]:
        return ()

    def varied(self, rates: Mapping[str, Any], level: int, closing: bool = False) -> GearedState:
        first = self.tree.joints[0].lift(self.first, [rates["q"][0]], level) if "q" in rates else self.first
        return replace(self, first=first, **self.varied_arrays(rates, level))


def along(values: Any, axes: int, ratio: int, at: int = 0) -> Any:
    """W^T on the first of some axes, W^T and W on two."""
    if axes == 0:
        return values
    rows = [along(row, axes - 1, ratio) for row in values]
    return [_summed(rows[0], rows[1], ratio)]


def _summed(a: Any, b: Any, ratio: int) -> Any:
    return [_summed(x, y, ratio) for x, y in zip(a, b)] if isinstance(a, list | tuple) else a + b * ratio


def projected(name: str, run: Callable[[Any], Any]) -> Callable[[GearedState], Any]:
    """What a formulation of trees yields, along the gear."""
    shapes = {one.name: one.shape for one in FUNCTIONS[name].outputs}

    def of_gear(s: GearedState) -> dict[str, Any]:
        found = dict(run(s.opened))
        for output, shape in shapes.items():
            values = found[output]
            if shape[:1] == ("n",):
                values = along(values, shape.count("n"), s.ratio)
            elif shape[-1:] == ("n",):  # rows of velocities
                values = [along(row, 1, s.ratio) for row in values]
            found[output] = values
        return found

    return of_gear


def _solved(M: str, h: str) -> Callable[[GearedState], Any]:
    mass, bias = (projected(name, getattr(of_trees, run)) for name, run in (("mass_matrix", M), ("bias", h)))
    return lambda s: {"qdd": [(s.tau[0] - bias(s)["h"][0]) / mass(s)["M"][0][0]]}


def _derived(M: str, derivatives: str) -> Callable[[GearedState], Any]:
    mass = projected("mass_matrix", getattr(of_trees, M))
    by = projected("inverse_dynamics_derivatives", getattr(of_trees, derivatives))

    def run(s: GearedState) -> dict[str, Any]:
        qdd = _solved("mass_matrix", "bias")(s)["qdd"]
        m, slopes = mass(s)["M"][0][0], by(replace(s, qdd=qdd))
        found = {f"dqdd_d{x}": [[-slopes[f"dtau_d{x}"][0][0] / m]] for x in ("q", "qd")}
        return {"qdd": qdd, **found, "dqdd_dtau": [[s.tree.one / m]]}

    return run


def _elements(coriolis: str) -> Callable[[GearedState], Any]:
    run = projected("coriolis_matrix", getattr(of_trees, coriolis))

    def elements(s: GearedState) -> dict[str, Any]:
        c = run(replace(s, qd=[s.tree.one]))["C"]
        return {"M": s.mass_matrix()[0], "b": [], "c": c[0], "g": projected("gravity", of_trees.gravity)(s)["g"]}

    return elements


def implementations() -> dict[str, Ways]:
    """Every function of the core but those of square Jacobians, from those of trees."""
    own = {
        "forward_dynamics": (_solved("mass_matrix", "bias"), _solved("mass_matrix_by_columns", "bias_from_matrices")),
        "forward_dynamics_derivatives": (
            _derived("mass_matrix", "inverse_dynamics_derivatives"),
            _derived("mass_matrix_by_columns", "derivatives_of_matrices"),
        ),
        "elements": (_elements("coriolis_by_composites"), _elements("coriolis_from_derivatives")),
        "velocities": (
            lambda s: {"qd": [s.p[0] / s.mass_matrix()[0][0]]},
            lambda s: {"qd": [s.p[0] / projected("mass_matrix", of_trees.mass_matrix_by_columns)(s)["M"][0][0]]},
        ),
    }
    found = {}
    for name, entry in FUNCTIONS.items():
        if "tree" not in entry.ways or entry.square or "_with_friction" in name:
            continue
        ways = entry.ways["tree"]
        first = ways.formulations[ways.plain[0]]
        run, reference = own.get(name) or (projected(name, first), projected(name, ways.reference[1]))
        found[name] = Ways({"along the gear": run}, reference=("along the gear, otherwise", reference))
    return found


class Geared(MechanismKind):
    name = NAME

    def state(self, robot: Robot, inputs: Inputs) -> GearedState:
        mech = mechanism_of(robot, inputs.algebra)
        return GearedState(mech, robot.constraints.ratio, inputs.circle(0), **inputs.arrays(lambda _: 1))

    def numbers(self, robot: Robot, arrays: Mapping[str, Any], *, rotors: bool = False, wrench: Any = None):
        assert not rotors
        assert wrench is None
        checked, shape = checked_arrays(arrays, 1, lambda name: f"joint of {robot.name}")
        given = {name: [array[..., 0]] for name, array in zip(arrays, checked)}
        (q,) = given.pop("q")
        return GearedState(
            mechanism_of(robot, Floats()), robot.constraints.ratio, (np.sin(q), np.cos(q)), **given
        ), shape

    def joint_positions(self, robot: Robot, q: Any) -> Any:
        at = np.asarray(q, dtype=np.float64)
        return np.concatenate([at, robot.constraints.ratio * at], axis=-1)


def geared_kind() -> Kind:
    """The record that a test registers."""
    return Kind(
        NAME, Geared(), implementations=implementations(), sections=("gear",), read_sections=read_gear, instead={}
    )
