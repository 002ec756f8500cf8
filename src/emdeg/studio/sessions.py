"""What a page is about: a robot's file with its past and future, and what was worked out of it; pages by their keys."""

from __future__ import annotations

import difflib
import json
import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from emdeg.documents import write_whole
from emdeg.errors import BadRequest, RobotError
from emdeg.robot import BUDGET, SUFFIXES, read_text

MOST_SESSIONS = 64
MOST_STEPS = 200
"""Of undoing."""
MOST_BLOBS = 16
FORMAT = "emdeg studio 1"
"""Of a page's state in a file."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}\.toml\Z")


@dataclass
class Session:
    """One page. `text` is the robot's file now, `source` what it was when it was opened."""

    key: str
    text: str = ""
    source: str = ""
    name: str = "robot"
    state: dict[str, Any] = field(default_factory=dict)
    """Of the page: the configuration and what is shown."""
    past: list[str] = field(default_factory=list)
    future: list[str] = field(default_factory=list)
    blobs: OrderedDict[str, tuple[str, str]] = field(default_factory=OrderedDict)
    meshes: str = ""
    """Of its links, as JSON for the page."""
    saved: set[Path] = field(default_factory=set)
    used: float = field(default_factory=time.monotonic)

    def begin(self, text: str, name: str) -> None:
        """Another robot."""
        self.text = self.source = text
        self.name, self.past, self.future, self.state, self.meshes = name, [], [], {}, ""

    def change(self, text: str) -> None:
        """The robot's file is another now; what it was can be had back."""
        if text != self.text:
            self.past = [*self.past[-MOST_STEPS:], self.text]
            self.future, self.text = [], text

    def undo(self) -> None:
        if self.past:
            self.future.append(self.text)
            self.text = self.past.pop()

    def redo(self) -> None:
        if self.future:
            self.past.append(self.text)
            self.text = self.future.pop()

    @property
    def difference(self) -> str:
        """What was changed since the robot was opened, as a unified diff of its file in normal form."""
        before, after = self.source.splitlines(keepends=True), self.text.splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, "as opened", "now", n=2))

    def put(self, text: str, kind: str) -> str:
        """A text for the page to fetch: the address it has, below the page's own."""
        name = token_urlsafe(12)
        self.blobs[name] = (text, kind)
        while len(self.blobs) > MOST_BLOBS:
            self.blobs.popitem(last=False)
        return f"/studio/{self.key}/{name}"

    def shared(self) -> str:
        """The page's state as one file."""
        data = {
            "format": FORMAT,
            "name": self.name,
            "text": self.text,
            "source": self.source,
            "state": self.state,
        }
        return json.dumps(data, indent=1) + "\n"


MOST_STATE = 100_000
"""Characters of what a page was looking at."""
LONGEST_NAME = 200


def read_shared(content: str) -> dict[str, Any]:
    """What a file of `Session.shared` holds; BadRequest where it is none."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise BadRequest("the file is no page of the studio: it is no JSON") from None
    kinds = {"format": str, "name": str, "text": str, "source": str, "state": dict}
    if not isinstance(data, dict) or any(not isinstance(data.get(key), kind) for key, kind in kinds.items()):
        raise BadRequest("the file is no page of the studio")
    if data["format"] != FORMAT:
        raise BadRequest(f"the file is a page of another studio ({data['format'][:40]!r})")
    if len(str(data["state"])) > MOST_STATE or len(data["name"]) > LONGEST_NAME or not data["name"].isprintable():
        raise BadRequest("the file is no page of the studio: its name or what it was looking at is none")
    return data


class Sessions:
    """The pages by their keys; those used longest ago are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Session] = OrderedDict()

    def new(self) -> Session:
        session = Session(token_urlsafe(12))
        self._known[session.key] = session
        while len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return session

    def get(self, key: str) -> Session | None:
        session = self._known.get(key)
        if session is not None:
            self._known.move_to_end(key)
        return session


@dataclass(frozen=True, slots=True)
class StudioFolder:
    """The folder the studio was started in: the only one from which it reads and into which it writes."""

    path: Path

    @classmethod
    def here(cls) -> StudioFolder:
        """The working directory."""
        return cls(Path.cwd())

    def files(self) -> list[str]:
        """Names of the robots' files in it."""
        found = (one.name for one in self.path.iterdir() if one.suffix.lower() in SUFFIXES and self._inside(one))
        return sorted(found)[:500]

    def read(self, name: str) -> str:
        """The text of a robot's file in it."""
        path = self.path / name
        if Path(name).name != name or path.suffix.lower() not in SUFFIXES or not self._inside(path):
            raise RobotError("there is no such file in the studio's folder", file=name[:80])
        return read_text(str(path))

    def write(self, name: str, text: str, session: Session) -> Path:
        """Save a robot's file in it; one that is there already is replaced only where this page saved it."""
        if not _NAME.match(name):
            raise BadRequest("a robot's file is named by letters, digits, _, - and . and ends in .toml")
        path = self.path / name
        if path not in session.saved and (path.exists() or path.is_symlink()):
            raise BadRequest(f"{name} exists already: choose another name")
        if len(text.encode()) > BUDGET.bytes:
            raise BadRequest("the file would be larger than its reader takes")
        try:
            write_whole({path: text.encode()})
        except OSError as problem:
            raise RobotError(f"cannot be written: {problem.strerror or problem}", file=name) from None
        session.saved.add(path)
        return path

    def _inside(self, path: Path) -> bool:
        """A regular file that is here and nowhere else, whatever links say."""
        try:
            return path.is_file() and path.resolve().parent == self.path.resolve()
        except OSError:
            return False
