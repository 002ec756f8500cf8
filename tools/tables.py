"""The tables of figures in README.md and docs/, filled in from the result files in docs/data.

    python tools/tables.py                          # fills in every table
    python tools/tables.py --check                  # says which are not what the data say, and fails
    python tools/tables.py --take speed simulation  # first keeps these results of the benchmarks

A benchmark writes benchmarks/results/NAME.json with its command and its machine; `--take NAME` copies that to
docs/data/NAME.json. A table stands between `<!-- from docs/data: TABLE -->` and `<!-- end -->`; one whose data are not
kept stays as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
DATA = HOME / "docs" / "data"
RESULTS = HOME / "benchmarks" / "results"
PAGES = ("README.md", "docs/**/*.md")
MARKED = re.compile(r"(<!-- from docs/data: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

ROBOTS = {"puma560": "PUMA 560", "panda": "Panda"}
SPEED_FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")


def figures(name: str) -> Any:
    """What the benchmark found."""
    return kept(name)["figures"]


def kept(name: str) -> dict[str, Any]:
    """A whole result file of docs/data."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def made_by(*names: str) -> str:
    """The sentence below a table: with which command, when and where."""
    said = []
    for name in names:
        data = kept(name)
        machine = data["machine"]
        said.append(
            f"`{data['command']}`, emdeg {data['emdeg']}, {data['day']}, {machine['cores']} cores "
            f"({machine['processor']}, {machine['system']}), load average {machine['load_average']}"
        )
    return "\nMeasured by " + "; ".join(said) + ".\n"


def whole(value: float) -> str:
    """A ratio as people say it: three digits are too many, one is enough below ten."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _both(ratio: Callable[[str], float]) -> str:
    return " / ".join(whole(ratio(robot)) for robot in ROBOTS)


def how_fast() -> str:
    """README: ratios to Pinocchio and MuJoCo."""
    speed, rows = figures("speed"), figures("simulation")["rows"]

    def c(function: str) -> Callable[[str], float]:
        return lambda robot: speed[robot][function]["times_faster"]["C, gcc"]

    def batch(robot: str) -> float:
        return speed[robot]["inverse_dynamics"]["times_faster"]["batch, 1 core"]

    def steps(kind: str) -> Callable[[str], float]:
        return lambda robot: _simulated(rows, robot, "rk4", kind)

    lines = [
        ("emitted C, inlined sines, inverse dynamics", "Pinocchio's C++ `rnea`", _both(c("inverse_dynamics"))),
        ("emitted C, forward dynamics", "Pinocchio's C++ `aba`", _both(c("forward_dynamics"))),
        ("compiled batch from Python, one core, per state", "Pinocchio's C++ `rnea`", _both(batch)),
        ("one trajectory, RK4", "MuJoCo's rollout, steps per second", _both(steps("one"))),
        ("a batch of 1000 trajectories", "the same", _both(steps("batch"))),
    ]
    return table(("what", "against", "times as fast"), lines) + made_by("speed", "simulation")


def _simulated(rows: Sequence[dict[str, Any]], robot: str, method: str, kind: str) -> float:
    (ratio,) = (r["ratio"] for r in rows if (r["robot"], r["method"], r["kind"]) == (robot, method, kind))
    return ratio


def steps_per_second() -> str:
    """docs/simulation: every integrator against MuJoCo's."""
    rows = figures("simulation")["rows"]
    lines = [
        (ROBOTS[robot], method, *(whole(_simulated(rows, robot, method, kind)) for kind in ("one", "batch")))
        for robot in ROBOTS
        for method in ("rk4", "semi_implicit")
    ]
    return table(("robot", "method", "one trajectory", "a batch of 1000"), lines) + made_by("simulation")


def operations_and_time() -> str:
    """docs/optimiser: emitted C of the plain program and of the smallest."""
    speed = figures("speed")
    lines = []
    for robot, name in ROBOTS.items():
        for function in SPEED_FUNCTIONS:
            row = speed[robot][function]
            times = row["ns_a_state"]
            lines.append(
                (
                    f"{name} {function}",
                    row["operations of the plain program"],
                    f"{times['C, gcc, plain program']:.1f}",
                    row["operations"],
                    f"{times['C, gcc']:.1f}",
                )
            )
    head = ("robot, function", "operations, plain", "ns a state", "operations, smallest", "ns a state")
    return table(head, lines) + made_by("speed")


