"""Mutated files of every kind that emdeg reads: an error of its own, or a reading; never another exception."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversary.fuzzing import HOME, TARGETS, mutant, seeds, survives

TIMES = {
    "toml": 60,
    "urdf": 100,
    "mjcf": 80,
    "scenario": 60,
    "study": 100,
    "plan": 100,
    "program": 200,
    "certificate": 60,
    "short": 20,
    "campaign": 30,
    "judged": 30,
    "speeds": 30,
    "trajectory": 60,
    "log": 60,
    "parquet": 60,
    "payload": 60,
    "manifest": 100,
    "page": 100,
    "model": 60,
}
"""Of `make test`; the long run has fifty times as many."""


def survive_many(target: str, times: int, seed: int) -> None:
    rng = random.Random(f"{target} {seed}")
    for _ in range(times):
        data = mutant(rng.choice(seeds(target)), rng)
        try:
            survives(target, data)
        except Exception as problem:
            pytest.fail(f"{type(problem).__name__}: {problem}\n{data[:4000]!r}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_mutated_files_are_read_or_refused(target: str) -> None:
    survive_many(target, TIMES[target], 0)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_many_mutated_files_are_read_or_refused(target: str) -> None:
    survive_many(target, 50 * TIMES[target], 1)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_files_that_seek_new_branches_are_read_or_refused(target: str, tmp_path: Path) -> None:
    """Coverage-guided, by atheris (libFuzzer): a minute for each kind of file."""
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("coverage-guided fuzzing needs atheris: pip install 'emdeg[fuzz]'")
    for k, good in enumerate(seeds(target)):
        (tmp_path / f"seed{k}").write_bytes(good)
    limits = ["-max_total_time=60", "-max_len=60000", "-timeout=60", "-rss_limit_mb=6000", str(tmp_path)]
    words = [sys.executable, "-m", "tests.adversary.fuzzing", target, *limits]
    done = subprocess.run(words, cwd=HOME, capture_output=True, text=True, errors="replace", timeout=400)
    assert done.returncode == 0, done.stderr[-4000:]
