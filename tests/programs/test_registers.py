"""A machine with few registers and a little memory does what an allocation says, and computes what the program does."""

import math
import operator
import re
from collections import Counter

import numpy as np
import pytest

import emdeg
from emdeg.codegen.c import COptions, emit_c
from emdeg.programs import Act, Dependence, Kind, allocated, count, evaluate, in_given_order, quickest, registers
from emdeg.programs.registers import REGISTERS, SOON
from emdeg.programs.trace import Tracer
from emdeg.programs.values import constants
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples

DOES = {
    Kind.ADD: operator.add,
    Kind.SUB: operator.sub,
    Kind.MUL: operator.mul,
    Kind.DIV: operator.truediv,
    Kind.NEG: operator.neg,
    Kind.SQRT: math.sqrt,
    Kind.SIN: math.sin,
    Kind.COS: math.cos,
}


class Machine:
    """Executes an allocation literally: a value is where the steps have put it, and nowhere else."""

    def __init__(self, allocation, given, waves_lie):
        self.allocation, self.ops, self.waves_lie = allocation, allocation.program.ops, waves_lie
        self.arrays = {name: list(map(float, array)) for name, array in given.items()}
        self.numbers = {index: float(value) for index, value in constants(allocation.program).items()}
        self.registers, self.places, self.memory, self.waves = {}, {}, [math.nan] * allocation.places, {}
        self.computed, self.most = Counter(), 0
        self.stored = False

    def read(self, value):
        if value in self.numbers:
            return self.numbers[value]
        if value in self.registers:
            return self.registers[value]
        if value in self.places:
            return self.memory[self.places[value]]
        op = self.ops[value]
        if op.kind is Kind.ANGLE:
            return float(op.angle)
        if op.kind is Kind.INPUT:
            assert not self.stored, "an input is read after an output was stored"
            return self.arrays[op.slot[0]][op.slot[1]]
        if value in self.waves:
            return self.waves[value]
        assert value in self.allocation.inside, "a value is nowhere"
        return self.compute(value)

    def compute(self, value):
        self.computed[value] += 1
        op = self.ops[value]
        return DOES[op.kind](*map(self.read, op.args))

    def run(self):
        refs = {
            (group.name, place): ref
            for group in self.allocation.program.outputs
            for place, ref in enumerate(group.entries)
        }
        lasts = {}
        for at, step in enumerate(self.allocation.steps):
            for value in self.reads(step):
                lasts[value] = at
        for at, step in enumerate(self.allocation.steps):
            value = step.value
            if step.act is Act.COMPUTE:
                found = self.compute(value)
                self.end(lasts, at)
                lies = self.waves_lie and self.ops[value].kind in (Kind.SIN, Kind.COS)
                (self.waves if lies else self.registers)[value] = found
            elif step.act is Act.LOAD:
                self.registers[value] = self.read(value)
            elif step.act is Act.KEEP:
                self.memory[step.place] = self.registers[value]
            elif step.act is Act.LEAVE:
                del self.registers[value]
                if step.place >= 0:
                    self.places[value] = step.place
            else:
                name, place = step.entry
                ref = refs[step.entry]
                array = self.arrays.setdefault(name, {})
                array[place] = ref.sign * self.read(ref.value) if ref.sign else 0.0
                self.stored = True
            self.end(lasts, at)
            self.most = max(self.most, len(self.registers))
        return self.arrays

    def reads(self, step):
        """The values that a step needs, those of what stands inside it too."""
        if step.act is not Act.COMPUTE:
            return [step.value] if step.act is Act.STORE else []
        found, waiting = [], list(self.ops[step.value].args)
        while waiting:
            value = waiting.pop()
            waiting += self.ops[value].args if value in self.allocation.inside else []
            found.append(value)
        return found

    def end(self, lasts, at):
        for value in [value for value in self.registers if lasts.get(value, -1) <= at and value in lasts]:
            del self.registers[value]
            # what comes after finds it nowhere


