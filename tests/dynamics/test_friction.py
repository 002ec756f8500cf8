"""One law of friction, whatever it runs over: doubles, traced programs, LLVM instructions, fits."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.dynamics.formulations.friction import FrictionLaw, law_of, smooth_sign
from emdeg.identification.measured import fit_friction
from emdeg.programs.ir import Dependence, count
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate
from emdeg.robot.model import Friction
from emdeg.simulation import Passive, simulate

V = np.linspace(-3.0, 3.0, 601)
LAW = FrictionLaw(0.4, 1.5, 0.7, 0.2)


def no_exponential(x):
    raise AssertionError("nothing to be raised to")


def test_the_law_is_viscous_coulomb_and_a_peak_that_falls_with_the_square_of_the_speed():
    expected = 0.4 * V + (1.5 + 0.7 * np.exp(-((V / 0.2) ** 2))) * np.sign(V)
    np.testing.assert_allclose(LAW.effort(V, np.sign, np.exp), expected, rtol=1e-15)


def test_it_takes_power_at_every_speed_and_none_at_rest():
    assert np.all(LAW.effort(V, np.sign, np.exp) * V >= 0)
    assert LAW.effort(0.0, np.sign, np.exp) == 0


def test_the_smooth_sign_is_the_sign_far_above_the_rest_speed():
    smooth = LAW.effort(V, smooth_sign(1e-6, np.sqrt), np.exp)
    moving = np.abs(V) > 0.005
    np.testing.assert_allclose(smooth[moving], LAW.effort(V, np.sign, np.exp)[moving], rtol=1e-7)


def test_break_away_is_no_part_of_the_law():
    stated = Friction(viscous=Exact.of(1), coulomb=Exact.of(2), break_away=Exact.of(9))
    assert law_of(stated, float) == FrictionLaw(1.0, 2.0, 0.0, 1.0)


def test_traced_it_is_the_same_numbers_and_what_is_zero_costs_nothing():
    tracer = Tracer()
    (v,) = tracer.inputs("v", 1, Dependence.RATES)
    law = FrictionLaw(tracer.number(0), tracer.number(3), tracer.number(0))
    tau = law.effort(v, smooth_sign(tracer.number(2), tracer.sqrt), no_exponential)
    program = tracer.program("friction", {"tau": [tau]})
    found = count(program)
    assert (found.mul, found.add, found.div, found.sqrt) == (2, 1, 1, 1)
    expected = FrictionLaw(coulomb=3.0).effort(V, smooth_sign(2.0, np.sqrt), no_exponential)
    np.testing.assert_allclose(evaluate(program, {"v": V[:, None]})["tau"][:, 0], expected, rtol=1e-14)


def test_compiled_and_interpreted_runs_feel_the_same_friction():
    robot = emdeg.load("planar2r")
    rub = Passive((FrictionLaw(0.3, 0.2, 0.1, 0.05), FrictionLaw(0.1, 0.05)), rest_speed=0.02)
    runs = [
        simulate(robot, None, [0.4, 0.3], [0.5, 0.0], 0.4, friction=rub, output_step=0.01, **options)
        for options in ({}, {"method": "rk4", "step": 1e-4})
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-6)


@pytest.mark.parametrize("law", ["coulomb", "stribeck"])
def test_a_fit_of_the_law_finds_the_law(law):
    true = LAW if law == "stribeck" else FrictionLaw(0.4, 1.5)
    speeds = np.linspace(-2.0, 2.0, 400)
    fit = fit_friction("j", speeds, true.effort(speeds, np.sign, np.exp) + 0.1, law)
    np.testing.assert_allclose(fit.torque(speeds), true.effort(speeds, np.sign, np.exp) + 0.1, atol=1e-6)
