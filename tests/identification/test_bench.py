"""Bench measurements: the formulas of the papers, and tolerances that follow from those of what was measured."""

import math

import pytest

from emdeg.identification.bench import (
    Measured,
    MeasuredBody,
    drive_inertia,
    spring_oscillation,
    subtracted,
    thin_box,
    thin_cylinder,
    thin_sphere,
    torque_resolution,
    two_wire_suspension,
)


def test_two_wire_suspension_is_equation_11():
    found = two_wire_suspension(Measured(17.4, 0.184), Measured(0.1, 0.001), 1.5, Measured(2.0, 0.01), 9.81)
    assert found.value == pytest.approx(17.4 * 9.81 * 0.01 / (4 * 1.5))
    relative = math.sqrt((0.184 / 17.4) ** 2 + (2 * 0.01) ** 2 + (2 * 0.005) ** 2)
    assert found.tolerance == pytest.approx(found.value * relative, rel=1e-6)


def test_a_drives_inertia_is_the_total_less_the_arms():
    total = spring_oscillation(Measured(40.0, 0.4), Measured(1.5, 0.02))
    assert total.value == pytest.approx(40 * (1.5 / (2 * math.pi)) ** 2)
    drive = drive_inertia(total, Measured(1.0, 0.1))
    assert drive.value == pytest.approx(total.value - 1)
    assert drive.tolerance == pytest.approx(math.hypot(total.tolerance, 0.1), rel=1e-6)


def test_thin_shells():
    across, along = thin_cylinder(2.0, 0.1, 0.6)
    assert (across.value, along.value) == (pytest.approx(2 * (0.005 + 0.03)), pytest.approx(0.02))
    assert thin_sphere(3.0, 0.2).value == pytest.approx(2 * 3 * 0.04 / 3)
    cube = thin_box(6.0, 1.0, 1.0, 1.0)
    assert all(x.value == pytest.approx(6 * 5 / 18) for x in cube)  # 5/18 m a^2 for a hollow cube


def test_link_3_without_the_wrist():
    """What is left, with the wrist put back, is what was measured; the mass follows Table 4 less the wrist."""
    zero = Measured(0.0)
    whole = MeasuredBody(
        Measured(6.04, 0.07),
        (zero, Measured(-0.143, 0.003), Measured(0.014, 0.003)),
        (Measured(0.192, 0.0077), Measured(0.0154, 0.0008), Measured(0.212, 0.0085)),
    )
    wrist = MeasuredBody(
        Measured(1.24), (zero, Measured(-0.43), zero), (Measured(0.01), Measured(0.002), Measured(0.01))
    )
    rest = subtracted(whole, wrist)
    assert rest.mass.value == pytest.approx(4.80)
    back = (rest.mass.value * rest.com[1].value + 1.24 * -0.43) / 6.04
    assert back == pytest.approx(-0.143)
    left, taken, all_ = (
        b.inertia[0].value + b.mass.value * (b.com[1].value ** 2 + b.com[2].value ** 2) for b in (rest, wrist, whole)
    )
    assert left + taken == pytest.approx(all_)
    assert rest.inertia[0].tolerance > whole.inertia[0].tolerance


def test_torque_resolution_of_a_twelve_bit_converter():
    assert torque_resolution(186.4, 12) == pytest.approx(186.4 / 2048)
    with pytest.raises(ValueError, match="two bits"):
        torque_resolution(1.0, 1)
