"""What a proof of gradients and Hessians catches: a wrong entry anywhere, a sign, a place changed."""

from dataclasses import replace

import numpy as np
import pytest

import emdeg
from emdeg.errors import OverBudget, Refuted
from emdeg.programs import evaluate, probed, probing, verify_program
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Ref
from tests.program_samples import mutants

DERIVED = ["forward_dynamics_vjp", "inverse_dynamics_hvp", "inverse_dynamics_hessian", "forward_kinematics_jvp"]


@pytest.mark.parametrize("function", ["gravity_vjp", "gravity_hvp", "kinetic_energy_hessian", "gravity_jvp"])
def test_every_mutant_of_a_derivatives_program_is_caught(function):
    robot = emdeg.load("planar2r")
    built = plain_program(robot, function)
    rng = np.random.default_rng(0)
    inputs = {group.name: rng.uniform(-2, 2, (3, group.size)) for group in built.inputs}
    right = evaluate(built, inputs)
    for mutant in mutants(built):
        with np.errstate(all="ignore"):
            out = evaluate(mutant, inputs)
        if not all(np.allclose(out[name], right[name], rtol=1e-11, atol=1e-11) for name in right):
            with pytest.raises((Refuted, ValueError)):
                verify_program(mutant, robot, function)


@pytest.mark.parametrize("function", DERIVED)
def test_every_output_entry_counts(function):
    robot = emdeg.load("planar2r")
    built = plain_program(robot, function)
    for k, group in enumerate(built.outputs):
        for place, ref in enumerate(group.entries):
            other = Ref(ref.value, -ref.sign) if ref.sign else Ref(len(built.ops) - 1)
            entries = (*group.entries[:place], other, *group.entries[place + 1 :])
            wrong = replace(
                built, outputs=(*built.outputs[:k], replace(group, entries=entries), *built.outputs[k + 1 :])
            )
            with pytest.raises(Refuted):
                verify_program(wrong, robot, function)


def test_a_gradient_that_leans_on_its_probe_is_not_believed():
    """The probe is no input of the program: one that asks for it has the wrong inputs."""
    robot = emdeg.load("planar2r")
    built = plain_program(robot, "gravity_vjp")
    looked = probed(built, ["gravity_vjp"])
    with pytest.raises(Refuted, match="inputs"):
        verify_program(replace(built, inputs=looked.inputs), robot, "gravity_vjp")


def test_what_a_machine_computed_is_looked_at_as_the_program_is():
    robot = emdeg.load("scara")
    names = ["bias", "bias_vjp", "kinetic_energy_hessian"]
    built = plain_program(robot, names)
    looked = probed(built, names)
    rng = np.random.default_rng(0)
    given = {group.name: rng.uniform(-1, 1, (4, group.size)) for group in looked.inputs}
    run = probing(lambda states: evaluate(built, states), built, names)
    expected = evaluate(looked, given)
    found = run(given)
    assert list(found) == list(expected) == ["h", "bias_vjp_probe", "kinetic_energy_hessian_probe"]
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-12)


def test_more_roots_than_a_proof_can_follow_are_said_and_are_over_a_budget(monkeypatch):
    monkeypatch.setattr("emdeg.programs.proof.MOST_ROOTS", 2)
    with pytest.raises(OverBudget, match="it has 3 roots, and a proof can follow 2"):
        emdeg.verify("delta", "gravity", effort=0)
