"""Fixed-step integration compiled together with the robot: one LLVM function, no call inside.

A group of trajectories, one in each lane of a vector, is carried through all its steps before the next group
begins, so that its state never leaves the processor. The function reads one block of words:

    0 initial states   1 records   2 references   (pointers)
    3 entries from one initial state to the next   4 the same of records   5 entries of references per step
    6 steps per record   7 records   8 pointer to the step's length [s]
    9 entries of references per trajectory (0: all trajectories share them)
    10 pointer to the noise's deviations   11 where its counter begins   12 its numbers per trajectory   (`EffortNoise`)

With references of its own a trajectory runs alone: @one.
"""

from __future__ import annotations

from collections.abc import Callable

from emdeg.runtime import PRECISIONS, Rows, Writer, vector_attributes
from emdeg.simulation.integrators.control_loop import Hold, Loop, RightHandSide, load_shared, noise_text
from emdeg.simulation.integrators.methods import Explicit, Gauss, Method, SemiImplicit, nodes

WORDS = 13
STEP_LENGTH = 8
"""The word that points to the step's length."""
FIXED_POINT_LIMIT = 60
FIXED_POINT_TOLERANCE = 4e-16


def kernel_text(loop: Loop, method: Method, hold: Hold | None, width: int, bits: int = 64) -> str:
    """The module: @lanes and @one (words, start, stop); with a width of 1 @one alone."""
    parts, declared = [], set()
    for name, lanes in (("lanes", width), ("one", 1)) if width > 1 else (("one", 1),):
        out = Writer(PRECISIONS[bits], lanes)
        parts.append(_function(loop, method, hold, out, name))
        declared |= out.declared
    tables = []
    if isinstance(method, Explicit):
        rows = [nodes(method).index(c) for c in method.c] if hold is None else [0] * len(method.c)
        count, scalar = len(method.a), PRECISIONS[bits].scalar
        tables = [
            f"@table_a = internal constant [{count} x {scalar}] [{_numbers(method.a, bits)}]",
            f"@table_b = internal constant [{count} x {scalar}] [{_numbers(method.b, bits)}]",
            f"@table_row = internal constant [{count} x i64] [{', '.join(f'i64 {row}' for row in rows)}]",
        ]
    return "\n\n".join([*tables, *parts, *sorted(declared), vector_attributes(bits * width)]) + "\n"


def _numbers(values: tuple[float, ...], bits: int) -> str:
    precision = PRECISIONS[bits]
    return ", ".join(f"{precision.scalar} {precision.literal(value)}" for value in values)


