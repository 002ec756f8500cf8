"""Ratios, restricted models, servo view, importance, capability: identities and Bejczy's numbers."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.analysis import (
    across,
    capability,
    constant_shares,
    coupling_ratios,
    curves,
    dynamic_manipulability,
    gravity_ratios,
    largest_of,
    operational_inertia,
    over_workspace,
    point_to_point,
    ratio,
    ratio_map,
    restrict,
    servo_view,
    slow_fast_boundary,
    term_shares,
    torque_limits,
    unloaded,
    velocity_terms,
)
from emdeg.analysis.published import tables
from emdeg.analysis.ratios import gravity_ratio_ceiling
from emdeg.errors import RobotError
from emdeg.robot.workspaces import workspace
from tests.bejczy import CUBE

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "jpl_rrp_extremes.json").read_text())


@pytest.fixture(scope="module")
def rrp() -> emdeg.Robot:
    return emdeg.load("jpl_rrp", payload=CUBE)


@pytest.fixture(scope="module")
def model(rrp) -> emdeg.Model:
    return emdeg.derive(rrp)


def test_ratios_R1_to_R4_at_the_papers_configurations_and_their_largest_values(rrp):
    data = tables.published(rrp)
    assert data is not None
    rows = tables.ratio_rows(data, emdeg.derive(unloaded(rrp)), workspace(rrp), False)
    for row in rows:
        theirs = REFERENCE["ratios"][row.quantity]
        assert row.at_their_configuration == pytest.approx(theirs["exact_at_paper_config"], rel=1e-9)
        # The reference maximises the paper's form of the ratio, which leaves out the wrist's smallest terms.
        assert row.certified.value == pytest.approx(theirs["global_max"], rel=5e-4)
        assert row.certified.value >= theirs["global_max"] * (1 - 1e-9)
        assert row.certified.gap <= 1e-3


def test_ratios_K3_and_K4_reach_the_references_largest_values(rrp, model):
    where = workspace(rrp)
    bare = emdeg.derive(unloaded(rrp))
    for joint, key in ((4, "K3_max"), (5, "K4_max")):
        for one, largest in zip((bare, model), REFERENCE["K"][key]):
            name = ratio(one, f"g{joint}", f"M{joint}{joint}")
            ceiling = gravity_ratio_ceiling(one, joint, where, 0.1)
            found = largest_of(name, where, ceiling=ceiling)
            assert found.value == pytest.approx(largest, rel=2e-3)
            assert found.value <= found.bound <= found.value * 1.001


def test_K1_at_60_degrees_and_965_mm(model, rrp):
    value = ratio(model, "g2", "M22").values(np.array([0.0, math.radians(60), 0.965, 0.0, 0.0, 0.0]))
    assert float(value) == pytest.approx(REFERENCE["K"]["K1_60deg_965mm_load_exact"], rel=1e-3)


def test_curves_and_maps_are_the_model_evaluated(model, rrp):
    where = workspace(rrp)
    one = ratio(model, "M12", "M11")
    drawn = curves(one, where, 2, 3, [0.508, 1.1176], at={4: 0.3, 5: -0.2})
    q = np.array([0.0, drawn.x[37], 1.1176, 0.3, -0.2, 0.0])
    M = emdeg.mass_matrix(rrp, q)
    assert drawn.values[1, 37] == pytest.approx(abs(M[0, 1] / M[0, 0]))
    surface = ratio_map(one, where, (2, 3), at={4: 0.3, 5: -0.2}, points=11)
    M = emdeg.mass_matrix(rrp, [0.0, surface.x[4], surface.y[7], 0.3, -0.2, 0.0])
    assert surface.values[7, 4] == pytest.approx(abs(M[0, 1] / M[0, 0]))


def test_every_coupled_pair_and_every_loaded_joint_has_a_ratio(model):
    names = {one.name for one in coupling_ratios(model)}
    assert {"M12/M11", "M12/M22", "M13/M33"} <= names
    assert [one.name for one in gravity_ratios(model)] == ["g2/M22", "g3/M33", "g4/M44", "g5/M55"]
    assert {one.name: one.unit for one in coupling_ratios(model)}["M13/M33"] == "m/rad"


@pytest.mark.parametrize(
    ("name", "floors"),
    [
        ("planar3r", None),
        pytest.param("jpl_rrp", {1: 1.42, 2: 3.5, 3: 9.0, 4: 0.109, 5: 0.225, 6: 0.022}, marks=pytest.mark.slow),
    ],
)
def test_no_state_has_a_larger_velocity_term_than_the_certified_one(name, floors):
    robot = emdeg.load(name, payload=CUBE if floors else None)
    where, n = workspace(robot), robot.n
    q = where.sample(3000, seed=77)
    M, g = emdeg.mass_matrix(robot, q), emdeg.gravity(robot, q)
    if floors is None:  # M is positive definite: its least eigenvalue lies below every M_ii
        floors = dict.fromkeys(range(1, n + 1), 0.9 * float(np.linalg.eigvalsh(M).min()))
    terms = velocity_terms(emdeg.derive(robot), where, floors, seconds=6)
    assert [term.joint for term in terms] == [joint.name for joint in robot.joints]
    # Christoffel's terms from inverse dynamics alone: single speeds, then pairs less the single ones.
    speeds = np.repeat(np.eye(n)[:, None, :], len(q), axis=1)
    still = np.zeros_like(q)
    alone = [emdeg.inverse_dynamics(robot, q, speed, still) - g for speed in speeds]
    worst = np.max(np.abs(alone), axis=0)
    for j in range(n):
        for k in range(j + 1, n):
            mixed = emdeg.inverse_dynamics(robot, q, speeds[j] + speeds[k], still) - g - alone[j] - alone[k]
            worst = np.maximum(worst, np.abs(mixed))
    for i, term in enumerate(terms):
        found = float((worst[:, i] / M[:, i, i]).max())
        assert found <= term.against_inertia.bound * (1 + 1e-9)
        assert found >= 0.7 * term.against_inertia.value
        assert term.against_inertia.gap <= 1e-3
        at = [term.peak_at.get(k, 0.0) for k in range(1, n + 1)]
        own = float(emdeg.mass_matrix(robot, at)[i, i])
        assert term.peak <= term.against_inertia.bound * own * (1 + 1e-9)
        held = float(np.abs(g[:, i]).max())
        assert term.against_gravity is None if held < 1e-9 else term.against_gravity <= term.peak / held * (1 + 1e-9)


def test_a_ratios_unit_follows_from_the_joints_kinds(model):
    units = {"M13/M33": "m/rad", "g3/M33": "m/s²", "c21/g2": "1", "c31/g2": "1/m", "g2/g3": "m", "M23/g2": "s²/m"}
    assert {name: ratio(model, *name.split("/")).unit for name in units} == units


def test_a_restricted_model_is_the_model_with_joints_held(rrp, model):
    held = {4: 0.4, 5: -1.1, 6: math.pi / 2}
    small = restrict(model, held, velocity=True)
    assert small.moving == (1, 2, 3)
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = np.concatenate([rng.uniform(0, 1, 3), list(held.values())])
        qd, qdd = np.zeros(6), np.zeros(6)
        qd[:3], qdd[:3] = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        value = {name: float(f.evaluate(q)) for name, f in small.entries.items()}
        tau = emdeg.inverse_dynamics(rrp, q, qd, qdd)
        for i in (1, 2, 3):
            total = value[f"g{i}"]
            total += sum(value[f"M{min(i, j)}{max(i, j)}"] * qdd[j - 1] for j in (1, 2, 3))
            total += sum(value[f"c{i}{j}"] * qd[j - 1] ** 2 for j in (1, 2, 3))
            total += sum(value[f"b{i}{j}{k}"] * qd[j - 1] * qd[k - 1] for j, k in ((1, 2), (1, 3), (2, 3)))
            assert total == pytest.approx(tau[i - 1], abs=1e-10)


def test_the_restricted_equations_of_the_first_three_joints_are_short(model):
    small = restrict(model, {4: 0.0, 5: 0.0, 6: 0.0})
    lines = small.equations()
    assert [line.split(" = ")[0] for line in lines] == ["tau1", "tau2", "tau3"]
    assert "qd1" not in lines[0].replace("qdd1", "")
    assert small.terms < 30
    slanted = restrict(model, {4: 0.3, 5: math.radians(30), 6: 0.0}).equations()
    assert max(len(word) for line in slanted for word in re.split(r"[ ()*]", line)) <= 24
    inertia = float(slanted[2].split(")*qdd3")[0].split("(")[-1])  # the boom's mass, whatever the wrist does
    assert inertia == pytest.approx(float(emdeg.mass_matrix(model.robot, [0, 0, 0.5, 0.3, 0.5, 0])[2, 2]), rel=1e-12)
    with pytest.raises(RobotError, match="every joint is held"):
        restrict(model, dict.fromkeys(range(1, 7), 0.0))


def test_the_velocity_gain_follows_the_root_of_the_inertia(rrp):
    motion = across(workspace(rrp))
    view = servo_view(rrp, motion)
    np.testing.assert_allclose(view.torque, emdeg.inverse_dynamics(rrp, motion.q, motion.qd, motion.qdd), atol=1e-9)
    # Paper 003, II: inertia down by n, damping up by sqrt n; the gain reduced by sqrt n restores it.
    n = view.nominal / view.inertia
    np.testing.assert_allclose(view.damping_ratio, np.sqrt(n))
    np.testing.assert_allclose(view.damping_ratio * view.velocity_gain, 1.0)


def test_at_the_slow_fast_boundary_the_reaction_torque_has_the_stated_share(rrp):
    motion = point_to_point([0, 0.5, 0.5, 0, 0.3, 0], [1, 1.2, 1.0, 1, 1.0, 1], 3.0)
    factors = slow_fast_boundary(rrp, motion, 0.1)
    for k, factor in enumerate(factors):
        if factor:
            view = servo_view(rrp, motion.faster(factor))
            assert view.reaction_share[k] == pytest.approx(0.1, rel=1e-3)
    assert factors[1] is not None


def test_shares_of_variance_add_up_to_one(rrp, model):
    states = over_workspace(workspace(rrp, speed=1.0, acceleration=1.0))
    for shares in (term_shares(model, states), constant_shares(rrp, states)):
        for joint in rrp.joints:
            assert sum(s.variance for s in shares if s.joint == joint.name) == pytest.approx(1.0)
    first = next(s for s in term_shares(model, states) if s.joint == "t2")
    assert first.term == "g2"


def test_torque_left_and_accelerations_follow_from_the_limits(rrp):
    q = [0.1, 0.8, 0.7, 0.2, 0.4, 0.0]
    found = capability(rrp, q)
    limits = torque_limits(rrp)
    np.testing.assert_allclose(limits, [91.8, 303.6, 98.7, 10.152, 10.152, 6.862])
    g = emdeg.gravity(rrp, q)
    np.testing.assert_allclose(found.left[:, 1], limits - g)
    alone = found.acceleration[1, 1]
    qdd = np.zeros(6)
    qdd[1] = alone
    assert emdeg.inverse_dynamics(rrp, q, np.zeros(6), qdd)[1] == pytest.approx(limits[1])
    assert found.holds.all()
    with pytest.raises(RobotError, match="no torque limit"):
        torque_limits(emdeg.load("panda"))


def test_the_ellipsoid_holds_the_tools_acceleration_of_every_allowed_torque(rrp):
    q = np.array([0.1, 0.8, 0.7, 0.2, 0.9, 0.3])
    limits = torque_limits(rrp)
    found = dynamic_manipulability(rrp, q)
    J = emdeg.jacobian(rrp, q)[:3]
    rng = np.random.default_rng(2)
    for _ in range(20):
        u = rng.normal(size=6)
        tau = limits * u / np.linalg.norm(u)
        a = J @ emdeg.forward_dynamics(rrp, q, np.zeros(6), tau)
        inside = found.directions.T @ (a - found.centre) / found.lengths
        assert np.linalg.norm(inside) <= 1 + 1e-9
    inertia = operational_inertia(rrp, q)
    force = np.array([1.0, -2.0, 0.5])
    pushed = J @ np.linalg.solve(emdeg.mass_matrix(rrp, q), J.T @ force)
    np.testing.assert_allclose(inertia @ pushed, force, atol=1e-9)
