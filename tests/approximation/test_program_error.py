"""Degrees and errors of programs, against theory, against sampling and against what was put in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.approximation.program_error import TORQUE_DEGREES, ProgramError, degrees_of, written_degrees, written_rates
from emdeg.approximation.shortening.adversary import Climbs, random_states, worst_states
from emdeg.programs import Kind, Op, Program, plain_program
from emdeg.robot import workspace


def with_numbers(program: Program, factor: Fraction, every: int) -> Program:
    """The program with some of its numbers a little larger."""
    numbers = [k for k, op in enumerate(program.ops) if op.kind is Kind.NUMBER and op.number not in (1, 2)]
    chosen = set(numbers[::every])
    ops = tuple(Op(op.kind, (), op.number * factor) if k in chosen else op for k, op in enumerate(program.ops))
    return Program(program.name, program.inputs, ops, program.outputs)


def of(name: str, function: str = "inverse_dynamics", every: int = 3):
    robot = emdeg.load(name)
    exact = plain_program(robot, function)
    box = workspace(robot, {j.name: (-1.0, 1.0) for j in robot.joints if j.kind != "revolute"})
    revolute = tuple(j.kind == "revolute" for j in robot.joints)
    return ProgramError(exact, with_numbers(exact, Fraction(101, 100), every), box, revolute)


def test_efforts_have_degree_two_at_most_whatever_the_recursion_writes():
    error = of("puma560")
    assert degrees_of([error.exact], error.revolute).max() == 2
    assert not degrees_of([error.exact], error.revolute)[:, 0].any()  # gravity is along the first axis
    assert max(written_degrees(error.exact, error.revolute)) >= 3
    assert written_rates(error.exact) == TORQUE_DEGREES


def test_a_sum_of_angles_counts_each_of_them():
    robot = emdeg.load("planar2r")
    assert (degrees_of([plain_program(robot, "gravity")], (True, True)) == [[1, 1], [1, 1]]).all()


@pytest.mark.parametrize(
    ("name", "function"),
    [("planar3r", "inverse_dynamics"), ("jpl_rrp", "inverse_dynamics"), ("jpl_rrp", "mass_matrix"), ("scara", "bias")],
)
def test_no_state_lies_outside_and_the_bound_is_near(name, function):
    error = of(name, function)
    names = [group.name for group in error.exact.inputs]
    random = np.random.default_rng(0)
    found, _ = worst_states(error.errors, error.where, names, random)
    bounds = error.bounds([float(x) for x in found], enough=[float("inf")] * len(found))
    states = random_states(error.where, names, 100_000, random)
    worst = np.abs(error.errors(states)).max(axis=0)
    for e, w in zip(bounds, worst):
        assert w <= e.bound
        assert e.bound <= 1.5 * e.value + 1e-6


def test_bounds_that_are_enough_stand_where_there_is_no_time_for_closer_ones():
    error = of("planar3r")
    names = [group.name for group in error.exact.inputs]
    random = np.random.default_rng(0)
    found = [float(x) for x in worst_states(error.errors, error.where, names, random)[0]]
    rough, close = (error.bounds(found, enough=[3 * x for x in found], over=lambda x=x: x) for x in (True, False))
    worst = np.abs(error.errors(random_states(error.where, names, 100_000, random))).max(axis=0)
    for one, other, x, w in zip(rough, close, found, worst):
        assert w <= other.bound <= 1.5 * x
        assert other.bound <= one.bound <= 3 * x
    assert max(one.ratio for one in rough) > 1.5  # so that there was something to make closer


def test_a_known_difference_is_bounded_by_itself():
    """Gravity off by one part in a hundred of every number errs by at most three parts, and by one at least."""
    error = of("planar2r", "gravity", every=1)
    exact = emdeg.compile(error.exact)
    q = error.where.sample(20_000, 0)
    peak = np.abs(exact(q)).max(axis=0)
    worst = np.abs(error.errors({"q": q})).max(axis=0)
    for e, p, w in zip(error.bounds(list(map(float, worst)), enough=[0.0, 0.0]), peak, worst):
        assert w <= e.bound <= 0.06 * p


def test_the_same_function_written_otherwise_errs_by_what_doubles_round():
    error = of("puma560", every=10**6)
    other = ProgramError(emdeg.program("puma560", "inverse_dynamics"), error.exact, error.where, error.revolute)
    found, _ = worst_states(other.errors, other.where, ("q", "qd", "qdd"), np.random.default_rng(0), Climbs(4000))
    bounds = other.bounds([float(x) for x in found], enough=[1.0] * 6)
    assert 0 < max(found) < 1e-12
    assert all(e.bound < 1e-10 for e in bounds)
    assert (
        other.errors(random_states(other.where, ("q", "qd", "qdd"), 4000, np.random.default_rng(1))).max(axis=0)
        <= [e.bound for e in bounds]
    ).all()
