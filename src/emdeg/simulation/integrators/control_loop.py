"""What a fixed-step run compiles together, as data, and its rates as LLVM instructions: law, converters, robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics.formulations import smooth_sign
from emdeg.programs import Program, Slot
from emdeg.runtime import GOLDEN, Writer, counter_start, normal_at, normal_text, operations, signed_word
from emdeg.simulation.controllers.conditioning import Conditioning
from emdeg.simulation.plant.passive import Passive, Stop


@dataclass(frozen=True)
class Loop:
    """What is compiled together.

    `plant`: q, qd, tau -> qdd; or, with `velocities` (q, p -> qd) given, q, qd, tau -> pd; tau are the motors'
    efforts, then those of the joints that rub `also`. `law`: q, qd, reference -> tau, None for joints without efforts.
    `drives`: q, qd -> v, the rates of the joints that tau acts on where they are not qd: friction and power are
    theirs. `impulses` are the joints whose effort is integrated, `work` says whether the joints' power is; `cost`:
    q, qd, tau -> the rate of a cost, integrated too. With `noisy` every trajectory's efforts have noise of its own
    (`EffortNoise`), held for a step.
    """

    n: int
    plant: Program
    velocities: Program | None = None
    law: Program | None = None
    conditioning: Conditioning = Conditioning()
    passive: Passive = Passive()
    impulses: tuple[int, ...] = ()
    work: bool = True
    drives: Program | None = None
    cost: Program | None = None
    noisy: bool = False

    @property
    def size(self) -> int:
        """The entries of a state: positions, speeds or momenta, work, impulses, cost."""
        return 2 * self.n + int(self.work) + len(self.impulses) + int(self.cost is not None)

    def row(self, hold: Hold | None) -> int:
        """Entries of a record: the state, then the held efforts of a sampled law."""
        return self.size + (self.motors if hold else 0)

    @property
    def motors(self) -> int:
        """The efforts that a law gives: one a motor, which may be more than the coordinates."""
        return next(group.size for group in self.plant.inputs if group.name == "tau") - len(self.passive.also)

    @property
    def reference_size(self) -> int:
        if self.law is None:
            return 0
        return sum(group.size for group in self.law.inputs if group.name == "reference")


@dataclass(frozen=True, slots=True)
class EffortNoise:
    """Normal numbers of a stream of their own, times `deviation` (n) [N m, N]: a number for each step and joint."""

    deviation: tuple[float, ...]
    key: int

    def words(self, steps: int) -> tuple[int, int]:
        """(where the counter begins, numbers of a trajectory of so many steps), as signed 64-bit words."""
        return signed_word(counter_start(self.key)), steps * len(self.deviation)

    def efforts(self, trajectories: int, steps: int) -> Array:
        """(trajectories, steps, n) [N m, N]: what was added."""
        n = len(self.deviation)
        places = np.arange(trajectories * steps * n, dtype=np.uint64)
        return normal_at(self.key, places).reshape(trajectories, steps, n) * np.array(self.deviation)


def noise_text(loop: Loop, out: Writer) -> list[str]:
    """The step's noise in the efforts of trajectories %i.. (a lane each), from %noise_start, %noise_row and %step."""
    first = out.put(f"mul i64 %step, {loop.motors}")
    values = []
    for k in range(loop.motors):
        place = out.put(f"add i64 {first}, {k}")
        counters = "poison" if out.width > 1 else ""
        for lane in range(out.width):
            which = out.put(f"add i64 %i, {lane}")
            number = out.put(f"add i64 {out.put(f'mul i64 {which}, %noise_row')}, {place}")
            at = out.put(f"add i64 {out.put(f'mul i64 {number}, {signed_word(GOLDEN)}')}, %noise_start")
            counters = at if out.width == 1 else out.put(f"insertelement {out.words} {counters}, i64 {at}, i32 {lane}")
        deviation = load_shared(out, "%base_deviation", k)
        values.append(out.binary("fmul", normal_text(out, counters), deviation))
    return values


