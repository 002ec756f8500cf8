"""What a page may ask for, and what becomes of its robot when the answer is an error."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from emdeg.errors import BadRequest, EmdegError
from emdeg.studio.sessions import Session, StudioFolder
from emdeg.studio.tasks import TASKS
from emdeg.studio.verbs import Desk


class Here:
    """A workshop that works at once."""

    async def run(self, owner: str, task: str, data: dict[str, Any], seconds: float, tell: Any = None) -> Any:
        assert seconds > 0
        return TASKS[task](data, tell or (lambda told: None))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(Session("key"), Here(), StudioFolder(tmp_path))  # type: ignore[arg-type]


def ask(desk: Desk, verb: str, **data: Any) -> dict[str, Any]:
    return asyncio.run(desk.answer(verb, data, lambda told: None))


@pytest.mark.parametrize("verb", ["", "_open", "answer", "__class__", "eval", "nothing"])
def test_there_is_no_other_verb(desk: Desk, verb: str) -> None:
    with pytest.raises(BadRequest, match="no such verb"):
        ask(desk, verb)


def test_a_robot_is_opened_changed_and_taken_back(desk: Desk) -> None:
    assert ask(desk, "open", name="planar2r")["name"] == "planar2r"
    before = desk.session.text
    about = ask(desk, "edit", place=["link", 1, "joint", "a"], entry="2")
    assert (about["undo"], about["redo"]) == (1, 0)
    assert "+joint" in about["difference"]
    with pytest.raises(EmdegError, match="not a number"):
        ask(desk, "edit", place=["link", 1, "joint", "a"], entry="2 m")
    with pytest.raises(EmdegError):
        ask(desk, "edit", place=["link", 1, "inertia", "mass"], entry="-2")
    assert ask(desk, "undo")["difference"] == ""
    assert desk.session.text == before
    assert "load1" in ask(desk, "load")["text"]


def test_a_page_is_shared_and_opened_again(desk: Desk) -> None:
    ask(desk, "open", name="planar2r")
    ask(desk, "edit", place=["link", 1, "joint", "a"], entry="2")
    ask(desk, "keep", state={"q": [0.1, 0.2]})
    kept = ask(desk, "share")
    other = Desk(Session("other"), desk.workshop, desk.folder)
    about = ask(other, "open", file=kept["file"], content=kept["content"])
    assert about["state"] == {"q": [0.1, 0.2]}
    assert other.session.text == desk.session.text
    assert other.session.source == desk.session.source


def test_files_come_from_the_folder_alone(desk: Desk, tmp_path: Path) -> None:
    ask(desk, "open", name="planar2r")
    ask(desk, "save", file="mine.toml")
    assert ask(desk, "open", name="mine.toml")["opened"]
    for name in ("../mine.toml", "/etc/passwd", str(tmp_path / "mine.toml")):
        with pytest.raises(EmdegError, match="no such file"):
            ask(desk, "open", name=name)
