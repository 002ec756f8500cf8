"""The optimiser: every formulation is the same function, every move keeps it, nothing unproved comes out."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.dynamics import TREE
from emdeg.dynamics.formulations import coriolis_composite
from emdeg.dynamics.functions import FUNCTIONS
from emdeg.errors import Refuted
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Dependence, Kind, Op, Program, count
from emdeg.programs.registers import estimated_cycles, quickest
from emdeg.programs.rounding import check_rounding
from emdeg.programs.search import resubstitute as module
from emdeg.programs.search.formulation import options, plain_formulation, write
from emdeg.programs.search.hastening import CYCLES as TAKEN
from emdeg.programs.search.hastening import Hastening, hastened
from emdeg.programs.search.optimise import optimise
from emdeg.programs.search.resubstitute import Resubstitution, resubstitute
from emdeg.programs.simplification import retrace
from emdeg.programs.trace import Tracer
from emdeg.programs.verification import verify_program
from emdeg.programs.weights import CYCLES, GPU, OPERATIONS, ROOM, Weights, cost, fullest, label, parsed
from tests.programs.test_simplification import same_function
from tests.random_robots import random_robot, random_state, robots

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**31)
SEARCHED = sorted(
    name for name, entry in FUNCTIONS.items() if TREE.name in entry.ways and entry.ways[TREE.name].searched
)
"""Functions whose formulations an optimiser varies."""


def random_formulation(robot, functions, seed):
    """A formulation with many choices made at random, those that do not go together left out."""
    rng = random.Random(seed)
    formulation = plain_formulation(robot, functions)
    for option in rng.sample(options(robot, functions), k=min(15, len(options(robot, functions)))):
        changed = option.applied(formulation)
        try:
            write(robot, functions, changed)
        except ValueError:
            continue
        formulation = changed
    return formulation


@pytest.mark.long
@few
@given(robots(4), seeds, st.sampled_from(SEARCHED))
def test_every_formulation_of_a_chain_is_the_same_function(robot, seed, function):
    program = retrace(write(robot, [function], random_formulation(robot, [function], seed)))
    verify_program(program, robot, function)


@pytest.mark.long
@few
@given(robots(4, tree=True), seeds, st.sampled_from(SEARCHED))
def test_every_formulation_of_a_tree_is_the_same_function(robot, seed, function):
    program = retrace(write(robot, [function], random_formulation(robot, [function], seed)))
    verify_program(program, robot, function)


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "planar3r", "puma560_emdeg"])
@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix"])
@pytest.mark.long
def test_formulations_of_library_robots_are_the_same_function(name, function):
    robot = emdeg.load(name)
    for seed in range(3):
        program = retrace(write(robot, [function], random_formulation(robot, [function], seed)))
        verify_program(program, robot, function)


def test_functions_side_by_side_share_a_formulation():
    robot = emdeg.load("scara")
    names = ["mass_matrix", "bias"]
    program = retrace(write(robot, names, random_formulation(robot, names, 5)))
    verify_program(program, robot, names)


@few
@given(robots(6), seeds)
def test_composite_coriolis_matrix_is_the_christoffel_one(robot, seed):
    q, qd, _ = random_state(robot, seed)
    state, _ = TREE.numbers(robot, {"q": q, "qd": qd})
    C = coriolis_composite.coriolis_matrix(state.tree, state.frame, state.qd)
    expected = emdeg.coriolis_matrix(robot, q, qd)
    assert abs(C - expected).max() <= 1e-11 * (1 + abs(expected).max())


@settings(max_examples=5, deadline=None, derandomize=True)
@given(robots(3), seeds)
def test_resubstitution_keeps_the_function_and_never_grows(robot, seed):
    plain = plain_program(robot, "inverse_dynamics", factored=False)
    smaller = resubstitute(plain, 0.3, seed)
    assert count(smaller).total <= count(plain).total
    verify_program(smaller, robot, "inverse_dynamics")


def test_resubstitution_finds_what_factoring_cannot():
    """(a + b)^2 - (a - b)^2 is 4 a b: two operations, which no factoring of the written terms shows."""
    from emdeg.programs.ir import Dependence
    from emdeg.programs.trace import Tracer

    tracer = Tracer()
    a, b = tracer.inputs("q", 2, Dependence.CONFIGURATION)
    product = a * b
    program = tracer.program("squares", {"y": [product, (a + b) * (a + b) - (a - b) * (a - b)]})
    assert count(retrace(program)).total == 6
    assert count(resubstitute(retrace(program), 0.5)).total == 2


def polynomials(many):
    """Values that a chain leaves one by one, and twice the product of the last two said with four operations."""
    tracer = Tracer()
    a, b = tracer.inputs("q", 2, Dependence.CONFIGURATION)
    values = [a, b]
    for k in range(many):
        values.append(values[-1] * values[-2] + (k + 2))
    u, v = values[-2:]
    return tracer.program("late", {"y": [*values[2:], (u + v) * (u + v) - u * u - v * v]})


@pytest.mark.parametrize("most", [30, 2000])
def test_late_values_of_long_programs_are_said_anew_too(most, monkeypatch):
    """Where not all sums and products are listed, each time others are."""
    monkeypatch.setattr(module, "TABLE_LIMIT", most)
    program = retrace(polynomials(20))
    before = count(program).total
    assert count(Resubstitution(program).run(lambda: False, sweeps=40)).total == before - 4


def test_the_graph_knows_what_lives_and_what_it_costs(monkeypatch):
    """After every move it is as if it were seen for the first time."""
    make = Resubstitution._make

    def watched(self, target, candidate):
        make(self, target, candidate)
        net = self.net
        seen = net.nodes.keys(), {k: sorted(v) for k, v in net.readers.items()}, net.read, net.cost
        net._look()
        assert seen == (net.nodes.keys(), {k: sorted(v) for k, v in net.readers.items()}, net.read, net.cost)

    monkeypatch.setattr(Resubstitution, "_make", watched)
    search = Resubstitution(plain_program(emdeg.load("puma560"), "mass_matrix", factored=False))
    search.run(lambda: False, sweeps=1)
    assert search.moves > 10


def test_what_has_the_same_key_by_chance_is_not_taken():
    """A wrong value is forgotten with what was made for it, and the graph is as it was."""
    search = Resubstitution(plain_program(emdeg.load("planar3r"), "mass_matrix"))
    net = search.net
    target = next(index for index in net.order if net.nodes[index].kind is Kind.MUL)
    a, b = (index for index in net.order[:2])
    before = dict(net.nodes), dict(net.read), net.cost
    wrong = module.Equivalent(1, 1, (a, b), lambda net: net.add(net.mul((a, 1), (b, 1)), (b, 1)))
    search._make(target, wrong)
    assert (net.nodes, net.read, net.cost) == before
    assert not search.moves


def test_the_search_is_the_same_for_the_same_seed():
    robot = emdeg.load("planar3r")
    first, second = (optimise(robot, "mass_matrix", 0.6, seed=3).program for _ in range(2))
    assert first == second


def lateness(program):
    """When the last value is known, counted operation by operation."""
    known = []
    for op in program.ops:
        known.append(max((known[arg] for arg in op.args), default=0) + TAKEN.get(op.kind, 0))
    return max(known)


def test_among_equals_it_drifts_to_where_values_are_known_early():
    program = emdeg.program("puma560", "forward_dynamics_vjp")
    ends = []
    for search in (Hastening(program, 1), Resubstitution(program, 1)):
        for _ in range(3):
            search.sweep(lambda: False)
        ends.append(search.net.to_program())
        assert count(ends[-1]).total <= count(program).total
        same_function(program, ends[-1])
    early, drifted = map(lateness, ends)
    assert early < 0.9 * drifted


def test_a_hastened_program_is_no_dearer_and_no_slower_by_the_estimate():
    program = emdeg.program("puma560", "forward_dynamics_vjp")
    found, again = (hastened(program, lambda: False, seed=2, sweeps=4) for _ in range(2))
    assert found == again
    rank, before = ((count(one).total, estimated_cycles(quickest(one, True), True)) for one in (found, program))
    assert rank < before
    same_function(program, found)
    assert hastened(program, lambda: True) == program


def test_effort_zero_is_the_plain_program():
    robot = emdeg.load("planar3r")
    assert optimise(robot, "mass_matrix", 0).program == plain_program(robot, "mass_matrix")
    assert emdeg.program(robot, "mass_matrix", effort=0) == plain_program(robot, "mass_matrix")


@pytest.mark.parametrize("after", [1, 2, 3])
def test_interrupted_it_keeps_the_best_and_proves_it(after):
    robot = emdeg.load("scara")
    calls = 0

    def interrupt(phase, best):
        nonlocal calls
        calls += 1
        if calls == after + 1 and phase != "verified":
            raise KeyboardInterrupt

    found = optimise(robot, "inverse_dynamics", 2.0, progress=interrupt)
    assert calls == after + 2  # the last tells of the proof
    assert found.certificate.false_pass_probability < 1e-15
    verify_program(found.program, robot, "inverse_dynamics")
    assert found.count.total <= count(plain_program(robot, "inverse_dynamics")).total


def test_an_interrupt_in_the_first_descent_loses_nothing():
    robot = emdeg.load("stanford_arm")

    def interrupt(phase, best):
        if phase == "formulation":
            raise KeyboardInterrupt

    found = optimise(robot, "inverse_dynamics", 60.0, progress=interrupt)
    assert found.interrupted
    assert found.seconds < 30
    assert found.count.total < count(plain_program(robot, "inverse_dynamics")).total
    verify_program(found.program, robot, "inverse_dynamics")


def test_an_interrupt_between_two_sweeps_loses_nothing(monkeypatch):
    robot = emdeg.load("fourbar")
    improve = Resubstitution.improve

    def interrupted(self, target):
        start = self.best
        improve(self, target)
        if self.best < start:
            self.net.nodes.clear()  # whatever state it is in
            raise KeyboardInterrupt

    monkeypatch.setattr(Resubstitution, "improve", interrupted)
    found = optimise(robot, "inverse_dynamics", 60.0)
    assert found.interrupted
    assert found.count.total < count(plain_program(robot, "inverse_dynamics")).total


def test_a_wrong_program_is_never_handed_out(monkeypatch):
    """Should a move ever break a program, the proof refuses it and the plain one stands in."""
    from emdeg.programs.search import optimise as module

    robot = emdeg.load("planar2r")
    right = plain_program(robot, "mass_matrix")
    broken = Program(right.name, right.inputs, (*right.ops[:-1], Op(Kind.ADD, (0, 0))), right.outputs)
    with pytest.raises(Refuted):
        verify_program(broken, robot, "mass_matrix")
    monkeypatch.setattr(module, "_search", lambda *args: ([(broken, None)], False))
    assert optimise(robot, "mass_matrix", 1.0).program == right


@pytest.mark.slow
def test_the_optimiser_wins_on_robots_it_was_not_written_for():
    for seed in (3, 8):
        robot = random_robot(seed, 5)
        plain = count(plain_program(robot, "inverse_dynamics")).total
        assert optimise(robot, "inverse_dynamics", 3.0).count.total < plain


def test_weights_are_the_users():
    robot = emdeg.load("planar2r")
    program = plain_program(robot, "forward_dynamics")
    c = count(program)
    assert cost(program, OPERATIONS) == c.total
    assert cost(program, Weights(0, 0, 0, 0, 1)) == c.sincos
    assert cost(program, CYCLES) > cost(program, OPERATIONS)
    assert cost(program, Weights(fused=1)) < cost(program, OPERATIONS)


def test_weights_are_read_as_they_are_written():
    for weights in (OPERATIONS, CYCLES, GPU, Weights(div=20), Weights(fused=0.5, sincos=3)):
        assert parsed(label(weights)) == weights
    for wrong in ("", "div", "div=", "div=-1", "div=x", "div=nan", "dif=3", "div=1,div=2", "cycle"):
        with pytest.raises(ValueError, match="weight"):
            parsed(wrong)


def test_registers_are_a_weight_of_their_own():
    """n products that are all read at the end must be kept; added up as they come, two at a time are enough."""
    many = ROOM + 50
    tracer = Tracer()
    x = tracer.inputs("x", 1, Dependence.CONFIGURATION)[0]
    powers = [x]
    for _ in range(many):
        powers.append(powers[-1] * x)
    at_once = tracer.program("kept", {"y": [sum(reversed(powers[:-1]), powers[-1])]})
    assert fullest(at_once) >= many
    running, y = Tracer(), None
    x = running.inputs("x", 1, Dependence.CONFIGURATION)[0]
    y = x
    for _ in range(many):
        y = y * x + x
    assert fullest(running.program("run", {"y": [y]})) <= 3
    spilled = fullest(at_once) - ROOM
    assert cost(at_once, GPU) - cost(at_once, Weights(div=9, sqrt=9, sincos=32, fused=1)) == 4 * spilled


def test_what_rounds_too_much_gives_way_to_what_came_before_it(monkeypatch):
    """The cheapest programs of the search are refused: one from further back is handed out, and proved."""
    robot, wanted = emdeg.load("planar3r"), "inverse_dynamics"
    plain, cheapest = (count(emdeg.optimise(robot, wanted, effort).program).total for effort in (0, 1.0))
    asked = []

    def strict(program, *args, **kwargs):
        asked.append(count(program).total)
        if asked[-1] == cheapest:
            raise Refuted("as if sums cancelled")
        return check_rounding(program, *args, **kwargs)

    monkeypatch.setattr("emdeg.programs.search.optimise.check_rounding", strict)
    found = emdeg.optimise(robot, wanted, 1.0)
    assert asked[0] == cheapest < found.count.total <= plain
    assert found.certificate.false_pass_probability < 1e-15
    monkeypatch.setattr("emdeg.programs.search.optimise.MARGIN", 1e9)
    assert emdeg.optimise(robot, wanted, 1.0).count.total == plain