DERIVATIVES = {
    "inverse_dynamics_derivatives": "`computeRNEADerivatives`",
    "forward_dynamics_derivatives": "`computeABADerivatives`",
    "inverse_dynamics_vjp": "`computeRNEADerivatives`",
    "forward_dynamics_vjp": "`computeABADerivatives`",
}


def derivatives_and_time() -> str:
    """docs/derivatives: first derivatives and adjoints against Pinocchio's."""
    speed, lines = figures("speed"), []
    for robot, name in ROBOTS.items():
        for function, peer in DERIVATIVES.items():
            row = speed[robot][function]
            theirs = next(ns for who, ns in row["ns_a_state"].items() if who.startswith("pinocchio"))
            own = (
                f"{row['ns_a_state'][who]:.0f} ({whole(row['times_faster'][who])} x)"
                for who in ("C, gcc", "batch, 1 core")
            )
            lines.append((f"{name} `{function}`", row["operations"], f"{theirs:.0f}, {peer}", *own))
    head = ("robot, function", "operations", "Pinocchio [ns]", "emitted C [ns]", "batch, one core [ns]")
    return table(head, lines) + made_by("speed")


def optimal_motions() -> str:
    """docs/derivatives: what a solved motion takes from the robot on, by route."""
    found = figures("control")
    lines = []
    for row in found["rows"]:
        size = f"{row['bytes'] / 1000:.0f}" if "bytes" in row else ""
        steps = ("build", "compile", "solve", "functions", "total")
        times = [f"{row[step]:.2f}" if step in row else "" for step in steps]
        form = row["form"] if row["route"] != "ddp" else ""
        start = f"{row['megabytes_at_start']:.0f}" if "megabytes_at_start" in row else ""
        lines.append((f"{row['robot']} {form}", row["route"], *times, f"{row['megabytes']:.0f}", start, size))
    head = (
        "robot, form",
        "route",
        "build [s]",
        "compile [s]",
        "solve both [s]",
        "of it in f [s]",
        "together [s]",
        "memory [MB]",
        "of it at the start [MB]",
        "C [kB]",
    )
    beyond = {
        (row["robot"], row["form"], row["route"]): row["megabytes"] - row["megabytes_at_start"] for row in found["rows"]
    }
    lines2 = [
        (
            f"{one['robot']} {one['form']}",
            one["route"],
            whole(one["total"]),
            whole(one["solve"]),
            whole(one["megabytes"]),
            whole(beyond[one["robot"], one["form"], one["route"]] / beyond[one["robot"], one["form"], "emdeg"]),
        )
        for one in found["ratios"]
    ]
    times = ("robot, form", "Pinocchio", "together", "solve", "memory", "memory beyond the start")
    before = found.get("kept_from")
    others = "; ".join(f"`{command}`" for command in before or ())
    kept_rows = f"Rows of other routes were measured beside it by {others}.\n" if others else ""
    return table(head, lines) + "\nAs multiples of emdeg's:\n\n" + table(times, lines2) + made_by("control") + kept_rows


def derivation() -> str:
    """docs/explicit_equations: how long the whole derivation takes."""
    own, sympy = figures("derive")["emdeg"], figures("derive")["sympy"]
    first = [
        (name, f"{row['cold_s']:.1f}", f"{row['derive_s']:.2f}", f"{row['peak_mib']:.0f}") for name, row in own.items()
    ]
    second = [
        (
            name,
            f"{row['emdeg']['whole_s']:.3f}",
            *(_slower(row, method) for method in ("LagrangesMethod", "KanesMethod")),
        )
        for name, row in sympy.items()
    ]
    return (
        table(("robot", "cold start to the end [s]", "M, b, c, g alone [s]", "memory [MiB]"), first)
        + "\n"
        + table(("robot", "emdeg, everything [s]", "SymPy's LagrangesMethod [s]", "SymPy's KanesMethod [s]"), second)
        + made_by("derive")
    )


