"""A program as LLVM assembly: a loop over states, scalar or with one state in each lane of a vector.

The functions read one block of words: the pointers to inputs and outputs, in the program's order, then for each
the distance between states, in entries (0 where one state serves all).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from emdeg.programs import LAWS, Kind, Program, Slot, constants, live
from emdeg.runtime.llvm_memory import Rows
from emdeg.runtime.llvm_writer import PRECISIONS, Writer, vector_attributes

_BINARY = {Kind.ADD: "fadd", Kind.SUB: "fsub", Kind.MUL: "fmul", Kind.DIV: "fdiv"}


def assembly(program: Program, bits: int, width: int, shared: frozenset[str] = frozenset()) -> str:
    """The module's text: @states(words, start, stop), @lanes for at least `width` states, @one(words).

    `shared` names inputs of which @lanes may assume that one state serves all.
    """
    scalar, vector = Writer(PRECISIONS[bits], 1), Writer(PRECISIONS[bits], width)
    parts = [
        _function(program, scalar, "states", frozenset()),
        _function(program, vector, "lanes", shared),
        "define void @one(ptr %words) {\n  call void @states(ptr %words, i64 0, i64 1)\n  ret void\n}",
        *sorted(scalar.declared | vector.declared),
        vector_attributes(bits * width),
    ]
    return "\n\n".join(parts) + "\n"


def _function(program: Program, out: Writer, name: str, shared: frozenset[str]) -> str:
    groups = [*program.inputs, *program.outputs]
    head = []
    for place, group in enumerate(groups):
        head += [
            f"  %at{place} = getelementptr i64, ptr %words, i64 {place}",
            f"  %base_{group.name} = load ptr, ptr %at{place}",
            f"  %far{place} = getelementptr i64, ptr %words, i64 {place + len(groups)}",
            f"  %step_{group.name} = load i64, ptr %far{place}",
        ]
    _body(program, out, shared)
    width = out.width
    return "\n".join(
        [
            f"define void @{name}(ptr %words, i64 %start, i64 %stop) #0 {{",
            "entry:",
            *head,
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ %start, %entry ], [ %next, %loop ]",
            *out.lines,
            # The last vector may overlap the one before it: the same states, computed twice to the same values.
            f"  %after = add i64 %i, {width}",
            "  %more = icmp slt i64 %after, %stop",
            f"  %last = sub i64 %stop, {width}",
            "  %fits = icmp slt i64 %after, %last",
            "  %next = select i1 %fits, i64 %after, i64 %last",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _body(program: Program, out: Writer, shared: frozenset[str]) -> None:
    given = {g.name: Rows(out, g.name, g.size, g.name in shared) for g in program.inputs}
    made = {g.name: Rows(out, g.name, len(g.entries)) for g in program.outputs}
    # Of one state a result may lie where an input does; of many never, and what is stored at once need not wait.
    ready = None if out.width == 1 else lambda name, place, value: made[name].put(place, value)
    results = operations(program, out, lambda slot: given[slot[0]].load(slot[1]), {}, ready)
    if ready is None:
        for name, rows in made.items():
            rows.store(results[name])
    else:
        out.lines = _among(out.lines, [line for rows in made.values() for line in rows.next_fetched()])


def _among(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """Both, in their orders, the others evenly among the lines."""
    keyed = [(k * len(others), line) for k, line in enumerate(lines)]
    keyed += [(k * len(lines), line) for k, line in enumerate(others)]
    return [line for _, line in sorted(keyed, key=itemgetter(0))]


def operations(
    program: Program,
    out: Writer,
    load: Callable[[Slot], str],
    pairs: dict[str, tuple[str, str]],
    ready: Callable[[str, int, str], None] | None = None,
) -> dict[str, list[str]]:
    """The program's operations written to `out`; the names of its outputs' values.

    `load` names an input's value; `pairs` remembers sines and cosines by the name of their angle's value, so that
    programs written one after the other on the same values share them. `ready` is told of each output's entry, its
    place in the output and the name of its value, as soon as that is written.
    """
    needed, numbers = live(program), constants(program)
    results = {group.name: [""] * len(group.entries) for group in program.outputs}
    wanted: dict[int, list[tuple[str, int, int]]] = {}
    zero = out.constant(0.0)

    def give(name: str, place: int, value: str) -> None:
        results[name][place] = value
        if ready is not None:
            ready(name, place, value)

    for group in program.outputs:
        for place, ref in enumerate(group.entries):
            if ref.sign:
                wanted.setdefault(ref.value, []).append((group.name, place, ref.sign))
            else:
                give(group.name, place, zero)
    value: dict[int, str] = {}
    for index, op in enumerate(program.ops):
        if not needed[index]:
            continue
        args = [value[arg] for arg in op.args]
        if index in numbers:
            value[index] = out.constant(numbers[index])
        elif op.kind is Kind.INPUT:
            value[index] = load(op.slot)
        elif op.kind is Kind.ANGLE:
            value[index] = out.constant(float(op.angle))
        elif op.kind in (Kind.SIN, Kind.COS):
            if args[0] not in pairs:
                pairs[args[0]] = out.sincos(args[0])
            value[index] = pairs[args[0]][op.kind is Kind.COS]
        elif op.kind is Kind.NEG:
            value[index] = out.put(f"fneg {out.real} {args[0]}")
        elif op.kind is Kind.SQRT:
            value[index] = out.call("llvm.sqrt", args[0])
        elif op.kind in LAWS:
            value[index] = {Kind.SIGN: out.sign, Kind.EXP: out.exponential, Kind.TANH: out.tanh}[op.kind](args[0])
        else:
            value[index] = out.binary(_BINARY[op.kind], args[0], args[1])
        for name, place, sign in wanted.get(index, ()):
            give(name, place, out.put(f"fneg {out.real} {value[index]}") if sign < 0 else value[index])
    return results
