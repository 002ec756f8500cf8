"""A sweep on a real scheduler with two workers, one of which is killed: the bits of the local run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from emdeg.errors import SweepError
from emdeg.sweeps import sweep
from emdeg.sweeps.cluster import scheduler_address
from tests.commands import run
from tests.identification.campaigns import arm_text, recorded
from tests.sweeps.studies import MANY_CHUNKS, command


def test_addresses_are_this_machines_unless_told_otherwise():
    assert scheduler_address("8786") == "tcp://127.0.0.1:8786"
    assert scheduler_address(":8786") == "tcp://127.0.0.1:8786"
    assert scheduler_address("tcp://[::1]:8786") == "tcp://[::1]:8786"
    assert scheduler_address("tls://far.example:1") == "tls://far.example:1"
    assert scheduler_address("far.example:1", trust_network=True) == "tcp://far.example:1"
    for bad in ("far.example:1", "tcp://192.168.0.1:8786"):
        with pytest.raises(SweepError, match="is another machine"):
            scheduler_address(bad)
    for bad in ("", "host", "http://127.0.0.1:80", "127.0.0.1:x"):
        with pytest.raises(SweepError, match="is no address"):
            scheduler_address(bad)


def started(module: str, *words: str) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).parents[2] / "src")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *words],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for_chunks(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Until so many are on disk."""
    place, deadline = folder / "chunks", time.monotonic() + 120
    while (len(list(place.glob("chunk-*"))) if place.is_dir() else 0) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()


@pytest.fixture
def cluster(tmp_path):
    """A scheduler on loopback and two workers: (address, [scheduler, worker, worker])."""
    file = tmp_path / "scheduler.json"
    where = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler = started("dask_scheduler", *where, "--port", "0", "--scheduler-file", str(file))
    processes = [scheduler]
    try:
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        assert address.startswith("tcp://127.0.0.1:")
        settings = (*where, "--no-nanny", "--nthreads", "1", "--local-directory", str(tmp_path / "dask"))
        processes += [started("dask_worker", address, *settings) for _ in range(2)]
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_bit(cluster, tmp_path):
    address, (_, worker, _) = cluster
    study = tmp_path / "many.toml"
    study.write_text(MANY_CHUNKS.format(states=500_000, draws=20).replace("= 8192", "= 131072"))
    folder = tmp_path / "cluster"
    process = command(study, "--out", folder, "--scheduler", address, "--json")
    wait_for_chunks(folder, 20, process)
    worker.kill()
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err.decode()
    result = json.loads(out)["result"]
    assert result["computed"] == result["chunks"] == 80
    whole = sweep(study, tmp_path / "local", workers=2)
    assert (folder / "results.parquet").read_bytes() == whole.path.read_bytes()
    assert json.loads((folder / "manifest.json").read_text())["chunk_sha256"] == whole.manifest["chunk_sha256"]


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_an_error_and_loses_nothing(cluster, tmp_path):
    address, (scheduler, *_) = cluster
    study = tmp_path / "many.toml"
    study.write_text(MANY_CHUNKS.format(states=1_000_000, draws=60))
    folder = tmp_path / "lost"
    process = command(study, "--out", folder, "--scheduler", address)
    wait_for_chunks(folder, 5, process)
    scheduler.kill()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert b"is gone" in err
    assert b"Traceback" not in err
    assert b"what is finished is kept" in err
    assert len(list((folder / "chunks").glob("chunk-*"))) >= 5
    assert not list((folder / "chunks").glob(".*"))


@pytest.mark.slow
def test_logs_are_read_and_smoothed_by_workers_and_give_the_same_numbers(cluster, tmp_path):
    address, _ = cluster
    logs = []
    for seed in range(3):
        run_ = recorded(arm_text(1.2), tmp_path, seed)
        logs.append(str(run_.write(tmp_path / f"log{seed}.csv")))
    words = ("identify", str(tmp_path / "arm.urdf"), *logs, "--json")
    here, there = run(*words), run(*words, "--scheduler", address)
    assert there.returncode == 0, there.stderr
    assert json.loads(there.stdout) == json.loads(here.stdout)
    run_.write(tmp_path / "log2.csv", q=run_.q * 57.3)
    refused = run(*words, "--scheduler", address)
    assert refused.returncode == 3
    assert "log2.csv" in refused.stderr
    assert "in rad?" in refused.stderr
    Path(logs[1]).write_text("t,q_j1\n")
    unread = run(*words, "--scheduler", address)
    assert unread.returncode == 3
    assert "log1.csv: holds 0 samples" in unread.stderr
