"""How long the whole derivation takes, cold, and what SymPy's own mechanics needs for the same.

    python benchmarks/bench_derive.py [--sympy-limit SECONDS]

Every figure is of a fresh process: interpreter, imports, reading the robot, and the whole derivation (M, b, c, g,
relations, lumped constants, reading form); its stages stand beside it, and its processor time, which a busy machine
does not lengthen. SymPy's LagrangesMethod and KanesMethod get the same links (frames, masses, inertias; Kane's
without the drives) and are stopped at the limit; what they return is neither expanded nor
canonical, and M11 at one state is compared. Prints ratios, writes benchmarks/results/derive.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

from record import record

EMDEG = {
    "puma560_symbolic": ("puma560_symbolic", 10, 3),
    "panda": ("panda", 20, 5),
    "panda, 70 inertial symbols": ("panda:inertia", 60, 15),
}
"""Name -> robot, and the seconds that the whole may and should take."""
MEMORY = 2048
"""MiB that it may take."""
AGAINST_SYMPY = {
    "planar2r": "planar2r",
    "planar3r": "planar3r",
    "scara": "scara",
    "puma560, first three joints": "puma560:3",
    "puma560": "puma560",
}
METHODS = ("LagrangesMethod", "KanesMethod")


def robot(spec: str):
    """The library's robot; ":inertia" with all inertial parameters symbolic, ":3" its first three links only."""
    import emdeg
    from emdeg.algebra import Exact
    from emdeg.robot import Frame, Inertia

    name, _, change = spec.partition(":")
    found = emdeg.load(name)
    if change == "inertia":
        names = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
        links = tuple(
            replace(link, inertia=Inertia.from_parameters(tuple(Exact.symbol(f"{p}{i}") for p in names)), stated=None)
            for i, link in enumerate(found.links, 1)
        )
        return replace(found, links=links)
    if change:
        n = int(change)
        return replace(found, links=found.links[:n], tool=Frame("tool", n - 1), frames=found.frames[:1], payloads=())
    return found


def emdeg_run(spec: str) -> dict:
    """Times of the stages of one derivation, in this process."""
    from emdeg.equations import derive, relations

    subject = robot(spec)
    start = time.perf_counter()
    model = derive(subject)
    derived = time.perf_counter()
    found = relations(model)
    related = time.perf_counter()
    constants = model.constants
    lumped = time.perf_counter()
    table = model.compact()
    done = time.perf_counter()
    return {
        "derive_s": derived - start,
        "relations_s": related - derived,
        "constants_s": lumped - related,
        "compact_s": done - lumped,
        "whole_s": done - start,
        "constants": len(constants),
        "operations": [table.count.mul, table.count.add],
        "terms": {part: sum(map(len, model.entries([part]).values())) for part in "Mbcg"},
        "christoffel": [found.christoffel.possible, found.christoffel.nonzero, found.christoffel.up_to_sign],
    }


