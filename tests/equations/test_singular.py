"""Singularities of arms, and inverse Jacobians that are finite wherever the truth is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact, in_half_angles, parse_number
from emdeg.equations import determinant, inverse_jacobian, singularities
from emdeg.errors import NotInvertible
from emdeg.robot import substitute


def kinematics(name: str, **how):
    return emdeg.derive(name, "g", **how).kinematics


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford_arm", "rx90", "jpl_rrp"])
def test_the_factors_multiply_to_the_determinant(name):
    robot = emdeg.load(name)
    arm = kinematics(name)
    values = {symbol: 0.3 + 0.1 * k for k, symbol in enumerate(sorted(robot.symbols))}
    q = np.random.default_rng(0).uniform(-2, 2, (20, 6))
    product = np.prod([f.evaluate(q, parameters=values) for f in determinant(arm)], axis=0)
    if values:
        robot = substitute(robot, {name: Exact.of(parse_number(f"{v:.1f}")) for name, v in values.items()})
    np.testing.assert_allclose(product, np.linalg.det(emdeg.jacobian(robot, q)), rtol=1e-9, atol=1e-12)


def test_the_pumas_determinant_has_the_four_factors_of_the_books():
    arm = kinematics("puma560", symbolic=True)
    found = determinant(arm)
    algebra = arm.algebra
    a2, a3, d4 = (algebra.symbol(name) for name in ("a2", "a3", "d4"))
    (s3, c3), (_, c2), (s5, _) = (algebra.joint_sincos(k) for k in (3, 2, 5))
    s23, c23 = algebra.sum_sincos({2: 1, 3: 1})
    elbow, shoulder = a3 * s3 - d4 * c3, a2 * c2 + a3 * c23 + d4 * s23
    assert [f for f in found if len(f) == 1 and not f.is_number] == [a2, s5]
    assert any(f in (elbow, -elbow) for f in found)
    assert shoulder in found
    product = algebra.one
    for factor in found:
        product = product * factor
    assert product in (a2 * elbow * shoulder * s5, -a2 * elbow * shoulder * s5)


def test_singularities_have_names_and_places():
    found = {one.name: one for one in singularities(kinematics("puma560"))}
    assert set(found) == {"shoulder", "elbow", "wrist"}
    assert found["wrist"].at == pytest.approx((0.0, math.pi))
    assert found["shoulder"].joints == (2, 3)
    assert found["shoulder"].at is None
    robot = emdeg.load("puma560")
    for angle in found["elbow"].at:
        q = np.array([0.3, 0.4, angle, 0.2, 0.9, -0.4])
        assert abs(np.linalg.det(emdeg.jacobian(robot, q))) < 1e-12
    slide = next(one for one in singularities(kinematics("stanford_arm")) if one.power == 2)
    assert slide.at == pytest.approx((-0.6,))


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford_arm", "rx90"])
@pytest.mark.parametrize("frame", ["base", None])
def test_no_entry_of_an_inverse_has_a_factor_above_and_below_the_line(name, frame):
    arm = kinematics(name)
    forms = in_half_angles(arm.algebra)
    for row in inverse_jacobian(arm, frame).entries:
        for entry in row:
            if entry and not entry.is_formula:
                above, below = forms.form(entry.numerator), forms.form(entry.denominator)
                assert above.poly.gcd(below.poly).is_constant()


def test_at_the_shoulder_singularity_what_is_finite_has_its_value():
    robot, arm = emdeg.load("puma560"), kinematics("puma560")
    shoulder = next(one for one in singularities(arm) if one.name == "shoulder")
    q = np.array([0.4, 0.0, 0.7, -0.5, 1.1, 0.3])
    at_rest, upright = (float(shoulder.factor.evaluate(q + np.eye(6)[1] * angle)) for angle in (0.0, np.pi / 2))
    q[1] = np.arctan2(-at_rest, upright)  # the factor is at_rest c2 + upright s2
    assert abs(np.linalg.det(emdeg.jacobian(robot, q))) < 1e-12
    near = [np.linalg.inv(emdeg.jacobian(robot, q + np.eye(6)[1] * h)) for h in (-1e-5, 1e-5)]
    finite = np.abs(near[0] - near[1]) < 1e-2
    assert 6 <= finite.sum() < 36
    for i, row in enumerate(inverse_jacobian(arm, "base").entries):
        for j, entry in enumerate(row):
            if finite[i, j]:
                assert float(entry.evaluate(q)) == pytest.approx(0.5 * (near[0] + near[1])[i, j], abs=1e-4)
            else:
                assert abs(entry.evaluate(q)) > 1e6


def test_rows_that_cannot_do_are_refused_with_rows_that_can():
    arm = kinematics("planar2r")
    with pytest.raises(NotInvertible, match=r"rows 1,3 have one"):
        inverse_jacobian(arm, rows=[1, 2])
    (only,) = singularities(arm, rows=[1, 3])
    assert only.at == pytest.approx((0.0, math.pi))
