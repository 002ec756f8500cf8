"""`emdeg sweep` as a user meets it: results, and what it says of a bad study, folder, disk or scheduler."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys

import pyarrow.parquet as pq
import pytest

from emdeg.cli import main
from emdeg.errors import DeviceError
from emdeg.sweeps import tables

STUDY = """schema = 1
name = "small"
robots = ["planar2r"]
seed = 2
[[vary]]
parameter = "gravity.z"
values = [-9.81, -1.62]
[states]
count = 4096
speed = 1
acceleration = 1
[[compute]]
function = "inverse_dynamics"
statistics = ["max_abs", "at"]
"""


@pytest.fixture
def emdeg_sweep(monkeypatch, capsys, tmp_path):
    """Runs the command in this process: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(STUDY)

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["emdeg", "sweep", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, " ".join(said.err.replace("│", " ").split())

    return run


def test_a_study_becomes_a_table_with_all_it_needs_to_be_repeated(emdeg_sweep, tmp_path):
    code, out, err = emdeg_sweep("small.toml", "--json", "-j", 1)
    assert (code, err) == (0, "")
    result = json.loads(out)["result"]
    assert (result["rows"], result["computed"]) == (2, result["chunks"])
    found = pq.read_table(tmp_path / "small_results" / "results.parquet")
    assert found["gravity.z"].to_pylist() == [-9.81, -1.62]
    metadata = found.schema.metadata
    assert json.loads(metadata[b"emdeg.study"])["seed"] == 2
    assert json.loads(metadata[b"emdeg.plan"])["cases"][0]["toml"].startswith("schema = 1")
    (tmp_path / "small.toml").unlink()
    code, out, _ = emdeg_sweep("small_results/results.parquet", "--out", "again", "--json", "-j", 0)
    assert code == 0
    assert json.loads(out)["result"]["sha256"] == result["sha256"]


def test_a_dry_run_writes_nothing(emdeg_sweep, tmp_path):
    code, out, _ = emdeg_sweep("small.toml", "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["result"]["outputs"] == ["tau1", "tau2"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.toml"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"gravity.z"', '"gravity.w"', "small.toml: planar2r: there is no parameter 'gravity.w'; did you mean"),
        ('"gravity.z"', '"link1.mas"', "did you mean link1.mass"),
        ("values = [-9.81, -1.62]", "values = []", "small.toml:7: gravity.z: its grid is empty"),
        ("values = [-9.81, -1.62]", "from = 0\nto = 1\ncount = 0", "its grid is empty: count = 0"),
        ("values = [-9.81, -1.62]", "uniform = [2, 1]", "its range is empty: from 2 to 1"),
        ("values = [-9.81, -1.62]", "", "say one of values, from/to/count, uniform and normal"),
        ("values = [-9.81, -1.62]", "values = [nan]", "values"),
        ('["planar2r"]', "[]", "robots is empty"),
        ('["planar2r"]', '["planar9r"]', "there is no robot 'planar9r'"),
        ('["planar2r"]', '["nothing.urdf"]', "there is no such file"),
        ('"inverse_dynamics"', '"inverse_dynamic"', "did you mean inverse_dynamics"),
        ('function = "inverse_dynamics"', 'analysis = "magic"', "there is no analysis 'magic'"),
        ('["max_abs", "at"]', '["median"]', "small.toml:14: there is no statistic 'median'"),
        ("acceleration = 1", "", "its file has no limit of acceleration: give acceleration in [states]"),
        ("seed = 2", "seeds = 2", "small.toml:4: unknown key 'seeds'; did you mean 'seed'?"),
        ("seed = 2", "draws = 5", "draws: nothing is random"),
        ("[states]", "[tolerances]\n[states]", "its file states no tolerances"),
        ("schema = 1", "schema = 2", "schema must be 1"),
        ("[[vary]]", '[[workspace]]\nname = "w"\nranges = { q1 = [2, 1] }\n[[vary]]', "its range is empty"),
        ("[[vary]]", "[[vary", "not valid TOML"),
    ],
)
def test_a_bad_study_is_told_apart_before_anything_is_written(old, new, message, emdeg_sweep, tmp_path):
    assert old in STUDY
    (tmp_path / "small.toml").write_text(STUDY.replace(old, new))
    code, out, err = emdeg_sweep("small.toml", "--out", "results")
    assert code == 3, err
    assert out == ""
    assert message in err
    assert not (tmp_path / "results").exists()


def test_a_study_beyond_the_budget(emdeg_sweep, tmp_path):
    (tmp_path / "small.toml").write_text(
        STUDY.replace("count = 4096", "count = 900000000000").replace(
            "values = [-9.81, -1.62]", "from = -10\nto = -1\ncount = 100000"
        )
    )
    code, _, err = emdeg_sweep("small.toml")
    assert code == 4
    assert "the budget is" in err


