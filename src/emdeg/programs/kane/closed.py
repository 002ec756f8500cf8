"""Kane's equations of a mechanism with closed loops, over any scalar that divides, and what proves their programs.

With W from the loops' equations and u = A X-dot + B the partial rates are V = W A^-1: how every joint follows each
speed. Dotted into the efforts that the opened tree's joints would need, V^T (efforts) = V^T (motors' efforts), they are
X ud = rhs. Motors that are more than the free coordinates share the efforts as in `emdeg.loops.reduction`;
what a prescribed motion needs besides is `held`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast

from emdeg.algebra import Dual, FieldScalar, derivative
from emdeg.algebra.linear import (
    Matrix,
    Rows,
    congruent,
    eliminate,
    product,
    solve_symmetric,
    solve_system,
    times,
    transposed,
)
from emdeg.dynamics import Scalar, lift_positions
from emdeg.dynamics.formulations import rnea_link_frame
from emdeg.dynamics.kane import (
    LoopSystem,
    external_wrenches,
    joint_actions,
    speed_rates,
    speed_values,
    system,
    velocities,
)
from emdeg.errors import RobotError
from emdeg.loops import equations_by_virtual_work, rate_of, reduction, solve
from emdeg.programs.kane.inputs import Function, KaneInputs

CLOSED_FORMULATION = (
    "virtual work, body by body, in the coordinates; joints by derivatives of the closure; A differentiated"
)
TIME = 1


class LoopKane:
    """One setup of a mechanism at a state; each quantity is computed when asked for."""

    def __init__(self, sys: LoopSystem, inputs: KaneInputs, sqrt: Callable[[Any], FieldScalar]) -> None:
        self.sys, self.given, self.sqrt = sys, inputs, sqrt
        self.link, self.tree = sys.link, sys.tree
        self.zero, self.one = sys.link.tree.zero, sys.link.tree.one
        self.position = sys.tree.position
        self.still = [self.zero] * len(sys.free)

    @cached_property
    def W(self) -> Matrix:
        """Every joint's rate per rate of a coordinate."""
        return reduction.velocity_map(self.link, reduction.constraint_jacobian(self.link, self.position))

    def of(self, places: Sequence[int]) -> Matrix:
        """W's columns of some coordinates."""
        return [[row[place] for place in places] for row in self.W]

    @cached_property
    def A(self) -> Matrix:
        """u = A (rates of the free coordinates) + B."""
        return speed_columns(self.sys, self.of(self.sys.free))

    @cached_property
    def V(self) -> Matrix:
        """The partial rates, joints x speeds."""
        units = [[self.one if i == r else self.zero for i in range(len(self.A))] for r in range(len(self.A))]
        return product(self.of(self.sys.free), solve_system(self.A, units, self.link.algebra), self.zero)

    @cached_property
    def move(self) -> reduction.TreeRates:
        """Every joint's rates from u."""
        given = times(self.of(self.sys.given), self.given.pd, self.zero)
        B = speed_values(self.tree, given)
        free = self._free([u - b for u, b in zip(self.given.u, B)])
        return self.moving(self.sys.all_coordinates(free, self.given.pd))

    def moving(self, xd: Sequence[Scalar]) -> reduction.TreeRates:
        return reduction.tree_rates(self.link, self.position, xd)

    def _free(self, right: Sequence[Scalar]) -> list[Scalar]:
        return [x[0] for x in solve_system(self.A, [[b] for b in right], self.link.algebra)]

    def accelerated(self, ud: Sequence[Scalar]) -> list[Scalar]:
        """Every joint's acceleration from ud."""
        rest = self.joints(self.still)
        at_rest = speed_rates(self.tree, self.move.qd, rest)
        return self.joints(self._free([a - b for a, b in zip(ud, at_rest)]))

    def joints(self, of_free: Sequence[Scalar]) -> list[Scalar]:
        """Every joint's acceleration from the free coordinates'."""
        xdd = self.sys.all_coordinates(of_free, self.given.pdd)
        return reduction.accelerations(self.link, self.move, self.move.ud, xdd)

    def needed(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """The efforts that every joint of the opened tree would need for the motion, less what else acts."""
        mech, qd = self.tree.mech, self.move.qd
        efforts = reduction.tree_efforts(self.link, self.position, qd, qdd)
        outer = external_wrenches(self.tree, velocities(self.tree, qd), self.given.loads, self.sqrt)
        if outer:
            forces = rnea_link_frame.less_external([mech.still] * mech.n, outer)
            held = rnea_link_frame.joint_torques(mech, self.tree.frame, forces, [self.zero] * mech.n)
            efforts = [e + h for e, h in zip(efforts, held)]
        free = len(self.sys.free)
        variables = self.sys.variables(self.given.variables[:free], self.given.variables[free:])
        return [e - a for e, a in zip(efforts, joint_actions(self.tree, variables, qd, self.sqrt))]

    def torques(self) -> dict[str, Any]:
        sys = self.sys
        if len(sys.driven) < len(sys.free):
            raise RobotError(
                f"{len(sys.driven)} driven joints are left for {len(sys.free)} free coordinates: prescribe no driven "
                "joint, or describe the mechanism by its motors (emdeg.loops.with_coordinates)",
                body=sys.robot.name,
            )
        efforts = self.needed(self.accelerated(self.given.ud))
        tau = shared(sys, self.of(sys.free), times(transposed(self.of(sys.free)), efforts, self.zero))
        found: dict[str, Any] = {"tau": tau}
        if sys.given:
            found["held"] = held(sys, self.of(sys.given), efforts, tau)
        return found | self._guard()

    def equations(self) -> dict[str, Any]:
        """X and the right-hand side."""
        M = reduction.tree_mass_matrix(self.link, self.position)
        left = [-e for e in self.needed(self.accelerated(self.still))]
        for k, t in zip(self.sys.driven, self.given.tau):
            left[k] = left[k] + t
        return {"X": congruent(M, self.V, self.zero), "rhs": times(transposed(self.V), left, self.zero)}

    def accelerations(self) -> dict[str, Any]:
        found = self.equations()
        ud = solve_symmetric(cast(Rows, found["X"]), found["rhs"], self.one)
        return {**self._rates(), "ud": ud} | self._guard()

    def rates(self) -> dict[str, Any]:
        return self._rates() | self._guard()

    def speeds(self) -> dict[str, Any]:
        move = self.moving(self.sys.all_coordinates(self.given.qd, self.given.pd))
        xdd = self.sys.all_coordinates(self.given.qdd, self.given.pdd)
        qdd = reduction.accelerations(self.link, move, move.ud, xdd)
        return {"u": speed_values(self.tree, move.qd), "ud": speed_rates(self.tree, move.qd, qdd)}

    def _rates(self) -> dict[str, Any]:
        return {"qd": [self.move.ud[place] for place in self.sys.free]}

    def _guard(self) -> dict[str, Any]:
        """det A, which is near zero where the speeds are about to fail."""
        return {"det": [determinant_of(self.A, self.one)]}

    def outputs(self, function: Function) -> dict[str, Any]:
        return cast("dict[str, Any]", getattr(self, function)())


def speed_columns(sys: LoopSystem, W: Matrix) -> Matrix:
    """How the speeds follow each column of joints' rates."""
    zero = sys.link.tree.zero
    still = speed_values(sys.tree, [zero] * sys.link.n)
    columns = [[v - b for v, b in zip(speed_values(sys.tree, column), still)] for column in transposed(W)]
    return transposed(columns)


def shared(sys: LoopSystem, W: Matrix, force: Sequence[Scalar]) -> list[Scalar]:
    """The motors' efforts with J^T tau = force, J the driven rows of W; least sum of tau^2 / share of too many."""
    zero, algebra = sys.link.tree.zero, sys.link.algebra
    J, right = [W[k] for k in sys.driven], [[f] for f in force]
    if len(J) == len(force):
        return [x[0] for x in solve_system(transposed(J), right, algebra)]
    weighted = [[share * x for x in row] for share, row in zip(sys.shares, J)]
    mu = solve_system(product(transposed(J), weighted, zero), right, algebra)
    return times(weighted, [x[0] for x in mu], zero)


def held(sys: LoopSystem, W: Matrix, efforts: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """What the prescribed coordinates need besides the motors."""
    left = list(efforts)
    for k, t in zip(sys.driven, tau):
        left[k] = left[k] - t
    return times(transposed(W), left, sys.link.tree.zero)


def determinant_of(A: Matrix, one: Scalar) -> Scalar:
    """det A by expansion along rows; of more than four by pivots, up to its sign."""
    if len(A) > 4:
        value = one
        for pivot in eliminate(cast(Rows, A), [[] for _ in A]).pivots:
            value = value * pivot
        return value
    if not A:
        return one
    value = A[0][0] * 0
    for j, x in enumerate(A[0]):
        minor = [[y for c, y in enumerate(row) if c != j] for row in A[1:]]
        term = x * determinant_of(minor, one)
        value = value + term if j % 2 == 0 else value - term
    return value


# What proves them.


def closed_reference(
    sys: LoopSystem, function: Function, given: KaneInputs, sqrt: Callable[[Any], Any], forces: Callable[..., Any]
) -> dict[str, Any]:
    """The same by other ways; `forces(tree, qd)` are the generalized forces of loads, springs and dampers by joint."""
    link, zero, one = sys.link, sys.link.tree.zero, sys.link.tree.one
    W = _map_of_closure(sys)
    free, other = ([[row[p] for p in places] for row in W] for places in (sys.free, sys.given))
    A = speed_columns(sys, free)

    def coordinates(right: Sequence[Scalar]) -> list[Scalar]:
        return [x[0] for x in solve_system(A, [[b] for b in right], link.algebra)]

    def bent(xd: Sequence[Scalar]) -> list[Scalar]:
        """d/dt of u along the motion, the coordinates' accelerations aside: A-dot X-dot + B-dot."""
        qd = times(W, xd, zero)
        moving = lift_positions(link.tree, sys.tree.position, [{0: v} for v in qd], TIME)
        later = system(sys.tree.robot, sys.tree.setup, link.algebra, moving)
        W_later = reduction.velocity_map(link, reduction.constraint_jacobian(link, moving))
        return rate_of(speed_values(later, times(W_later, xd, zero)), zero)

    if function == "speeds":
        xd, xdd = sys.all_coordinates(given.qd, given.pd), sys.all_coordinates(given.qdd, given.pdd)
        still = speed_values(sys.tree, [zero] * link.n)
        linear = [v - b for v, b in zip(speed_values(sys.tree, times(W, xdd, zero)), still)]
        return {
            "u": speed_values(sys.tree, times(W, xd, zero)),
            "ud": [a + b for a, b in zip(linear, bent(xd))],
        }
    det = {"det": [determinant_of(A, one)]}
    B = speed_values(sys.tree, times(other, given.pd, zero))
    own = coordinates([u - b for u, b in zip(given.u, B)])
    if function == "rates":
        return {"qd": own} | det
    xd = sys.all_coordinates(own, given.pd)
    move = reduction.tree_rates(link, sys.tree.position, xd)
    model = equations_by_virtual_work(link, sys.tree.position, move)
    acting = times(transposed(W), forces(sys.tree, move.qd), zero)
    drift = [c + g - f for c, g, f in zip(times(model.C, xd, zero), model.G, acting)]
    still = speed_values(sys.tree, [zero] * link.n)
    driven_by = [v - b for v, b in zip(speed_values(sys.tree, times(other, given.pdd, zero)), still)]
    bias = [a + b for a, b in zip(bent(xd), driven_by)]
    if function == "torques":
        xdd = sys.all_coordinates(coordinates([a - b for a, b in zip(given.ud, bias)]), given.pdd)
        force = [a + b for a, b in zip(times(model.M, xdd, zero), drift)]
        tau = shared(sys, free, [force[p] for p in sys.free])
        pushed = times(transposed([W[k] for k in sys.driven]), tau, zero) if tau else [zero] * len(force)
        rest = {"held": [force[p] - pushed[p] for p in sys.given]} if sys.given else {}
        return {"tau": tau} | rest | det
    pushed = times(transposed([W[k] for k in sys.driven]), given.tau, zero)
    known = sys.all_coordinates([zero] * len(sys.free), given.pdd)
    right = [t - d - m for t, d, m in zip(pushed, drift, times(model.M, known, zero))]
    M = [[model.M[i][j] for j in sys.free] for i in sys.free]
    xdd = [x[0] for x in solve_system(M, [[right[p]] for p in sys.free], link.algebra)]
    ud = [a + b for a, b in zip(times(A, xdd, zero), bias)]
    if function == "accelerations":
        return {"qd": own, "ud": ud} | det
    units = [[one if i == r else zero for i in range(len(A))] for r in range(len(A))]
    X = congruent(M, solve_system(A, units, link.algebra), zero)
    return {"X": X, "rhs": times(X, ud, zero)}


def _map_of_closure(sys: LoopSystem) -> Matrix:
    """Every joint's rate per rate of a coordinate, by derivatives of the closure's own steps."""
    link, zero = sys.link, sys.link.tree.zero
    known = {
        k: link.tree.joints[k].lift(at, [{place: link.tree.one}])
        for place, (k, at) in enumerate(sys.coordinates.items())
    }
    found = solve(link, sys.plan, known, lambda value, loop: _dual_root(value, loop, sys))
    rows: Matrix = []
    for k, at in enumerate(found):
        at_: Any = at
        if link.tree.revolute[k]:
            s, c = (part.value if isinstance(part, Dual) else part for part in at_)
            slopes = [
                c * derivative(at_[0], i, zero) - s * derivative(at_[1], i, zero) for i in range(len(link.coordinates))
            ]
        else:
            slopes = [derivative(at_, i, zero) for i in range(len(link.coordinates))]
        rows.append(slopes)
    return rows


def _dual_root(value: Any, loop: str, sys: LoopSystem) -> Any:
    if not isinstance(value, Dual):
        return sys.root(value, loop)
    r = sys.root(value.value, loop)
    return Dual(r, {k: x / (r + r) for k, x in value.d.items()})
