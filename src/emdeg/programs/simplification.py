"""Passes: each a pure function from a program to programs that compute the same with no more operations.

A program may also be cut in two, what can be computed less often and what remains: constants of symbolic parameters
once for a robot, values of the configuration alone at a lower rate than torques.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from emdeg.algebra import PrimeColumns
from emdeg.programs.ir import (
    Dependence,
    InputGroup,
    Kind,
    Op,
    OutputGroup,
    Program,
    Ref,
    count,
    dependences,
    live,
    moved,
    uses,
)
from emdeg.programs.network import factor, signed
from emdeg.programs.residues import fingerprints
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.values import constants


def simplify(program: Program) -> Program:
    """The program after all passes, ready to be emitted."""
    program = retrace(program)
    smaller = factor(program)
    if count(smaller).total < count(program).total:
        program = smaller
    return schedule(fold_signs(prune(program)))


def prune(program: Program) -> Program:
    """The program without what no output needs."""
    return Program(program.name, program.inputs, *copied(program, {}, program.outputs))


def retrace(program: Program) -> Program:
    """The program with equal values merged, also up to sign, and numbers folded."""
    tracer = Tracer.like(program)
    return retraced(program, tracer, tracer.replay(program))


def retraced(program: Program, tracer: Tracer, values: Sequence[Traced]) -> Program:
    """The program whose values are now these of the tracer's, without what no output needs."""
    return prune(Program(program.name, program.inputs, tuple(tracer.ops), _outputs_of(program, values)))


def merge_equal(program: Program, seed: int = 0) -> Program:
    """The program with one value, the first, for all that are equal up to sign at random points.

    Kane's speeds are inputs: what a recursion makes of the rates that were made of them is one of them again.
    """
    points = PrimeColumns(seed)
    tracer = Tracer.like(program)
    first: dict[bytes, Traced] = {}
    values: list[Traced] = []
    for op, residues in zip(program.ops, fingerprints(program, points)):
        key, negative = residues.tobytes(), ((points.prime - residues) % points.prime).tobytes()
        if key in first:
            values.append(first[key])
        elif negative in first:
            values.append(-first[negative])
        else:
            values.append(tracer.apply(op, [values[arg] for arg in op.args]))
            first[key] = values[-1]
    return retraced(program, tracer, values)


def _outputs_of(program: Program, values: Sequence[Traced]) -> tuple[OutputGroup, ...]:
    return tuple(
        OutputGroup(
            group.name,
            group.shape,
            tuple(signed(values[ref.value], ref.sign).ref if ref.sign else ref for ref in group.entries),
        )
        for group in program.outputs
    )


def included(tracer: Tracer, program: Program, inputs: Mapping[str, Sequence[Traced]]) -> list[list[Traced]]:
    """The outputs of a program written into `tracer`, its inputs replaced by traced values."""
    values = tracer.replay(program, lambda slot: inputs[slot[0]][slot[1]])
    return list(tracer.outputs_of(program, values).values())


def fold_signs(program: Program) -> Program:
    """The program with each difference turned round that is only ever read negated, by outputs."""
    read = {arg for op in program.ops for arg in op.args}
    positive = {ref.value for group in program.outputs for ref in group.entries if ref.sign > 0}
    turned = {
        index
        for index, op in enumerate(program.ops)
        if op.kind is Kind.SUB and index not in read and index not in positive
    }
    ops = tuple(Op(Kind.SUB, op.args[::-1]) if index in turned else op for index, op in enumerate(program.ops))
    outputs = tuple(
        OutputGroup(
            group.name,
            group.shape,
            tuple(Ref(r.value, -r.sign) if r.sign and r.value in turned else r for r in group.entries),
        )
        for group in program.outputs
    )
    return Program(program.name, program.inputs, ops, outputs)


def schedule(program: Program, alive: Callable[[Program], int] | None = None) -> Program:
    """The same operations in the order with fewer values `alive` (`most_alive`): as given, depth first or by greed."""
    candidates = [program, reordered(program, _depth_first(program)), few_alive(program)]
    return min(candidates, key=alive or most_alive)


def few_alive(program: Program) -> Program:
    """The same operations, the one next that ends most values: few are alive at once nearly everywhere."""
    return reordered(program, _greedy(program))


def for_one_state(program: Program) -> Program:
    """The same operations in the order in which a processor computes one state fastest.

    What the longest chains wait for comes first, so that several operations can be under way at once.
    """
    return reordered(program, _greedy(program, _chains_ahead(program)))


