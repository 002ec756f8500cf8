"""Real robot files, unsnapped, against Pinocchio and MuJoCo: every URDF of the package example-robot-data."""

from __future__ import annotations

from functools import cache

import pytest

pytestmark = pytest.mark.robots

example_robots = pytest.importorskip("tests.example_robots")

FILES = example_robots.robot_files()
CLOSE = 1e-10
MANY = 60
"""Robots come and go with the package's releases: 77 in 5.0.0, 69 in 6.0.0."""

REFUSED = {
    "bluevolta_description/urdf/bluevolta.urdf": "it has no moving joint",
    "falcon_description/urdf/falcon.urdf": "its child link 'Z_propeller' does not exist",
    "hector_description/robots/quadrotor_base.urdf": "it has no moving joint",
    "iris_description/robots/iris_simple.urdf": "it has no moving joint",
    "ur_description/urdf/ur3.urdf": "it has no <link>",
}
NONPHYSICAL = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "triangle inequality",
    "allegro_hand_description/urdf/allegro_left_hand.urdf": "triangle inequality",
    "allegro_hand_description/urdf/allegro_right_hand.urdf": "triangle inequality",
    "anymal_c_simple_description/urdf/anymal.urdf": "triangle inequality",
    "hyq_description/robots/hyq_no_sensors.urdf": "triangle inequality",
    "pr2_description/urdf/pr2.urdf": "triangle inequality",
    "romeo_description/urdf/romeo_laas_small.urdf": "triangle inequality",
    "romeo_description/urdf/romeo_small.urdf": "triangle inequality",
    "tiago_description/robots/tiago.urdf": "not positive semidefinite",
    "tiago_description/robots/tiago_dual.urdf": "not positive semidefinite",
    "tiago_description/robots/tiago_no_hand.urdf": "not positive semidefinite",
}
MASSLESS_TIPS = {
    "bluevolta_description/urdf/bluevolta_bravo7_gripper.urdf",
    "bravo7_description/urdf/bravo7_gripper.urdf",
    "falcon_description/urdf/falcon_bravo7_gripper.urdf",
    "romeo_description/urdf/romeo.urdf",
    "romeo_description/urdf/romeo_laas_small.urdf",
}
MUJOCO_RULES = (
    "inertia must satisfy A + B >= C",
    "inertia must have positive eigenvalues",
    "mass and inertia of moving bodies must be larger than mjMINVAL",
)


@cache
def outcome(name: str):
    return example_robots.examine(name, FILES[name])


def test_the_package_is_installed_and_holds_its_robots() -> None:
    assert len(FILES) >= MANY


@pytest.mark.parametrize("name", FILES)
def test_a_real_robot_moves_as_in_pinocchio_and_mujoco(name: str) -> None:
    found = outcome(name)
    assert REFUSED.get(name, "") in found.refused
    assert bool(found.refused) == (name in REFUSED)
    assert NONPHYSICAL.get(name, "") in found.nonphysical
    assert bool(found.nonphysical) == (name in NONPHYSICAL)
    assert found.singular == (name in MASSLESS_TIPS)
    if found.refused:
        print(found.refused)
        assert "moving joint" in found.refused or found.pinocchio_refused
        return
    assert set(found.pinocchio) >= {"inverse_dynamics", "mass_matrix"}
    assert max(found.pinocchio.values()) < CLOSE, found.pinocchio
    if found.mujoco:
        assert max(found.mujoco.values()) < CLOSE, found.mujoco
    else:
        print(f"{name}: MuJoCo: {found.mujoco_refused}")
        assert any(rule in found.mujoco_refused for rule in MUJOCO_RULES), found.mujoco_refused