SLACK = 1 + 4 * SOON
"""A result comes before what it is made of goes; what stands inside another expression is computed so much later, and
that may stand inside others."""

PROGRAMS = [*(random_program(seed, divisions=True) for seed in range(6)), pendulum_pair()[0], kitchen_sink()[0]]


@pytest.mark.parametrize("order", [in_given_order, lambda program: quickest(program, waves_lie=True)])
@pytest.mark.parametrize("waves_lie", [False, True])
@pytest.mark.parametrize(("few", "near"), [(4, 1), (6, 8), (REGISTERS, 32)])
@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{k}_{one.name}" for k, one in enumerate(PROGRAMS)])
def test_the_machine_computes_what_the_program_does_with_its_operations(
    program, few, near, waves_lie, order, monkeypatch
):
    monkeypatch.setattr(registers, "REGISTERS", few)
    given = {name: array[0] for name, array in samples(program, 1).items()}
    machine = Machine(allocated(order(program), waves_lie, near), given, waves_lie)
    arrays = machine.run()
    for name, expected in evaluate(program, given).items():
        found = [arrays[name][place] for place in range(np.size(expected))]
        np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-13, atol=1e-13)
    assert set(machine.computed.values()) <= {1}
    assert count(machine.allocation.program) == count(program)
    assert machine.most <= few + SLACK


@pytest.mark.parametrize("function", ["forward_dynamics", "forward_dynamics_vjp"])
def test_values_of_a_robot_keep_to_the_registers(function):
    program = emdeg.program("puma560", function)
    given = {name: array[0] for name, array in samples(program, 1).items()}
    found = allocated(quickest(program, True), True, 32)
    machine = Machine(found, given, waves_lie=True)
    arrays = machine.run()
    for name, expected in evaluate(program, given).items():
        np.testing.assert_allclose([arrays[name][k] for k in range(np.size(expected))], np.ravel(expected), rtol=1e-9)
    assert machine.most <= REGISTERS + SLACK
    moves = sum(step.act in (Act.KEEP, Act.LOAD) for step in found.steps)
    assert 0 < moves < program.size / 2


def test_the_value_that_is_read_last_leaves_first(monkeypatch):
    monkeypatch.setattr(registers, "REGISTERS", 4)
    t = Tracer()
    x = t.inputs("q", 2, Dependence.CONFIGURATION)
    sums = [x[0] + k for k in range(1, 6)]
    chain = x[1]
    for one in sums:
        chain = chain * one
    for one in sums:
        chain = chain + one
    program = t.program("f", {"y": [chain]})
    steps = allocated(quickest(program, False), False, 32).steps
    kept = [step.value for step in steps if step.act is Act.KEEP]
    assert kept
    assert len(set(kept)) == len(kept)


def test_an_input_that_is_an_output_is_read_before_anything_is_stored():
    t = Tracer()
    q = t.inputs("q", 2, Dependence.RATES)
    program = t.program("f", {"y": [q[1], q[0], q[0] * q[1]]})
    arrays = Machine(allocated(quickest(program, False), False, 32), {"q": [2.0, 3.0]}, waves_lie=False).run()
    assert arrays["y"] == {0: 3.0, 1: 2.0, 2: 6.0}


def test_near_places_are_for_what_memory_is_asked_for_most():
    """Reads of near places in the text of C are more for each value kept there than of others."""
    text = emit_c(emdeg.program("panda", "forward_dynamics_derivatives", effort=0), COptions(trig="inline"), name="f")
    body = text[text.rindex("ONE_STATE void f(") :]
    kept, read = Counter(), Counter()
    for word, room, place in re.findall(r"(KEEP|KEPT)\((\d), (\d+)", body):
        is_near = int(room) < 6 or int(place) < 32
        (kept if word == "KEEP" else read)[is_near] += 1
    assert kept[True] > kept[False] > 50
    assert read[True] / kept[True] > 1.3 * read[False] / kept[False]
