"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path


def write_whole(files: Mapping[Path, bytes]) -> None:
    """Write all of the files, or change none and raise OSError; nothing half-written is left behind."""
    partial = {path: path.with_name(f".{path.name}.part") for path in files}
    try:
        for path, content in files.items():
            partial[path].write_bytes(content)
        for path, part in partial.items():
            part.replace(path)
    finally:
        for part in partial.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def nearest(path: Path) -> tuple[Path, bool]:
    """(what exists of a path, whether a file can be made there): said before there is anything to write."""
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return there, there.is_dir() and os.access(there, os.W_OK | os.X_OK)