def _function(loop: Loop, method: Method, hold: Hold | None, out: Writer, name: str) -> str:
    x = [f"%x{k}" for k in range(loop.size)]
    tau = [f"%held{k}" for k in range(loop.motors)] if hold else None
    body = _Block(loop, method, hold, out)
    stepped = body.step(x, tau)
    step_lines = out.lines
    out.lines = []
    initial = Rows(out, "initial", loop.size)
    start = [initial.load(k) for k in range(loop.size)]
    load_lines = out.lines
    out.lines = []
    acting = _ring_values(loop, hold, out, out.put("add i64 %step, 1")) if hold else []
    Rows(out, "record", loop.size + len(acting)).store([*stepped, *acting])
    store_lines = out.lines
    width, real, scalar = out.width, out.real, out.precision.scalar
    command = _command(loop, hold, out, x) if hold else ["  br label %integrate"]
    ring = f"  %ring = alloca {real}, i64 {hold.depth * loop.motors}" if hold else ""
    zeros = _clear_ring(loop, hold, out) if hold else []
    pointers = ("initial", "record_all", "reference_all")
    counts = ("step_initial", "step_record", "step_reference", "per_record", "records")
    head = []
    for place, label in enumerate(pointers):
        head += [_word(place), f"  %base_{label} = load ptr, ptr %at{place}"]
    for place, label in enumerate(counts, len(pointers)):
        head += [_word(place), f"  %{label} = load i64, ptr %at{place}"]
    head += [_word(8), "  %base_h = load ptr, ptr %at8", _word(9), "  %step_trajectory = load i64, ptr %at9"]
    if loop.noisy:
        head += [_word(10), "  %base_deviation = load ptr, ptr %at10"]
        head += [_word(11), "  %noise_start = load i64, ptr %at11", _word(12), "  %noise_row = load i64, ptr %at12"]
    out.lines = []
    h = load_shared(out, "%base_h", 0)
    h_lines = [*out.lines, f"  %h = fadd {real} {h}, {out.constant(0.0)}"]
    return "\n".join(
        [
            f"define void @{name}(ptr %words, i64 %start, i64 %stop) #0 {{",
            "entry:",
            *head,
            *h_lines,
            ring,
            "  br label %group",
            "group:",
            "  %i = phi i64 [ %start, %entry ], [ %next, %finished ]",
            *load_lines,
            *zeros,
            "  br label %recording",
            "recording:",
            "  %r = phi i64 [ 0, %group ], [ %r_next, %stored ]",
            *(f"  %y{k} = phi {real} [ {start[k]}, %group ], [ {stepped[k]}, %stored ]" for k in range(loop.size)),
            "  %first_step = mul i64 %r, %per_record",
            "  br label %stepping",
            "stepping:",
            "  %s = phi i64 [ 0, %recording ], [ %s_next, %stepped ]",
            *(f"  {x[k]} = phi {real} [ %y{k}, %recording ], [ {stepped[k]}, %stepped ]" for k in range(loop.size)),
            "  %step = add i64 %first_step, %s",
            "  %skip = mul i64 %step, %step_reference",
            "  %skip_own = mul i64 %i, %step_trajectory",
            "  %skip_both = add i64 %skip, %skip_own",
            f"  %reference = getelementptr {scalar}, ptr %base_reference_all, i64 %skip_both",
            *command,
            "integrate:",
            *(_held(loop, hold, out) if hold else []),
            *(_noise(loop, out) if loop.noisy else []),
            *step_lines,
            "  br label %stepped",
            "stepped:",
            "  %s_next = add i64 %s, 1",
            "  %go_on = icmp slt i64 %s_next, %per_record",
            "  br i1 %go_on, label %stepping, label %stored",
            "stored:",
            f"  %offset = mul i64 %r, {loop.row(hold)}",
            f"  %base_record = getelementptr {scalar}, ptr %base_record_all, i64 %offset",
            *store_lines,
            "  %r_next = add i64 %r, 1",
            "  %more_records = icmp slt i64 %r_next, %records",
            "  br i1 %more_records, label %recording, label %finished",
            "finished:",
            # The last group may overlap the one before it: the same trajectories, computed twice to the same values.
            f"  %after = add i64 %i, {width}",
            "  %more = icmp slt i64 %after, %stop",
            f"  %last = sub i64 %stop, {width}",
            "  %fits = icmp slt i64 %after, %last",
            "  %next = select i1 %fits, i64 %after, i64 %last",
            "  br i1 %more, label %group, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _word(place: int) -> str:
    return f"  %at{place} = getelementptr i64, ptr %words, i64 {place}"


class _Block:
    """One step of a method; it begins in the block %integrate and ends in an open block."""

    def __init__(self, loop: Loop, method: Method, hold: Hold | None, out: Writer) -> None:
        self.loop, self.method, self.hold, self.out = loop, method, hold, out
        self.side = RightHandSide(loop, out)

    def step(self, x: list[str], held: list[str] | None) -> list[str]:
        if isinstance(self.method, SemiImplicit):
            return self._semi_implicit(x, held)
        if isinstance(self.method, Explicit):
            return self._explicit(self.method, x, held)
        return self._gauss(self.method, x, held)

    def _semi_implicit(self, x: list[str], held: list[str] | None) -> list[str]:
        n = self.loop.n
        f = self.side.rates(x[:n], x[n : 2 * n], "%reference", held)
        rest = [self._plus(x[k], "%h", f[k]) for k in range(n, self.loop.size)]
        return [*(self._plus(x[k], "%h", rest[k]) for k in range(n)), *rest]

    def _explicit(self, method: Explicit, x: list[str], held: list[str] | None) -> list[str]:
        """The stages as a loop: the right-hand side stands in the code once."""
        out, n, size = self.out, self.loop.n, self.loop.size
        out.lines += ["  br label %stage", "stage:"]
        at = len(out.lines)
        count = len(method.a)
        a = self._table("@table_a", count)
        b = self._table("@table_b", count)
        row = out.put(f"getelementptr [{count} x i64], ptr @table_row, i64 0, i64 %g")
        skip = out.put(f"mul i64 {out.put(f'load i64, ptr {row}')}, {self.loop.reference_size}")
        reference = out.put(f"getelementptr {out.precision.scalar}, ptr %reference, i64 {skip}")
        y = [self._plus(x[k], a, f"%k{k}") for k in range(2 * n)]
        f = self.side.rates(y[:n], y[n:], reference, held)
        total = [self._plus(f"%sum{k}", b, f[k]) for k in range(size)]
        zero = out.constant(0.0)
        phis = ["  %g = phi i64 [ 0, %integrate ], [ %g_next, %stage ]"]
        phis += [f"  %k{k} = phi {out.real} [ {zero}, %integrate ], [ {f[k]}, %stage ]" for k in range(2 * n)]
        phis += [f"  %sum{k} = phi {out.real} [ {x[k]}, %integrate ], [ {total[k]}, %stage ]" for k in range(size)]
        out.lines[at:at] = phis
        out.lines += [
            "  %g_next = add i64 %g, 1",
            f"  %more_stages = icmp slt i64 %g_next, {count}",
            "  br i1 %more_stages, label %stage, label %staged",
            "staged:",
        ]
        return total

    def _gauss(self, method: Gauss, x: list[str], held: list[str] | None) -> list[str]:
        """Stages by fixed-point iteration, from the rates at the step's beginning, until nothing changes."""
        out, n, size, stages = self.out, self.loop.n, self.loop.size, len(method.b)
        guess = self.side.rates(x[:n], x[n : 2 * n], "%reference", held)[: 2 * n]
        out.lines += ["  br label %iterate", "iterate:"]
        at = len(out.lines)
        K: list[list[str]] = []
        for i in range(stages):
            weights = [out.binary("fmul", "%h", out.constant(value)) for value in method.a[i]]
            y = []
            for k in range(2 * n):
                value = x[k]
                for j in range(stages):
                    # Stages already renewed are used at once: half the iterations.
                    value = self._plus(value, weights[j], K[j][k] if j < i else f"%K{j}_{k}")
                y.append(value)
            row = 0 if self.hold else nodes(method).index(method.c[i])
            skip = row * self.loop.reference_size
            reference = out.put(f"getelementptr {out.precision.scalar}, ptr %reference, i64 {skip}")
            K.append(self.side.rates(y[:n], y[n:], reference, held))
        changed = self._changed([(K[i][k], f"%K{i}_{k}") for i in range(stages) for k in range(2 * n)])
        phis = ["  %turn = phi i64 [ 0, %integrate ], [ %turn_next, %iterate ]"]
        for i in range(stages):
            phis += [
                f"  %K{i}_{k} = phi {out.real} [ {guess[k]}, %integrate ], [ {K[i][k]}, %iterate ]"
                for k in range(2 * n)
            ]
        out.lines[at:at] = phis
        out.lines += [
            "  %turn_next = add i64 %turn, 1",
            f"  %patient = icmp slt i64 %turn_next, {FIXED_POINT_LIMIT}",
            f"  %again = and i1 %patient, {changed}",
            "  br i1 %again, label %iterate, label %solved",
            "solved:",
        ]
        result = list(x)
        for i in range(stages):
            weight = out.binary("fmul", "%h", out.constant(method.b[i]))
            result = [self._plus(result[k], weight, K[i][k]) for k in range(size)]
        return result

    def _changed(self, pairs: list[tuple[str, str]]) -> str:
        """Whether any new value differs from the old by more than rounding, in any lane."""
        out = self.out
        most = scale = out.constant(0.0)
        for new, old in pairs:
            gap = out.call("llvm.fabs", out.put(f"fsub {out.real} {new}, {old}"))
            most = out.select(out.put(f"fcmp ogt {out.real} {gap}, {most}"), gap, most)
            size = out.call("llvm.fabs", new)
            scale = out.select(out.put(f"fcmp ogt {out.real} {size}, {scale}"), size, scale)
        bound = out.binary("fmul", scale, out.constant(FIXED_POINT_TOLERANCE * 8))
        differs = out.put(f"fcmp ogt {out.real} {most}, {bound}")
        if out.width == 1:
            return differs
        out.declared.add(f"declare i1 @llvm.vector.reduce.or.v{out.width}i1(<{out.width} x i1>)")
        return out.put(f"call i1 @llvm.vector.reduce.or.v{out.width}i1(<{out.width} x i1> {differs})")

    def _table(self, name: str, count: int) -> str:
        """This stage's entry of a table, times the step."""
        scalar = self.out.precision.scalar
        address = self.out.put(f"getelementptr [{count} x {scalar}], ptr {name}, i64 0, i64 %g")
        return self.out.binary("fmul", load_shared(self.out, address, 0), "%h")

    def _plus(self, value: str, weight: str, rate: str) -> str:
        return self.out.binary("fadd", value, self.out.binary("fmul", weight, rate))


def _lines(out: Writer, write: Callable[[], None]) -> list[str]:
    kept, out.lines = out.lines, []
    write()
    lines, out.lines = out.lines, kept
    return lines


def _clear_ring(loop: Loop, hold: Hold, out: Writer) -> list[str]:
    """Before the first sample acts there is no effort."""

    def write() -> None:
        for k in range(hold.depth * loop.motors):
            address = out.put(f"getelementptr {out.real}, ptr %ring, i64 {k}")
            out.lines.append(f"  store {out.real} {out.constant(0.0)}, ptr {address}")

    return _lines(out, write)


def _command(loop: Loop, hold: Hold, out: Writer, x: list[str]) -> list[str]:
    """Every `every` steps: evaluate the law and put its efforts into the ring, at place (sample + 1) mod depth."""

    def write() -> None:
        sample = out.put(f"sdiv i64 %step, {hold.every}")
        over = out.put(f"srem i64 %step, {hold.every}")
        due = out.put(f"icmp eq i64 {over}, 0")
        out.lines += [f"  br i1 {due}, label %command, label %integrate", "command:"]
        qd, pairs = x[loop.n : 2 * loop.n], {}
        side = RightHandSide(loop, out)
        if loop.velocities is not None:
            qd = side.speeds(x[: loop.n], qd, pairs)
        tau = side.law(x[: loop.n], qd, "%reference", pairs)
        place = out.put(f"srem i64 {out.put(f'add i64 {sample}, 1')}, {hold.depth}")
        _ring(loop, out, place, tau)
        out.lines.append("  br label %integrate")

    return _lines(out, write)


def _ring(loop: Loop, out: Writer, place: str, values: list[str]) -> None:
    first = out.put(f"mul i64 {place}, {loop.motors}")
    for k, value in enumerate(values):
        address = out.put(f"getelementptr {out.real}, ptr %ring, i64 {out.put(f'add i64 {first}, {k}')}")
        out.lines.append(f"  store {out.real} {value}, ptr {address}")


def _held(loop: Loop, hold: Hold, out: Writer) -> list[str]:
    """The efforts that act in this step, by name."""

    def write() -> None:
        for k, value in enumerate(_ring_values(loop, hold, out, "%step")):
            out.lines.append(f"  %held{k} = fadd {out.real} {value}, {out.constant(-0.0)}")

    return _lines(out, write)


def _noise(loop: Loop, out: Writer) -> list[str]:
    """The noise that acts in this step, by name."""

    def write() -> None:
        for k, value in enumerate(noise_text(loop, out)):
            out.lines.append(f"  %noise{k} = fadd {out.real} {value}, {out.constant(-0.0)}")

    return _lines(out, write)


def _ring_values(loop: Loop, hold: Hold, out: Writer, step: str) -> list[str]:
    """The efforts of the latest sample that is `late` steps old; place 0 holds none yet."""
    age = out.put(f"sub i64 {step}, {hold.late}")
    early = out.put(f"icmp slt i64 {age}, 0")
    sample = out.put(f"add i64 {out.put(f'sdiv i64 {age}, {hold.every}')}, 1")
    place = out.put(f"select i1 {early}, i64 0, i64 {out.put(f'srem i64 {sample}, {hold.depth}')}")
    first = out.put(f"mul i64 {place}, {loop.motors}")
    values = []
    for k in range(loop.motors):
        address = out.put(f"getelementptr {out.real}, ptr %ring, i64 {out.put(f'add i64 {first}, {k}')}")
        values.append(out.put(f"load {out.real}, ptr {address}"))
    return values