def test_folders_that_cannot_serve(emdeg_sweep, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    code, _, err = emdeg_sweep("small.toml", "--out", "file")
    assert (code, "not a folder" in err) == (3, True)
    code, _, err = emdeg_sweep("small.toml", "--out", "file/below")
    assert (code, "cannot be made" in err) == (3, True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    code, _, err = emdeg_sweep("small.toml", "--out", "full")
    assert code == 3
    assert "it holds 'thesis.tex' and no sweep" in err
    code, _, err = emdeg_sweep("small.toml", "--out", "/proc/sweep")
    assert (code, "cannot be made" in err) == (3, True)
    assert (tmp_path / "full" / "thesis.tex").read_text() == "mine"


def test_a_gpu_that_is_not_there_is_asked_for(emdeg_sweep, monkeypatch):
    """One line, not the way that the error came; what is wrong is the option."""

    def missing(number=0):
        raise DeviceError("there is no NVIDIA driver on this machine")

    monkeypatch.setattr("emdeg.runtime.cuda.device", missing)
    code, out, err = emdeg_sweep("small.toml", "--out", "out", "--backend", "cuda")
    assert (code, out) == (2, "")
    assert err.endswith("error: there is no NVIDIA driver on this machine")


def test_another_study_in_the_folder_is_left_alone(emdeg_sweep, tmp_path):
    assert emdeg_sweep("small.toml", "--out", "results", "-j", 0)[0] == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "results").iterdir()}
    for old, new, words in (
        ("seed = 2", "seed = 3", "'small' with other settings or robots"),
        ('["planar2r"]', '["planar3r"]', "'small' with other settings or robots"),
        ('name = "small"', 'name = "other"', "another study, 'small'"),
    ):
        (tmp_path / "small.toml").write_text(STUDY.replace(old, new))
        code, _, err = emdeg_sweep("small.toml", "--out", "results", "-j", 0)
        assert code == 3
        assert words in err
    assert {p.name: p.read_bytes() for p in (tmp_path / "results").iterdir()} == before


def test_a_full_disk_loses_nothing(emdeg_sweep, tmp_path, monkeypatch):
    text = STUDY.replace("[[vary]]", "chunk_states = 4096\n[[vary]]")
    (tmp_path / "small.toml").write_text(text.replace("-9.81, -1.62", "-9.81, -5, -3, -2, -1.62"))
    real, calls = os.fsync, []

    def fsync(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 8:  # the plan, the manifest and some chunks are on the disk by then
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr("os.fsync", fsync)
    code, out, err = emdeg_sweep("small.toml", "--out", "results", "-j", 0)
    assert (code, out) == (3, "")
    assert "No space left on device; what is finished is kept" in err
    kept = sorted(p.name for p in (tmp_path / "results" / "chunks").iterdir())
    assert 0 < len(kept) < 5
    assert not any(name.endswith(".part") for name in kept)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    code, out, _ = emdeg_sweep("small.toml", "--out", "results", "-j", 0, "--json")
    assert code == 0
    assert json.loads(out)["result"]["computed"] == 5 - len(kept)
    code, whole, _ = emdeg_sweep("small.toml", "--out", "other", "-j", 0, "--json")
    assert json.loads(whole)["result"]["sha256"] == json.loads(out)["result"]["sha256"]


@pytest.mark.long
def test_no_scheduler_no_start(emdeg_sweep, tmp_path, monkeypatch):
    with socket.socket() as taken:  # a port that nobody answers at
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setattr("emdeg.sweeps.cluster.PATIENCE", 1.0)
    code, _, err = emdeg_sweep("small.toml", "--out", "results", "--scheduler", f"127.0.0.1:{port}")
    assert code == 3
    assert f"no scheduler answers at tcp://127.0.0.1:{port}" in err
    for address, words in (("nonsense", "is no address"), ("10.1.2.3:8786", "use tls://, or --trust-network")):
        code, _, err = emdeg_sweep("small.toml", "--out", "results", "--scheduler", address)
        assert (code, words in err) == (3, True), err


def test_what_is_not_installed_is_said(emdeg_sweep, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = emdeg_sweep("small.toml", "--scheduler", "8786")
    assert (code, "pip install 'emdeg[cluster]'" in err) == (3, True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(tables, "arrow", tables.arrow)
    code, _, err = emdeg_sweep("small.toml", "--out", "other")
    assert (code, "pip install 'emdeg[sweep]'" in err) == (3, True)