def taken_ahead(program: Program) -> Program:
    """The same operations in nearly the same order, with others taken ahead where a processor would wait.

    It begins `AT_ONCE` operations in a cycle, of those within its `REACH` after the first that waits. Where these are
    fewer, as in a chain of divisions, the next that can begin come from further on.
    """
    ops, cycles = program.ops, _cycles_of(program)
    missing, readers = [len(set(op.args)) for op in ops], _readers(program)
    known, begun = [0] * program.size, [False] * program.size
    ready = [index for index, many in enumerate(missing) if not many]
    waiting: list[tuple[int, int]] = []
    ahead: dict[int, list[int]] = {}
    cycle = first = 0
    while first < program.size:
        places = AT_ONCE
        while ready and places:
            index = heapq.heappop(ready)
            if index > first + REACH:
                ahead.setdefault(first, []).append(index)
            begun[index], known[index] = True, cycle + cycles[index]
            places -= cycles[index] > 0
            for reader in readers[index]:
                missing[reader] -= 1
                if not missing[reader]:
                    heapq.heappush(waiting, (max(known[arg] for arg in ops[reader].args), reader))
            while waiting and waiting[0][0] <= cycle:
                heapq.heappush(ready, heapq.heappop(waiting)[1])
            while first < program.size and begun[first]:
                first += 1
        cycle += 1
        while waiting and waiting[0][0] <= cycle:
            heapq.heappush(ready, heapq.heappop(waiting)[1])
    order: dict[int, None] = {}

    def put(index: int) -> None:
        for earlier in (*ops[index].args, *ahead.pop(index, ())):
            if earlier not in order:
                put(earlier)
        order[index] = None

    for index in range(program.size):
        if index not in order:
            put(index)
    return reordered(program, list(order))


AT_ONCE = 2
"""Sums and products that processors begin in a cycle: what they can, less what they move meanwhile."""
REACH = 150
"""Operations from which processors choose; those of registers and memory come between them."""


def _readers(program: Program) -> list[list[int]]:
    """Per value the operations that read it, each once."""
    readers: list[list[int]] = [[] for _ in program.ops]
    for index, op in enumerate(program.ops):
        for arg in set(op.args):
            readers[arg].append(index)
    return readers


def _cycles_of(program: Program) -> list[int]:
    """How many cycles, roughly, each operation takes; none for what is there before."""
    numbers = constants(program)
    return [
        0 if index in numbers or op.kind in _THERE else _CYCLES.get(op.kind, 4) for index, op in enumerate(program.ops)
    ]


def angles_first(program: Program) -> Program:
    """The same operations, with all sines and cosines in a row as early as can be.

    A compiler can then compute several at once. No change where an angle itself depends on a sine.
    """
    early = [False] * program.size
    for index in range(program.size - 1, -1, -1):
        if program.ops[index].kind in (Kind.SIN, Kind.COS) or early[index]:
            for arg in program.ops[index].args:
                early[arg] = True
    trig = [op.kind in (Kind.SIN, Kind.COS) for op in program.ops]
    if any(first and turns for first, turns in zip(early, trig)):
        return program
    order = sorted(range(program.size), key=lambda index: (not early[index], not trig[index], index))
    return reordered(program, order)


def most_alive(program: Program) -> int:
    """The largest number of values that must be remembered at once; inputs and constants do not count."""
    held, last = _held(program), [-1] * program.size
    for index, op in enumerate(program.ops):
        for arg in op.args:
            last[arg] = index
    alive = most = 0
    ending: dict[int, int] = {}
    for index in range(program.size):
        alive -= ending.get(index, 0)
        if held[index] and last[index] > index:
            alive += 1
            ending[last[index]] = ending.get(last[index], 0) + 1
        most = max(most, alive)
    return most


def _held(program: Program) -> list[bool]:
    """Whether a value needs a register: those that inputs or literals supply do not."""
    return [
        op.kind is not Kind.INPUT and depends is not Dependence.CONSTANTS
        for op, depends in zip(program.ops, dependences(program))
    ]


