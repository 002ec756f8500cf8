"""Simulated campaigns: what the methods' formulas leave out, and how often the truth lies within the tolerance."""

import math

import numpy as np
import pytest

from emdeg.papers.bench import CAMPAIGN, measure, read_campaign, run_trials
from emdeg.papers.bench.formulas import two_wire_suspension
from emdeg.papers.bench.trials import suspension_period


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    file = tmp_path_factory.mktemp("bench") / "bench.toml"
    file.write_text(CAMPAIGN)
    return measure(read_campaign(file))


@pytest.mark.long
def test_the_truth_lies_within_the_tolerance_as_often_as_it_should(outcome):
    found, failed = run_trials(outcome, 400)
    assert failed == 0
    assert {one.method for one in found} >= {"two-wire suspension", "shape", "torsional spring", "decay of the swing"}
    for one in found:
        assert one.within_one == pytest.approx(0.68, abs=0.11), one.path
        assert one.within_two > 0.86, one.path
        assert abs(one.bias) < 0.2 * one.deviation, one.path


def test_trials_of_one_seed_are_the_same(outcome):
    assert run_trials(outcome, 3, 7) == run_trials(outcome, 3, 7)
    assert run_trials(outcome, 3, 7) != run_trials(outcome, 3, 8)


def test_a_suspensions_period_by_integrating_its_motion():
    """Lagrange's equation of the swing, integrated in small steps from rest at the amplitude to the middle."""
    inertia, mass, d, length, g, amplitude = 0.5, 17.4, 0.15, 1.5, 9.81, 0.6

    def rise(phi):
        return d * d * np.sin(phi) / np.sqrt(length**2 - 4 * d * d * np.sin(phi / 2) ** 2)

    phi, speed, t, h = amplitude, 0.0, 0.0, 2e-4
    slope = 1e-6

    def acceleration(phi, speed):
        curve = (rise(phi + slope) - rise(phi - slope)) / (2 * slope)
        return -(mass * g * rise(phi) + mass * rise(phi) * curve * speed**2) / (inertia + mass * rise(phi) ** 2)

    while phi > 0:
        before = (phi, t)
        middle = speed + h / 2 * acceleration(phi, speed)
        phi = phi + h * middle
        speed = speed + h * acceleration(phi - h / 2 * middle, middle)
        t += h
    quarter = before[1] + h * before[0] / (before[0] - phi)
    assert suspension_period(inertia, mass, (d, d), length, g, amplitude) == pytest.approx(4 * quarter, rel=2e-5)


def test_a_large_swing_biases_eq_11_and_the_amplitude_mends_it():
    period = suspension_period(0.5, 17.4, (0.15, 0.15), 1.5, 9.81, 0.5)
    plain = two_wire_suspension(17.4, 0.15, 1.5, period).value
    mended = two_wire_suspension(17.4, 0.15, 1.5, period, amplitude=0.5).value
    assert plain / 0.5 - 1 == pytest.approx(0.5**2 / 8, rel=0.05)
    assert abs(mended / 0.5 - 1) < 0.002


def test_a_mass_centre_off_the_middle_of_the_wires():
    """Unequal tensions: the restoring moment is m g d1 d2 / l, smaller than for the same wires about the middle."""
    assert suspension_period(0.5, 10, (0.1, 0.2), 1.5, 9.81) == pytest.approx(
        2 * math.pi * math.sqrt(0.5 * 1.5 / (10 * 9.81 * 0.02))
    )
    assert (
        two_wire_suspension(10, 0.1, 1.5, 3.0, other_distance=0.2).value < two_wire_suspension(10, 0.15, 1.5, 3.0).value
    )
