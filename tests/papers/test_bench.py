"""Bench measurements: the formulas of the papers, and tolerances that follow from those of what was measured."""

import math

import pytest

from emdeg.papers.bench.formulas import (
    box,
    cylinder,
    friction_from_peaks,
    reading,
    sphere,
    spring_oscillation,
    thin_box,
    thin_cylinder,
    thin_sphere,
    torque_resolution,
    two_wire_suspension,
)


def test_two_wire_suspension_is_equation_11():
    found = two_wire_suspension(reading(17.4, 0.184), reading(0.1, 0.001), 1.5, reading(math.pi, 0.01), 9.81)
    assert found.value == pytest.approx(17.4 * 9.81 * 0.01 / (4 * 1.5))
    relative = math.sqrt((0.184 / 17.4) ** 2 + (2 * 0.01) ** 2 + (2 * 0.01 / math.pi) ** 2)
    assert found.tolerance == pytest.approx(found.value * relative, rel=1e-12)


def test_a_reading_that_enters_twice_is_one_reading():
    x = reading(3.0, 0.1)
    assert (x * x).tolerance == pytest.approx(0.6)
    assert (x - x).tolerance == 0
    assert (x / x).tolerance == pytest.approx(0, abs=1e-15)
    assert (reading(3.0, 0.1) - reading(3.0, 0.1)).tolerance == pytest.approx(0.1 * math.sqrt(2))
    assert (2 / x).tolerance == pytest.approx(2 / 9 * 0.1)
    assert (1 - x).value == -2


def test_a_drives_inertia_is_the_total_less_the_arms():
    total = spring_oscillation(reading(40.0, 0.4), reading(1.5, 0.02))
    assert total.value == pytest.approx(40 * (1.5 / (2 * math.pi)) ** 2)
    drive = total - reading(1.0, 0.1)
    assert drive.value == pytest.approx(total.value - 1)
    assert drive.tolerance == pytest.approx(math.hypot(total.tolerance, 0.1), rel=1e-12)
    assert spring_oscillation(40.0, 1.5, -0.1).value == pytest.approx(0.99 * total.value)


def test_a_decaying_swing_tells_viscous_from_dry_friction():
    zeta, dry, sizes = 0.05, 0.004, [0.3]
    rho = math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2))
    for _ in range(5):
        sizes.append(rho * sizes[-1] - (1 + rho) * dry)
    found = friction_from_peaks(sizes)
    assert [one.value for one in found] == pytest.approx([zeta, dry])


def test_thin_shells():
    across, _, along = thin_cylinder(2.0, 0.1, 0.6)
    assert (across.value, along.value) == (pytest.approx(2 * (0.005 + 0.03)), pytest.approx(0.02))
    assert thin_sphere(3.0, 0.2)[0].value == pytest.approx(2 * 3 * 0.04 / 3)
    cube = thin_box(6.0, 1.0, 1.0, 1.0)
    assert all(x.value == pytest.approx(6 * 5 / 18) for x in cube)  # 5/18 m a^2 for a hollow cube


@pytest.mark.parametrize("thick", [1e-5])
def test_a_shell_is_the_difference_of_two_solids(thick):
    """The moment of a thin wall is that of the outer solid less that of the inner one, of the same density."""
    out, inner = (0.3, 0.2, 0.5), tuple(v - 2 * thick for v in (0.3, 0.2, 0.5))
    masses = [math.prod(edges) for edges in (out, inner)]
    wall = [a.value - b.value for a, b in zip(box(masses[0], *out), box(masses[1], *inner))]
    shell = thin_box(masses[0] - masses[1], *out)
    assert wall == pytest.approx([x.value for x in shell], rel=1e-3)
    ball = [sphere(r**3, r)[0].value for r in (0.2, 0.2 - thick)]
    assert ball[0] - ball[1] == pytest.approx(thin_sphere(0.2**3 - (0.2 - thick) ** 3, 0.2)[0].value, rel=1e-3)
    tube = cylinder(1.0, 0.1, 0.4, 0.1 - thick)
    assert [x.value for x in tube] == pytest.approx([x.value for x in thin_cylinder(1.0, 0.1, 0.4)], rel=1e-3)


def test_torque_resolution_of_a_twelve_bit_converter():
    assert torque_resolution(186.4, 12) == pytest.approx(186.4 / 2048)
    with pytest.raises(ValueError, match="two bits"):
        torque_resolution(1.0, 1)
