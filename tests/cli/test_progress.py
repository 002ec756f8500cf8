"""Ctrl-C: every command that takes its time stops at once, says so with exit code 130, and leaves nothing half-done."""

from __future__ import annotations

import importlib
import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import emdeg
from emdeg.cli.progress import Tell
from tests import commands

LOG = "log.csv"


def log(folder: Path) -> None:
    t = np.arange(0, 4, 0.01)
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], -1)
    qd, qdd = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], -1), np.stack([-4 * q[:, 0], -9 * q[:, 1]], -1)
    tau = emdeg.inverse_dynamics("planar2r", q, qd, qdd)
    names = [joint.name for joint in emdeg.load("planar2r").joints]
    head = ",".join(["t", *(f"q_{name}" for name in names), *(f"tau_{name}" for name in names)])
    np.savetxt(folder / LOG, np.column_stack([t, q, tau]), delimiter=",", header=head, comments="")


@contextmanager
def interrupting(*what: object) -> Iterator[Tell]:
    """Somebody presses Ctrl-C when the command says for the first time what it is doing."""
    signal.raise_signal(signal.SIGINT)
    yield lambda text: None


WORKING = {
    "analyse": ("analyse", "working", ["analyse", "planar2r", "--out", "made"]),
    "count": ("effort", "working", ["count", "planar2r", "inverse_dynamics", "--effort", "1"]),
    "derive": ("derive", "working", ["derive", "planar2r", "--out", "made"]),
    "generate": ("generate", "progress_line", ["generate", "planar2r", "-f", "gravity", "--out", "made"]),
    "identify": ("identify", "working", ["identify", "planar2r", LOG, "--out", "made.toml"]),
    "judge": ("judge", "working", ["judge", str(Path(__file__).parents[2] / "examples/judged/bejczy.toml")]),
    "loops": ("loops", "working", ["loops", "fivebar", "--map", "--out", "made"]),
    "report": ("report", "_progress", ["report", "planar2r", "--out", "made"]),
    "simulate": ("motion", "_progress", ["simulate", "stanford_arm", "--scenario", "stanford_free_axis"]),
    "tolerance": ("tolerance", "working", ["tolerance", "puma560", "--out", "made"]),
    "verify": ("verify", "progress_line", ["verify", "planar2r", "gravity"]),
}


@pytest.mark.parametrize("name", WORKING)
def test_ctrl_c_is_exit_code_130_and_leaves_no_file(name, tmp_path):
    module, line, words = WORKING[name]
    log(tmp_path)
    with mock.patch.object(importlib.import_module(f"emdeg.cli.{module}"), line, interrupting):
        done = commands.run(*words, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == [LOG]


def test_simulate_gives_what_was_run_until_then(tmp_path):
    @contextmanager
    def halfway(plan: object) -> Iterator[object]:
        yield lambda share: signal.raise_signal(signal.SIGINT) if share > 0.5 else None

    scenario = tmp_path / "fall.toml"
    scenario.write_text('schema = 1\nname = "fall"\nduration = 2\n[initial]\nq = [0.1, 0.2]\n')
    words = ["simulate", "planar2r", "--scenario", str(scenario), "--out", str(tmp_path / "made"), "--json"]
    with mock.patch("emdeg.cli.motion._progress", halfway):
        done = commands.run(*words)
    assert done.returncode == 130, done.stderr
    assert "interrupted at t = " in done.stderr
    assert 0.9 < json.loads(done.stdout)["result"]["samples"]["t"][-1] < 1.9
    assert len(list((tmp_path / "made").iterdir())) == 3


def test_excite_gives_the_best_motion_so_far(tmp_path):
    @contextmanager
    def second_climb(what: str) -> Iterator[Tell]:
        yield lambda text: signal.raise_signal(signal.SIGINT) if text.startswith("climb 2") else None

    with mock.patch("emdeg.cli.excite.working", second_climb):
        done = commands.run("excite", "planar2r", "--seconds", "5", "--out", str(tmp_path / "m.csv"), "--json")
    assert done.returncode == 130, done.stderr
    assert json.loads(done.stdout)["result"]["interrupted"]
    assert "best motion so far" in done.stderr
    assert (tmp_path / "m.csv").exists()
