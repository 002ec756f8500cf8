"""THE CATALOGUE: every function of a model, once.

Numbers, programs and proofs are runs of the same entry over arrays, over a tracer and over a prime field. To add a
function: one entry here. To add a formulation: one line in an entry's `formulations`. The entries here are those of
trees; an extension adds the implementations of its kind of mechanism, and functions that only this has (`Kind`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from emdeg.algebra import derivative
from emdeg.algebra.linear import product
from emdeg.dynamics.functions.derived import WITHIN, derivatives_of
from emdeg.dynamics.functions.function import Function, Output, Run, Ways
from emdeg.dynamics.functions.names import RUBBING, WITH_FRICTION
from emdeg.dynamics.state import TREE, Balance, Outputs
from emdeg.dynamics.trees import classical
from emdeg.dynamics.trees import functions as of_trees
from emdeg.robot import Kind, known_kinds, resolved

EFFORT = "N m, N"
INERTIA = "kg m^2, kg m, kg"
MOMENTUM = "kg m^2/s, kg m/s"
tree = TREE.name

_ALL = (
    Function(
        "inverse_dynamics",
        "the efforts of the driven joints that a motion needs",
        ("q", "qd", "qdd"),
        (Output("tau", ("n",), EFFORT, (0,)),),
        {
            tree: Ways(
                {
                    "Newton-Euler": of_trees.inverse_dynamics,
                    "Luh-Walker-Paul": classical.efforts_by_luh_walker_paul_of,
                    "composite bodies": classical.efforts_by_composite_bodies,
                    "Kane": classical.efforts_by_kane,
                    "Kane, coefficients": classical.efforts_by_kane_coefficients,
                    "Lagrange": classical.efforts_by_lagrange,
                    "Lagrange-Uicker": classical.efforts_by_uicker,
                    "extended bodies": classical.efforts_by_extended_bodies,
                },
                reference=("M qdd + C qd + dV/dq", of_trees.inverse_dynamics_from_matrices),
                searched=("Newton-Euler",),
                rotors=of_trees.inverse_dynamics,
                jacobian=("inverse_dynamics_derivatives", "mass_matrix"),
            ),
        },
    ),
    Function(
        "forward_dynamics",
        "the accelerations that efforts cause",
        ("q", "qd", "tau"),
        (Output("qdd", ("n",), "rad/s^2, m/s^2"),),
        {
            tree: Ways(
                {
                    "composite bodies": of_trees.forward_dynamics,
                    "Walker-Orin 1": classical.accelerations_by_method_1,
                    "Walker-Orin 2": classical.accelerations_by_method_2,
                    "Walker-Orin 3": classical.accelerations_by_method_3,
                    "Walker-Orin 4": classical.accelerations_by_method_4,
                },
                reference=("articulated bodies", of_trees.accelerations_of_articulated_bodies),
                searched=("composite bodies",),
                numbers=of_trees.accelerations_of_articulated_bodies,
                rotors=of_trees.forward_dynamics,
                balance=of_trees.balance_of_efforts,
                solves=("inverse_dynamics", "mass_matrix"),
                jacobian=("forward_dynamics_derivatives",),
            ),
        },
        divides=True,
    ),
    Function(
        "mass_matrix",
        "M, symmetric",
        ("q",),
        (Output("M", ("n", "n"), INERTIA),),
        {
            tree: Ways(
                {
                    "composite bodies": of_trees.mass_matrix,
                    "Lagrange": of_trees.mass_matrix_by_lagrange,
                    "Walker-Orin 1": classical.mass_matrix_by_columns_of_luh_walker_paul,
                    "Walker-Orin 2": classical.mass_matrix_by_half_columns,
                    "Izaguirre-Paul": classical.mass_matrix_by_izaguirre_paul,
                    "Kane": classical.mass_matrix_by_kane,
                    "Lagrange-Uicker": classical.mass_matrix_by_uicker,
                    "extended bodies": classical.mass_matrix_by_extended_bodies,
                },
                reference=("Newton-Euler at unit accelerations", of_trees.mass_matrix_by_columns),
                searched=("composite bodies", "Lagrange"),
                rotors=of_trees.mass_matrix,
            ),
        },
    ),
    Function(
        "coriolis_matrix",
        "C from Christoffel symbols: C qd are the Coriolis and centrifugal efforts, M-dot - 2C is skew",
        ("q", "qd"),
        (Output("C", ("n", "n"), "kg m^2/s, kg m/s, kg/s"),),
        {
            tree: Ways(
                {
                    "composite bodies": of_trees.coriolis_by_composites,
                    "body by body": of_trees.coriolis_by_bodies,
                    "Lagrange": of_trees.coriolis_by_lagrange,
                },
                reference=("derivatives of the mass matrix", of_trees.coriolis_from_derivatives),
                plain=("composite bodies", "Lagrange"),
                searched=("composite bodies", "body by body", "Lagrange"),
                numbers=of_trees.coriolis_by_bodies,
                rotors=of_trees.coriolis_with_rotors,
            ),
        },
    ),
    Function(
        "bias",
        "h = C qd + g: the efforts that hold the joints' speeds",
        ("q", "qd"),
        (Output("h", ("n",), EFFORT),),
        {
            tree: Ways(
                {"Newton-Euler": of_trees.bias},
                reference=("C qd + dV/dq", of_trees.bias_from_matrices),
                searched=("Newton-Euler",),
                rotors=of_trees.bias,
            ),
        },
    ),
    Function(
        "gravity",
        "g = dV/dq: the efforts that hold the robot still",
        ("q",),
        (Output("g", ("n",), EFFORT),),
        {
            tree: Ways(
                {"Newton-Euler": of_trees.gravity, "Izaguirre-Paul": classical.gravity_by_izaguirre_paul},
                reference=("dV/dq", of_trees.gravity_from_potential),
                searched=("Newton-Euler",),
            ),
        },
    ),
    Function(
        "elements",
        "every coefficient: M's upper triangle row by row; b_ijk for i, then j < k; c_ij row by row; g",
        ("q",),
        (
            Output("M", ("n (n + 1) / 2",), INERTIA),
            Output("b", ("n n (n - 1) / 2",), INERTIA),
            Output("c", ("n n",), INERTIA),
            Output("g", ("n",), EFFORT),
        ),
        {
            tree: Ways(
                {
                    "Lagrange": of_trees.elements_by_lagrange,
                    "extended bodies": of_trees.elements_by_extended_bodies,
                    "body by body": of_trees.elements_at_unit_rates,
                },
                reference=("derivatives of the mass matrix and of the potential", of_trees.elements_from_derivatives),
                plain=("Lagrange", "extended bodies"),
                searched=("Lagrange", "extended bodies"),
                numbers=of_trees.elements_at_unit_rates,
            ),
        },
    ),
    Function(
        "forward_kinematics",
        "the tool in the base frame",
        ("q",),
        (Output("T", ("4", "4"), "1, m"),),
        {
            tree: Ways(
                {"from the base outwards": of_trees.forward_kinematics},
                reference=("product of poses from the tool inwards", of_trees.pose_from_tool),
                gradient=of_trees.gradient_of_pose,
            ),
        },
        regroups=False,
    ),
    Function(
        "link_transforms",
        "every link's frame in the base frame",
        ("q",),
        (Output("T_links", ("links", "4", "4"), "1, m"),),
        {
            tree: Ways(
                {"from the base outwards": of_trees.link_transforms},
                reference=("product of poses from each link inwards", of_trees.poses_from_links),
            ),
        },
        regroups=False,
    ),
    Function(
        "jacobian",
        "the tool's velocity, linear rows first, per speed; base axes",
        ("q",),
        (Output("J", ("6", "n"), "m, 1"),),
        {
            tree: Ways(
                {"axes and arms": of_trees.jacobian},
                reference=("derivatives of the pose", of_trees.jacobian_from_pose),
            ),
        },
        regroups=False,
    ),
    Function(
        "jacobian_rate",
        "J-dot: the time derivative of the Jacobian along qd",
        ("q", "qd"),
        (Output("Jd", ("6", "n"), "m/s, 1/s"),),
        {
            tree: Ways(
                {"axes and arms": of_trees.jacobian_rate},
                reference=("derivative of the Jacobian", of_trees.jacobian_rate_from_jacobian),
            ),
        },
        regroups=False,
    ),
    Function(
        "regressor",
        "Y with tau = Y pi; per link, then per rod, XX XY XZ YY YZ ZZ MX MY MZ M and its drive's inertia Ia",
        ("q", "qd", "qdd"),
        (Output("Y", ("n", "11 bodies"), "effort per parameter", (0,)),),
        {
            tree: Ways(
                {"body by body": of_trees.regressor},
                reference=("M qdd + C qd + dV/dq of unit parameters", of_trees.regressor_by_columns),
            ),
        },
        regroups=False,
    ),
    Function(
        "inverse_dynamics_derivatives",
        "how the efforts change with positions and speeds",
        ("q", "qd", "qdd"),
        (
            Output("dtau_dq", ("n", "n"), "effort per position", (0,)),
            Output("dtau_dqd", ("n", "n"), "effort per speed", (0,)),
        ),
        {
            tree: Ways(
                {
                    "dual numbers through Newton-Euler": of_trees.inverse_dynamics_derivatives,
                    "composite bodies": of_trees.inverse_dynamics_derivatives_by_composites,
                },
                reference=("derivatives of M qdd + C qd + g", of_trees.derivatives_of_matrices),
                plain=("dual numbers through Newton-Euler", "composite bodies"),
                searched=("composite bodies",),
            ),
        },
        slopes=1,
    ),
    Function(
        "forward_dynamics_derivatives",
        "the accelerations, and how they change with positions, speeds and efforts",
        ("q", "qd", "tau"),
        (
            Output("qdd", ("n",), "rad/s^2, m/s^2"),
            Output("dqdd_dq", ("n", "n"), "acceleration per position"),
            Output("dqdd_dqd", ("n", "n"), "acceleration per speed"),
            Output("dqdd_dtau", ("n", "n"), "acceleration per effort", (1,)),
        ),
        {
            tree: Ways(
                {
                    "from those of the efforts": of_trees.forward_dynamics_derivatives,
                    "composite bodies": of_trees.forward_dynamics_derivatives_by_composites,
                },
                plain=("from those of the efforts", "composite bodies"),
                searched=("composite bodies",),
                reference=("derivatives of articulated bodies", of_trees.derivatives_of_articulated_bodies),
            ),
        },
        divides=True,
        slopes=1,
    ),
    Function(
        "kinetic_energy",
        "T, drives included",
        ("q", "qd"),
        (Output("T", (), "J"),),
        {
            tree: Ways(
                {"body by body": of_trees.kinetic_energy},
                reference=("qd.M qd / 2", of_trees.energy_from_matrix),
            ),
        },
        regroups=False,
    ),
    Function(
        "potential_energy",
        "V of gravity, zero for masses at the base frame's origin",
        ("q",),
        (Output("V", (), "J"),),
        {
            tree: Ways(
                {"body by body": of_trees.potential_energy},
                reference=("composite bodies", of_trees.potential_of_composites),
            ),
        },
        regroups=False,
    ),
    Function(
        "momentum",
        "linear momentum, then angular about the base frame's origin, base axes",
        ("q", "qd"),
        (Output("P", ("6",), "kg m/s, kg m^2/s"),),
        {
            tree: Ways(
                {"body by body": of_trees.momentum},
                reference=("composite bodies", of_trees.momentum_of_composites),
            ),
        },
        regroups=False,
    ),
    Function(
        "momenta",
        "generalized momenta p = M qd",
        ("q", "qd"),
        (Output("p", ("n",), MOMENTUM),),
        {
            tree: Ways({"Newton-Euler": of_trees.momenta}, reference=("M qd", of_trees.momenta_from_matrix)),
        },
    ),
    Function(
        "velocities",
        "speeds from generalized momenta, M^-1 p",
        ("q", "p"),
        (Output("qd", ("n",), "rad/s, m/s"),),
        {
            tree: Ways(
                {"composite bodies": of_trees.velocities},
                reference=("articulated bodies", of_trees.velocities_of_articulated_bodies),
                balance=of_trees.balance_of_momenta,
            ),
        },
        divides=True,
    ),
    Function(
        "momentum_rates",
        "Hamilton's second equation: the rates of the generalized momenta under efforts",
        ("q", "qd", "tau"),
        (Output("pd", ("n",), EFFORT),),
        {
            tree: Ways(
                {"Newton-Euler": of_trees.momentum_rates},
                reference=("derivatives of the energies", of_trees.momentum_rates_from_energies),
            ),
        },
    ),
)


def _with_friction(run: Run, lost: Run, acts: bool) -> Run:
    """The same function with friction in it: in the efforts that come out or, `acts`, taken from those that act."""

    def rubbed(s: Any) -> Outputs | None:
        rubbing = lost(s)
        assert rubbing is not None
        (efforts,) = rubbing.values()
        found = run(replace(s, tau=[t - f for t, f in zip(s.tau, efforts)]) if acts else s)
        if found is None:
            return None
        more = {name: [x + f for x, f in zip(found[name], efforts)] for name in ("tau", "h") if name in found}
        if not found.keys().isdisjoint(("dtau_dq", "dqdd_dq")):
            for by, slopes in zip(("q", "qd"), _slopes(lost, s)):
                of, grown = f"dtau_d{by}", slopes
                if acts:  # dqdd/dx - (dqdd/dtau) (df/dx)
                    taken = product(found["dqdd_dtau"], slopes, s.tree.zero)
                    of, grown = f"dqdd_d{by}", [[-x for x in row] for row in taken]
                more[of] = [[x + f for x, f in zip(*rows)] for rows in zip(found[of], grown)]
        return {**found, **more}

    return rubbed


def _slopes(lost: Run, s: Any) -> tuple[list[list[Any]], list[list[Any]]]:
    """The derivatives of what friction takes, by the coordinates and by the speeds."""
    n, one, zero = s.n, s.tree.one, s.tree.zero
    units = {"q": [{k: one} for k in range(n)], "qd": [{n + k: one} for k in range(n)]}
    found = lost(s.varied(units, WITHIN))
    assert found is not None
    (efforts,) = found.values()
    by_q, by_qd = ([[derivative(f, at + k, zero, WITHIN) for k in range(n)] for f in efforts] for at in (0, n))
    return by_q, by_qd


def _balance_with_friction(balance: Callable[[Any, Outputs], Balance], lost: Run) -> Callable[[Any, Outputs], Balance]:
    """What the accelerations satisfy where friction takes its part of the efforts."""

    def rubbed(s: Any, found: Outputs) -> Balance:
        rubbing = lost(s)
        assert rubbing is not None
        (efforts,) = rubbing.values()
        bare = balance(replace(s, tau=[t - f for t, f in zip(s.tau, efforts)]), found)
        return replace(bare, slopes=None)  # those of the equation without friction

    return rubbed


def _rubbing(entry: Function, named: Mapping[str, Function]) -> Function:
    """A function of efforts with friction in it."""
    acts = "tau" in entry.inputs

    def rubbing(kind: str, ways: Ways) -> Ways:
        law = named[ways.law].ways[kind]
        (lost,) = law.formulations.values()
        title, reference = ways.reference
        return replace(
            ways,
            formulations={name: _with_friction(run, lost, acts) for name, run in ways.formulations.items()},
            reference=(f"{title}, and friction {law.reference[0]}", _with_friction(reference, law.reference[1], acts)),
            searched=(),
            solves=(),
            jacobian=(),
            numbers=None if ways.numbers is None else _with_friction(ways.numbers, lost, acts),
            rotors=None if ways.rotors is None else _with_friction(ways.rotors, lost, acts),
            balance=None if ways.balance is None else _balance_with_friction(ways.balance, lost),
        )

    return replace(
        entry,
        name=entry.name + WITH_FRICTION,
        meaning=f"{entry.meaning}, with the joints' friction",
        ways={kind: rubbing(kind, ways) for kind, ways in entry.ways.items()},
        rubs=True,
    )


_FRICTION = Function(
    "friction",
    "the efforts of the driven joints that overcome every joint's friction; zero at rest",
    ("qd",),
    (Output("tau", ("n",), EFFORT, (0,)),),
    {
        tree: Ways({"by joints": of_trees.friction}, reference=("term by term", of_trees.friction_by_terms)),
    },
    rubs=True,
)
_SEEN_FROM = {f"seen from link {place + 1}": place for place in (2, 3, 4, 1)}
_SQUARE = (
    Function(
        "inverse_jacobian",
        "J^-1 of the tool's square Jacobian: the joints' speeds per (v, omega); base axes",
        ("q",),
        (Output("Jinv", ("n", "6"), "1/m, 1"),),
        {
            tree: Ways(
                {name: of_trees.inverse_seen_from(place) for name, place in _SEEN_FROM.items()},
                reference=("adjugate over determinant of the pose's derivatives", of_trees.inverse_from_pose),
                plain=tuple(_SEEN_FROM),
            )
        },
        regroups=False,
        divides=True,
        square=True,
    ),
    Function(
        "jacobian_determinant",
        "det J of the tool's square Jacobian: zero where the arm is singular",
        ("q",),
        (Output("det", (), "m^3"),),
        {
            tree: Ways(
                {name: of_trees.determinant_seen_from(place) for name, place in _SEEN_FROM.items()},
                reference=("determinant of the pose's derivatives", of_trees.determinant_from_pose),
                plain=tuple(_SEEN_FROM),
            )
        },
        regroups=False,
        square=True,
    ),
)
_CORE = (*_ALL, *_SQUARE, _FRICTION)


@lru_cache(maxsize=8)
def _functions(known: tuple[Kind, ...]) -> dict[str, Function]:
    """Every function for these kinds of mechanism, in the order in which people are told of them."""
    named = {entry.name: entry for entry in _CORE}
    for kind in known:
        for name, ways in resolved(kind.implementations).items():
            named[name] = replace(named[name], ways={**named[name].ways, kind.name: ways})
        for before, own in resolved(kind.functions):
            order = list(named)
            place = order.index(before) + 1
            named[own.name] = own
            named = {name: named[name] for name in (*order[:place], own.name, *order[place:])}
    return named | {entry.name: entry for entry in (_rubbing(named[name], named) for name in RUBBING)}


@lru_cache(maxsize=8)
def _with_derivatives(known: tuple[Kind, ...]) -> dict[str, Function]:
    """The functions first, then their derivatives."""
    own = _functions(known)
    return own | {one.name: one for entry in own.values() if entry.differentiable for one in derivatives_of(entry)}


class Registry(Mapping[str, Function]):
    """Functions by name, with what the kinds of mechanism that are registered now say of them."""

    def __init__(self, of: Callable[[tuple[Kind, ...]], dict[str, Function]]) -> None:
        self._of = of

    def __getitem__(self, name: str) -> Function:
        return self._of(known_kinds())[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of(known_kinds()))

    def __len__(self) -> int:
        return len(self._of(known_kinds()))


FUNCTIONS: Mapping[str, Function] = Registry(_functions)
"""Name -> function, in the order in which people are told of them."""
CATALOGUE: Mapping[str, Function] = Registry(_with_derivatives)
"""The same with the derivatives of each: `<f>_jvp`, `<f>_vjp`, `<f>_hvp` and `<f>_hessian`."""