def _slower(row: dict[str, Any], method: str) -> str:
    return "stopped" if row[method] is None else f"{row[method]['whole_s']:.2f}"


def derivation_in_a_sentence() -> str:
    """README: the same in a sentence."""
    own = figures("derive")["emdeg"]
    puma, panda = (f"{own[name]['cold_s']:.1f} s" for name in ("puma560_symbolic", "panda"))
    return (
        f"The whole derivation of `puma560_symbolic` (65 symbols) takes {puma} cold, the Panda's {panda}\n"
        "(`python benchmarks/bench_derive.py`).\n"
    )


def counts() -> str:
    """docs/optimiser: the smallest programs beside the peers'."""
    lines = [
        (
            f"{row['robot']} {row['function']}",
            f"{row['peer']} ({row['whose']})",
            row["plain"],
            row["found"],
            f"{row['found'] / row['peer']:.2f}",
        )
        for row in figures("counts")["table"]
    ]
    return table(("robot, function", "best peer", "plain", "found", "of the peer"), lines)


def delta() -> str:
    """docs/closed_loops: operations of the Delta's inverse dynamics."""
    found = figures("delta")["operations"]
    titles = {
        "full": "emdeg, full forearms",
        "lumped": "emdeg, lumped forearms",
        "paper_as_printed": "the paper's steps 1-7, as printed",
        "paper_factored": "the same, factored",
    }
    lines = []
    for key, title in titles.items():
        c = found[key]
        lines.append((title, c["mul"], c["add"], c["div"], c["sqrt"], c["mul"] + c["add"] + c["div"]))
    return table(("", "x", "+", "/", "roots", "x, + and /"), lines)


def sweep() -> str:
    """docs/sweeps: the engine's rate."""
    found = figures("sweep")
    rate, overhead = found["rate_per_core"] / 1e6, 100 * found["overhead_of_chunks_of_a_second"]
    said = (
        f"{rate:.0f} million states per second and core, {found['scaling']:.2f} times that with two processes, "
        f"{overhead:.1f} % overhead for\nchunks of a second, memory of the second half "
        f"{found['memory_growth']:.2f} times that of the first.\n"
    )
    return said + made_by("sweep")


