"""Hand-made programs, each with the same function written in NumPy by other hands' formulas."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from emdeg.algebra import Angle
from emdeg.programs.ir import Dependence, Kind, Program, Ref
from emdeg.programs.trace import Tracer


def pendulum_pair() -> tuple[Program, Callable]:
    """Torques of two links in a plane, from the textbook's closed form, and the same in NumPy."""
    m1, m2, l1, l2, g = (Fraction(x) for x in ("1.5", "0.75", "0.4318", "0.25", "9.81"))
    t = Tracer()
    q = t.inputs("q", 2, Dependence.CONFIGURATION, ("shoulder", "elbow"))
    qd = t.inputs("qd", 2, Dependence.RATES)
    qdd = t.inputs("qdd", 2, Dependence.RATES)
    tau = _torques(
        t.sincos_of(q[1])[0],
        t.sincos_of(q[1])[1],
        t.sincos_of(q[0])[1],
        t.sincos_of(q[0] + q[1])[1],
        qd,
        qdd,
        (m1, m2, l1, l2, g),
    )

    def reference(q, qd, qdd):
        q, qd, qdd = (np.moveaxis(np.asarray(x, float), -1, 0) for x in (q, qd, qdd))
        constants = [float(x) for x in (m1, m2, l1, l2, g)]
        return np.stack(_torques(np.sin(q[1]), np.cos(q[1]), np.cos(q[0]), np.cos(q[0] + q[1]), qd, qdd, constants), -1)

    return t.program("pair", {"tau": tau}), reference


def _torques(s2, c2, c1, c12, qd, qdd, constants):
    # Point masses at the links' ends; Craig, Introduction to Robotics, eq. 6.58.
    m1, m2, l1, l2, g = constants
    tau1 = (
        (qdd[0] + qdd[1]) * (m2 * l2 * l2)
        + c2 * (m2 * l1 * l2) * (2 * qdd[0] + qdd[1])
        + qdd[0] * ((m1 + m2) * l1 * l1)
        - s2 * (m2 * l1 * l2) * (qd[1] * qd[1])
        - s2 * (2 * m2 * l1 * l2) * (qd[0] * qd[1])
        + c12 * (m2 * l2 * g)
        + c1 * ((m1 + m2) * l1 * g)
    )
    tau2 = (
        c2 * (m2 * l1 * l2) * qdd[0]
        + s2 * (m2 * l1 * l2) * (qd[0] * qd[0])
        + c12 * (m2 * l2 * g)
        + (qdd[0] + qdd[1]) * (m2 * l2 * l2)
    )
    return [tau1, tau2]


def kitchen_sink() -> tuple[Program, Callable]:
    """Every kind of operation, a constant angle, a parameter, zero, aliased and negated outputs."""
    t = Tracer()
    q = t.inputs("q", 3, Dependence.CONFIGURATION)
    qd = t.inputs("qd", 2, Dependence.RATES)
    s, c = t.sincos_of(q[0] - q[2])
    sa, ca = t.sincos(Angle(radians=Fraction(3, 10)))
    mass = t.symbol("mass")
    root = t.sqrt(q[1] * q[1] + 2 + qd[0] * qd[0])
    quotient = (sa * mass) * s / (c * c + 3)
    matrix = [[-root, t.number(0), quotient], [quotient, ca * mass, -(q[1] - root) * 3]]
    program = t.program("sink", {"matrix": matrix, "scalar": s * (qd[1] * mass) - ca})

    def reference(q, qd, parameters):
        q, qd, p = (np.moveaxis(np.asarray(x, float), -1, 0) for x in (q, qd, parameters))
        s, c, mass = np.sin(q[0] - q[2]), np.cos(q[0] - q[2]), p[0]
        root = np.sqrt(q[1] ** 2 + 2 + qd[0] ** 2)
        quotient = np.sin(0.3) * mass * s / (c**2 + 3)
        zero = np.zeros_like(root)
        rows = [[-root, zero, quotient], [quotient, np.cos(0.3) * mass + zero, 3 * (root - q[1])]]
        matrix = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
        return matrix, s * qd[1] * mass - np.cos(0.3)

    return program, reference


def random_program(seed: int, size: int = 60, *, divisions: bool = False) -> Program:
    """A program of random sums, differences and products of sines, cosines, inputs and constants."""
    rng = random.Random(seed)
    t = Tracer()
    q = t.inputs("q", 3, Dependence.CONFIGURATION)
    qd = t.inputs("qd", 3, Dependence.RATES)
    pool = [*qd, q[2], *t.sincos_of(q[0]), *t.sincos_of(q[0] + q[1])]
    pool += [t.number(Fraction(rng.randint(1, 40), 8)) for _ in range(4)]
    pool += t.sincos(Angle(radians=Fraction(7, 10)))
    while len(t.ops) < size:
        a, b = rng.choice(pool), rng.choice(pool)
        kind = rng.choice(["+", "-", "*", "*", "factor"] + ["/"] * divisions)
        if kind == "+":
            value = a + b
        elif kind == "-":
            value = a - b
        elif kind == "*":
            value = a * b * Fraction(1, 2)
        elif kind == "/":
            value = a / (b * b + 1)
        else:
            other = rng.choice(pool)
            value = a * b - a * other
        if not value.is_zero:
            pool.append(value)
    outputs = [rng.choice([1, -1]) * value for value in pool[-5:]]
    return t.program("random", {"y": outputs, "z": [[pool[-1], t.number(0)], [t.number(3), -pool[-7]]]})


def samples(program: Program, count: int, seed: int = 0, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Random inputs of a program, `count` states."""
    rng = np.random.default_rng(seed)
    return {group.name: rng.uniform(-scale, scale, (count, group.size)) for group in program.inputs}


def mutants(program: Program) -> Iterator[Program]:
    """Every program that differs in one operation, one operand or one output."""
    swap = {
        Kind.ADD: Kind.SUB,
        Kind.SUB: Kind.ADD,
        Kind.MUL: Kind.ADD,
        Kind.DIV: Kind.MUL,
        Kind.SIN: Kind.COS,
        Kind.COS: Kind.SIN,
    }
    for index, op in enumerate(program.ops):
        changed = []
        if op.kind in swap:
            changed.append(replace(op, kind=swap[op.kind]))
        if op.kind is Kind.NUMBER:
            changed.append(replace(op, payload=op.number * Fraction(1001, 1000)))
        if op.kind is Kind.INPUT:
            size = next(g.size for g in program.inputs if g.name == op.slot[0])
            changed.append(replace(op, payload=(op.slot[0], (op.slot[1] + 1) % size)))
        for place, arg in enumerate(op.args):
            if arg and op.kind not in (Kind.SIN, Kind.COS, Kind.SQRT):
                args = list(op.args)
                args[place] = arg - 1
                changed.append(replace(op, args=tuple(args)))
        for new in changed:
            yield replace(program, ops=(*program.ops[:index], new, *program.ops[index + 1 :]))
    group = program.outputs[0]
    for place, ref in enumerate(group.entries):
        entries = list(group.entries)
        entries[place] = Ref(ref.value, -ref.sign)
        yield replace(program, outputs=(replace(group, entries=tuple(entries)), *program.outputs[1:]))