def _depth_first(program: Program) -> list[int]:
    """Each output's values just before it, the operand that needs more of them first."""
    need = [0] * program.size
    for index, op in enumerate(program.ops):
        inner = sorted((need[arg] for arg in op.args), reverse=True)
        need[index] = max((n + i for i, n in enumerate(inner)), default=0) or 1
    order: list[int] = []
    done = [False] * program.size
    stack = list(reversed(list(program.roots())))
    while stack:
        index = stack[-1]
        waiting = [arg for arg in program.ops[index].args if not done[arg]]
        if done[index] or not waiting:
            stack.pop()
            if not done[index]:
                done[index] = True
                order.append(index)
        else:
            stack.append(max(waiting, key=lambda arg: (need[arg], -arg)))
    return order


def _chains_ahead(program: Program) -> list[int]:
    """Per value the cycles, roughly, of the longest chain of operations that leads from it to an output."""
    ahead = [0] * program.size
    for index in range(program.size - 1, -1, -1):
        waits = ahead[index] + _CYCLES.get(program.ops[index].kind, 4)
        for arg in program.ops[index].args:
            ahead[arg] = max(ahead[arg], waits)
    return ahead


_CYCLES = {Kind.DIV: 13, Kind.SQRT: 15, Kind.SIN: 30, Kind.COS: 30}
"""Of what takes longer than a sum or a product."""
_THERE = (Kind.INPUT, Kind.NUMBER, Kind.ANGLE, Kind.SIN, Kind.COS)


def _greedy(program: Program, ahead: Sequence[int] | None = None) -> list[int]:
    """Always the ready operation that ends most values.

    Among equals the one that leads on from the last; where it is known what waits `ahead`, that with the longest chain.
    """
    needed, held, left = live(program), _held(program), list(uses(program))
    for index, op in enumerate(program.ops):
        if not needed[index]:
            for arg in op.args:
                left[arg] -= 1
    missing, readers = [len(set(op.args)) for op in program.ops], _readers(program)
    depth_first = {index: place for place, index in enumerate(_depth_first(program))}
    done = [False] * program.size
    order: list[int] = []

    def rank(index: int) -> tuple[int, int]:
        args = program.ops[index].args
        ended = sum(held[arg] and left[arg] == args.count(arg) for arg in set(args))
        return (int(held[index]) - ended, depth_first[index] if ahead is None else -ahead[index])

    # A rank only ever improves while an operation waits; it is pushed anew then, and the old entry passed over.
    ready = [(rank(index), index) for index in range(program.size) if needed[index] and not missing[index]]
    heapq.heapify(ready)
    while ready:
        _, chosen = heapq.heappop(ready)
        if done[chosen]:
            continue
        done[chosen] = True
        order.append(chosen)
        for arg in program.ops[chosen].args:
            left[arg] -= 1
        for arg in set(program.ops[chosen].args):
            if left[arg] <= 2:
                for reader in readers[arg]:
                    if needed[reader] and not missing[reader] and not done[reader]:
                        heapq.heappush(ready, (rank(reader), reader))
        for reader in readers[chosen]:
            missing[reader] -= 1
            if needed[reader] and not missing[reader]:
                heapq.heappush(ready, (rank(reader), reader))
    return order


def reordered(program: Program, order: Sequence[int]) -> Program:
    """The same operations in another order: their places now."""
    place = {index: position for position, index in enumerate(order)}
    ops = tuple(
        Op(op.kind, tuple(place[arg] for arg in op.args), op.payload) for op in (program.ops[index] for index in order)
    )
    return Program(program.name, program.inputs, ops, moved(program.outputs, place))


def split_constants(program: Program) -> tuple[Program | None, Program]:
    """(parameters -> constants, the rest with `constants` as an input in their place).

    Without symbolic parameters there is no first part and the second is the program itself.
    """
    if not any(group.depends is Dependence.CONSTANTS for group in program.inputs):
        return None, program
    return split(program, Dependence.CONSTANTS, "constants")


def split_rates(program: Program) -> tuple[Program, Program]:
    """(configuration -> x, the rest with `x` as a further input)."""
    return split(program, Dependence.CONFIGURATION, "x")


def split(program: Program, level: Dependence, name: str) -> tuple[Program, Program]:
    """The part that depends on `level` at most, and the rest, which reads it from the input `name`.

    Numbers are not passed: they are literals in both. Inputs of the configuration are read where they are
    needed; parameters are passed on, so that the second part need not know them.
    """
    passed, leaves, handed = _interface(name, _crossing(program, level), level)
    first = tuple(group for group in program.inputs if group.depends <= level)
    second = tuple(group for group in program.inputs if level is not Dependence.CONSTANTS or group.depends > level)
    suffix = "" if level is Dependence.CONSTANTS else "_rates"
    return (
        Program(f"{program.name}_{_SUFFIX[level]}", first, *copied(program, {}, (passed,))),
        Program(program.name + suffix, (*second, handed), *copied(program, leaves, program.outputs)),
    )


