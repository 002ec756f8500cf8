"""How long the command line takes to start: processor time against importing numpy, rich and typer alone.

    python benchmarks/bench_start.py [--repeats 9]

The least user and system time of several runs each, taken in turns. `emdeg --help` should stay below twice the imports,
`emdeg count` of a stored program below four times.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

from record import record

BASE = [sys.executable, "-c", "import numpy, rich, typer"]
COMMANDS = {
    "help": ([sys.executable, "-m", "emdeg", "--help"], 2.0),
    "count": ([sys.executable, "-m", "emdeg", "count", "puma560", "inverse_dynamics"], 4.0),
}
"""Name -> the command, and the most times the imports that it should take."""


def processor_seconds(words: list[str], environment: dict[str, str]) -> float:
    """User and system time [s] of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time of starting the command line.")
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    every = {"imports": BASE, **{name: words for name, (words, _) in COMMANDS.items()}}
    least = dict.fromkeys(every, float("inf"))
    with tempfile.TemporaryDirectory() as nothing_filed:
        environment = {**os.environ, "EMDEG_PROGRAMS": nothing_filed}
        for words in every.values():  # the first run writes byte code
            processor_seconds(words, environment)
        for _ in range(arguments.repeats):
            for name, words in every.items():
                least[name] = min(least[name], processor_seconds(words, environment))
    results = {"imports_seconds": least["imports"]}
    for name, (_, most) in COMMANDS.items():
        ratio = least[name] / least["imports"]
        results |= {f"{name}_seconds": least[name], f"{name}_ratio": ratio}
        print(f"emdeg {name:6} {least[name]:.3f} s, {ratio:.2f} times the imports (at most {most:g})")
    record("start", results)


if __name__ == "__main__":
    main()
