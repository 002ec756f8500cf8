"""Files are written whole or not at all, never through links, and those that belong together change together."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emdeg.documents import files, held, part_of, read_plain, write_whole


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    target = tmp_path / "out.c"
    (tmp_path / ".out.c.part").symlink_to(victim)  # the name that was guessed
    target.symlink_to(victim)
    write_whole({target: b"new"})
    assert victim.read_text() == "precious"
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()


def test_a_name_that_was_guessed_right_is_an_error_and_no_way_in(tmp_path: Path, monkeypatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda size: "0" * 2 * size)
    (tmp_path / f".{'0' * 16}.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole({tmp_path / "out.c": b"new"})
    assert victim.read_text() == "precious"
    assert not (tmp_path / "out.c").exists()


@pytest.mark.parametrize("failing", [0, 1])
def test_either_all_files_change_or_none(tmp_path: Path, monkeypatch, failing: int) -> None:
    paths = [tmp_path / "a.c", tmp_path / "a.c.certificate.json"]
    write_whole(dict.fromkeys(paths, b"old"))
    real, calls = files._fill, []

    def full(stream, content: bytes, path: Path, durable: bool):
        calls.append(path)
        if len(calls) - 1 == failing:
            raise OSError(28, "No space left on device", str(path))
        return real(stream, content, path, durable)

    monkeypatch.setattr(files, "_fill", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(dict.fromkeys(paths, b"new"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {path.name: b"old" for path in paths}


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/null"), Path("/dev/stdout")):
        with pytest.raises(OSError):
            write_whole({path: b"x"})
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(OSError, match="no ordinary file"):
        read_plain(tmp_path / "pipe", 10)


def test_writers_at_once_never_mix_what_belongs_together(tmp_path: Path) -> None:
    pair = (tmp_path / "a.c", tmp_path / "a.c.certificate.json")

    def write(k: int) -> None:
        for _ in range(30):
            write_whole(dict.fromkeys(pair, b"%d" % k))

    def look() -> bool:
        same = True
        for _ in range(60):
            with held([tmp_path], shared=True):
                same &= pair[0].read_bytes() == pair[1].read_bytes()
        return same

    write_whole(dict.fromkeys(pair, b"start"))
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, k) for k in range(3)]
        assert pool.submit(look).result()
        for each in writers:
            each.result()
    assert pair[0].read_bytes() == pair[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted(pair)


def test_a_folder_that_somebody_holds_for_ever_is_used_all_the_same(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with held([tmp_path]):
        write_whole({tmp_path / "a": b"x"})
    assert (tmp_path / "a").read_bytes() == b"x"


def test_what_a_killed_writer_left_is_taken_away_by_the_next(tmp_path):
    """A writer is killed between its new file and the file's name; another one still writes."""
    killed = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom emdeg.documents import files\n"
        "files.held = lambda folders: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_whole({Path(sys.argv[1]): b'half'})\n"
    )
    done = subprocess.run([sys.executable, "-c", killed, str(tmp_path / "out.c")], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".*.part")
    hours_ago = time.time() - 7200
    other = tmp_path / ".not_ours.part"
    other.write_text("kept")
    with part_of(tmp_path / "slow.png") as busy:
        for old in (left, other, busy):
            os.utime(old, (hours_ago, hours_ago))
        write_whole({tmp_path / "out.c": b"whole"})
        assert not left.exists()
        assert busy.exists()
        assert other.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "out.c"]


def test_a_link_or_a_young_file_with_such_a_name_is_left_alone(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    link, young = tmp_path / f".{'a' * 16}.part", tmp_path / f".{'b' * 16}.part"
    link.symlink_to(victim)
    young.write_text("just begun")
    write_whole({tmp_path / "out.c": b"whole"})
    assert victim.read_text() == "kept"
    assert link.is_symlink()
    assert young.exists()