@dataclass(frozen=True, slots=True)
class Hold:
    """A sampled law: every `every` steps, acting `late` steps later."""

    every: int
    late: int

    @property
    def depth(self) -> int:
        """Samples under way at once, and the acting one."""
        return self.late // self.every + 2


class RightHandSide:
    """Writes the loop's instructions into one writer."""

    def __init__(self, loop: Loop, out: Writer) -> None:
        self.loop, self.out = loop, out

    def rates(
        self, q: Sequence[str], v: Sequence[str], reference: str | None, held: Sequence[str] | None = None
    ) -> list[str]:
        """The derivatives of all entries of the state. `reference` points at the law's reference; `held`
        are efforts that the sampled law gave before."""
        loop, out = self.loop, self.out
        pairs: dict[str, tuple[str, str]] = {}
        qd = list(v)
        if loop.velocities is not None:
            qd = self.speeds(q, v, pairs)
        tau = list(held) if held is not None else self.law(q, qd, reference, pairs)
        v = list(qd)
        if loop.drives is not None:
            v = operations(loop.drives, out, _loader(q=q, qd=qd), pairs)["v"]
        given = tau
        tau = self._with_passive(q, qd, v, tau)
        (rate,) = operations(loop.plant, out, _loader(q=q, qd=qd, tau=tau), pairs).values()
        extra = [self._sum_of_products(tau, v)] if loop.work else []
        extra += [tau[k] for k in loop.impulses]
        if loop.cost is not None:
            (cost,) = operations(loop.cost, out, _loader(q=q, qd=qd, tau=given), pairs).values()
            extra += cost
        return [*qd, *rate, *extra]

    def speeds(self, q: Sequence[str], p: Sequence[str], pairs: dict[str, tuple[str, str]]) -> list[str]:
        """Joint speeds from momenta."""
        assert self.loop.velocities is not None
        return operations(self.loop.velocities, self.out, _loader(q=q, p=p), pairs)["qd"]

    def law(
        self, q: Sequence[str], qd: Sequence[str], reference: str | None, pairs: dict[str, tuple[str, str]]
    ) -> list[str]:
        """The efforts that reach the joints."""
        loop, out = self.loop, self.out
        if loop.law is None:
            return [self._noisy(out.constant(0.0), k) for k in range(loop.motors)]
        seen = self._rounded(q, loop.conditioning.position_step)
        values: dict[int, str] = {}

        def load(slot: Slot) -> str:
            name, place = slot
            if name != "reference":
                return (seen if name == "q" else qd)[place]
            if place not in values:
                values[place] = load_shared(out, f"{reference}", place)
            return values[place]

        tau = [self._noisy(t, k) for k, t in enumerate(operations(loop.law, out, load, pairs)["tau"])]
        tau = self._rounded(tau, loop.conditioning.effort_step)
        if loop.conditioning.max_effort is not None:
            tau = [self._clipped(t, -limit, limit) for t, limit in zip(tau, loop.conditioning.max_effort)]
        return tau

    def _noisy(self, tau: str, joint: int) -> str:
        return self.out.binary("fadd", tau, f"%noise{joint}") if self.loop.noisy else tau

    def _with_passive(self, q: Sequence[str], qd: Sequence[str], v: Sequence[str], tau: list[str]) -> list[str]:
        out, passive = self.out, self.loop.passive
        result = [*tau, *[out.constant(0.0)] * len(passive.also)]
        sign = smooth_sign(passive.rest_speed, lambda x: Real(out, out.call("llvm.sqrt", x.text)))

        def tanh(x: Real) -> Real:
            return Real(out, out.tanh(x.text))

        for k, law in enumerate(passive.friction or ()):
            if not law.is_none:
                rubbed = law.effort(Real(out, v[k]), sign, lambda x: Real(out, out.exponential(x.text)), tanh)
                result[k] = out.binary("fsub", result[k], rubbed.text)
        for stop in passive.stops:
            k = stop.joint
            result[k] = out.binary("fadd", result[k], self._stop(stop, q[k], qd[k]))
        return result

    def _stop(self, stop: Stop, q: str, qd: str) -> str:
        out = self.out
        zero = out.constant(0.0)
        result = zero
        damping = out.binary("fmul", qd, out.constant(-stop.damping))
        for limit, beyond, keep in ((stop.lower, "olt", "ogt"), (stop.upper, "ogt", "olt")):
            if math.isinf(limit):
                continue
            deep = out.binary("fsub", q, out.constant(limit))
            push = out.binary("fadd", out.binary("fmul", deep, out.constant(-stop.stiffness)), damping)
            push = out.select(out.put(f"fcmp {keep} {out.real} {push}, {zero}"), push, zero)
            inside = out.put(f"fcmp {beyond} {out.real} {deep}, {zero}")
            result = out.binary("fadd", result, out.select(inside, push, zero))
        return result

    def _rounded(self, values: Sequence[str], steps: tuple[float, ...] | None) -> list[str]:
        if steps is None:
            return list(values)
        out = self.out
        result = []
        for value, step in zip(values, steps):
            if step > 0:
                counts = out.call("llvm.rint", out.put(f"fdiv {out.real} {value}, {out.constant(step)}"))
                value = out.put(f"fmul {out.real} {counts}, {out.constant(step)}")
            result.append(value)
        return result

    def _clipped(self, value: str, lower: float, upper: float) -> str:
        if math.isinf(upper):
            return value
        out = self.out
        low, high = out.constant(lower), out.constant(upper)
        value = out.select(out.put(f"fcmp olt {out.real} {value}, {low}"), low, value)
        return out.select(out.put(f"fcmp ogt {out.real} {value}, {high}"), high, value)

    def _sum_of_products(self, a: Sequence[str], b: Sequence[str]) -> str:
        out = self.out
        terms = [out.binary("fmul", x, y) for x, y in zip(a, b)]
        total = terms[0]
        for term in terms[1:]:
            total = out.binary("fadd", total, term)
        return total


