"""Optimal motions by IPOPT through CasADi: emdeg's functions against Pinocchio's over CasADi's scalars.

    python benchmarks/bench_control.py [--robots ur5e,panda] [--forms forward,inverse] [--routes emdeg,compiled,...]

Time-optimal and least-effort motions of UR5e and Panda from one pose to another by direct collocation (trapezoids, 50
intervals), with the makers' limits of joints, speeds and torques. In the form `forward` the dynamics are
qdd = f(q, qd, tau), in the form `inverse` tau = f(q, qd, qdd), which divides by nothing; the optimum is the same. One
text states the problem, and the routes differ in f alone:

    emdeg         what `emdeg generate --casadi` writes, compiled by gcc
    compiled      Pinocchio's aba or rnea over CasADi's scalars, C of it and its derivatives by CasADi, compiled alike
    interpreted   the same in CasADi's own interpreter: nothing to compile
    ddp           differential dynamic programming of our own (ddp.py) with batches of derivatives; least effort only

Each route runs in a process of its own, from the robot to the solved motions. Figures are seconds of processor time,
the compiler's included, since other work on the machine would lengthen those of a clock, and the most memory that one
of its processes held; beside them how much of the solve went into evaluating f and the rest of the problem (what is
left is IPOPT's own), and how much memory Python and CasADi held before anything was done. Not counted: starting Python
and CasADi, compiling Pinocchio itself, and what pip does as it installs a package, turning Python's text into bytecode.
Writes benchmarks/results/control.json. Needs gcc and the packages casadi, pin and cmeel-eigen; without the latter two
the routes of Pinocchio are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from ddp import least_effort
from motions import MOTIONS, SMOOTH, Motion
from record import record

ROUTES, FORMS, TASKS = ("emdeg", "compiled", "interpreted", "ddp"), ("forward", "inverse"), ("effort", "time")
FUNCTIONS = {"forward": "forward_dynamics", "inverse": "inverse_dynamics"}
PEERS = {"forward": "aba_local", "inverse": "rnea"}
"""Of Pinocchio's conventions for aba the one whose derivatives are half as long."""
AGREE = 1e-6


@dataclass(frozen=True)
class Spent:
    """Seconds of processor time, this process's and its compiler's, and the most memory [MB] of one process."""

    seconds: float
    megabytes: float

    @classmethod
    def now(cls) -> Spent:
        own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        seconds = sum(one.ru_utime + one.ru_stime for one in (own, others))
        return cls(seconds, max(own.ru_maxrss, others.ru_maxrss) / 1024)


def solve(f: Any, form: str, motion: Motion, intervals: int, shortest: bool) -> dict[str, Any]:
    """The optimum of one task: its objective, its duration [s], IPOPT's iterations.

    `functions` are the seconds of the solve that evaluating the problem and its derivatives took; the rest is IPOPT's
    and CasADi's own, the same for every route.
    """
    import casadi

    n, N = len(motion.start), intervals
    q, qd, qdd, share = (casadi.MX.sym(name, n, N + 1) for name in ("q", "qd", "qdd", "share"))
    T = casadi.MX.sym("T")
    h, torque = T / N, np.repeat(motion.strongest[:, None], N + 1, axis=1)
    dynamics = f.map(N + 1)
    by_law = qdd - dynamics(q, qd, share * torque) if form == "forward" else share - dynamics(q, qd, qdd) / torque
    ends = np.ones((n, N + 1))
    ends[:, 0] = ends[:, -1] = 0.5
    joined = [by_law, q[:, 1:] - q[:, :-1] - h / 2 * (qd[:, 1:] + qd[:, :-1])]
    joined += [qd[:, 1:] - qd[:, :-1] - h / 2 * (qdd[:, 1:] + qdd[:, :-1])]
    problem = {
        "x": casadi.vertcat(*map(casadi.vec, (q, qd, qdd, share)), T),
        "f": (T if shortest else h * casadi.dot(ends, share * share)) + SMOOTH * casadi.sumsqr(qdd),
        "g": casadi.vertcat(*map(casadi.vec, joined)),
    }
    low, high = (np.repeat(one[None], N + 1, axis=0) for one in (motion.lower, motion.upper))
    slow, fast = (np.repeat(sign * motion.fastest[None], N + 1, axis=0) for sign in (-1, 1))
    for place, where in ((0, motion.start), (-1, motion.goal)):
        low[place] = high[place] = where
        slow[place] = fast[place] = 0.0
    free, one = np.full((N + 1) * n, np.inf), np.ones((N + 1) * n)
    times = (0.05, 10.0) if shortest else (motion.seconds, motion.seconds)
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9}}
    solver = casadi.nlpsol("solver", "ipopt", problem, quiet)
    found = solver(
        x0=np.concatenate([*map(np.ravel, smooth(motion, N)), np.zeros(n * (N + 1)), [motion.seconds]]),
        lbx=np.concatenate([low.ravel(), slow.ravel(), -free, -one, times[:1]]),
        ubx=np.concatenate([high.ravel(), fast.ravel(), free, one, times[1:]]),
        lbg=0,
        ubg=0,
    )
    stats = solver.stats()
    if not stats["success"]:
        raise SystemExit(f"IPOPT found no motion: {stats['return_status']}")
    own = sum(spent for step, spent in stats.items() if step.startswith("t_proc_nlp_"))
    solved = {"objective": float(found["f"]), "seconds": float(found["x"][-1]), "iterations": stats["iter_count"]}
    return solved | {"functions": round(own, 3)}


