"""Files that are written whole or not at all, never through a stranger's link, and that change together.

A new content is written under a random name beside its place, in a file that did not exist before, and then takes the
place's name; what a writer that was killed left there, the next one takes away. Where several files belong together the
names change while their folders are held, so that neither another writer nor a reader who holds them too ever sees
one's old content beside the other's new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO

PATIENCE = 5.0
"""Seconds to wait for a folder that another process holds; whoever can read a folder can hold it, so not for ever."""
MODE = 0o666
"""Of a new file, less what the umask takes away."""
_PART = re.compile(r"\.[0-9a-f]{16}\.part")
YOUNG = 2.0
"""Seconds in which a new file that nobody holds may be one that its writer is about to hold."""
MOST_LOOKED_AT = 10_000
"""Names of a folder among which files that were left are looked for."""


def write_whole(files: Mapping[Path, bytes], *, mode: int = MODE, durable: bool = False) -> None:
    """Write all of the files, or change none and raise OSError; nothing half-written is left behind.

    `durable`: the bytes and the names are on the disk when this returns.
    """
    with contextlib.ExitStack() as parts:
        waiting: dict[Path, tuple[Path, IO[bytes]]] = {}
        for path, content in files.items():
            _check_replaceable(path)
            part, stream = parts.enter_context(_new_part(path, mode))
            _fill(stream, content, path, durable)
            waiting[path] = part, stream
        folders = {path.parent for path in files}
        with held(folders):
            for path, (part, stream) in waiting.items():
                stream.close()  # some systems do not rename what is open
                part.replace(path)
            for folder in folders:
                _clear(folder)
        if durable:
            for folder in folders:
                flush(folder)


@contextlib.contextmanager
def part_of(path: Path) -> Iterator[Path]:
    """An empty file of a random name beside `path`, to be filled and renamed; gone at the end if it was not."""
    with _new_part(path, MODE) as (part, _):
        yield part


@contextlib.contextmanager
def _new_part(path: Path, mode: int) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file beside `path`, open and held, so that nobody takes it for one that was left."""
    part, handle = _opened_beside(path, mode)
    with os.fdopen(handle, "wb") as stream:
        try:
            with contextlib.suppress(OSError, ImportError):
                _lock(handle, shared=False)
            yield part, stream
        finally:
            with contextlib.suppress(OSError):
                stream.close()
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    """Take away new files of ours that a writer left when it was killed: those that nobody holds."""
    with contextlib.suppress(OSError, ImportError):
        import fcntl  # not on every system

        with os.scandir(folder) as names:
            left = [Path(one.path) for one in islice(names, MOST_LOOKED_AT) if _PART.fullmatch(one.name)]
        for part in left:
            with contextlib.suppress(OSError):
                handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    found = os.fstat(handle)
                    old = time.time() - found.st_mtime > YOUNG
                    if old and stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid():
                        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        part.unlink()
                finally:
                    os.close(handle)


def _check_replaceable(path: Path) -> None:
    """OSError where something stands in the file's place that is no file: a folder, a device, a pipe, a descriptor."""
    try:
        kind = path.lstat().st_mode
        if stat.S_ISLNK(kind) and Path(os.readlink(path)).parts[:2] != ("/", "proc"):
            return  # the link is replaced, not what it points to
    except FileNotFoundError:
        return
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))


def _opened_beside(path: Path, mode: int) -> tuple[Path, int]:
    """A new file of a random name in the same folder, and its descriptor; nobody can have planted it."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        return part, os.open(part, flags | getattr(os, "O_BINARY", 0), mode)
    except OSError as problem:
        problem.filename = str(path)  # the random name would tell nobody anything
        raise


def _fill(stream: IO[bytes], content: bytes, path: Path, durable: bool) -> None:
    """Write the content of what is to be `path`; OSError, of a full disk for one, names that."""
    try:
        stream.write(content)
        stream.flush()
        if durable:
            os.fsync(stream.fileno())
    except OSError as problem:
        problem.filename = str(path)
        raise


def flush(path: Path) -> None:
    """Bring a file, or a folder's names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some file systems cannot flush a folder
            raise
    finally:
        os.close(handle)


@contextlib.contextmanager
def held(folders: Iterable[Path], shared: bool = False) -> Iterator[None]:
    """While this runs no other process changes files of these folders by `write_whole`.

    `shared` is for readers. A folder that cannot be held, for want of a right, of a system that knows locks, or of
    patience, is used all the same: what is read is checked anyway.
    """
    with contextlib.ExitStack() as handles:
        for folder in sorted({folder.absolute() for folder in folders}):
            with contextlib.suppress(OSError, ImportError):
                handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
                handles.callback(os.close, handle)
                _lock(handle, shared)
        yield


def _lock(handle: int, shared: bool) -> None:
    import fcntl  # not on every system

    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return None
            time.sleep(0.01)


def read_plain(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file, no more than `most` + 1 of them; OSError for pipes, devices, folders.

    A pipe planted where a file is expected would keep its reader waiting for ever.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
        return stream.read(most + 1)


def nearest(path: Path) -> tuple[Path, bool]:
    """(what exists of a path, whether a file can be made there): said before there is anything to write."""
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return there, there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def plain(text: str) -> str:
    """Text from a file for showing: control and direction characters, which XML forbids, replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
