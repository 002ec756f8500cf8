"""A page's past, its file, and the one folder that it reads and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emdeg.errors import EmdegError
from emdeg.studio.sessions import MOST_SESSIONS, Session, Sessions, StudioFolder, read_shared


def test_undo_and_redo_walk_through_the_past() -> None:
    one = Session("k")
    one.begin("a\n", "robot")
    for text in ("b\n", "b\n", "c\n"):
        one.change(text)
    assert len(one.past) == 2
    one.undo()
    assert one.text == "b\n"
    one.undo()
    one.undo()
    assert one.text == "a\n"
    assert one.difference == ""
    one.redo()
    assert one.text == "b\n"
    assert "-a\n+b\n" in one.difference
    one.change("d\n")
    assert not one.future


def test_a_page_in_a_file_comes_back() -> None:
    one = Session("k")
    one.begin("a\n", "robot")
    one.change("b\n")
    one.state = {"q": [0.1]}
    again = read_shared(one.shared())
    assert (again["text"], again["source"], again["state"]) == ("b\n", "a\n", {"q": [0.1]})


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', "[" * 100_000, '{"format": "emdeg studio 9"}'])
def test_a_file_that_is_no_page_is_refused(content: str) -> None:
    with pytest.raises(EmdegError):
        read_shared(content)
    whole = {"format": "other", "name": "", "text": "", "source": "", "state": {}}
    with pytest.raises(EmdegError, match="another studio"):
        read_shared(json.dumps(whole))


@pytest.fixture
def folder(tmp_path: Path) -> StudioFolder:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "arm.toml").write_text("x = 1\n")
    (inside / "notes.txt").write_text("private\n")
    (tmp_path / "outside.toml").write_text("secret = 1\n")
    (inside / "link.toml").symlink_to(tmp_path / "outside.toml")
    (inside / "sub").mkdir()
    (inside / "sub" / "deep.toml").write_text("y = 1\n")
    return StudioFolder(inside)


def test_only_robots_files_of_the_folder_itself_are_read(folder: StudioFolder) -> None:
    assert folder.files() == ["arm.toml"]
    assert folder.read("arm.toml") == "x = 1\n"
    foreign = ("../outside.toml", "link.toml", "notes.txt", "sub/deep.toml", "/etc/passwd", "", ".", "arm.toml/", "\0")
    for name in foreign:
        with pytest.raises(EmdegError):
            folder.read(name)


def test_nothing_is_written_elsewhere_or_over_what_was_there(folder: StudioFolder, tmp_path: Path) -> None:
    page, other = Session("a"), Session("b")
    bad = ("../new.toml", "/tmp/new.toml", "new.urdf", "sub/new.toml", ".hidden.toml", "", "new.toml\n", "ä.toml")
    for name in bad:
        with pytest.raises(EmdegError, match="named by letters"):
            folder.write(name, "z = 1\n", page)
    for name in ("arm.toml", "link.toml"):
        with pytest.raises(EmdegError, match="exists already"):
            folder.write(name, "z = 1\n", page)
    folder.write("new.toml", "z = 1\n", page)
    folder.write("new.toml", "z = 2\n", page)
    assert folder.read("new.toml") == "z = 2\n"
    with pytest.raises(EmdegError, match="exists already"):
        folder.write("new.toml", "z = 3\n", other)
    assert (tmp_path / "outside.toml").read_text() == "secret = 1\n"


def test_pages_are_found_by_their_keys_alone_and_old_ones_are_forgotten() -> None:
    pages = Sessions()
    first = pages.new()
    assert pages.get(first.key) is first
    assert pages.get("") is None
    for _ in range(MOST_SESSIONS):
        pages.new()
    assert pages.get(first.key) is None