def sympy_run(spec: str, method: str) -> dict:
    """The time SymPy's mechanics takes to its mass matrix and forcing, in this process."""
    import sympy as sm
    from sympy.physics import mechanics as me

    subject = robot(spec)
    q, u = (me.dynamicsymbols(f"{letter}1:{subject.n + 1}") for letter in "qu")
    t = me.dynamicsymbols._t

    def number(value):
        return sm.Rational(value.number.numerator, value.number.denominator)

    def angle(value):
        return sm.Rational(value.pi_times.numerator, value.pi_times.denominator) * sm.pi + sm.Rational(
            value.radians.numerator, value.radians.denominator
        )

    start = time.perf_counter()
    world, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(world, 0)
    base = world.orientnew("N0", "Space", [angle(a) for a in subject.base.rpy], "XYZ")
    frame, point = base, origin
    bodies, loads, potential = [], [], 0
    gravity = sum((number(v) * e for v, e in zip(subject.gravity, (world.x, world.y, world.z))), 0 * world.x)
    for i, link in enumerate(subject.links):
        place, speed = link.joint.placement, q[i].diff(t) if method == "LagrangesMethod" else u[i]
        revolute = link.joint.kind == "revolute"
        twisted = frame.orientnew(f"T{i}", "Axis", [angle(place.alpha), frame.x])
        turned = angle(place.theta) + (q[i] if revolute else 0)
        child = twisted.orientnew(f"F{i}", "Axis", [turned, twisted.z])
        if method == "KanesMethod":
            child.set_ang_vel(twisted, (u[i] if revolute else 0) * twisted.z)
        slide = number(place.d) + (0 if revolute else q[i])
        tip = point.locatenew(f"P{i}", number(place.a) * frame.x + slide * child.z)
        elbow = point.locatenew(f"E{i}", number(place.a) * frame.x)
        elbow.v2pt_theory(point, world, frame)
        tip.set_vel(
            world,
            elbow.vel(world) + child.ang_vel_in(world).cross(slide * child.z) + (0 if revolute else speed) * child.z,
        )
        own = link.inertia
        if own.mass:
            m = number(own.mass)
            com = [number(h) / m for h in own.first_moment]
            x, y, z = com
            xx, xy, xz, yy, yz, zz = (number(v) for v in own.tensor)
            about = me.inertia(
                child,
                xx - m * (y * y + z * z),
                yy - m * (x * x + z * z),
                zz - m * (x * x + y * y),
                xy + m * x * y,
                yz + m * y * z,
                xz + m * x * z,
            )
            center = tip.locatenew(f"C{i}", x * child.x + y * child.y + z * child.z)
        else:
            m, center = sm.Integer(0), tip
            about = me.inertia(child, *(number(own.tensor[k]) for k in (0, 3, 5, 1, 4, 2)))
        if center is not tip:
            center.v2pt_theory(tip, world, child)
        body = me.RigidBody(f"B{i}", center, child, m, (about, center))
        potential -= m * center.pos_from(origin).dot(gravity)
        loads.append((center, m * gravity))
        bodies.append(body)
        frame, point = child, tip
    drives = [number(link.joint.drive.inertia) for link in subject.links]
    if method == "LagrangesMethod":
        lagrangian = sum(body.kinetic_energy(world) for body in bodies) - potential
        lagrangian += sum(d * v.diff(t) ** 2 for d, v in zip(drives, q)) / 2
        equations = me.LagrangesMethod(lagrangian, q)
        equations.form_lagranges_equations()
    else:
        equations = me.KanesMethod(world, q, u, kd_eqs=[a.diff(t) - b for a, b in zip(q, u)])
        equations.kanes_equations(bodies, loads)
    matrix = equations.mass_matrix
    done = time.perf_counter()
    values = dict.fromkeys([*u, *(v.diff(t) for v in q)], 0) | {v: sm.Rational(k + 1, 5) for k, v in enumerate(q)}
    import emdeg

    expected = emdeg.mass_matrix(subject, [(k + 1) / 5 for k in range(subject.n)])[0, 0]
    expected -= 0 if method == "LagrangesMethod" else float(drives[0])
    assert abs(float(matrix[0, 0].subs(values).evalf()) - expected) < 1e-10
    return {"whole_s": done - start}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--sympy-limit", type=float, default=60.0)
    options.add_argument("--run", nargs="+", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.run:
        result = emdeg_run(given.run[0]) if len(given.run) == 1 else sympy_run(*given.run)
        result["cpu_s"] = time.process_time()
        result["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    results: dict = {
        "emdeg": {},
        "sympy": {},
    }
    stages = ("derive", "relations", "constants", "compact", "whole")
    heads = "".join(f"{stage:>11}" for stage in ("cold", "cpu", *stages))
    print(f"{'robot, seconds':32}{heads} {'peak [MiB]':>11}  limit, target")
    for name, (spec, limit, target) in EMDEG.items():
        results["emdeg"][name] = row = fresh([spec], 600)
        times = "".join(f"{row[f'{stage}_s']:11.3f}" for stage in ("cold", "cpu", *stages))
        held = row["cold_s"] <= limit and row["peak_mib"] <= MEMORY
        print(
            f"{name:32}{times} {row['peak_mib']:11.0f}  {limit} s, {target} s: {'held' if held else 'NOT HELD'}"
            f"{', target met' if row['cold_s'] <= target else ''}",
            flush=True,
        )
    print(f"\n{'robot':32} {'emdeg [s]':>10}  " + "  ".join(f"{m + ' [s]':>20} {'ratio':>8}" for m in METHODS))
    for name, spec in AGAINST_SYMPY.items():
        own = fresh([spec], 600)
        results["sympy"][name] = {"emdeg": own}
        cells = []
        for method in METHODS:
            row = fresh([spec, method], given.sympy_limit)
            results["sympy"][name][method] = row
            if row is None:
                limit = given.sympy_limit
                more = limit / own["whole_s"]
                cells.append(f"{f'> {limit:.0f}':>20} {f'> {more:.0f}':>8}")
            else:
                cells.append(f"{row['whole_s']:20.2f} {row['whole_s'] / own['whole_s']:8.0f}")
        print(f"{name:32} {own['whole_s']:10.4f}  " + "  ".join(cells), flush=True)
    record("derive", results)


def fresh(words: list[str], limit: float) -> Any:
    """One run in a process of its own; None if it was stopped at the limit."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--run", *words], capture_output=True, text=True, check=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout) | {"cold_s": time.perf_counter() - start}


if __name__ == "__main__":
    main()