def smooth(motion: Motion, intervals: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, speeds and accelerations of the motion of least jerk, from which both forms reach the same optimum."""
    s, way = np.linspace(0, 1, intervals + 1)[:, None], motion.goal - motion.start
    return (
        motion.start + way * s**3 * (10 - 15 * s + 6 * s**2),
        way * 30 * s**2 * (1 - s) ** 2 / motion.seconds,
        way * 60 * s * (1 - s) * (1 - 2 * s) / motion.seconds**2,
    )


def compiled(source: Path, flags: str) -> str:
    """The library of a C file."""
    target = source.with_suffix(".so")
    subprocess.run(["gcc", *flags.split(), "-shared", "-fPIC", str(source), "-o", str(target), "-lm"], check=True)
    return str(target)


def written_by_emdeg(robot: str, form: str, folder: Path) -> tuple[Path, str]:
    """The C file, and the name of the function in it."""
    import emdeg

    (made,) = emdeg.generate(robot, FUNCTIONS[form], "c", out=folder, casadi=True)
    return Path(str(made.path)), f"{robot}_{FUNCTIONS[form]}_casadi"


def written_by_casadi(f: Any, folder: Path) -> tuple[Path, str]:
    """The same of a function of CasADi's and of what CasADi looks for beside it."""
    import casadi

    code = casadi.CodeGenerator(f"{f.name()}.c")
    for one in (f, f.jacobian(), f.forward(1), f.reverse(1), f.reverse(1).jacobian()):
        code.add(one)
    return Path(code.generate(f"{folder}/")), f.name()


def one_route(robot: str, form: str, route: str, intervals: int, flags: str) -> dict[str, Any]:
    """What a route takes, step by step, in this process."""
    import casadi

    motion, found = MOTIONS[robot], {"robot": robot, "form": form, "route": route}
    with tempfile.TemporaryDirectory() as name:
        folder, graph = Path(name), None
        if route in ("compiled", "interpreted"):
            import emdeg
            from peer import casadi_graph

            casadi_graph(emdeg.load(robot), PEERS[form], folder / "graph")  # a few milliseconds, Pinocchio's own
            graph = casadi.Function.load(str(folder / "graph"))
        steps = [Spent.now()]
        if route == "ddp":
            answer = least_effort(robot, motion, intervals)
            found["tasks"] = {"effort": answer}
            steps += [Spent.now()] * 3
        else:
            if route == "interpreted":
                f = graph
                steps += [Spent.now()] * 2
            else:
                written = written_by_emdeg(robot, form, folder) if graph is None else written_by_casadi(graph, folder)
                found["bytes"] = written[0].stat().st_size
                steps.append(Spent.now())
                f = casadi.external(written[1], compiled(written[0], flags))
                steps.append(Spent.now())
            found["tasks"] = {task: solve(f, form, motion, intervals, task == "time") for task in TASKS}
            steps.append(Spent.now())
            found["functions"] = round(sum(task["functions"] for task in found["tasks"].values()), 3)
    seconds = [round(b.seconds - a.seconds, 3) for a, b in pairwise(steps)]
    total = round(steps[-1].seconds - steps[0].seconds, 3)
    return (
        found
        | dict(zip(("build", "compile", "solve"), seconds))
        | {
            "total": total,
            "megabytes": round(steps[-1].megabytes, 1),
            "megabytes_at_start": round(steps[0].megabytes, 1),
        }
    )


def with_bytecode(folder: str) -> dict[str, str]:
    """An environment in which the bytecode of emdeg, and of what it imports, lies ready in a folder."""
    import emdeg

    found = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    package = str(Path(emdeg.__file__).parent)
    subprocess.run([sys.executable, "-m", "compileall", "-q", package], env=found, check=True)
    in_its_own_process(found, "planar2r", "inverse", "emdeg", "4", "O0")  # other packages' is written as they are read
    return found


def with_peer(around: dict[str, str]) -> None:
    """Compiles Pinocchio, if it is there, before any route: what its compiler holds is no route's."""
    compile_it = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import peer; peer.casadi_library()"
    subprocess.run([sys.executable, "-c", compile_it], env=around, capture_output=True)


def in_its_own_process(around: dict[str, str], *words: str) -> dict[str, Any] | None:
    done = subprocess.run([sys.executable, __file__, "--only", *words], capture_output=True, text=True, env=around)
    if done.returncode:
        print(f"{' '.join(words)}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--robots", default="ur5e,panda", help=", ".join(MOTIONS))
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--routes", default=",".join(ROUTES))
    parser.add_argument("--intervals", type=int, default=50)
    parser.add_argument("--flags", default="-O2", help="gcc's, for every route")
    parser.add_argument(
        "--keep", nargs="*", type=Path, default=[], help="result files whose rows stay, if not measured"
    )
    parser.add_argument("--only", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        robot, form, route, intervals, flags = asked.only
        print(json.dumps(one_route(robot, form, route, int(intervals), f"-{flags}")))
        return
    with tempfile.TemporaryDirectory() as folder:
        around = with_bytecode(folder)
        if {"compiled", "interpreted"} & set(asked.routes.split(",")):
            with_peer(around)
        rows = measured(asked, around)
    before = [json.loads(path.read_text(encoding="utf-8")) for path in asked.keep]
    for last in before:
        rows = merged(last["figures"]["rows"], rows)
    rows.sort(key=lambda row: (list(MOTIONS).index(row["robot"]), row["form"], ROUTES.index(row["route"])))
    figures = {"intervals": asked.intervals, "flags": asked.flags, "rows": rows, "ratios": ratios(rows)}
    record("control", figures | {"kept_from": [last["command"] for last in before]})
    same_optimum(rows)


def measured(asked: argparse.Namespace, around: dict[str, str]) -> list[dict[str, Any]]:
    """What every route that is asked for takes; printed too."""
    rows: list[dict[str, Any]] = []
    for robot in asked.robots.split(","):
        heads = f"{'build':>8}{'compile':>9}{'solve':>8}{'(in f)':>8}{'total':>8}{'MB':>8}{'(start)':>8}{'C, kB':>8}"
        print(f"\n{robot}: {'route':24}{heads}")
        for form in asked.forms.split(","):
            for route in asked.routes.split(","):
                if route == "ddp" and form != asked.forms.split(",")[-1]:
                    continue  # it knows one form
                row = in_its_own_process(around, robot, form, route, str(asked.intervals), asked.flags.lstrip("-"))
                if row is not None:
                    rows.append(row)
                    show(row)
    return rows


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The old rows, each replaced where it was measured anew, and what is new."""

    def which(row: dict[str, Any]) -> tuple[str, str, str]:
        return row["robot"], row["form"], row["route"]

    return list(({which(row): row for row in old} | {which(row): row for row in new}).values())


def show(row: dict[str, Any]) -> None:
    times = "".join(
        f"{row.get(step, 0.0):{width}.2f}"
        for step, width in zip(("build", "compile", "solve", "functions", "total"), (8, 9, 8, 8, 8))
    )
    size = f"{row['bytes'] / 1000:8.0f}" if "bytes" in row else ""
    memory = f"{row['megabytes']:8.0f}{row['megabytes_at_start']:8.0f}"
    print(f"  {row['form']:9}{row['route']:16}     {times}{memory}{size}", flush=True)


def same_optimum(rows: list[dict[str, Any]]) -> None:
    """SystemExit unless all routes, in both forms, and our own programming have found the same optimum."""
    for robot, task in product(dict.fromkeys(row["robot"] for row in rows), TASKS):
        found = [row for row in rows if row["robot"] == robot and task in row["tasks"]]
        if not found:
            continue
        values = [row["tasks"][task]["objective"] for row in found]
        spread = (max(values) - min(values)) / max(values)
        print(f"{robot}, least {task}: {min(values):.8f}, the same to {spread:.1e} by {len(values)} routes")
        if spread > AGREE:
            by = ", ".join(f"{row['form']} {row['route']} {value:.8f}" for row, value in zip(found, values))
            raise SystemExit(f"{robot}, {task}: the optima differ: {by}")


def ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the routes of Pinocchio take, as multiples of emdeg's; printed too."""
    found = []
    ours = {(row["robot"], row["form"]): row for row in rows if row["route"] == "emdeg"}
    for row in rows:
        own = ours.get((row["robot"], row["form"]))
        if own is not None and row["route"] in ("compiled", "interpreted"):
            one = {key: row[key] for key in ("robot", "form", "route")}
            one |= {key: round(row[key] / own[key], 2) for key in ("total", "compile", "solve", "megabytes")}
            one["megabytes_beyond_start"] = round(beyond_start(row) / beyond_start(own), 2)
            found.append(one)
            print(
                f"{one['robot']} {one['form']}, Pinocchio {one['route']}: {one['total']} x the time (compile "
                f"{one['compile']}, solve {one['solve']}), {one['megabytes']} x the memory at its most, "
                f"{one['megabytes_beyond_start']} x what each came to hold beyond its own start"
            )
    return found


def beyond_start(row: dict[str, Any]) -> float:
    """Megabytes that a route came to hold beyond those of Python, CasADi and what it begins with."""
    return row["megabytes"] - row["megabytes_at_start"]


if __name__ == "__main__":
    main()