def walk() -> str:
    """docs/architecture: the rooms and files of the walk from a URDF to verified C."""
    data = kept("walk")
    found = data["figures"]
    commands = "\n".join(f"emdeg {command}" for command in data["commands"])
    files = [(room, len(names), _listed(names)) for room, names in found["rooms"].items()]
    verbs = ", ".join(f"`{verb}` {times} x" for verb, times in found["verbs"].items())
    return (
        f"<!-- not run: tools/walk.py runs it -->\n```sh\n{commands}\n```\n\n"
        f"**{found['files']} files**; ran: {verbs}; calls against the plan: {len(found['against_the_plan'])}.\n\n"
        + table(("room, in the order of arrival", "files", "which"), files)
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name.partition('/')[2].removesuffix('.py')}`" for name in names)


def gpu() -> str:
    """docs/gpu: rates from rows, and what the card's own copying allows."""
    found = figures("gpu")
    rates = found["million_states_per_s"]
    sizes = [size for size in next(iter(rates.values())) if size.isdigit()]
    head = ("robot, function, precision", *(f"N = {int(size):,}" for size in sizes), "memory [TB/s]")
    lines = [(name, *(f"{row[size]:,.0f}" for size in sizes), row["memory_TB_per_s"]) for name, row in rates.items()]
    calls = found["from_python"]
    words = (
        f"\n{found['card']}; a copy on the card moves {found['copying_TB_per_s']} TB/s. A bound call from Python takes "
        f"{calls['bound_call_us']} us, the bare launch {calls['bare_launch_us']} us; from a stored program's name to "
        f"its first result it takes {found['first_call_s']} s.\n"
    )
    whole = f"{calls['call_us']} us"
    words = words.replace(", the bare launch", f", a call that makes its results {whole}, the bare launch")
    steps = [(name, f"{rate:.1f}") for name, rate in found["giga_steps_per_s"].items()]
    rollouts = "\n" + table(("rollouts: robot, law, precision", "10^9 steps a second"), steps)
    folded = [(name, f"{rate:.1f}") for name, rate in found.get("folded_giga_states_per_s", {}).items()]
    swept = "\n" + table(("sweeps: drawn, computed and folded, float64", "10^9 states a second"), folded)
    shares = found.get("rows_over_entries", {})
    if shares:
        least = min(shares, key=lambda name: shares[name])
        words += (
            f"\nOf the rate of arrays entry by entry, rows reach {shares[least]:.2f} ({least}) to "
            f"{max(shares.values()):.2f} at N = 1,048,576.\n"
        )
    rest = _long_arms(found.get("long_arms", {})) + _gpu_peers(found.get("peers"))
    return table(head, lines) + words + rollouts + (swept if folded else "") + rest + made_by("gpu")


def _gpu_peers(found: Any) -> str:
    """Rates of peers on the same URDF, and how many times emdeg's."""
    if not isinstance(found, dict):
        return f"\nPeers: {found}.\n" if found else ""
    lines, sizes = [], ("256", "1024", "16384", "1048576")
    for function, rows in found["functions"].items():
        for who, row in rows.items():
            lines.append((f"`{function}`", who, *(f"{row[size]:,}" if size in row else "" for size in sizes)))
    head = (f"{found['robot']}, float32, million states a second", "who", *(f"N = {int(size):,}" for size in sizes))
    said = "; ".join(f"{who}: {found[who]}" for who in ("GRiD", "MJX", "Pinocchio") if who in found)
    return "\n" + table(head, lines) + f"\n{said}.\n"


def _long_arms(found: dict[str, dict[str, float]]) -> str:
    if not found:
        return ""
    sizes = [size for size in next(iter(found.values())) if size.isdigit()]
    head = ("long arms, float32", "operations", *(f"N = {int(size):,}" for size in sizes))
    lines = [(name, row["operations"], *(f"{row[size]:,.0f}" for size in sizes)) for name, row in found.items()]
    return "\n" + table(head, lines)


SPILLING = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "regressor")


def _registers(use: dict[str, int]) -> str:
    """Registers and spilt bytes; operations where the program is too long to be assembled, nothing where none is."""
    if "registers" not in use:
        return f"{use['operations']:,} operations" if use else ""
    return f"{use['registers']}" + (f" + {use['spill_bytes']} B" if use["spill_bytes"] else "")


def registers() -> str:
    """docs/gpu: registers of a thread, and the bytes that it spills, as NVIDIA's assembler finds them."""
    found = figures("ptx")
    lines = []
    for robot, kernels in found["robots"].items():
        for bits in ("float32", "float64"):
            lines.append((f"{robot} {bits}", *(_registers(kernels.get(f"{name} {bits}", {})) for name in SPILLING)))
    words = (
        f"\nFor sm_{found['sm']}; every function of these robots is in `docs/data/ptx.json`; `chain12` and `chain30` "
        "are arms of 12 and 30 joints. Programs of more than 100,000 operations are not assembled here.\n"
    )
    return table(("robot, precision", *(f"`{function}`" for function in SPILLING)), lines) + words + made_by("ptx")


def microcontrollers() -> str:
    """Instructions of a call, bytes of stack and of code, for each robot, model and core."""
    rows = []
    for row in figures("microcontrollers"):
        operations = row["operations"]
        for core, (instructions, stack, code) in row["cores"].items():
            adds = f"{operations['mul']} x, {operations['add']} +"
            rows.append([row["robot"], row["model"], adds, core, instructions, stack, code])
    head = ["robot", "model", "operations", "core", "instructions", "stack [bytes]", "code [bytes]"]
    return table(head, rows) + made_by("microcontrollers")


def long_log() -> str:
    """docs/identification: an hour at 1 kHz, in seconds and memory."""
    found = figures("identification")
    lines = [
        (
            f"{found['samples']:,}, {found['joints']} joints",
            f"{found['seconds']:.1f}",
            f"{found['processor_seconds']:.1f}",
            f"{found['peak_bytes'] / 1e9:.2f}",
            f"{found['rows']:,}",
        )
    ]
    head = ("samples (Parquet)", "by the clock [s]", "of processor [s]", "memory at most [GB]", "rows kept")
    return table(head, lines) + made_by("identification")


def figaroh() -> str:
    """docs/identification: the same logs by emdeg and by FIGAROH."""
    lines = []
    for row in figures("identification_peers")["robots"]:
        own, best = row["emdeg"], row["figaroh"].get("best")
        errors = [f"{max(own['relative_error']):.2%}", f"{max(best['relative_error']):.1%}" if best else "failed"]
        seconds = f"{best['seconds']:.1f} for each cut-off" if best else ""
        lines.append((row["robot"], *errors, f"{own['seconds']:.1f}", seconds))
    return table(("robot", "emdeg", "FIGAROH", "emdeg [s]", "FIGAROH [s]"), lines) + made_by("identification_peers")


def in_parts() -> str:
    """docs/gpu: how many times faster long programs are in two parts than whole, by the number of states."""
    found = figures("gpu_parts")
    sizes = [size for size in next(iter(found["rates"].values())) if size.isdigit()]
    lines = [
        (
            name,
            f"{row['operations']:,} / {row['in_parts']:,}",
            *(f"{row[size]['parts'] / row[size]['whole']:.2f}" for size in sizes),
            f"{row[sizes[-1]]['whole']:,.0f} / {row[sizes[-1]]['parts']:,.0f}",
        )
        for name, row in found["rates"].items()
    ]
    last = f"million states a second at {int(sizes[-1]):,}"
    head = ("in two parts / whole", "operations, whole / in parts", *(f"N = {int(size):,}" for size in sizes), last)
    return table(head, lines) + f"\n{found['card']}.\n" + made_by("gpu_parts")


def short_programs() -> str:
    """docs/abbreviation: short programs of arms, how long, how wrong at most and how long that takes to find."""
    lines = [
        (
            row["robot"].removesuffix(".urdf"),
            row["function"].replace("_", " "),
            "3 and 5 %" if isinstance(row["worst_error"], list) else f"{100 * row['worst_error']:g} %",
            f"{row['operations']} / {row['exact_operations']}",
            f"{100 * row['share']:.0f} %",
            f"{100 * row['certified']:.3g} %",
            f"{row['ratio']:.2f}",
            f"{row['processor_seconds']:.0f}",
            f"{row['states']:,}" + ("" if row["inside"] else ", OUTSIDE") if row["states"] else "-",
        )
        for row in sorted(figures("abbreviation").values(), key=_by_function)
    ]
    head = ("robot", "function", "allowed", "operations / exact", "share", "certified", "certified / found")
    return table((*head, "processor [s]", "random states, all inside"), lines) + made_by("abbreviation")


def _by_function(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["function"], str(row["worst_error"]), row["robot"]


TABLES: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        how_fast,
        steps_per_second,
        operations_and_time,
        derivatives_and_time,
        optimal_motions,
        derivation,
        derivation_in_a_sentence,
        counts,
        delta,
        sweep,
        walk,
        gpu,
        registers,
        in_parts,
        microcontrollers,
        long_log,
        figaroh,
        short_programs,
    )
}


def filled(text: str) -> str:
    """The page with every table as the data say."""

    def made(found: re.Match[str]) -> str:
        try:
            return f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}"
        except FileNotFoundError:
            return found[0]

    return MARKED.sub(made, text)


def pages() -> Iterator[Path]:
    """The pages that have such tables."""
    for pattern in PAGES:
        for path in sorted(HOME.glob(pattern)):
            if MARKED.search(path.read_text(encoding="utf-8")):
                yield path


def take(names: Sequence[str]) -> None:
    """Keep results of benchmarks in docs/data."""
    for name in names:
        shutil.copy(RESULTS / f"{name}.json", DATA / f"{name}.json")


def main() -> None:
    """The command line of this tool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 where a table is out of date")
    parser.add_argument("--take", nargs="+", default=[], metavar="NAME", help="results to keep in docs/data first")
    given = parser.parse_args()
    take(given.take)
    stale = [path for path in pages() if filled(path.read_text(encoding="utf-8")) != path.read_text(encoding="utf-8")]
    for path in stale:
        print(path.relative_to(HOME))
        if not given.check:
            path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    if given.check and stale:
        raise SystemExit("not what docs/data says: python tools/tables.py")


if __name__ == "__main__":
    main()
