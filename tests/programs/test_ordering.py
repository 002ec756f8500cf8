"""The search for an order that ships programs: it estimates as the package does, and changes nothing but the order."""

import random
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import emdeg
from emdeg.programs import Dependence, count
from emdeg.programs.instructions import Instructions
from emdeg.programs.pipeline import ACCESS
from emdeg.programs.registers import estimated_cycles, quickest
from emdeg.programs.trace import Tracer
from tests.programs.test_simplification import same_function

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture(scope="module")
def ordering():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield import_module("ordering")


@pytest.mark.parametrize(
    ("robot", "function"),
    [
        ("puma560", "forward_dynamics_vjp"),
        ("planar2r", "forward_dynamics_jvp"),
        ("scara", "regressor"),
        ("delta", "inverse_dynamics"),
        ("puma560_emdeg", "elements"),
    ],
)
def test_both_estimates_are_the_same(ordering, robot, function):
    given = quickest(emdeg.program(robot, function), True)
    assert ordering.estimated_cycles(given) == pytest.approx(estimated_cycles(given, True), abs=1e-9)


@given(seed=st.integers(0, 10**6), inputs=st.integers(1, 30), length=st.integers(1, 300))
def test_both_estimates_are_the_same_of_any_program(ordering, seed, inputs, length):
    given = Instructions(anything(seed, inputs, length))
    assert ordering.estimated_cycles(given) == pytest.approx(estimated_cycles(given, True), abs=1e-9)


def anything(seed, inputs, length):
    """A program of random operations; inputs and numbers among its outputs."""
    draw, t = random.Random(seed), Tracer()
    values = [*t.inputs("q", inputs, Dependence.CONFIGURATION)]
    values += [t.sine(one) for one in values[:3]]
    for _ in range(length):
        a, b = draw.choice(values), draw.choice(values[-40:])
        values.append(draw.choice([a + b, a * b, a - b, a * 3, a / values[0]]))
    return t.program("p", {"y": draw.sample(values, min(12, len(values))), "z": [values[0], t.number(2)]})


def test_a_search_finds_a_quicker_order_of_the_same_operations_and_the_same_again(ordering):
    program = emdeg.program("puma560", "forward_dynamics_vjp", effort=0)
    found, again = (ordering.in_quicker_order(program, tries=3000, seed=3) for _ in range(2))
    assert found == again
    assert sorted(map(repr, (op.kind for op in found.ops))) == sorted(map(repr, (op.kind for op in program.ops)))
    assert estimated_cycles(quickest(found, True), True) < estimated_cycles(quickest(program, True), True)
    same_function(program, found)


def test_a_program_of_sines_alone_stays(ordering):
    t = Tracer()
    x = t.inputs("q", 3, Dependence.CONFIGURATION)
    program = t.program("p", {"y": [t.sine(one) for one in x]})
    found = ordering.in_quicker_order(program, tries=5)
    assert count(found) == count(program)
    same_function(program, found)


def test_accesses_of_memory_are_worth_what_is_asked_for(ordering):
    given = quickest(emdeg.program("puma560", "forward_dynamics_vjp"), True)
    free, dear, dearer = (ordering.estimated_cycles(given, access) for access in (0.0, ACCESS, 2 * ACCESS))
    assert dearer - dear == pytest.approx(dear - free)
    assert dear > free
