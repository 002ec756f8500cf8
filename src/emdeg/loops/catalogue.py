"""What closed loops add to the registry of functions: how each is computed, and the functions that only they have."""

from __future__ import annotations

from collections.abc import Mapping

from emdeg.dynamics.functions.catalogue import EFFORT
from emdeg.dynamics.functions.function import Function, Output, Ways
from emdeg.dynamics.trees import functions as of_trees
from emdeg.loops import functions as of_loops
from emdeg.loops import margins
from emdeg.loops.description import CLOSED_LOOPS

IMPLEMENTATIONS: Mapping[str, Ways] = {
    "friction": Ways(
        {"by joints": of_loops.friction},
        reference=("term by term, rates from derivatives through the closure", of_loops.friction_from_positions),
        inputs=("q", "qd"),
    ),
    "inverse_dynamics": Ways(
        {"reduction": of_loops.inverse_dynamics, "legs of rods": of_loops.inverse_dynamics_by_legs},
        reference=("virtual work", of_loops.inverse_dynamics_by_work),
        plain=("reduction", "legs of rods"),
    ),
    "forward_dynamics": Ways(
        {"reduction": of_loops.forward_dynamics},
        reference=("virtual work", of_loops.forward_dynamics_by_work),
        balance=of_loops.balance_of_efforts,
    ),
    "mass_matrix": Ways(
        {"reduction": of_loops.mass_matrix},
        reference=("virtual work", of_loops.mass_matrix_by_work),
    ),
    "coriolis_matrix": Ways(
        {"reduction": of_loops.coriolis_matrix},
        reference=("derivatives of the mass matrix of virtual work", of_loops.coriolis_from_derivatives),
    ),
    "bias": Ways(
        {"reduction": of_loops.bias},
        reference=("virtual work", of_loops.bias_by_work),
        law="generalized_friction",
    ),
    "gravity": Ways({"reduction": of_loops.gravity}, reference=("virtual work", of_loops.gravity_by_work)),
    "elements": Ways(
        {"reduction": of_loops.elements},
        reference=("virtual work and derivatives of its mass matrix", of_loops.elements_from_derivatives),
    ),
    "forward_kinematics": Ways(
        {"from the base outwards": of_trees.forward_kinematics},
        reference=("product of poses from the tool inwards", of_trees.pose_from_tool),
    ),
    "link_transforms": Ways(
        {"from the base outwards": of_trees.link_transforms},
        reference=("product of poses from each link inwards", of_trees.poses_from_links),
    ),
    "jacobian": Ways(
        {"reduction": of_loops.jacobian},
        reference=("derivatives of the pose through the closure", of_loops.jacobian_from_pose),
    ),
    "jacobian_rate": Ways(
        {"reduction": of_loops.jacobian_rate},
        reference=("derivatives of the Jacobian through the closure", of_loops.jacobian_rate_from_jacobian),
    ),
    "regressor": Ways(
        {"reduction": of_loops.regressor},
        reference=("virtual work of unit parameters", of_loops.regressor_by_work),
    ),
    "inverse_dynamics_derivatives": Ways(
        {"dual numbers through the reduction": of_loops.inverse_dynamics_derivatives},
        reference=("derivatives of virtual work through the closure", of_loops.derivatives_of_work),
    ),
    "forward_dynamics_derivatives": Ways(
        {"from those of the efforts": of_loops.forward_dynamics_derivatives},
        reference=(
            "derivatives of virtual work's accelerations through the closure",
            of_loops.derivatives_of_accelerations_by_work,
        ),
    ),
    "kinetic_energy": Ways(
        {"reduction": of_loops.kinetic_energy},
        reference=("virtual work", of_loops.kinetic_energy_by_work),
    ),
    "potential_energy": Ways(
        {"reduction": of_loops.potential_energy},
        reference=("body by body, rods as points", of_loops.potential_energy_of_bodies),
    ),
    "momentum": Ways(
        {"reduction": of_loops.momentum},
        reference=("derivatives of bodies' places through the closure", of_loops.momentum_of_points),
    ),
    "momenta": Ways({"reduction": of_loops.momenta}, reference=("virtual work", of_loops.momenta_by_work)),
    "velocities": Ways({"reduction": of_loops.velocities}, reference=("virtual work", of_loops.velocities_by_work)),
    "momentum_rates": Ways(
        {"reduction": of_loops.momentum_rates},
        reference=("derivatives of the kinetic energy", of_loops.momentum_rates_from_energy),
    ),
}
"""Function -> how it is computed for mechanisms with closed loops."""

FUNCTIONS: tuple[tuple[str, Function], ...] = (
    (
        "jacobian_rate",
        Function(
            "drive_jacobian",
            "the driven joints' rates per coordinate's",
            ("q",),
            (Output("J_drive", ("n", "n"), "1, 1/m, m", (0,)),),
            {
                CLOSED_LOOPS: Ways(
                    {"reduction": of_loops.drive_jacobian},
                    reference=(
                        "derivatives of the joints' positions through the closure",
                        of_loops.drive_jacobian_from_positions,
                    ),
                ),
            },
            regroups=False,
        ),
    ),
    (
        "drive_jacobian",
        Function(
            "drive_rates",
            "the driven joints' rates",
            ("q", "qd"),
            (Output("v", ("n",), "rad/s, m/s", (0,)),),
            {
                CLOSED_LOOPS: Ways(
                    {"reduction": of_loops.drive_rates},
                    reference=(
                        "derivatives of the joints' positions through the closure",
                        of_loops.drive_rates_from_positions,
                    ),
                ),
            },
            regroups=False,
        ),
    ),
    (
        "drive_rates",
        Function(
            "closure",
            "how far every loop is from where it cannot close: 1 at most, 0 at a dead point, below 0 (or NaN) out of "
            "reach",
            ("q",),
            (Output("closure", ("loops",), "1"),),
            {
                CLOSED_LOOPS: Ways(
                    {"what roots ask for": margins.margins},
                    reference=("angles between links", margins.margins_from_positions),
                ),
            },
            regroups=False,
        ),
    ),
    (
        "friction",
        Function(
            "generalized_friction",
            "the coordinates' efforts that overcome every joint's friction; zero at rest",
            ("q", "qd"),
            (Output("f", ("n",), EFFORT),),
            {
                CLOSED_LOOPS: Ways(
                    {"by joints": of_loops.generalized_friction},
                    reference=(
                        "term by term, rates from derivatives through the closure",
                        of_loops.generalized_friction_from_positions,
                    ),
                ),
            },
            rubs=True,
        ),
    ),
)
"""(the function that it is listed behind, a function of mechanisms with closed loops alone)."""