@dataclass(frozen=True, slots=True)
class Real:
    """A value in a writer's block as a scalar: +, -, * and / with its kind and with numbers write instructions."""

    out: Writer
    text: str

    def _with(self, operation: str, other: Real | float) -> Real:
        text = other.text if isinstance(other, Real) else self.out.constant(other)
        return Real(self.out, self.out.binary(operation, self.text, text))

    def __add__(self, other: Real | float) -> Real:
        return self._with("fadd", other)

    __radd__ = __add__

    def __sub__(self, other: Real | float) -> Real:
        return self._with("fsub", other)

    def __rsub__(self, other: float) -> Real:
        return -self + other

    def __mul__(self, other: Real | float) -> Real:
        return self._with("fmul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | float) -> Real:
        return self._with("fdiv", other)

    def __neg__(self) -> Real:
        return Real(self.out, self.out.put(f"fneg {self.out.real} {self.text}"))


def load_shared(out: Writer, base: str, place: int) -> str:
    """Entry `place` of the numbers at `base`, in all lanes."""
    scalar = out.precision.scalar
    address = out.put(f"getelementptr {scalar}, ptr {base}, i64 {place}")
    return spread(out, out.put(f"load {scalar}, ptr {address}"))


def spread(out: Writer, value: str) -> str:
    if out.width == 1:
        return value
    first = out.put(f"insertelement {out.real} poison, {out.precision.scalar} {value}, i32 0")
    lanes = ", ".join(["i32 0"] * out.width)
    return out.put(f"shufflevector {out.real} {first}, {out.real} poison, <{out.width} x i32> <{lanes}>")


def _loader(**groups: Sequence[str]) -> Callable[[Slot], str]:
    return lambda slot: groups[slot[0]][slot[1]]
