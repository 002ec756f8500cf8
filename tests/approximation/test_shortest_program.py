"""Short programs: never longer than the exact one, and no state outside the certified error."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import emdeg
from emdeg.approximation import shortest, shortest_within_each
from emdeg.approximation.program_error import ProgramError
from emdeg.approximation.shortening import ProgramSearch
from emdeg.approximation.shortening.adversary import random_states
from emdeg.errors import OverBudget, RobotError
from emdeg.programs import Effort, count


def inside(found, states: int = 200_000) -> bool:
    names = [group.name for group in found.exact.inputs]
    some = random_states(found.where, names, states, np.random.default_rng(7))
    exact, short = (emdeg.compile(p)(**some).reshape(states, -1) for p in (found.exact, found.program()))
    bounds = np.array([e.bound for e in found.errors])
    return bool((np.abs(exact - short).max(axis=0) <= bounds + 1e-9 * np.abs(exact).max()).all())


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("planar3r", "inverse_dynamics"),
        *(
            pytest.param("ur5e", other, marks=pytest.mark.slow)
            for other in ("mass_matrix", "gravity", "inverse_dynamics")
        ),
    ],
)
def test_it_is_shorter_within_five_per_cent_and_no_state_lies_outside(name, function):
    found = shortest(name, function, worst_error=0.05, effort=0.5)
    assert not found.missed
    share = 0.8 if name == "ur5e" and function != "gravity" else 1.0
    assert count(found.program()).total <= share * count(found.exact).total
    assert max(found.certified_error) <= 0.05
    assert inside(found)


@pytest.mark.long
def test_the_same_seed_gives_the_same_program():
    first, second = (shortest("planar3r", worst_error=0.1, effort=0.2, seed=3) for _ in range(2))
    assert first.program() == second.program()
    assert first.errors == second.errors
    assert count(first.program()).total <= count(first.exact).total


@pytest.mark.long
def test_a_search_ends_by_its_work_and_not_by_how_fast_the_clock_is():
    """A budget that is too small for all that the search would do, on machines of which one takes no time."""
    now = itertools.count()
    clocks = (lambda: 0.0, lambda: 1e-5 * next(now))
    times = [Effort(0.6, clock) for clock in clocks]
    first, second = (shortest("puma560", "gravity", worst_error=0.02, effort=9.0, time=time) for time in times)
    assert first.program() == second.program()
    assert first.errors == second.errors
    assert not first.cut
    assert not second.cut
    assert times[0].spent == times[1].spent > 0.3


def test_a_search_that_the_clock_ended_says_so():
    now = itertools.count()
    cut = shortest("puma560", "gravity", worst_error=0.02, effort=9.0, time=Effort(0.6, lambda: 0.01 * next(now)))
    assert cut.cut
    assert cut.data()["ended_by_clock"] is True
    assert not cut.missed


@pytest.mark.slow
def test_fewer_operations_are_a_larger_error():
    exact = shortest("planar3r", at_most=1000, effort=0.2)
    assert exact.program() == exact.exact
    assert not any(exact.certified_error)
    length = count(exact.exact).total
    some = shortest("planar3r", at_most=int(0.7 * length), effort=0.2)
    assert not some.missed
    assert count(some.program()).total <= 0.7 * length
    assert max(some.certified_error) > 0
    assert inside(some, 50_000)


def test_no_short_program_errs_by_more_than_one_that_computes_nothing(monkeypatch):
    certified = ProgramSearch.certified

    def bad_at_first(self, short, *others):
        errors = certified(self, short, *others)
        return tuple(replace(e, bound=9 * e.bound) for e in errors) if count(short).total else errors

    monkeypatch.setattr(ProgramSearch, "certified", bad_at_first)
    nothing = shortest("planar2r", at_most=12, effort=0.0)
    assert count(nothing.program()).total == 0
    assert not nothing.missed
    assert max(nothing.certified_error) <= 1.5
    assert inside(nothing, 20_000)
    assert "asked for were 0" in shortest("planar2r", at_most=0, effort=0.0).missed[-1]


def test_one_operation_is_enough_for_the_program_that_computes_nothing():
    nothing = shortest("planar2r", at_most=1, effort=0.0)
    assert count(nothing.program()).total <= 1
    assert not nothing.missed
    assert 1 <= max(nothing.certified_error) <= 1.5
    assert inside(nothing, 20_000)


def test_an_output_that_is_always_zero_keeps_no_program_long():
    found = shortest("puma560", "gravity", worst_error=0.05, effort=0.1)
    assert found.largest[0] == 0
    assert count(found.program()).total < count(found.exact).total
    assert not found.missed
    assert inside(found, 20_000)


def test_a_robot_without_numbers_is_refused_by_name():
    with pytest.raises(RobotError, match="letters: it has symbols without a number"):
        shortest(replace(emdeg.load("puma560_symbolic"), name="letters"), worst_error=0.1)
    with pytest.raises(RobotError, match="symbols without a number"):
        emdeg.abbreviate("rx90", worst_error=0.1)


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ValueError, match="one number, or 2"):
        shortest("planar2r", worst_error=[0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="not both"):
        shortest("planar2r")
    with pytest.raises(ValueError, match="this robot are known of"):
        shortest("planar2r", "jacobian", worst_error=0.1)


@pytest.mark.long
def test_programs_within_rising_errors_are_shorter_and_shorter_each_within_its_own():
    parts = (0.03, 0.2)
    found = shortest_within_each("planar3r", parts, effort=0.1)
    lengths = [count(found[0].exact).total, *(count(one.program()).total for one in found)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0]
    for one, part in zip(found, parts):
        assert not one.missed
        assert max(one.certified_error) <= part
        assert inside(one, 20_000)


@pytest.mark.long
def test_where_the_shortest_takes_too_long_to_certify_a_less_short_one_stands(monkeypatch):
    bounds, asked = ProgramError.bounds, []

    def late_at_first(self, *given, **more):
        asked.append(count(self.short).total)
        if len(asked) == 1:
            raise OverBudget("late")
        return bounds(self, *given, **more)

    monkeypatch.setattr(ProgramError, "bounds", late_at_first)
    found = shortest("planar3r", worst_error=0.1, effort=0.2)
    assert asked[0] <= asked[1] <= count(found.exact).total
    assert count(found.program()).total < count(found.exact).total
    assert not found.missed
    assert inside(found, 50_000)