def split_shared(programs: Sequence[Program], name: str) -> tuple[Program, list[Program]]:
    """(configuration -> x, each program with `x` as a further input): what two or more need is computed once.

    `x` holds values of the configuration, sines and cosines among them, that several programs compute, and what depends
    on open parameters alone; the first part is called `name`. Inputs of one name are the same array in all.
    """
    inputs = {group.name: group for program in programs for group in program.inputs}
    tracer = Tracer.like(Program(name, tuple(inputs.values()), (), ()))
    written: list[tuple[OutputGroup, ...]] = []
    for program in programs:
        written.append(_outputs_of(program, tracer.replay(program)))
    ops = tuple(tracer.ops)
    # One program's output may have the name of another's input.
    apart = [tuple(replace(group, name=f"output_{group.name}") for group in outputs) for outputs in written]
    whole = [Program(one.name, tuple(inputs.values()), ops, outputs) for one, outputs in zip(programs, apart)]
    needed = [live(one) for one in whole]
    classes, numbers = dependences(whole[0]), constants(whole[0])
    common = {
        index
        for index, op in enumerate(ops)
        if index not in numbers
        and op.kind is not Kind.ANGLE
        and (
            classes[index] is Dependence.CONSTANTS
            or (
                (classes[index] is Dependence.CONFIGURATION and op.kind is not Kind.INPUT)
                and sum(one[index] for one in needed) > 1
            )
        )
    }
    read = {root for one in whole for root in one.roots()}
    for one in needed:
        read.update(arg for index, op in enumerate(ops) if one[index] and index not in common for arg in op.args)
    passed, leaves, handed = _interface("x", sorted(read & common), Dependence.CONFIGURATION)
    first = tuple(group for group in inputs.values() if group.depends <= Dependence.CONFIGURATION)
    rests = [
        Program(
            f"{one.name}_shared",
            (*(group for group in one.inputs if group.depends is not Dependence.CONSTANTS), handed),
            *copied(whole[0], leaves, outputs),
        )
        for one, outputs in zip(programs, written)
    ]
    return Program(name, first, *copied(whole[0], {}, (passed,))), rests


def _interface(name: str, crossing: Sequence[int], level: Dependence) -> tuple[OutputGroup, dict[int, Op], InputGroup]:
    """Values as an output of the first part; in the second, by their numbers, what reads them and the input array."""
    leaves = {value: Op(Kind.INPUT, payload=(name, place)) for place, value in enumerate(crossing)}
    passed = OutputGroup(name, (len(crossing),), tuple(map(Ref, crossing)))
    return passed, leaves, InputGroup(name, len(crossing), level)


_SUFFIX = {Dependence.CONSTANTS: "constants", Dependence.CONFIGURATION: "configuration"}


def _crossing(program: Program, level: Dependence) -> list[int]:
    """The values of the first part that the second reads, in order."""
    needed, classes, numbers = live(program), dependences(program), constants(program)
    read = set(program.roots())
    for index, op in enumerate(program.ops):
        if needed[index] and classes[index] > level:
            read.update(op.args)
    return [
        index
        for index in sorted(read)
        if classes[index] <= level
        and index not in numbers
        and program.ops[index].kind is not Kind.ANGLE
        and not (program.ops[index].kind is Kind.INPUT and classes[index] is not Dependence.CONSTANTS)
        and (level is Dependence.CONSTANTS or classes[index] is not Dependence.CONSTANTS)
    ]


def copied(
    program: Program, leaves: dict[int, Op], outputs: tuple[OutputGroup, ...]
) -> tuple[tuple[Op, ...], tuple[OutputGroup, ...]]:
    """What some outputs need, with the given values replaced by leaves."""
    wanted = {ref.value for group in outputs for ref in group.entries if ref.sign}
    for index in range(program.size - 1, -1, -1):
        if index in wanted and index not in leaves:
            wanted.update(program.ops[index].args)
    place: dict[int, int] = {}
    ops: list[Op] = []
    for index, op in enumerate(program.ops):
        if index in wanted:
            place[index] = len(ops)
            ops.append(leaves.get(index) or Op(op.kind, tuple(place[arg] for arg in op.args), op.payload))
    return tuple(ops), moved(outputs, place)
