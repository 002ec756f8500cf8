"""A sweep that is stopped at any moment goes on to the same bits."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from emdeg.errors import Interrupted, SweepError
from emdeg.sweeps import local as local_module
from emdeg.sweeps import sweep
from emdeg.sweeps.folder import Folder, open_folder
from emdeg.sweeps.prepare import prepare
from tests.sweeps.studies import MANY_CHUNKS, command


def chunks(folder: Path) -> set[str]:
    return {p.name for p in (folder / "chunks").glob("chunk-*.parquet")} if (folder / "chunks").is_dir() else set()


def ended(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What it printed; a process that does not end fails the test and leaves nothing to the next one."""
    try:
        return process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"it did not end; it had printed {out!r} and {err!r}")


def killed(study: Path, folder: Path, more: int, delay: float, how: signal.Signals) -> int:
    """Start the command, let it finish some more chunks, wait a little, stop it; its exit code."""
    before = len(chunks(folder))
    process = command(study, "--out", folder, "-j", "2")
    deadline = time.monotonic() + 120
    while len(chunks(folder)) < before + more and process.poll() is None:
        assert time.monotonic() < deadline, "the sweep does not move"
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(how)
    _, err = ended(process)
    assert b"Traceback" not in err, err.decode()
    return process.returncode


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.long
def test_a_local_run_killed_at_random_moments_ends_with_the_same_bits(times, tmp_path):
    study = tmp_path / "many.toml"
    study.write_text(MANY_CHUNKS.format(states=20_000, draws=80))
    folder = tmp_path / "killed"
    rng = random.Random(8)
    seen: set[str] = set()
    for _ in range(times):
        code = killed(study, folder, rng.randrange(0, 20), rng.uniform(0, 0.1), signal.SIGKILL)
        assert code in (-signal.SIGKILL, 0)
        now = chunks(folder)
        assert seen <= now or code == 0  # what was finished stays
        seen = now
    last = sweep(study, folder, workers=0)
    assert last.computed == last.chunks - len(seen)
    assert not last.notes
    whole = sweep(study, tmp_path / "whole", workers=0)
    assert last.path.read_bytes() == whole.path.read_bytes()
    assert last.manifest["chunk_sha256"] == whole.manifest["chunk_sha256"]


@pytest.mark.long
def test_ctrl_c_is_exit_code_130_and_says_how_to_go_on(tmp_path):
    study = tmp_path / "many.toml"
    study.write_text(MANY_CHUNKS.format(states=1_000_000, draws=60))
    folder = tmp_path / "stopped"
    process = command(study, "--out", folder, "-j", "1")
    while len(chunks(folder)) < 3 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = ended(process)
    assert process.returncode == 130
    assert out == b""
    assert b"the same command goes on from there" in err
    assert b"Traceback" not in err
    assert len(chunks(folder)) >= 3
    assert not list((folder / "chunks").glob(".*"))
    assert json.loads((folder / "manifest.json").read_text())["complete"] is False


def small(tmp_path: Path) -> Path:
    study = tmp_path / "many.toml"
    study.write_text(MANY_CHUNKS.format(states=8192, draws=6))
    return study


def test_a_stop_between_opening_a_file_and_filling_it_leaves_nothing(tmp_path, monkeypatch):
    def stopped(self, chunk: int, data: bytes) -> None:
        (self.path / "chunks" / ".0123456789abcdef.part").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Folder, "keep", stopped)
    with pytest.raises(Interrupted):
        sweep(small(tmp_path), tmp_path / "out", workers=0)
    assert not list((tmp_path / "out").rglob("*.part"))


@pytest.mark.long
def test_half_written_and_damaged_chunks_are_computed_again(tmp_path):
    from emdeg.sweeps.chunk import compute_chunk
    from emdeg.sweeps.read import read_study

    study = small(tmp_path)
    plan = prepare(read_study(study)[0])
    with open_folder(tmp_path / "out", plan) as folder:
        for chunk in range(4):
            folder.keep(chunk, compute_chunk(folder.plan_text, chunk)[0])
        first, second = folder.chunk_path(0), folder.chunk_path(1)
        with pytest.raises(SweepError, match="another sweep is at work"):
            sweep(study, tmp_path / "out")
    first.write_bytes(first.read_bytes()[:-1] + b"x")
    second.rename(second.with_name(f".{second.name}.part"))
    done = sweep(study, tmp_path / "out", workers=0)
    assert done.computed == 4
    assert len(done.notes) == 1
    assert "does not match its digest" in done.notes[0]
    whole = sweep(study, tmp_path / "whole", workers=0)
    assert whole.path.read_bytes() == done.path.read_bytes()
    done.path.write_bytes(b"damaged")
    again = sweep(study, tmp_path / "out", workers=0)
    assert "is missing or was changed" in again.notes[0]
    assert whole.path.read_bytes() == again.path.read_bytes()


@pytest.mark.long
def test_a_worker_that_dies_is_replaced_and_one_that_always_dies_is_an_error(tmp_path, monkeypatch):
    study = small(tmp_path)
    whole = sweep(study, tmp_path / "whole", workers=0)
    real, started = local_module._started, []

    def started_and_killed(every: bool):
        def start():
            process = real()
            if every or not started:
                process.kill()
            started.append(process)
            return process

        return start

    monkeypatch.setattr(local_module, "_started", started_and_killed(every=False))
    done = sweep(study, tmp_path / "one", workers=1)
    assert len(started) == 2
    assert done.path.read_bytes() == whole.path.read_bytes()
    monkeypatch.setattr(local_module, "_started", started_and_killed(every=True))
    with pytest.raises(SweepError, match="ended 3 times, last with signal 9"):
        sweep(study, tmp_path / "all", workers=1)
