"""Transforms and Jacobians as formulas against the numeric mechanics; the inverse against the identity."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.equations import derive, determinant, inverse_jacobian
from emdeg.errors import NotInvertible, RobotError


def numbers(matrix, q):
    return np.moveaxis(np.array([[entry.evaluate(q) for entry in row] for row in matrix]), -1, 0)


def kinematics(name, **options):
    robot = emdeg.load(name, **options)
    return robot, derive(robot, only=()).kinematics, np.random.default_rng(1).uniform(-2, 2, (20, robot.n))


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "panda", "scara"])
def test_transforms_equal_the_numeric_ones(name):
    robot, forms, q = kinematics(name)
    assert numbers(forms.transform("tool"), q) == pytest.approx(emdeg.forward_kinematics(robot, q), abs=1e-13)
    world = emdeg.link_transforms(robot, q)
    for i in range(1, robot.n + 1):
        assert numbers(forms.transform(i), q) == pytest.approx(world[:, i - 1], abs=1e-13)
    relative = np.linalg.inv(world[:, 0]) @ world[:, 2]
    assert numbers(forms.transform(3, seen_from=1), q) == pytest.approx(relative, abs=1e-12)


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "panda", "scara"])
def test_the_jacobian_in_any_frame_is_the_base_jacobian_turned(name):
    robot, forms, q = kinematics(name)
    J = emdeg.jacobian(robot, q)
    assert numbers(forms.jacobian(), q) == pytest.approx(J, abs=1e-13)
    for frame in (1, robot.n, "tool"):
        R = numbers(forms.transform(frame), q)[:, :3, :3].transpose(0, 2, 1)
        turned = np.concatenate([R @ J[:, :3], R @ J[:, 3:]], axis=1)
        assert numbers(forms.jacobian(frame), q) == pytest.approx(turned, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "wrist"), [("puma560", True), ("stanford_arm", True), ("jpl_rrp", True), ("ur5e", False)]
)
def test_the_analytic_inverse_times_the_jacobian_is_the_identity(name, wrist):
    _, forms, q = kinematics(name)
    inverse = inverse_jacobian(forms)
    assert (inverse.wrist is not None) == wrist
    product = numbers(inverse.entries, q) @ numbers(forms.jacobian(inverse.frame), q)
    assert product == pytest.approx(np.broadcast_to(np.eye(6), product.shape), abs=1e-9)


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "ur5e"])
def test_the_determinant_is_the_product_of_its_factors(name):
    robot, forms, q = kinematics(name)
    product = np.prod([factor.evaluate(q) for factor in determinant(forms)], axis=0)
    assert product == pytest.approx(np.linalg.det(emdeg.jacobian(robot, q)), abs=1e-13)


def test_the_inverse_in_base_axes_with_the_tool_off_the_wrist_point():
    robot, forms, q = kinematics("stanford_arm")
    inverse = inverse_jacobian(forms, "base")
    assert numbers(inverse.entries, q) @ emdeg.jacobian(robot, q) == pytest.approx(
        np.broadcast_to(np.eye(6), (20, 6, 6)), abs=1e-9
    )


def test_a_wrist_is_singular_where_its_middle_angle_vanishes():
    _, forms, _ = kinematics("puma560")
    assert forms.algebra.joint_sincos(5)[0] in determinant(forms)


def test_rows_make_a_planar_arm_square():
    _, forms, q = kinematics("planar2r")
    inverse = inverse_jacobian(forms, rows=(1, 3))
    J = numbers(forms.jacobian(), q)[:, [0, 2]]
    assert numbers(inverse.entries, q) @ J == pytest.approx(np.broadcast_to(np.eye(2), (20, 2, 2)), abs=1e-9)


def test_a_redundant_arm_has_no_inverse_and_the_error_says_what_to_do():
    with pytest.raises(NotInvertible, match=r"panda has 7 joints: it is redundant.*Lock a joint.*pinv"):
        inverse_jacobian(kinematics("panda")[1])


@pytest.mark.long
def test_locking_a_joint_of_the_redundant_arm_helps():
    _, forms, q = kinematics("panda", lock={emdeg.load("panda").links[2].joint.name: 0})
    inverse = inverse_jacobian(forms)
    product = numbers(inverse.entries, q) @ numbers(forms.jacobian(inverse.frame), q)
    assert product == pytest.approx(np.broadcast_to(np.eye(6), product.shape), abs=1e-8)


def test_too_few_joints_wrong_rows_and_unknown_frames():
    _, forms, _ = kinematics("planar2r")
    with pytest.raises(NotInvertible, match="Pick 2 of its six rows"):
        inverse_jacobian(forms)
    with pytest.raises(NotInvertible, match="pick 2"):
        inverse_jacobian(forms, rows=(1, 2, 3))
    with pytest.raises(NotInvertible, match="singular in every configuration"):
        inverse_jacobian(forms, rows=(4, 5))
    with pytest.raises(RobotError, match="there is no frame 'elbow'"):
        forms.jacobian("elbow")


def test_the_matrices_u_are_the_derivatives_of_the_transforms():
    from emdeg.equations.sections import PARTS, Choice

    model = derive(emdeg.load("scara"), only=())
    shown = {str(item.label): item.rows for item in PARTS["U"](model, Choice()).items}
    n = model.n
    for j in range(1, n + 1):
        T = model.kinematics.transform(j)  # this robot's frame 0 is its base
        for i in range(1, j + 1):
            first = [[entry.derivative(i) for entry in row] for row in T]
            assert [list(row) for row in shown[f"U_{j}_{i}"]] == first
            for k in range(i, j + 1):
                second = [[entry.derivative(k) for entry in row] for row in first]
                assert [list(row) for row in shown[f"U_{j}_{i}_{k}"]] == second
    assert f"P_{n}" in shown
