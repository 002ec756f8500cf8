"""Loads over the workspace: Bejczy's Tables 1 and 2 against the true extremes, other robots against random search."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.analysis import JointLoad, formula_extremes, gravity_ceiling, joint_number, loads, unloaded
from emdeg.analysis.published import tables
from emdeg.errors import RobotError
from emdeg.robot.workspaces import workspace
from tests.bejczy import CUBE

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "jpl_rrp_extremes.json").read_text())


@pytest.fixture(scope="module")
def loaded() -> emdeg.Robot:
    return emdeg.load("jpl_rrp", payload=CUBE)


@pytest.fixture(scope="module")
def both(loaded) -> dict[bool, tuple[JointLoad, ...]]:
    return {False: loads(unloaded(loaded), seconds=60), True: loads(loaded, seconds=60)}


def own(both, name: str):
    """(the certified extreme, the reference's row) of D11min, |D2|max load, ..."""
    row = REFERENCE["extremes"][name]
    of = both[name.endswith("load")][int(name.strip("|D")[0]) - 1]
    if name.startswith("|"):
        return of.gravity_load, row
    return (of.inertia.low if "min" in name else of.inertia.high), row


@pytest.mark.parametrize("name", REFERENCE["extremes"])
def test_tables_1_and_2_agree_with_the_true_extremes_and_every_gap_is_below_a_thousandth(both, name):
    found, row = own(both, name)
    assert found.value == pytest.approx(row["extreme_r3_0"], rel=2e-6)
    assert found.gap <= 1e-3
    beyond = found.bound - row["extreme_r3_0"]
    assert (beyond <= 1e-9) if "min" in name else (beyond >= -1e-9)


def test_the_papers_reasoning_missed_the_true_extreme_where_the_reference_says_so(loaded, both):
    data = tables.published(loaded)
    assert data is not None
    assert tables.carries_their_load(loaded, data)
    rows = tables.rows(data, emdeg.derive(unloaded(loaded)), both[False], False)
    rows += tables.rows(data, emdeg.derive(loaded), both[True], True)
    missed = {(row.quantity, row.side, row.load) for row in rows if row.missed}
    expected = set()
    for name, row in REFERENCE["extremes"].items():
        if abs(row["extreme_r3_0"] - row["at_paper_config"]) > 2e-6 * abs(row["extreme_r3_0"]):
            quantity = f"g{name[2]}" if name.startswith("|") else f"M{name[1:3]}"
            side = "magnitude" if name.startswith("|") else "min" if "min" in name else "max"
            expected.add((quantity, side, name.endswith("load")))
    assert missed == expected
    assert {("M22", "min", False), ("M11", "max", True), ("g4", "magnitude", False)} <= missed


def test_a_higher_lower_stop_of_the_boom_moves_the_extreme(loaded):
    found = loads(unloaded(loaded), workspace(loaded, {"r3": (0.508, 2.0)}), seconds=60)
    assert found[1].inertia.low.value == pytest.approx(REFERENCE["extremes"]["D22min"]["extreme_r3_508"], rel=2e-6)
    assert found[1].inertia.low.at[3] == pytest.approx(0.508)


def test_loads_at_the_motor_shaft_are_those_at_the_joint_over_the_gear_ratio(both):
    shoulder = both[True][1]
    assert shoulder.gear_ratio == 100
    assert shoulder.at_motor["gravity_max"] == pytest.approx(0.68766, rel=1e-4)  # Table 2 prints 0.693
    assert shoulder.at_motor["inertia_max"] == pytest.approx(10.28698e-4, rel=1e-5)
    assert shoulder.torque_limit == pytest.approx(303.6)
    assert shoulder.share_of_limit == pytest.approx(0.2265, rel=1e-3)


def test_where_an_extreme_occurs_the_robot_has_that_inertia(loaded, both):
    for k, load in enumerate(both[True]):
        for extreme in (load.inertia.low, load.inertia.high):
            q = extreme.point(6)
            # The attained value has the allowance for rounding taken off.
            assert emdeg.mass_matrix(loaded, q)[k, k] == pytest.approx(extreme.value, rel=1e-6)


@pytest.mark.parametrize("name", ["puma560", "planar3r", "scara"])
def test_no_random_configuration_exceeds_the_certified_loads(name):
    robot = emdeg.load(name)
    ranges = {j.name: (0.0, 0.5) for j in robot.joints if j.kind == "prismatic" and j.limits.lower is None}
    where = workspace(robot, ranges)
    q = where.sample(20_000, seed=9)
    M, g = emdeg.mass_matrix(robot, q), emdeg.gravity(robot, q)
    for k, load in enumerate(loads(robot, where, seconds=20)):
        assert load.inertia.low.bound <= M[:, k, k].min() + 1e-12
        assert load.inertia.high.bound >= M[:, k, k].max() - 1e-12
        assert load.gravity.low.bound <= g[:, k].min() + 1e-12
        assert load.gravity.high.bound >= g[:, k].max() - 1e-12
        assert max(load.inertia.low.gap, load.inertia.high.gap, load.gravity_load.gap) <= 1e-3


def test_the_gravity_ceiling_is_reached_by_a_joint_that_gravity_can_pull_from_every_side():
    robot = emdeg.load("panda")
    where = workspace(robot)
    g = np.abs(emdeg.gravity(robot, where.sample(40_000, seed=1))).max(axis=0)
    for k in (4, 5, 6):
        ceiling = gravity_ceiling(robot, k, where)
        assert g[k] <= ceiling
        assert g[k] == pytest.approx(ceiling, rel=0.03)


def test_any_entry_of_the_equations_has_a_certified_range():
    robot = emdeg.load("puma560")
    model = emdeg.derive(robot)
    where = workspace(robot)
    found = formula_extremes(model, "b223", where)
    values = model.entries()["b223"].evaluate(where.sample(20_000))
    assert found.low.bound <= values.min()
    assert values.max() <= found.high.bound
    assert found.high.gap <= 1e-3
    with pytest.raises(KeyError, match="no formula 'M99'"):
        formula_extremes(model, "M99", where)


def test_a_workspace_that_excludes_everything_is_refused():
    robot = emdeg.load("jpl_rrp")
    with pytest.raises(RobotError, match=r"r3.*from 2 to 3 lies outside its limits, 0 to 1\.1176: .* is empty"):
        workspace(robot, {"r3": (2.0, 3.0)})
    with pytest.raises(RobotError, match=r"t2.*range is empty: from 1 to 0"):
        workspace(robot, {"t2": (1.0, 0.0)})
    with pytest.raises(RobotError, match="there is no joint 'elbow'"):
        workspace(robot, {"elbow": (0.0, 1.0)})
    with pytest.raises(RobotError, match="slides without limits"):
        workspace(emdeg.load("stanford_arm"))
    assert joint_number(robot, "q3") == joint_number(robot, "r3") == 3


def test_a_payload_on_a_link_that_is_not_there_is_refused():
    with pytest.raises(RobotError, match="'link9', which does not exist"):
        emdeg.load("jpl_rrp", payload="mass=1.8,com=0:0:0@link9")
